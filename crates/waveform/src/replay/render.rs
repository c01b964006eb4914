//! The samples of a record.

use super::describe::lines;
use super::mapping::{Feed, Origin, origins};
use super::resample::Resampler;
use super::{Ending, Options};
use crate::WaveformError;
use crate::comtrade::ComtradeRecord;
use crate::sample::{Dataset, SampleTable, Sampling, Source, Writer};
use wire::quality::SvQuality;

/// A record as samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// The samples.
    pub table: SampleTable,
    /// The source of every member's values, and the fields that were ignored; for the user.
    pub channels: Vec<String>,
}

/// The samples of `record`. The record's first sample is sample 0 of the table.
///
/// # Errors
/// A member without channel, or a table that needs too much memory.
pub fn table(record: &ComtradeRecord, sampling: &Sampling, options: &Options) -> Result<Replay, WaveformError> {
    sampling.check()?;
    let origins = origins(record, &sampling.dataset, &options.assignments, options.side)?;
    let rate = f64::from(sampling.rate);
    let columns = Columns::new(record, rate, &sampling.dataset, options, &origins)?;
    let render = Render {
        writer: Writer::new(
            sampling,
            sources(&origins),
            columns.samples_with(sampling, options.ending),
        )?,
        columns: &columns,
        row: vec![0.0; origins.len()],
        trigger: record
            .config
            .trigger_ns
            .and_then(|ns| u64::try_from(ns).ok())
            .map(|ns| sampling.first_at(ns)),
    };
    let table = match options.ending {
        Ending::Cycles => {
            let cycle = columns.cycle(record, sampling)?;
            render.cycles(cycle)?
        }
        Ending::Mute(ns) => render.muted(sampling.first_at(ns))?,
        Ending::Once => render.once()?,
    };
    Ok(Replay {
        table,
        channels: lines(record, &sampling.dataset, &origins),
    })
}

/// For every member its source for the writer, and its values at the sampling's rate in A or V, starting at the record's first sample.
///
/// # Errors
/// A member without channel, or too many samples for the memory limit.
pub(crate) fn members(
    record: &ComtradeRecord,
    sampling: &Sampling,
    options: &Options,
) -> Result<(Vec<Source>, Vec<Vec<f64>>), WaveformError> {
    let origins = origins(record, &sampling.dataset, &options.assignments, options.side)?;
    let columns = Columns::new(record, f64::from(sampling.rate), &sampling.dataset, options, &origins)?;
    Ok((sources(&origins), columns.values))
}

fn sources(origins: &[Origin]) -> Vec<Source> {
    let source = |origin: &Origin| match origin {
        Origin::Feed(_) => Source::Given,
        Origin::Invalid(_) => Source::Invalid,
        Origin::Sum => Source::Sum,
        Origin::Zero => Source::Zero,
    };
    origins.iter().map(source).collect()
}

/// Nominal frequencies of grids, railways and ships. The search for the cut takes time proportional to the square of a cycle's length: a frequency
/// far below would take hours.
pub(crate) const POSSIBLE_HZ: std::ops::RangeInclusive<f64> = 10.0..=400.0;

/// The values of every member at the new rate, in A or V.
pub(super) struct Columns {
    pub(super) values: Vec<Vec<f64>>,
    samples: usize,
}

impl Columns {
    pub(super) fn new(
        record: &ComtradeRecord,
        rate: f64,
        dataset: &Dataset,
        options: &Options,
        origins: &[Origin],
    ) -> Result<Self, WaveformError> {
        let times_s = record.times_s();
        let start_s = times_s[0];
        let length = (times_s[times_s.len() - 1] - start_s) * rate;
        // Slightly larger, so that a sample at the last time is included.
        let samples = (length + 1e-6).floor() + 1.0;
        crate::sample::check_size(samples as u64, dataset.octets())?;
        let samples = samples as usize;
        let resampler = Resampler {
            times_s,
            uniform: record.uniform(),
            interpolation: options.interpolation,
            rate,
        };
        let column = |origin: &Origin| match origin {
            Origin::Feed(Feed { channel, factor }) => {
                let values = record.analog(*channel);
                let skew_s = record.config.analog[*channel].skew_us / 1e6;
                let at = |sample| start_s + sample as f64 / rate - skew_s;
                (0..samples)
                    .map(|sample| factor * resampler.at(values, at(sample)))
                    .collect()
            }
            Origin::Invalid(_) | Origin::Sum | Origin::Zero => vec![0.0; samples],
        };
        Ok(Self {
            values: origins.iter().map(column).collect(),
            samples,
        })
    }

    /// Number of samples of the table.
    fn samples_with(&self, sampling: &Sampling, ending: Ending) -> u64 {
        let silence = match ending {
            Ending::Cycles => 0,
            Ending::Mute(ns) => sampling.first_at(ns),
            Ending::Once => 1,
        };
        (self.samples as u64).saturating_add(silence)
    }

    /// Samples of a cycle of the nominal frequency. It is only the length of the fade, so a wrong frequency does no harm.
    fn cycle(&self, record: &ComtradeRecord, sampling: &Sampling) -> Result<usize, WaveformError> {
        let stated = record.config.frequency_hz;
        let hz = stated.filter(|hz| POSSIBLE_HZ.contains(hz)).unwrap_or(50.0);
        let cycle = (f64::from(sampling.rate) / hz).round().max(1.0) as usize;
        if cycle.saturating_mul(3) <= self.samples {
            return Ok(cycle);
        }
        Err(WaveformError::setting(format!(
            "the record has {:.1} ms, which is too short to loop over whole cycles of {hz} Hz: loop it with a mute, or play it once",
            self.samples as f64 * 1e3 / f64::from(sampling.rate)
        )))
    }

    /// The position in the last cycle but one where the record is most similar to its start, so that it can be repeated from there.
    fn seam(&self, cycle: usize) -> usize {
        let whole: Vec<(&[f64], f64)> = self
            .values
            .iter()
            .filter_map(|values| {
                let power = values.iter().map(|value| value * value).sum::<f64>();
                (power > 0.0).then_some((values.as_slice(), power))
            })
            .collect();
        let unlike = |seam: usize| -> f64 {
            whole
                .iter()
                .map(|(values, power)| {
                    let pairs = values[..cycle].iter().zip(&values[seam..seam + cycle]);
                    pairs.map(|(begin, end)| (begin - end).powi(2)).sum::<f64>() / power
                })
                .sum()
        };
        let last = self.samples - cycle;
        (last - cycle..=last)
            .map(|seam| (seam, unlike(seam)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map_or(last, |(seam, _)| seam)
    }
}

/// A table under construction.
struct Render<'a> {
    writer: Writer<'a>,
    columns: &'a Columns,
    row: Vec<f64>,
    /// Sample of the trigger, until it is marked.
    trigger: Option<u64>,
}

impl Render<'_> {
    /// Plays its first cycle once, then repeats the rest followed by that cycle, cross-faded with the samples after the cut.
    fn cycles(mut self, cycle: usize) -> Result<SampleTable, WaveformError> {
        let seam = self.columns.seam(cycle);
        self.writer.mark("record");
        self.record(0..seam);
        self.writer.mark("record");
        for sample in 0..cycle {
            let share = (sample + 1) as f64 / (cycle + 1) as f64;
            for (place, values) in self.row.iter_mut().zip(&self.columns.values) {
                *place = values[seam + sample] * (1.0 - share) + values[sample] * share;
            }
            self.writer.push(&self.row, SvQuality::GOOD);
        }
        self.writer.finish(seam as u64, None)
    }

    fn muted(mut self, silence: u64) -> Result<SampleTable, WaveformError> {
        let samples = self.columns.samples as u64;
        self.writer.mark("record");
        self.record(0..self.columns.samples);
        if silence > 0 {
            self.writer.mark("mute");
            self.silence(silence);
        }
        self.writer.finish(samples + silence, None)
    }

    fn once(mut self) -> Result<SampleTable, WaveformError> {
        self.writer.mark("record");
        self.record(0..self.columns.samples);
        self.writer.mark("end");
        self.silence(1);
        self.writer.finish(1, None)
    }

    fn record(&mut self, samples: std::ops::Range<usize>) {
        for sample in samples {
            if self.trigger == Some(sample as u64) {
                self.writer.mark("trigger");
            }
            for (place, values) in self.row.iter_mut().zip(&self.columns.values) {
                *place = values[sample];
            }
            self.writer.push(&self.row, SvQuality::GOOD);
        }
    }

    fn silence(&mut self, samples: u64) {
        self.row.fill(0.0);
        for _ in 0..samples {
            self.writer.push(&self.row, SvQuality::GOOD);
        }
    }
}
