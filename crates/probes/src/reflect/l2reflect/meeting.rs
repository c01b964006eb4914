//! Finds the other end of a game, as l2reflect does: by HELO and EHLO.
//!
//! Each end broadcasts a HELO twice a second, and answers a HELO with an EHLO. It is ready when it has sent an EHLO and received one. The
//! order of the two does not matter here, so that no frame of an end that is already ready is needed.

use super::super::election::bear;
use super::super::{Dialect, ReflectConfig};
use crate::error::ProbeError;
use crate::port::Port;
use run::Stop;
use sys::wait::sleep_until;
use units::{Monotonic, Ns};
use wire::ether::{EthernetView, HEADER, Mac};
use wire::l2reflect::{FCS, L2reflectEnd, L2reflectFrame, L2reflectKind, LONGEST_STANDARD};

/// Time between two HELOs, as in l2reflect.
pub(super) const EVERY_NS: i64 = 500_000_000;

/// The far end of a game, and what both ends agreed on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Met {
    pub(super) far: Mac,
    /// Our part in the game.
    pub(super) end: L2reflectEnd,
    /// Octets of the ball without FCS.
    pub(super) octets: usize,
}

/// A frame of this end without contents other than the agreed settings.
pub(super) fn frame_of(config: &ReflectConfig, kind: L2reflectKind) -> L2reflectFrame {
    let break_us = config.break_above_ns.map_or(0, |ns| (ns / 1_000).max(1));
    L2reflectFrame {
        kind,
        traced: kind == L2reflectKind::Data && break_us > 0,
        break_us,
        length: config.frame_bytes as u64 + FCS,
    }
}

/// The far end as far as it is known.
#[derive(Debug, Default)]
struct Acquaintance {
    far: Option<Mac>,
    /// True if an EHLO was sent to it.
    answered: bool,
    /// The length that its EHLO asked for.
    asked: Option<u64>,
}

/// Finds the far end within the configured patience; `None` if a stop is requested first.
///
/// # Errors
/// Nobody plays, the far end wishes frames that this end cannot send, or the kernel refused an operation.
pub(super) fn meet(config: &ReflectConfig, port: &mut Port, stop: &Stop) -> Result<Option<Met>, ProbeError> {
    let own = Mac(port.mac());
    let helo = frame_of(config, L2reflectKind::Helo).encode(Mac::BROADCAST, own, 0);
    let mut known = Acquaintance {
        far: config.peer,
        ..Acquaintance::default()
    };
    let until = sys::clock::monotonic() + Ns(config.patience_ns);
    while !stop.requested() {
        if sys::clock::monotonic() >= until {
            return Err(nobody_plays(port.interface(), config.patience_ns));
        }
        bear(port.send(&helo))?;
        let next = until.min(sys::clock::monotonic() + EVERY_NS);
        while let Some(said) = listen(port, own, next, stop) {
            known.heard(&said, config, port, own)?;
            if let (Some(far), true, Some(asked)) = (known.far, known.answered, known.asked) {
                return agree(config, port, far, asked).map(Some);
            }
        }
    }
    Ok(None)
}

/// The next frame of another station until `until`, and its sender.
fn listen(port: &mut Port, own: Mac, until: Monotonic, stop: &Stop) -> Option<(Mac, L2reflectFrame)> {
    while !stop.requested() {
        while let Some(frame) = port.next() {
            let Ok(ethernet) = EthernetView::parse(frame.data()) else {
                continue;
            };
            let is_for_us = ethernet.dst() == own || ethernet.dst().is_multicast();
            if let Ok(said) = L2reflectFrame::parse(&ethernet)
                && is_for_us
                && ethernet.src() != own
            {
                return Some((ethernet.src(), said));
            }
        }
        let left = until - sys::clock::monotonic();
        if left <= 0 {
            return None;
        }
        if port.wait(left.unsigned_abs().min(LOOK_UP_NS)).is_err() {
            sleep_until(sys::clock::monotonic() + left.min(LOOK_UP_NS.cast_signed()));
        }
    }
    None
}

/// Longest sleep before a check for a stop.
const LOOK_UP_NS: u64 = 100_000_000;

impl Acquaintance {
    fn heard(
        &mut self,
        (from, said): &(Mac, L2reflectFrame),
        config: &ReflectConfig,
        port: &mut Port,
        own: Mac,
    ) -> Result<(), ProbeError> {
        if *self.far.get_or_insert(*from) != *from {
            return Ok(());
        }
        match said.kind {
            L2reflectKind::Helo => {
                bear(port.send(&frame_of(config, L2reflectKind::Ehlo).encode(*from, own, 0)))?;
                self.answered = true;
            }
            L2reflectKind::Ehlo => self.asked = Some(said.length),
            // Left over from the last game.
            L2reflectKind::Data | L2reflectKind::Reset | L2reflectKind::Quit => {}
        }
        Ok(())
    }
}

/// Agrees on the longer of the two lengths, as l2reflect does.
fn agree(config: &ReflectConfig, port: &mut Port, far: Mac, asked: u64) -> Result<Met, ProbeError> {
    let own = Mac(port.mac());
    let ours = config.frame_bytes as u64 + FCS;
    let room = u64::from(port.mtu()) + HEADER as u64;
    let length = ours.max(asked);
    // The version of 2020 states no length, and takes ours.
    let is_same_form = asked == 0 || (ours <= LONGEST_STANDARD) == (asked <= LONGEST_STANDARD);
    if !is_same_form || length - FCS > room {
        bear(port.send(&frame_of(config, L2reflectKind::Quit).encode(far, own, 0)))?;
        return Err(ProbeError::Usage(format!(
            "reflect: the far end {far} wishes frames of {asked} octets with FCS, this end {ours}, and {} takes {}: give both ends \
             the same length (-n there, --size {} here)",
            port.interface(),
            room + FCS,
            asked.saturating_sub(FCS)
        )));
    }
    let Some(end) = L2reflectEnd::of(own, far) else {
        return Err(ProbeError::Usage(format!(
            "reflect: the far end has the same address {own}"
        )));
    };
    Ok(Met {
        far,
        end,
        octets: usize::try_from(length - FCS).unwrap_or(usize::MAX),
    })
}

fn nobody_plays(interface: &str, patience_ns: u64) -> ProbeError {
    ProbeError::NoTraffic(format!(
        "reflect: no end with the frames of l2reflect answered on {interface} within {}: start l2reflect, or `triptime reflect IF \
         --dialect {}`, at the far end too, and check the cable and the MAC address",
        Ns(patience_ns),
        Dialect::L2reflect.word()
    ))
}
