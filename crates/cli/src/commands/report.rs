//! `triptime report`: a run file, judged and shown.

use crate::arguments::PageArgs;
use crate::face::FaceArgs;
use crate::face::Form;
use crate::failure::Failure;
use crate::figure::{self, FigureArg};
use crate::page;
use crate::samples::SampleArg;
use crate::table::{self, TableArg};
use crate::verdict;
use report::limits::Profile;
use std::path::Path;

/// Shows a run: the answer on one screen, or everything; as text, JSON or HTML
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Example: triptime report runs/20261121T020000-qualify.triptime --html report.html
         triptime report --table jitter host=native.triptime docker.triptime --html table.html
         triptime report --figure boxes gold=a.triptime silver=b.triptime > figure.svg
         triptime report --figure around --sample wakeup/cpu1:3 a.triptime > around.svg")]
pub(crate) struct ReportArgs {
    /// Run file; several with --table or --figure, where NAME=FILE shows the run under this name
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<String>,
    /// Show the runs in a published layout instead, one column per system
    #[arg(long, value_enum, value_name = "NAME", conflicts_with_all = ["full", "summary", "limits", "junit"])]
    table: Option<TableArg>,
    /// Print the runs in one drawing instead, as an SVG file
    #[arg(long, value_enum, value_name = "NAME", conflicts_with_all = ["table", "full", "summary", "json", "html", "junit", "about"])]
    figure: Option<FigureArg>,
    /// Kind of the series in the drawing [default: task, or the only kind of these runs]
    #[arg(long, value_name = "KIND", requires = "figure")]
    kind: Option<String>,
    /// Sample to draw with --figure around: SERIES:N for the Nth largest, or SERIES@TIME since the run began [default: the largest]
    #[arg(long, value_name = "SAMPLE", requires = "figure", conflicts_with = "kind")]
    sample: Option<SampleArg>,
    /// Print the table as CSV
    #[arg(long, requires = "table", conflicts_with = "json")]
    csv: bool,
    #[command(flatten)]
    pages: PageArgs,
    #[command(flatten)]
    face: FaceArgs,
    /// Limit profile: substation, seapath, avb, vpac, or a TOML file [default: the one kept in the run]
    #[arg(long, value_name = "PROFILE")]
    limits: Option<String>,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &ReportArgs) -> Result<u8, Failure> {
    page::check(args.pages.html.as_deref(), None)?;
    if let Some(layout) = args.table {
        let form = match (args.face.json, args.csv) {
            (true, _) => Form::Json,
            (_, true) => Form::Csv,
            _ => Form::Text,
        };
        return table::show(layout, &args.runs, form, args.pages.html.as_deref());
    }
    let profile = args.limits.as_deref().map(Profile::find).transpose()?;
    match args.figure {
        Some(FigureArg::Around) => return figure::around(&args.runs, args.sample.as_ref()),
        Some(_) if args.sample.is_some() => {
            return Err(Failure::Usage("--sample belongs to --figure around".into()));
        }
        Some(FigureArg::Runs(picture)) => {
            return figure::show(picture, &args.runs, args.kind.as_deref(), profile.as_ref());
        }
        None => {}
    }
    let [run] = &args.runs[..] else {
        return Err(Failure::Usage(
            "report shows one run: for several use --table, --figure or `triptime compare`".into(),
        ));
    };
    let report = verdict::read(Path::new(run), profile)?;
    verdict::present(&report, &args.face, &args.pages)
}
