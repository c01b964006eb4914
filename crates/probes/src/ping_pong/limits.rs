//! Limits by which a device that answers pings is judged with every profile.

use super::PingPongConfig;
use super::class::{Class, SHARE_PERCENT};
use units::Ns;

/// Limits of a pinged device, each in the format of a profile: it answers every ping, makes no change without a ping, and keeps
/// the time of its class, if one is named.
pub fn limits(config: &PingPongConfig) -> Vec<String> {
    let class = config.class.map(|class| of_class(class, config));
    class
        .into_iter()
        .chain([LOST.to_owned(), UNWANTED.to_owned()])
        .collect()
}

fn of_class(class: Class, config: &PingPongConfig) -> String {
    let transfer_ns = class.transfer_ns(config.frequency_hz);
    format!(
        "[[limit]]\nid = \"pong.class.{word}\"\nseries = \"pong/*\"\nquantity = \"max\"\nallowed = \"{allowed}ns\"\n\
         source = \"IEC 61850-5, {class}\"\n\
         why = \"A transfer of {class} takes at most {transfer}, of which sender and receiver have {SHARE_PERCENT} % (IEC 61850-10); an \
         answer takes that and the application's {application}.\"\n\n",
        word = class.word(),
        allowed = class.answer_ns(config.frequency_hz, config.application_ns),
        transfer = Ns(transfer_ns),
        application = Ns(config.application_ns),
    )
}

const LOST: &str = r#"[[limit]]
id = "pong.lost"
series = "pong/*"
quantity = "lost"
allowed = 0
source = "IEC 61850-10: GOOSE performance, every message is answered"
why = "A device answers every change that it subscribes to, regardless of other traffic on its network."

"#;

const UNWANTED: &str = r#"[[limit]]
id = "pong.unwanted"
series = "pong/*"
quantity = "unwanted"
allowed = 0
source = "IEC 60050-448: security, the probability of not having an unwanted operation"
why = "A device changes its answer only after a ping."
"#;
