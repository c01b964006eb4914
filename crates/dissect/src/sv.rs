//! Lines of sampled values.

use std::io;

use capture::Frame;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use wire::FrameError;
use wire::ether::EthernetView;
use wire::sv::{self, Members, PartialAsdu};

use crate::DecodeCounts;
use crate::json::{Head, Hex, Judgement, Sequence, Text, optional, write_line};

/// APPIDs of sampled values (IEC 61850-9-2).
const APPIDS: std::ops::RangeInclusive<u16> = 0x4000..=0x7fff;

/// Appends a line for each ASDU, or one for a frame that breaks a rule.
pub(crate) fn decode(
    frame: &Frame<'_>,
    ethernet: &EthernetView<'_>,
    counts: &mut DecodeCounts,
    lines: &mut Vec<u8>,
) -> io::Result<()> {
    counts.sv_frames += 1;
    let Ok(parsed) = sv::Frame::parse(ethernet) else {
        counts.errors += 1;
        return decode_broken(frame, ethernet, lines);
    };
    let head = Head {
        kind: "sv",
        frame,
        ethernet,
        header: Some(*parsed.header()),
    };
    for (index, asdu) in parsed.asdus().enumerate() {
        counts.asdus += 1;
        let asdu = PartialAsdu::from(asdu);
        let flags = flags(&head, Some(&asdu), None);
        let place = AsduPosition { index, before: &[] };
        write_line(
            lines,
            &SvLine {
                head: &head,
                place,
                asdu: Some(asdu),
                flags: &flags,
                error: None,
            },
        )?;
    }
    Ok(())
}

/// The line of a frame that breaks a rule shows the ASDU in which the error is, and those before it.
fn decode_broken(frame: &Frame<'_>, ethernet: &EthernetView<'_>, lines: &mut Vec<u8>) -> io::Result<()> {
    let found = sv::inspect(ethernet);
    let head = Head {
        kind: "sv",
        frame,
        ethernet,
        header: found.header,
    };
    let asdus: Vec<PartialAsdu<'_>> = found.asdus().collect();
    let (asdu, before) = asdus
        .split_last()
        .map_or((None, &[][..]), |(last, before)| (Some(*last), before));
    let flags = flags(&head, asdu.as_ref(), found.error);
    let place = AsduPosition {
        index: before.len(),
        before,
    };
    write_line(
        lines,
        &SvLine {
            head: &head,
            place,
            asdu,
            flags: &flags,
            error: found.error,
        },
    )
}

/// Flags for irregularities that a subscriber counts without refusing the frame.
fn flags(head: &Head<'_>, asdu: Option<&PartialAsdu<'_>>, error: Option<FrameError>) -> Vec<&'static str> {
    let mut flags = Vec::new();
    if head.header.is_some_and(|header| !APPIDS.contains(&header.appid)) {
        flags.push("appid-out-of-range");
    }
    if let Some(asdu) = asdu.filter(|asdu| asdu.seq_data().is_some()) {
        match asdu.smp_synch() {
            None => flags.push("smpSynch-absent"),
            Some(3 | 4 | 255) => flags.push("smpSynch-reserved"),
            Some(_) => {}
        }
        if asdu.unknown_fields() > 0 {
            flags.push("unknown-fields");
        }
    }
    if error.is_some() && head.frame.is_cut() {
        flags.push("cut-by-capture");
    }
    flags
}

struct SvLine<'a> {
    head: &'a Head<'a>,
    place: AsduPosition<'a>,
    asdu: Option<PartialAsdu<'a>>,
    flags: &'a [&'static str],
    error: Option<FrameError>,
}

/// Index of the ASDU in its frame.
struct AsduPosition<'a> {
    index: usize,
    /// Earlier ASDUs that have no separate line.
    before: &'a [PartialAsdu<'a>],
}

impl Serialize for SvLine<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.head.write(&mut map)?;
        if let Some(asdu) = &self.asdu {
            map.serialize_entry("asdu", &self.place.index)?;
            write_fields(&mut map, asdu)?;
        }
        if !self.place.before.is_empty() {
            map.serialize_entry("asdusBefore", &Sequence(self.place.before.iter().map(Fields)))?;
        }
        Judgement {
            flags: self.flags,
            error: self.error,
        }
        .write(&mut map)?;
        map.end()
    }
}

struct Fields<'a>(&'a PartialAsdu<'a>);

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        write_fields(&mut map, self.0)?;
        map.end()
    }
}

/// The fields in their order on the wire.
fn write_fields<M: SerializeMap>(map: &mut M, asdu: &PartialAsdu<'_>) -> Result<(), M::Error> {
    optional(map, "svID", asdu.sv_id().map(Text))?;
    optional(map, "datSet", asdu.dat_set().map(Text))?;
    optional(map, "smpCnt", asdu.smp_cnt())?;
    optional(map, "confRev", asdu.conf_rev())?;
    optional(
        map,
        "refrTm",
        asdu.refr_tm().map(|time| Hex(&time.to_bytes()).to_string()),
    )?;
    optional(map, "smpSynch", asdu.smp_synch())?;
    optional(map, "smpRate", asdu.smp_rate())?;
    if let Some(seq_data) = asdu.seq_data() {
        map.serialize_entry("seqData", &Hex(seq_data))?;
        if let Some(members) = Members::new(seq_data) {
            map.serialize_entry("values", &Sequence(members.iter().map(|(value, _)| value)))?;
            map.serialize_entry("qualities", &Sequence(members.iter().map(|(_, quality)| quality.0)))?;
        }
    }
    optional(map, "smpMod", asdu.smp_mod())?;
    optional(
        map,
        "gmIdentity",
        asdu.gm_identity().map(|octets| Hex(&octets).to_string()),
    )
}
