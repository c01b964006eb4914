//! A drawing of the CPUs around a stall.

use super::svg::{Scale, axis_ns, escape};
use crate::timeline::{Lane, Occupant, Stretch, Timeline};
use std::fmt::Write;
use units::Ns;

const WIDTH: f64 = 1120.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = WIDTH - 10.0;
const TOP: f64 = 22.0;
const LANE: f64 = 34.0;
const BAR: f64 = 22.0;
/// Minimum width of a bar with a name, and the width of a letter, in pixels.
const NAMED_FROM: f64 = 46.0;
const LETTER: f64 = 6.4;
/// Bars narrower than this are not visible.
const NARROWEST: f64 = 0.4;

/// Width and height of its view.
pub(crate) fn size(timeline: &Timeline) -> (f64, f64) {
    (WIDTH, TOP + LANE * timeline.lanes.len() as f64 + 40.0)
}

pub(crate) fn drawing(timeline: &Timeline) -> String {
    let height = size(timeline).1;
    let bottom = height - 40.0;
    let text = escape(&format!("Threads on each CPU around a stall of {}", timeline.series));
    let mut out = format!(
        "<svg class=\"timeline\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-label=\"{text}\"><title>{text}</title>"
    );
    let x = Scale::linear(timeline.from_ns as f64, timeline.to_ns as f64, LEFT, RIGHT);
    waited(&mut out, timeline, &x, bottom);
    for (at, lane) in timeline.lanes.iter().enumerate() {
        draw(&mut out, lane, &x, TOP + LANE * at as f64);
    }
    key(&mut out, bottom + 30.0);
    out + "</svg>"
}

/// Draws the time that the sample waited, and its length.
fn waited(out: &mut String, timeline: &Timeline, x: &Scale, bottom: f64) {
    let (due_ns, came_ns) = timeline.waited_ns;
    let (due, came) = (x.at(due_ns as f64), x.at(came_ns as f64));
    let text = format!(
        "{}: due, and {} later",
        timeline.series,
        Ns(came_ns.saturating_sub(due_ns))
    );
    let _ = write!(
        out,
        "<rect class=\"waited\" x=\"{due:.1}\" y=\"16\" width=\"{:.1}\" height=\"{:.1}\"/>\
         <path class=\"limit\" d=\"M{due:.1} 16V{bottom:.1}M{came:.1} 16V{bottom:.1}\"/>\
         <text class=\"tick\" x=\"{due:.1}\" y=\"11\">{}</text>",
        (came - due).max(1.0),
        bottom - 16.0,
        escape(&text)
    );
}

fn draw(out: &mut String, lane: &Lane, x: &Scale, top: f64) {
    let y = top + (LANE - BAR) / 2.0;
    let _ = write!(
        out,
        "<text class=\"name\" x=\"0\" y=\"{:.1}\">CPU {}</text>",
        y + 15.0,
        lane.cpu
    );
    let width = |stretch: &Stretch| x.at(stretch.to_ns as f64) - x.at(stretch.from_ns as f64);
    for occupant in Occupant::ALL {
        let mut path = String::new();
        let of_it = lane.stretches.iter().filter(|stretch| stretch.occupant == occupant);
        for stretch in of_it.filter(|stretch| width(stretch) >= NARROWEST) {
            let from = x.at(stretch.from_ns as f64);
            let _ = write!(
                path,
                "M{from:.1} {y:.1}h{:.1}v{BAR}h-{:.1}z",
                width(stretch),
                width(stretch)
            );
        }
        if !path.is_empty() {
            let _ = write!(out, "<path class=\"{}\" d=\"{path}\"/>", occupant.word());
        }
    }
    let named = lane.stretches.iter().filter(|stretch| width(stretch) >= NAMED_FROM);
    for stretch in named {
        let from = x.at(stretch.from_ns as f64);
        let text = format!("{} {}", stretch.who, axis_ns((stretch.to_ns - stretch.from_ns) as f64));
        let letters = ((width(stretch) - 8.0) / LETTER) as usize;
        let fits: String = text.chars().take(letters).collect();
        let _ = write!(
            out,
            "<text class=\"in {}\" x=\"{:.1}\" y=\"{:.1}\">{}<title>{}</title></text>",
            stretch.occupant.word(),
            from + 4.0,
            y + 15.0,
            escape(&fits),
            escape(&text)
        );
    }
}

fn key(out: &mut String, y: f64) {
    for (at, occupant) in Occupant::ALL.iter().enumerate() {
        let (x, word) = (LEFT + 100.0 * at as f64, occupant.word());
        let _ = write!(
            out,
            "<rect class=\"{word}\" x=\"{x}\" y=\"{:.0}\" width=\"12\" height=\"10\"/><text class=\"tick\" x=\"{}\" y=\"{y:.0}\">{word}</text>",
            y - 9.0,
            x + 17.0
        );
    }
}

#[cfg(test)]
mod tests {
    use super::drawing;
    use crate::timeline::{Lane, Occupant, Stretch, Timeline};

    #[test]
    fn every_cpu_is_a_lane_and_long_stretches_are_named() {
        let stretch = |from_ns: u64, to_ns: u64, who: &str, occupant: Occupant| Stretch {
            from_ns,
            to_ns,
            who: who.to_owned(),
            occupant,
        };
        let lane = |cpu: u32, stretches: Vec<Stretch>| Lane { cpu, stretches };
        let drawn = drawing(&Timeline {
            from_ns: 0,
            to_ns: 10_000_000,
            waited_ns: (1_000_000, 9_000_000),
            series: "wakeup/<cpu1>".to_owned(),
            lanes: vec![
                lane(0, vec![stretch(0, 10_000_000, "idle", Occupant::Idle)]),
                lane(
                    1,
                    vec![
                        stretch(0, 9_990_000, "thread <b> (pid 7)", Occupant::Thread),
                        stretch(9_990_000, 10_000_000, "softirq RCU", Occupant::Softirq),
                    ],
                ),
            ],
        });
        assert!(drawn.contains(">CPU 0</text>") && drawn.contains(">CPU 1</text>"));
        assert!(drawn.contains("thread &lt;b&gt; (pid 7) 9.99 ms") && !drawn.contains("<b>"));
        assert!(
            drawn.contains("<path class=\"softirq\"") && !drawn.contains("softirq RCU"),
            "too short for a name"
        );
        assert!(drawn.contains("wakeup/&lt;cpu1&gt;: due, and 8.00 ms later"));
    }
}
