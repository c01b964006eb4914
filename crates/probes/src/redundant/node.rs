//! Work of a doubly attached node beside its measuring threads: it watches both links, and announces the node on both LANs.

use super::Numbers;
use crate::error::ProbeError;
use crate::hot::{Beside, Running};
use model::EventKind;
use run::{Events, Stop};
use std::time::Duration;
use sys::link::{LinkCounters, LinkInfo};
use sys::packet::PacketSender;
use units::{Monotonic, Ns};
use wire::ether::Mac;
use wire::redundancy::{Lan, Node, Protocol, Supervision};

/// Time between two looks at the links. The kernel counts shorter losses of a carrier.
const LOOK: Duration = Duration::from_millis(50);
/// Time between two supervision frames (LifeCheckInterval, IEC 62439-3), in ns.
const LIFE_CHECK_NS: u64 = 2_000_000_000;
/// Version of the supervision frames of edition 2 and later.
const VERSION: u16 = 1;

/// The link of one LAN.
struct Watched {
    lan: Lan,
    name: String,
    link: LinkCounters,
    before: Option<LinkInfo>,
    /// While there is no carrier, the earliest instant at which it may have been lost.
    down: Option<Monotonic>,
    /// True if there was none at the begin.
    began_without: bool,
    losses: u32,
    down_ns: u64,
}

impl Watched {
    /// Reports what happened to the carrier between `since` and `now`.
    fn look(&mut self, since: Monotonic, now: Monotonic, events: &Events) {
        // An interface that was removed is reported by the port.
        let Some(link) = self.link.link() else { return };
        let text = match &self.before {
            None => (!link.carrier).then(|| "has no carrier".to_owned()),
            Some(before) => link.carrier_change(before).map(|change| change.to_string()),
        };
        match &self.before {
            None => self.began_without = !link.carrier,
            Some(before) => {
                self.losses += link
                    .carrier_losses_since(before)
                    .max(u32::from(before.carrier && !link.carrier));
            }
        }
        if let Some(text) = text {
            let text = format!("{} ({}) {text}", self.lan, self.name);
            events.write_since(self.down.unwrap_or(since), EventKind::Link, text);
        }
        match (self.down, link.carrier) {
            (None, false) => self.down = Some(since),
            (Some(_), true) => self.is_up(now),
            _ => {}
        }
        self.before = Some(link);
    }

    fn is_up(&mut self, now: Monotonic) {
        if let Some(down) = self.down.take() {
            self.down_ns += u64::try_from(now - down).unwrap_or(0);
        }
    }

    /// Reports all losses of the carrier together.
    fn end(&mut self, now: Monotonic, events: &Events) {
        let down = self.down;
        self.is_up(now);
        let what = match (self.began_without, self.losses) {
            (false, 0) => return,
            (true, 0) => "had no carrier at the begin".to_owned(),
            (false, losses) => format!("lost its carrier {losses} times"),
            (true, losses) => format!("had no carrier at the begin, and lost it {losses} times after that"),
        };
        let (until_end, since) = match down {
            Some(since) => (", and had none at the end", since),
            None => ("", now),
        };
        let text = format!(
            "{} ({}) {what}, for at most {} together{until_end}: nothing passed in this LAN then",
            self.lan,
            self.name,
            Ns(self.down_ns)
        );
        events.write_since(since, EventKind::Link, text);
    }
}

/// Sender of supervision frames.
struct Announcer {
    ports: [PacketSender; 2],
    protocol: Protocol,
    numbers: Numbers,
    mac: Mac,
    sequence: u16,
    /// Frames that no port accepted.
    refused: [u64; 2],
}

impl Announcer {
    fn send(&mut self) {
        let contents = Supervision {
            path: 0,
            version: VERSION,
            sequence: self.sequence,
            node: match self.protocol {
                Protocol::Prp => Node::PrpDiscard,
                Protocol::Hsr => Node::Hsr,
            },
            mac: self.mac,
            red_box: None,
        };
        self.sequence = self.sequence.wrapping_add(1);
        let mut frame = Vec::new();
        let Ok(patch) = super::mark(&mut frame, &contents.encode(self.mac), self.protocol, &self.numbers) else {
            return;
        };
        for lan in Lan::BOTH.into_iter().filter(|lan| !self.numbers.is_cut(*lan)) {
            patch.set_lan(&mut frame, lan);
            self.refused[lan.number()] += u64::from(self.ports[lan.number()].send(&frame).is_err());
        }
    }
}

/// The node's work beside its measuring threads.
pub(crate) struct Attendant {
    links: [Watched; 2],
    announcer: Option<Announcer>,
}

impl super::Pair {
    /// The work beside the threads that use this pair. A node that sends announces itself.
    ///
    /// # Errors
    /// The process has no file descriptor left.
    pub(crate) fn attendant(&self, announces: bool) -> Result<Attendant, ProbeError> {
        let ports = [&self.a, &self.b];
        let watched = |lan: Lan| Watched {
            lan,
            name: ports[lan.number()].interface().to_owned(),
            link: ports[lan.number()].link(),
            before: None,
            down: None,
            began_without: false,
            losses: 0,
            down_ns: 0,
        };
        let announcer = match announces {
            true => Some(Announcer {
                ports: [self.a.sender()?, self.b.sender()?],
                protocol: self.protocol,
                numbers: self.numbers.clone(),
                mac: Mac(self.a.mac()),
                sequence: 0,
                refused: [0; 2],
            }),
            false => None,
        };
        Ok(Attendant {
            links: Lan::BOTH.map(watched),
            announcer,
        })
    }
}

/// Adds a node's work to its measuring threads; it ends after them. Adds nothing for a port in one LAN.
///
/// # Errors
/// The system has no thread left; then the measuring threads are told to stop.
pub(crate) fn attended(
    running: Running,
    attendant: Option<Attendant>,
    events: Events,
    stop: &Stop,
) -> Result<Running, ProbeError> {
    let Some(mut attendant) = attendant else {
        return Ok(running);
    };
    let begun = Beside::start("lan-node", move |over| attendant.run(&events, over));
    match begun {
        Ok(begun) => Ok(running.with(Some(begun))),
        Err(error) => {
            stop.request();
            Err(ProbeError::NoTraffic(format!("the system has no thread left: {error}")))
        }
    }
}

impl Attendant {
    fn run(&mut self, events: &Events, over: &Stop) {
        let mut looked = sys::clock::monotonic();
        let mut announced: Option<Monotonic> = None;
        loop {
            let is_over = over.requested();
            let now = sys::clock::monotonic();
            for link in &mut self.links {
                link.look(looked, now, events);
            }
            looked = now;
            if is_over {
                break;
            }
            let is_due = announced.is_none_or(|last| now - last >= LIFE_CHECK_NS as i64);
            if let (Some(announcer), true) = (&mut self.announcer, is_due) {
                announcer.send();
                announced = Some(now);
            }
            std::thread::park_timeout(LOOK);
        }
        for link in &mut self.links {
            link.end(looked, events);
        }
        let refused = self.announcer.iter().flat_map(|announcer| announcer.refused);
        for (lan, refused) in Lan::BOTH.into_iter().zip(refused).filter(|(_, refused)| *refused > 0) {
            let text =
                format!("{refused} supervision frames of this node were not sent on {lan}: its port did not take them");
            events.write(EventKind::Note, text);
        }
    }
}
