//! The questions, in the order in which they are asked.

use place::PlaceKind;
use report::limits::Profile;
use units::{CpuList, Refusal, Refuse, parse_ns, refusal};
use wire::sv::Profile as FrameProfile;

/// A question of the form.
#[derive(Debug)]
pub struct Question {
    /// Its key in the file of answers.
    pub key: &'static str,
    /// The question itself, in one line.
    pub asks: &'static str,
    /// Ways to find the answer: a command of this machine, a document, a person.
    pub how: &'static str,
    /// An answer as an example.
    pub example: &'static str,
    /// The effect of leaving it open.
    pub open: &'static str,
    /// Checks an answer; returns the reason for a refusal.
    pub check: fn(&str) -> Result<(), Refusal>,
}

/// All questions.
pub const QUESTIONS: [Question; 16] = [
    Question {
        key: "site",
        asks: "Name of the site, for the plan and the record",
        how: "the name on the substation's drawings",
        example: "Substation North, bay 7",
        open: "the plan has the name of the machine",
        check: one_line,
    },
    Question {
        key: "place",
        asks: "Place of the relay: native (a process of this machine), container, vm, or container-in-vm",
        how: "`virsh list --all`, `podman ps` or `docker ps`; the supplier's installation guide",
        example: "vm",
        open: "measured in a process of this machine",
        check: place,
    },
    Question {
        key: "cpus",
        asks: "CPUs of the relay, which are judged",
        how: "`cat /sys/devices/system/cpu/isolated`; for a guest `virsh vcpupin DOMAIN`; `triptime qualify --show` says which it would take",
        example: "2-3",
        open: "all but the housekeeping ones, or the isolated ones if there are any by then",
        check: |text| text.parse::<CpuList>().map(drop).refused(),
    },
    Question {
        key: "interface",
        asks: "Interface to the process bus",
        how: "`ip -br link`; the port to which the merging units' switch is cabled: `triptime subscribe IF --duration 5s` shows their streams",
        example: "eth1",
        open: "no command for the process bus is printed; the plan always uses a bed of its own inside this machine",
        check: interface,
    },
    Question {
        key: "scl",
        asks: "SCL file with the merging units' streams and the relays' GOOSE",
        how: "the SCD of the substation, from the system configuration tool; a CID or IID of the merging units will do",
        example: "substation.scd",
        open: "number, rate and ASDUs of the streams are asked, and GOOSE is named by its reference",
        check: one_line,
    },
    Question {
        key: "streams",
        asks: "Number of sampled-value streams that the relay receives",
        how: "one for each merging unit, two where it sends two; count them with `triptime subscribe IF --duration 5s`",
        example: "8",
        open: "8",
        check: |text| whole(text, 1, 200),
    },
    Question {
        key: "rate",
        asks: "Samples a second of each stream",
        how: "4000 or 4800 (9-2LE at 50 or 60 Hz), 4800 (IEC 61869-9 protection), 14400; `triptime subscribe IF --duration 5s` shows it",
        example: "4800",
        open: "4800",
        check: |text| whole(text, 1, 65536),
    },
    Question {
        key: "asdus",
        asks: "ASDUs in each frame",
        how: "1 (9-2LE), 2 (IEC 61869-9 protection); noASDU in the SCL file, or `triptime subscribe IF --duration 5s`",
        example: "2",
        open: "2",
        check: |text| whole(text, 1, 16),
    },
    Question {
        key: "relays",
        asks: "GOOSE control blocks with which relays of others trip, divided by commas",
        how: "GSEControl in the SCL file; `triptime subscribe IF --duration 5s` shows each gocbRef; the relay's configuration tool",
        example: "IED1LD0/LLN0$GO$gcbTrip",
        open: "only triptime's own relay is measured",
        check: references,
    },
    Question {
        key: "trip_member",
        asks: "Member of their dataset that is true when a relay trips: a number from 0, or a name in the SCL file",
        how: "FCDA in the SCL file: usually PTRC1.Tr.general; `triptime pcap CAPTURE --decode` prints allData of a trip",
        example: "PTRC1.Tr.general",
        open: "0, the first member",
        check: one_line,
    },
    Question {
        key: "profile",
        asks: "Limits to begin with: substation, seapath, vpac or avb",
        how: "`triptime help output` names them; each limit has its source in the written file",
        example: "substation",
        open: "substation",
        check: profile,
    },
    Question {
        key: "trip_within",
        asks: "Longest time from the fault to the trip's GOOSE",
        how: "the protection concept: fault clearing time, minus breaker, minus margin; or the relay's data sheet",
        example: "20ms",
        open: "each scenario's own time is required, no other",
        check: time,
    },
    Question {
        key: "trip_source",
        asks: "Source of that time: a document, with its edition",
        how: "every limit has a source, which stands in the report",
        example: "Protection concept 110 kV, edition 3, table 4",
        open: "the answers of the site",
        check: one_line,
    },
    Question {
        key: "duration",
        asks: "Length of each step of the measurement",
        how: "a stall of once a day needs days: 24h for an acceptance, 7d as the published statements; `--duration` overrides it",
        example: "24h",
        open: "10m",
        check: time,
    },
    Question {
        key: "object",
        asks: "Tested object, for the record",
        how: "the order, the drawing",
        example: "Virtual protection host, bays 1 to 8",
        open: "filled in by hand on the printed record",
        check: one_line,
    },
    Question {
        key: "operator",
        asks: "Person who runs the test, for the record",
        how: "you",
        example: "A. Example",
        open: "filled in by hand on the printed record",
        check: one_line,
    },
];

impl Question {
    /// The question with this key.
    pub fn of(key: &str) -> Option<&'static Self> {
        QUESTIONS.iter().find(|question| question.key == key)
    }
}

fn one_line(text: &str) -> Result<(), Refusal> {
    match text.chars().any(char::is_control) {
        true => Err(refusal!("has a control character")),
        false => Ok(()),
    }
}

fn time(text: &str) -> Result<(), Refusal> {
    match parse_ns(text).refused()? {
        0 => Err(refusal!("must be more than 0")),
        _ => Ok(()),
    }
}

fn place(text: &str) -> Result<(), Refusal> {
    let names = || PlaceKind::OF_PLANS.map(PlaceKind::name).join(", ");
    PlaceKind::named(text)
        .map(drop)
        .ok_or_else(|| refusal!("must be one of {}", names()))
}

fn whole(text: &str, least: u32, most: u32) -> Result<(), Refusal> {
    match text.parse::<u32>() {
        Ok(number) if (least..=most).contains(&number) => Ok(()),
        _ => Err(refusal!("must be a whole number from {least} to {most}")),
    }
}

/// The kernel's rule for names of interfaces (`dev_valid_name`).
fn interface(text: &str) -> Result<(), Refusal> {
    let is_bad = |c: char| c == '/' || c == ':' || c.is_whitespace() || c.is_control();
    match text.len() > 15 || text == "." || text == ".." || text.contains(is_bad) {
        true => Err(refusal!(
            "is not the name of an interface: at most 15 bytes, no blank, slash or colon"
        )),
        false => Ok(()),
    }
}

fn references(text: &str) -> Result<(), Refusal> {
    let bad = text.split(',').map(str::trim).find(|one| !is_reference(one));
    bad.map_or(Ok(()), |one| {
        Err(refusal!("\"{one}\" is not a reference such as IED1LD0/LLN0$GO$gcbTrip"))
    })
}

fn is_reference(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_graphic() && !"'\"\\`,".contains(c);
    text.contains("$GO$") && text.len() <= 129 && text.chars().all(plain)
}

fn profile(text: &str) -> Result<(), Refusal> {
    let names = Profile::embedded_names();
    match names.contains(&text) {
        true => Ok(()),
        false => Err(refusal!("must be one of {}", names.join(", "))),
    }
}

/// Checks that rate and ASDUs make a possible frame.
pub(crate) fn frame(rate: &str, asdus: &str) -> Result<FrameProfile, Refusal> {
    format!("F{rate}S{asdus}I4U4").parse::<FrameProfile>().refused()
}
