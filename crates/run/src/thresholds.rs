//! Thresholds of series by name: samples over them are counted.

use std::fmt;
use std::sync::Arc;

/// Asked with the name of a series.
type ByName = dyn Fn(&str) -> Option<u64> + Send + Sync;

/// The threshold of a series by its name, in ns: what judges it says which. Asked once, when the series is made: a series that is named
/// by what comes over the wire has no name before. Of none by default.
#[derive(Clone, Default)]
pub struct Thresholds(Option<Arc<ByName>>);

impl Thresholds {
    /// Thresholds that `by_name` gives.
    pub fn new(by_name: impl Fn(&str) -> Option<u64> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(by_name)))
    }

    /// That of the series `name`, in ns.
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
