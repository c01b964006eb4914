//! Decides automatically which end sends and which end returns.
//!
//! Every end with an open role broadcasts a claim ten times a second. Of two such ends, the one with the larger hardware address
//! sends, as in DPDK's l2reflect. An end with a fixed role keeps it, and the other end takes the other role.

use super::{ReflectConfig, Role, nobody_answers};
use crate::error::ProbeError;
use crate::port::Port;
use run::Stop;
use sys::SysError;
use sys::wait::sleep_until;
use units::Ns;
use wire::ether::{EthernetView, Mac};
use wire::l2reflect::{L2reflectFrame, L2reflectKind};
use wire::test_frame::{CLAIM_EITHER, CLAIM_REFLECTOR, TestFrame, TestFrameKind};

/// Time between claims.
const EVERY_NS: u64 = 100_000_000;

/// Finds the role of this end and the address of the other, within the configured patience; `None` if a stop is requested first.
///
/// # Errors
/// The other end is missing, both ends have the same address, or the kernel refused an operation.
pub(super) fn decide(config: &ReflectConfig, port: &mut Port, stop: &Stop) -> Result<Option<(Role, Mac)>, ProbeError> {
    let own = Mac(port.mac());
    let claim = TestFrame {
        kind: TestFrameKind::Claim,
        flags: CLAIM_EITHER,
        session: sys::clock::monotonic().as_ns() as u32,
        sequence: 0,
        sent_ns: 0,
    };
    let broadcast = claim.encode(Mac::BROADCAST, own, config.vlan, 0);
    let until = sys::clock::monotonic() + Ns(config.patience_ns);
    while !stop.requested() {
        if sys::clock::monotonic() >= until {
            return Err(nobody_answers(port.interface(), config.patience_ns));
        }
        bear(port.send(&broadcast))?;
        if let Some((role, peer, answers)) = listen(own, config.peer, port)? {
            if answers {
                // The other end must learn the result as well, and may not have received our broadcast.
                bear(port.send(&claim.encode(peer, own, config.vlan, 0)))?;
            }
            return Ok(Some((role, peer)));
        }
    }
    Ok(None)
}

/// Ignores a full queue and a link that is down, since both may pass.
pub(super) fn bear(outcome: Result<(), SysError>) -> Result<(), ProbeError> {
    match outcome {
        Err(error) if !error.is_passing() => Err(error.into()),
        _ => Ok(()),
    }
}

/// Waits one interval for a frame that decides: our role, the other end's address, and true if that end waits for an answer.
fn listen(own: Mac, wanted: Option<Mac>, port: &mut Port) -> Result<Option<(Role, Mac, bool)>, ProbeError> {
    let until = sys::clock::monotonic() + Ns(EVERY_NS);
    loop {
        while let Some(frame) = port.next() {
            let Ok(ethernet) = EthernetView::parse(frame.data()) else {
                continue;
            };
            let peer = ethernet.src();
            if wanted.is_some_and(|wanted| wanted != peer) {
                continue;
            }
            if L2reflectFrame::parse(&ethernet).is_ok_and(|said| said.kind == L2reflectKind::Helo) {
                return Err(ProbeError::Usage(format!(
                    "reflect: the far end {peer} uses the frames of l2reflect: give this end --dialect l2reflect"
                )));
            }
            let Ok(said) = TestFrame::parse(&ethernet) else {
                continue;
            };
            match (said.kind, said.flags) {
                (TestFrameKind::Claim, CLAIM_EITHER) if peer == own => {
                    return Err(ProbeError::Usage(format!(
                        "reflect: the far end has the same address {own}: give one of them --role initiator"
                    )));
                }
                (TestFrameKind::Claim, CLAIM_EITHER) => {
                    let role = if own.0 > peer.0 {
                        Role::Initiator
                    } else {
                        Role::Reflector
                    };
                    return Ok(Some((role, peer, true)));
                }
                (TestFrameKind::Claim, CLAIM_REFLECTOR) => return Ok(Some((Role::Initiator, peer, false))),
                (TestFrameKind::Hello, _) => return Ok(Some((Role::Reflector, peer, false))),
                _ => {}
            }
        }
        let left = until - sys::clock::monotonic();
        let Ok(left) = u64::try_from(left) else {
            return Ok(None);
        };
        if port.wait(left).is_err() {
            sleep_until(until);
        }
    }
}
