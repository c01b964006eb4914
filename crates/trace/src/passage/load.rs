//! Loads the object: its slots for tracepoints, and its settings.

use super::FollowOptions;
use super::btf::Tracepoint;
use super::event::id_hash;
use super::layout::{ANY_SMP_CNT, Globals, SLOTS};
use super::select::{NO_ARGUMENT, comes_once, frees};
use crate::bpf::memory_hint;
use crate::error::{TraceError, with_sources};
use aya::{Ebpf, EbpfLoader};

/// `bpf/passage.bpf.c`, built by `bpf/build.sh`.
pub(super) static OBJECT: &[u8] = aya::include_bytes_aligned!(concat!(env!("CARGO_MANIFEST_DIR"), "/bpf/passage.o"));

/// Capacity of the map in `sk_buff`s per frame, limited to some megabytes in total; the least recently seen ones are replaced.
const CARRIERS_OF_FRAME: u32 = 16;
const LEAST_CARRIERS: u32 = 1 << 12;
const MOST_CARRIERS: u32 = 1 << 16;

/// Loads the object, but not its programs yet.
pub(super) fn load(options: &FollowOptions, served: &[Tracepoint]) -> Result<Ebpf, TraceError> {
    let globals = globals(options, served);
    let frames = options.max_streams.saturating_mul(options.per_stream).max(1);
    let mut loader = EbpfLoader::new();
    for (name, octets) in globals.each() {
        loader.override_global(name, octets, true);
    }
    let loaded = loader
        .map_max_entries("streams", options.max_streams)
        .map_max_entries("follows", frames)
        .map_max_entries("chosen", frames)
        .map_max_entries("carriers", carriers(frames))
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

fn globals(options: &FollowOptions, served: &[Tracepoint]) -> Globals {
    Globals {
        skb_at: positions(served, |tracepoint| Some(tracepoint.skb_at)),
        reason_at: positions(served, |tracepoint| tracepoint.reason_at),
        location_at: positions(served, |tracepoint| tracepoint.location_at),
        frees: flags(served, frees),
        comes_once: flags(served, comes_once),
        look_ifindex: options.ifindex,
        look_netns: options.netns,
        only_id: options.sv_id.as_deref().map_or(0, id_hash),
        only_smp_cnt: options.smp_cnt.map_or(ANY_SMP_CNT, u32::from),
        quota: options.per_stream,
    }
}

/// Room for the `sk_buff`s of this many frames. A switch makes one for each of its ports.
fn carriers(frames: u32) -> u32 {
    frames
        .saturating_mul(CARRIERS_OF_FRAME)
        .clamp(LEAST_CARRIERS, MOST_CARRIERS)
}

fn flags(served: &[Tracepoint], is_set: impl Fn(&str) -> bool) -> [u8; SLOTS] {
    let mut flags = [0; SLOTS];
    for (flag, tracepoint) in flags.iter_mut().zip(served) {
        *flag = u8::from(is_set(&tracepoint.name));
    }
    flags
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

#[cfg(test)]
mod tests {
    use super::{OBJECT, globals, load};
    use crate::bpf::{can_run, kernel_types, program_runs};
    use crate::layout::{Layout, assert_object_has, assert_variables};
    use crate::passage::functions::{descriptors, relocated};
    use crate::passage::layout::{Follow, POSITIONS, SLOTS, Settings, State};
    use crate::passage::{FollowOptions, RING_OCTETS};
    use aya::programs::KProbe;

    const OPTIONS: FollowOptions = FollowOptions {
        ifindex: 1,
        netns: 1,
        per_stream: 1,
        max_streams: 1,
        smp_cnt: None,
        sv_id: None,
        ring_octets: RING_OCTETS,
    };

    #[test]
    fn the_object_has_what_is_taken_from_it() {
        let values = [
            ("settings", Settings::OCTETS),
            ("states", State::OCTETS),
            ("follows", Follow::OCTETS),
            ("troubles", size_of::<u64>()),
        ];
        let slots = (0..SLOTS).map(|slot| format!("slot_0{slot:o}"));
        let functions = (0..POSITIONS).map(|position| format!("function_{position}"));
        assert_object_has(OBJECT, &values, &slots.chain(functions).collect::<Vec<_>>());
    }

    #[test]
    fn every_variable_of_the_object_is_set() {
        assert_variables(OBJECT, &globals(&OPTIONS, &[]).each());
    }

    /// Skipped runs are also known for programs at functions.
    #[test]
    fn the_runs_of_a_program_for_functions_are_read() {
        let test = "runs of a program for functions";
        if let Err(error) = can_run() {
            return testing::skip(test, &error.to_string());
        }
        let mut ebpf = load(&OPTIONS, &[]).expect("an object");
        let program = ebpf.program_mut("function_0").expect("a program");
        assert!(program_runs(program).expect("the kernel").is_none(), "it is not loaded");
        let kprobe: &mut KProbe = program.try_into().expect("for functions");
        kprobe.load().expect("loaded");
        assert!(program_runs(program).expect("the kernel").is_some());
    }

    /// A program for many functions uses the same maps as the others; this machine's verifier accepts it.
    #[test]
    fn programs_for_many_functions_have_all_their_maps() {
        let test = "maps of a program for functions";
        if let Err(error) = can_run() {
            return testing::skip(test, &error.to_string());
        }
        let ebpf = load(&OPTIONS, &[]).expect("an object");
        let programs = relocated(&kernel_types().expect("types"), &descriptors(&ebpf)).expect("all maps are there");
        assert_eq!(programs.len(), POSITIONS);
        for instructions in &programs {
            sys::functions::load(instructions, c"Dual BSD/GPL").expect("the verifier takes it");
        }
    }
}
