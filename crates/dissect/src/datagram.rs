//! Lines of datagrams of R-GOOSE and R-SV.

use std::io;

use capture::Frame;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use wire::FrameError;
use wire::ether::EthernetView;
use wire::routed::{Datagram, Security};

use crate::DecodeCounts;
use crate::json::{Head, Judgement, write_line};
use crate::lines::message;

/// Appends the lines of its messages. An error ends them; an encrypted datagram has a line without a message.
pub(crate) fn decode(
    frame: &Frame<'_>,
    ethernet: &EthernetView<'_>,
    datagram: &Datagram<'_>,
    counts: &mut DecodeCounts,
    lines: &mut Vec<u8>,
) -> io::Result<()> {
    if datagram.security() == Security::Encrypted {
        counts.encrypted += 1;
        return line(frame, ethernet, &["encrypted"], None, lines);
    }
    for view in datagram.messages() {
        match view {
            Ok(view) => message(frame, &view, counts, lines)?,
            Err(error) => return broken(frame, ethernet, error, counts, lines),
        }
    }
    Ok(())
}

/// Appends the line of a datagram that breaks a rule before its messages.
pub(crate) fn broken(
    frame: &Frame<'_>,
    ethernet: &EthernetView<'_>,
    error: FrameError,
    counts: &mut DecodeCounts,
    lines: &mut Vec<u8>,
) -> io::Result<()> {
    counts.errors += 1;
    line(frame, ethernet, &[], Some(error), lines)
}

fn line(
    frame: &Frame<'_>,
    ethernet: &EthernetView<'_>,
    flags: &[&'static str],
    error: Option<FrameError>,
    lines: &mut Vec<u8>,
) -> io::Result<()> {
    let head = Head {
        kind: "datagram",
        frame,
        ethernet,
        header: None,
    };
    let end = Judgement { flags, error };
    write_line(lines, &DatagramLine { head: &head, end })
}

struct DatagramLine<'a> {
    head: &'a Head<'a>,
    end: Judgement<'a>,
}

impl Serialize for DatagramLine<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.head.write(&mut map)?;
        self.end.write(&mut map)?;
        map.end()
    }
}
