//! Signatures of the GOOSE messages that a relay uses as inputs. Their values are the relay's own business.

use super::SubscribeConfig;
use super::notice::Notice;
use super::proofs::Proofs;
use super::series::DELIVERY;
use run::Feed;
use units::Monotonic;
use wire::ether::VlanTag;
use wire::goose::Frame;
use wire::routed::Proof;

/// The control blocks of a relay's inputs, and counts of their messages whose signatures are not known to be right.
pub(super) struct Inputs(Vec<(String, Proofs)>);

impl Inputs {
    /// Those of the configured relay, without any message; none without a relay.
    pub(super) fn of(config: &SubscribeConfig) -> Self {
        let named = config.relay.iter().flat_map(|relay| &relay.inputs);
        Self(named.map(|name| (name.clone(), Proofs::default())).collect())
    }

    /// Counts a datagram for the input that it names; the first of each kind is told at once.
    pub(super) fn proved(&mut self, data: &[u8], vlan: Option<VlanTag>, proof: Proof, at: Monotonic, feed: &mut Feed) {
        if let Some(Ok(frame)) = Frame::within(data, vlan) {
            self.count(&frame, proof, at, feed);
        }
    }

    /// Looks for the signature of layer 2 in a message that was used; it is not checked.
    pub(super) fn used(&mut self, data: &[u8], vlan: Option<VlanTag>, at: Monotonic, feed: &mut Feed) {
        if self.0.is_empty() {
            return;
        }
        if let Some(Ok(frame)) = Frame::within(data, vlan)
            && frame.header().extension_octets() > 0
        {
            self.count(&frame, Proof::NotChecked, at, feed);
        }
    }

    fn count(&mut self, frame: &Frame<'_>, proof: Proof, at: Monotonic, feed: &mut Feed) {
        let mut numbered = (0..).zip(&mut self.0);
        let input = numbered.find(|(_, (name, _))| name.as_bytes() == frame.gocb_ref());
        if let Some((number, (_, proofs))) = input
            && proofs.count(proof) == 1
        {
            feed.notice(DELIVERY, Notice::InputProof(proof), at, 1, number);
        }
    }

    /// Tells the totals; called once.
    pub(super) fn end(&self, now: Monotonic, feed: &mut Feed) {
        for (number, (_, proofs)) in (0..).zip(&self.0) {
            for (proof, count) in proofs.repeated() {
                feed.notice(DELIVERY, Notice::InputProof(proof), now, count, number);
            }
        }
    }
}
