//! Settings for the device's end of a step in a place.

use super::{Given, StepContext};
use crate::value::PlanError;
use bed::End;
use place::container::RuntimeName;
use place::guest::GuestSpec;
use place::{Job, Place, PlaceKind, StatedClock};
use probes::subscribe::ClockRelation;
use serde::{Deserialize, Serialize};
use session::{Session, SessionError};

/// Name of the task's file in a place.
pub(crate) const TASK: &str = "device.toml";

/// Name of the file with the limits of the run: they decide which samples are too late.
pub(crate) const LIMITS: &str = "limits.toml";

/// The arguments that start the task, before the options of the run that it becomes a part of.
pub(crate) const WORDS: [&str; 3] = ["device", TASK, "--quiet"];

/// Settings for the device's end, in addition to the step itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct There {
    /// Name of the plan.
    pub(crate) plan: String,
    /// Name of the device's interface in the place.
    pub(crate) interface: String,
    /// Its number among several devices side by side, from 0.
    pub(crate) device: usize,
    /// True for the test set's end of the step.
    #[serde(default)]
    pub(crate) is_test_set: bool,
    /// For the test set: address of the device's interface.
    #[serde(default)]
    pub(crate) device_mac: Option<[u8; 6]>,
    /// How the clock of the other end relates to the place's.
    pub(crate) clock: ClockRelation,
    /// Questions that this end sends to the other.
    pub(crate) asks: Asks,
    /// CPUs for the audit in the place; `None` if the run already has its facts.
    pub(crate) audited: Option<Vec<u32>>,
    /// CPUs that are judged there by this step and the steps side by side with it.
    #[serde(default)]
    pub(crate) judged_by_all: Vec<u32>,
    /// Loads on the machine of the other end, as text for a setting of series.
    pub(crate) load_here: Option<String>,
    /// The container of the device in the place; `None`: the device is in the place itself.
    #[serde(default)]
    pub(crate) container: Option<Inside>,
}

/// Questions of the device's end to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Asks {
    /// No questions: the other end cannot answer.
    Nothing,
    /// Causes of late samples: this end is not permitted to trace the kernel.
    Causes,
    /// Events of a virtual CPU: this end is in a guest.
    VirtualCpus,
}

/// How two clocks relate that are each this machine's or that of one of these places: their uncertainties add up.
///
/// # Errors
/// A place could not be asked for its time.
pub(crate) fn clock_between(places: &[&dyn Place]) -> Result<ClockRelation, SessionError> {
    let mut stated = None;
    let mut measured_ns: u64 = 0;
    for place in places {
        match place.stated_clock() {
            Some(StatedClock::Unknown) => return Ok(ClockRelation::Unknown),
            Some(StatedClock::Within(ns)) => stated = Some(ns.saturating_add(stated.unwrap_or(0))),
            None => measured_ns = measured_ns.saturating_add(place.clock()?.apart_ns()),
        }
    }
    Ok(match (stated, measured_ns) {
        (Some(ns), more_ns) => ClockRelation::Ptp {
            stated_ns: Some(ns.saturating_add(more_ns)),
            publisher_ns: 0,
        },
        (None, 0) => ClockRelation::SameHost,
        (None, ns) => ClockRelation::Within { ns },
    })
}

/// The same relation, seen from `place`, whose clock differs from that of the machine that it is on.
///
/// # Errors
/// The place could not be asked for its time.
pub(crate) fn clock_in(place: &dyn Place, of_machine: ClockRelation) -> Result<ClockRelation, SessionError> {
    let more_ns = place.clock()?.apart_ns();
    Ok(match of_machine {
        _ if more_ns == 0 => of_machine,
        ClockRelation::SameHost => ClockRelation::Within { ns: more_ns },
        ClockRelation::Within { ns } => ClockRelation::Within {
            ns: ns.saturating_add(more_ns),
        },
        ClockRelation::Ptp {
            stated_ns,
            publisher_ns,
        } => ClockRelation::Ptp {
            stated_ns: stated_ns.map(|ns| ns.saturating_add(more_ns)),
            publisher_ns: publisher_ns.saturating_add(more_ns),
        },
        ClockRelation::Unknown => ClockRelation::Unknown,
    })
}

/// The same, for serialization.
#[derive(Serialize)]
struct Written<'a> {
    there: &'a There,
    step: &'a toml::Table,
}

/// The part of the step that a place does.
pub(crate) fn job(
    context: &StepContext<'_>,
    given: Given,
    (end, device): (End, usize),
    place: &dyn Place,
    session: &Session,
) -> Result<Job, SessionError> {
    let Given { mut keys, mut files } = given;
    let is_test_set = end == End::TestSet;
    let other = match is_test_set {
        true => context.places.first().map(AsRef::as_ref),
        false => context.test_set_place.as_deref(),
    };
    let clocks: Vec<&dyn Place> = std::iter::once(place).chain(other).collect();
    let there = There {
        plan: context.plan.clone(),
        interface: place.interface().to_owned(),
        device,
        is_test_set,
        device_mac: match is_test_set {
            true => Some(context.device_mac()?.0),
            false => None,
        },
        clock: clock_between(&clocks)?,
        asks: match (session.explainer(), place.kind()) {
            (None, _) | (_, PlaceKind::Native | PlaceKind::Far) => Asks::Nothing,
            (_, PlaceKind::Container) => Asks::Causes,
            (_, PlaceKind::Vm | PlaceKind::ContainerInVm) => Asks::VirtualCpus,
        },
        audited: place.tells_inventory().then(|| context.audited.iter().collect()),
        // Another machine has its own CPU numbers.
        judged_by_all: match place.kind() {
            PlaceKind::Far => Vec::new(),
            _ if is_test_set => Vec::new(),
            _ => context.judged_by_all.iter().collect(),
        },
        load_here: session.recorder.setting(model::setting::LOAD).map(str::to_owned),
        container: place.has_container().then(|| Inside {
            files: files.iter().map(|(name, _)| name.clone()).collect(),
            guest: None,
            runtime: None,
        }),
    };
    let judged = match (end, &context.inside) {
        (End::TestSet, _) => place.judged().unwrap_or_else(|| context.test_set.clone()),
        (End::Device, Some(inside)) => inside.clone(),
        (End::Device, None) => place.judged().unwrap_or_else(|| context.judged.clone()),
    };
    if context.in_several_guests {
        let guest = format!("guest{}", device + 1);
        let label = context
            .label
            .as_ref()
            .map_or(guest.clone(), |label| format!("{label}-{guest}"));
        keys.insert("label".to_owned(), label.into());
    }
    for of_here in ["test_set", "beside_previous", "guests"] {
        keys.remove(of_here);
    }
    if let Some(toml::Value::Array(loads)) = keys.get_mut("load") {
        loads.retain(|load| !is_test_set && load.get("there").and_then(toml::Value::as_bool) == Some(true));
    }
    keys.insert("cpus".to_owned(), judged.to_string().into());
    keys.insert("duration".to_owned(), format!("{}ns", context.duration.0).into());
    files.push(in_text(&there, &keys)?);
    Ok(words_of_device(files, session))
}

/// The task's file: its name and its text.
pub(crate) fn in_text(there: &There, step: &toml::Table) -> Result<(String, String), PlanError> {
    let text = toml::to_string(&Written { there, step }).map_err(|error| PlanError::Invalid {
        name: there.plan.clone(),
        problem: format!("cannot be sent to a place: {error}"),
    })?;
    Ok((TASK.to_owned(), text))
}

/// The command that runs the task in these files, with the options and the limits of the session.
pub(crate) fn words_of_device(files: Vec<(String, String)>, session: &Session) -> Job {
    let mut job = Job {
        words: WORDS.map(str::to_owned).to_vec(),
        files,
    };
    job.words.extend(session.options());
    if let Some(limits) = session.document("limits") {
        job.files.push((LIMITS.to_owned(), limits.to_owned()));
        job.words.extend(["--limits", LIMITS].map(str::to_owned));
    }
    job
}

/// Settings for an end in a container or a guest of the place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Inside {
    /// Names of the files in addition to the task, which that place also needs.
    pub(crate) files: Vec<String>,
    /// The guest; `None`: a container.
    #[serde(default)]
    pub(crate) guest: Option<Box<GuestSpec>>,
    /// Runtime of the container; `None`: the first installed one.
    #[serde(default)]
    pub(crate) runtime: Option<RuntimeName>,
}
