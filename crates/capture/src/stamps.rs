//! The origin of the stamps of a capture.

/// Beginning of the application name in captures written by this program.
const OURS: &str = "triptime";

/// The origin and unit of the stamps of a capture. No format has a field for the place where a stamp was made, in the NIC, in
/// a tap or in the kernel: it is known only for captures that this program wrote.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stamps {
    /// The unit of the stamps in ns, rounded up: the coarsest of all interfaces described so far. 0 if there is none yet.
    pub unit_ns: u64,
    /// The place in which they were made, in words. `None` if the capture, or a section of it, does not state it.
    pub made_by: Option<String>,
}

impl Stamps {
    /// The stamps of an interface in a section that `application` wrote.
    pub(crate) fn of(unit_ns: u64, application: Option<&str>) -> Self {
        let ours = application.filter(|name| name.split_whitespace().next() == Some(OURS));
        // A forged capture may have control characters after our name; they must not reach a terminal.
        let made_by =
            ours.map(|_| format!("{OURS}: received frames by the kernel, sent ones just before the send call"));
        Self { unit_ns, made_by }
    }

    /// Combines these with others: keeps only the facts that are true for both.
    #[must_use]
    pub fn and(self, other: &Self) -> Self {
        Self {
            unit_ns: self.unit_ns.max(other.unit_ns),
            made_by: self.made_by.filter(|by| other.made_by.as_ref() == Some(by)),
        }
    }
}
