//! A run file, judged from its raw data.

use crate::{CampaignError, evidence, procedure_of, profile_of, search_of};
use certificate::{Certified, Kept};
use report::Report;
use report::limits::Profile;
use serde_json::Value;
use std::path::Path;
use store::RunFile;

/// The run in a file, judged by a profile.
pub(super) struct JudgedRun {
    pub(super) report: Report,
    pub(super) plan: Option<String>,
    pub(super) profile: Option<String>,
}

impl JudgedRun {
    /// Judges the run by the given profile, with its text, or by the limits kept in the run.
    pub(super) fn read(path: &Path, given: Option<&(Profile, String)>) -> Result<Self, CampaignError> {
        let run = RunFile::open(path)?;
        let profile = profile_of(&run, given.map(|(profile, _)| profile.clone()))?;
        let kept = run.document("limits")?;
        let procedure = procedure_of(&run, profile.as_ref())?;
        let report = Report::new(run.view()?, profile.into_iter().collect())
            .with_search(search_of(&run)?)
            .with_procedure(procedure);
        Ok(Self {
            report,
            plan: run.document("plan")?,
            profile: given.map(|(_, text)| text.clone()).or(kept),
        })
    }

    /// The deviations of the run, each a sentence that begins with the name of its file in the certificate.
    pub(super) fn deviations(&self, name: &str) -> Vec<String> {
        let all = self.report.deviations();
        all.iter().map(|each| format!("{name}: {}", each.sentence())).collect()
    }

    /// The part of a certificate about the run.
    pub(super) fn certified(&self) -> Result<Certified, CampaignError> {
        let path = &self.report.run.file;
        let file = evidence(path);
        let wrong = |why: String| CampaignError::Failed(format!("{}: {why}", path.display()));
        Ok(Certified {
            file: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            octets: file.octets,
            sha256: file.sha256.map_err(wrong)?,
            plan: self.plan.as_deref().map(Kept::of),
            profile: self.profile.as_deref().map(Kept::of),
            result: Certified::result_of(&self.document()?),
        })
    }

    /// The result document of the run.
    fn document(&self) -> Result<Value, CampaignError> {
        let mut text = Vec::new();
        let written = self.report.write_json(&mut text).map_err(|error| error.to_string());
        let read = written.and_then(|()| serde_json::from_slice(&text).map_err(|error| error.to_string()));
        read.map_err(|error| CampaignError::Failed(format!("cannot make the result document: {error}")))
    }
}
