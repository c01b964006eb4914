//! Compares the facts of a run with the requirements of a profile.

use super::{Judgement, Verdict};
use crate::limits::{Profile, Requirement};
use model::{Fact, NOT_APPLICABLE, RunView};

/// A requirement compared with one group of facts, such as those of one interface.
#[derive(Debug, Clone, PartialEq)]
pub struct RequirementCheck {
    /// Name of the profile.
    pub profile: String,
    /// The requirement.
    pub requirement: Requirement,
    /// The group, such as `nic eth1`.
    pub group: String,
    /// The fact as read; `None` if it is not known.
    pub value: Option<String>,
    /// The fact as a number, see [`crate::limits::Compared`].
    pub measured: Option<i64>,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason if it is not `pass`; otherwise empty.
    pub why: String,
}

/// A requirement on something that does not exist: a veth has no energy-efficient Ethernet to switch off.
#[derive(Debug, Clone, PartialEq)]
pub struct NotApplicable {
    /// Name of the profile.
    pub profile: String,
    /// The requirement.
    pub requirement: Requirement,
    /// The group.
    pub group: String,
    /// The reason.
    pub why: String,
}

/// A requirement that no group of facts of the run matches.
#[derive(Debug, Clone, PartialEq)]
pub struct RequirementOpen {
    /// Name of the profile.
    pub profile: String,
    /// The requirement.
    pub requirement: Requirement,
}

/// Checks the run against a profile's requirements, and adds the results.
pub(super) fn hold(judgement: &mut Judgement, run: &RunView, profile: &Profile) {
    for requirement in &profile.requirements {
        let groups = groups(run, requirement);
        if groups.is_empty() {
            judgement.not_asked.push(RequirementOpen {
                profile: profile.name.clone(),
                requirement: requirement.clone(),
            });
        }
        for group in groups {
            let fact = run
                .facts
                .iter()
                .find(|fact| fact.group == group && fact.name == requirement.fact);
            one(judgement, profile, requirement, group, fact);
        }
    }
}

/// The groups that a requirement applies to, each once, in the order of the run.
fn groups<'a>(run: &'a RunView, requirement: &Requirement) -> Vec<&'a str> {
    let mut groups: Vec<&str> = Vec::new();
    for fact in run.facts.iter().filter(|fact| requirement.group.matches(&fact.group)) {
        if !groups.contains(&fact.group.as_str()) {
            groups.push(&fact.group);
        }
    }
    groups
}

fn one(judgement: &mut Judgement, profile: &Profile, requirement: &Requirement, group: &str, fact: Option<&Fact>) {
    let value = match fact.map(|fact| &fact.value) {
        Some(Ok(value)) => Ok(value.clone()),
        Some(Err(reason)) => Err(reason.clone()),
        None => Err("the run does not have it".to_owned()),
    };
    if let Ok(value) = &value
        && let Some(why) = value.strip_prefix(NOT_APPLICABLE)
    {
        judgement.not_applicable.push(NotApplicable {
            profile: profile.name.clone(),
            requirement: requirement.clone(),
            group: group.to_owned(),
            why: why.trim_start_matches([':', ' ']).to_owned(),
        });
        return;
    }
    let (measured, verdict, why) = decide(requirement, &value);
    judgement.requirements.push(RequirementCheck {
        profile: profile.name.clone(),
        requirement: requirement.clone(),
        group: group.to_owned(),
        value: value.ok(),
        measured,
        verdict,
        why,
    });
}

fn decide(requirement: &Requirement, value: &Result<String, String>) -> (Option<i64>, Verdict, String) {
    let name = &requirement.fact;
    let value = match value {
        Err(reason) => return (None, Verdict::Inconclusive, format!("{name} is not known: {reason}")),
        Ok(value) => value,
    };
    let wanted = requirement.wanted_text();
    match requirement.compare(value) {
        None => (
            None,
            Verdict::Inconclusive,
            format!("{name} is \"{value}\", which is not a number"),
        ),
        Some(found) if found.met => (Some(found.measured), Verdict::Pass, String::new()),
        Some(found) => (
            Some(found.measured),
            Verdict::Fail,
            format!("{name} is {value}; wanted: {wanted}"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Judgement, Verdict};
    use crate::limits::Profile;
    use crate::subjects::nics::samples::{card_facts, veth_facts};
    use model::Fact;
    use model::RunView;
    use testing::synthetic::{run, series};

    /// A run that is good enough for AVB, on interfaces with these facts.
    fn wakeups(facts: Vec<Fact>) -> RunView {
        let mut run = run(vec![series("wakeup/cpu1", 100_000, 40_000, 10)]);
        run.facts = facts;
        run
    }

    fn judge(run: &RunView) -> Judgement {
        Judgement::of(run, &[Profile::find("avb").expect("embedded")])
    }

    fn set(facts: &mut [Fact], name: &str, value: Result<&str, &str>) {
        let fact = facts.iter_mut().find(|fact| fact.name == name).expect(name);
        fact.value = value.map(str::to_owned).map_err(str::to_owned);
    }

    /// A card set up as the guide recommends.
    fn good_card() -> Vec<Fact> {
        let mut facts = card_facts("eth1");
        set(&mut facts, "eee", Ok("off"));
        set(&mut facts, "rx-usecs", Ok("20"));
        set(&mut facts, "rx-frames", Ok("0"));
        set(&mut facts, "tx-usecs", Ok("0"));
        set(&mut facts, "tx-frames", Ok("1"));
        set(&mut facts, "adaptive-rx", Ok("off"));
        facts
    }

    #[test]
    fn a_card_as_it_comes_fails_avb_and_says_what_must_change() {
        let judgement = judge(&wakeups(card_facts("eth1")));
        assert_eq!(judgement.verdict, Verdict::Fail);
        let answers: Vec<(&str, Option<i64>, Verdict)> = judgement
            .requirements
            .iter()
            .map(|check| (check.requirement.id.as_str(), check.measured, check.verdict))
            .collect();
        let wanted = [
            ("nic.eee", Some(1), Verdict::Fail),
            ("nic.adaptive-rx", Some(1), Verdict::Fail),
            ("nic.rx-usecs", Some(3), Verdict::Pass),
            ("nic.tx-usecs", Some(3), Verdict::Pass),
        ];
        assert_eq!(answers, wanted, "3 is a mode there: adaptive-rx fails it");
        assert_eq!(judgement.requirements[0].why, "eee is on, in use; wanted: off");
        assert_eq!(
            judgement.not_applicable.len(),
            2,
            "igc has no rx-frames and no tx-frames"
        );
        assert_eq!(judgement.sentence(), "5 checks: 2 not as required, 3 within.");
    }

    #[test]
    fn a_card_as_the_guide_wants_it_passes() {
        let judgement = judge(&wakeups(good_card()));
        assert_eq!(judgement.verdict, Verdict::Pass, "{:?}", judgement.requirements);
        assert_eq!(judgement.sentence(), "1 of 8 limits measured, all within (7 checks).");
        for (fact, value, why) in [
            ("rx-usecs", "21", "rx-usecs is 21; wanted: at most 20 us"),
            ("tx-usecs", "5000", "tx-usecs is 5000; wanted: at most 20 us"),
            ("rx-frames", "128", "rx-frames is 128; wanted: at most 1"),
            ("tx-frames", "25", "tx-frames is 25; wanted: at most 1"),
        ] {
            let mut more = good_card();
            set(&mut more, fact, Ok(value));
            let judgement = judge(&wakeups(more));
            assert_eq!(judgement.verdict, Verdict::Fail);
            let failed = judgement
                .requirements
                .iter()
                .find(|check| check.verdict == Verdict::Fail)
                .expect("one");
            assert_eq!(failed.why, why);
        }
    }

    #[test]
    fn what_the_driver_does_not_say_leaves_it_open() {
        let mut facts = good_card();
        set(&mut facts, "eee", Err("the driver does not say (EOPNOTSUPP)"));
        let judgement = judge(&wakeups(facts.clone()));
        assert_eq!(judgement.verdict, Verdict::Inconclusive);
        let check = &judgement.requirements[0];
        assert_eq!((check.measured, &check.value), (None, &None));
        assert_eq!(check.why, "eee is not known: the driver does not say (EOPNOTSUPP)");
        facts.retain(|fact| fact.name != "eee");
        assert_eq!(
            judge(&wakeups(facts)).requirements[0].why,
            "eee is not known: the run does not have it"
        );
    }

    #[test]
    fn what_cannot_be_hinders_no_verdict_and_is_shown() {
        let judgement = judge(&wakeups(veth_facts("ts0")));
        assert_eq!((judgement.verdict, judgement.requirements.len()), (Verdict::Pass, 0));
        assert_eq!(judgement.not_applicable.len(), 6);
        assert_eq!(judgement.not_applicable[0].why, "veth has no such thing");
        let both = judge(&wakeups([veth_facts("ts0"), card_facts("eth1")].concat()));
        assert_eq!(both.verdict, Verdict::Fail, "the card beside it is still judged");
    }

    #[test]
    fn requirements_alone_make_no_pass() {
        let mut nothing = run(Vec::new());
        nothing.facts = good_card();
        let judgement = judge(&nothing);
        assert!(
            judgement
                .requirements
                .iter()
                .all(|check| check.verdict == Verdict::Pass)
        );
        assert_eq!(judgement.verdict, Verdict::Inconclusive);
        assert_eq!(judgement.profiles[0].verdict, Verdict::Inconclusive);
        assert_eq!(judgement.sentence(), "No limit applies to what was measured.");
        nothing.facts = card_facts("eth1");
        assert_eq!(judge(&nothing).verdict, Verdict::Fail, "but they fail");
    }

    #[test]
    fn a_run_without_an_interface_is_judged_without_them() {
        let judgement = judge(&wakeups(testing::synthetic::facts()));
        assert_eq!(judgement.verdict, Verdict::Pass);
        assert_eq!((judgement.requirements.len(), judgement.not_asked.len()), (0, 6));
    }

    #[test]
    fn each_profile_has_the_verdict_of_its_own_requirements() {
        let run = wakeups(card_facts("eth1"));
        let profiles = ["avb", "substation"].map(|name| Profile::find(name).expect("embedded"));
        let verdicts = Judgement::of(&run, &profiles)
            .profiles
            .iter()
            .map(|one| one.verdict)
            .collect::<Vec<_>>();
        assert_eq!(verdicts, [Verdict::Fail, Verdict::Pass]);
    }
}
