//! The values that a stream carries.

use std::sync::Arc;
use waveform::sample::{Dataset, SampleTable, Sampling};
use waveform::synth::Synth;

/// seqData of every sample, prepared so that the sending thread only copies, with a description of the waveform.
#[derive(Debug, Clone)]
pub struct Waveform {
    table: Arc<SampleTable>,
    what: String,
}

/// Start of a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Begin {
    /// Name of the state.
    pub(super) name: String,
    /// First sample of the state, counted from the first second.
    pub(super) sample: u64,
    /// Period of the state in samples; `None` if it does not return.
    every: Option<u64>,
}

impl Begin {
    /// The next time the state begins.
    pub(super) fn again(&self) -> Option<Self> {
        let sample = self.sample.checked_add(self.every?)?;
        Some(Self { sample, ..self.clone() })
    }
}

impl Waveform {
    /// Makes 50 Hz, 400 A, 20 kV at `rate` samples a second, as 4I4U. Rates up to 100, which cannot represent 50 Hz, get zeros.
    pub fn new(rate: u32) -> Self {
        let table = Synth::default().table(&Sampling::new(rate));
        let zeros = || SampleTable::zeros(&Dataset::default());
        Self::of(
            Arc::new(table.unwrap_or_else(|_| zeros())),
            "50 Hz, 400 A, 20 kV".to_owned(),
        )
    }

    /// Makes a waveform of these samples; `what` is a short description.
    pub fn of(table: Arc<SampleTable>, what: String) -> Self {
        Self { table, what }
    }

    /// seqData of a sample, counted from the first second.
    #[inline]
    pub fn seq_data(&self, sample: u64) -> &[u8] {
        self.table.seq_data(sample)
    }

    /// States that begin in a stream that runs `ahead` samples ahead; none if the stream stays in one state.
    pub(super) fn begins(&self, ahead: u32) -> Vec<Begin> {
        // A settled state loops over its cycles, or over one sample, and begins once.
        let comes_again = self.table.frequency_hz().is_none() && self.table.looped() > 1;
        let begins = self.table.marks().iter().filter_map(|mark| {
            let is_looped = comes_again && mark.sample >= self.table.once();
            let every = is_looped.then(|| self.table.looped());
            let behind = u64::from(ahead).saturating_sub(mark.sample);
            let sample = match (behind, every) {
                (0, _) => mark.sample - u64::from(ahead),
                (behind, every) => behind.next_multiple_of(every?) - behind,
            };
            Some(Begin {
                name: mark.name.clone(),
                sample,
                every,
            })
        });
        let begins: Vec<Begin> = begins.collect();
        let is_steady = begins.len() == 1 && begins[0].every.is_none();
        if is_steady { Vec::new() } else { begins }
    }

    /// Description of the waveform.
    pub fn what(&self) -> &str {
        &self.what
    }
}

#[cfg(test)]
mod tests {
    use super::Waveform;
    use std::sync::Arc;
    use waveform::comtrade::parse;
    use waveform::replay::{Ending, Options, table};
    use waveform::sample::{Dataset, Sampling};

    /// States of a record of 100 ms and one current with this ending: name, first sample, and true if the state returns.
    fn begins(ending: Ending) -> Vec<(String, u64, bool)> {
        let config =
            "s,d,1999\n1,1A,0D\n1,IA,A,,A,1,0,0,-9,9,1,1,P\n50\n1\n1000,100\n1/1/24,0:0:0\n1/1/24,0:0:0\nASCII\n1\n";
        let data: String = (1..=100).map(|number| format!("{number},0,1\n")).collect();
        let record = parse((config.as_bytes(), "cfg"), (data.as_bytes(), "dat")).expect("a record");
        let sampling = Sampling {
            dataset: Dataset::new(1, 0).expect("one current"),
            ..Sampling::new(4_000)
        };
        let options = Options {
            ending,
            ..Options::default()
        };
        let table = table(&record, &sampling, &options).expect("a table").table;
        let begins = Waveform::of(Arc::new(table), "a record".into()).begins(0);
        let begins = begins.into_iter();
        begins
            .map(|begin| (begin.name.clone(), begin.sample, begin.again().is_some()))
            .collect()
    }

    #[test]
    fn the_end_of_a_record_comes_once() {
        let begin = |name: &str, sample, again| (name.to_owned(), sample, again);
        assert_eq!(
            begins(Ending::Once),
            [
                begin("record", 0, false),
                begin("trigger", 0, false),
                begin("end", 397, false)
            ]
        );
        let mute = begins(Ending::Mute(100_000_000));
        assert_eq!(mute.last(), Some(&begin("mute", 397, true)), "{mute:?}");
    }

    #[test]
    fn the_first_sample_of_the_second() {
        // 20 kV and 400 A lagging by 30 degrees, worked out by hand: 565685.4 * cos(-30 deg) and so on.
        let wave = Waveform::new(4_800);
        let values: Vec<i32> = wave
            .seq_data(0)
            .chunks_exact(wire::sv::MEMBER)
            .map(|member| i32::from_be_bytes([member[0], member[1], member[2], member[3]]))
            .collect();
        assert_eq!(values, [489_898, -489_898, 0, 0, 1_632_993, -816_497, -816_497, -1]);
    }

    #[test]
    fn a_second_closes() {
        let wave = Waveform::new(4_800);
        assert_eq!(wave.seq_data(0), wave.seq_data(4_800));
        assert_ne!(wave.seq_data(0), wave.seq_data(48));
    }

    #[test]
    fn no_rate_is_too_low() {
        for rate in [0, 1, 100] {
            assert!(Waveform::new(rate).seq_data(7).iter().all(|octet| *octet == 0));
        }
    }
}
