//! The steps of a plan that the command line chooses: one condition of several, for example for days.

use super::file::Plan;
use super::step::{Beside, Step};
use super::value::PlanError;
use model::Fact;
use model::fact::STEPS_LEFT_OUT;

/// A plan with some of its steps.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// The plan with the chosen steps alone.
    pub plan: Plan,
    /// The words of the steps that were left out, in the order of the plan.
    pub left_out: Vec<String>,
    /// Number of steps of the whole plan.
    pub of: usize,
}

impl Chosen {
    /// The fact by which every report of the run says that it is not one of the whole plan; `None` if no step was left out.
    pub fn fact(&self) -> Option<Fact> {
        let text = || format!("{} of {}: {}", self.left_out.len(), self.of, self.left_out.join(", "));
        (!self.left_out.is_empty()).then(|| STEPS_LEFT_OUT.fact(Ok(text()), "--step"))
    }
}

impl Plan {
    /// The plan with the steps of these labels alone; without any, the whole plan. A step without a label has the name of its probe. A step
    /// that runs side by side with others is one condition with them: all of them are chosen.
    ///
    /// # Errors
    /// A label that no step has, with the labels that there are.
    pub fn only(mut self, labels: &[String]) -> Result<Chosen, PlanError> {
        let words: Vec<String> = self.steps.iter().map(Step::word).collect();
        if let Some(unknown) = labels.iter().find(|label| !words.contains(label)) {
            let mut known = words;
            known.dedup();
            return Err(PlanError::Step {
                plan: self.name,
                label: unknown.clone(),
                have: known.join(", "),
            });
        }
        let of = self.steps.len();
        let is_chosen = |step: &Step| labels.is_empty() || labels.contains(&step.word());
        let (chosen, left): (Vec<&[Step]>, Vec<&[Step]>) =
            self.conditions().partition(|group| group.iter().any(is_chosen));
        let left_out = left.concat().iter().map(Step::word).collect();
        let chosen = chosen.concat();
        self.steps = chosen;
        Ok(Chosen {
            plan: self,
            left_out,
            of,
        })
    }
}

impl Plan {
    /// Steps that are chosen together: those that must run side by side. One that does so only if possible can be chosen alone.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = &[Step]> {
        self.steps
            .chunk_by(|_, next| next.common.beside_previous == Beside::Yes)
    }
}

#[cfg(test)]
mod tests {
    use crate::Plan;

    fn embedded(name: &str) -> Plan {
        Plan::load(name).expect("a plan inside triptime")
    }

    fn only(name: &str, labels: &[&str]) -> (Vec<String>, Vec<String>) {
        let labels: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
        let chosen = embedded(name).only(&labels).expect("labels that the plan has");
        let measured = chosen.plan.steps.iter().map(super::Step::word).collect();
        (measured, chosen.left_out)
    }

    #[test]
    fn one_condition_is_measured_and_the_others_are_named() {
        let (measured, left_out) = only("vpc", &["20-streams-load"]);
        assert_eq!(measured, ["20-streams-load"]);
        assert_eq!(left_out.len() + 1, embedded("vpc").steps.len());
        assert!(left_out.contains(&"20-streams".to_owned()), "{left_out:?}");
    }

    #[test]
    fn a_step_without_a_label_has_the_name_of_its_probe() {
        // The order is that of the plan.
        let (measured, left_out) = only("quick", &["reflect", "wakeup"]);
        assert_eq!(measured, ["wakeup", "reflect"]);
        assert_eq!(left_out, ["noise", "sampled-values", "trip"]);
    }

    #[test]
    fn steps_side_by_side_are_one_condition() {
        let text = "name = \"p\"\nwhat = \"w\"\nlimits = \"substation\"\nwindow = \"1s\"\n[cpus]\nmeasured = \"rest\"\n\
                    housekeeping = \"first\"\n\
                    [[step]]\nprobe = \"wakeup\"\nlabel = \"a\"\nduration = \"1s\"\ninterval = \"1ms\"\npolicy = \"fifo:80\"\ncpus = \"1\"\n\
                    [[step]]\nprobe = \"wakeup\"\nlabel = \"b\"\nduration = \"1s\"\ninterval = \"1ms\"\npolicy = \"fifo:80\"\ncpus = \"2\"\n\
                    beside_previous = true\n\
                    [[step]]\nprobe = \"wakeup\"\nlabel = \"c\"\nduration = \"1s\"\ninterval = \"1ms\"\npolicy = \"fifo:80\"\n";
        let plan = Plan::parse("p", text).expect("a plan");
        let chosen = plan.only(&["b".to_owned()]).expect("it has b");
        assert_eq!((chosen.plan.steps.len(), chosen.left_out), (2, vec!["c".to_owned()]));
    }

    #[test]
    fn without_labels_it_is_the_whole_plan_and_an_unknown_one_names_those_there_are() {
        let whole = embedded("quick").only(&[]).expect("the whole plan");
        assert!(whole.fact().is_none());
        let one = embedded("quick").only(&["trip".to_owned()]).expect("it has a trip");
        let fact = one.fact().expect("steps were left out");
        assert_eq!(
            fact.value.as_deref(),
            Ok("4 of 5: wakeup, noise, reflect, sampled-values")
        );
        let refused = embedded("quick")
            .only(&["weak-up".to_owned()])
            .expect_err("no such step");
        assert_eq!(
            refused.to_string(),
            "--step weak-up: the plan quick has no such step (it has: wakeup, noise, reflect, sampled-values, trip)"
        );
    }
}
