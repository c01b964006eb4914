//! Makes the user's report and the exit status from a run file.

use crate::again;
use crate::arguments::{PageArgs, RunArgs};
use crate::face::FaceArgs;
use crate::failure::{COULD_NOT_MEASURE, Failure, say};
use crate::junit;
use crate::page;
use crate::timeline;
use model::{RunView, SeriesId, kind};
use plan::Plan;
use report::Report;
use report::contradiction;
use report::limits::Profile;
use report::tables::Layout;
use report::verdict::Verdict;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use store::RunFile;

/// Exit status: a limit failed.
pub(crate) const LIMIT_FAILED: u8 = 1;

/// Reports the run in `file`: JSON or text on standard output, and HTML if requested. Returns the exit status.
pub(crate) fn show(file: &Path, profile: Option<Profile>, args: &RunArgs) -> Result<u8, Failure> {
    let report = read(file, profile)?;
    let status = present(&report, &args.face, &args.pages);
    if only_reflected(&report.run) && args.limits.is_some() && !args.quiet {
        say(
            &"this end returned the frames, and judged nothing: the other end measured the round trips, and judges them by the \
              limits that it is given",
        );
    }
    status
}

/// Prints the report, then writes the requested files: a full disk does not lose the answer. Returns the exit status.
pub(crate) fn present(report: &Report, face: &FaceArgs, pages: &PageArgs) -> Result<u8, Failure> {
    let printed = print(report, face, pages.page(&report.run.file).as_deref());
    // Also when the terminal is closed.
    let status = with_pages(report, pages);
    printed.and(status)
}

/// Writes the files of a printed report; returns the exit status. A failed limit stays a fail, with or without the files.
pub(crate) fn with_pages(report: &Report, pages: &PageArgs) -> Result<u8, Failure> {
    let status = status(report);
    let junit = pages.junit.as_deref().map_or(Ok(()), |path| junit::write(report, path));
    let page = pages.page(&report.run.file);
    let html = page.map_or(Ok(()), |path| write_html(report, pages, &path));
    match junit.and(html) {
        Err(failure) if status == LIMIT_FAILED => {
            say(&failure);
            Ok(status)
        }
        written => written.map(|()| status),
    }
}

/// Report of the run in `file`, judged by `profile` or by the limits kept in the run.
pub(crate) fn read(file: &Path, profile: Option<Profile>) -> Result<Report, Failure> {
    let run = RunFile::open(file)?;
    let view = run.view()?;
    of_view(&run, view, profile)
}

/// Report of a run that was read, judged by `profile` or by the limits kept in it.
pub(crate) fn of_view(run: &RunFile, view: RunView, profile: Option<Profile>) -> Result<Report, Failure> {
    let recording = run::survey(run)?;
    let profile = campaign::profile_of(run, profile)?;
    let search = campaign::search_of(run)?;
    let table = layout_of_plan(run)?;
    let procedure = campaign::procedure_of(run, profile.as_ref())?;
    let again = again::after(&view.info.arguments, view.duration_ns);
    let report = Report::new(view, profile.into_iter().collect())
        .with_recording(recording)
        .with_procedure(procedure)
        .with_again(again);
    let timeline = timeline::of_longest(run, &report.stalls)?;
    Ok(report.with_search(search).with_table(table).with_timeline(timeline))
}

/// True if this run's end returned the frames: the other end measures and judges the round trips. The role may be unknown before both ends
/// have met.
fn only_reflected(run: &RunView) -> bool {
    run.info.command == "reflect" && run.series.iter().all(|series| series.is(&kind::TURNAROUND))
}

/// Writes the report as one HTML file.
fn write_html(report: &Report, pages: &PageArgs, path: &Path) -> Result<(), Failure> {
    let about = pages.about.clone().unwrap_or_default();
    let html = report
        .html(&about, Some(&campaign::evidence(&report.run.file)))
        .map_err(|error| Failure::CouldNotMeasure(format!("cannot make the HTML report: {error}")))?;
    page::HTML.write(path, &html)
}

/// Prints the report.
fn print(report: &Report, face: &FaceArgs, html: Option<&Path>) -> Result<(), Failure> {
    let is_terminal = io::stdout().is_terminal();
    written(|out| face.write(report, is_terminal, html, out))?;
    say_not_judged(report);
    say_lacking(report.run.lacks_log.as_deref());
    Ok(())
}

/// Prints, on standard error, the limits that judge nothing for a reason that the user can remove.
fn say_not_judged(report: &Report) {
    for open in report.judgement.not_measured.iter().filter(|open| !open.why.is_empty()) {
        say(&format_args!("{} judges nothing: {}", open.limit.id, open.why));
    }
}

/// Prints contradictions inside a run on standard error, for displays without a verdict; returns the series about which nothing is certain.
pub(crate) fn say_contradictions(view: &RunView) -> Vec<SeriesId> {
    let found = contradiction::of(view);
    for one in &found {
        say(&format_args!(
            "{}: the run file contradicts itself in {}: {}",
            view.file.display(),
            one.series,
            one.text
        ));
    }
    found.into_iter().map(|one| one.id).collect()
}

/// Opens a run that is not judged; reports if its log is missing.
pub(crate) fn open(path: &Path) -> Result<RunFile, Failure> {
    let run = RunFile::open(path)?;
    say_lacking(run.lacks_log().as_deref());
    Ok(run)
}

fn say_lacking(lacks: Option<&str>) {
    if let Some(lacks) = lacks {
        say(&lacks);
    }
}

/// Writes to standard output. An output that is closed early (`| head`) is not an error.
pub(crate) fn write(text: &str) -> Result<(), Failure> {
    written(|out| out.write_all(text.as_bytes()))
}

fn written(by: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    match by(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::CouldNotMeasure(format!("cannot write the output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Exit status of a report. Without limits nothing can fail: the measurement is the answer, unless a part of it may be missing.
fn status(report: &Report) -> u8 {
    if !report.is_judged() {
        let is_whole = report.run.lacks_log.is_none() && report.judgement.contradictions.is_empty();
        return if is_whole { 0 } else { COULD_NOT_MEASURE };
    }
    match report.verdict() {
        Verdict::Pass => 0,
        Verdict::Fail => LIMIT_FAILED,
        Verdict::Inconclusive => COULD_NOT_MEASURE,
    }
}

/// Layout that the plan of a run names, if any. Returns `None` for a plan that this version cannot read.
fn layout_of_plan(run: &RunFile) -> Result<Option<Layout>, Failure> {
    let text = run.document("plan")?;
    let plan = text.and_then(|text| Plan::parse("plan kept in the run", &text).ok());
    Ok(plan.and_then(|plan| plan.table))
}
