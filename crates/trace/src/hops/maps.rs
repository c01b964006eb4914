//! The maps of the loaded programs.

use super::layout::{BUCKETS, Cell, Histogram, Progress, Settings, Sites, StreamInfo, Table};
use crate::error::{TraceError, with_sources};
use crate::layout::words;
use aya::maps::{Array, Map, MapData, MapError, PerCpuArray, RingBuf};
use aya::{Ebpf, Pod};
use zerocopy::{transmute, transmute_ref};

/// The section of the object with its variables.
const SETTINGS: &str = ".bss";

/// The maps that user space reads and writes.
pub(super) struct Maps {
    settings: Array<MapData, [u64; words::<Settings>()]>,
    infos: Array<MapData, [u64; words::<StreamInfo>()]>,
    progresses: Array<MapData, [u64; words::<Progress>()]>,
    pub(super) stream_count: Array<MapData, u32>,
    tables: Array<MapData, [u64; words::<Table>()]>,
    sites: Array<MapData, [u64; words::<Sites>()]>,
    cells: Array<MapData, [u64; words::<Cell>()]>,
    histograms: Array<MapData, [u64; words::<Histogram>()]>,
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

/// Values of the maps, as the structures that they contain.
impl Maps {
    pub(super) fn set(&mut self, settings: Settings) -> Result<(), MapError> {
        let words: [u64; words::<Settings>()] = transmute!(settings);
        self.settings.set(0, words, 0)
    }

    pub(super) fn info(&self, stream: u32) -> Result<StreamInfo, MapError> {
        Ok(transmute!(self.infos.get(&stream, 0)?))
    }

    pub(super) fn progress(&self, stream: u32) -> Result<Progress, MapError> {
        Ok(transmute!(self.progresses.get(&stream, 0)?))
    }

    pub(super) fn table(&self, stream: u32) -> Result<Table, MapError> {
        Ok(transmute!(self.tables.get(&stream, 0)?))
    }

    pub(super) fn sites(&self, cpu: u32) -> Result<Sites, MapError> {
        Ok(transmute!(self.sites.get(&cpu, 0)?))
    }

    pub(super) fn cell(&self, number: u32) -> Result<Cell, MapError> {
        Ok(transmute!(self.cells.get(&number, 0)?))
    }

    pub(super) fn add_histogram(&self, number: u32, sums: &mut [u32; BUCKETS]) -> Result<(), MapError> {
        let words = self.histograms.get(&number, 0)?;
        let counts: &Histogram = transmute_ref!(&words);
        for (sum, count) in sums.iter_mut().zip(&counts.buckets) {
            *sum = sum.wrapping_add(*count);
        }
        Ok(())
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
