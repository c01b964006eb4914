//! Virtual functions of network cards, as the driver of the card has configured them.

use super::parse::{self, HEADER_OCTETS, number};
use super::request::dump;
use crate::error::SysError;
use netlink_packet_core::NlasIterator;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkExtentMask, LinkMessage};

/// `IFLA_VFINFO_LIST` and `IFLA_VF_INFO` (linux/if_link.h).
const FUNCTIONS: u16 = 22;
const FUNCTION: u16 = 1;
/// `IFLA_VF_*`: each a structure that begins with the number of the function (linux/if_link.h).
const VLAN: u16 = 2;
const TX_RATE: u16 = 3;
const SPOOF_CHECK: u16 = 4;
const LINK_STATE: u16 = 5;
const RATES: u16 = 6;
const TRUST: u16 = 9;
/// `IFLA_VF_LINK_STATE_DISABLE`.
const SWITCHED_OFF: u32 = 2;
/// The kernel's preset, -1, which stays if a driver does not report the value (net/core/rtnetlink.c, rtnl_fill_vfinfo).
const NOT_TOLD: u32 = u32::MAX;

/// A virtual function of a card. `None`: its driver does not report the value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VirtualFunction {
    /// The interface of the card that it belongs to.
    pub port: String,
    /// Its number on that card.
    pub number: u32,
    /// True if it may receive all frames and join any number of groups.
    pub trusted: Option<bool>,
    /// True if frames with a source address other than its own are dropped.
    pub spoof_check: Option<bool>,
    /// The VLAN that the card assigns it to; 0: none.
    pub vlan: Option<u32>,
    /// Largest rate at which it may send, in Mbit/s; 0: no limit.
    pub most_mbit: Option<u32>,
    /// True if its link is switched off.
    pub switched_off: Option<bool>,
}

/// The virtual functions of the cards in the calling thread's network namespace.
///
/// # Errors
/// Error of the netlink socket.
pub fn virtual_functions() -> Result<Vec<VirtualFunction>, SysError> {
    let mut message = LinkMessage::default();
    message.attributes = vec![LinkAttribute::ExtMask(vec![LinkExtentMask::Vf])];
    let mut found = Vec::new();
    let request = RouteNetlinkMessage::GetLink(message);
    dump(&request, "the virtual functions of network cards", |payload| {
        found.extend(functions(payload));
    })?;
    Ok(found)
}

fn functions(payload: &[u8]) -> Vec<VirtualFunction> {
    let (Some(link), Some((_, attributes))) = (parse::link(payload), payload.split_at_checked(HEADER_OCTETS)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for list in NlasIterator::new(attributes)
        .flatten()
        .filter(|one| one.kind() == FUNCTIONS)
    {
        let all = NlasIterator::new(list.value()).flatten();
        let all = all.filter(|one| one.kind() == FUNCTION);
        found.extend(all.filter_map(|one| function(&link.name, one.value())));
    }
    found
}

/// Parses one function; `None` if no attribute has its number.
fn function(port: &str, attributes: &[u8]) -> Option<VirtualFunction> {
    let mut function = VirtualFunction {
        port: port.to_owned(),
        ..VirtualFunction::default()
    };
    let mut which = None;
    for one in NlasIterator::new(attributes).flatten() {
        let (words, _) = one.value().as_chunks::<4>();
        let word = |place: usize| words.get(place).map(|word| u32::from_ne_bytes(*word));
        let flag = || {
            word(1)
                .filter(|setting| *setting != NOT_TOLD)
                .map(|setting| setting != 0)
        };
        match one.kind() {
            VLAN => function.vlan = word(1),
            // The older form, from before a minimum rate could be set.
            TX_RATE => function.most_mbit = function.most_mbit.or(word(1)),
            RATES => function.most_mbit = word(2),
            SPOOF_CHECK => function.spoof_check = flag(),
            TRUST => function.trusted = flag(),
            LINK_STATE => function.switched_off = word(1).map(|state| state == SWITCHED_OFF),
            _ => continue,
        }
        which = which.or(number(one.value().get(..4)?));
    }
    function.number = which?;
    Some(function)
}

#[cfg(test)]
mod tests {
    use super::super::parse::tests::attribute;
    use super::{VirtualFunction, functions};

    fn words(kind: u16, words: &[u32]) -> Vec<u8> {
        attribute(
            kind,
            &words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<_>>(),
        )
    }

    fn message(all: &[Vec<u8>]) -> Vec<u8> {
        let mut octets = vec![0, 0, 1, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        octets.extend(attribute(libc::IFLA_IFNAME, b"eno1\0"));
        let all: Vec<u8> = all.iter().flat_map(|one| attribute(1, one)).collect();
        octets.extend(attribute(22, &all));
        octets
    }

    fn full() -> Vec<u8> {
        [
            attribute(1, &[0; 36]),
            words(2, &[3, 100, 4]),
            words(3, &[3, 50]),
            words(4, &[3, 1]),
            words(5, &[3, 2]),
            words(6, &[3, 0, 70]),
            words(9, &[3, 0]),
        ]
        .concat()
    }

    #[test]
    fn each_setting_is_read() {
        let expected = VirtualFunction {
            port: "eno1".to_owned(),
            number: 3,
            trusted: Some(false),
            spoof_check: Some(true),
            vlan: Some(100),
            most_mbit: Some(70),
            switched_off: Some(true),
        };
        assert_eq!(functions(&message(&[full()])), [expected]);
    }

    #[test]
    fn a_driver_that_does_not_tell_has_not_said_off() {
        let silent = [words(2, &[0, 0, 0]), words(4, &[0, u32::MAX]), words(9, &[0, u32::MAX])].concat();
        let found = functions(&message(&[silent]));
        let told = found
            .iter()
            .map(|one| (one.trusted, one.spoof_check, one.vlan, one.most_mbit));
        assert_eq!(told.collect::<Vec<_>>(), [(None, None, Some(0), None)]);
    }

    #[test]
    fn a_message_cut_anywhere_does_not_panic() {
        let whole = message(&[full(), full()]);
        for length in 0..whole.len() {
            let _ = functions(&whole[..length]);
        }
    }
}
