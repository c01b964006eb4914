//! A name chosen by a device never ends a run: every series gets a unique name.

use crate::support::{create, info, spec, window};
use model::{RunState, SeriesId, SeriesSpec, setting};
use store::{Batch, RunFile, RunWriter};

fn named(name: &str) -> SeriesSpec {
    SeriesSpec {
        name: name.into(),
        ..spec(0)
    }
}

#[test]
fn a_name_that_is_taken_is_numbered_and_the_wanted_one_kept() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("run.triptime");
    let mut writer = RunWriter::create(&path, &info(), None).expect("a run");
    let wanted = ["age/MU01", "age/MU01", "age/MU01#2", "age/mu01", "age/MU01\0"];
    for (number, name) in (0..).zip(wanted) {
        let foreseen = writer.name_for(name);
        assert_eq!(
            writer.add_series(&named(name)).expect("added"),
            SeriesId(number),
            "{foreseen}"
        );
    }
    writer.finish(RunState::Complete, 1).expect("finished");
    let series = RunFile::open(&path).expect("a run").series().expect("series");
    let names: Vec<&str> = series.iter().map(|(_, spec)| spec.name.as_str()).collect();
    assert_eq!(
        names,
        ["age/MU01", "age/MU01#2", "age/MU01#2#2", "age/mu01", "age/MU01\0"]
    );
    let told = |index: usize| {
        let settings = &series[index].1.settings;
        settings
            .iter()
            .find(|(name, _)| name == setting::ANOTHER_IS)
            .map(|(_, value)| value.as_str())
    };
    assert_eq!(
        [told(0), told(1), told(2)],
        [None, Some("age/MU01"), Some("age/MU01#2")]
    );
}

#[test]
fn each_keeps_its_own_samples() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("run.triptime");
    let mut writer = create(&path, 1, None);
    let second = writer.add_series(&spec(0)).expect("added");
    writer
        .write(&Batch {
            windows: vec![window(second.0, 0)],
            ..Batch::default()
        })
        .expect("written");
    writer.finish(RunState::Complete, 1).expect("finished");
    let run = RunFile::open(&path).expect("a run");
    assert_eq!(run.windows(SeriesId(0)).expect("windows").len(), 0);
    assert_eq!(run.windows(second).expect("windows").len(), 1);
}
