use super::super::client::{DaemonState, PtpError};
use super::{Found, Judge, Look, Rules};
use ::relay::ptp::PtpState;
use model::EventKind;
use units::Monotonic;
use wire::ptp::{
    ClockIdentity, ClockQuality, CurrentData, ParentData, PortData, PortIdentity, PortState, TimeFlags, TimeProperties,
    TimeStatus,
};

const OWN: ClockIdentity = ClockIdentity([1; 8]);
const MASTER: ClockIdentity = ClockIdentity([2; 8]);
const OTHER: ClockIdentity = ClockIdentity([3; 8]);
const SECOND_NS: i64 = 1_000_000_000;

fn rules() -> Rules {
    Rules {
        limit_ns: 1_000,
        own: Some(OWN),
        grandmaster: false,
    }
}

/// A slave whose last Sync message came at `ingress_ns`.
fn slave(offset_ns: i64, ingress_ns: i64) -> DaemonState {
    let identity = PortIdentity { clock: OWN, port: 1 };
    DaemonState {
        status: TimeStatus {
            master_offset_ns: offset_ns,
            ingress_ns,
            rate_offset: 0,
            grandmaster_present: true,
            grandmaster: MASTER,
        },
        current: CurrentData {
            steps_removed: 1,
            offset_ns,
            mean_path_delay_ns: 500,
        },
        parent: ParentData {
            parent: PortIdentity { clock: MASTER, port: 1 },
            grandmaster_quality: ClockQuality::default(),
            grandmaster: MASTER,
        },
        properties: Some(TimeProperties {
            utc_offset_s: 37,
            flags: TimeFlags::default(),
            source: 0x20,
        }),
        ports: vec![PortData {
            identity,
            state: PortState::Slave,
            peer_delay_ns: 700,
            log_sync_interval: 0,
            announce_timeout: 3,
            log_announce_interval: 0,
            delay_mechanism: 1,
            version: 2,
        }],
    }
}

fn in_state(state: PortState) -> DaemonState {
    let mut answer = slave(0, 0);
    answer.ports[0].state = state;
    answer
}

/// A clock without a master other than itself.
fn reigning() -> DaemonState {
    let mut answer = in_state(PortState::Master);
    answer.parent.grandmaster = OWN;
    answer.status.grandmaster_present = false;
    answer
}

/// Reads the state once a second from second 1 on.
struct Story {
    judge: Judge,
    second: i64,
}

impl Story {
    fn new(rules: Rules) -> Self {
        Self {
            judge: Judge::new(rules),
            second: 0,
        }
    }

    fn see(&mut self, look: &Look) -> Found {
        self.second += 1;
        self.judge.look(Monotonic::from_ns(self.second * SECOND_NS), look)
    }

    fn hear(&mut self, answer: DaemonState) -> Found {
        self.see(&Look {
            ptp: Some(Ok(answer)),
            ..Look::default()
        })
    }
}

/// Events without their texts: second and kind.
fn said(found: &Found) -> Vec<(i64, EventKind)> {
    let brief = |(at, kind, _): &(Monotonic, EventKind, String)| (at.as_ns() / SECOND_NS, *kind);
    found.said.iter().map(brief).collect()
}

#[test]
fn a_good_clock_is_said_to_be_once_and_measured_at_each_sync() {
    let mut story = Story::new(rules());
    let first = story.hear(slave(-300, 1));
    assert_eq!(said(&first), [(1, EventKind::ClockGood)]);
    assert_eq!(
        (first.offset_ns, first.delay_ns, first.missing),
        (Some(-300), Some(500), false)
    );
    let second = story.hear(slave(200, 2));
    assert_eq!((said(&second), second.offset_ns), (vec![], Some(200)));
    let again = story.hear(slave(200, 2));
    assert_eq!(
        (again.offset_ns, again.missing),
        (None, false),
        "the same message is no new figure"
    );
}

#[test]
fn trouble_is_dated_back_to_the_last_good_look_and_ends_after_two_calm_ones() {
    let mut story = Story::new(rules());
    story.hear(slave(0, 1));
    story.hear(slave(0, 2));
    let bad = story.hear(slave(-1_001, 3));
    assert_eq!(said(&bad), [(2, EventKind::ClockDoubt)]);
    assert_eq!(bad.said[0].2, "offset from the master -1.00 µs, over 1.00 µs");
    assert_eq!(
        said(&story.hear(slave(5_000, 4))),
        [],
        "the same trouble is reported once"
    );
    assert_eq!(said(&story.hear(slave(1_000, 5))), []);
    assert_eq!(said(&story.hear(slave(0, 6))), [(6, EventKind::ClockGood)]);
}

#[test]
fn a_port_that_leaves_its_state_is_told_and_doubted() {
    let mut story = Story::new(rules());
    story.hear(slave(0, 1));
    let lost = story.hear(in_state(PortState::Uncalibrated));
    assert_eq!(said(&lost), [(2, EventKind::TimeSync), (1, EventKind::ClockDoubt)]);
    assert_eq!(lost.said[0].2, "port 1: SLAVE to UNCALIBRATED");
    let worse = story.hear(in_state(PortState::Listening));
    assert_eq!(
        said(&worse),
        [(3, EventKind::TimeSync), (3, EventKind::ClockDoubt)],
        "another trouble"
    );
    assert!(worse.missing);
}

#[test]
fn another_grandmaster_is_a_doubt_though_all_else_is_well() {
    let mut story = Story::new(rules());
    story.hear(slave(0, 1));
    let with = |ingress_ns| {
        let mut answer = slave(0, ingress_ns);
        answer.parent.grandmaster = OTHER;
        answer
    };
    let changed = story.hear(with(2));
    assert_eq!(said(&changed), [(2, EventKind::TimeSync), (1, EventKind::ClockDoubt)]);
    assert_eq!(said(&story.hear(with(3))), []);
    assert_eq!(said(&story.hear(with(4))), [(4, EventKind::ClockGood)]);
}

#[test]
fn silence_of_the_master_is_holdover_from_its_last_message_on() {
    let mut story = Story::new(rules());
    story.hear(slave(0, 1));
    story.hear(slave(0, 2));
    for _ in 3..=6 {
        assert_eq!(said(&story.hear(slave(0, 2))), []);
    }
    let silent = story.hear(slave(0, 2));
    assert_eq!(said(&silent), [(2, EventKind::ClockDoubt)]);
    assert!(silent.missing && silent.said[0].2.contains("holdover"), "{silent:?}");
}

#[test]
fn a_clock_that_rules_itself_is_good_only_where_that_is_meant() {
    let mut alone = Story::new(rules());
    assert_eq!(said(&alone.hear(reigning())), [(1, EventKind::ClockDoubt)]);
    let mut meant = Story::new(Rules {
        grandmaster: true,
        ..rules()
    });
    let found = meant.hear(reigning());
    assert_eq!(said(&found), [(1, EventKind::ClockGood)]);
    assert_eq!((found.offset_ns, found.missing), (None, false));
}

fn silent() -> PtpError {
    PtpError::Silent {
        path: "/run/ptp".into(),
        asked: "50 ms".into(),
    }
}

#[test]
fn a_silent_daemon_that_turns_out_to_be_gone_is_told_once_more() {
    let gone = PtpError::Gone {
        path: "/run/ptp".into(),
        why: "refused".into(),
        processes: String::new(),
    };
    let look = |error: &PtpError| Look {
        ptp: Some(Err(error.clone())),
        ..Look::default()
    };
    let mut story = Story::new(rules());
    let told: Vec<usize> = [silent(), silent(), gone.clone(), gone]
        .iter()
        .map(|error| said(&story.see(&look(error))).len())
        .collect();
    assert_eq!(told, [1, 0, 1, 0]);
}

#[test]
fn a_silent_daemon_a_step_and_the_cards_clock_are_doubts() {
    let good = || Look {
        ptp: Some(Ok(slave(0, 1))),
        ..Look::default()
    };
    let cases: [(Look, &str); 4] = [
        (
            Look {
                ptp: Some(Err(silent())),
                ..Look::default()
            },
            "ptp4l does not answer: /run/ptp: no answer from ptp4l in 50 ms",
        ),
        (
            Look {
                step_ns: Some(-2_000_000),
                ..good()
            },
            "the wall clock stepped by -2.00 ms",
        ),
        (
            Look {
                card: Some(Ok(1_001)),
                ..good()
            },
            "the system clock is 1.00 µs from the network card's, over 1.00 µs",
        ),
        (
            Look {
                card: Some(Err("no /dev/ptp0".into())),
                ..good()
            },
            "the system clock's distance from the network card's is not known: no /dev/ptp0",
        ),
    ];
    for (look, text) in cases {
        let mut story = Story::new(rules());
        story.see(&good());
        let found = story.see(&look);
        assert_eq!(said(&found), [(1, EventKind::ClockDoubt)], "{text}");
        assert_eq!(found.said[0].2, text);
    }
}

#[test]
fn without_ptp4l_the_kernels_word_counts() {
    let mut story = Story::new(Rules { own: None, ..rules() });
    assert_eq!(said(&story.see(&Look::default())), [(1, EventKind::ClockGood)]);
    let lost = Look {
        unsynchronised: Some("nothing keeps it".into()),
        ..Look::default()
    };
    assert_eq!(said(&story.see(&lost)), [(1, EventKind::ClockDoubt)]);
}

#[test]
fn leap_seconds_and_offsets_from_tai_are_told() {
    let mut story = Story::new(rules());
    story.hear(slave(0, 1));
    let mut leaping = slave(0, 2);
    leaping.properties = Some(TimeProperties {
        utc_offset_s: 38,
        flags: TimeFlags {
            leap_61: true,
            ..TimeFlags::default()
        },
        source: 0x20,
    });
    let found = story.hear(leaping);
    assert_eq!(said(&found), [(2, EventKind::TimeSync); 2]);
    assert!(found.said[1].2.contains("61 seconds"), "{found:?}");
}

#[test]
fn ptp_is_synchronised_only_on_the_word_of_its_daemon() {
    let mut story = Story::new(rules());
    let look = |ptp| Look { ptp, ..Look::default() };
    let good = |ingress_ns| look(Some(Ok(slave(0, ingress_ns))));
    let steps = [
        (look(Some(Err(silent()))), PtpState::Unknown),
        (good(1), PtpState::Unknown),
        (good(2), PtpState::Synchronised),
        (look(Some(Ok(in_state(PortState::Listening)))), PtpState::Lost),
        (good(3), PtpState::Lost),
        (good(4), PtpState::Synchronised),
        (look(Some(Err(silent()))), PtpState::Unknown),
    ];
    for (number, (look, state)) in steps.iter().enumerate() {
        assert_eq!(story.see(look).ptp, *state, "reading {number}");
    }
    let unread = Look {
        card: Some(Err("no /dev/ptp0".into())),
        ..good(5)
    };
    assert_eq!(story.see(&unread).ptp, PtpState::Unknown);
    let far = Look {
        card: Some(Ok(1_001)),
        ..good(6)
    };
    assert_eq!(story.see(&far).ptp, PtpState::Lost);
    // Chrony or the kernel may find this clock good; that is no word about PTP.
    let mut without = Story::new(Rules { own: None, ..rules() });
    let found = without.see(&Look::default());
    assert_eq!(
        (said(&found), found.ptp),
        (vec![(1, EventKind::ClockGood)], PtpState::Unknown)
    );
}
