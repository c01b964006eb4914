//! Traces the sampled values of a step: how long each frame takes between points inside this kernel.
//!
//! If tracing is not possible, the step runs without it. Its series are then in the run without samples and with the reason, so that limits on them
//! are undecided rather than left out.

#[cfg(test)]
mod tests;

use bed::Bed;
use model::{EventKind, Fact, SeriesSpec, kind};
use probes::NicStamps;
use probes::trace::{TraceConfig, TraceSummary, Tracing};
use probes::{Probe, ProbeError, SenderEnd};
use run::{Counted, CountedSpan, Events, Recorder, Stop};
use std::collections::BTreeMap;
use trace::path::{FIRST, FramePath, GROUP};

/// Settings of the tracing.
pub(super) struct Wanted<'a> {
    /// The bed that the frames pass.
    pub(super) bed: &'a Bed,
    /// Its network, if it is one of several.
    pub(super) network: Option<&'a str>,
    /// svIDs of the streams.
    pub(super) streams: Vec<String>,
    /// Threshold in ns: slower passes from one point to the next are kept with their cause.
    pub(super) threshold_ns: Option<u64>,
    /// Length of the run's windows.
    pub(super) window_ns: u64,
    /// True to keep every frame with its stamps.
    pub(super) record: bool,
}

/// Tracing under way, or the reason why it is not.
pub(super) struct Hops<'a> {
    wanted: Wanted<'a>,
    /// Names of the hops.
    hops: Vec<String>,
    counted: Counted,
    events: Events,
    tracing: Option<Tracing>,
    sender: SenderEnd,
}

impl<'a> Hops<'a> {
    /// Starts tracing until `stop` is set; records what is traced, or why nothing is.
    pub(super) fn start(wanted: Wanted<'a>, recorder: &mut Recorder, stop: &Stop) -> Self {
        let path = wanted.bed.frame_path();
        let hops = match &path {
            Ok(path) if path.points.len() > 1 => path.all_hops(),
            // The hops that every path has.
            _ => vec![format!("{FIRST}-to-edge"), "edge-to-app".to_owned()],
        };
        let mut all = Self {
            wanted,
            hops,
            counted: recorder.counted(),
            events: recorder.events(),
            tracing: None,
            sender: SenderEnd::default(),
        };
        let started = path
            .map_err(|error| error.to_string())
            .and_then(|path| all.trace(&path, recorder, stop));
        match started {
            Ok(tracing) => all.tracing = Some(tracing),
            Err(why) => all.say_not_traced(recorder, &why),
        }
        all
    }

    fn trace(&self, path: &FramePath, recorder: &mut Recorder, stop: &Stop) -> Result<Tracing, String> {
        recorder.add_facts(path.facts(&self.group()));
        if path.points.len() < 2 {
            return Err(format!("no second point is found: {}", path.unseen.join("; ")));
        }
        let config = TraceConfig {
            points: path.points.clone(),
            max_streams: u32::try_from(self.wanted.streams.len()).unwrap_or(u32::MAX),
            threshold_ns: self.wanted.threshold_ns,
            record: self.wanted.record,
            window_ns: self.wanted.window_ns,
            // The path was found in another namespace, whose interface numbers it has.
            namespaces: BTreeMap::new(),
            sender: self.sender.clone(),
        };
        let tracing = start_before_loads(&config, recorder, stop).map_err(|error| error.to_string())?;
        let names: Vec<&str> = path.points.iter().map(|point| point.name.as_str()).collect();
        let text = format!(
            "every frame is traced at {}: measurements at the same time include the cost, which the inventory states",
            names.join(", ")
        );
        self.events.write(EventKind::Note, text);
        Ok(tracing)
    }

    /// Handle that is notified when the sender of the streams has ended.
    pub(super) fn sender(&self) -> SenderEnd {
        self.sender.clone()
    }

    /// True if the application that reads the frames is among the points.
    pub(super) fn see_application(&self) -> bool {
        self.tracing.is_some() && self.hops.iter().any(|hop| hop.ends_with("-to-app"))
    }

    /// Waits for the end of tracing, and records its result; returns the facts about the recording of every frame, if there is one.
    pub(super) fn finish(mut self, recorder: &Recorder) -> Vec<Fact> {
        let tracing = self.tracing.take();
        tracing.map_or_else(Vec::new, |tracing| self.ended(tracing.join(), recorder))
    }

    fn ended(&self, outcome: Result<TraceSummary, ProbeError>, recorder: &Recorder) -> Vec<Fact> {
        match outcome {
            Ok(summary) => {
                recorder.add_facts(summary.facts(&self.group()));
                self.say_streams_missing(&summary.streams);
                return summary.recording;
            }
            Err(ProbeError::NoTraffic(why)) => self.say_not_traced(recorder, &why),
            Err(error) => {
                // The counts until then are in the run, but incomplete.
                let why = format!("tracing ended before its time: {error}");
                self.events.write(EventKind::HopGap, why.clone());
                self.wanted
                    .streams
                    .iter()
                    .for_each(|stream| self.without_samples(stream, &why));
            }
        }
        Vec::new()
    }

    /// Reports streams that never reached the first point, if at least one of them did.
    fn say_streams_missing(&self, seen: &[String]) {
        for stream in self.wanted.streams.iter().filter(|stream| !seen.contains(stream)) {
            let why = format!("{stream} was never seen at {FIRST}");
            self.events.write(EventKind::HopGap, why.clone());
            self.without_samples(stream, &why);
        }
    }

    fn say_not_traced(&self, recorder: &Recorder, why: &str) {
        // A gap and no error, because the same hops may be traced in another round.
        let text = format!("hops are not traced: {why}");
        self.events.write(EventKind::HopGap, text);
        recorder.add_facts(vec![Fact {
            group: self.group(),
            name: "hops".to_owned(),
            value: Err(why.to_owned()),
            source: "eBPF".to_owned(),
        }]);
        self.wanted
            .streams
            .iter()
            .for_each(|stream| self.without_samples(stream, why));
    }

    /// Adds the stream's series that do not exist yet, without samples, so that limits on them are undecided.
    fn without_samples(&self, stream: &str, why: &str) {
        for hop in &self.hops {
            let series = SeriesSpec::of(
                &kind::HOP,
                &format!("{hop}/{stream}"),
                "a frame's way inside this kernel",
            );
            self.counted.add(CountedSpan::not_measured(series, why));
        }
    }

    /// Name of the inventory group.
    fn group(&self) -> String {
        match self.wanted.network {
            Some(network) => format!("{GROUP} over {network}"),
            None => GROUP.to_owned(),
        }
    }
}

/// Starts tracing from a thread that runs before the loads on its CPU: the kernel takes seconds of CPU time to verify the programs. The tracing
/// thread itself has ordinary priority, so that the recorder runs before it.
fn start_before_loads(config: &TraceConfig, recorder: &mut Recorder, stop: &Stop) -> Result<Tracing, ProbeError> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            sys::thread::prefer_alone();
            config.start(None::<NicStamps>, recorder, stop)
        });
        let started = thread.join();
        started.unwrap_or_else(|_| Err(ProbeError::Panicked("trace".to_owned())))
    })
}
