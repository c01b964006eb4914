//! `triptime verify`: checks a certificate, and judges its runs again from their raw data.

mod json;
mod text;

use super::certify::{profile, read};
use crate::failure::{COULD_NOT_MEASURE, Failure};
use crate::verdict::{self, LIMIT_FAILED};
use crate::version;
use campaign::acceptance::{Outcome, Question, Verified, verify};
use certificate::Signers;
use plan::EMBEDDED;
use report::verdict::Verdict;
use std::fs;
use std::path::{Path, PathBuf};

/// Verifies a certificate: its signatures, the hashes of its runs, and its verdict, judged again from the raw data
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
A signature is worth as much as the reader knows of its key. --signers is ssh-keygen's list of
allowed signers, a line for each:
    supplier ssh-ed25519 AAAAC3Nz…
Exit status: 0 everything agrees, and no limit failed; 1 a part was changed, or a limit failed;
3 a part could not be checked, or the verdict is inconclusive.

Example: triptime verify sat.certificate --signers signers
         triptime verify sat.certificate /archive/sat.triptime --signers signers --limits site-2030.toml")]
pub(crate) struct VerifyArgs {
    /// The certificate
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Its run files [default: those of its names, next to it]
    #[arg(value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Keys that you trust, with their owners: ssh-keygen's list of allowed signers
    #[arg(long, value_name = "FILE")]
    signers: Option<PathBuf>,
    /// Also judge by these limits: substation, seapath, avb, vpac, or a TOML file; they decide the exit status
    #[arg(long, value_name = "PROFILE")]
    limits: Option<String>,
    /// Plan that every run must have followed: a name or a TOML file
    #[arg(long, value_name = "PLAN")]
    plan: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &VerifyArgs) -> Result<u8, Failure> {
    let certificate = read(&args.file)?;
    let signers = args.signers.as_deref().map(signers).transpose()?.unwrap_or_default();
    let profile = profile(args.limits.as_deref())?;
    let plan = args.plan.as_deref().map(plan_text).transpose()?;
    let question = Question {
        certificate: &certificate,
        folder: args.file.parent().unwrap_or(Path::new("")),
        files: &args.runs,
        signers: &signers,
        profile: profile.as_ref(),
        plan: plan.as_deref(),
    };
    let verified = verify(&question, &version::one_line())?;
    verdict::write(&match args.json {
        true => json::document(&question, &verified)?,
        false => text::text(&question, &verified, &args.file),
    })?;
    Ok(status(&verified))
}

/// Exit status: a broken certificate is as bad as a failed limit; an unchecked one decides nothing.
fn status(verified: &Verified) -> u8 {
    match (verified.outcome(), verified.verdict()) {
        (Outcome::Broken, _) | (_, Some(Verdict::Fail)) => LIMIT_FAILED,
        (Outcome::Holds, Some(Verdict::Pass)) => 0,
        _ => COULD_NOT_MEASURE,
    }
}

fn signers(path: &Path) -> Result<Signers, Failure> {
    let wrong = |why: String| Failure::Usage(format!("{}: {why}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    Signers::parse(&text).map_err(|error| wrong(error.to_string()))
}

/// Text of a plan inside the binary, or of a file.
fn plan_text(name: &str) -> Result<String, Failure> {
    match EMBEDDED.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => Ok((*text).to_owned()),
        None => fs::read_to_string(name)
            .map_err(|error| Failure::Usage(format!("{name}: neither a plan of this version nor a file: {error}"))),
    }
}
