//! `triptime report`: a run file, judged and shown.

use crate::arguments::PageArgs;
use crate::face::FaceArgs;
use crate::failure::Failure;
use crate::page;
use crate::verdict;
use report::limits::Profile;
use std::path::PathBuf;

/// Shows a run: the answer on one screen, or everything; as text, JSON or HTML
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example: triptime report runs/20261121T020000-qualify.triptime --html report.html")]
pub(crate) struct ReportArgs {
    /// Run file
    run: PathBuf,
    #[command(flatten)]
    pages: PageArgs,
    #[command(flatten)]
    face: FaceArgs,
    /// Limit profile: substation, seapath, avb, or a TOML file [default: the one kept in the run]
    #[arg(long, value_name = "PROFILE")]
    limits: Option<String>,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &ReportArgs) -> Result<u8, Failure> {
    page::check(args.pages.html.as_deref(), None)?;
    let profile = args.limits.as_deref().map(Profile::find).transpose()?;
    let report = verdict::read(&args.run, profile)?;
    verdict::present(&report, &args.face, &args.pages)
}
