//! Matches the same sample in two files by its stream, count and time.
//!
//! A counter repeats about once a second, so a count identifies a sample only within half a period. The publisher's file is read ahead of the
//! subscriber's by the window and no further: then each count stands for one sample, the latest with that count, which is the correct one if it is
//! within the window. Matching never uses positions, so a loss or duplicate on one side shifts nothing.

use super::LoggerError;
use super::log::{Log, Logged};
use std::io::Read;

/// A sample of the publisher's file that can still be matched.
#[derive(Clone, Copy)]
struct Sent {
    at_ns: i64,
    number: u64,
    flags: u8,
    is_open: bool,
}

const NEVER: Sent = Sent {
    at_ns: i64::MIN,
    number: 0,
    flags: 0,
    is_open: false,
};

/// Result of the search for a sample of the subscriber's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pairing {
    /// The publisher sent it at this time.
    Sent {
        /// Time in ns.
        at_ns: i64,
        /// Number in the publisher's file.
        number: u64,
        /// Flags in the publisher's file.
        flags: u8,
        /// True for its first match.
        is_first: bool,
    },
    /// The publisher's file has no sample with that count within the window.
    Unpaired,
}

/// The publisher's file, searched sample by sample.
pub(crate) struct Publisher<R> {
    pub(crate) log: Log<R>,
    window_ns: i64,
    ahead: Option<Logged>,
    is_over: bool,
    /// Samples by stream of the publisher's file and by count.
    sent: Vec<Vec<Sent>>,
    /// Latest sample read.
    pub(crate) last_ns: i64,
    pub(crate) first_ns: Option<i64>,
}

impl<R: Read> Publisher<R> {
    pub(crate) fn new(log: Log<R>, window_ns: i64) -> Self {
        Self {
            log,
            window_ns,
            ahead: None,
            is_over: false,
            sent: Vec::new(),
            last_ns: i64::MIN,
            first_ns: None,
        }
    }

    /// Searches for a sample that the subscriber received at `at_ns`; `stream` is its stream in the publisher's file.
    pub(crate) fn pair(&mut self, stream: Option<usize>, smp_cnt: u16, at_ns: i64) -> Pairing {
        let counts = stream.and_then(|stream| self.sent.get_mut(stream));
        let Some(sent) = counts.and_then(|counts| counts.get_mut(usize::from(smp_cnt))) else {
            return Pairing::Unpaired;
        };
        if at_ns.abs_diff(sent.at_ns) > self.window_ns.unsigned_abs() {
            return Pairing::Unpaired;
        }
        let is_first = std::mem::replace(&mut sent.is_open, false);
        let Sent {
            at_ns, number, flags, ..
        } = *sent;
        Pairing::Sent {
            at_ns,
            number,
            flags,
            is_first,
        }
    }

    /// The highest number of a stream in the publisher's file.
    pub(crate) fn newest(&self, stream: usize) -> Option<u64> {
        let counts = self.sent.get(stream)?;
        let sent = counts
            .iter()
            .filter(|sent| sent.at_ns != NEVER.at_ns && sent.flags == 0);
        sent.map(|sent| sent.number).max()
    }

    /// Reads on until the window after `at_ns`.
    pub(crate) fn read_to(&mut self, at_ns: i64) -> Result<(), LoggerError> {
        let end_ns = at_ns.saturating_add(self.window_ns);
        while !self.is_over {
            let next = match self.ahead.take() {
                Some(ahead) => Some(ahead),
                None => self.log.next()?,
            };
            let Some(logged) = next else {
                self.is_over = true;
                break;
            };
            if logged.at_ns > end_ns {
                self.ahead = Some(logged);
                break;
            }
            self.keep(&logged);
        }
        Ok(())
    }

    fn keep(&mut self, logged: &Logged) {
        self.first_ns.get_or_insert(logged.at_ns);
        self.last_ns = self.last_ns.max(logged.at_ns);
        if self.sent.len() <= logged.stream {
            self.sent.resize(logged.stream + 1, Vec::new());
        }
        let counts = &mut self.sent[logged.stream];
        let count = usize::from(logged.smp_cnt);
        if counts.len() <= count {
            counts.resize(count + 1, NEVER);
        }
        counts[count] = Sent {
            at_ns: logged.at_ns,
            number: logged.number,
            flags: logged.flags,
            is_open: true,
        };
    }
}
