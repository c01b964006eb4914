//! Datagrams of R-GOOSE and R-SV among the received frames: their messages as frames of layer 2, and the check of their signatures.

use super::{Account, Arrival};
use run::Feed;
use wire::ether::{self, EthernetView, VlanTag};
use wire::routed::{Datagram, Key, Proof, SpduNumbers, Unwrapper};

/// Messages of layer 2: with keys they are refused, since no signature of theirs is checked.
const MESSAGES: [u16; 2] = [ether::SV, ether::GOOSE];

/// Reads datagrams. Only its creation allocates.
#[derive(Debug, Default)]
pub(crate) struct Routed {
    unwrapper: Unwrapper,
    keys: Vec<Key>,
    numbers: SpduNumbers,
}

impl Routed {
    /// Checks signatures with these keys; without any, none is checked.
    pub(crate) fn new(keys: Vec<Key>) -> Self {
        Self {
            keys,
            ..Self::default()
        }
    }

    /// Accounts for each message of a datagram; returns the number of those that count. Any other frame, an encrypted datagram and one that
    /// breaks a rule is accounted for as it came. A message whose datagram is refused is not used, nor with keys one of layer 2.
    #[inline]
    pub(crate) fn take(
        &mut self,
        data: &[u8],
        vlan: Option<VlanTag>,
        arrival: &Arrival,
        account: &mut impl Account,
        feed: &mut Feed,
    ) -> u64 {
        let ethernet = EthernetView::with_tag(data, vlan);
        let Some(Ok(datagram)) = ethernet.as_ref().ok().and_then(Datagram::within) else {
            if !self.keys.is_empty() && ethernet.is_ok_and(|frame| MESSAGES.contains(&frame.ether_type())) {
                account.proved(data, vlan, Proof::Unsigned, arrival, feed);
                return 0;
            }
            return u64::from(account.take(data, vlan, arrival, feed));
        };
        let proof = Proof::followed(&datagram, &self.keys, &mut self.numbers);
        let mut accepted = 0;
        // True without a message that can be read, and behind one that cannot.
        let mut is_unread = true;
        for message in datagram.messages() {
            is_unread = message.is_err();
            let Ok(message) = message else { break };
            let frame = self.unwrapper.frame(&message);
            if proof.place().is_some() {
                account.proved(frame, vlan, proof, arrival, feed);
            }
            if !proof.is_refused() {
                accepted += u64::from(account.take(frame, vlan, arrival, feed));
            }
        }
        if is_unread {
            account.take(data, vlan, arrival, feed);
        }
        accepted
    }
}
