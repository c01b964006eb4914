//! Gaps: frames that were not traced. They are reported at the end of the run.

use super::Reader;
use crate::error::ProbeError;
use ::trace::hops::HopSeries;
use model::EventKind;
use run::CountedSpan;

impl Reader {
    /// Reports all gaps.
    pub(super) fn say_gaps(&self) {
        self.say_uncertain();
        self.say_not_reached();
        self.say_troubles_of_all();
    }

    /// Reports frames that could not be paired with certainty, or are not valid.
    fn say_uncertain(&self) {
        let first = &self.tracer.options().points[0].name;
        for ((number, point), counts) in &self.totals {
            let Some(stream) = self.tracer.streams().get(*number as usize) else {
                continue;
            };
            let name = &self.tracer.options().points[*point].name;
            let label = self.names.label(*number).unwrap_or("?");
            for (count, why) in [
                (
                    counts.doubtful,
                    format!("came twice to {first}, so it is not known which of the two it is"),
                ),
                (
                    counts.stale,
                    format!("were not seen at {first} within the last half second"),
                ),
                (counts.skipped, "were not seen at the point before".to_owned()),
                (counts.cut, "are shorter than their header says".to_owned()),
            ] {
                if count > 0 {
                    let text = format!("{label}: {count} frames at {name} {why}: not measured");
                    self.doubt(stream, Some(*point), &text);
                }
            }
            if counts.again > 0 {
                let text = format!(
                    "{label}: {} frames came to {name} again: another program reads there, too; only the first time is measured",
                    counts.again
                );
                self.events.write(EventKind::Note, text);
            }
        }
    }

    /// Reports points that a stream never reached. It is not known whether it should have, so limits on them are undecided.
    fn say_not_reached(&self) {
        let points = &self.tracer.options().points;
        for stream in self.tracer.streams() {
            let Some(label) = self.names.label(stream.number) else {
                continue;
            };
            let missing = (1..points.len()).filter(|number| !stream.has_reached(*number));
            let missing: Vec<usize> = missing.collect();
            if missing.is_empty() {
                continue;
            }
            let names: Vec<&str> = missing.iter().map(|number| points[*number].name.as_str()).collect();
            let text = format!("{label} was never seen at {}", names.join(", "));
            self.events.write(EventKind::Note, text);
            for (point, name) in missing.into_iter().zip(names) {
                let why = format!("{label} was never seen at {name}");
                self.add_not_measured(stream.number, point, &why);
            }
        }
    }

    fn add_not_measured(&self, stream: u32, point: usize, why: &str) {
        let has_total = self.tracer.options().points[point].parent > 0;
        for total in [false, true].into_iter().filter(|total| has_total || !total) {
            if let Some(spec) = self.names.spec(HopSeries { stream, point, total }) {
                self.counted.add(CountedSpan::not_measured(spec, why));
            }
        }
    }

    fn say_troubles_of_all(&self) {
        let troubles = &self.summary.troubles;
        let first = &self.tracer.options().points[0].name;
        for (count, what) in [
            (troubles.malformed, "frames are not valid sampled values".to_owned()),
            (
                troubles.cut_short,
                "frames are shorter than their header says, and no whole frame of their streams came".to_owned(),
            ),
            (
                troubles.unknown_stream,
                format!("frames at later points belong to streams that never came to {first}"),
            ),
            (
                troubles.unstamped,
                format!("frames came to {first} without a usable time stamp of the NIC: they are not timed"),
            ),
            (
                troubles.missed_runs,
                "events were not seen: the kernel does not start a program while it already runs".to_owned(),
            ),
        ] {
            if count > 0 {
                self.events.write(EventKind::HopGap, format!("{count} {what}"));
            }
        }
    }

    /// Error if the tracer saw no stream.
    pub(super) fn no_traffic(&self) -> ProbeError {
        let points = &self.tracer.options().points;
        let kinds: Vec<&str> = points[0].hooks.iter().map(|place| place.kind.tracepoint()).collect();
        let malformed = self.summary.troubles.malformed + self.summary.troubles.cut_short;
        let more = if malformed > 0 {
            format!(", but {malformed} frames of EtherType 0x88ba that are not whole sampled values")
        } else {
            String::new()
        };
        ProbeError::NoTraffic(format!(
            "no sampled values came to the first point, {} ({}){more}",
            points[0].name,
            kinds.join(" or ")
        ))
    }
}
