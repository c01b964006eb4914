//! Ages that a relay in one thread does not have: its task takes the frames, once a cycle.

use crate::limits::Limit;
use model::RunView;
use model::kind::{self, Kind};

/// Why a limit on the age at an application has nothing to judge: a relay's task takes the frames there, and that reading is another one.
/// Empty where that is not why.
pub(super) fn by_a_task(run: &RunView, limit: &Limit) -> String {
    let mut patterns = limit.series.alternatives();
    let is_on_ages = patterns.any(|pattern| Kind::of_series(pattern) == Some(&kind::AGE));
    let is_used = run.series.iter().any(|series| series.is(&kind::USE));
    let is_received = run.series.iter().any(|series| series.is(&kind::AGE));
    if !is_on_ages || !is_used || is_received {
        return String::new();
    }
    "the relay is one thread: its task takes the frames once a cycle, and use/* has that wait in it; measure with a thread for each task \
     (a step's apart = true, or --cpu receive=1,functions=2,output=3)"
        .to_owned()
}

#[cfg(test)]
mod tests {
    use crate::limits::Profile;
    use crate::verdict::Judgement;
    use testing::synthetic::{run, series};

    fn why(names: &[&str], limit: &str) -> Option<String> {
        let measured = names.iter().map(|name| series(name, 1_000, 400_000, 10));
        let profile = Profile::find("substation").expect("embedded");
        let judgement = Judgement::of(&run(measured.collect()), &[profile]);
        let open = judgement.not_measured.into_iter().find(|open| open.limit.id == limit);
        open.map(|open| open.why)
    }

    #[test]
    fn a_relay_in_one_thread_has_no_age_and_the_limit_says_why() {
        let one = ["task/F1", "use/MU01", "arrival/MU01"];
        for limit in ["age.max", "age.mean"] {
            let said = why(&one, limit).expect("not measured");
            assert!(
                said.contains("the relay is one thread") && said.contains("apart = true"),
                "{said}"
            );
        }
        // Limits on anything else, and runs without a relay, get no such reason.
        assert_eq!(why(&one, "rtt.max").as_deref(), Some(""));
        assert_eq!(why(&["wakeup/cpu1"], "age.max").as_deref(), Some(""));
        assert_eq!(why(&["use/MU01", "age/MU01"], "age.max"), None);
    }
}
