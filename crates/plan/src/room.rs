//! Disk space that a plan's run file needs.

use super::file::Plan;
use super::roles::Roles;
use super::step::Step;
use super::value::PlanError;
use host::CpuFacts;
use session::room::RoomNeed;

/// Hops of a traced stream over the bridge of a plan without networks of its own; over any other network there is at least one.
const OVER_A_BRIDGE: u64 = 5;

impl Plan {
    /// Disk space that the run file will need with windows of this length and histograms of at most `budget` bytes.
    ///
    /// # Errors
    /// A named CPU cannot be used.
    pub fn room(&self, facts: &CpuFacts, roles: &Roles, window_ns: u64, budget: u64) -> Result<RoomNeed, PlanError> {
        let hops = if self.bed.is_none() { OVER_A_BRIDGE } else { 1 };
        let of_step = |step: &Step| {
            let judged = self.judges(step, facts, roles)?;
            let lasts_ns = self.lasts_ns(std::slice::from_ref(step));
            let series = step.measure.series(&judged, hops) * step.common.guests as u64;
            let stamps = u128::from(step.measure.stamps_kept(hops)) * u128::from(lasts_ns) / 1_000_000_000;
            Ok(RoomNeed {
                stamps: u64::try_from(stamps).unwrap_or(u64::MAX),
                ..RoomNeed::of(series, lasts_ns, window_ns)
            })
        };
        let all = self.steps.iter().map(of_step).collect::<Result<Vec<_>, PlanError>>()?;
        let need = all.into_iter().fold(RoomNeed::default(), RoomNeed::and);
        Ok(RoomNeed { budget, ..need })
    }
}

#[cfg(test)]
mod tests {
    use super::Plan;
    use crate::{Named, live_facts};

    #[test]
    fn frames_that_are_kept_and_joined_need_room_for_their_stamps() {
        let facts = live_facts().expect("the CPUs");
        let stamps = |more: &str| {
            let step = "[[step]]\nprobe = \"sampled-values\"\nduration = \"10s\"\nstreams = 2\nrate = 4000\nasdus = 1\npolicy = \"other\"\n";
            let text = format!(
                "name = \"lab\"\nwhat = \"a test\"\nlimits = \"lab\"\nwindow = \"20s\"\n\n[cpus]\nhousekeeping = \"first\"\nmeasured = \"rest\"\n\n{step}{more}"
            );
            let plan = Plan::parse("lab", &text).expect("a plan");
            let roles = plan.roles(&facts, &Named::default()).expect("roles");
            plan.room(&facts, &roles, plan.window.0, 0).expect("CPUs").stamps
        };
        assert_eq!(stamps(""), 0);
        // 80 000 frames with four stamps at their ends, and six at the points of a bridge.
        assert_eq!(stamps("record = true\n"), 320_000);
        assert_eq!(stamps("trace = true\nrecord = true\n"), 800_000);
    }

    #[test]
    fn a_week_of_the_plan_substation_needs_several_hundred_megabytes() {
        let hours_33 = 33 * 3_600_000_000_000;
        let plan = Plan::load("substation").expect("inside").lasting(hours_33);
        let facts = live_facts().expect("the CPUs");
        let roles = plan.roles(&facts, &Named::default()).expect("roles");
        let need = plan.room(&facts, &roles, plan.window.0, 32 << 20).expect("CPUs");
        // 142 series of streams, 66 of the relay, two of the round trip, and one or more of wake-ups and noise.
        assert!((212..300).contains(&need.series), "{need:?}");
        assert_eq!(need.windows, need.series * 5_940);
        assert!((100 << 20..250 << 20).contains(&need.expected()), "{}", need.expected());
    }
}
