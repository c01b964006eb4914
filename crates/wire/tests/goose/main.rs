//! Whole histories of GOOSE publishers passed to the supervisor: its counts are compared with what was really done.

mod cases;
mod histories;
mod publisher;

use wire::ether::{EthernetView, Mac};
use wire::goose::{Frame, Heard, Message, Supervisor, Value, Verdict};
use wire::time::{TimeQuality, UtcTime};

/// Source address of the publisher of the block.
const OWNER: Mac = Mac([2, 0, 0, 0, 0, 1]);
/// Source address of another publisher.
const OTHER: Mac = Mac([2, 0, 0, 0, 0, 2]);

/// A message of the block's publisher: `t_ms` is the beginning of its state, `value` its value.
fn message(st_num: u32, sq_num: u32, t_ms: i64, value: i64) -> Message {
    Message {
        dst: Mac([1, 0x0c, 0xcd, 1, 0, 1]),
        src: OWNER,
        tags: Vec::new(),
        appid: 1,
        simulate: false,
        gocb_ref: b"IED1LD0/LLN0$GO$gcbTrip".to_vec(),
        time_allowed_to_live: 2_000,
        dat_set: b"IED1LD0/LLN0$dsTrip".to_vec(),
        go_id: None,
        t: UtcTime::from_ns((1_000_000 + t_ms) * 1_000_000, TimeQuality(0)),
        st_num,
        sq_num,
        simulation: false,
        conf_rev: 1,
        nds_com: false,
        all_data: vec![Value::Integer(value)],
    }
}

fn at(ns: i64) -> Heard {
    Heard::at(Some(ns))
}

/// Gives the supervisor a message that arrived at `ns`.
fn give(supervisor: &mut Supervisor, message: &Message, ns: i64) -> Verdict {
    let octets = message.encode().expect("it can be encoded");
    let ethernet = EthernetView::parse(&octets).expect("Ethernet");
    supervisor.accept(&Frame::parse(&ethernet).expect("GOOSE"), at(ns))
}

/// True if the supervisor has no doubt about the block.
fn is_clean(supervisor: &Supervisor) -> bool {
    supervisor.rules().lost() == 0 && supervisor.counts().expired == 0 && !supervisor.is_in_doubt()
}
