//! The series and subjects of a watch, with their numbers.

use crate::block::WatchedBlock;
use crate::relay::{RelaySeries, RelayWatch, WatchedRelay};
use crate::sentinel::Config;
use crate::specs::of_relay;
use model::SeriesSpec;
use observation::Rule;

/// Series and subjects while they are numbered.
pub(crate) struct Parts {
    pub(crate) series: Vec<SeriesSpec>,
    pub(crate) subjects: Vec<String>,
}

impl Default for Parts {
    fn default() -> Self {
        Self {
            series: Vec::new(),
            subjects: vec!["watch".to_owned()],
        }
    }
}

impl Parts {
    /// Numbers of a subject and of its series.
    pub(crate) fn add(&mut self, subject: &str, spec: SeriesSpec) -> [usize; 2] {
        self.series.push(spec);
        self.subjects.push(subject.to_owned());
        [self.subjects.len() - 1, self.series.len() - 1]
    }

    pub(crate) fn relay(&mut self, relay: &WatchedRelay) -> RelayWatch {
        let [subject, trips] = self.add(&relay.name, of_relay(relay, true));
        let has_start = relay.observed.start.is_some() && relay.observed.rule.is_of_samples();
        let starts = has_start.then(|| {
            self.series.push(of_relay(relay, false));
            self.series.len() - 1
        });
        RelayWatch::new(relay.clone(), subject, RelaySeries { trips, starts })
    }
}

/// The control blocks of a watch: its own, then those of the relays and their contacts that are not among them.
pub(crate) fn all_blocks(config: &Config) -> Vec<WatchedBlock> {
    let mut blocks = config.blocks.clone();
    for relay in &config.relays {
        let contact = match &relay.observed.rule {
            Rule::Contact { gocb_ref, .. } => Some(gocb_ref),
            _ => None,
        };
        for gocb_ref in std::iter::once(&relay.observed.gocb_ref).chain(contact) {
            if !blocks.iter().any(|block| block.gocb_ref == *gocb_ref) {
                blocks.push(WatchedBlock::named(gocb_ref));
            }
        }
    }
    blocks
}
