//! Reservations that a certificate states on its own account.

use super::judged::JudgedRun;
use model::RunState;
use plan::{EMBEDDED, Plan};
use report::limits::Profile;
use units::format_ns;

/// Options that change how a plan measures.
const CHANGING: [&str; 10] = [
    "--duration",
    "--cpus",
    "--load",
    "--load-command",
    "--hold-idle",
    "--no-flight-recorder",
    "--force",
    "--window",
    "--step",
    "--steps",
];

/// The deviations of a run, each a sentence that begins with the name of its file in the certificate.
pub(super) fn of(run: &JudgedRun, name: &str) -> Vec<String> {
    let view = &run.report.run;
    let ended = (view.state == RunState::Interrupted)
        .then(|| format!("the run ended early, after {}", format_ns(view.duration_ns as f64)));
    let log = view.lacks_log.clone();
    let contradicts = run.report.judgement.contradictions.len();
    let contradicts = (contradicts > 0).then(|| format!("the run file contradicts itself {contradicts} times"));
    let found = [
        ended,
        log,
        contradicts,
        other_plan(run),
        other_profile(run),
        options(run),
    ];
    found
        .into_iter()
        .flatten()
        .chain(run.report.reservations())
        .map(|text| format!("{name}: {text}"))
        .collect()
}

/// Names a plan that has the name of a shipped one, and another text.
fn other_plan(run: &JudgedRun) -> Option<String> {
    let text = run.plan.as_deref()?;
    let plan = Plan::parse("plan kept in the run", text).ok();
    let Some(plan) = plan else {
        return Some("this version cannot read the plan that it followed".to_owned());
    };
    let (name, shipped) = EMBEDDED.iter().find(|(name, _)| *name == plan.name)?;
    (*shipped != text)
        .then(|| format!("its plan has the name \"{name}\", and is not the \"{name}\" of this version of triptime"))
}

/// Names a limit profile that has the name of a shipped one, and another text.
fn other_profile(run: &JudgedRun) -> Option<String> {
    let text = run.profile.as_deref()?;
    let name = &run.report.profiles.first()?.name;
    let shipped = Profile::embedded_text(name)?;
    (!text.starts_with(shipped))
        .then(|| format!("its limits have the name \"{name}\", and are not the \"{name}\" of this version of triptime"))
}

/// Names the options that changed how the plan measured.
fn options(run: &JudgedRun) -> Option<String> {
    run.plan.as_ref()?;
    let words = &run.report.run.info.arguments;
    let name = |word: &str| word.split('=').next().unwrap_or_default().to_owned();
    let mut given = Vec::new();
    for (at, word) in words
        .iter()
        .enumerate()
        .filter(|(_, word)| CHANGING.contains(&name(word).as_str()))
    {
        let value = words
            .get(at + 1)
            .filter(|next| !word.contains('=') && !next.starts_with('-'));
        given.push(value.map_or(word.clone(), |value| format!("{word} {value}")));
    }
    (!given.is_empty()).then(|| format!("options changed its plan: {}", given.join(", ")))
}
