//! Runs in one drawing, as SVG on standard output.

use crate::failure::{COULD_NOT_MEASURE, Failure, say};
use crate::named::{self, distinct};
use crate::samples::SampleArg;
use crate::{timeline, verdict};
use clap::builder::PossibleValue;
use report::comparison::{Comparison, kind_to_draw};
use report::limits::Profile;
use report::picture::Picture;

/// A drawing and its name on the command line.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FigureArg {
    /// One of several runs.
    Runs(Picture),
    /// One of a sample of one run.
    Around,
}

impl clap::ValueEnum for FigureArg {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [FigureArg; 3] = [
            FigureArg::Runs(Picture::ALL[0]),
            FigureArg::Runs(Picture::ALL[1]),
            FigureArg::Around,
        ];
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (word, help) = match self {
            Self::Runs(picture) => (picture.word(), picture.describe()),
            Self::Around => ("around", "Who had each CPU around a late sample of one run (--sample)"),
        };
        Some(PossibleValue::new(word).help(help))
    }
}

/// Prints the CPUs around a sample of the only run; returns the exit status.
pub(crate) fn around(runs: &[String], sample: Option<&SampleArg>) -> Result<u8, Failure> {
    let [text] = runs else {
        return Err(Failure::Usage(
            "--figure around draws a sample of one run: name one".into(),
        ));
    };
    let run = named::open(text)?;
    let timeline = timeline::around(&run.file, sample)?;
    verdict::write(&timeline.sheet(&run.shown_by()))?;
    Ok(0)
}

/// Prints the drawing; returns the exit status. Without `profile` each run has the limits that it keeps. Series that are not drawn are named
/// on standard error; a run that may lack windows is incomplete.
pub(crate) fn show(
    picture: Picture,
    runs: &[String],
    kind: Option<&str>,
    profile: Option<&Profile>,
) -> Result<u8, Failure> {
    let (mut views, mut profiles) = (Vec::new(), Vec::new());
    let mut lacking = false;
    for text in runs {
        let run = named::open(text)?;
        lacking |= !run.is_whole;
        profiles.push(campaign::profile_of(&run.file, profile.cloned())?);
        views.push((run.shown_by(), run.view));
    }
    let kind = kind_to_draw(&views, kind).map_err(Failure::Usage)?;
    for (_, view) in &mut views {
        view.series.retain(|series| series.family() == kind);
    }
    let comparison = Comparison::of(distinct(views)).judged(&profiles);
    let (svg, left_out) = comparison.picture(picture, &kind).map_err(Failure::CouldNotMeasure)?;
    verdict::write(&svg)?;
    for line in left_out {
        say(&format_args!("not drawn: {line}"));
    }
    Ok(if lacking { COULD_NOT_MEASURE } else { 0 })
}
