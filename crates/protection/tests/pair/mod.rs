//! Two bays of a protected object, and its differential function.

use crate::common::Rig;
use protection::differential::{Pdif, PdifSettings};
use protection::measure::{BaySettings, Measured, Synch};
use protection::{Function, Inputs, Rated, Waves};

/// Sample from which the function is asked, and the object may carry load.
const SETTLED: u64 = 200;

/// Two bays whose samples can be looked at.
struct Station {
    rigs: [Rig; 2],
}

impl std::fmt::Debug for Station {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Station")
    }
}

impl Waves for Station {
    fn phase_currents(&self, set: usize, at: u64) -> Option<[f64; 3]> {
        let [a, b, c, ..] = *self.rigs[set].bay.sample(at)?;
        Some([a, b, c])
    }
}

/// A fault in the object or outside: its begin, and the end of the samples.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub(crate) begins: u64,
    pub(crate) ends: u64,
}

/// Time of operation in ms after the begin of the fault, with a task of so many samples. `samples` are the currents of both sides.
pub(crate) fn operates(
    settings: PdifSettings,
    base: Rated,
    task: u64,
    span: Span,
    mut samples: impl FnMut(u64) -> [[f64; 8]; 2],
) -> Option<f64> {
    let measuring = BaySettings {
        harmonics: vec![2, 5],
        ..BaySettings::default()
    };
    let mut station = Station {
        rigs: [(); 2].map(|()| Rig::new(base, &measuring, false)),
    };
    let mut function = Pdif::new(settings, &base).expect("settings");
    for n in 0..span.ends {
        let samples = samples(n);
        let mut sets = [Measured::default(); 2];
        for (side, set) in sets.iter_mut().enumerate() {
            *set = *station.rigs[side].push(samples[side]);
            set.health.synch = Synch::GLOBAL;
        }
        if n % task == 0 && n > SETTLED {
            let output = function.step(&Inputs::of(&sets).with_waves(&station));
            assert!(n >= span.begins || !output.started.any(), "{n}: load");
            if output.operated.any() {
                return Some((n as f64 - span.begins as f64) * 1000.0 / base.samples_per_second);
            }
        }
    }
    None
}
