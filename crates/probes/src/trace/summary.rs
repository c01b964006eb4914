//! The result of tracing.

use ::trace::hops::Troubles;
use model::Fact;

/// Summary of a trace: its frames, its cost, and what it could not see.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TraceSummary {
    /// Names of the streams seen at the first point, as in their series.
    pub streams: Vec<String>,
    /// Number of frames seen at the first point.
    pub frames: u64,
    /// Reasons why frames were not timed, with counts.
    pub troubles: Troubles,
    /// Time in the programs at all points, in ns per frame of the first point, by the kernel's statistics; or the reason why it is not
    /// known.
    pub cost_ns: Option<Result<f64, String>>,
    /// Facts about the recording, if there is one.
    pub recording: Vec<Fact>,
    /// Points whose interfaces could not be watched.
    pub unwatched: Vec<String>,
}

impl TraceSummary {
    /// Facts for the inventory, in this group, without those about the recording.
    pub fn facts(&self, group: &str) -> Vec<Fact> {
        let fact = |name: &str, value, source: &str| Fact {
            group: group.to_owned(),
            name: name.to_owned(),
            value,
            source: source.to_owned(),
        };
        let cost = match &self.cost_ns {
            Some(Ok(ns)) => Ok(format!("{ns:.0} ns, including the kernel's own counting")),
            Some(Err(why)) => Err(why.clone()),
            None => Err("it was not counted".to_owned()),
        };
        let troubles = &self.troubles;
        let not_timed = format!(
            "{} malformed, {} cut short, {} of streams beyond the limit, {} of streams that the first point has not seen, {} missed \
             by the kernel, {} \
             without a stamp of the NIC",
            troubles.malformed,
            troubles.cut_short,
            troubles.no_room,
            troubles.unknown_stream,
            troubles.missed_runs,
            troubles.unstamped
        );
        let frames = format!("{} of {} streams", self.frames, self.streams.len());
        vec![
            fact("frames", Ok(frames), "eBPF maps"),
            fact("frames not timed", Ok(not_timed), "eBPF maps"),
            fact("cost per frame at all points", cost, "BPF_ENABLE_STATS"),
        ]
        .into_iter()
        .chain((!self.unwatched.is_empty()).then(|| {
            let why = "their network namespaces are not joined with this one";
            fact(
                "interfaces not watched",
                Ok(format!("at {}: {why}", self.unwatched.join(", "))),
                "rtnetlink",
            )
        }))
        .collect()
    }
}
