//! Passages as JSON (`triptime.passage/1`, see `docs/formats/passage-json.md`).

use super::Found;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use trace::passage::{Context, Origin, Passage, PassageStep, Reason, Skb, SkbEnd, StepSummary, What, summarize};

const SCHEMA: &str = "triptime.passage/1";

/// The document.
pub(super) fn render(found: &Found) -> String {
    let listening = &found.listening;
    let counts = &found.counts;
    let left_out: Vec<Value> = listening
        .left_out
        .iter()
        .map(|(name, why)| json!({"name": name, "why": why}))
        .collect();
    let document = json!({
        "schema": SCHEMA,
        "tool": {"name": "triptime", "version": env!("CARGO_PKG_VERSION")},
        "interface": found.interface,
        "namespace": found.netns,
        "listening": {
            "tracepoints": listening.tracepoints,
            "left_out": left_out,
            "functions": listening.functions,
            "no_functions": listening.no_functions,
        },
        "counts": {
            "met": counts.met,
            "followed": counts.chosen,
            "streams": counts.streams,
            "malformed": counts.malformed,
            "no_room": counts.no_room,
            "lost_events": counts.lost_events,
            "not_kept": counts.not_kept,
            "missed_runs": counts.missed_runs,
            "missed_functions": counts.missed_functions,
        },
        "namespaces": namespaces(found),
        "passages": found.passages.iter().map(passage).collect::<Vec<_>>(),
        "summary": summarize(&found.passages).iter().map(summary).collect::<Vec<_>>(),
    });
    format!("{document:#}\n")
}

/// Namespaces that the frames reached, and their owners.
fn namespaces(found: &Found) -> Vec<Value> {
    let steps = found.passages.iter().flat_map(|passage| &passage.steps);
    let inodes: BTreeSet<u32> = steps.map(|step| step.netns).filter(|inode| *inode != 0).collect();
    let one = |inode: u32| json!({"inode": inode, "own": inode == found.netns, "owner": found.owners.get(&inode)});
    inodes.into_iter().map(one).collect()
}

fn passage(passage: &Passage) -> Value {
    let stream = &passage.stream;
    json!({
        "stream": {
            "svID": String::from_utf8_lossy(&stream.sv_id),
            "appid": stream.appid,
            "dst": mac(stream.destination),
            "src": mac(stream.source),
            "vlan": stream.vlan,
            "asdus": stream.asdus,
        },
        "smpCnt": passage.smp_cnt,
        "began_ns": passage.steps.first().map(|step| step.at.as_ns()),
        "took_ns": passage.took_ns(),
        "end": super::table::ending(passage),
        "lost_events": passage.lost_events,
        "skbs": passage.skbs.iter().enumerate().map(skb).collect::<Vec<_>>(),
        "steps": passage.steps.iter().map(step).collect::<Vec<_>>(),
    })
}

fn skb((number, skb): (usize, &Skb)) -> Value {
    let (origin, of) = match skb.origin {
        Origin::First => ("first", None),
        Origin::CloneOf(other) => ("clone", Some(other)),
        Origin::Copy => ("copy", None),
    };
    let (end, why) = match &skb.end {
        SkbEnd::Consumed => ("consumed", None),
        SkbEnd::Dropped(why) => ("dropped", why.as_ref()),
        SkbEnd::NotSeen => ("not-seen", None),
    };
    json!({"skb": number + 1, "origin": origin, "of": of, "end": end, "reason": why.map(reason)})
}

fn step(step: &PassageStep) -> Value {
    let (context, number) = match step.context {
        Context::Unknown => ("unknown", None),
        Context::Thread => ("thread", None),
        Context::Softirq(vector) => ("softirq", Some(vector)),
        Context::Interrupt(number) => ("interrupt", Some(number)),
    };
    json!({
        "since_first_ns": step.since_first_ns,
        "delta_ns": step.delta_ns,
        "event": step.what.name(),
        "kind": kind(&step.what),
        "cpu": step.cpu,
        "context": context,
        "context_number": number,
        "pid": step.pid,
        "tid": step.tid,
        "comm": step.comm,
        "interface": step.interface,
        "ifindex": step.ifindex,
        "namespace": step.netns,
        "skb": step.skb,
        "by": if step.by_content { "content" } else { "skb" },
        "reason": step.reason.as_ref().map(reason),
        "location": step.location,
    })
}

fn summary(step: &StepSummary) -> Value {
    json!({
        "event": step.what.name(),
        "kind": kind(&step.what),
        "interface": step.interface,
        "namespace": step.netns,
        "occurrence": step.occurrence,
        "count": step.count,
        "median_delta_ns": step.median_delta_ns,
        "max_delta_ns": step.max_delta_ns,
        "median_since_first_ns": step.median_since_first_ns,
    })
}

fn kind(what: &What) -> &'static str {
    if what.is_function() { "function" } else { "tracepoint" }
}

fn reason(reason: &Reason) -> Value {
    json!({"number": reason.number, "name": reason.name})
}

fn mac(octets: [u8; 6]) -> String {
    octets.map(|octet| format!("{octet:02x}")).join(":")
}
