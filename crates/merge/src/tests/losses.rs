//! Frames that are lost, that are not, and whose fate is unknown.

use super::bed::{PERIOD_NS, Plan, START_NS, finish, merge, said};
use crate::{Input, Merge, Relation};
use model::{EventKind, RunState};
use std::path::Path;
use store::RunFile;
use tempfile::TempDir;

const CROSSING: &str = "hop/host.tap-to-guest.nic/MU01";
const WHOLE: &str = "hop/host.nic-to-guest.app/MU01";

#[test]
fn losses_are_told_apart_by_where_they_happened() {
    let mut host = Plan::host(10_000);
    host.lost_inside = vec![100, 101];
    let mut guest = Plan::guest(10_000).lose(|frame| [100, 101].contains(&frame) || frame % 2_000 == 1_999);
    guest.lost_inside = vec![500, 501, 502];
    let result = merge(&[&host, &guest], Relation::SameHost);
    let lost_between = 5;
    // Of the three frames lost inside the guest, its nic shows only that they came.
    assert_eq!(result.crossing().0, [9_998, 9_998 - lost_between - 3, lost_between, 0]);
    let whole = result.of("hop/host.nic-to-guest.app/MU01").0;
    assert_eq!(whole, [10_000, 9_998 - lost_between - 3, lost_between + 3 + 2, 0]);
}

#[test]
fn what_a_run_did_not_record_is_not_lost() {
    let part = |plan: Plan| {
        let mut plan = plan.lose(|frame| !(2_000..6_000).contains(&frame));
        plan.from_ns = START_NS + 2_000 * PERIOD_NS;
        plan.to_ns = START_NS + 6_000 * PERIOD_NS;
        plan
    };
    let result = merge(&[&Plan::host(10_000), &part(Plan::guest(10_000))], Relation::SameHost);
    assert_eq!(result.crossing().0, [4_000, 4_000, 0, 0]);
    let result = merge(&[&part(Plan::host(10_000)), &Plan::guest(10_000)], Relation::SameHost);
    assert_eq!(result.crossing().0, [4_000, 4_000, 0, 0]);
    assert!(result.events(EventKind::Incomplete).is_empty());
}

#[test]
fn a_run_that_does_not_say_when_it_recorded_did_so_until_it_was_closed() {
    let mut guest = Plan::guest(10_000).lose(|frame| !(2_000..6_000).contains(&frame));
    guest.says_span = false;
    let result = merge(&[&Plan::host(10_000), &guest], Relation::SameHost);
    assert_eq!(result.crossing().0, [10_000, 4_000, 6_000, 0]);
    // The end of a run that was not closed is unknown: only losses between its stamps count.
    guest.state = RunState::Interrupted;
    guest.frames.retain(|frame| *frame != 3_000);
    let result = merge(&[&Plan::host(10_000), &guest], Relation::SameHost);
    assert_eq!(result.crossing().0, [4_000, 3_999, 1, 0]);
    assert_eq!(result.file.state(), RunState::Interrupted);
}

#[test]
fn what_a_host_lost_after_its_last_record_is_lost_on_the_whole_way() {
    for first_lost in [4_000, 0] {
        let mut host = Plan::host(12_000);
        host.lost_inside = (first_lost..12_000).collect();
        let guest = Plan::guest(12_000).lose(|frame| frame >= first_lost.max(1));
        let result = merge(&[&host, &guest], Relation::SameHost);
        assert_eq!(result.of(WHOLE).0, [12_000, first_lost, 12_000 - first_lost, 0]);
    }
}

#[test]
fn what_a_guest_lost_before_the_host_recorded_hides_no_loss() {
    let mut host = Plan::host(20_000).lose(|frame| frame < 12_000);
    host.from_ns = START_NS + 12_000 * PERIOD_NS;
    let mut guest = Plan::guest(20_000).lose(|frame| (16_000..16_020).contains(&frame));
    guest.lost_inside = (100..200).collect();
    let result = merge(&[&host, &guest], Relation::SameHost);
    assert_eq!(result.crossing().0, [8_000, 7_980, 20, 0]);
}

#[test]
fn what_the_measurement_itself_missed_is_said_of_the_series_it_touches() {
    for kind in [EventKind::RecorderOverrun, EventKind::SocketDrop] {
        let mut guest = Plan::guest(5_000).lose(|frame| (2_000..2_010).contains(&frame));
        guest.events = vec![said(1_600_000_000, kind, "10 frames")];
        let result = merge(&[&Plan::host(5_000), &guest], Relation::SameHost);
        for series in [CROSSING, WHOLE] {
            let missing = result.events_of(series, EventKind::Incomplete);
            assert!(
                missing.iter().any(|text| text.contains("guest: 10 frames")),
                "{series}: {missing:?}"
            );
        }
        let own = result.events_of("hop/guest.nic-to-guest.app/MU01", EventKind::Incomplete);
        assert!(own.is_empty(), "{own:?}");
    }
}

#[test]
fn a_torn_segment_is_named_and_its_frames_are_not_lost() {
    let directory = TempDir::new().unwrap();
    let (host, guest) = (Plan::host(12_000), Plan::guest(12_000));
    let paths = [host.write(directory.path(), "h"), guest.write(directory.path(), "g")];
    tear(&paths[1], 2);
    let inputs: Vec<Input> = paths
        .iter()
        .zip(["host", "guest"])
        .map(|(path, label)| Input {
            path: path.clone(),
            label: Some(label.to_owned()),
            ahead_ns: 0,
        })
        .collect();
    let result = finish(&Merge::open(&inputs, Relation::SameHost).unwrap(), directory);
    let ([expected, received, lost, _], _) = result.crossing();
    assert_eq!((expected, received, lost), (12_000, 8_000, 0));
    let said = result.events(EventKind::Incomplete);
    assert!(
        said.iter()
            .any(|text| text.contains("segment 2: its checksum is wrong")),
        "{said:?}"
    );
}

/// Flips a bit in a segment of a closed run.
fn tear(path: &Path, number: usize) {
    let mut found = Vec::new();
    let run = RunFile::open(path).unwrap();
    let mut at = 0;
    run.each_segment(|octets| {
        at += 1;
        if at == number {
            found = octets.unwrap().to_vec();
        }
    })
    .unwrap();
    drop(run);
    let mut octets = std::fs::read(path).unwrap();
    // The checksum of a segment is in it once, but pages of the database may cut it anywhere.
    let piece = &found[found.len() - 24..];
    let place = octets.windows(piece.len()).position(|window| window == piece).unwrap();
    octets[place] ^= 0x10;
    std::fs::write(path, octets).unwrap();
}
