//! The messages of a control block, sent when they are due.

use super::Block;
use streamset::goose::parse;
use wire::ether::{EthernetView, Mac};
use wire::goose::{Frame, Value};

const UTC_NS: i64 = 1_790_000_000_000_000_000;

fn file(changes: &str) -> String {
    format!(
        r#"
        [[goose]]
        gocb_ref = "a"
        dat_set = "b"
        dst = "01:0c:cd:01:00:01"
        appid = 1
        member = [{{ name = "trip", type = "boolean" }}, {{ name = "t", type = "timestamp" }}]
        change = [{changes}]
        "#
    )
}

fn block(changes: &str) -> Block {
    let blocks = parse(&file(changes), "test").expect("a sound file");
    Block::new(&blocks[0], Mac([2, 0, 0, 0, 0, 1])).expect("a sound block")
}

/// Expected message: (ms, stNum, sqNum, timeAllowedtoLive, the member, t in ms from the start).
type Seen = (i64, u32, u32, u32, bool, i64);

fn seen(block: &Block, at_ns: i64) -> Seen {
    let ethernet = EthernetView::parse(block.frame()).expect("Ethernet");
    let frame = Frame::parse(&ethernet).expect("GOOSE");
    let members: Vec<Value> = frame.all_data().map(Value::from).collect();
    let trip = members[0] == Value::Boolean(true);
    assert_eq!(members[1], Value::UtcTime(frame.t()), "the timestamp follows t");
    let t_ms = (frame.t().as_ns() - UTC_NS + 500_000).div_euclid(1_000_000);
    (
        at_ns / 1_000_000,
        frame.st_num(),
        frame.sq_num(),
        frame.time_allowed_to_live(),
        trip,
        t_ms,
    )
}

/// Sends every message at its due instant plus the delay that `late_ns` gives for it, until 2 s.
fn run(block: &mut Block, late_ns: impl Fn(i64) -> i64) -> (Vec<Seen>, u64, u64) {
    let (mut sent, mut missed, mut late) = (Vec::new(), 0, 0);
    while block.due_ns() < 2_000_000_000 {
        let due_ns = block.due_ns();
        if !block.make(|| UTC_NS + due_ns) {
            continue;
        }
        assert_eq!(block.due_ns(), due_ns, "made once");
        let now_ns = due_ns + late_ns(due_ns);
        sent.push(seen(block, now_ns));
        let skipped = block.sent(now_ns);
        missed += skipped.missed;
        late += u64::from(skipped.is_late);
    }
    (sent, missed, late)
}

#[test]
fn a_change_begins_the_curve_anew() {
    let mut block = block(r#"{ at = "1500ms", set = { trip = true } }"#);
    let (sent, missed, late) = run(&mut block, |_| 0);
    let expected = [
        (0, 1, 1, 8, false, 0),
        (4, 1, 2, 8, false, 0),
        (8, 1, 3, 16, false, 0),
        (16, 1, 4, 32, false, 0),
        (32, 1, 5, 64, false, 0),
        (64, 1, 6, 128, false, 0),
        (128, 1, 7, 256, false, 0),
        (256, 1, 8, 512, false, 0),
        (512, 1, 9, 1024, false, 0),
        (1024, 1, 10, 2000, false, 0),
        (1500, 2, 0, 8, true, 1500),
        (1504, 2, 1, 8, true, 1500),
    ];
    assert_eq!(sent[..12], expected);
    assert_eq!((missed, late), (0, 0));
}

#[test]
fn values_that_stay_make_no_new_state() {
    let mut block = block(r#"{ at = "100ms", every = "300ms", set = { trip = false } }"#);
    let (sent, ..) = run(&mut block, |_| 0);
    assert!(sent.iter().all(|message| message.1 == 1), "{sent:?}");
}

#[test]
fn changes_due_together_are_one_state_and_come_again() {
    let changes = r#"
        { at = "100ms", every = "1s", set = { trip = true } },
        { at = "600ms", every = "1s", set = { trip = false } },
        { at = "600ms", every = "1s", set = { trip = false } }"#;
    let (sent, ..) = run(&mut block(changes), |_| 0);
    let states: Vec<(i64, u32, bool)> = sent
        .iter()
        .filter(|message| message.2 == 0)
        .map(|message| (message.0, message.1, message.4))
        .collect();
    assert_eq!(
        states,
        [(100, 2, true), (600, 3, false), (1100, 4, true), (1600, 5, false)]
    );
}

#[test]
fn repetitions_slept_through_are_missed_and_changes_are_not() {
    let mut block = block(r#"{ at = "10ms", set = { trip = true } }, { at = "20ms", set = { trip = false } }"#);
    // The message due at 8 ms is sent at 50 ms; then those due at 10 and 20 ms, at once.
    let (sent, missed, late) = run(&mut block, |due_ns| {
        (50_000_000 - due_ns).max(0) * i64::from(due_ns >= 8_000_000)
    });
    let numbers: Vec<(u32, u32)> = sent[2..5].iter().map(|message| (message.1, message.2)).collect();
    assert_eq!(numbers, [(1, 3), (2, 0), (3, 0)]);
    assert_eq!(
        sent[3..5].iter().map(|message| message.5).collect::<Vec<_>>(),
        [10, 20],
        "t is when it was due"
    );
    // After the message of 8 ms, the one due at 16 ms is skipped in favour of 32 ms. After the message of 20 ms: 24, 28 and 36
    // are skipped, but not 52.
    assert!(missed >= 3 && late == 3, "{missed} missed, {late} late");
    assert_eq!(sent[5].2, 1, "the next repetition takes the number of the missed ones");
}

#[test]
fn changes_that_do_not_fit_are_refused() {
    let mut blocks = parse(&file(r#"{ at = "1s", set = { trip = true } }"#), "test").expect("a sound file");
    blocks[0].changes[0].set[0].1 = Value::Integer(3);
    let error = Block::new(&blocks[0], Mac([2; 6])).err().expect("refused").to_string();
    assert!(error.contains("its type and length must stay"), "{error}");
}

#[test]
fn times_in_structures_follow_t_too() {
    let mut config = parse(&file(""), "test").expect("a sound file").remove(0);
    let time = config.message.all_data[1].clone();
    let inner = Value::Structure(vec![Value::Boolean(true), time]);
    config
        .message
        .all_data
        .push(Value::Structure(vec![inner, Value::Integer(7)]));
    let mut block = Block::new(&config, Mac([2, 0, 0, 0, 0, 1])).expect("a sound block");
    assert!(block.make(|| UTC_NS));
    let ethernet = EthernetView::parse(block.frame()).expect("Ethernet");
    let frame = Frame::parse(&ethernet).expect("GOOSE");
    let t = Value::UtcTime(frame.t());
    let members: Vec<Value> = frame.all_data().map(Value::from).collect();
    assert_eq!(members[1], t);
    let inner = Value::Structure(vec![Value::Boolean(true), t]);
    assert_eq!(members[2], Value::Structure(vec![inner, Value::Integer(7)]));
}
