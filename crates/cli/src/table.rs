//! Runs in published layouts: on the terminal, as JSON, CSV or a page.

use crate::arguments::RunArgs;
use crate::face::Form;
use crate::failure::{COULD_NOT_MEASURE, Failure, say};
use crate::matrix;
use crate::named;
use crate::page;
use crate::verdict;
use clap::builder::PossibleValue;
use report::tables::{Layout, Tables};
use std::path::Path;
use store::RunFile;

/// Layouts and their names on the command line.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TableArg {
    /// A layout with runs as columns.
    Published(Layout),
    /// A layout with every cell of a matrix.
    Matrix,
}

impl clap::ValueEnum for TableArg {
    fn value_variants<'a>() -> &'a [Self] {
        &[
            Self::Published(Layout::Vm),
            Self::Published(Layout::Jitter),
            Self::Published(Layout::Avb),
            Self::Published(Layout::Networks),
            Self::Published(Layout::Vpc),
            Self::Published(Layout::Bench),
            Self::Matrix,
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Published(layout) => PossibleValue::new(layout.word()).help(layout.describe()),
            Self::Matrix => {
                PossibleValue::new("matrix").help("Every cell of a matrix: give its run files, or its folder")
            }
        })
    }
}

/// Prints runs in a layout, then writes the page if one was requested; returns the exit status. A run that may lack windows is incomplete.
pub(crate) fn show(table: TableArg, runs: &[String], form: Form, html: Option<&Path>) -> Result<u8, Failure> {
    match table {
        TableArg::Published(layout) => in_columns(layout, runs, form, html),
        TableArg::Matrix => of_matrix(runs, form, html),
    }
}

fn of_matrix(runs: &[String], form: Form, html: Option<&Path>) -> Result<u8, Failure> {
    let matrix = matrix::of_files(runs)?;
    let printed = verdict::write(&matrix::text(&matrix, form)?);
    if let Some(path) = html {
        page::HTML.write(path, &matrix::html(&matrix)?)?;
    }
    printed.map(|()| 0)
}

fn in_columns(layout: Layout, runs: &[String], form: Form, html: Option<&Path>) -> Result<u8, Failure> {
    let runs = runs
        .iter()
        .map(|text| named::open(text))
        .collect::<Result<Vec<_>, _>>()?;
    let lacking = runs.iter().any(|run| !run.is_whole);
    let tables = Tables::of(layout, runs.into_iter().map(|run| (run.name, run.view)).collect());
    let printed = verdict::write(&match form {
        Form::Text => tables.text(),
        Form::Json => tables.json(),
        Form::Csv => tables.csv(),
    });
    if let Some(path) = html {
        let html = tables
            .html()
            .map_err(|error| Failure::CouldNotMeasure(format!("cannot make the HTML page: {error}")))?;
        page::HTML.write(path, &html)?;
    }
    printed?;
    Ok(if lacking { COULD_NOT_MEASURE } else { 0 })
}

/// Prints a run in the layout of its plan, before the answer, which must come last on the terminal. JSON documents and one-line summaries
/// contain nothing else.
pub(crate) fn before_the_answer(file: &Path, layout: Option<Layout>, args: &RunArgs) -> Result<(), Failure> {
    let Some(layout) = layout.filter(|_| !args.face.json && !args.face.summary) else {
        return Ok(());
    };
    let view = RunFile::open(file)?.view()?;
    verdict::write(&format!("{}\n", Tables::of(layout, vec![(None, view)]).text()))?;
    if !args.quiet {
        let word = layout.word();
        say(&format_args!(
            "the table again, also as --json, --csv or --html: triptime report --table {word} {}",
            file.display()
        ));
    }
    Ok(())
}
