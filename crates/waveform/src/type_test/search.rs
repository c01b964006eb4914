//! The search for a border along several lines: each shot is chosen by the outcomes before it.

use super::ShotPlace;
use crate::scenario::Expect;
use model::{Characteristic, EdgeShot};

/// Tries of a shot that does not count, before its line is given up.
const TRIES: u32 = 3;

/// Values along a line, in equal steps of percent of the border by the settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SearchScale {
    pub(super) least_percent: f64,
    pub(super) most_percent: f64,
    pub(super) step_percent: f64,
    pub(super) error_percent: f64,
}

impl SearchScale {
    /// Percent of the border at this step.
    pub(super) fn percent(&self, step: usize) -> f64 {
        self.least_percent + step as f64 * self.step_percent
    }

    /// The last step.
    pub(super) fn last(&self) -> usize {
        ((self.most_percent - self.least_percent) / self.step_percent).round() as usize
    }

    /// The last step that is certainly below the border, and the first that is certainly above it.
    fn certain(&self) -> [usize; 2] {
        // A border that is hit but for rounding counts as hit.
        let steps = |percent: f64| (percent - self.least_percent) / self.step_percent;
        [
            (steps(100.0 - self.error_percent) + 1e-6).floor() as usize,
            (steps(100.0 + self.error_percent) - 1e-6).ceil() as usize,
        ]
    }

    /// Whether a step is below (-1), near (0) or above (1) the border.
    fn side(&self, step: usize) -> i8 {
        let [below, above] = self.certain();
        i8::from(step >= above) - i8::from(step <= below)
    }
}

/// The line of a search, and the times of its shots.
pub(super) struct SearchLine {
    pub(super) of: Characteristic,
    /// The conductors with the fault.
    pub(super) fault: String,
    /// Place of the line.
    pub(super) along: f64,
    /// The border by the settings.
    pub(super) wanted: f64,
    pub(super) within_ns: u64,
    pub(super) approach_ns: u64,
}

impl SearchScale {
    /// The shot of a line at this step, and the action that it requires.
    pub(super) fn shot(&self, line: SearchLine, step: usize) -> (EdgeShot, Expect) {
        let at = |percent: f64| line.wanted * percent / 100.0;
        let is_inside = if line.of.trips_below() { -1 } else { 1 };
        let expect = match self.side(step) * is_inside {
            1 => Expect::Trip {
                within_ns: Some(line.within_ns),
                soonest_ns: None,
            },
            0 => Expect::Either,
            _ => Expect::NoTrip,
        };
        let shot = EdgeShot {
            of: line.of,
            fault: line.fault,
            along: line.along,
            value: at(self.percent(step)),
            wanted: line.wanted,
            error_percent: self.error_percent,
            resolution: at(self.step_percent),
            ends: Some([self.least_percent, self.most_percent].map(at)),
            within_ns: line.within_ns,
            approach_ns: line.approach_ns,
        };
        (shot, expect)
    }
}

/// A search under way.
///
/// On each line the first shots are at the borders of the declared error. If these have another outcome than they should, the lowest or the highest
/// value follows; then the bracket is halved down to one step. At the end, shots one step beside the bracket show whether the relay is steady.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    scale: SearchScale,
    /// Group and point of each line.
    lines: Vec<(usize, usize)>,
    /// Shots on each side at the end of a line.
    checks: usize,
    trips_below: bool,
    /// Number of the line.
    line: usize,
    /// The largest step known to be below the border, and the smallest known to be above.
    below: Option<usize>,
    above: Option<usize>,
    checked: usize,
    tries: u32,
    given_up: usize,
}

impl Search {
    pub(super) fn new(scale: SearchScale, lines: Vec<(usize, usize)>, checks: usize, trips_below: bool) -> Self {
        Self {
            scale,
            lines,
            checks,
            trips_below,
            line: 0,
            below: None,
            above: None,
            checked: 0,
            tries: 0,
            given_up: 0,
        }
    }

    /// The next shot; `None` at the end.
    pub fn shot(&self) -> Option<ShotPlace> {
        let (group, point) = *self.lines.get(self.line)?;
        Some(ShotPlace {
            group,
            position: self.step(),
            point,
        })
    }

    fn step(&self) -> usize {
        let (last, [inner, outer]) = (self.scale.last(), self.scale.certain());
        match (self.below, self.above) {
            (None, None) => inner,
            (None, Some(_)) => 0,
            (Some(below), None) if below < outer => outer,
            (Some(_), None) => last,
            (Some(below), Some(above)) if above > below + 1 => usize::midpoint(below, above),
            (Some(below), Some(_)) if self.checked.is_multiple_of(2) => below.saturating_sub(1),
            (Some(_), Some(above)) => (above + 1).min(last),
        }
    }

    /// Takes the outcome of that shot; `None`: it does not count.
    pub fn take(&mut self, tripped: Option<bool>) {
        let Some(tripped) = tripped else {
            self.tries += 1;
            if self.tries == TRIES {
                self.given_up += 1;
                self.next_line();
            }
            return;
        };
        self.tries = 0;
        let step = self.step();
        match (self.below, self.above) {
            (Some(below), Some(above)) if above == below + 1 => self.checked += 1,
            _ if tripped == self.trips_below => self.below = Some(step),
            _ => self.above = Some(step),
        }
        let is_bracketed = matches!((self.below, self.above), (Some(below), Some(above)) if above == below + 1);
        let is_checked = is_bracketed && self.checked >= 2 * self.checks;
        // Nothing is below the lowest value, or nothing above the highest: there is no border to find.
        let has_none = self.above == Some(0) || self.below == Some(self.scale.last());
        if is_checked || has_none {
            self.next_line();
        }
    }

    fn next_line(&mut self) {
        self.line += 1;
        (self.below, self.above) = (None, None);
        (self.checked, self.tries) = (0, 0);
    }

    /// Lines that are finished, and all lines.
    pub fn progress(&self) -> (usize, usize) {
        (self.line, self.lines.len())
    }

    /// Lines given up, because their shots did not count.
    pub fn given_up(&self) -> usize {
        self.given_up
    }
}

#[cfg(test)]
mod tests {
    use super::{Search, SearchScale};

    const SCALE: SearchScale = SearchScale {
        least_percent: 10.0,
        most_percent: 200.0,
        step_percent: 0.5,
        error_percent: 5.0,
    };

    /// Percentages played on one line by a relay that acts so, with the outcome of each.
    fn played(trips_below: bool, mut trips: impl FnMut(f64) -> Option<bool>) -> Vec<(f64, Option<bool>)> {
        let mut search = Search::new(SCALE, vec![(0, 0)], 1, trips_below);
        let mut all = Vec::new();
        while let Some(place) = search.shot() {
            let percent = SCALE.percent(place.position);
            let tripped = trips(percent);
            all.push((percent, tripped));
            search.take(tripped);
            assert!(all.len() < 40, "it ends: {all:?}");
        }
        assert_eq!(search.progress(), (1, 1));
        all
    }

    #[test]
    fn a_border_is_found_to_a_step_wherever_it_is() {
        for border in [12.3, 60.0, 94.9, 95.2, 99.7, 104.8, 106.0, 188.1] {
            for trips_below in [true, false] {
                let all = played(trips_below, |percent| Some((percent < border) == trips_below));
                let is_below = |(_, tripped): &&(f64, Option<bool>)| *tripped == Some(trips_below);
                let below = all.iter().filter(is_below).map(|one| one.0).fold(0.0, f64::max);
                let above = all
                    .iter()
                    .filter(|one| !is_below(one))
                    .map(|one| one.0)
                    .fold(f64::MAX, f64::min);
                assert!(below < border && above >= border, "{border}: {below} to {above}");
                assert!((above - below - 0.5).abs() < 1e-9, "{border}: {below} to {above}");
            }
        }
    }

    #[test]
    fn the_ends_of_the_declared_error_come_first() {
        let all = played(true, |percent| Some(percent < 100.2));
        assert_eq!((all[0].0, all[1].0), (95.0, 105.0));
        assert!(all.len() <= 9, "{all:?}");
        assert_eq!((SCALE.side(170), SCALE.side(180), SCALE.side(190)), (-1, 0, 1));
    }

    #[test]
    fn a_relay_without_a_border_ends_a_line_at_once() {
        assert_eq!(played(true, |_| Some(true)).last(), Some(&(200.0, Some(true))));
        assert_eq!(played(true, |_| Some(false)).last(), Some(&(10.0, Some(false))));
        assert_eq!(played(false, |_| Some(true)).last(), Some(&(10.0, Some(true))));
    }

    #[test]
    fn a_line_whose_shots_do_not_count_is_given_up_after_three() {
        let mut search = Search::new(SCALE, vec![(0, 0), (0, 1)], 1, true);
        for _ in 0..3 {
            search.take(None);
        }
        assert_eq!((search.progress(), search.given_up()), ((1, 2), 1));
        // One that counts at the second try goes on.
        let mut fails = 0;
        let all = played(true, |percent| {
            fails += 1;
            (fails % 2 == 0).then_some(percent < 90.0)
        });
        assert!(all.iter().any(|one| one.1 == Some(true)));
    }
}
