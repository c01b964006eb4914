//! `triptime qualify` with a plan that has a matrix: each cell, several times, as a run of its own in a folder.

mod measure;
mod outline;
mod rounds;

use super::QualifyArgs;
use crate::ending::{self, Hangup};
use crate::failure::{COULD_NOT_MEASURE, Failure, say};
use crate::matrix::{html, of_state, text};
use crate::page;
use crate::ready::{explained, not_to_be_disturbed};
use crate::run_file::claim;
use crate::table::Form;
use crate::verdict::{self, LIMIT_FAILED};
use matrix::{Chosen, Folder, Here, LeftOut, Setup, State, StateError, choose, expected_ns, plan_file};
use place::guest::can_boot;
use plan::{Cell, MatrixTable, Named, Plan, Roles, live_facts};
use probes::{Machine, Need};
use rounds::{End, Rounds};
use session::keeper::FolderKeeper;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};

/// The measurements to make, and their place.
struct Course {
    /// Each step as long as it was asked for.
    plan: Plan,
    chosen: Chosen,
    left_out: Vec<LeftOut>,
    budget_ns: Option<u64>,
    repetitions: u32,
}

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
    let here = Here::look(&cpus, &roles.measured, guest.clone().map(|_| ()));
    let course = Course::of(args, plan, table, &here);
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
    let state = course.state(args, folder.made(), &roles)?;
    measured(args, &course, state, &folder)
}

/// Measures what is missing, and shows what is there.
fn measured(args: &QualifyArgs, course: &Course, state: State, taken: &Folder) -> Result<u8, Failure> {
    let folder = taken.made();
    state.write(folder)?;
    for cell in &state.cells {
        write(&plan_file(folder, cell), &course.plan.of_cell(cell)?)?;
    }
    let interrupted = Arc::new(AtomicBool::new(false));
    let hangup = if args.detached.is_some() {
        Hangup::Passes
    } else {
        Hangup::Ends
    };
    ending::on_signals_but(&interrupted, hangup)?;
    if !args.run.quiet {
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
        is_quiet: args.run.quiet,
        took_ns: Vec::new(),
        keeper,
    };
    let end = rounds.measure();
    let Rounds { state, keeper, .. } = rounds;
    let early = matches!(end, Ok(End::Interrupted)).then(|| "it was told to end".to_owned());
    let result = end.and_then(|end| shown(args, &state, taken, &end));
    match &result {
        Ok(status) => keeper.ended(*status, early),
        Err(failure) => keeper.ended(failure.status(), Some(failure.to_string())),
    }
    result
}

/// Prints the result, writes its page, and says how to go on where it is not all.
fn shown(args: &QualifyArgs, state: &State, taken: &Folder, end: &End) -> Result<u8, Failure> {
    let folder = &found(taken)?;
    let result = of_state(state, folder)?;
    let form = if args.run.face.json { Form::Json } else { Form::Text };
    let printed = verdict::write(&text(&result, form));
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
        End::Interrupted => say(&format_args!(
            "ended early: the same command with --out {} goes on with what is missing",
            folder.display()
        )),
        End::Measured(unexplained) => unexplained.iter().for_each(|text| say(text)),
    }
    Ok(
        match (
            result.has_failed(),
            result.is_passed() && !matches!(end, End::Interrupted),
        ) {
            (true, _) => LIMIT_FAILED,
            (_, true) => 0,
            _ => COULD_NOT_MEASURE,
        },
    )
}

/// Where the folder is at the end; one that was moved meanwhile is told.
fn found(taken: &Folder) -> Result<PathBuf, StateError> {
    let (was, now) = (taken.made(), taken.now()?);
    if now != was {
        say(&format_args!(
            "{} was moved while it was measured, and is {}",
            was.display(),
            now.display()
        ));
    }
    Ok(now)
}

/// Options that mean nothing for many runs.
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

impl Course {
    fn of(args: &QualifyArgs, plan: Plan, table: &MatrixTable, here: &Here) -> Self {
        let mut possible: Vec<(Cell, u64)> = Vec::new();
        let mut left_out = Vec::new();
        for cell in table.cells() {
            match here.why_not(&cell) {
                Some(why) => left_out.push(LeftOut { why, cell }),
                None => possible.push((cell.clone(), expected_ns(&plan, &cell))),
            }
        }
        let budget_ns = args.budget.or(table.budget.map(|budget| budget.0));
        Self {
            chosen: choose(&possible, budget_ns, table.repetitions),
            plan,
            left_out,
            budget_ns,
            repetitions: table.repetitions,
        }
    }

    /// Refuses where there is nothing to measure.
    fn check(&self) -> Result<(), Failure> {
        if !self.chosen.cells.is_empty() {
            return Ok(());
        }
        let why = self
            .left_out
            .iter()
            .map(|one| format!("{}: {}", one.cell.words(), one.why));
        let no_time = self
            .chosen
            .left_out
            .iter()
            .map(|(cell, why)| format!("{}: {why}", cell.words()));
        let why = why.chain(no_time).next().unwrap_or_default();
        Err(Failure::CouldNotMeasure(format!(
            "no cell of this matrix can be measured here: {why}"
        )))
    }

    /// The state in the folder, if it is of this matrix; else a new one.
    fn state(&self, args: &QualifyArgs, folder: &Path, roles: &Roles) -> Result<State, StateError> {
        let setup = Setup {
            plan: self.plan.text.clone(),
            options: options(args),
        };
        if let Some(state) = State::read(folder)? {
            state.is_of(&setup, args.seed, folder)?;
            return Ok(state);
        }
        let seed = args.seed.unwrap_or_else(seed);
        let cpus = [
            "--cpus",
            &roles.measured.to_string(),
            "--housekeeping",
            &roles.housekeeping.to_string(),
        ];
        let cpus = cpus.map(str::to_owned).to_vec();
        Ok(State::begin(
            setup,
            cpus,
            self.chosen.clone(),
            self.left_out.clone(),
            (self.repetitions, seed),
        ))
    }
}

/// Another order each time.
fn seed() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(1, |since| since.subsec_nanos() ^ since.as_secs() as u32)
}

/// Options of each measurement that are as they were given.
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
    let flags = [
        (args.disturb, "--disturb"),
        (args.run.no_flight_recorder, measure::NO_RECORDER),
    ];
    options.extend(
        flags
            .into_iter()
            .filter(|(is_given, _)| *is_given)
            .map(|(_, name)| name.to_owned()),
    );
    options
}

fn write(path: &PathBuf, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| Failure::CouldNotMeasure(format!("{}: {error}", path.display())))
}
