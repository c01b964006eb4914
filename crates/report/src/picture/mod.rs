//! Several runs in one drawing, as figures 2 and 3 of ABB and the University of Torino have it: box plots of the largest
//! samples of spans of time, and the largest samples over time, one colour for each run.

pub(crate) mod boxes;
pub(crate) mod course;
pub(crate) mod sheet;

use crate::html::svg::escape;
use model::SeriesView;

/// A drawing of several runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Picture {
    /// Box plots of the largest samples, one for each series and run.
    Boxes,
    /// The largest samples over time, the runs over each other.
    Course,
}

impl Picture {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Boxes, Self::Course];

    /// Its name on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Boxes => "boxes",
            Self::Course => "course",
        }
    }

    /// Its contents in a few words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Boxes => "Box plots of the largest sample of each 20s, for each load (series) and machine (run)",
            Self::Course => "The largest sample of each span over time, the runs over each other",
        }
    }
}

/// Series that belong together, at most one of each run.
pub(crate) struct Group<'a> {
    /// Name of the series, without the kind.
    pub(crate) name: String,
    /// Index of the run, and its series.
    pub(crate) series: Vec<(usize, &'a SeriesView)>,
    /// The limit on the maximum, in ns, if all these series have the same.
    pub(crate) limit_ns: Option<u64>,
}

/// A finished drawing.
#[derive(Debug, Default)]
pub(crate) struct Drawn {
    /// The drawing; empty if there is nothing to draw.
    pub(crate) svg: String,
    /// Width and height of its view.
    pub(crate) size: (f64, f64),
    /// Its meaning, without a full stop.
    pub(crate) caption: String,
    /// Series that are not drawn, each with the reason.
    pub(crate) left_out: Vec<String>,
}

/// Number of colours; further runs use them again with dashed lines.
const COLOURS: usize = crate::html::overlay::CLASSES;

/// CSS classes of the run at this index.
pub(crate) fn look(run: usize) -> String {
    let again = if run % (2 * COLOURS) < COLOURS { "" } else { " again" };
    format!("run{}{again}", run % COLOURS)
}

/// A drawing inside another one, at this position and in this size.
fn placed(svg: &str, (x, y): (f64, f64), (width, height): (f64, f64)) -> String {
    svg.replacen(
        "<svg ",
        &format!("<svg x=\"{x:.0}\" y=\"{y:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" "),
        1,
    )
}

/// A text in a drawing.
fn text_at(class: &str, (x, y): (f64, f64), text: &str) -> String {
    format!(
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>",
        escape(text)
    )
}
