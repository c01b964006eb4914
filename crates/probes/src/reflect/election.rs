//! How an end finds out by itself whether it sends or returns.
//!
//! Every end that will do either broadcasts a claim ten times a second. Of two such ends the one with the larger hardware
//! address sends, as DPDK's l2reflect has it; an end that was told its role keeps it, and the other takes what is left.

use super::{ReflectConfig, Role, nobody_answers};
use crate::error::ProbeError;
use crate::port::Port;
use run::Stop;
use sys::SysError;
use sys::wait::sleep_until;
use units::Ns;
use wire::ether::{EthernetView, Mac};
use wire::test_frame::{CLAIM_EITHER, CLAIM_REFLECTOR, TestFrame, TestFrameKind};

/// Time between claims.
const EVERY_NS: u64 = 100_000_000;

/// The role of this end and the address of the other, found within the configuration's patience; `None` when told to stop
/// before.
///
/// # Errors
/// Nobody there, both ends have one address, or what the kernel refused.
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
                // The other end has to know as well, and may not have seen our broadcast.
                bear(port.send(&claim.encode(peer, own, config.vlan, 0)))?;
            }
            return Ok(Some((role, peer)));
        }
    }
    Ok(None)
}

/// A queue that is full and a link that is down for the moment are not the end.
fn bear(outcome: Result<(), SysError>) -> Result<(), ProbeError> {
    match outcome {
        Err(error) if !error.is_passing() => Err(error.into()),
        _ => Ok(()),
    }
}

/// Waits one interval for what decides: our role, the other end, and whether it waits for an answer.
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
