//! Supervision of a GOOSE subscription (LGOS).

use wire::goose::Supervisor;

/// LGOS of one control block: its data objects, from the supervisor of its messages. The rules are in [`wire::goose::Supervisor`] (IEC 61850-8-1, as
/// in our reference, section 1.7.2): `subscribe`, `pcap` and the relay use the same rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lgos {
    /// True if the subscription is active (`St`): a message has arrived, and its time allowed to live has not expired.
    pub active: bool,
    /// True if the publisher needs commissioning, or its configuration is not the expected one (`NdsCom`).
    pub needs_commissioning: bool,
    /// True if simulated messages are accepted (`SimSt`).
    pub simulated: bool,
    /// Number of the last state (`LastStNum`); 0 before the first message.
    pub last_st_num: u32,
    /// Configuration revision of the last message (`ConfRevNum`); 0 before the first message.
    pub conf_rev: u32,
    /// True if the values can be used. The behaviour of a function without them (ignoring a block, or omitting a trip) is a setting of the relay.
    pub usable: bool,
    /// True if the counts are doubtful because of a restart, a second publisher, or refused messages.
    pub doubtful: bool,
}

impl Lgos {
    /// The present status. The supervisor must have checked its clock before ([`Supervisor::expire`]).
    #[must_use]
    pub fn of(supervisor: &Supervisor) -> Self {
        let active = supervisor.rules().is_live();
        let usable = supervisor.is_usable();
        let marks = supervisor.marks();
        Self {
            active,
            needs_commissioning: active && !usable,
            simulated: marks.is_some_and(|marks| marks.simulation),
            last_st_num: supervisor.rules().last().map_or(0, |numbers| numbers.st_num),
            conf_rev: marks.map_or(0, |marks| marks.conf_rev),
            usable,
            doubtful: supervisor.is_in_doubt(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Lgos;
    use wire::ether::{EthernetView, Mac, VlanTag};
    use wire::goose::{Expectation, Frame, Heard, Message, Settings, Supervisor, Value};
    use wire::time::UtcTime;

    fn message(st_num: u32, sq_num: u32) -> Message {
        Message {
            dst: Mac([1, 0x0c, 0xcd, 1, 0, 1]),
            src: Mac([2, 0, 0, 0, 0, 1]),
            tags: vec![VlanTag::new(4, false, 0)],
            appid: 1,
            simulate: false,
            gocb_ref: b"IED1LD0/LLN0$GO$gcbTrip".to_vec(),
            time_allowed_to_live: 2000,
            dat_set: b"IED1LD0/LLN0$dsTrip".to_vec(),
            go_id: None,
            t: UtcTime::default(),
            st_num,
            sq_num,
            simulation: false,
            conf_rev: 1,
            nds_com: false,
            all_data: vec![Value::Boolean(true)],
        }
    }

    /// The state after these messages, 10 ms apart, and then `silent_ms`.
    fn after(messages: &[Message], silent_ms: i64) -> Lgos {
        let expectation = Expectation {
            conf_rev: Some(1),
            ..Expectation::default()
        };
        let mut supervisor = Supervisor::new(Settings::default(), expectation);
        let mut now = 0;
        for message in messages {
            now += 10_000_000;
            let bytes = message.encode().expect("a message");
            let ethernet = EthernetView::parse(&bytes).expect("Ethernet");
            let frame = Frame::parse(&ethernet).expect("GOOSE");
            supervisor.accept(&frame, Heard(Some(now)));
        }
        supervisor.expire(Heard(Some(now + silent_ms * 1_000_000)));
        Lgos::of(&supervisor)
    }

    #[test]
    fn the_state_is_that_of_the_subscription() {
        assert_eq!(
            after(&[], 0),
            Lgos {
                doubtful: after(&[], 0).doubtful,
                ..Lgos::default()
            }
        );
        let fine = after(&[message(7, 3), message(7, 4)], 100);
        assert!(fine.active && fine.usable && !fine.needs_commissioning && !fine.simulated && !fine.doubtful);
        assert_eq!((fine.last_st_num, fine.conf_rev), (7, 1));
        let silent = after(&[message(7, 3), message(7, 4)], 2001);
        assert!(!silent.active && !silent.usable);
    }

    #[test]
    fn what_is_not_configured_is_not_usable() {
        let uncommissioned = Message {
            nds_com: true,
            ..message(7, 4)
        };
        let found = after(&[message(7, 3), uncommissioned], 0);
        assert!(found.active && found.needs_commissioning && !found.usable);
        let other = Message {
            conf_rev: 2,
            ..message(7, 4)
        };
        let found = after(&[message(7, 3), other], 0);
        assert!(found.active && found.needs_commissioning && !found.usable && found.doubtful);
        let simulated = Message {
            simulate: true,
            simulation: true,
            ..message(7, 4)
        };
        assert!(after(&[message(7, 3), simulated], 0).simulated);
    }
}
