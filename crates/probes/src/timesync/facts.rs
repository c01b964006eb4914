//! Facts about the clock for the inventory, read before the measurement.

use super::client::{Daemon, PortInfo};
use super::system::{CardClock, kernel_text};
use model::Fact;
use sys::timex::KernelClock;
use units::Ns;

fn fact(name: &str, value: Result<String, String>, source: &str) -> Fact {
    Fact {
        group: "time".into(),
        name: name.into(),
        value,
        source: source.into(),
    }
}

/// Facts of the kernel's clock, of `ptp4l` and of the network card's clock.
pub(super) fn of(
    kernel: Option<&KernelClock>,
    daemon: Option<&Daemon>,
    card: Option<&Result<CardClock, String>>,
) -> Vec<Fact> {
    let kernel = kernel.map(kernel_text).ok_or_else(|| "refused".to_owned());
    let mut facts = vec![fact("kernel clock", kernel, "adjtimex")];
    if let Some(daemon) = daemon {
        facts.append(&mut of_daemon(daemon));
        facts.push(of_card(card));
    }
    facts
}

fn of_daemon(daemon: &Daemon) -> Vec<Fact> {
    let source = daemon.socket.display().to_string();
    let clock = &daemon.clock;
    let kind = if clock.slave_only { ", slave only" } else { "" };
    let text = format!(
        "{}, domain {}, PTP 2.{}, class {}, {} ports{kind}",
        clock.identity, clock.domain, daemon.minor_version, clock.quality.class, clock.ports
    );
    let mut facts = vec![fact("PTP clock of this host", Ok(text), &source)];
    if let Some(settings) = &daemon.settings {
        let text = format!(
            "class {}, accuracy {:#04x}, TAI {:+} s",
            settings.quality.class, settings.quality.accuracy, settings.time.utc_offset_s
        );
        facts.push(fact("PTP as a grandmaster", Ok(text), &source));
    }
    let profile = match daemon.transport_specific {
        1 => "gPTP (802.1AS)",
        _ => "IEEE 1588",
    };
    facts.push(fact("PTP profile", Ok(profile.into()), &source));
    let ports: Vec<String> = daemon.interfaces.iter().map(port_text).collect();
    let ports = match ports.is_empty() {
        true => Err("ptp4l does not report it (needs linuxptp 3.0 for PORT_PROPERTIES_NP)".into()),
        false => Ok(ports.join(", ")),
    };
    facts.push(fact("PTP ports", ports, &source));
    facts
}

fn of_card(card: Option<&Result<CardClock, String>>) -> Fact {
    let (path, value) = match card {
        None => (
            "/dev/ptp*",
            Ok("not applicable: ptp4l stamps in software, with the system clock".to_owned()),
        ),
        Some(Err(why)) => ("/dev/ptp*", Err(why.clone())),
        Some(Ok(card)) => {
            let distance = card.distance().map(|(ns, unsure, method)| {
                let (ns, unsure) = (Ns(ns), Ns(unsure));
                format!("{ns} ± {unsure} ({})", method.word())
            });
            (card.path.as_str(), distance)
        }
    };
    fact("system clock from the network card's", value, path)
}

fn port_text(info: &PortInfo) -> String {
    let stamps = match info.hardware_stamps {
        true => "stamped by hardware",
        false => "stamped in software",
    };
    format!("{}: {}, {stamps}", info.port, info.interface)
}
