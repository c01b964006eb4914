//! Lines of GOOSE.

use std::io;

use capture::Frame;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use wire::ether::EthernetView;
use wire::goose::{self, Fields, Inspection};
use wire::{Field, FrameError};

use crate::DecodeCounts;
use crate::data::Value;
use crate::json::{Head, Hex, Judgement, Sequence, Text, optional, write_line};

/// Appends the line of a message.
pub(crate) fn decode(
    frame: &Frame<'_>,
    ethernet: &EthernetView<'_>,
    counts: &mut DecodeCounts,
    lines: &mut Vec<u8>,
) -> io::Result<()> {
    counts.goose += 1;
    let found = goose::inspect(ethernet);
    counts.errors += u64::from(found.error.is_some());
    let head = Head {
        kind: "goose",
        frame,
        ethernet,
        header: found.header,
    };
    let flags = flags(&head, &found);
    write_line(
        lines,
        &GooseLine {
            head: &head,
            fields: &found.fields,
            flags: &flags,
            error: found.error,
        },
    )
}

/// Flags for irregularities that a subscriber counts without refusing the message, or refuses although the message can be decoded.
fn flags(head: &Head<'_>, found: &Inspection<'_>) -> Vec<&'static str> {
    let fields = &found.fields;
    let mut flags = Vec::new();
    // Trip messages (type 1A) have a separate range.
    if head
        .header
        .is_some_and(|header| !matches!(header.appid, 0..0x4000 | 0x8000..0xc000))
    {
        flags.push("appid-out-of-range");
    }
    if fields.simulation == Some(true) && head.header.is_some_and(|header| !header.simulate()) {
        flags.push("simulation-without-simulate-bit");
    }
    if fields.time_allowed_to_live == Some(0) {
        flags.push("timeAllowedtoLive-zero");
    }
    if fields.st_num == Some(0) {
        flags.push("stNum-zero");
    }
    flags.extend(fields.negative_numbers().map(negative));
    if fields.unknown > 0 {
        flags.push("unknown-fields");
    }
    if found.error.is_some() && head.frame.is_cut() {
        flags.push("cut-by-capture");
    }
    flags
}

/// True if the number came with its sign bit set, and was read as unsigned.
fn negative(field: Field) -> &'static str {
    match field {
        Field::TimeAllowedToLive => "timeAllowedtoLive-negative",
        Field::StNum => "stNum-negative",
        Field::SqNum => "sqNum-negative",
        Field::ConfRev => "confRev-negative",
        _ => "numDatSetEntries-negative",
    }
}

struct GooseLine<'a> {
    head: &'a Head<'a>,
    fields: &'a Fields<'a>,
    flags: &'a [&'static str],
    error: Option<FrameError>,
}

impl Serialize for GooseLine<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.head.write(&mut map)?;
        let fields = self.fields;
        optional(&mut map, "gocbRef", fields.gocb_ref.map(Text))?;
        optional(&mut map, "timeAllowedtoLive", fields.time_allowed_to_live)?;
        optional(&mut map, "datSet", fields.dat_set.map(Text))?;
        optional(&mut map, "goID", fields.go_id.map(Text))?;
        optional(&mut map, "t", fields.t.map(|time| Hex(&time.to_bytes()).to_string()))?;
        optional(&mut map, "t_ns", fields.t.map(|time| time.as_ns()))?;
        optional(&mut map, "stNum", fields.st_num)?;
        optional(&mut map, "sqNum", fields.sq_num)?;
        // Both flags are FALSE if a message that was decoded so far leaves them out.
        optional(
            &mut map,
            "simulation",
            fields.simulation.or(fields.conf_rev.map(|_| false)),
        )?;
        optional(&mut map, "confRev", fields.conf_rev)?;
        optional(
            &mut map,
            "ndsCom",
            fields.nds_com.or(fields.num_dat_set_entries.map(|_| false)),
        )?;
        optional(&mut map, "numDatSetEntries", fields.num_dat_set_entries)?;
        optional(
            &mut map,
            "allData",
            fields.all_data.map(|entries| Sequence(entries.map(Value))),
        )?;
        Judgement {
            flags: self.flags,
            error: self.error,
        }
        .write(&mut map)?;
        map.end()
    }
}
