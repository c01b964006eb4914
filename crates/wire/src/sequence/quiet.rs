//! Times in which no frame at all was seen on a network.

/// Shortest time that is remembered.
const QUIET_NS: i64 = 100_000_000;

/// If at least this many tenths of a stream's silence had no frames of any stream, the silence may be a step of the
/// clock that stamps them.
const TENTHS: i64 = 9;

/// The last long time without any frame, by the time stamps of a capture or log. Their clock may have been stepped in
/// that time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quiet {
    newest_ns: Option<i64>,
    last: Option<(i64, i64)>,
}

impl Quiet {
    /// Nothing was seen yet.
    pub const NONE: Self = Self {
        newest_ns: None,
        last: None,
    };

    /// Records that a frame of any stream was stamped `at_ns`.
    #[inline]
    pub fn came(&mut self, at_ns: i64) {
        if let Some(before_ns) = self.newest_ns.replace(at_ns)
            && at_ns.saturating_sub(before_ns) >= QUIET_NS
        {
            self.last = Some((before_ns, at_ns));
        }
    }

    /// True if no frame came from `since_ns` to `now_ns`.
    #[inline]
    pub fn covers(&self, since_ns: i64, now_ns: i64) -> bool {
        self.last.is_some_and(|(start_ns, end_ns)| {
            let quiet_ns = end_ns.saturating_sub(start_ns.max(since_ns));
            quiet_ns > 0 && quiet_ns >= now_ns.saturating_sub(since_ns) / 10 * TENTHS
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Quiet;

    #[test]
    fn only_what_no_stream_interrupts_is_quiet() {
        let mut quiet = Quiet::default();
        for at_ns in [0, 1_000_000, 1_001_000_000, 1_001_300_000] {
            quiet.came(at_ns);
        }
        assert!(quiet.covers(1_000_000, 1_001_000_000));
        assert!(
            quiet.covers(900_000, 1_001_300_000),
            "another stream that was silent, too"
        );
        assert!(!quiet.covers(1_001_000_000, 1_001_300_000));
        assert!(!quiet.covers(-2_000_000_000, 1_001_000_000));
        assert!(!Quiet::default().covers(0, 1));
    }
}
