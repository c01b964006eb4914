//! `triptime qualify` for a plan with a matrix: measures each cell several times, as separate runs in one folder.

mod outline;

use super::QualifyArgs;
use crate::ending::{self, Hangup};
use crate::face::Form;
use crate::failure::{COULD_NOT_MEASURE, Failure, say};
use crate::matrix::{html, text};
use crate::page;
use crate::ready::{explained, not_to_be_disturbed};
use crate::run_file::claim;
use crate::verdict::{self, LIMIT_FAILED};
use campaign::matrix::{Course, Rounds, RoundsEnd, of_state};
use matrix::{Folder, Here, State, StateError};
use place::guest::can_boot;
use plan::{MatrixTable, Named, Plan, live_facts};
use probes::{Machine, Need};
use session::NO_RECORDER;
use session::keeper::FolderKeeper;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Runs the command; returns its exit status.
pub(super) fn run(args: &QualifyArgs, plan: Plan, table: &MatrixTable) -> Result<u8, Failure> {
    refuse(args)?;
    let cpus = live_facts().map_err(|error| Failure::CouldNotMeasure(error.to_string()))?;
    let named = Named {
        measured: args.cpus.clone(),
        housekeeping: args.housekeeping.clone(),
    };
    let roles = plan.roles(&cpus, &named)?;
    plan.check_beside(&cpus, &roles)?;
    let guest = args
        .guest
        .spec(plan.guest_cpus())
        .and_then(|spec| Ok(can_boot(&spec).map(|()| spec.kernel_in_words())?))
        .map_err(|failure| failure.to_string());
    let here = Here::look(&cpus, &roles.measured, guest.clone().map(|_| ()), args.runtime);
    let course = Course::of(plan, table, &here, args.budget);
    if args.show {
        return outline::show(&course, &roles, guest.ok().as_deref());
    }
    if !args.disturb {
        not_to_be_disturbed(&course.plan.occupied(&cpus, &roles)?, args.cpus.is_some())?;
    }
    explained(&args.run);
    Need::check_all(&course.plan.needs(&cpus, &roles)?, &Machine::live(), None)?;
    if args.dry_run {
        outline::show(&course, &roles, guest.ok().as_deref())?;
        return super::outline::ready();
    }
    course.check()?;
    page::check(args.run.pages.html.as_deref(), None)?;
    if args.detach {
        return super::detach::start(args, &course.plan, None);
    }
    let folder = match &args.run.out {
        Some(out) => out.clone(),
        None => claim::folder("matrix")?,
    };
    let folder = Folder::take(&folder)?;
    let state = course.state((options(args), args.seed), folder.made(), &roles)?;
    measured(args, &course, state, &folder, &here)
}

/// Measures the missing runs, and shows the results.
fn measured(args: &QualifyArgs, course: &Course, state: State, taken: &Folder, here: &Here) -> Result<u8, Failure> {
    let folder = taken.made();
    course.write(&state, folder)?;
    let interrupted = Arc::new(AtomicBool::new(false));
    let hangup = if args.detached.is_some() {
        Hangup::Passes
    } else {
        Hangup::Ends
    };
    ending::on_signals_but(&interrupted, hangup)?;
    if !args.run.quiet {
        course.waiting().iter().for_each(|text| say(text));
        say(&format_args!(
            "the measurements go to {}, in the order of seed {}",
            folder.display(),
            state.seed
        ));
    }
    let keeper = FolderKeeper::start(&course.plan.name, folder, args.detached.as_ref());
    keeper.unlisted().iter().for_each(|why| say(why));
    let mut rounds = Rounds {
        plan: &course.plan,
        budget_ns: course.budget_ns,
        state,
        folder: taken,
        interrupted,
        tell: &|text| {
            if !args.run.quiet {
                say(text);
            }
        },
        why_not: &|cell| here.why_not(cell),
        keeper,
    };
    let end = rounds.measure();
    let Rounds { state, keeper, .. } = rounds;
    let early = matches!(end, Ok(RoundsEnd::Interrupted)).then(|| "it was interrupted".to_owned());
    let result = end
        .map_err(Failure::from)
        .and_then(|end| shown(args, &state, taken, &end));
    match &result {
        Ok(status) => keeper.ended(*status, early),
        Err(failure) => keeper.ended(failure.status(), Some(failure.to_string())),
    }
    result
}

/// Prints the result, writes its page, and shows how to continue if runs are missing.
fn shown(args: &QualifyArgs, state: &State, taken: &Folder, end: &RoundsEnd) -> Result<u8, Failure> {
    let folder = &found(taken)?;
    let result = of_state(state, folder)?;
    let form = if args.run.face.json { Form::Json } else { Form::Text };
    let printed = verdict::write(&text(&result, form)?);
    let mut pages = args.run.pages.clone();
    let page_in = |folder: &Path| folder.join("matrix.html");
    pages.follow(&page_in(taken.made()), &page_in(folder));
    let page = pages.html.unwrap_or_else(|| page_in(folder));
    page::HTML.write(&page, &html(&result)?)?;
    printed?;
    if !args.run.quiet {
        say(&format_args!("the page: {}", page.display()));
    }
    match end {
        RoundsEnd::Interrupted => say(&format_args!(
            "ended early: the same command with --out {} measures the missing runs",
            folder.display()
        )),
        RoundsEnd::Measured(unexplained) => unexplained.iter().for_each(|text| say(text)),
    }
    Ok(
        match (
            result.has_failed(),
            result.is_passed() && !matches!(end, RoundsEnd::Interrupted),
        ) {
            (true, _) => LIMIT_FAILED,
            (_, true) => 0,
            _ => COULD_NOT_MEASURE,
        },
    )
}

/// Folder at the end; a message reports that it was moved meanwhile.
fn found(taken: &Folder) -> Result<PathBuf, StateError> {
    let (was, now) = (taken.made(), taken.now()?);
    if now != was {
        say(&format_args!(
            "{} was moved while it was measured, and is now {}",
            was.display(),
            now.display()
        ));
    }
    Ok(now)
}

/// Refuses options that make no sense for many runs.
fn refuse(args: &QualifyArgs) -> Result<(), Failure> {
    let run = &args.run;
    let given = [
        (
            args.guest.isolates(),
            "--isolate: write isolcpus into matrix.isolation: its guests isolate all CPUs but 0",
        ),
        (
            !args.nic.is_empty(),
            "--nic: a matrix measures over networks of its own: write them into matrix.networks",
        ),
        (args.far.is_asked_for(), "--far: a matrix is measured on one machine"),
        (args.guests.is_some(), "--guests: write guests = COUNT into the steps"),
        (args.place.is_some(), "--place: write the places into matrix.places"),
        (
            !run.load.is_empty() || !run.load_command.is_empty(),
            "--load: write the loads into matrix.loads",
        ),
        (
            run.pages.junit.is_some(),
            "--junit: each cell has a verdict of its own: use `triptime report --junit` on its run file",
        ),
        (
            run.pages.about.is_some(),
            "--about: each cell has a record of its own: use `triptime report --about` on its run file",
        ),
        (
            run.face.full || run.face.summary,
            "--full, --summary: a matrix has one form; use `triptime report` on a run file of it",
        ),
    ];
    match given.into_iter().find(|(is_given, _)| *is_given) {
        Some((_, text)) => Err(Failure::Usage(text.to_owned())),
        None => Ok(()),
    }
}

/// Options that each measurement takes over unchanged.
fn options(args: &QualifyArgs) -> Vec<String> {
    let ns = |ns: u64| format!("{ns}ns");
    let mut options = Vec::new();
    let mut with = |name: &str, value: Option<String>| {
        options.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
    };
    with("--duration", args.duration.map(ns));
    with("--window", args.run.window.map(ns));
    with("--limits", args.run.limits.clone());
    with("--runtime", args.runtime.map(|runtime| runtime.name().to_owned()));
    with("--label", args.run.label.clone());
    with("--file-budget", Some(format!("{}B", args.run.file_budget)));
    options.extend(args.guest.words());
    let flags = [(args.disturb, "--disturb"), (args.run.no_flight_recorder, NO_RECORDER)];
    options.extend(
        flags
            .into_iter()
            .filter(|(is_given, _)| *is_given)
            .map(|(_, name)| name.to_owned()),
    );
    options
}
