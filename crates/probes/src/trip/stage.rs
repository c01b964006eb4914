//! Plans what is published next: shots placed on the samples of the stream, each continuing the signal of the one before.

use super::TripConfig;
use super::peer::{Course, Order};
use super::script::{Exchange, Manner, Script, Trouble};
use crate::error::ProbeError;
use stats::random::Random;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use streamset::StreamSpec;
use units::{Grid, Monotonic};
use waveform::WaveformError;
use waveform::sample::{Dataset, SampleTable, Sampling};
use waveform::scenario::{Scenario, Wave};
use waveform::synth::Synth;
use waveform::type_test::PointOnWave;

/// Time from making a script to its start, in ns. If a busy CPU takes the script over too late, the publisher reports it.
const AHEAD_NS: i64 = 50_000_000;

/// Part of it that has to be left once the samples of a shot are made, and its limit: it is doubled until that holds.
const IN_HAND_NS: i64 = 20_000_000;
const LONGEST_AHEAD_NS: i64 = 3_000_000_000;

/// Reciprocal of the span, in seconds, in which the fault begins at a random sample. It covers every point on the wave, and every
/// phase of a task of up to 100 ms.
const SPREAD_PARTS: u32 = 10;

/// Reciprocal of the time, in seconds, for which the peer keeps its value after a disturbance: no longer than the relay is watched.
const KEPT_PARTS: u64 = 10;

/// The signal that is being published.
struct Signal {
    wave: Wave,
    table: Arc<SampleTable>,
    /// Position of its sample 0, counted from the first second.
    base: u64,
    /// Phase at its sample 0, in degrees.
    shift_deg: f64,
}

/// One shot, placed on the stream.
pub(super) struct Planned {
    /// First sample of the shot, which is number 0 of its table.
    pub(super) base: u64,
    pub(super) table: Arc<SampleTable>,
    wave: Wave,
    shift_deg: f64,
    /// First sample of the fault.
    pub(super) fault: u64,
    /// First sample after the disturbance.
    pub(super) end: u64,
    /// Point on the wave at which the fault begins, in degrees.
    pub(super) point_deg: f64,
}

/// State of the published stream.
pub(super) struct Stage {
    sampling: Sampling,
    asdus: u64,
    settle: u64,
    grid: Grid,
    exchange: Exchange,
    /// True if the LANs have a fault in each disturbance.
    has_lan_fault: bool,
    random: Random,
    signal: Signal,
    /// First sample that no shot is placed on.
    free: u64,
    /// First sample since which the signal is in the steady state.
    steady: u64,
    shots: u64,
    /// Time from the begin of a plan to the start of its script, in ns.
    ahead_ns: i64,
    /// Samples that were not sent as planned, since the last shot was placed.
    troubles: Vec<Trouble>,
}

/// Sampling of the stream's samples.
pub(crate) fn sampling(stream: &StreamSpec) -> Result<Sampling, ProbeError> {
    let usage = |problem: String| ProbeError::Usage(format!("trip: {problem}"));
    let profile = stream.profile().map_err(|error| usage(error.to_string()))?;
    let dataset = Dataset::new(usize::from(profile.currents), usize::from(profile.voltages));
    Ok(Sampling {
        dataset: dataset.map_err(|error| usage(error.to_string()))?,
        ..Sampling::new(profile.rate)
    })
}

/// The script from the first sample on: the steady state of the first scenario.
pub(super) fn opening(scenarios: &[Scenario], sampling: &Sampling) -> Result<(Script, Wave), WaveformError> {
    let wave = scenarios
        .first()
        .map_or_else(|| Wave::Synth(Synth::default()), |scenario| scenario.wave.steady());
    let script = Script {
        begin: 0,
        base: 0,
        table: Arc::new(wave.table(sampling)?),
        second: None,
        manner: Manner::Plain,
        has_lan_fault: false,
    };
    Ok((script, wave))
}

impl Stage {
    /// Makes the stage of a stream that begins with the signal of its [`opening`].
    pub(super) fn new(
        config: &TripConfig,
        sampling: Sampling,
        (table, opening): (Arc<SampleTable>, Wave),
        exchange: Exchange,
    ) -> Self {
        let settle = u128::from(config.settle_ns) * u128::from(sampling.rate) / 1_000_000_000;
        Self {
            asdus: u64::from(config.stream.asdus),
            settle: u64::try_from(settle).unwrap_or(u64::MAX),
            grid: Grid::per_second(Monotonic::from_ns(0), u64::from(sampling.rate)),
            sampling,
            exchange,
            has_lan_fault: config.lan_fault.is_some(),
            random: Random::new(config.seed),
            signal: Signal {
                wave: opening,
                table,
                base: 0,
                shift_deg: 0.0,
            },
            free: 0,
            steady: 0,
            shots: 0,
            ahead_ns: AHEAD_NS,
            troubles: Vec::new(),
        }
    }

    /// Sets the start of the first second to `start`.
    pub(super) fn begin(&mut self, start: Monotonic) {
        self.grid = Grid::per_second(start, u64::from(self.sampling.rate));
    }

    /// Due instant of a sample.
    pub(super) fn due(&self, sample: u64) -> Monotonic {
        self.grid.due(sample)
    }

    /// First sample that is due at `at` or later.
    pub(super) fn first_at(&self, at: Monotonic) -> u64 {
        self.grid.first_after(at + -1)
    }

    /// Places a shot on the stream. The steady state before its fault lasts as long as the relay needs to settle, plus a random
    /// part of a second, and then until the point on the wave.
    pub(super) fn plan(&mut self, scenario: &Scenario, point: PointOnWave) -> Result<Planned, WaveformError> {
        self.listen();
        self.troubles.clear();
        let chance = self.random.next_u64();
        self.shots += 1;
        loop {
            let planned = self.placed(scenario, point, chance)?;
            let left_ns = self.due(planned.base) - sys::clock::monotonic();
            if left_ns > IN_HAND_NS || self.ahead_ns >= LONGEST_AHEAD_NS {
                return Ok(planned);
            }
            // A network that takes long to simulate: the shot begins later.
            self.ahead_ns *= 2;
        }
    }

    fn placed(&mut self, scenario: &Scenario, point: PointOnWave, chance: u64) -> Result<Planned, WaveformError> {
        let ahead = self.first_at(sys::clock::monotonic() + self.ahead_ns);
        let base = ahead.max(self.free).next_multiple_of(self.asdus);
        let spread = u64::from((self.sampling.rate / SPREAD_PARTS).max(1));
        let settled = (self.steady + self.settle).saturating_sub(base);
        let shift_deg = self.phase_deg_at(base)?;
        let step_deg = 360.0 * scenario.wave.frequency_hz() / f64::from(self.sampling.rate);
        let phase_deg = |lead: u64| (shift_deg + step_deg * lead as f64).rem_euclid(360.0);
        let anywhere = settled + 1 + chance % spread;
        let lead = anywhere + point.samples_until(phase_deg(anywhere), step_deg);
        let shot = scenario.shot(&self.sampling, lead, shift_deg, self.shots)?;
        let fault_s = shot.fault as f64 / f64::from(self.sampling.rate);
        Ok(Planned {
            base,
            table: Arc::new(shot.table),
            point_deg: point.deg(shift_deg + shot.wave.phase_deg_at(fault_s)?),
            wave: shot.wave,
            shift_deg,
            fault: base + shot.fault,
            end: base + shot.end,
        })
    }

    /// Passes a shot to the publisher. Its disturbance is sent in this manner, everything else without a disturbance.
    pub(super) fn play(&mut self, planned: Planned, manner: Manner) -> Result<(), WaveformError> {
        let mut script = Script {
            begin: planned.base,
            base: planned.base,
            table: planned.table,
            second: None,
            manner: Manner::Plain,
            has_lan_fault: false,
        };
        let mut wave = planned.wave;
        if matches!(manner, Manner::SecondPublisher | Manner::OtherSvId) {
            // The second publisher sends the fault; the first sends only the steady state.
            wave = wave.steady();
            let first = Arc::new(wave.table(&self.sampling)?);
            script.second = Some(std::mem::replace(&mut script.table, first));
        }
        self.exchange.push(script.clone());
        if manner != Manner::Plain || self.has_lan_fault {
            let changes = [
                (planned.fault, manner, self.has_lan_fault),
                (planned.end, Manner::Plain, false),
            ];
            for (begin, manner, has_lan_fault) in changes {
                let script = script.clone();
                self.exchange.push(Script {
                    begin,
                    manner,
                    has_lan_fault,
                    ..script
                });
            }
        }
        self.signal = Signal {
            wave,
            table: script.table,
            base: planned.base,
            shift_deg: planned.shift_deg,
        };
        (self.free, self.steady) = (planned.end, planned.end);
        Ok(())
    }

    /// Passes the states of the peer in a shot to the publisher. The attack ends with the disturbance; the peer keeps its value for some time after it,
    /// because a relay still measures the fault when its block ends.
    pub(super) fn order(&mut self, planned: &Planned, course: Course) {
        let Course {
            before,
            during,
            hostile,
        } = course;
        let rest = planned.end + u64::from(self.sampling.rate) / KEPT_PARTS;
        for (begin, value, hostile) in [
            (planned.base, before, hostile),
            (planned.fault, during, hostile),
            (planned.end, during, None),
            (rest, false, None),
        ] {
            self.exchange.order(Order { begin, value, hostile });
        }
    }

    /// Extends the steady state before the next shot by a random time of up to `ns`, independent of the seed.
    pub(super) fn linger(&mut self, ns: u64) {
        let most = u128::from(ns) * u128::from(self.sampling.rate) / 1_000_000_000;
        let chance = RandomState::new().build_hasher().finish();
        let samples = u64::try_from(u128::from(chance) % most.max(1)).unwrap_or(0);
        self.steady = self.free.max(self.first_at(sys::clock::monotonic())) + samples;
    }

    /// Lets the time of a shot pass without the shot.
    pub(super) fn pass(&mut self, planned: &Planned) {
        self.free = planned.end;
    }

    /// Opens the breaker with the first sample due at `at` or later: each pole at the next zero of its current. From then on the
    /// current is zero, with the voltages of the steady state. Returns that sample.
    pub(super) fn open(&mut self, at: Monotonic) -> Result<u64, WaveformError> {
        let soonest = self.first_at(sys::clock::monotonic()) + 2 * self.asdus;
        let begin = self.first_at(at).max(soonest).next_multiple_of(self.asdus);
        let shift_deg = self.phase_deg_at(begin)?;
        // The steady state of the shot is shifted by the phase at the shot's own first sample.
        let wave = self.signal.wave.opened().shifted(shift_deg - self.signal.shift_deg);
        let open = wave.table(&self.sampling)?;
        let from = begin.saturating_sub(self.signal.base);
        let (table, _) = self.signal.table.opened(from, &open, &self.sampling.dataset)?;
        let table = Arc::new(table);
        self.exchange.push(Script {
            begin,
            base: begin,
            table: Arc::clone(&table),
            second: None,
            manner: Manner::Plain,
            has_lan_fault: self.has_lan_fault,
        });
        self.signal = Signal {
            wave,
            table,
            base: begin,
            shift_deg,
        };
        Ok(begin)
    }

    /// Closes the breaker after a shot that opened it; the relay has to settle from then on.
    pub(super) fn reclose(&mut self) {
        self.free = self.free.max(self.first_at(sys::clock::monotonic() + AHEAD_NS));
        self.steady = self.free + self.asdus;
    }

    /// Phase in degrees with which a signal must begin to continue the current one at `sample`.
    fn phase_deg_at(&self, sample: u64) -> Result<f64, WaveformError> {
        let seconds = sample.saturating_sub(self.signal.base) as f64 / f64::from(self.sampling.rate);
        Ok(self.signal.shift_deg + self.signal.wave.phase_deg_at(seconds)?)
    }

    /// Takes the publisher's reports of frames that were not sent as planned.
    pub(super) fn listen(&mut self) {
        while let Ok(trouble) = self.exchange.troubles.pop() {
            self.troubles.push(trouble);
        }
    }

    /// True if any sample of the last shot between these two was not sent as planned.
    pub(super) fn trouble(&mut self, from: u64, until: u64) -> bool {
        self.listen();
        let mut troubles = self.troubles.iter();
        troubles.any(|trouble| trouble.from < until && trouble.until > from)
    }

    /// Number of samples in this time.
    pub(super) fn samples(&self, ns: u64) -> u64 {
        let samples = u128::from(ns) * u128::from(self.sampling.rate) / 1_000_000_000;
        u64::try_from(samples).unwrap_or(u64::MAX)
    }

    /// Number of samples of one cycle of the steady state, rounded up.
    pub(super) fn cycle(&self) -> u64 {
        (f64::from(self.sampling.rate) / self.signal.wave.frequency_hz()).ceil() as u64
    }
}

impl Exchange {
    /// Sends a script to the publisher, and frees the used ones.
    fn push(&mut self, script: Script) {
        while self.used.pop().is_ok() {}
        // The ring has room for the scripts of several shots. If it is full, the publisher has stopped, and its trouble reports
        // show that.
        let _ = self.scripts.push(script);
    }

    /// Sends a state of the peer to the publisher. The same is true of this ring.
    fn order(&mut self, order: Order) {
        let _ = self.orders.push(order);
    }
}
