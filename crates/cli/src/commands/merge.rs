//! `triptime merge`: recordings of several runs as one.

use crate::failure::{COULD_NOT_MEASURE, Failure};
use crate::judge::JudgeArgs;
use crate::run_file::thresholds;
use crate::verdict;
use merge::{Input, Merge, MergeError, Relation};
use run::NewRun;
use std::path::PathBuf;
use store::RunFile;

/// Merges recordings that saw the same frames into one run: a host's and a guest's, or a sender's and a receiver's
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Example: triptime trace eth1 --record --duration 60s --out host.triptime           (on the host)
         triptime trace eth0 --record --duration 60s --out guest.triptime          (in the guest)
         triptime merge host.triptime guest.triptime --label host --label guest --clock ptp:2us --limits substation")]
pub(crate) struct MergeArgs {
    /// Runs with recordings (trace --record, subscribe --record), in the order the frames pass them; 2 to 4
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Name for the points of each run, in turn: host turns its nic into host.nic [default: the host's name, or the
    /// command]
    #[arg(long, value_name = "NAME", value_parser = label)]
    label: Vec<String>,
    /// Relation between the runs' clocks: same-host (checked), ptp:UNCERTAINTY (both follow one grandmaster), or offset:NS:UNCERTAINTY (the
    /// later run's clock minus the first's, as measured elsewhere); without it there are no durations between the runs
    #[arg(long, value_name = "RELATION", default_value = "none", value_parser = relation, allow_hyphen_values = true)]
    clock: Relation,
    /// Run file to write [default: ./runs/TIME-merge.triptime]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    judge: JudgeArgs,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &MergeArgs) -> Result<u8, Failure> {
    let profile = args.judge.profile(args.out.as_deref())?;
    if args.label.len() > args.runs.len() {
        return Err(Failure::Usage(format!(
            "merge: {} names for {} runs",
            args.label.len(),
            args.runs.len()
        )));
    }
    let mut contradicts = false;
    for path in &args.runs {
        contradicts |= !verdict::say_contradictions(&RunFile::open(path)?.view()?).is_empty();
    }
    let inputs: Vec<Input> = args
        .runs
        .iter()
        .enumerate()
        .map(|(index, path)| Input {
            path: path.clone(),
            label: args.label.get(index).cloned(),
            ahead_ns: 0,
        })
        .collect();
    let merge = Merge::open(&inputs, args.clock)
        .map_err(failure)?
        .with_thresholds(thresholds(profile.as_ref()));
    let mut run = NewRun {
        window_ns: merge.window_ns(),
        ..args.judge.new_run("merge", args.out.clone())?
    };
    run.make(merge.started(), |writer| {
        merge.write(writer).map_err(failure)?;
        Ok::<_, Failure>((merge.state(), merge.duration_ns()))
    })?;
    let status = args.judge.show(&run.file, profile)?;
    Ok(if contradicts && status == 0 {
        COULD_NOT_MEASURE
    } else {
        status
    })
}

fn failure(error: MergeError) -> Failure {
    match error {
        MergeError::Store(error) => error.into(),
        MergeError::NoRecording(_) | MergeError::Segment(..) | MergeError::Pack(_) => {
            Failure::CouldNotMeasure(format!("merge: {error}"))
        }
        MergeError::Merged(_)
        | MergeError::Runs(_)
        | MergeError::Label(_)
        | MergeError::Points(_)
        | MergeError::Streams
        | MergeError::Clock(_) => Failure::Usage(format!("merge: {error}")),
    }
}

/// Parses a word that may be part of the name of a series.
fn label(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    match !text.is_empty() && text.chars().all(fits) && !text.contains("-to-") {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "\"{text}\": use a name of letters, digits, - and _, without -to-"
        )),
    }
}

/// Parses the relation of the clocks.
fn relation(text: &str) -> Result<Relation, String> {
    let wrong = || {
        format!(
            "\"{text}\" is not a relation of clocks: write none, same-host, ptp:2us, or offset:-1500ns:2us (later \
             clock minus first)"
        )
    };
    match text.split_once(':') {
        None if text == "none" => Ok(Relation::Unstated),
        None if text == "same-host" => Ok(Relation::SameHost),
        Some(("ptp", apart)) => Ok(Relation::Ptp(nanoseconds(apart).ok_or_else(wrong)?)),
        Some(("offset", rest)) => {
            let (offset, apart) = rest.split_once(':').ok_or_else(wrong)?;
            let (sign, size) = match offset.strip_prefix('-') {
                Some(size) => (-1, size),
                None => (1, offset.strip_prefix('+').unwrap_or(offset)),
            };
            let size = nanoseconds(size)
                .and_then(|ns| i64::try_from(ns).ok())
                .ok_or_else(wrong)?;
            Ok(Relation::Offset(sign * size, nanoseconds(apart).ok_or_else(wrong)?))
        }
        _ => Err(wrong()),
    }
}

/// Parses a duration, or a plain number of ns.
fn nanoseconds(text: &str) -> Option<u64> {
    text.parse().ok().or_else(|| units::parse_ns(text).ok())
}

#[cfg(test)]
mod tests {
    use super::{label, relation};
    use merge::Relation;

    #[test]
    fn relations_and_refusals() {
        assert_eq!(relation("none"), Ok(Relation::Unstated));
        assert_eq!(relation("same-host"), Ok(Relation::SameHost));
        assert_eq!(relation("ptp:2us"), Ok(Relation::Ptp(2_000)));
        assert_eq!(relation("offset:-1500:2us"), Ok(Relation::Offset(-1_500, 2_000)));
        assert_eq!(
            relation("offset:37s:1ms"),
            Ok(Relation::Offset(37_000_000_000, 1_000_000))
        );
        for wrong in ["", "ptp", "ptp:", "offset:5", "offset:x:1us", "gps", "same-host:1us"] {
            assert!(relation(wrong).is_err(), "{wrong}");
        }
        assert!(label("guest-1").is_ok() && label("a.b").is_err() && label("").is_err());
    }
}
