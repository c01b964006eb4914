//! Plan of what is published next: shots laid out on the samples of the stream, each going on where the one before was.

use super::TripConfig;
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

/// From when a script is made to when it begins: a second core that is busy takes it late, and says so.
const AHEAD_NS: i64 = 50_000_000;

/// The fault begins at any sample of so many parts of a second, by chance: at any point on the wave, and at any phase of a task
/// of up to 100 ms.
const SPREAD_PARTS: u32 = 10;

/// A signal in force.
struct Signal {
    wave: Wave,
    /// Its sample 0, counted from the first second.
    base: u64,
    /// Its phase there, in degrees.
    shift_deg: f64,
}

/// One shot, laid out.
pub(super) struct Planned {
    /// Its first sample, which is also number 0 of its table.
    pub(super) base: u64,
    pub(super) table: Arc<SampleTable>,
    wave: Wave,
    shift_deg: f64,
    /// First sample of the fault.
    pub(super) fault: u64,
    /// First sample behind the disturbance.
    pub(super) end: u64,
    /// Where on the wave the fault begins, in degrees.
    pub(super) point_deg: f64,
}

/// The stream as it is published.
pub(super) struct Stage {
    sampling: Sampling,
    asdus: u64,
    settle: u64,
    grid: Grid,
    exchange: Exchange,
    random: Random,
    signal: Signal,
    /// The first sample that nothing is laid out for.
    free: u64,
    /// Since this sample the signal is the steady state.
    steady: u64,
    shots: u64,
    /// Samples that were not sent as they were to be, since the last shot was laid out.
    troubles: Vec<Trouble>,
}

/// How the stream's samples are made.
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
    };
    Ok((script, wave))
}

impl Stage {
    /// The stream whose second begins at `start`, with the signal of its [`opening`].
    pub(super) fn new(config: &TripConfig, sampling: Sampling, opening: Wave, exchange: Exchange) -> Self {
        let settle = u128::from(config.settle_ns) * u128::from(sampling.rate) / 1_000_000_000;
        Self {
            asdus: u64::from(config.stream.asdus),
            settle: u64::try_from(settle).unwrap_or(u64::MAX),
            grid: Grid::per_second(Monotonic::from_ns(0), u64::from(sampling.rate)),
            sampling,
            exchange,
            random: Random::new(config.seed),
            signal: Signal {
                wave: opening,
                base: 0,
                shift_deg: 0.0,
            },
            free: 0,
            steady: 0,
            shots: 0,
            troubles: Vec::new(),
        }
    }

    /// The first second begins at `start`.
    pub(super) fn begin(&mut self, start: Monotonic) {
        self.grid = Grid::per_second(start, u64::from(self.sampling.rate));
    }

    /// When a sample is due.
    pub(super) fn due(&self, sample: u64) -> Monotonic {
        self.grid.due(sample)
    }

    /// The next sample that is due at `at` or later.
    pub(super) fn first_at(&self, at: Monotonic) -> u64 {
        self.grid.first_after(at + -1)
    }

    /// Lays out a shot. The steady state before its fault lasts as long as it has to settle, a part of a second by chance, and then to
    /// the point on the wave.
    pub(super) fn plan(&mut self, scenario: &Scenario, point: PointOnWave) -> Result<Planned, WaveformError> {
        self.listen();
        self.troubles.clear();
        let ahead = self.first_at(sys::clock::monotonic() + AHEAD_NS);
        let base = ahead.max(self.free).next_multiple_of(self.asdus);
        let spread = u64::from((self.sampling.rate / SPREAD_PARTS).max(1));
        let settled = (self.steady + self.settle).saturating_sub(base);
        let shift_deg = self.phase_deg_at(base)?;
        let step_deg = 360.0 * scenario.wave.frequency_hz() / f64::from(self.sampling.rate);
        let phase_deg = |lead: u64| (shift_deg + step_deg * lead as f64).rem_euclid(360.0);
        let anywhere = settled + 1 + self.random.next_u64() % spread;
        let lead = anywhere + point.samples_until(phase_deg(anywhere), step_deg);
        self.shots += 1;
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

    /// Gives a shot to the publisher. Its disturbance is sent in this manner, all else plainly.
    pub(super) fn play(&mut self, planned: Planned, manner: Manner) -> Result<(), WaveformError> {
        let mut script = Script {
            begin: planned.base,
            base: planned.base,
            table: planned.table,
            second: None,
            manner: Manner::Plain,
        };
        let mut wave = planned.wave;
        if matches!(manner, Manner::SecondPublisher | Manner::OtherSvId) {
            // The fault is the second one's; the first has nothing but the steady state.
            wave = wave.steady();
            let first = Arc::new(wave.table(&self.sampling)?);
            script.second = Some(std::mem::replace(&mut script.table, first));
        }
        self.exchange.push(script.clone());
        if manner != Manner::Plain {
            for (begin, manner) in [(planned.fault, manner), (planned.end, Manner::Plain)] {
                let script = script.clone();
                self.exchange.push(Script {
                    begin,
                    manner,
                    ..script
                });
            }
        }
        self.signal = Signal {
            wave,
            base: planned.base,
            shift_deg: planned.shift_deg,
        };
        (self.free, self.steady) = (planned.end, planned.end);
        Ok(())
    }

    /// Has the steady state before the next shot last longer, by any time up to this long, in ns, whatever the seed.
    pub(super) fn linger(&mut self, ns: u64) {
        let most = u128::from(ns) * u128::from(self.sampling.rate) / 1_000_000_000;
        let chance = RandomState::new().build_hasher().finish();
        let samples = u64::try_from(u128::from(chance) % most.max(1)).unwrap_or(0);
        self.steady = self.free.max(self.first_at(sys::clock::monotonic())) + samples;
    }

    /// Lets nothing but the time of a shot pass.
    pub(super) fn pass(&mut self, planned: &Planned) {
        self.free = planned.end;
    }

    /// The poles of the breaker open with the first sample due at `at` or later: no current from there on, and the voltages of the
    /// steady state. Returns that sample.
    pub(super) fn open(&mut self, at: Monotonic) -> Result<u64, WaveformError> {
        let soonest = self.first_at(sys::clock::monotonic()) + 2 * self.asdus;
        let begin = self.first_at(at).max(soonest).next_multiple_of(self.asdus);
        let shift_deg = self.phase_deg_at(begin)?;
        // The steady state of the shot is shifted by the phase at its own first sample.
        let wave = self.signal.wave.opened().shifted(shift_deg - self.signal.shift_deg);
        let table = Arc::new(wave.table(&self.sampling)?);
        self.exchange.push(Script {
            begin,
            base: begin,
            table,
            second: None,
            manner: Manner::Plain,
        });
        self.signal = Signal {
            wave,
            base: begin,
            shift_deg,
        };
        Ok(begin)
    }

    /// The breaker was opened in this shot: the next one closes it, and the relay has to settle from there on.
    pub(super) fn reclose(&mut self) {
        self.free = self.free.max(self.first_at(sys::clock::monotonic() + AHEAD_NS));
        self.steady = self.free + self.asdus;
    }

    /// The phase, in degrees, that a signal has to begin with which goes on from `sample`.
    fn phase_deg_at(&self, sample: u64) -> Result<f64, WaveformError> {
        let seconds = sample.saturating_sub(self.signal.base) as f64 / f64::from(self.sampling.rate);
        Ok(self.signal.shift_deg + self.signal.wave.phase_deg_at(seconds)?)
    }

    /// Takes what the publisher says of frames that were not sent as they were to be.
    pub(super) fn listen(&mut self) {
        while let Ok(trouble) = self.exchange.troubles.pop() {
            self.troubles.push(trouble);
        }
    }

    /// True where any of the last shot's samples between these two was not sent as it was to be.
    pub(super) fn trouble(&mut self, from: u64, until: u64) -> bool {
        self.listen();
        let mut troubles = self.troubles.iter();
        troubles.any(|trouble| trouble.from < until && trouble.until > from)
    }

    /// Samples of one cycle of the steady state, rounded up.
    pub(super) fn cycle(&self) -> u64 {
        (f64::from(self.sampling.rate) / self.signal.wave.frequency_hz()).ceil() as u64
    }
}

impl Exchange {
    /// Sends a script on its way, and frees those that have been used.
    fn push(&mut self, script: Script) {
        while self.used.pop().is_ok() {}
        // There is room for all scripts of several shots: one that had none would be a publisher that stands still, which its
        // troubles tell.
        let _ = self.scripts.push(script);
    }
}
