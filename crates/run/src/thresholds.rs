//! Thresholds of series by name: samples above them are counted.

use std::fmt;
use std::sync::Arc;

/// Returns the threshold for the name of a series.
type ByName = dyn Fn(&str) -> Option<u64> + Send + Sync;

/// The threshold of each series by its name, in ns, as the limits require. Asked when the series is made, because a series named by
/// the network has no name before. By default no series has one.
#[derive(Clone, Default)]
pub struct Thresholds(Option<Arc<ByName>>);

impl Thresholds {
    /// `by_name` returns the threshold in ns of the series with the given name.
    pub fn new(by_name: impl Fn(&str) -> Option<u64> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(by_name)))
    }

    /// The threshold of the series `name`, in ns.
    pub fn of(&self, name: &str) -> Option<u64> {
        self.0.as_ref().and_then(|by_name| by_name(name))
    }
}

impl fmt::Debug for Thresholds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() {
            "Thresholds(by name)"
        } else {
            "Thresholds(none)"
        })
    }
}
