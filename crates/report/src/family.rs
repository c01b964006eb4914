//! Kinds of series, by the part of their name before the first `/`, and what each measures.

/// A kind of series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Family {
    /// The part of the name before the first `/`.
    pub name: &'static str,
    /// Heading.
    pub title: &'static str,
    /// Between which two instants a sample lies, and what that means.
    pub what: &'static str,
}

/// In the order of the report.
pub const FAMILIES: [Family; 19] = [
    Family {
        name: "wakeup",
        title: "Wake-up latency",
        what: "Due instant of a timer to the instant the thread runs. Periods skipped because the thread was held up are \
               counted as missed; no catch-up burst follows.",
    },
    Family {
        name: "noise",
        title: "Noise",
        what: "Gaps longer than the threshold in which a spinning thread did not run. Each sample is the length of one gap; \
               the time the thread was watched is counted beside them.",
    },
    Family {
        name: "rtt",
        title: "Layer-2 round trip",
        what: "Immediate-reflect round trip: just before the send call to just after the frame with the same sequence \
               number is back. Not halved.",
    },
    Family {
        name: "stage",
        title: "Stages of the round trip",
        what: "Where the round trip's time goes, by the time stamps of the kernel or the NIC; the parts add up to it.",
    },
    Family {
        name: "turnaround",
        title: "Reflector turn-round",
        what: "Reflector's own part of a round trip: frame seen in the ring to the answer handed to the driver.",
    },
    Family {
        name: "publish",
        title: "Publisher lateness",
        what: "Due instant of a sampled value or a GOOSE message to the end of its send call: how well this publisher kept its \
               schedule.",
    },
    Family {
        name: "talk",
        title: "Talker delta",
        what: "Due instant of a frame to the instant just before its send call. Cycles that were slept through are counted as \
               missed: nothing is sent for them, then or later.",
    },
    Family {
        name: "send",
        title: "Send call",
        what: "Instant just before the send call to its return.",
    },
    Family {
        name: "listen",
        title: "Listener delta",
        what: "Time between two frames of one stream that follow each other, by the kernel's receive time stamps. Lost frames \
               are counted, and lengthen the time around them.",
    },
    Family {
        name: "arrival",
        title: "Arrival",
        what: "Due instant of a sampled value to the kernel's receive time stamp: publisher, network and host transit.",
    },
    Family {
        name: "hop",
        title: "Hops inside the host",
        what: "One observation point in this kernel to the next, and the first point to each that is further away.",
    },
    Family {
        name: "delivery",
        title: "Delivery",
        what: "The kernel's receive time stamp to the application having the frame.",
    },
    Family {
        name: "age",
        title: "Age at the application",
        what: "Due instant of a sampled value to the application having it: arrival and delivery in one.",
    },
    Family {
        name: "spacing",
        title: "Spacing",
        what: "Time between two frames of one stream that follow each other at the application.",
    },
    Family {
        name: "goose",
        title: "GOOSE spacing",
        what: "Time between two messages of one GOOSE stream that follow each other; late counts how often none came in the \
               time that the one before allowed.",
    },
    Family {
        name: "clock",
        title: "Clock",
        what: "How far this machine's clock was from its PTP master, the path delay it was measured over, and how far the system \
               clock was from the network card's. Distances without their sign.",
    },
    Family {
        name: "goose-transfer",
        title: "GOOSE transfer",
        what: "Time stamp of a change of state in its first message to the application having that message: publisher, network \
               and delivery in one.",
    },
    Family {
        name: "task",
        title: "Protection task",
        what: "Start of a protection cycle to its end.",
    },
    Family {
        name: "trip",
        title: "Trip time",
        what: "Due instant of the first faulted sample to the first GOOSE frame with the trip bit, at the same test set.",
    },
];

/// The family of that name, if it is one of ours.
pub fn known(name: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.name == name)
}

/// Families whose samples are frames given to an interface: nobody there sees whether they left it.
const SENDS: [&str; 3] = ["publish", "talk", "send"];

/// Whether samples of this family are frames sent.
pub(crate) fn sends_frames(name: &str) -> bool {
    SENDS.contains(&name)
}

/// Families of streams that a publisher or talker of the same run may have sent.
const OF_A_STREAM: [&str; 5] = ["spacing", "arrival", "age", "delivery", "listen"];

/// Whether samples of this family are frames of a stream.
pub(crate) fn is_of_a_stream(name: &str) -> bool {
    OF_A_STREAM.contains(&name)
}

/// Families whose samples do not come out of a socket: frames our own socket drops are none of theirs.
const WITHOUT_SOCKET: [&str; 7] = ["wakeup", "noise", "publish", "talk", "send", "task", "clock"];

/// Whether samples of this family are received frames. Of a family that is not known, they may be.
pub(crate) fn receives_frames(name: &str) -> bool {
    !WITHOUT_SOCKET.contains(&name)
}

/// Names of the families among `names`, each once: ours in the report's order, then others as they come.
pub fn in_order<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found.sort_by_key(|name| {
        FAMILIES
            .iter()
            .position(|family| family.name == *name)
            .unwrap_or(FAMILIES.len())
    });
    found
}

#[cfg(test)]
mod tests {
    use super::in_order;

    #[test]
    fn ours_first_then_others_as_they_come() {
        let names = ["zeta", "age", "wakeup", "alpha", "age"];
        assert_eq!(in_order(names.into_iter()), ["wakeup", "age", "zeta", "alpha"]);
    }
}
