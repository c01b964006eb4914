//! Sampled values whose publisher starts again, or whose interface goes down.

use crate::bench::{Counted, Journal, Run, bed, can_run, port, wait_until};
use crate::samples::{RATE, Sender, Subscriber, assert_counted, rule, smp_cnt};
use bed::fault::{Direction, Fault, Side, Which};
use bed::{End, FaultBed};
use probes::Probe;
use probes::publish::{self, PublishConfig};
use std::time::Duration;
use units::Monotonic;

/// Publishes for a time over the bed; returns the end time.
pub(crate) fn publish_for(bed: &FaultBed, time: Duration) -> Monotonic {
    let mut run = Run::start();
    let near = port(bed, End::TestSet, &publish::port_options());
    let config = PublishConfig {
        duration_ns: u64::try_from(time.as_nanos()).ok(),
        ..PublishConfig::default()
    };
    let publisher = config
        .start(near, &mut run.recorder, &run.stop)
        .expect("the publisher starts");
    wait_until("the publisher has ended", || publisher.is_finished());
    let ended = publisher.ended_at().expect("it measured");
    publisher.join().expect("the publisher ends well");
    run.finish();
    ended
}

/// Sample counts of a real publisher, which omits the samples that it slept through.
fn real_stream(journal: &Journal) -> Vec<u64> {
    journal.of(Direction::ToDevice, Side::Entering, smp_cnt)
}

/// Number of samples missing from it.
fn skipped(stream: &[u64]) -> u64 {
    stream
        .windows(2)
        .map(|pair| (pair[1] + RATE - pair[0] - 1) % RATE)
        .sum()
}

#[test]
fn samples_sent_while_an_interface_is_down_are_lost() {
    let Some(_clock) = can_run("samples_sent_while_an_interface_is_down_are_lost") else {
        return;
    };
    for end in [End::TestSet, End::Device] {
        let (bed, journal) = bed(vec![rule(Which::Every(50), Fault::Duplicate)], Vec::new(), 1);
        let sender = Sender::open(&bed);
        let subscriber = Subscriber::start(&bed);
        sender.send(&bed, 4_000, 700);
        subscriber.wait_for(&journal);
        bed.set_link(end, false).expect("down");
        sender.send(&bed, 4_700, 300);
        // Their time has to pass: samples that cannot have been sent by then are not lost, the counter jumped.
        std::thread::sleep(Duration::from_millis(70));
        bed.set_link(end, true).expect("up");
        sender.send(&bed, 200, 700);
        subscriber.wait_for(&journal);
        let counts = bed.wire().counts(Direction::ToDevice);
        let expected = Counted {
            sent: 1_700,
            lost: 300,
            duplicate: 1_400 / 50,
            reordered: 0,
        };
        assert_counted(&subscriber.finish(), expected);
        match end {
            End::TestSet => assert_eq!((counts.entered, counts.refused), (1_400, 0)),
            End::Device => assert_eq!((counts.entered, counts.refused), (1_700, 300 + 300 / 50)),
        }
    }
}

#[test]
fn a_publisher_whose_interface_goes_down_loses_what_it_sends_meanwhile() {
    let Some(_clock) = can_run("a_publisher_whose_interface_goes_down_loses_what_it_sends_meanwhile") else {
        return;
    };
    let (bed, journal) = bed(vec![rule(Which::Every(50), Fault::Duplicate)], Vec::new(), 1);
    let subscriber = Subscriber::start(&bed);
    std::thread::scope(|scope| {
        let publisher = scope.spawn(|| publish_for(&bed, Duration::from_millis(700)));
        wait_until("frames pass", || bed.wire().counts(Direction::ToDevice).entered > 500);
        bed.set_link(End::TestSet, false).expect("down");
        std::thread::sleep(Duration::from_millis(150));
        bed.set_link(End::TestSet, true).expect("up");
        subscriber.sender.tell(publisher.join().expect("no panic"));
    });
    subscriber.wait_for(&journal);
    let sent = real_stream(&journal);
    let missing = skipped(&sent);
    let expected = Counted {
        sent: sent.len() as u64 + missing,
        lost: missing,
        duplicate: bed.wire().counts(Direction::ToDevice).rules[0].injected,
        reordered: 0,
    };
    assert!(missing > 400 && expected.duplicate > 5, "{expected:?}");
    assert_counted(&subscriber.finish(), expected);
}
