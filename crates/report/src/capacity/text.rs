//! The answer in words.

use super::{Attempt, Capacity, GaveWay, Part, Tried};
use crate::bound::odds;
use crate::text::{count, plural};
use units::Ns;

impl Capacity {
    /// The answer in one sentence.
    pub fn sentence(&self) -> String {
        match (self.streams(), self.limited_by()) {
            (Some(streams), _) => format!(
                "At least {}, held for {} (95 %).",
                self.what(streams),
                Ns(self.hold.sent_for_ns)
            ),
            (None, Some((1, gave_way))) if gave_way.part == Part::Host => {
                format!("Not even {}.", self.what(1))
            }
            (None, _) => format!(
                "No number of streams could be held. The last attempt was {}.",
                self.what(self.search.wanted.streams)
            ),
        }
    }

    /// Describes the load: `12 streams of 4800 samples/s`.
    fn what(&self, streams: u16) -> String {
        let wanted = &self.search.wanted;
        let with = match wanted.relay {
            true => format!(", each with a bay of the relay bays{streams}"),
            false => String::new(),
        };
        format!(
            "{} of {} samples/s{with}",
            plural(u64::from(streams), "stream"),
            wanted.rate
        )
    }

    /// The reasons for the answer, one per line.
    pub fn lines(&self) -> Vec<String> {
        let hold = std::iter::once(
            self.hold
                .sentence(self.search.wanted.within_ns, self.search.wanted.quantile),
        );
        hold.chain([self.limit(), self.asked()].into_iter().flatten()).collect()
    }

    /// The reason why the search ended.
    fn limit(&self) -> Option<String> {
        let most = |part: Part| match part {
            Part::Host => "the first failure",
            Part::TestSet => "the test set failed before the host",
            Part::Unknown => "it is not known if the host can handle more",
        };
        Some(match self.limited_by() {
            None => format!(
                "Nothing failed up to --max {}: the host may handle more.",
                self.search.max
            ),
            Some((streams, GaveWay { part, what })) => {
                format!("At {}, {}: {what}.", plural(u64::from(streams), "stream"), most(*part))
            }
        })
    }

    /// The required number and its verdict.
    fn asked(&self) -> Option<String> {
        let verdict = self.verdict()?;
        let asked = self.search.at_least?;
        Some(format!(
            "Asked for at least {}: {}.",
            plural(u64::from(asked), "stream"),
            verdict.word()
        ))
    }

    /// Headings of [`Capacity::rows`].
    pub(crate) const HEADS: [&'static str; 5] = ["streams", "as", "attempts", "failed", "failure"];

    /// The attempts before the hold, followed by the hold.
    pub(crate) fn rows(&self) -> Vec<[String; 5]> {
        let hold = Tried {
            streams: self.search.wanted.streams,
            is_hold: true,
            attempts: 1,
            failed: u8::from(self.hold.gave_way.is_some()),
            gave_way: self.hold.gave_way.clone(),
        };
        self.search.tried.iter().chain([&hold]).map(row).collect()
    }
}

fn row(tried: &Tried) -> [String; 5] {
    let word = if tried.is_hold { "hold" } else { "probe" };
    let gave_way = tried.gave_way.as_ref().map(GaveWay::text);
    [
        count(u64::from(tried.streams)),
        word.to_owned(),
        tried.attempts.to_string(),
        tried.failed.to_string(),
        gave_way.unwrap_or_default(),
    ]
}

impl GaveWay {
    /// Text for people.
    pub fn text(&self) -> String {
        format!("{}: {}", self.part.words(), self.what)
    }
}

impl Part {
    /// The word used in files.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::TestSet => "test-set",
            Self::Unknown => "unknown",
        }
    }

    /// Text for people.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::TestSet => "test set",
            Self::Unknown => "not known",
        }
    }
}

impl Attempt {
    fn sentence(&self, within_ns: u64, quantile: f64) -> String {
        let lost = format!("{} of {} frames lost", count(self.lost), count(self.sent));
        let over = format!(
            "{} of {} samples over {}",
            count(self.over),
            count(self.samples),
            Ns(within_ns)
        );
        let left_out = match self.left_out {
            0 => String::new(),
            frames => format!(" The test set left out {} more.", plural(frames, "frame")),
        };
        format!(
            "{lost}: at most {}. {over}: at most {} (95 %, for independent samples; a share of {quantile} must be in time).{left_out}",
            odds(self.loss_below()),
            odds(self.over_below()),
        )
    }
}
