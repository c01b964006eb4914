//! The queueing disciplines of an interface, as the kernel lists them (`RTM_GETQDISC`).
//!
//! Only kinds, places in the tree and the parameters of ETF and CBS are read: the rest does not determine when a frame leaves.

use super::request::dump;
use crate::error::SysError;
use netlink_packet_core::NlasIterator;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::TcMessage;

/// `struct tcmsg` (linux/rtnetlink.h): family, index i32 at 4, handle u32 at 8, parent u32 at 12, info u32 at 16.
const HEADER_OCTETS: usize = 20;

/// `TCA_KIND` and `TCA_OPTIONS` (linux/rtnetlink.h).
const KIND: u16 = 1;
const OPTIONS: u16 = 2;
/// `TCA_ETF_PARMS` and the flags of `struct tc_etf_qopt` (linux/pkt_sched.h).
const ETF_PARAMETERS: u16 = 1;
const ETF_DEADLINE_MODE: u32 = 1;
const ETF_OFFLOAD: u32 = 1 << 1;
const ETF_SKIP_SOCK_CHECK: u32 = 1 << 2;

/// `TCA_CBS_PARMS`, of a `struct tc_cbs_qopt` (linux/pkt_sched.h): offload u8, 3 octets unused, then hicredit, locredit, idleslope and
/// sendslope, each i32.
const CBS_PARAMETERS: u16 = 1;

/// The parent of the root discipline (`TC_H_ROOT`).
pub const QDISC_ROOT: u32 = 0xffff_ffff;

/// A queueing discipline of an interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Qdisc {
    /// Its kind: `noqueue`, `pfifo_fast`, `fq_codel`, `mq`, `mqprio`, `taprio`, `etf`.
    pub kind: String,
    /// Its handle: major number in the upper 16 bits; 0 for one that the kernel made by default.
    pub handle: u32,
    /// The class it belongs to, or [`QDISC_ROOT`].
    pub parent: u32,
    /// Its parameters, if it is an ETF.
    pub etf: Option<Etf>,
    /// Its parameters, if it is a credit-based shaper.
    pub cbs: Option<Cbs>,
}

/// Parameters of a credit-based shaper (tc-cbs(8), IEEE 802.1Qav).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cbs {
    /// Rate at which the class gains credit while it waits, in kbit/s: its reserved bandwidth.
    pub idle_slope_kbit: i32,
    /// Rate at which it loses credit while it sends, in kbit/s; negative.
    pub send_slope_kbit: i32,
    /// Most credit in bytes: how much the class sends at once after interference.
    pub high_credit: i32,
    /// Least credit in bytes.
    pub low_credit: i32,
    /// True if the NIC itself shapes.
    pub offload: bool,
}

/// Parameters of an earliest-TxTime-first discipline (tc-etf(8)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Etf {
    /// Clock of the launch times, as clockid_t: `CLOCK_TAI` is 11.
    pub clock: i32,
    /// How long before its launch time a frame is passed to the driver, in ns.
    pub delta_ns: i32,
    /// True if the NIC itself waits for the launch time.
    pub offload: bool,
    /// True if frames leave as soon as possible, and at the latest at the launch time.
    pub deadline_mode: bool,
    /// True if frames of sockets without launch times pass, too.
    pub skip_sock_check: bool,
}

/// The queueing disciplines of the interface `name`, in the kernel's order. Needs no privilege.
///
/// # Errors
/// There is no such interface (the error lists the existing ones), or the netlink socket failed.
pub fn qdiscs(name: &str) -> Result<Vec<Qdisc>, SysError> {
    let index = super::find(name)?.index;
    let mut found = Vec::new();
    let request = RouteNetlinkMessage::GetQueueDiscipline(TcMessage::default());
    dump(&request, "the queueing disciplines", |payload| {
        found.extend(parse(payload).filter(|(of, _)| *of == index).map(|(_, qdisc)| qdisc));
    })?;
    Ok(found)
}

/// Parses one discipline and the index of its interface; `None` if the message does not even have a kind.
fn parse(payload: &[u8]) -> Option<(u32, Qdisc)> {
    let (header, attributes) = payload.split_at_checked(HEADER_OCTETS)?;
    let (mut kind, mut options) = (None, Vec::new());
    for attribute in NlasIterator::new(attributes).flatten() {
        match attribute.kind() {
            KIND => kind = Some(super::parse::text(attribute.value())),
            OPTIONS => options = attribute.value().to_vec(),
            _ => {}
        }
    }
    let kind = kind?;
    let qdisc = Qdisc {
        // For each kind the options are another structure.
        etf: (kind == "etf").then(|| etf_of(&options)).flatten(),
        cbs: (kind == "cbs").then(|| cbs_of(&options)).flatten(),
        kind,
        handle: word(header, 8)?,
        parent: word(header, 12)?,
    };
    Some((word(header, 4)?, qdisc))
}

fn cbs_of(options: &[u8]) -> Option<Cbs> {
    let parameters = NlasIterator::new(options)
        .flatten()
        .find(|attribute| attribute.kind() == CBS_PARAMETERS)?;
    let value = parameters.value();
    let signed = |at| word(value, at).map(u32::cast_signed);
    Some(Cbs {
        offload: *value.first()? != 0,
        high_credit: signed(4)?,
        low_credit: signed(8)?,
        idle_slope_kbit: signed(12)?,
        send_slope_kbit: signed(16)?,
    })
}

fn etf_of(options: &[u8]) -> Option<Etf> {
    let parameters = NlasIterator::new(options)
        .flatten()
        .find(|attribute| attribute.kind() == ETF_PARAMETERS)?;
    let value = parameters.value();
    let flags = word(value, 8)?;
    Some(Etf {
        delta_ns: word(value, 0)?.cast_signed(),
        clock: word(value, 4)?.cast_signed(),
        offload: flags & ETF_OFFLOAD != 0,
        deadline_mode: flags & ETF_DEADLINE_MODE != 0,
        skip_sock_check: flags & ETF_SKIP_SOCK_CHECK != 0,
    })
}

fn word(octets: &[u8], at: usize) -> Option<u32> {
    octets.get(at..)?.first_chunk().map(|word| u32::from_ne_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::{Cbs, Etf, Qdisc, parse, qdiscs};
    use crate::link::parse::tests::attribute;

    fn message(kind: &[u8], options: &[u8]) -> Vec<u8> {
        let mut octets = vec![0; 4];
        for word in [7_u32, 0x8001_0000, 0x0001_0002, 2] {
            octets.extend(word.to_ne_bytes());
        }
        octets.extend(attribute(1, kind));
        octets.extend(attribute(2, options));
        octets.extend(attribute(3_000, b"an attribute of a kernel to come"));
        octets
    }

    fn etf_options() -> Vec<u8> {
        let words = [200_000, 11, 0b110_u32].map(u32::to_ne_bytes);
        attribute(1, words.as_flattened())
    }

    #[test]
    fn reads_an_etf_below_a_taprio() {
        let expected = Qdisc {
            kind: "etf".to_owned(),
            handle: 0x8001_0000,
            parent: 0x0001_0002,
            etf: Some(Etf {
                clock: libc::CLOCK_TAI,
                delta_ns: 200_000,
                offload: true,
                deadline_mode: false,
                skip_sock_check: true,
            }),
            cbs: None,
        };
        assert_eq!(parse(&message(b"etf\0", &etf_options())), Some((7, expected)));
    }

    #[test]
    fn the_options_of_others_are_not_taken_for_an_etf() {
        let (_, qdisc) = parse(&message(b"tbf\0", &etf_options())).expect("a discipline");
        assert_eq!((qdisc.kind.as_str(), qdisc.etf), ("tbf", None));
    }

    /// The values of the example in tc-cbs(8): 20 Mbit/s of class A on a port of 1 Gbit/s.
    fn cbs_options() -> Vec<u8> {
        let words = [30_i32, -1_470, 20_000, -980_000].map(i32::to_ne_bytes);
        attribute(1, &[&[1, 0, 0, 0][..], words.as_flattened()].concat())
    }

    #[test]
    fn reads_a_credit_based_shaper() {
        let (_, qdisc) = parse(&message(b"cbs\0", &cbs_options())).expect("a discipline");
        let expected = Cbs {
            idle_slope_kbit: 20_000,
            send_slope_kbit: -980_000,
            high_credit: 30,
            low_credit: -1_470,
            offload: true,
        };
        assert_eq!((qdisc.cbs, qdisc.etf), (Some(expected), None));
        let (_, other) = parse(&message(b"etf\0", &cbs_options())).expect("a discipline");
        assert_eq!(other.cbs, None);
        for length in 0..cbs_options().len() {
            let cut = cbs_options()[..length].to_vec();
            assert_eq!(
                parse(&message(b"cbs\0", &cut)).and_then(|(_, qdisc)| qdisc.cbs),
                None,
                "{length}"
            );
        }
    }

    #[test]
    fn a_message_cut_anywhere_does_not_panic() {
        let whole = message(b"etf\0", &etf_options());
        for length in 0..whole.len() {
            let _ = parse(&whole[..length]);
        }
        assert_eq!(parse(&whole[..20]), None);
    }

    #[test]
    fn loopback_has_no_queue() {
        let kinds: Vec<String> = qdiscs("lo").expect("a list").into_iter().map(|q| q.kind).collect();
        assert_eq!(kinds, ["noqueue"]);
    }
}
