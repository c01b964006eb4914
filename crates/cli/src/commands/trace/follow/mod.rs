//! Follows single sampled values through the kernel, and lists their events.

mod document;
mod table;

use super::TraceArgs;
use crate::ending;
use crate::failure::Failure;
use crate::verdict;
use run::Stop;
use std::collections::BTreeMap;
use std::time::Duration;
use sys::clock::monotonic;
use sys::link::find;
use sys::netns::NetNs;
use trace::passage::{FollowCounts, FollowOptions, Follower, Listening, Passage, RING_OCTETS};
use trace::path::namespace_owners;
use units::{foreign, format_ns};

/// Maximum time to follow without `--duration`.
const AT_MOST_NS: u64 = 10_000_000_000;
/// Maximum wait for the first frames of the streams: enough cycles for any sampled values in use.
const COME_NS: i64 = 1_000_000_000;
/// Time without events after which a passage counts as ended; otherwise the frame is still in a queue.
const QUIET_NS: i64 = 100_000_000;
/// Interval between two emptyings of the ring.
const EVERY: Duration = Duration::from_millis(5);
/// Number of emptyings between two looks at the events.
const LOOK_EACH: u32 = 10;

/// Number of findings shown.
struct Found {
    interface: String,
    /// Inode number of the own network namespace.
    netns: u32,
    /// Owners of the other namespaces.
    owners: BTreeMap<u32, String>,
    listening: Listening,
    counts: FollowCounts,
    passages: Vec<Passage>,
}

/// Follows `per_stream` frames of each stream; returns the exit status.
pub(super) fn run(args: &TraceArgs, per_stream: u32) -> Result<u8, Failure> {
    let netns = NetNs::current()?.inode()?;
    let options = FollowOptions {
        ifindex: find(&args.interface)?.index,
        netns,
        per_stream,
        max_streams: args.max_streams,
        smp_cnt: args.smp_cnt,
        sv_id: args.stream.as_ref().map(|name| name.as_bytes().to_vec()),
        ring_octets: RING_OCTETS,
    };
    let stop = interrupted()?;
    let mut follower = Follower::start(options)?;
    if !args.run.quiet {
        let said = table::listening(follower.listening());
        let _ = std::io::Write::write_all(&mut std::io::stderr(), said.as_bytes());
    }
    let most_ns = args.duration.unwrap_or(AT_MOST_NS);
    let took_ns = attend(&mut follower, &stop, most_ns, args.stream.is_some())?;
    let found = Found {
        interface: args.interface.clone(),
        netns,
        passages: follower.passages()?,
        counts: follower.counts()?,
        listening: follower.listening().clone(),
        owners: namespace_owners(),
    };
    if found.passages.is_empty() {
        return Err(Failure::CouldNotMeasure(nothing(args, &found.counts, took_ns)));
    }
    verdict::write(&if args.run.face.json {
        foreign::json(document::render(&found))
    } else {
        table::render(&found)
    })?;
    Ok(0)
}

fn interrupted() -> Result<Stop, Failure> {
    let stop = Stop::new();
    ending::on_signals(&stop.flag())?;
    Ok(stop)
}

/// Waits until the wanted frames have come and gone, for `most_ns` at most; returns the time during which frames were chosen.
fn attend(follower: &mut Follower, stop: &Stop, most_ns: u64, is_one_stream: bool) -> Result<u64, Failure> {
    let begin = follower.opened();
    let most_ns = i64::try_from(most_ns).unwrap_or(i64::MAX);
    let mut has_all = false;
    for round in 1u32.. {
        std::thread::sleep(EVERY);
        follower.poll();
        let now = monotonic();
        if stop.requested() || now - begin >= most_ns {
            break;
        }
        if round % LOOK_EACH == 0 && !has_all && (is_one_stream || now - begin >= COME_NS) {
            has_all = follower.is_full()?;
        }
        if has_all && follower.last_event().is_some_and(|last| now - last >= QUIET_NS) {
            break;
        }
    }
    follower.close()?;
    // Without the short time that it takes to notice the end.
    Ok(u64::try_from((monotonic() - begin).min(most_ns)).unwrap_or(0))
}

/// Reason that nothing can be shown.
fn nothing(args: &TraceArgs, counts: &FollowCounts, took_ns: u64) -> String {
    let interface = &args.interface;
    let time = format_ns(took_ns as f64);
    if counts.chosen > 0 {
        let (chosen, lost, missed) = (counts.chosen, counts.lost_events, table::not_shown(counts));
        return format!(
            "{chosen} sampled values came to {interface} in {time} and were followed, but none of their events was \
             kept: the ring had no room for {lost}, the kernel did not show {missed}"
        );
    }
    if counts.no_room > 0 {
        let no_room = counts.no_room;
        return format!(
            "{no_room} sampled values came to {interface} in {time}, but there was no room for their streams \
             (--max-streams)"
        );
    }
    let wanted = match (&args.stream, args.smp_cnt) {
        (Some(sv_id), Some(smp_cnt)) => format!(" of {sv_id} with smpCnt {smp_cnt}"),
        (Some(sv_id), None) => format!(" of {sv_id}"),
        (None, Some(smp_cnt)) => format!(" with smpCnt {smp_cnt}"),
        (None, None) => String::new(),
    };
    let others = match (counts.met, counts.malformed) {
        (0, 0) => String::new(),
        (met, malformed) => format!(" ({met} others did, and {malformed} malformed ones)"),
    };
    format!("no sampled values{wanted} came to {interface} in {time}{others}")
}

#[cfg(test)]
mod tests;
