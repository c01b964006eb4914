//! The loaded programs and their maps.

use super::btf::{self, Tracepoint, Types};
use super::event::{Event, Follow};
use super::functions::{Functions, descriptors};
use super::layout;
use super::layout::{EXPIRY_NS, OF_TROUBLES, Settings, State, TROUBLES};
use super::load::load;
use super::passages::{Names, Passage, Served, assemble};
use super::select;
use super::{FollowCounts, FollowOptions, Listening};
use crate::bpf::{can_run, kernel_types, program_refused, program_runs};
use crate::error::{TraceError, with_sources};
use crate::layout::words;
use aya::maps::{Array, MapData, MapError, PerCpuArray, RingBuf};
use aya::programs::BtfTracePoint;
use aya::{Btf, Ebpf};
use std::collections::{BTreeMap, BTreeSet};
use units::Monotonic;
use zerocopy::{transmute, transmute_ref};

/// Programs that record the softirq or interrupt that a CPU is in, and their tracepoints. If one of them is missing, the context of
/// every event is unknown.
const CONTEXT: [(&str, &str); 4] = [
    ("on_softirq_entry", "softirq_entry"),
    ("on_softirq_exit", "softirq_exit"),
    ("on_irq_entry", "irq_handler_entry"),
    ("on_irq_exit", "irq_handler_exit"),
];

/// Frames are chosen this long, in ns, after the last program was attached. By then, a frame that was waiting in the queue of the
/// interface has left it; a frame that waited longer could not be distinguished from the next one with its smpCnt.
const SETTLE_NS: i64 = EXPIRY_NS as i64;

/// Follows sampled values. Stops when dropped.
pub struct Follower {
    ebpf: Ebpf,
    settings: Array<MapData, [u64; words::<Settings>()]>,
    states: Array<MapData, [u64; words::<State>()]>,
    follows: Array<MapData, [u64; words::<layout::Follow>()]>,
    troubles: PerCpuArray<MapData, u64>,
    ring: RingBuf<MapData>,
    options: FollowOptions,
    listening: Listening,
    names: Names,
    functions: Functions,
    events: Vec<Event>,
    known: Known,
    opened: Monotonic,
}

/// Chosen frames, as far as they have been read.
#[derive(Default)]
struct Known {
    frames: BTreeSet<u32>,
    streams: BTreeSet<Vec<u8>>,
}

impl Follower {
    /// Attaches to every tracepoint of the kernel itself, and chooses frames from half a second later on ([`Self::opened`]).
    /// Earlier frames at the interface, which may still be on their way, are not chosen.
    ///
    /// # Errors
    /// The kernel's error, and advice.
    pub fn start(options: FollowOptions) -> Result<Self, TraceError> {
        can_run()?;
        let octets = btf::kernel().map_err(|error| TraceError::NoBtf(error.to_string()))?;
        let mut types = Types::parse(&octets).map_err(|why| TraceError::NoBtf(why.to_owned()))?;
        let (served, mut left_out) = select::tracepoints(types.tracepoints(1));
        for (module, octets) in btf::modules().unwrap_or_default() {
            let found = types.with_module(&octets, Types::tracepoints);
            left_out.extend(select::of_modules(found.unwrap_or_default(), &module));
        }
        let mut ebpf = load(&options, &served)?;
        let maps = descriptors(&ebpf);
        let mut follower = Self {
            settings: map(&mut ebpf, "settings")?.try_into().map_err(|error| failed(&error))?,
            states: map(&mut ebpf, "states")?.try_into().map_err(|error| failed(&error))?,
            follows: map(&mut ebpf, "follows")?.try_into().map_err(|error| failed(&error))?,
            troubles: map(&mut ebpf, "troubles")?.try_into().map_err(|error| failed(&error))?,
            ring: map(&mut ebpf, "events")?.try_into().map_err(|error| failed(&error))?,
            ebpf,
            options,
            listening: Listening::default(),
            names: names(&types, &served),
            functions: Functions::default(),
            events: Vec::new(),
            known: Known::default(),
            opened: Monotonic::from_ns(0),
        };
        follower.choose_between(i64::MAX, i64::MAX)?;
        follower.listening.left_out = left_out;
        let btf = kernel_types()?;
        follower.attach(&served, &btf)?;
        follower.functions = Functions::attach(&mut types, &btf, &mut follower.ebpf, &maps);
        follower.listening.functions = follower.functions.count;
        follower.listening.no_functions = follower.functions.missing.clone();
        follower.names.functions = follower.functions.names.clone();
        follower.opened = sys::clock::monotonic() + SETTLE_NS;
        follower.choose_between(follower.opened.as_ns(), i64::MAX)?;
        Ok(follower)
    }

    /// Attaches to every tracepoint that exists.
    fn attach(&mut self, served: &[Tracepoint], btf: &Btf) -> Result<(), TraceError> {
        let left_out = &mut self.listening.left_out;
        for (program, tracepoint) in CONTEXT {
            if let Err(why) = attach(&mut self.ebpf, program, tracepoint, btf) {
                left_out.push((tracepoint.to_owned(), why));
                self.names.has_context = false;
            }
        }
        let mut refused = String::new();
        for (slot, tracepoint) in served.iter().enumerate() {
            let name = &tracepoint.name;
            match attach(&mut self.ebpf, &format!("slot_0{slot:o}"), name, btf) {
                Ok(()) => self.listening.tracepoints.push(name.clone()),
                Err(why) => {
                    left_out.push((name.clone(), why.clone()));
                    refused = why;
                }
            }
        }
        if self.listening.tracepoints.is_empty() {
            return Err(program_refused("every tracepoint".to_owned(), refused));
        }
        Ok(())
    }

    /// The tracepoints and functions in use, and those left out.
    pub fn listening(&self) -> &Listening {
        &self.listening
    }

    /// When it began to choose frames.
    pub fn opened(&self) -> Monotonic {
        self.opened
    }

    /// Reads the new events of the programs. Call it every few milliseconds: the ring has no room for more.
    pub fn poll(&mut self) {
        while let Some(item) = self.ring.next() {
            self.events.extend(Event::of(&item));
        }
    }

    /// Instant of the last event read.
    pub fn last_event(&self) -> Option<Monotonic> {
        self.events.iter().map(|event| event.at).max()
    }

    /// Counts so far.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn counts(&mut self) -> Result<FollowCounts, TraceError> {
        let mut sums = [0u64; TROUBLES as usize];
        for (which, sum) in OF_TROUBLES.iter().zip(&mut sums) {
            let counts = self.troubles.get(which, 0).map_err(|error| failed(&error))?;
            *sum = counts.iter().sum();
        }
        let [malformed, no_room, lost_events, met, not_kept] = sums;
        self.learn_chosen()?;
        Ok(FollowCounts {
            met,
            chosen: self.known.frames.len() as u64,
            streams: self.known.streams.len() as u64,
            malformed,
            no_room,
            lost_events,
            not_kept,
            missed_runs: self.missed_runs()?,
            missed_functions: self.functions.missed(),
        })
    }

    /// True if every stream that came has all the requested frames.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn is_full(&mut self) -> Result<bool, TraceError> {
        self.learn_chosen()?;
        let wanted = self.known.streams.len() * self.options.per_stream as usize;
        Ok(wanted > 0 && self.known.frames.len() == wanted)
    }

    /// Stops choosing frames; frames already followed are followed further.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn close(&mut self) -> Result<(), TraceError> {
        self.choose_between(self.opened.as_ns(), sys::clock::monotonic().as_ns())
    }

    /// The passages so far, in the order of their starts.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn passages(&mut self) -> Result<Vec<Passage>, TraceError> {
        self.poll();
        let mut follows = BTreeMap::new();
        for number in 0..self.chosen()? {
            follows.extend(self.follow(number)?.map(|follow| (number, follow)));
        }
        Ok(assemble(&follows, &self.events, &self.names))
    }

    /// Number of frames chosen so far; the last ones may not be written yet.
    fn chosen(&self) -> Result<u32, TraceError> {
        let state: State = transmute!(self.states.get(&0, 0).map_err(|error| failed(&error))?);
        Ok(state.chosen.min(self.follows.len()))
    }

    fn follow(&self, number: u32) -> Result<Option<Follow>, TraceError> {
        let words = self.follows.get(&number, 0).map_err(|error| failed(&error))?;
        Ok(Follow::of(transmute_ref!(&words)))
    }

    /// Reads the newly chosen frames: there may be very many, and the ring waits in the meantime.
    fn learn_chosen(&mut self) -> Result<(), TraceError> {
        let chosen = self.chosen()?;
        if self.known.frames.len() == chosen as usize {
            return Ok(());
        }
        for number in 0..chosen {
            if self.known.frames.contains(&number) {
                continue;
            }
            if let Some(follow) = self.follow(number)? {
                self.known.frames.insert(number);
                self.known.streams.insert(follow.stream.key());
            }
        }
        Ok(())
    }

    fn choose_between(&mut self, from_ns: i64, to_ns: i64) -> Result<(), TraceError> {
        let settings = Settings {
            opened_at: from_ns.cast_unsigned(),
            closed_at: to_ns.cast_unsigned(),
        };
        let words: [u64; words::<Settings>()] = transmute!(settings);
        self.settings.set(0, words, 0).map_err(|error| failed(&error))
    }

    fn missed_runs(&self) -> Result<u64, TraceError> {
        let mut missed = self.functions.missed_runs()?;
        for (_, program) in self.ebpf.programs() {
            missed += program_runs(program)?.map_or(0, |runs| runs.missed);
        }
        Ok(missed)
    }
}

fn names(types: &Types, served: &[Tracepoint]) -> Names {
    let served = served.iter().map(|tracepoint| Served {
        name: tracepoint.name.as_str().into(),
        frees: select::frees(&tracepoint.name),
        has_reason: tracepoint.reason_at.is_some(),
    });
    Names {
        tracepoints: served.collect(),
        functions: Vec::new(),
        reasons: types.values("skb_drop_reason"),
        symbols: symbols(),
        has_context: true,
    }
}

fn attach(ebpf: &mut Ebpf, program: &str, tracepoint: &str, btf: &Btf) -> Result<(), String> {
    let program = ebpf.program_mut(program).ok_or("not in the eBPF object")?;
    let program: &mut BtfTracePoint = program.try_into().map_err(|error| with_sources(&error))?;
    program.load(tracepoint, btf).map_err(|error| with_sources(&error))?;
    program.attach().map_err(|error| with_sources(&error))?;
    Ok(())
}

fn map(ebpf: &mut Ebpf, name: &str) -> Result<aya::maps::Map, TraceError> {
    ebpf.take_map(name)
        .ok_or_else(|| TraceError::Object(format!("it has no map {name}")))
}

fn failed(error: &MapError) -> TraceError {
    TraceError::Object(with_sources(error))
}

/// The kernel's functions by address, without the names of their modules; empty if the kernel hides them.
fn symbols() -> BTreeMap<u64, String> {
    let mut symbols = aya::util::kernel_symbols().unwrap_or_default();
    symbols.retain(|address, _| *address > 0);
    for name in symbols.values_mut() {
        let end = name.find(char::is_whitespace).unwrap_or(name.len());
        name.truncate(end);
    }
    symbols
}
