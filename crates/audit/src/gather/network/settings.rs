//! Facts from the driver's settings.

use super::answer::DriverAnswer;
use crate::facts::Subject;
use crate::value::{Known, Unknown, Value, Why};
use host::nic::interface::{ROOT, driver, speed};
use host::nic::{LONGEST_IN_MODE_US, is_mode};
use host::reader::Reader;

pub(super) fn gather(reader: &Reader, name: &str, part: &mut Subject) {
    let said = DriverAnswer::read(reader, name);
    let driver = match said.get("driver", "name") {
        Ok(named) => Ok(named),
        Err(_) => driver(reader, name).map(Value::from).map_err(Unknown::from),
    };
    part.set_known("nic.driver", driver.clone());
    let by_file = speed(reader, name).map(Value::from).map_err(Unknown::from);
    part.set_known("nic.speed", by_file.or_else(|_| plain(&said, "link", "speed")));
    part.set("nic.duplex", duplex(reader, name));
    coalescing(&said, &driver, part);
    for (fact, question, key) in [
        ("nic.eee-enabled", "eee", "enabled"),
        ("nic.eee-active", "eee", "active"),
        ("nic.eee-peer", "eee", "peer"),
        ("nic.pause-rx", "pause", "rx"),
        ("nic.pause-tx", "pause", "tx"),
        ("nic.ring", "rings", "rx"),
        ("nic.ring-longest", "rings", "rx-max"),
        ("nic.rx-filters", "stamping", "rx-filters"),
    ] {
        part.set_known(fact, said.get(question, key));
    }
    part.set_known("nic.stamps-sent", stamps(&said, "hardware-transmit"));
    part.set_known("nic.stamps-received", stamps(&said, "hardware-receive"));
    // A driver that reports no time stamps is no evidence of a missing clock.
    let clock = plain(&said, "stamping", "capabilities").and_then(|_| said.get("stamping", "phc"));
    part.set_known("nic.clock", clock);
    part.set_known("nic.channels", channels(&said));
}

/// A value whose absence is no evidence.
/// Duplex mode: `full` or `half`. Paravirtual cards report `unknown`, and some drivers nothing.
fn duplex(reader: &Reader, name: &str) -> Result<String, Unknown> {
    let path = format!("{ROOT}/{name}/duplex");
    let line = reader.line(&path)?;
    match line.as_str() {
        "full" | "half" => Ok(line),
        other => Err(Unknown::unclear(format!("{path}: the driver reports \"{other}\""))),
    }
}

fn plain(said: &DriverAnswer, question: &str, key: &str) -> Known {
    said.get(question, key)
        .map_err(|unknown| Unknown::unclear(unknown.text))
}

/// Delays as the driver applies them: a mode that follows the traffic counts as its longest wait, and a limit of one frame ends any wait.
fn coalescing(said: &DriverAnswer, driver: &Known, part: &mut Subject) {
    let get = |key| said.get("coalesce", key);
    let received = held(driver, get("rx-usecs"), get("rx-frames"));
    part.set_known("nic.rx-usecs", plain(said, "coalesce", "rx-usecs"));
    // A driver without a time for received frames may still hold frames back.
    part.set_known(
        "nic.held-rx-us",
        received.map_err(|unknown| Unknown::unclear(unknown.text)),
    );
    let sent = held(driver, get("tx-usecs"), get("tx-frames"));
    let silent = said.get("coalesce", "rx-usecs").is_err();
    part.set_known(
        "nic.held-tx-us",
        sent.map_err(|unknown| {
            if silent {
                Unknown::unclear(unknown.text)
            } else {
                unknown
            }
        }),
    );
    part.set_known("nic.adaptive-rx", get("adaptive-rx"));
    part.set_known("nic.adaptive-tx", get("adaptive-tx"));
    part.set_known("nic.rx-mode", mode(driver, &get("rx-usecs")));
}

fn held(driver: &Known, usecs: Known, frames: Known) -> Known {
    let usecs = usecs?;
    match (mode(driver, &Ok(usecs.clone())), frames) {
        (Ok(Value::Flag(true)), _) => Ok(Value::from(LONGEST_IN_MODE_US)),
        (Err(unknown), _) if usecs != Value::Number(0.0) => Err(unknown),
        (_, Ok(Value::Number(1.0))) => Ok(Value::Number(0.0)),
        _ => Ok(usecs),
    }
}

/// True if the value selects a mode of this driver.
fn mode(driver: &Known, usecs: &Known) -> Known {
    match (driver, usecs) {
        (Ok(Value::Text(driver)), Ok(Value::Number(usecs))) => Ok(Value::Flag(is_mode(driver, *usecs as u32))),
        (_, Err(unknown)) => Err(unknown.clone()),
        (Err(unknown), _) => Err(unknown.clone()),
        _ => Err(Unknown::unclear("the driver's answer is of an unknown kind")),
    }
}

fn stamps(said: &DriverAnswer, what: &str) -> Known {
    match plain(said, "stamping", "capabilities")? {
        Value::List(all) => Ok(Value::Flag(all.iter().any(|one| one == what))),
        other => Err(Unknown::unclear(format!("\"{other}\" is not a list of capabilities"))),
    }
}

/// Number of receive queues.
fn channels(said: &DriverAnswer) -> Known {
    let count = |key| match said.get("channels", key) {
        Ok(Value::Number(count)) => Ok(count),
        Err(unknown) if unknown.why != Why::Absent => Err(unknown),
        _ => Ok(0.0),
    };
    let all = count("combined")? + count("rx")?;
    match all > 0.0 {
        true => Ok(Value::Number(all)),
        false => Err(Unknown::absent("the driver does not report its number of queues")),
    }
}
