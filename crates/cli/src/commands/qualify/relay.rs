//! Options for a relay that is not of this program, at the other end of a plan's ping-pong.

use crate::failure::Failure;
use bed::{Bed, Stands};
use plan::{ForeignRelay, Plan};
use probes::trip::MemberName;
use std::path::PathBuf;

/// Options for a relay that is not of this program.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "A relay of others")]
pub(crate) struct RelayArgs {
    /// Ping this relay over the one port that --nic names, instead of a second device of triptime: the reference of the GOOSE control block with its
    /// answer. For plans with a ping-pong, such as vpac
    #[arg(long, value_name = "GOCBREF", conflicts_with = "far")]
    relay: Option<String>,
    /// Member of that control block's dataset that follows the ping: its number from 0, or its name in the SCL file [default: 0]
    #[arg(long, value_name = "MEMBER", requires = "relay")]
    trip_member: Option<MemberName>,
    /// Read names of members from this SCL file
    #[arg(long, value_name = "FILE", requires = "relay")]
    scl: Option<String>,
    /// GOOSE file with the one control block that pings [default: TRIPTIMELD0/LLN0$GO$gcbPing, one boolean, to 01:0c:cd:01:01:7f]
    #[arg(long, value_name = "FILE", requires = "relay")]
    ping: Option<PathBuf>,
    /// Number of the boolean in that control block that changes, from 0 [default: 0]
    #[arg(long, value_name = "N", requires = "relay")]
    ping_member: Option<u32>,
}

impl RelayArgs {
    /// The plan with this relay, if one is named.
    ///
    /// # Errors
    /// The plan has no ping-pong, or a file about the relay cannot be used.
    pub(super) fn in_plan(&self, plan: Plan) -> Result<Plan, Failure> {
        let Some(goose) = &self.relay else { return Ok(plan) };
        Ok(plan.with_relay(&ForeignRelay {
            goose: goose.clone(),
            trip_member: self.trip_member.clone(),
            scl: self.scl.clone(),
            ping: self.ping.clone(),
            ping_member: self.ping_member,
        })?)
    }
}

/// The port of this machine that leads to a relay.
///
/// # Errors
/// Not one port is named, or it is missing or down.
pub(super) fn port_to(relay: &str, plan: &Plan, nic: &[String]) -> Result<Bed, Failure> {
    let [port] = nic else {
        return Err(Failure::Usage(format!(
            "--nic: the plan {} pings the relay {relay}: name the one port of this machine that leads there: --nic IF",
            plan.name
        )));
    };
    let stands = match plan.is_in_guests() {
        true => Stands::Guests(plan.devices()),
        false => Stands::These(plan.devices()),
    };
    Ok(Bed::to_relay(relay, port, stands)?)
}
