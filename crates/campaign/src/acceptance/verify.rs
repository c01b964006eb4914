//! Verifies a certificate: its signatures, its run files, and its verdict, judged again from the raw data.

use super::certify::decision_rule;
use super::judged::JudgedRun;
use crate::{CampaignError, evidence};
use certificate::{Certificate, Certified, Checked, Difference, Kept, Signers, differences};
use report::Report;
use report::limits::Profile;
use report::verdict::Verdict;
use std::path::{Path, PathBuf};
use store::RunFile;

/// Everything that a certificate is verified with.
pub struct Question<'a> {
    /// The certificate.
    pub certificate: &'a Certificate,
    /// Folder of the certificate, where its run files are looked for.
    pub folder: &'a Path,
    /// Run files in other places.
    pub files: &'a [PathBuf],
    /// Keys that the reader trusts.
    pub signers: &'a Signers,
    /// Newer limits, with their text.
    pub profile: Option<&'a (Profile, String)>,
    /// Text of the plan that every run must have followed.
    pub plan: Option<&'a str>,
}

/// A certificate, verified.
#[derive(Debug, Clone)]
pub struct Verified {
    /// Its signatures, in the order of the file.
    pub signatures: Vec<SignatureFinding>,
    /// Its runs, in the order of the file.
    pub runs: Vec<Evidenced>,
    /// False if the certified verdict is not that of its own runs.
    pub verdict_follows: bool,
    /// False if the certificate is of this build, and its decision rule is not that of its runs.
    pub rule_follows: bool,
    /// Fields that this version does not know, by their places: nobody checks them.
    pub unknown_fields: Vec<String>,
    /// True if this build made the certificate, so that it should know every field.
    pub is_same_build: bool,
}

/// A checked signature.
#[derive(Debug, Clone)]
pub struct SignatureFinding {
    /// Fingerprint of its key; `None` if its kind is not known here.
    pub fingerprint: Option<String>,
    /// Owner of the key in the list of signers, if it is there.
    pub owner: Option<String>,
    /// Its state.
    pub checked: Checked,
}

/// A run of a certificate, compared with its file.
#[derive(Debug, Clone)]
pub struct Evidenced {
    /// Name of the file in the certificate.
    pub file: String,
    /// The file.
    pub found: Found,
    /// The verdict of its raw data, or the reason why there is none.
    pub judged: Result<Judged, String>,
    /// True if its plan is the wanted one; `None` if no plan was wanted.
    pub is_wanted_plan: Option<bool>,
}

/// State of a run file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// It is the file of the certificate, octet by octet.
    Same(PathBuf),
    /// A file, but another one, or a changed one; the text says in which way.
    Other(PathBuf, String),
    /// No file.
    Missing,
}

/// A run, judged again.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The verdict by the limits of the certificate.
    pub verdict: Verdict,
    /// The verdict by newer limits, if there are any.
    pub newer: Option<Verdict>,
    /// True if it passes by the limits that count for the reader, but some of them were not measured.
    pub is_partial: bool,
    /// Differences from the certified result.
    pub differences: Vec<Difference>,
    /// True if the certificate was made by this build, so that every difference is one of the data.
    pub is_same_build: bool,
    /// The decision rules of its profiles, with their numbers.
    rules: Vec<String>,
}

/// The answer to whether a certificate can be relied on, from the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Every part was checked, and agrees.
    Holds,
    /// A part could not be checked.
    Undecided,
    /// A part does not agree.
    Broken,
}

/// Verifies a certificate that `build` may have made.
///
/// # Errors
/// A given run file that belongs to no run of the certificate.
pub fn verify(question: &Question<'_>, build: &str) -> Result<Verified, CampaignError> {
    let statement = &question.certificate.statement;
    let places = places(question)?;
    let is_same_build = statement.issued_by == build;
    let runs = statement.runs.iter().zip(places);
    let verdicts = statement.runs.iter().map(|run| verdict_of(run.verdict()));
    let runs: Vec<Evidenced> = runs
        .map(|(run, place)| evidenced(run, place, question, is_same_build))
        .collect();
    Ok(Verified {
        signatures: signatures(question),
        verdict_follows: Verdict::over(verdicts).word() == statement.verdict && !statement.runs.is_empty(),
        rule_follows: !is_same_build || follows(&statement.decision_rule, &runs),
        unknown_fields: question.certificate.unknown_fields.clone(),
        is_same_build,
        runs,
    })
}

/// True if a decision rule is that of these runs, or if one of them is not judged.
fn follows(rule: &str, runs: &[Evidenced]) -> bool {
    let rules: Option<Vec<&[String]>> = runs
        .iter()
        .map(|run| Some(&run.judged.as_ref().ok()?.rules[..]))
        .collect();
    rules.is_none_or(|rules| decision_rule(&rules.concat()) == rule)
}

fn verdict_of(word: &str) -> Verdict {
    let all = [Verdict::Pass, Verdict::Fail, Verdict::Inconclusive];
    all.into_iter()
        .find(|each| each.word() == word)
        .unwrap_or(Verdict::Inconclusive)
}

fn signatures(question: &Question<'_>) -> Vec<SignatureFinding> {
    let certificate = question.certificate;
    let check = |signature: &certificate::Signed| SignatureFinding {
        fingerprint: signature.fingerprint(),
        owner: question.signers.owner(signature).map(str::to_owned),
        checked: signature.check(certificate.signed_text()),
    };
    certificate.signatures.iter().map(check).collect()
}

/// The file of each run: a given one of the same contents, run ID or name, else the one beside the certificate.
fn places(question: &Question<'_>) -> Result<Vec<Option<PathBuf>>, CampaignError> {
    let runs = &question.certificate.statement.runs;
    let mut places: Vec<Option<PathBuf>> = vec![None; runs.len()];
    for file in question.files {
        let at = place_of(file, runs, &places).ok_or_else(|| {
            let names: Vec<&str> = runs.iter().map(|run| run.file.as_str()).collect();
            CampaignError::Wrong(format!(
                "{}: none of the runs of this certificate ({})",
                file.display(),
                names.join(", ")
            ))
        })?;
        places[at] = Some(file.clone());
    }
    for (run, place) in runs.iter().zip(&mut places).filter(|(_, place)| place.is_none()) {
        // Only a plain name: a certificate from elsewhere must not make its reader open other files.
        let is_plain = Path::new(&run.file)
            .file_name()
            .is_some_and(|name| name.to_str() == Some(&run.file));
        *place = is_plain
            .then(|| question.folder.join(&run.file))
            .filter(|file| file.is_file());
    }
    Ok(places)
}

fn place_of(file: &Path, runs: &[Certified], taken: &[Option<PathBuf>]) -> Option<usize> {
    let hash = evidence(file).sha256.ok();
    let id = RunFile::open(file).ok().map(|run| run.info().id.clone());
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
    let free = |at: &usize| taken[*at].is_none();
    let by = |is: &dyn Fn(&Certified) -> bool| (0..runs.len()).filter(free).find(|at| is(&runs[*at]));
    by(&|run| hash.as_ref() == Some(&run.sha256))
        .or_else(|| by(&|run| id.as_deref().is_some_and(|id| run.result["run"]["id"] == id)))
        .or_else(|| by(&|run| name.as_ref() == Some(&run.file)))
}

fn evidenced(run: &Certified, place: Option<PathBuf>, question: &Question<'_>, is_same_build: bool) -> Evidenced {
    let found = place.map_or(Found::Missing, |place| found(run, place));
    let judged = match &found {
        Found::Missing => Err("its file is missing".to_owned()),
        Found::Same(place) | Found::Other(place, _) => judged(run, place, question, is_same_build),
    };
    let wanted = question.plan.map(|text| Kept::of(text).sha256);
    Evidenced {
        file: run.file.clone(),
        found,
        judged,
        is_wanted_plan: wanted.map(|wanted| run.plan.as_ref().is_some_and(|plan| plan.sha256 == wanted)),
    }
}

fn found(run: &Certified, place: PathBuf) -> Found {
    let file = evidence(&place);
    let text = match file.sha256 {
        Ok(hash) if hash == run.sha256 => return Found::Same(place),
        Ok(_) if file.octets < run.octets => {
            format!(
                "it was cut, or is another run: {} octets of {}",
                file.octets, run.octets
            )
        }
        Ok(_) if file.octets > run.octets => {
            format!(
                "it grew, or is another run: {} octets, certified with {}",
                file.octets, run.octets
            )
        }
        Ok(_) => "it was changed, or is another run: its length is the same, its SHA-256 is not".to_owned(),
        Err(why) => why,
    };
    Found::Other(place, text)
}

fn judged(run: &Certified, place: &Path, question: &Question<'_>, is_same_build: bool) -> Result<Judged, String> {
    let said = |error: CampaignError| error.to_string();
    let certified = run
        .profile
        .as_ref()
        .map(|kept| Profile::parse(&kept.text, "in the certificate").map(|profile| (profile, kept.text.clone())));
    let certified = certified.transpose().map_err(|error| error.to_string())?;
    let again = JudgedRun::read(place, certified.as_ref()).map_err(said)?;
    let newer = question
        .profile
        .map(|given| JudgedRun::read(place, Some(given)).map(|run| run.report));
    let newer = newer.transpose().map_err(said)?;
    let found = again.certified().map_err(said)?;
    let mut list = differences(&run.result, &found.result);
    for (place, certified, found) in [
        ("octets", run.octets.into(), found.octets.into()),
        (
            "profile.sha256",
            hash_of(run.profile.as_ref()),
            hash_of(found.profile.as_ref()),
        ),
    ] {
        if certified != found {
            list.push(Difference {
                place: place.to_owned(),
                certified,
                found,
            });
        }
    }
    if run.plan != found.plan {
        list.push(Difference {
            place: "plan".to_owned(),
            certified: hash_of(run.plan.as_ref()),
            found: hash_of(found.plan.as_ref()),
        });
    }
    let stated = &question.certificate.statement.deviations;
    let kept_back = again
        .deviations(&run.file)
        .into_iter()
        .filter(|text| !stated.contains(text));
    list.extend(kept_back.map(|text| Difference {
        place: "deviations".to_owned(),
        certified: serde_json::Value::Null,
        found: text.into(),
    }));
    Ok(Judged {
        verdict: again.report.verdict(),
        newer: newer.as_ref().map(Report::verdict),
        is_partial: newer.as_ref().unwrap_or(&again.report).is_partial_pass(),
        differences: list,
        is_same_build,
        rules: again.report.decision_rules(),
    })
}

fn hash_of(kept: Option<&Kept>) -> serde_json::Value {
    kept.map(|kept| kept.sha256.clone()).into()
}

impl Evidenced {
    /// Answer to whether this run can be relied on.
    pub fn outcome(&self) -> Outcome {
        let file = match &self.found {
            Found::Same(_) => Outcome::Holds,
            Found::Other(..) => Outcome::Broken,
            Found::Missing => Outcome::Undecided,
        };
        let plan = match self.is_wanted_plan {
            Some(false) => Outcome::Broken,
            _ => Outcome::Holds,
        };
        file.max(plan)
            .max(self.judged.as_ref().map_or(Outcome::Undecided, Judged::outcome))
    }
}

impl Judged {
    /// Compares the data with what was certified. By another build, rules may have become stricter: only measured figures must agree.
    fn outcome(&self) -> Outcome {
        let counts = |each: &&Difference| self.is_same_build || each.is_of_data();
        match self.differences.iter().any(|each| counts(&each)) {
            true => Outcome::Broken,
            false => Outcome::Holds,
        }
    }

    /// The verdict that counts for the reader: by the newer limits, where there are any.
    pub fn now(&self) -> Verdict {
        self.newer.unwrap_or(self.verdict)
    }
}

impl Verified {
    /// Answer to whether the certificate can be relied on: signed by somebody whom the reader knows, with every run as certified.
    pub fn outcome(&self) -> Outcome {
        let is_known = self.unknown_fields.is_empty() || !self.is_same_build;
        let follows = match self.verdict_follows && self.rule_follows && is_known {
            true => Outcome::Holds,
            false => Outcome::Broken,
        };
        let runs = self.runs.iter().map(Evidenced::outcome);
        runs.chain([follows, self.of_signatures()])
            .max()
            .unwrap_or(Outcome::Undecided)
    }

    fn of_signatures(&self) -> Outcome {
        let is_known = self
            .signatures
            .iter()
            .any(|each| each.owner.is_some() && each.checked == Checked::Good);
        match self
            .signatures
            .iter()
            .any(|each| matches!(each.checked, Checked::Bad(_)))
        {
            true => Outcome::Broken,
            false if is_known => Outcome::Holds,
            false => Outcome::Undecided,
        }
    }

    /// True if a run passed some limits of its profile, and measured no others.
    pub fn is_partial(&self) -> bool {
        self.runs
            .iter()
            .flat_map(|run| &run.judged)
            .any(|judged| judged.is_partial)
    }

    /// The verdict of the raw data, over all runs; `None` if a run could not be judged.
    pub fn verdict(&self) -> Option<Verdict> {
        let each: Option<Vec<Verdict>> = self
            .runs
            .iter()
            .map(|run| run.judged.as_ref().ok().map(Judged::now))
            .collect();
        each.map(Verdict::over)
    }
}
