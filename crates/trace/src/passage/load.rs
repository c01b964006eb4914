//! Loading the object: what its slots serve, and what it looks at.

use super::FollowOptions;
use super::btf::Tracepoint;
use super::event::id_hash;
use super::select::{NO_ARGUMENT, SLOTS, frees};
use crate::bpf::memory_hint;
use crate::error::{TraceError, with_sources};
use aya::{Btf, Ebpf, EbpfLoader};

/// `bpf/passage.bpf.c`, built by `bpf/build.sh`.
pub(super) static OBJECT: &[u8] = aya::include_bytes_aligned!(concat!(env!("CARGO_MANIFEST_DIR"), "/bpf/passage.o"));

/// With any smpCnt.
const ANY_SMP_CNT: u32 = 0x1_0000;

/// Loads the object; the programs are not loaded yet.
pub(super) fn load(btf: &Btf, options: &FollowOptions, served: &[Tracepoint]) -> Result<Ebpf, TraceError> {
    let skb_at = positions(served, |tracepoint| Some(tracepoint.skb_at));
    let reason_at = positions(served, |tracepoint| tracepoint.reason_at);
    let location_at = positions(served, |tracepoint| tracepoint.location_at);
    let mut freeing = [0u8; SLOTS];
    for (slot, tracepoint) in freeing.iter_mut().zip(served) {
        *slot = u8::from(frees(&tracepoint.name));
    }
    let only_id = options.sv_id.as_deref().map_or(0, id_hash);
    let only_smp_cnt = options.smp_cnt.map_or(ANY_SMP_CNT, u32::from);
    let frames = options.max_streams.saturating_mul(options.per_stream).max(1);
    let loaded = EbpfLoader::new()
        .btf(Some(btf))
        .override_global("skb_at", &skb_at, true)
        .override_global("reason_at", &reason_at, true)
        .override_global("location_at", &location_at, true)
        .override_global("frees", &freeing, true)
        .override_global("look_ifindex", &options.ifindex, true)
        .override_global("look_netns", &options.netns, true)
        .override_global("only_id", &only_id, true)
        .override_global("only_smp_cnt", &only_smp_cnt, true)
        .override_global("quota", &options.per_stream, true)
        .map_max_entries("streams", options.max_streams)
        .map_max_entries("follows", frames)
        .map_max_entries("chosen", frames)
        .map_max_entries("events", options.ring_octets)
        .load(OBJECT);
    loaded.map_err(|error| {
        let reason = with_sources(&error);
        match error {
            aya::EbpfError::MapError(_) => TraceError::Memory {
                megabytes: options.ring_octets as usize >> 20,
                reason: format!("{reason}{}", memory_hint()),
            },
            _ => TraceError::Object(reason),
        }
    })
}

fn positions(served: &[Tracepoint], position: impl Fn(&Tracepoint) -> Option<usize>) -> [u8; SLOTS] {
    let mut positions = [NO_ARGUMENT; SLOTS];
    for (slot, tracepoint) in positions.iter_mut().zip(served) {
        *slot = position(tracepoint)
            .and_then(|at| u8::try_from(at).ok())
            .unwrap_or(NO_ARGUMENT);
    }
    positions
}
