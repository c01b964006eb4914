//! `Communication`: the addresses to which control blocks send.

use crate::error::Warning;
use crate::model::Address;
use crate::xml::{Element, Lines};
use std::collections::{HashMap, HashSet};
use units::{Refusal, refusal};
use wire::ether::{Mac, VlanTag};

/// Priority of a tag without a stated priority (IEC 61850-8-1, 9-2).
const DEFAULT_PRIORITY: u8 = 4;

/// The kind of a control block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum BlockKind {
    SampledValues,
    Goose,
}

impl BlockKind {
    /// The element in `Communication`.
    pub(crate) fn element(self) -> &'static str {
        match self {
            Self::SampledValues => "SMV",
            Self::Goose => "GSE",
        }
    }

    /// The element in the logical node.
    pub(crate) fn control(self) -> &'static str {
        match self {
            Self::SampledValues => "SampledValueControl",
            Self::Goose => "GSEControl",
        }
    }

    fn multicast(self) -> [u8; 4] {
        match self {
            Self::SampledValues => [0x01, 0x0c, 0xcd, 0x04],
            Self::Goose => [0x01, 0x0c, 0xcd, 0x01],
        }
    }
}

/// Key of the address of a control block: kind, IED, logical device, name.
pub(crate) type Key<'a> = (BlockKind, &'a str, &'a str, &'a str);

/// The addresses of a file.
#[derive(Debug, Default)]
pub(crate) struct Addresses<'a, 'input>(HashMap<Key<'a>, Vec<(&'a str, Element<'a, 'input>)>>);

impl<'a, 'input> Addresses<'a, 'input> {
    pub(crate) fn of(root: Element<'a, 'input>) -> Self {
        let mut addresses = Self::default();
        let networks = root.named("Communication").flat_map(|all| all.named("SubNetwork"));
        for access in networks.flat_map(|network| network.named("ConnectedAP")) {
            for kind in [BlockKind::SampledValues, BlockKind::Goose] {
                for element in access.named(kind.element()) {
                    let key = (
                        kind,
                        access.text_of("iedName"),
                        element.text_of("ldInst"),
                        element.text_of("cbName"),
                    );
                    addresses
                        .0
                        .entry(key)
                        .or_default()
                        .push((access.text_of("apName"), element));
                }
            }
        }
        addresses
    }

    /// The elements of one control block with their access points, that of its own server first.
    pub(crate) fn find(
        &self,
        kind: BlockKind,
        ied: &str,
        ld: &str,
        name: &str,
        own: &str,
    ) -> Vec<(&'a str, Element<'a, 'input>)> {
        let mut found = self.0.get(&(kind, ied, ld, name)).cloned().unwrap_or_default();
        found.sort_by_key(|(access_point, _)| *access_point != own);
        found
    }

    /// Addresses that belong to none of `blocks`, in the order of the file.
    pub(crate) fn without_block(&self, blocks: &HashSet<Key<'a>>, lines: &Lines) -> Vec<Warning> {
        let alone = self.0.iter().filter(|(key, _)| !blocks.contains(*key));
        let mut warnings: Vec<Warning> = alone
            .flat_map(|((kind, ied, ld, name), elements)| {
                let of = format!("{} of {name}", kind.element());
                let control = kind.control();
                let what = format!(
                    "IED {ied} has no {control} `{name}` in logical device `{ld}`: it is not known what is sent to this address"
                );
                let problem = move |(_, element): &(_, Element<'_, '_>)| lines.problem(*element, of.clone(), what.clone());
                elements.iter().map(problem)
            })
            .collect();
        warnings.sort_by_key(|warning| warning.line);
        warnings
    }
}

/// The address in a `GSE` or `SMV`.
///
/// # Errors
/// A value is missing or impossible; the message says what to do.
pub(crate) fn read(
    element: Element<'_, '_>,
    kind: BlockKind,
    lines: &Lines,
    warnings: &mut Vec<Warning>,
) -> Result<Address, Refusal> {
    let parts: Vec<Element<'_, '_>> = element
        .first("Address")
        .map(|all| all.named("P").collect())
        .unwrap_or_default();
    let part = |name: &str| {
        parts
            .iter()
            .find(|part| part.text_of("type") == name)
            .map(|part| part.content())
            .filter(|text| !text.is_empty())
    };
    let name = format!("{} of {}", element.name(), element.text_of("cbName"));
    let mut warn = |what: String| warnings.push(lines.problem(element, name.clone(), what));
    let missing =
        |what: &str, example: &str| refusal!("its address has no {what}: add <P type=\"{what}\">{example}</P>");

    let mac = part("MAC-Address").ok_or_else(|| missing("MAC-Address", "01-0C-CD-04-00-01"))?;
    let mac: Mac = mac.parse().map_err(|_| {
        refusal!("MAC-Address `{mac}` is not valid: write six octets in hexadecimal, such as 01-0C-CD-04-00-01")
    })?;
    if mac.0[..4] != kind.multicast() {
        let [a, b, c, d] = kind.multicast();
        warn(format!(
            "MAC-Address {mac} is outside {a:02x}:{b:02x}:{c:02x}:{d:02x}:00:00 to …:01:ff, where these frames belong"
        ));
    }
    let appid = part("APPID").ok_or_else(|| missing("APPID", "4000"))?;
    let appid = hexadecimal(appid)
        .ok_or_else(|| refusal!("APPID `{appid}` is not valid: write four hexadecimal digits, such as 4000"))?;
    if kind == BlockKind::SampledValues && !(0x4000..=0x7fff).contains(&appid) {
        warn(format!(
            "APPID {appid:04X} is outside 4000 to 7FFF, where sampled values belong"
        ));
    }
    let vid = match part("VLAN-ID") {
        None => None,
        Some(text) => Some(hexadecimal(text).filter(|vid| *vid <= 0x0fff).ok_or_else(|| {
            refusal!("VLAN-ID `{text}` is not valid: write three hexadecimal digits, such as 064 for VLAN 100")
        })?),
    };
    let priority = match part("VLAN-PRIORITY") {
        None => None,
        Some(text) => Some(
            text.parse::<u8>()
                .ok()
                .filter(|priority| *priority <= 7)
                .ok_or_else(|| refusal!("VLAN-PRIORITY `{text}` is not valid: write 0 to 7"))?,
        ),
    };
    let vlan = match (vid, priority) {
        (None, None) => {
            warn("its address has neither VLAN-ID nor VLAN-PRIORITY: taken as frames without a tag".into());
            None
        }
        (vid, priority) => Some(VlanTag::new(
            priority.unwrap_or(DEFAULT_PRIORITY),
            false,
            vid.unwrap_or(0),
        )),
    };
    Ok(Address { mac, appid, vlan })
}

/// Digits, with or without `0x`.
fn hexadecimal(text: &str) -> Option<u16> {
    let digits = text
        .strip_prefix("0x")
        .or_else(|| text.strip_prefix("0X"))
        .unwrap_or(text);
    let plain = !digits.is_empty() && digits.bytes().all(|octet| octet.is_ascii_hexdigit());
    u16::from_str_radix(digits, 16).ok().filter(|_| plain)
}
