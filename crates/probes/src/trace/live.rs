//! Durations so far, for a live view.

use ::trace::hops::{Distribution, bucket_bounds};
use std::sync::{Arc, Mutex, PoisonError};

/// Number of histogram bins per factor of ten.
const PER_DECADE: f64 = 5.0;

/// Durations of one hop, all streams together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LiveHop {
    /// `nic-to-tap`.
    pub name: String,
    /// Number of durations.
    pub count: u64,
    /// Number of frames lost between the two points.
    pub lost: u64,
    /// Sum of the durations, in ns.
    pub sum_ns: u64,
    /// Shortest duration, in ns.
    pub min_ns: u64,
    /// Longest duration, in ns.
    pub max_ns: u64,
    /// Number of durations in each bin; see [`LiveHop::bin_from_ns`].
    pub bins: Vec<u64>,
}

/// All hops, shared with the thread that traces.
#[derive(Debug, Clone, Default)]
pub struct LiveView(Arc<Mutex<Vec<LiveHop>>>);

impl LiveHop {
    /// Lower end of a bin in ns, with five bins per factor of ten.
    pub fn bin_from_ns(bin: usize) -> f64 {
        10f64.powf(bin as f64 / PER_DECADE)
    }

    fn add(&mut self, found: &Distribution, sum_ns: u64, lost: u64) {
        self.lost += lost;
        if found.count() == 0 {
            return;
        }
        self.min_ns = match self.count {
            0 => found.min_ns,
            _ => self.min_ns.min(found.min_ns),
        };
        self.max_ns = self.max_ns.max(found.max_ns);
        self.count += found.count();
        self.sum_ns += sum_ns;
        for (bucket, count) in &found.buckets {
            let (low, _) = bucket_bounds(*bucket);
            let bin = ((low.max(1) as f64).log10() * PER_DECADE) as usize;
            if self.bins.len() <= bin {
                self.bins.resize(bin + 1, 0);
            }
            self.bins[bin] += count;
        }
    }
}

impl LiveView {
    /// Copy of the hops as of now.
    pub fn hops(&self) -> Vec<LiveHop> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn add(&self, name: &str, found: &Distribution, sum_ns: u64, lost: u64) {
        let mut hops = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match hops.iter_mut().find(|hop| hop.name == name) {
            Some(hop) => hop.add(found, sum_ns, lost),
            None => {
                let mut hop = LiveHop {
                    name: name.to_owned(),
                    ..LiveHop::default()
                };
                hop.add(found, sum_ns, lost);
                hops.push(hop);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LiveView;
    use ::trace::hops::Distribution;

    #[test]
    fn spans_add_up() {
        let view = LiveView::default();
        let found = Distribution {
            buckets: vec![(10, 2), (63, 1)],
            min_ns: 10,
            max_ns: 63,
            clipped: 0,
        };
        view.add("nic-to-tap", &found, 83, 1);
        view.add("nic-to-tap", &found, 83, 0);
        let hops = view.hops();
        let hop = &hops[0];
        assert_eq!(
            (hop.count, hop.lost, hop.sum_ns, hop.min_ns, hop.max_ns),
            (6, 1, 166, 10, 63)
        );
        assert_eq!((hop.bins[5], hop.bins[8]), (4, 2));
    }
}
