//! A relay that is not of this program, at the other end of the ping-pong of a plan.

use super::checked::rules;
use super::file::Plan;
use super::value::PlanError;
use probes::trip::MemberName;
use std::path::PathBuf;

/// A relay that answers a plan's pings, and what it needs for that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignRelay {
    /// Reference of its control block.
    pub goose: String,
    /// Its boolean that follows the ping; without it, that with number 0.
    pub trip_member: Option<MemberName>,
    /// SCL file with names of members.
    pub scl: Option<String>,
    /// GOOSE file with the ping that it subscribes to; without it, this program's own.
    pub ping: Option<PathBuf>,
    /// Number of the boolean of the ping that changes.
    pub ping_member: Option<u32>,
}

impl ForeignRelay {
    /// The same as keys of a step.
    fn keys(&self) -> Result<toml::Table, String> {
        let ping = self.ping.as_ref().map(|path| {
            let text = path.to_str();
            text.ok_or_else(|| format!("{}: the name of the file is not UTF-8", path.display()))
        });
        let texts = [
            ("goose", Some(self.goose.clone())),
            ("trip_member", self.trip_member.as_ref().map(ToString::to_string)),
            ("scl", self.scl.clone()),
            ("ping", ping.transpose()?.map(str::to_owned)),
        ];
        let texts = texts
            .into_iter()
            .filter_map(|(key, text)| Some((key.to_owned(), text?.into())));
        let number = self
            .ping_member
            .map(|number| ("ping_member".to_owned(), toml::Value::from(number)));
        Ok(texts.chain(number).collect())
    }
}

impl Plan {
    /// Control block of the relay, not of this program, that the plan is measured with; `None` if there is none.
    pub fn relay(&self) -> Option<&str> {
        self.steps.iter().find_map(|step| step.measure.relay())
    }

    /// The plan with this relay at the other end of its ping-pong.
    ///
    /// # Errors
    /// The plan has no ping-pong, or another step over a test bed; or a file about the relay cannot be used.
    pub fn with_relay(mut self, relay: &ForeignRelay) -> Result<Self, PlanError> {
        let name = self.name.clone();
        let invalid = |problem: String| PlanError::Invalid {
            name: name.clone(),
            problem: format!("--relay: {problem}"),
        };
        let keys = relay.keys().map_err(invalid)?;
        let mut pings = self.steps.iter_mut().filter(|step| step.takes_relay());
        let first = pings.next().ok_or_else(|| {
            invalid("no step of this plan is a ping-pong: `triptime qualify vpac` has one".to_owned())
        })?;
        if pings.next().is_some() {
            return Err(invalid(
                "the plan has several ping-pongs: leave one of them in it".to_owned(),
            ));
        }
        first.with_relay(&keys).map_err(invalid)?;
        rules::relay(&self).map_err(|refusal| invalid(refusal.in_text(&self.text)))?;
        self.what = format!(
            "{}; here with the relay {} instead of a second device",
            self.what, relay.goose
        );
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::ForeignRelay;
    use crate::Plan;

    fn relay() -> ForeignRelay {
        ForeignRelay {
            goose: "IED1LD0/LLN0$GO$gcbPong".to_owned(),
            trip_member: Some("2.0".parse().expect("a member")),
            scl: None,
            ping: None,
            ping_member: None,
        }
    }

    #[test]
    fn the_acceptance_is_measured_with_a_relay_that_is_not_ours() {
        let own = Plan::load("vpac").expect("inside").lasting(60_000_000_000);
        assert_eq!((own.devices(), own.relay()), (2, None));
        let plan = own.with_relay(&relay()).expect("a plan");
        assert_eq!((plan.devices(), plan.relay()), (1, Some("IED1LD0/LLN0$GO$gcbPong")));
        assert!(
            plan.what
                .ends_with("with the relay IED1LD0/LLN0$GO$gcbPong instead of a second device")
        );
        assert!(plan.steps.iter().all(|step| step.common.duration.0 == 60_000_000_000));
        let limits = plan.own_limits().expect("limits").expect("of the pings");
        assert!(
            limits.contains("pong.lost") && limits.contains("pong.unwanted"),
            "{limits}"
        );
    }

    #[test]
    fn a_plan_without_a_ping_pong_and_one_over_a_bed_are_refused() {
        let refused = |plan: Plan| plan.with_relay(&relay()).expect_err("refused").to_string();
        let quick = refused(Plan::load("quick").expect("inside"));
        assert!(quick.contains("no step of this plan is a ping-pong"), "{quick}");
        let vpac = Plan::load("vpac").expect("inside").text;
        let text = format!("{vpac}\n[[step]]\nprobe = \"reflect\"\nduration = \"1s\"\npolicy = \"other\"\n");
        let mixed = refused(Plan::parse("site", &text).expect("a plan"));
        assert!(mixed.contains("leave this step \"round trip\" out"), "{mixed}");
        let missing = ForeignRelay {
            ping: Some("nowhere.toml".into()),
            ..relay()
        };
        let plan = Plan::load("vpac").expect("inside").with_relay(&missing);
        assert!(plan.expect_err("no file").to_string().contains("nowhere.toml"));
    }

    #[test]
    fn keys_about_a_relay_need_its_name() {
        let vpac = Plan::load("vpac").expect("inside").text;
        let text = vpac.replace("pause = \"2ms\"", "pause = \"2ms\"\nping_member = 1");
        let refused = Plan::parse("site", &text).expect_err("refused").to_string();
        assert!(refused.contains("name its control block"), "{refused}");
        let text = text.replace("ping_member = 1", "goose = \"IED1LD0/LLN0$GO$gcb\"\nping_member = 1");
        let refused = Plan::parse("site", &text).expect_err("refused").to_string();
        assert!(
            refused.contains("member 1 of TRIPTIMELD0/LLN0$GO$gcbPing is missing"),
            "{refused}"
        );
    }
}
