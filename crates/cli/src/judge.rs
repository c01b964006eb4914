//! Options, verdict and display of runs made from files.

use crate::arguments::PageArgs;
use crate::face::FaceArgs;
use crate::failure::Failure;
use crate::page;
use crate::run_file::{judged_by, new_run};
use crate::verdict;
use report::limits::Profile;
use run::NewRun;
use std::path::{Path, PathBuf};

/// Options of commands that make a run from files.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct JudgeArgs {
    /// Limit profile that judges the run: substation, seapath, avb, vpac, or a TOML file
    #[arg(long, value_name = "PROFILE")]
    limits: Option<String>,
    #[command(flatten)]
    pages: PageArgs,
    #[command(flatten)]
    face: FaceArgs,
}

impl JudgeArgs {
    /// The limits, if any. Refuses a page that would replace another file, such as the run in `out`.
    pub(crate) fn profile(&self, out: Option<&Path>) -> Result<Option<Profile>, Failure> {
        page::check(self.pages.html.as_deref(), out)?;
        Ok(self.limits.as_deref().map(Profile::find).transpose()?)
    }

    /// The run to make, in `out` or a file named after the time, with its limits.
    pub(crate) fn new_run(&self, command: &str, out: Option<PathBuf>) -> Result<NewRun, Failure> {
        Ok(NewRun {
            documents: judged_by(self.limits.as_deref(), None)?.1,
            ..new_run(command, out)
        })
    }

    /// Shows the run in `file`; returns the exit status.
    pub(crate) fn show(&self, file: &Path, profile: Option<Profile>) -> Result<u8, Failure> {
        let report = verdict::read(file, profile)?;
        verdict::present(&report, &self.face, &self.pages)
    }
}
