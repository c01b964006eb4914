//! Live histograms on the terminal.

use probes::trace::LiveHop;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};
use units::{foreign, format_ns};

/// Interval between two drawings.
const EVERY: Duration = Duration::from_secs(1);

/// Width of the longest bar, in columns.
const BAR: usize = 50;

/// Moves to the top left and clears the terminal.
const HOME: &str = "\x1b[H\x1b[J";

/// Draws on standard error.
pub(super) struct Screen {
    hops: Vec<String>,
    drawn: Option<Instant>,
    clears: bool,
}

impl Screen {
    pub(super) fn new(hops: Vec<String>) -> Self {
        Self {
            hops,
            drawn: None,
            clears: std::io::stderr().is_terminal(),
        }
    }

    pub(super) fn draw(&mut self, found: &[LiveHop]) {
        if self.drawn.is_some_and(|drawn| drawn.elapsed() < EVERY) {
            return;
        }
        self.drawn = Some(Instant::now());
        let home = if self.clears { HOME } else { "" };
        let parts: Vec<String> = self.hops.iter().map(|name| render(name, found)).collect();
        let _ = write!(std::io::stderr(), "{home}{}", parts.join("\n"));
    }
}

/// Draws one hop: its figures, and a bar for each bin. Bars are logarithmic, so that a single late frame is visible.
fn render(name: &str, found: &[LiveHop]) -> String {
    let Some(hop) = found.iter().find(|hop| hop.name == name && hop.count > 0) else {
        return format!("{}: nothing yet\n", foreign::shown(name));
    };
    let show = |ns: f64| format_ns(ns);
    let name = foreign::shown(name);
    let mut text = format!(
        "{name}: {} frames, min {}, mean {}, max {}, lost {}\n",
        hop.count,
        show(hop.min_ns as f64),
        show(hop.sum_ns as f64 / hop.count as f64),
        show(hop.max_ns as f64),
        hop.lost
    );
    let most = hop.bins.iter().copied().max().unwrap_or(0);
    let first = hop.bins.iter().position(|count| *count > 0).unwrap_or(0);
    for (bin, count) in hop.bins.iter().enumerate().skip(first) {
        let bar = "#".repeat(length(*count, most));
        text.push_str(&format!(
            "{:>10} |{bar:<BAR$}| {count}\n",
            show(LiveHop::bin_from_ns(bin))
        ));
    }
    text
}

fn length(count: u64, most: u64) -> usize {
    if count == 0 {
        return 0;
    }
    let share = (count as f64).ln_1p() / (most as f64).ln_1p();
    ((share * BAR as f64).round() as usize).max(1)
}

#[cfg(test)]
mod tests {
    use super::{BAR, render};
    use probes::trace::LiveHop;

    #[test]
    fn a_single_late_frame_shows_among_a_million() {
        let mut bins = vec![0; 26];
        (bins[15], bins[25]) = (1_000_000, 1);
        let hop = LiveHop {
            name: "nic-to-tap".to_owned(),
            count: 1_000_001,
            lost: 2,
            sum_ns: 1_000_001_000,
            min_ns: 900,
            max_ns: 100_000,
            bins,
        };
        let text = render("nic-to-tap", &[hop]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 1 + 11);
        assert!(
            lines[0].starts_with("nic-to-tap: 1000001 frames, min 900"),
            "{}",
            lines[0]
        );
        assert!(lines[0].ends_with("lost 2"));
        assert!(lines[1].contains(&"#".repeat(BAR)) && lines[1].ends_with("| 1000000"));
        assert!(lines[11].contains("|##") && lines[11].ends_with("| 1"));
        assert_eq!(render("tap-to-app", &[]), "tap-to-app: nothing yet\n");
    }
}
