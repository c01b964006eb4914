//! Names of the streams of a run: every place that measures a stream gets the same name for it.

use model::{Observer, StreamId, StreamLabels};
use std::sync::{Arc, Mutex, PoisonError};

/// The labels of a run, and the number of its observers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Labels(Arc<Mutex<(StreamLabels, u32)>>);

impl Labels {
    /// Makes the labels for one more observer.
    pub(crate) fn for_observer(&self) -> LabelsAt {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let observer = Observer(known.1);
        known.1 += 1;
        LabelsAt {
            observer,
            labels: self.clone(),
        }
    }
}

/// Names of the streams that one observer measures. Do not use it in a measuring thread: it may wait, and allocates.
#[derive(Debug, Clone)]
pub struct LabelsAt {
    observer: Observer,
    labels: Labels,
}

impl LabelsAt {
    /// The name of this stream, here and wherever else it is measured in the run.
    pub fn of(&self, stream: &StreamId) -> String {
        let mut known = self.labels.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.0.label(self.observer, stream)
    }
}

#[cfg(test)]
mod tests {
    use crate::test_run::TestRun;
    use crate::{Describe, Recorder, Stop};
    use model::{RunState, SeriesSpec, StreamId, StreamKind};
    use std::time::Duration;
    use wire::ether::Mac;

    struct Ages;

    impl Describe for Ages {
        fn series(&self, _: u16, label: &str) -> SeriesSpec {
            SeriesSpec::named(&format!("age/{label}"))
        }
    }

    fn stream(appid: u16) -> StreamId {
        StreamId {
            appid: Some(appid),
            ..StreamId::named(StreamKind::SampledValues, b"MU01")
        }
    }

    /// A tracer, which sees source addresses, sees the streams in a different order than the subscriber.
    #[test]
    fn what_is_measured_of_a_stream_at_two_places_has_one_label() {
        let file = TestRun::new();
        let (writer, options) = file.begin(60_000_000_000, None);
        let mut recorder = Recorder::start(writer, options, &Stop::new());
        let traced = recorder.labels();
        let mut feed = recorder.feed(16, 2, Box::new(Ages));
        feed.announce_stream(0, &stream(1));
        feed.announce_stream(1, &stream(2));
        while recorder.live().len() < 2 {
            std::thread::sleep(Duration::from_millis(1));
        }
        let from = |stream: StreamId| StreamId {
            source: Some(Mac([2, 0, 0, 0, 0, 1])),
            ..stream
        };
        assert_eq!(traced.of(&from(stream(2))), "MU01#2");
        assert_eq!(traced.of(&from(stream(1))), "MU01");
        drop(feed);
        recorder.finish(RunState::Complete).expect("written");
        let names: Vec<String> = file
            .read()
            .series()
            .expect("series")
            .into_iter()
            .map(|(_, spec)| spec.name)
            .collect();
        assert_eq!(names, ["age/MU01", "age/MU01#2"]);
    }
}
