//! The recordings of all ends of a step, joined: the way of every frame from its publisher over this kernel to the application.

use crate::measure::there::clock_between;
use merge::{Input, Merge, MergeError, Relation};
use model::{EventKind, Fact, setting};
use place::{Place, PlaceKind};
use probes::subscribe::ClockRelation;
use run::{Adopted, NewRun};
use session::runner::Fetched;
use session::{Aside, Sealed, Session, SessionError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempPath;

/// Name of the joined run: its events and the groups of its inventory begin with it.
const NAME: &str = "joined";

/// Distance of two clocks above which frames may not be found by their stamps, in ns: a fifth of the time within which they are looked for.
const FAR_APART_NS: u64 = 100_000_000;

/// Data recorded here of a step.
pub(crate) struct Joining {
    /// The publisher, if it is in this process.
    pub(crate) publisher: Option<Aside>,
    /// The frames' way in this kernel, if they are traced.
    pub(crate) host: Option<Aside>,
    /// How the clocks of publisher and device related at the beginning.
    begun: ClockRelation,
}

/// The recordings of a step that has ended, in the order in which frames pass them.
pub(crate) struct Ended {
    publisher: Option<Sealed>,
    host: Option<Sealed>,
    /// True if the trace saw the application read the frames.
    host_sees_application: bool,
    fetched: [Vec<Fetched>; 2],
    begun: ClockRelation,
}

impl Joining {
    /// Nothing is recorded yet. `places` are those of publisher and device, as far as they are not in this process.
    pub(crate) fn begin(places: &[Arc<dyn Place>], session: &Session) -> Self {
        Self {
            publisher: None,
            host: None,
            begun: relation(places, session),
        }
    }

    /// Closes what was recorded here, with these facts about the trace; `fetched` are the runs of publisher and device in other places.
    ///
    /// # Errors
    /// A file that could not be written.
    pub(crate) fn end(
        self,
        traced: Vec<Fact>,
        host_sees_application: bool,
        fetched: [Vec<Fetched>; 2],
    ) -> Result<Ended, SessionError> {
        Ok(Ended {
            publisher: self.publisher.map(|aside| aside.finish(Vec::new())).transpose()?,
            host: self.host.map(|aside| aside.finish(traced)).transpose()?,
            host_sees_application,
            fetched,
            begun: self.begun,
        })
    }
}

impl Ended {
    /// Adds the ways between the ends to the run, and every frame with its stamps at all of them. If they cannot be joined, the run says why.
    ///
    /// # Errors
    /// The joined file cannot be written or read.
    pub(crate) fn join(self, places: &[Arc<dyn Place>], session: &Session) -> Result<(), SessionError> {
        let relation = farther(self.begun, relation(places, session));
        if let Some(why) = session.cannot_join(self.octets()) {
            self.leave(&why, session);
            return Ok(());
        }
        let folder = session.folder_beside()?;
        let mut run = NewRun {
            file: folder.path().join("joined.triptime"),
            may_be_numbered: false,
            command: "merge".to_owned(),
            arguments: Vec::new(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            window_ns: session.window_ns(),
            file_budget: None,
            documents: Vec::new(),
        };
        match self.merged(of_merge(relation), session, &mut run) {
            Ok(()) => Ok(session.recorder.adopt(self.adopted(&run.file, relation))?),
            Err(MergeError::Store(error)) => Err(error.into()),
            Err(error) => {
                say_not_joined(session, &error.to_string());
                Ok(())
            }
        }
    }

    fn merged(&self, relation: Relation, session: &Session, run: &mut NewRun) -> Result<(), MergeError> {
        let thresholds = session.recorder.thresholds().clone();
        let merge = Merge::open(&self.inputs(), relation)?
            .between_only()
            .with_thresholds(thresholds);
        run.make(merge.started(), |writer| {
            merge.write(writer)?;
            Ok((merge.state(), merge.duration_ns()))
        })
    }

    /// Bytes of all recordings.
    fn octets(&self) -> u64 {
        let inputs = self.inputs();
        let size = |input: &Input| std::fs::metadata(&input.path).map_or(0, |file| file.len());
        inputs.iter().map(size).sum()
    }

    /// Leaves the recordings where they are, so that they can be joined elsewhere, and says so.
    fn leave(self, why: &str, session: &Session) {
        let here = self.publisher.into_iter().chain(self.host).map(Sealed::keep);
        let mut left: Vec<PathBuf> = here.collect();
        let folder = left.first().and_then(|file| file.parent()).map(Path::to_owned);
        for fetched in self.fetched.into_iter().flatten() {
            left.extend(kept(fetched.run, folder.as_deref(), label_of(fetched.kind)));
        }
        let left: Vec<String> = left.iter().map(|file| file.display().to_string()).collect();
        let rest = "they are left for `triptime merge`, after which they can be removed";
        say_not_joined(session, &format!("{why}; {rest}: {}", left.join(", ")));
    }

    /// The recordings, each with the name of its end.
    fn inputs(&self) -> Vec<Input> {
        let input = |path: &Path, label: &str, ahead_ns: i64| Input {
            path: path.to_owned(),
            label: Some(label.to_owned()),
            ahead_ns,
        };
        let here = |sealed: &Sealed, label: &str| input(&sealed.file, label, 0);
        let away = |fetched: &Fetched, label: &str| input(&fetched.run, label, taken_off_ns(fetched));
        let [publishers, devices] = &self.fetched;
        let publisher = self.publisher.as_ref().map(|sealed| here(sealed, "publisher"));
        let publisher = publisher.or(publishers.first().map(|fetched| away(fetched, "publisher")));
        let host = self.host.as_ref().map(|sealed| here(sealed, "host"));
        let device = devices.first().filter(|_| !self.host_sees_application);
        let device = device.map(|fetched| away(fetched, label_of(fetched.kind)));
        publisher.into_iter().chain(host).chain(device).collect()
    }

    fn adopted(&self, file: &Path, relation: ClockRelation) -> Adopted {
        let [publishers, _] = &self.fetched;
        let fetched = || self.fetched.iter().flatten();
        let clock_there = fetched()
            .flat_map(|fetched| &fetched.settings)
            .filter(|(name, _)| name == setting::CLOCK_THERE)
            // One clock that nobody watched is enough.
            .max_by_key(|(_, value)| value == setting::NOT_WATCHED);
        // Two places are not asked all through a step; ends that read one clock need not be.
        let apart = match (relation, fetched().count()) {
            (ClockRelation::SameHost, _) => Some((setting::CLOCK_APART_NS.to_owned(), "0".to_owned())),
            (_, 1) => fetched()
                .flat_map(|fetched| fetched.settings.clone())
                .find(|(name, _)| name == setting::CLOCK_APART_NS),
            _ => None,
        };
        Adopted {
            file: file.to_owned(),
            place: NAME.to_owned(),
            ahead_ns: publishers
                .first()
                .map_or(0, |fetched| fetched.ahead_ns - taken_off_ns(fetched)),
            publishes: false,
            settings: clock_there.cloned().into_iter().chain(apart).collect(),
            doubts: fetched().flat_map(|fetched| fetched.doubts.clone()).collect(),
            with_recording: true,
        }
    }
}

/// Keeps a fetched run, in `folder` if there is room: where it is, its place may remove it. `None`: it could not be kept.
fn kept(run: TempPath, folder: Option<&Path>, end: &str) -> Option<PathBuf> {
    let Some(folder) = folder else { return run.keep().ok() };
    // Names of ends may repeat: publisher and device can both be guests.
    let number = std::fs::read_dir(folder).map_or(0, Iterator::count);
    let file = folder.join(format!("{end}-{number}.triptime"));
    if std::fs::copy(&run, &file).is_ok() {
        return Some(file);
    }
    let _ = std::fs::remove_file(&file);
    run.keep().ok()
}

/// Says in the run that its recordings were not joined.
fn say_not_joined(session: &Session, why: &str) {
    let text = format!("the recordings of the ends are not joined: {why}");
    session.recorder.events().write(EventKind::Note, text);
    session.recorder.add_facts(vec![Fact {
        group: NAME.to_owned(),
        name: "ways between the ends".to_owned(),
        value: Err(why.to_owned()),
        source: "recordings of the ends".to_owned(),
    }]);
}

/// The measured distance of a place's clock that is taken off its stamps, so that frames are found where clocks are far apart. Its size stays part of
/// the uncertainty. A smaller one is as uncertain as it is large, and nothing is taken off clocks that are stated to agree.
fn taken_off_ns(fetched: &Fetched) -> i64 {
    let is_far_apart = fetched.ahead_ns.unsigned_abs() > FAR_APART_NS;
    if fetched.is_asked && is_far_apart {
        fetched.ahead_ns
    } else {
        0
    }
}

/// Name of the device's end, before the names of its points.
fn label_of(kind: PlaceKind) -> &'static str {
    match kind {
        PlaceKind::Native => "device",
        PlaceKind::Container => "container",
        PlaceKind::Vm | PlaceKind::ContainerInVm => "guest",
        PlaceKind::Far => "far",
    }
}

/// How the clocks of publisher, this machine and device relate. A place that is too busy to answer must not cost the recordings: the relation is
/// then not known, and the run says so.
fn relation(places: &[Arc<dyn Place>], session: &Session) -> ClockRelation {
    let asked = clock_between(&places.iter().map(AsRef::as_ref).collect::<Vec<_>>());
    known(asked, |text| session.recorder.events().write(EventKind::Note, text))
}

/// The relation, if the places answered; else it is unknown, and `say` is called with the reason.
fn known(asked: Result<ClockRelation, SessionError>, say: impl FnOnce(String)) -> ClockRelation {
    asked.unwrap_or_else(|error| {
        say(format!(
            "the recordings of the ends are joined without a relation of their clocks: {error}"
        ));
        ClockRelation::Unknown
    })
}

/// The relation with the larger distance of two.
fn farther(a: ClockRelation, b: ClockRelation) -> ClockRelation {
    match (apart_ns(a), apart_ns(b)) {
        (None, _) => a,
        (Some(of_a), Some(of_b)) if of_a >= of_b => a,
        _ => b,
    }
}

/// Largest distance in ns; `None`: not known.
fn apart_ns(relation: ClockRelation) -> Option<u64> {
    match relation {
        ClockRelation::SameHost => Some(0),
        ClockRelation::Within { ns } => Some(ns),
        ClockRelation::Ptp { stated_ns, .. } => stated_ns,
        ClockRelation::Unknown => None,
    }
}

fn of_merge(relation: ClockRelation) -> Relation {
    match (apart_ns(relation), relation) {
        (None, _) => Relation::Unstated,
        (Some(_), ClockRelation::SameHost) => Relation::Known(0, "one machine, one clock"),
        (Some(ns), ClockRelation::Ptp { .. }) => Relation::Known(ns, "the machines follow PTP, as stated"),
        (Some(ns), _) => Relation::Known(ns, "the other ends were asked for their time"),
    }
}

#[cfg(test)]
mod tests {
    use super::{ClockRelation, Relation, farther, kept, known, of_merge};
    use place::PlaceError;
    use std::path::Path;

    #[test]
    fn a_place_that_does_not_answer_leaves_the_relation_unknown_and_says_so() {
        let lost = PlaceError::Lost {
            place: "guest",
            said: "no answer within 5 s".to_owned(),
        };
        let mut said = Vec::new();
        assert_eq!(known(Err(lost.into()), |text| said.push(text)), ClockRelation::Unknown);
        assert!(
            said[0].contains("without a relation") && said[0].contains("no answer within 5 s"),
            "{said:?}"
        );
        let within = ClockRelation::Within { ns: 5 };
        assert_eq!(known(Ok(within), |text| said.push(text)), within);
        assert_eq!(said.len(), 1);
    }

    #[test]
    fn a_fetched_run_is_kept_in_the_folder_of_the_others_and_named_after_its_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let run = || {
            let run = tempfile::NamedTempFile::new().expect("a file").into_temp_path();
            std::fs::write(&run, "run").expect("written");
            run
        };
        let first = kept(run(), Some(folder.path()), "guest").expect("kept");
        let second = kept(run(), Some(folder.path()), "guest").expect("kept");
        assert_eq!(first, folder.path().join("guest-0.triptime"));
        assert_eq!(second, folder.path().join("guest-1.triptime"));
        assert_eq!(std::fs::read(&second).expect("read"), b"run");
        // There is no such folder: it stays where it is.
        let alone = kept(run(), Some(Path::new("/no/such/folder")), "guest").expect("kept");
        assert_eq!(std::fs::read(&alone).expect("read"), b"run");
        std::fs::remove_file(alone).expect("removed");
    }

    #[test]
    fn of_two_relations_the_larger_distance_counts_and_none_is_farther_than_any() {
        let within = |ns| ClockRelation::Within { ns };
        assert_eq!(farther(within(5), within(9)), within(9));
        assert_eq!(farther(within(9), within(5)), within(9));
        assert_eq!(farther(within(9), ClockRelation::Unknown), ClockRelation::Unknown);
        assert_eq!(farther(ClockRelation::Unknown, within(9)), ClockRelation::Unknown);
        assert_eq!(of_merge(ClockRelation::Unknown), Relation::Unstated);
        assert!(matches!(of_merge(within(9)), Relation::Known(9, _)));
    }
}
