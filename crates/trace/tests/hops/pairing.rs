//! Loss, duplicates, reordering, replay, wraps and several publishers.

use crate::bed::{Bed, place, send_port, wait_for_carrier};
use crate::{counts, frame, point, read, three_points, tracer};
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, recv};
use std::collections::BTreeSet;
use std::time::Duration;
use sys::clock::monotonic;
use sys::link::{set_down, set_up};
use trace::hops::{EXPIRY_NS, HopCounts, HopOptions, PointKind};
use wire::ether::{Mac, VlanTag};
use wire::sv::Message;

#[test]
fn every_frame_of_a_clean_stream_is_timed_at_every_point() {
    let test = "hops of a clean stream";
    let Some(bed) = Bed::build(test) else { return };
    let Some(mut tracer) = tracer(test, three_points(&bed)) else {
        return;
    };
    for smp_cnt in 0..1_000 {
        bed.send(&frame("MU01", &[smp_cnt]));
    }
    let readings = read(&mut tracer);
    assert_eq!(tracer.streams().len(), 1);
    let stream = &tracer.streams()[0];
    assert_eq!(
        (stream.sv_id.as_slice(), stream.appid, stream.asdus),
        (&b"MU01"[..], 0x4000, 1)
    );
    assert_eq!(stream.source, [2, 0, 0, 0, 0, 7]);
    assert_eq!(counts(&readings, 0, 0).seen, 1_000);
    for point in [1, 2] {
        let reading = readings
            .iter()
            .find(|reading| reading.point == point)
            .expect("a reading");
        assert_eq!(reading.counts.paired, 1_000);
        assert_eq!(reading.hop.count(), 1_000);
        assert!(reading.hop.min_ns > 0 && reading.hop.min_ns <= reading.hop.max_ns);
    }
    let edge = readings.iter().find(|reading| reading.point == 2).expect("a reading");
    assert_eq!(edge.total.count(), 1_000);
    assert!(edge.total.max_ns >= edge.hop.max_ns);
    let mut told = Vec::new();
    tracer.durations(|duration| told.push(duration));
    let totals = || told.iter().filter(|duration| duration.series.total);
    let smp_cnts: BTreeSet<u16> = totals().map(|duration| duration.smp_cnt).collect();
    assert_eq!(smp_cnts, (0..1_000).collect(), "each is told with its smpCnt");
    let longest = totals().map(|duration| duration.ns).max();
    assert_eq!(longest, Some(edge.total.max_ns), "extremes are exact");
    let troubles = tracer.troubles().expect("the kernel");
    assert_eq!((troubles.malformed, troubles.not_told), (0, 0));
}

#[test]
fn frames_lost_between_points_are_counted_where_they_were_lost() {
    let test = "hops with loss";
    let Some(bed) = Bed::build(test) else { return };
    let Some(mut tracer) = tracer(test, three_points(&bed)) else {
        return;
    };
    for smp_cnt in 0..100 {
        bed.send(&frame("MU01", &[smp_cnt]));
    }
    bed.switch.run(|| set_down("p-dut").expect("down")).expect("to enter");
    for smp_cnt in 100..130 {
        bed.send(&frame("MU01", &[smp_cnt]));
    }
    bed.switch.run(|| set_up("p-dut").expect("up")).expect("to enter");
    wait_for_carrier(&bed.switch, "p-dut");
    for smp_cnt in 130..200 {
        bed.send(&frame("MU01", &[smp_cnt]));
    }
    // Frames 2048 further reuse the places of the first ones, and by then the loss of 100 to 119 is seen.
    for smp_cnt in 2048..2168 {
        bed.send(&frame("MU01", &[smp_cnt]));
    }
    let readings = read(&mut tracer);
    assert_eq!(counts(&readings, 0, 0).seen, 320);
    let out = counts(&readings, 0, 1);
    assert_eq!((out.paired, out.lost), (290, 20));
    let edge = counts(&readings, 0, 2);
    assert_eq!((edge.paired, edge.lost), (290, 0), "lost before, not here");
    tracer.stop().expect("the kernel");
    std::thread::sleep(Duration::from_millis(150));
    let rest = tracer.lost_under_way(monotonic()).expect("the kernel");
    assert_eq!(rest, [(0, 1, 10)], "the other ten, at the end");
}

#[test]
fn what_came_twice_or_again_or_late_is_never_paired_wrongly() {
    let test = "hops of a replayed stream";
    let Some(bed) = Bed::build(test) else { return };
    let Some(mut tracer) = tracer(test, three_points(&bed)) else {
        return;
    };
    let beyond = send_port(&bed.switch, "p-dut");
    for smp_cnt in 0..10 {
        bed.send(&frame("MU01", &[smp_cnt]));
    }
    // Again through both points, without delay: the first of each pair was timed before the second came.
    bed.send(&frame("MU01", &[9]));
    // Only at the later point: 9 again, and one that the first point has not seen.
    for smp_cnt in [9, 500] {
        let octets = frame("MU01", &[smp_cnt]).encode().expect("a frame");
        beyond.send(&octets).expect("to send");
    }
    let readings = read(&mut tracer);
    let first = counts(&readings, 0, 0);
    assert_eq!((first.seen, first.duplicate), (11, 1));
    let edge = counts(&readings, 0, 2);
    assert_eq!((edge.paired, edge.stale, edge.doubtful), (10, 1, 2));

    // After the expiry, a frame with the same number is a different one.
    std::thread::sleep(Duration::from_nanos(EXPIRY_NS));
    let octets = frame("MU01", &[3]).encode().expect("a frame");
    beyond.send(&octets).expect("to send");
    bed.send(&frame("MU01", &[3]));
    let readings = read(&mut tracer);
    assert_eq!(counts(&readings, 0, 0).duplicate, 0);
    let edge = counts(&readings, 0, 2);
    assert_eq!((edge.paired, edge.stale), (1, 1));
    let mut longest = 0;
    tracer.durations(|duration| longest = longest.max(duration.ns));
    assert!(
        longest < EXPIRY_NS / 2,
        "{longest} ns: paired with the frame of half a second ago"
    );
}

#[test]
fn reordering_pairs_each_frame_with_itself() {
    let test = "hops of a reordered stream";
    let Some(bed) = Bed::build(test) else { return };
    let Some(mut tracer) = tracer(test, three_points(&bed)) else {
        return;
    };
    for smp_cnt in [0, 1, 3, 2, 4, 3998, 3999, 0, 1] {
        bed.send(&frame("MU01", &[smp_cnt]));
    }
    let readings = read(&mut tracer);
    let first = counts(&readings, 0, 0);
    // 0 and 1 came again at once: the two cannot be distinguished.
    assert_eq!((first.seen, first.reordered, first.duplicate), (9, 1, 2));
    assert_eq!(counts(&readings, 0, 2).paired, 7);
}

#[test]
fn streams_are_told_apart_by_their_whole_name_and_their_publisher() {
    let test = "hops of like streams";
    let Some(bed) = Bed::build(test) else { return };
    let Some(mut tracer) = tracer(test, three_points(&bed)) else {
        return;
    };
    // The sums of the bytes of the first two are equal.
    let other_source = Message {
        src: Mac([2, 0, 0, 0, 0, 8]),
        ..frame("svID0003", &[0])
    };
    let other_appid = Message {
        appid: 0x4001,
        ..frame("svID0003", &[0])
    };
    for _ in 0..2 {
        for smp_cnt in 0..50 {
            for mut message in [
                frame("svID0003", &[0]),
                frame("svID0012", &[0]),
                other_source.clone(),
                other_appid.clone(),
            ] {
                message.asdus[0].smp_cnt = smp_cnt;
                bed.send(&message);
            }
        }
        let readings = read(&mut tracer);
        assert_eq!(tracer.streams().len(), 4);
        for stream in 0..4 {
            assert_eq!(counts(&readings, stream, 0).duplicate, 0);
            assert_eq!(counts(&readings, stream, 2).paired, 50);
        }
        std::thread::sleep(Duration::from_nanos(EXPIRY_NS));
    }
}

#[test]
fn long_names_data_sets_several_asdus_and_tags_are_read() {
    let test = "hops of long frames";
    let Some(bed) = Bed::build(test) else { return };
    let Some(mut tracer) = tracer(test, three_points(&bed)) else {
        return;
    };
    let longest = "x".repeat(129);
    let mut long_data_set = frame(&longest, &[7]);
    long_data_set.asdus[0].dat_set = Some(b"d".repeat(129));
    let tagged = Message {
        tags: vec![VlanTag::new(4, false, 100)],
        ..frame("tagged", &[4799])
    };
    let eight: Vec<u16> = (800..808).collect();
    for message in [frame("eight", &eight), long_data_set, tagged] {
        bed.send(&message);
    }
    let readings = read(&mut tracer);
    let names: Vec<&[u8]> = tracer.streams().iter().map(|stream| stream.sv_id.as_slice()).collect();
    assert_eq!(names, [&b"eight"[..], longest.as_bytes(), b"tagged"]);
    assert_eq!(tracer.streams()[0].asdus, 8);
    assert_eq!(tracer.streams()[2].vlan, Some(100));
    let mut told = Vec::new();
    tracer.durations(|duration| told.push((duration.series.stream, duration.smp_cnt)));
    for (stream, smp_cnt) in [(0, 800), (1, 7), (2, 4799)] {
        assert_eq!(counts(&readings, stream, 2).paired, 1);
        assert!(told.contains(&(stream, smp_cnt)));
    }
}

#[test]
fn malformed_frames_and_streams_too_many_are_counted_and_harmless() {
    let test = "hops of bad frames";
    let Some(bed) = Bed::build(test) else { return };
    let options = HopOptions {
        max_streams: 2,
        ..three_points(&bed)
    };
    let Some(mut tracer) = tracer(test, options) else {
        return;
    };
    let port = send_port(&bed.publisher, "ts0");
    let whole = frame("MU01", &[1]).encode().expect("a frame");
    // Up to the end of smpCnt every cut is noticed: 14 of Ethernet, 8 of SV, 11 of tags and lengths, svID, smpCnt.
    for octets in 14..14 + 8 + 11 + 4 + 4 {
        port.send(&whole[..octets]).expect("to send");
    }
    for at in [22, 24, 27, 29, 31] {
        let mut bent = whole.clone();
        bent[at] ^= 0xff;
        port.send(&bent).expect("to send");
    }
    for name in ["MU01", "MU02", "MU03"] {
        bed.send(&frame(name, &[1]));
    }
    let readings = read(&mut tracer);
    assert_eq!(tracer.streams().len(), 2);
    assert_eq!(counts(&readings, 0, 2).paired, 1);
    assert_eq!(counts(&readings, 1, 2).paired, 1);
    let troubles = tracer.troubles().expect("the kernel");
    assert!(troubles.malformed > 0, "{troubles:?}");
    assert_eq!(troubles.no_room, 1);
    assert_eq!(troubles.unknown_stream, 2, "the third at both later points");
}

#[test]
fn frames_without_a_stamp_of_the_nic_are_counted_where_that_is_the_first_point() {
    let test = "hops from the NIC's stamp";
    let Some(bed) = Bed::build(test) else { return };
    let options = HopOptions {
        first_by_nic: true,
        ..three_points(&bed)
    };
    let Some(mut tracer) = tracer(test, options) else {
        return;
    };
    let until = monotonic() + 10_000_000_000;
    tracer.set_nic_clock(0, until).expect("the kernel");
    for smp_cnt in 0..10 {
        bed.send(&frame("MU01", &[smp_cnt]));
    }
    let readings = read(&mut tracer);
    assert_eq!(tracer.streams().len(), 1);
    for point in 0..3 {
        assert_eq!(
            counts(&readings, 0, point).paired,
            0,
            "a veth pair has no NIC: point {point}"
        );
    }
    assert_eq!(tracer.troubles().expect("the kernel").unstamped, 10);
}

#[test]
fn a_packet_socket_is_a_point_whether_it_reads_or_has_a_ring() {
    let test = "hops to the application";
    let Some(bed) = Bed::build(test) else { return };
    let mut options = three_points(&bed);
    let mut application = point("app", 2, place(&bed.device, "dut0", PointKind::Consume));
    application.hooks.push(place(&bed.device, "dut0", PointKind::Read));
    options.points.push(application);
    let Some(mut tracer) = tracer(test, options) else {
        return;
    };
    let listen = crate::bed::receive_options();
    let ring = bed.device.run(|| sys::packet::PacketPort::open("dut0", &listen));
    let ring = ring.expect("to enter").expect("a port");
    for smp_cnt in 0..20 {
        bed.send(&frame("MU01", &[smp_cnt]));
    }
    let readings = read(&mut tracer);
    assert_eq!(counts(&readings, 0, 3).paired, 20);
    drop(ring);
    for smp_cnt in 20..30 {
        bed.send(&frame("MU01", &[smp_cnt]));
    }
    let readings = read(&mut tracer);
    assert_eq!(counts(&readings, 0, 3), HopCounts::default(), "nobody took them");
    // Both at once: each frame is timed at the first of the two readers, and counted again at the other.
    let _ring = bed.device.run(|| sys::packet::PacketPort::open("dut0", &listen));
    let reader = bed.device.run(reader).expect("to enter");
    for smp_cnt in 30..50 {
        bed.send(&frame("MU01", &[smp_cnt]));
    }
    let mut octets = [0; 512];
    let mut taken = 0;
    while recv(&reader, &mut octets, RecvFlags::empty()).is_ok() {
        taken += u32::from(octets[12..14] == [0x88, 0xba]);
    }
    assert_eq!(taken, 20);
    let readings = read(&mut tracer);
    let app = counts(&readings, 0, 3);
    assert_eq!((app.paired, app.again), (20, 20), "{app:?}");
    let reading = readings.iter().find(|reading| reading.point == 3).expect("a reading");
    assert_eq!((reading.hop.count(), reading.total.count()), (20, 20));
}

/// A packet socket without a ring, for frames on any interface of the namespace: it gets frames before a socket bound to an
/// interface, and so both see them.
fn reader() -> rustix::fd::OwnedFd {
    let protocol = rustix::net::Protocol::from_raw(u32::from(0x0003_u16.to_be()).try_into().expect("not 0"));
    let socket = rustix::net::socket_with(
        AddressFamily::PACKET,
        SocketType::RAW,
        SocketFlags::NONBLOCK | SocketFlags::CLOEXEC,
        Some(protocol),
    );
    socket.expect("a socket")
}

#[test]
fn nothing_is_traced_in_another_namespace_with_the_same_numbers() {
    let test = "hops of another namespace";
    let Some(bed) = Bed::build(test) else { return };
    let Some(other) = Bed::build(test) else { return };
    let Some(mut tracer) = tracer(test, three_points(&bed)) else {
        return;
    };
    let number = |bed: &Bed| place(&bed.switch, "p-ts", PointKind::Receive).ifindex;
    assert_eq!(number(&bed), number(&other), "the test needs equal numbers");
    other.send(&frame("MU01", &[1]));
    assert!(read(&mut tracer).is_empty());
}
