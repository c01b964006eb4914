//! Networks and their disturbances as keys of a scenario.

mod parallel;

use super::{Complex, Fault, FaultType, Network, polar};
use crate::WaveformError;
use crate::circuit::{Circuit, Course, Pair, least_ratio};
use crate::synth::{Decay, Duration, State};
use parallel::FileParallel;
use serde::Deserialize;

/// A network and the faults in it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    #[serde(default = "fifty")]
    frequency_hz: f64,
    source_v: f64,
    source: Impedances,
    line: FileLine,
    #[serde(default)]
    load_a: f64,
    #[serde(default)]
    load_angle_deg: f64,
    far: Option<FileFar>,
    #[serde(default)]
    bus_uf: f64,
    #[serde(default)]
    closes: bool,
    lasts: Option<Duration>,
    #[serde(default)]
    measures: Measures,
    swing: Option<FileSwing>,
    parallel: Option<FileParallel>,
    pub(crate) ct: Option<FileTransformer>,
    pub(crate) far_side: Option<FileFarSide>,
    #[serde(default, rename = "fault")]
    faults: Vec<FileFault>,
}

/// Impedances of the whole line, and its capacitances to earth in uF.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileLine {
    z1_ohm: [f64; 2],
    z0_ohm: [f64; 2],
    #[serde(default)]
    c1_uf: f64,
    #[serde(default)]
    c0_uf: f64,
}

/// A source at the end of the line.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileFar {
    z1_ohm: [f64; 2],
    z0_ohm: [f64; 2],
    angle_deg: f64,
    source_v: Option<f64>,
}

/// Place of the voltage transformer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Measures {
    #[default]
    Bus,
    Line,
}

/// The far source runs through some turns, or sways to an angle and back.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileSwing {
    turns: Option<f64>,
    by_deg: Option<f64>,
    duration: Duration,
}

/// The far side of the line, measured as well.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileFarSide {
    pub(crate) ct: Option<FileTransformer>,
}

/// Current transformers.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileTransformer {
    pub(crate) rated_a: f64,
    pub(crate) limit_factor: f64,
    #[serde(default)]
    pub(crate) remanence_percent: f64,
}

/// Resistance and reactance in ohm, positive and zero sequence.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Impedances {
    z1_ohm: [f64; 2],
    z0_ohm: [f64; 2],
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileFault {
    name: Option<String>,
    #[serde(rename = "type")]
    kind: FaultType,
    position: f64,
    /// True if it is on the parallel line.
    #[serde(default)]
    parallel: bool,
    #[serde(default)]
    resistance_ohm: f64,
    at: Option<Duration>,
    duration: Duration,
}

pub(crate) fn fifty() -> f64 {
    50.0
}

/// Positions of faults: in an equal line behind the relay, in the line, or in an equal line that follows it.
const NEAREST: f64 = -1.0;
const FURTHEST: f64 = 2.0;

/// Position of the end of the line, where load and far source are.
const END: f64 = 1.0;

/// Most turns of the far source in a second: beyond it, the steps of the integration are too long.
const FASTEST_HZ: f64 = 10.0;

/// A network during a disturbance, and the begin of each fault.
pub(crate) struct Disturbed {
    pub(crate) circuit: Circuit,
    /// Name and begin in ns.
    pub(crate) begins: Vec<(String, u64)>,
}

impl File {
    /// The network and its disturbance.
    ///
    /// # Errors
    /// Impossible values.
    pub(crate) fn disturbed(&self) -> Result<Disturbed, WaveformError> {
        self.check()?;
        let volts = polar(self.source_v / 3_f64.sqrt(), 0.0);
        let (source, line) = (self.source.ohm("source")?, self.line.impedances().ohm("line")?);
        self.check_ratio("source", source)?;
        self.check_ratio("line", line)?;
        let mut circuit = Circuit::new(self.frequency_hz);
        let pair = self.pair(&mut circuit, line)?;
        let bus = pair.as_ref().map_or(0, |pair| pair.bus);
        circuit.source(bus, source, volts, Course::Steady);
        circuit.capacitance(bus, [self.bus_uf * 1e-6; 2]);
        let (nodes, line_end, end) = match &pair {
            Some(pair) => (Vec::new(), pair.end, pair.end),
            None => self.nodes(&mut circuit, line),
        };
        for node in [1, line_end] {
            circuit.capacitance(node, [self.line.c1_uf, self.line.c0_uf].map(|uf| uf * 1e-6 / 2.0));
        }
        if self.load_a > 0.0 {
            // Equal lines share the load: the relay's is one of them.
            let lines = if pair.is_some() { 2.0 } else { 1.0 };
            let whole = volts / polar(lines * self.load_a, self.load_angle_deg) - source[0] - line[0] / lines;
            if whole.re <= 0.0 {
                return Err(WaveformError::setting(
                    "network.load_a: more than the source and the line can feed: make it smaller",
                ));
            }
            // The load is the rest of the way; a negative reactance would be an inductance whose current grows without end.
            if whole.im < 0.0 {
                let way = source[0].im + line[0].im / lines;
                let lag = (way * lines * self.load_a / volts.norm()).min(1.0).asin().to_degrees();
                return Err(WaveformError::setting(format!(
                    "network.load_angle_deg is {}: source and line alone take more reactive power than this: use a lag of at \
                     least {:.1} degrees (-{:.1}), or a smaller load_a",
                    self.load_angle_deg,
                    (lag * 10.0).ceil() / 10.0,
                    (lag * 10.0).ceil() / 10.0
                )));
            }
            if whole.re < whole.im * least_ratio(self.frequency_hz) {
                return Err(WaveformError::setting(
                    "network.load_angle_deg: the load has hardly any resistance: use a smaller lag",
                ));
            }
            circuit.load(end, whole);
        }
        if let Some(far) = self.far {
            let ohm = Impedances {
                z1_ohm: far.z1_ohm,
                z0_ohm: far.z0_ohm,
            }
            .ohm("far")?;
            self.check_ratio("far", ohm)?;
            let phasor = polar(far.source_v.unwrap_or(self.source_v) / 3_f64.sqrt(), far.angle_deg);
            circuit.source(end, ohm, phasor, self.course());
        }
        let begins = self.add_faults(&mut circuit, &nodes, pair.as_ref());
        if self.closes {
            circuit.closes();
        }
        if self.measures == Measures::Line {
            circuit.measures_line();
        }
        for lasts in self.swing.map(|swing| swing.duration).into_iter().chain(self.lasts) {
            circuit.lasts_at_least(lasts.0 as f64 / 1e9);
        }
        Ok(Disturbed { circuit, begins })
    }

    fn check(&self) -> Result<(), WaveformError> {
        within("frequency_hz", self.frequency_hz, 15.0, 70.0)?;
        within("source_v", self.source_v, 1.0, 2e6)?;
        within("load_a", self.load_a, 0.0, 1e5)?;
        within("load_angle_deg", self.load_angle_deg, -90.0, 90.0)?;
        for fault in &self.faults {
            within("fault.position", fault.position, NEAREST, FURTHEST)?;
            within("fault.resistance_ohm", fault.resistance_ohm, 0.0, 1e4)?;
        }
        if let Some(swing) = self.swing {
            let in_s = swing.duration.0 as f64 / 1e9;
            within("swing.duration in seconds", in_s, 0.01, 60.0)?;
            within("swing.by_deg", swing.by_deg.unwrap_or(0.0), -360.0, 360.0)?;
            let most = (FASTEST_HZ * in_s).floor();
            within("swing.turns", swing.turns.unwrap_or(0.0), -most, most)?;
        }
        for (key, uf) in [
            ("bus_uf", self.bus_uf),
            ("line.c1_uf", self.line.c1_uf),
            ("line.c0_uf", self.line.c0_uf),
        ] {
            within(key, uf, 0.0, 1e3)?;
        }
        if let Some(far) = self.far {
            within("far.angle_deg", far.angle_deg, -180.0, 180.0)?;
            within("far.source_v", far.source_v.unwrap_or(self.source_v), 1.0, 2e6)?;
        }
        for (key, ct) in [("ct", self.ct), ("far_side.ct", self.far_side.and_then(|side| side.ct))] {
            let Some(ct) = ct else { continue };
            within(&format!("{key}.rated_a"), ct.rated_a, 1.0, 1e5)?;
            within(&format!("{key}.limit_factor"), ct.limit_factor, 1.0, 1e3)?;
            within(&format!("{key}.remanence_percent"), ct.remanence_percent, -95.0, 95.0)?;
        }
        let refused = |why: &str| Err(WaveformError::setting(why));
        match self.swing {
            Some(_) if self.far.is_none() => {
                return refused("network.swing: needs a source at the far end ([network.far])");
            }
            Some(
                FileSwing {
                    turns: Some(_),
                    by_deg: Some(_),
                    ..
                }
                | FileSwing {
                    turns: None,
                    by_deg: None,
                    ..
                },
            ) => {
                return refused("network.swing: give turns, or by_deg");
            }
            Some(FileSwing { turns: Some(turns), .. }) if turns.fract() != 0.0 || turns == 0.0 => {
                return refused("network.swing.turns: whole turns, so that the network ends as it began");
            }
            None if self.faults.is_empty() && !(self.closes && self.lasts.is_some()) => {
                return refused("network: give a disturbance: [[network.fault]], [network.swing], or closes and lasts");
            }
            _ => {}
        }
        Ok(())
    }

    /// Refuses impedances whose direct components the steps of the integration cannot follow.
    fn check_ratio(&self, key: &str, ohm: [Complex; 2]) -> Result<(), WaveformError> {
        let least = least_ratio(self.frequency_hz);
        let Some(low) = ohm.into_iter().find(|ohm| ohm.re < ohm.im * least) else {
            return Ok(());
        };
        Err(WaveformError::setting(format!(
            "network.{key}: a resistance of {} ohm is too small for a reactance of {} ohm: direct components would not decay as they \
             do; use at least {:.2} % of the reactance",
            low.re,
            low.im,
            (1e4 * least).ceil() / 100.0
        )))
    }

    fn course(&self) -> Course {
        let Some(swing) = self.swing else {
            return Course::Steady;
        };
        let in_s = swing.duration.0 as f64 / 1e9;
        match (swing.turns, swing.by_deg) {
            (Some(turns), _) => Course::Turns { turns, in_s },
            (None, Some(deg)) => Course::Sways { deg, in_s },
            (None, None) => Course::Steady,
        }
    }

    /// Nodes with their positions: of the line from the relay to its end, of an equal one that follows it, and of an equal one behind the relay. Also the
    /// node of its end, and the one there behind transformers.
    fn nodes(&self, circuit: &mut Circuit, line: [Complex; 2]) -> (Vec<(f64, usize)>, usize, usize) {
        let mut positions: Vec<f64> = self.faults.iter().map(|fault| fault.position).collect();
        positions.push(END);
        positions.sort_by(f64::total_cmp);
        positions.dedup();
        let between = |least: f64, most: f64| {
            let all = positions.iter().copied();
            all.filter(move |position| *position > least && *position <= most)
        };
        let behind = positions.iter().rev().copied().filter(|position| *position < 0.0);
        let mut nodes = vec![(0.0, 1)];
        let line_end = lay(circuit, line, (0.0, 1), between(0.0, END), &mut nodes);
        let end = match self.far_side {
            Some(_) => circuit.far_side(line_end),
            None => line_end,
        };
        lay(circuit, line, (END, end), between(END, FURTHEST), &mut nodes);
        lay(circuit, line, (0.0, 0), behind, &mut nodes);
        (nodes, line_end, end)
    }

    fn add_faults(&self, circuit: &mut Circuit, nodes: &[(f64, usize)], pair: Option<&Pair>) -> Vec<(String, u64)> {
        let (mut begins, mut end_ns) = (Vec::new(), 0);
        for fault in &self.faults {
            let begin_ns = fault.at.map_or(end_ns, |at| at.0);
            end_ns = begin_ns.saturating_add(fault.duration.0);
            let found = nodes.iter().find(|(position, _)| *position == fault.position);
            let node = match pair {
                Some(pair) => pair.faulted[usize::from(fault.parallel)],
                None => found.map_or(1, |(_, node)| *node),
            };
            let times = [begin_ns, end_ns].map(|ns| ns as f64 / 1e9);
            circuit.fault(node, fault.kind, fault.resistance_ohm, times);
            let name = fault.name.clone().unwrap_or_else(|| fault.kind.to_string());
            begins.push((name, begin_ns));
        }
        if begins.is_empty() {
            let name = if self.swing.is_some() { "swing" } else { "closed" };
            begins.push((name.to_owned(), 0));
        }
        begins
    }
}

impl FileLine {
    fn impedances(&self) -> Impedances {
        Impedances {
            z1_ohm: self.z1_ohm,
            z0_ohm: self.z0_ohm,
        }
    }
}

impl Impedances {
    pub(crate) fn ohm(self, what: &str) -> Result<[Complex; 2], WaveformError> {
        for [r, x] in [self.z1_ohm, self.z0_ohm] {
            within(&format!("{what}: resistance"), r, 0.0, 1e7)?;
            within(&format!("{what}: reactance"), x, 1e-3, 1e7)?;
        }
        Ok([self.z1_ohm, self.z0_ohm].map(|[r, x]| Complex::new(r, x)))
    }
}

impl Fault {
    /// The state of a fault with this duration, and with this share of the decaying component that makes the currents continuous.
    pub(crate) fn state(&self, network: &Network, name: &str, duration_ns: u64, dc_percent: f64) -> State {
        // Without resistance nothing decays within the time of a table.
        let time_constant_ns = network.time_constant_ns(self).clamp(1_000, 10_000_000_000);
        State {
            duration_ns: Some(duration_ns),
            decay: (dc_percent > 0.0).then_some(Decay {
                percent: dc_percent,
                time_constant_ns,
            }),
            ..State::steady(name, network.during(self))
        }
    }
}

/// Lays a line through these positions, one after the other, and adds their nodes; returns the last one.
fn lay(
    circuit: &mut Circuit,
    line: [Complex; 2],
    begin: (f64, usize),
    positions: impl Iterator<Item = f64>,
    nodes: &mut Vec<(f64, usize)>,
) -> usize {
    let (mut before, mut from) = begin;
    for position in positions {
        from = circuit.node_after(from, line.map(|ohm| ohm * (position - before).abs()));
        before = position;
        nodes.push((position, from));
    }
    from
}

fn within(key: &str, value: f64, least: f64, most: f64) -> Result<(), WaveformError> {
    // Written so that NaN is refused.
    if value >= least && value <= most {
        return Ok(());
    }
    Err(WaveformError::setting(format!(
        "network.{key} is {value}: use {least} to {most}"
    )))
}
