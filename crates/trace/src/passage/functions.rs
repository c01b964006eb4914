//! Functions that take an `sk_buff`: attaches a program to the entry of each, if the kernel permits it.

use super::btf::{Types, modules};
use super::layout::POSITIONS;
use super::load::OBJECT;
use super::select::{ChosenFunction, SENSIBLE, functions};
use crate::bpf::{Runs, kernel_release, read_runs};
use crate::error::{TraceError, with_sources};
use aya::maps::Map;
use aya::programs::KProbe;
use aya::{Btf, Ebpf};
use aya_obj::Object;
use aya_obj::generated::bpf_insn;
use std::collections::{BTreeMap, HashSet};
use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::sync::Arc;

/// List of the functions that a program may be attached to.
const AVAILABLE: &str = "/sys/kernel/tracing/available_filter_functions";
/// Exists if the kernel has kprobes.
const KPROBES: &str = "/sys/bus/event_source/devices/kprobe";

/// First kernel that reports the misses of a link to many functions ("bpf: Add missed value to kprobe_multi link info").
const TELLS_MISSED: (u32, u32) = (6, 7);

/// Programs attached to functions; detached when dropped.
#[derive(Debug, Default)]
pub(super) struct Functions {
    /// Their names, by the number that the program reports, minus one.
    pub(super) names: Vec<Arc<str>>,
    /// Number of functions with a program.
    pub(super) count: usize,
    /// Why not all have one, or why not in the best way.
    pub(super) missing: Option<String>,
    programs: Vec<OwnedFd>,
    links: Vec<OwnedFd>,
}

impl Functions {
    /// Attaches programs to all functions that may have one.
    pub(super) fn attach(types: &mut Types, btf: &Btf, ebpf: &mut Ebpf, maps: &BTreeMap<String, RawFd>) -> Self {
        let chosen = match available().and_then(|text| choose(types, &text)) {
            Ok(chosen) => chosen,
            Err(why) => return Self::none(&why),
        };
        let multi = relocated(btf, maps).and_then(|programs| Self::attach_multi(&chosen, &programs));
        multi.unwrap_or_else(|why| Self::attach_single(&chosen, ebpf, &why))
    }

    fn none(why: &str) -> Self {
        Self {
            missing: Some(format!("{why}: tracepoints only")),
            ..Self::default()
        }
    }

    /// Attaches with one link for all functions that have their `sk_buff` at the same argument.
    fn attach_multi(chosen: &[ChosenFunction], programs: &[Vec<u64>]) -> Result<Self, String> {
        let mut attached = Self {
            names: chosen.iter().map(|function| function.name.as_str().into()).collect(),
            ..Self::default()
        };
        let mut refused = 0;
        for (position, instructions) in programs.iter().enumerate() {
            let program = sys::functions::load(instructions, c"Dual BSD/GPL").map_err(|error| error.to_string())?;
            // A module may be unloaded at any time; separate links keep that from affecting the kernel's own functions.
            for is_module in [false, true] {
                let numbered = chosen.iter().zip(1u64..);
                let of_kind = numbered
                    .filter(|(function, _)| function.position == position && function.module.is_some() == is_module);
                let functions: Vec<(CString, u64)> = of_kind
                    .filter_map(|(function, number)| Some((CString::new(function.name.as_str()).ok()?, number)))
                    .collect();
                if functions.is_empty() {
                    continue;
                }
                match sys::functions::attach(&program, &functions) {
                    Ok(link) => {
                        attached.count += functions.len();
                        attached.links.push(link);
                    }
                    Err(errno) if is_module => {
                        refused += functions.len();
                        attached.missing = Some(format!("{refused} functions of modules: {errno}"));
                    }
                    Err(errno) => return Err(errno.to_string()),
                }
            }
            attached.programs.push(program);
        }
        Ok(attached)
    }

    /// Attaches one by one, which is so slow that it is done for a few functions only.
    fn attach_single(chosen: &[ChosenFunction], ebpf: &mut Ebpf, why_not_multi: &str) -> Self {
        let sensible = chosen
            .iter()
            .filter(|function| SENSIBLE.contains(&function.name.as_str()));
        let mut attached = Self::default();
        let mut refused = None;
        for function in sensible {
            match probe(ebpf, function) {
                Ok(()) => attached.count += 1,
                Err(why) => refused = Some(format!("{}: {why}", function.name)),
            }
        }
        if let (0, Some(refused)) = (attached.count, refused) {
            return Self::none(&refused);
        }
        attached.missing = Some(format!(
            "{} of {}, one by one, as this kernel cannot attach several at once ({why_not_multi}; that needs Linux 5.18 with \
             CONFIG_FPROBE)",
            attached.count,
            chosen.len()
        ));
        attached
    }

    /// Number of runs that the kernel skipped.
    pub(super) fn missed_runs(&self) -> Result<u64, TraceError> {
        let mut sum = Runs::default();
        for program in &self.programs {
            sum.add(read_runs(program.as_raw_fd())?);
        }
        Ok(sum.missed)
    }

    /// Number of function entries at which no program ran; `None` if the kernel does not report it.
    pub(super) fn missed(&self) -> Option<u64> {
        if self.count == 0 {
            return Some(0);
        }
        let tells = !self.links.is_empty() && kernel_release().is_some_and(|release| release >= TELLS_MISSED);
        let missed = self.links.iter().map(|link| sys::functions::missed(link).ok());
        missed.sum::<Option<u64>>().filter(|_| tells)
    }
}

/// The kernel's list, or the reason why there is none.
fn available() -> Result<String, String> {
    if !Path::new(KPROBES).exists() {
        return Err("this kernel has no kprobes".to_owned());
    }
    std::fs::read_to_string(AVAILABLE).map_err(|error| format!("{AVAILABLE}: {error}"))
}

/// Chooses functions of the kernel and of its modules.
fn choose(types: &mut Types, available: &str) -> Result<Vec<ChosenFunction>, String> {
    let mut chosen = functions(types.functions(1), available, None);
    for (name, octets) in modules()? {
        if available.contains(&format!("[{name}]")) {
            let found = types.with_module(&octets, Types::functions);
            chosen.extend(functions(found.unwrap_or_default(), available, Some(&name)));
        }
    }
    Ok(chosen)
}

/// File descriptors of the object's maps, by name.
pub(super) fn descriptors(ebpf: &Ebpf) -> BTreeMap<String, RawFd> {
    let of = |map: &Map| match map {
        Map::Array(map) | Map::HashMap(map) | Map::LruHashMap(map) | Map::PerCpuArray(map) | Map::RingBuf(map) => {
            Some(map.fd().as_fd().as_raw_fd())
        }
        _ => None,
    };
    let maps = ebpf.maps().filter_map(|(name, map)| Some((name.to_owned(), of(map)?)));
    maps.collect()
}

/// The programs for functions, by position of the `sk_buff`, in the form for this kernel: aya cannot load one for many functions at
/// once.
pub(super) fn relocated(btf: &Btf, descriptors: &BTreeMap<String, RawFd>) -> Result<Vec<Vec<u64>>, String> {
    let mut object = Object::parse(OBJECT).map_err(|error| with_sources(&error))?;
    object.relocate_btf(btf).map_err(|error| with_sources(&error))?;
    let maps = std::mem::take(&mut object.maps);
    let text: HashSet<usize> = object.functions.keys().map(|(section, _)| *section).collect();
    let descriptor = |name: &String| {
        descriptors
            .get(name)
            .ok_or_else(|| format!("no descriptor of the map {name}"))
    };
    let known: Result<Vec<_>, String> = maps
        .iter()
        .map(|(name, map)| Ok((name.as_str(), *descriptor(name)?, map)))
        .collect();
    object
        .relocate_maps(known?.into_iter(), &text)
        .map_err(|error| with_sources(&error))?;
    object.relocate_calls(&text).map_err(|error| with_sources(&error))?;
    let program = |position: usize| {
        let program = object.programs.get(&format!("function_{position}"))?;
        let function = object.functions.get(&program.function_key())?;
        Some(function.instructions.iter().map(word).collect())
    };
    let programs: Option<Vec<Vec<u64>>> = (0..POSITIONS).map(program).collect();
    programs.ok_or_else(|| "not in the eBPF object".to_owned())
}

/// An instruction as a word in memory.
fn word(instruction: &bpf_insn) -> u64 {
    let registers = instruction.dst_reg() | instruction.src_reg() << 4;
    u64::from(instruction.code)
        | u64::from(registers) << 8
        | u64::from(instruction.off.cast_unsigned()) << 16
        | u64::from(instruction.imm.cast_unsigned()) << 32
}

fn probe(ebpf: &mut Ebpf, function: &ChosenFunction) -> Result<(), String> {
    let name = format!("function_{}", function.position);
    let program = ebpf.program_mut(&name).ok_or("not in the eBPF object")?;
    let program: &mut KProbe = program.try_into().map_err(|error| with_sources(&error))?;
    if program.fd().is_err() {
        program.load().map_err(|error| with_sources(&error))?;
    }
    program
        .attach(&function.name, 0)
        .map_err(|error| with_sources(&error))?;
    Ok(())
}
