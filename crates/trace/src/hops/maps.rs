//! The maps of the loaded programs.

use super::layout::{BUCKETS, CELL_WORDS, INFO_WORDS, PROGRESS_WORDS, SETTING_WORDS, SITES_WORDS, TABLE_WORDS};
use crate::error::{TraceError, with_sources};
use aya::maps::{Array, Map, MapData, MapError, PerCpuArray, RingBuf};
use aya::{Ebpf, Pod};

/// The section of the object's variables.
const SETTINGS: &str = ".bss";

/// The maps that user space reads and writes.
pub(super) struct Maps {
    pub(super) settings: Array<MapData, [u64; SETTING_WORDS]>,
    pub(super) infos: Array<MapData, [u64; INFO_WORDS]>,
    pub(super) progresses: Array<MapData, [u64; PROGRESS_WORDS]>,
    pub(super) stream_count: Array<MapData, u32>,
    pub(super) tables: Array<MapData, [u64; TABLE_WORDS]>,
    pub(super) sites: Array<MapData, [u64; SITES_WORDS]>,
    pub(super) cells: Array<MapData, [u64; CELL_WORDS]>,
    pub(super) histograms: Array<MapData, [u32; BUCKETS]>,
    pub(super) floors: Array<MapData, u64>,
    pub(super) troubles: PerCpuArray<MapData, u64>,
    pub(super) durations: RingBuf<MapData>,
}

impl Maps {
    pub(super) fn take(ebpf: &mut Ebpf) -> Result<Self, TraceError> {
        Ok(Self {
            settings: array(ebpf, SETTINGS)?,
            infos: array(ebpf, "infos")?,
            progresses: array(ebpf, "progresses")?,
            stream_count: array(ebpf, "stream_count")?,
            tables: array(ebpf, "tables")?,
            sites: array(ebpf, "sites")?,
            cells: array(ebpf, "cells")?,
            histograms: array(ebpf, "histograms")?,
            floors: array(ebpf, "floors")?,
            troubles: per_cpu(ebpf, "troubles")?,
            durations: take(ebpf, "durations")?.try_into().map_err(|error| failed(&error))?,
        })
    }
}

fn array<V: Pod>(ebpf: &mut Ebpf, name: &str) -> Result<Array<MapData, V>, TraceError> {
    take(ebpf, name)?.try_into().map_err(|error| failed(&error))
}

fn per_cpu<V: Pod>(ebpf: &mut Ebpf, name: &str) -> Result<PerCpuArray<MapData, V>, TraceError> {
    take(ebpf, name)?.try_into().map_err(|error| failed(&error))
}

fn take(ebpf: &mut Ebpf, name: &str) -> Result<Map, TraceError> {
    ebpf.take_map(name)
        .ok_or_else(|| TraceError::Object(format!("it has no map {name}")))
}

pub(super) fn failed(error: &MapError) -> TraceError {
    TraceError::Object(with_sources(error))
}
