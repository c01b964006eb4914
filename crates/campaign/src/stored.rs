//! Limits and searches stored in a run file.

use crate::CampaignError;
use report::capacity::{self, Search};
use report::limits::Profile;
use store::RunFile;

/// Profile that judges a run: the given one, or the limits stored in the run.
///
/// # Errors
/// The run had limits, but they are missing; or the stored ones cannot be parsed.
pub fn profile_of(run: &RunFile, given: Option<Profile>) -> Result<Option<Profile>, CampaignError> {
    if given.is_some() {
        return Ok(given);
    }
    let kept = run.document("limits")?;
    if kept.is_none() && was_given_limits(run) {
        return Err(CampaignError::Wrong(format!(
            "{}: it was started with --limits, and its stored limits are missing: the file is damaged; to judge the rest of it, give --limits again",
            run.path().display()
        )));
    }
    let profile = kept.map(|text| Profile::parse(&text, &format!("kept in {}", run.path().display())));
    Ok(profile.transpose()?)
}

/// The search that a run answers, if it belongs to one.
///
/// # Errors
/// The stored search cannot be read.
pub fn search_of(run: &RunFile) -> Result<Option<Search>, CampaignError> {
    let Some(text) = run.document(capacity::DOCUMENT)? else {
        return Ok(None);
    };
    serde_json::from_str(&text).map(Some).map_err(|error| {
        let file = run.path().display();
        CampaignError::Wrong(format!(
            "{file}: its document \"{}\" cannot be read: {error}",
            capacity::DOCUMENT
        ))
    })
}

/// True if the command of a run had limits, which it then stores.
fn was_given_limits(run: &RunFile) -> bool {
    let mut words = run.info().arguments.iter();
    words.any(|word| word == "--limits" || word.starts_with("--limits="))
}
