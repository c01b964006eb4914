//! The signal of a set of streams: one signal, sampled at each stream's rate. Each stream may be slightly ahead in phase of the previous one.

use crate::comtrade::ComtradeRecord;
use crate::sample::{MAX_OCTETS, SampleTable, Sampling};
use crate::synth::Synth;
use crate::{WaveformError, replay};
use std::sync::Arc;

/// A signal from either source.
#[derive(Debug, Clone)]
pub enum Signal {
    /// Synthesised.
    Synth(Synth),
    /// From a record, with the replay options.
    Record(Box<ComtradeRecord>, replay::Options),
}

impl Signal {
    /// The samples that stream number `stream` publishes; its phase is ahead by `ahead_deg` degrees, and its noise differs from the other streams'.
    ///
    /// # Errors
    /// Errors of [`Synth::table`] and [`replay::table`], or a record with a phase shift.
    pub fn table(&self, sampling: &Sampling, stream: u64, ahead_deg: f64) -> Result<SampleTable, WaveformError> {
        match self {
            Self::Synth(synth) => synth.shifted(ahead_deg, stream).table(sampling),
            Self::Record(_, _) if ahead_deg != 0.0 => Err(WaveformError::setting(
                "a phase between streams needs a synthesised waveform: a record is the same for all streams",
            )),
            Self::Record(record, options) => Ok(replay::table(record, sampling, options)?.table),
        }
    }

    /// True if streams without phase shift still differ.
    fn differs_by_stream(&self) -> bool {
        matches!(self, Self::Synth(synth) if !synth.noise.is_silent())
    }
}

/// The tables of a set of streams: each is made once, and streams with equal samples share one.
#[derive(Debug)]
pub struct Tables {
    signal: Signal,
    most_octets: u64,
    made: Vec<Made>,
}

#[derive(Debug)]
struct Made {
    sampling: Sampling,
    ahead_deg: f64,
    stream: Option<u64>,
    table: Arc<SampleTable>,
}

impl Tables {
    /// No table yet.
    pub fn new(signal: Signal) -> Self {
        Self {
            signal,
            most_octets: MAX_OCTETS,
            made: Vec::new(),
        }
    }

    /// The signal of the tables.
    pub fn signal(&self) -> &Signal {
        &self.signal
    }

    /// The table of stream number `stream`, from 0, whose phase is ahead by `ahead_deg` degrees.
    ///
    /// # Errors
    /// Errors of [`Signal::table`], or all tables together exceed the memory limit.
    pub fn of(&mut self, sampling: &Sampling, stream: u64, ahead_deg: f64) -> Result<Arc<SampleTable>, WaveformError> {
        if !ahead_deg.is_finite() {
            return Err(WaveformError::setting(
                "the phase of a stream must be a number of degrees",
            ));
        }
        let ahead_deg = ahead_deg.rem_euclid(360.0);
        let own = self.signal.differs_by_stream().then_some(stream);
        let same = |made: &&Made| made.sampling == *sampling && made.ahead_deg == ahead_deg && made.stream == own;
        if let Some(made) = self.made.iter().find(same) {
            return Ok(Arc::clone(&made.table));
        }
        let table = Arc::new(self.signal.table(sampling, stream, ahead_deg)?);
        let octets = table.octets() + self.made.iter().map(|made| made.table.octets()).sum::<usize>();
        if octets as u64 > self.most_octets {
            return Err(WaveformError::setting(format!(
                "the waveforms of {} streams take more than {} MiB of memory: use no phase step and no noise, a shorter sequence, or fewer streams",
                stream + 1,
                self.most_octets >> 20
            )));
        }
        self.made.push(Made {
            sampling: sampling.clone(),
            ahead_deg,
            stream: own,
            table: Arc::clone(&table),
        });
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::{Signal, Tables};
    use crate::sample::Sampling;
    use crate::synth::{Noise, Synth};
    use std::sync::Arc;

    fn tables(noise_a: f64) -> Tables {
        let noise = Noise {
            current_a: noise_a,
            ..Noise::default()
        };
        let synth = Synth {
            noise,
            ..Synth::default()
        };
        Tables::new(Signal::Synth(synth))
    }

    #[test]
    fn streams_that_are_the_same_share_a_table() {
        let sampling = Sampling::new(4_800);
        let mut equal = tables(0.0);
        let first = equal.of(&sampling, 0, 0.0).expect("a table");
        assert!(Arc::ptr_eq(&first, &equal.of(&sampling, 499, 0.0).expect("a table")));
        assert!(!Arc::ptr_eq(
            &first,
            &equal.of(&Sampling::new(4_000), 0, 0.0).expect("a table")
        ));

        let mut stepped = tables(0.0);
        let of: Vec<_> = (0..5)
            .map(|stream| stepped.of(&sampling, stream, 90.0 * stream as f64).expect("a table"))
            .collect();
        assert!(Arc::ptr_eq(&of[0], &of[4]), "360 degrees are none");
        assert_eq!(of[1].seq_data(0), of[0].seq_data(24), "a quarter of 96 samples ahead");

        let mut noisy = tables(1.0);
        let of: Vec<_> = (0..2)
            .map(|stream| noisy.of(&sampling, stream, 0.0).expect("a table"))
            .collect();
        assert_ne!(of[0], of[1]);
    }

    #[test]
    fn together_they_are_bounded() {
        let mut noisy = tables(1.0);
        noisy.most_octets = 2 << 20;
        // A second of eight members at 4800 samples a second takes 0.3 MiB.
        let sampling = Sampling::new(4_800);
        let refused = (0..7).map(|stream| noisy.of(&sampling, stream, 0.0).err());
        let refused: Vec<Option<String>> = refused.map(|error| error.map(|error| error.to_string())).collect();
        assert!(refused[..6].iter().all(Option::is_none), "{refused:?}");
        assert!(
            refused[6]
                .as_ref()
                .is_some_and(|text| text.contains("7 streams take more than 2 MiB")),
            "{refused:?}"
        );
    }
}
