//! Cache, memory bandwidth and the exits of guests beside a run: the kernel's counters of the groups that have the measured CPUs, and of the
//! guests under KVM, window by window.

use host::{CacheCounter, CacheMonitor, Host, KvmExits};
use model::{Reading, ReadingUnit, Readings};
use std::collections::BTreeMap;
use units::CpuList;

/// A reading in the open window.
struct Open {
    unit: ReadingUnit,
    values: Readings,
}

/// The counters of one run.
pub(super) struct CacheReadings {
    host: Host,
    measured: CpuList,
    window_ns: u64,
    /// The counters of the open window; or why they cannot be listed.
    monitors: Result<Vec<CacheMonitor>, String>,
    /// Those of the guests that were there at the last look: one that is gone is missed once.
    guests: Vec<KvmExits>,
    /// The open window, by its number; `None` before the first look.
    window: Option<u64>,
    open: BTreeMap<String, Open>,
    /// When a counter that only grows was last read, and what it said.
    last: BTreeMap<String, (u64, u64)>,
}

impl CacheReadings {
    /// Of the groups that have one of these CPUs.
    pub(super) fn new(host: Host, measured: CpuList, window_ns: u64) -> Self {
        Self {
            host,
            measured,
            window_ns: window_ns.max(1),
            monitors: Ok(Vec::new()),
            guests: Vec::new(),
            window: None,
            open: BTreeMap::new(),
            last: BTreeMap::new(),
        }
    }

    /// Reads every counter at this instant since the run's start; the windows that are over.
    pub(super) fn look(&mut self, at_ns: u64) -> Vec<Reading> {
        let window = at_ns / self.window_ns;
        let mut closed = Vec::new();
        if self.window != Some(window) {
            let end_ns = self.window.map_or(0, |open| (open + 1) * self.window_ns);
            closed = self.close(end_ns);
            self.window = Some(window);
            // Groups come and go.
            let found = self.host.cache_monitors(&self.measured);
            self.monitors = found.map_err(|error| error.to_string());
        }
        self.read(at_ns);
        self.read_exits(at_ns);
        closed
    }

    /// Closes the open window at the run's end.
    pub(super) fn close(&mut self, end_ns: u64) -> Vec<Reading> {
        let Some(window) = self.window.take() else {
            return Vec::new();
        };
        let start_ns = window * self.window_ns;
        let open = std::mem::take(&mut self.open).into_iter();
        let reading = |(name, open): (String, Open)| Reading {
            name,
            unit: open.unit,
            start_ns,
            end_ns: end_ns.max(start_ns),
            values: open.values,
        };
        open.map(reading).collect()
    }

    /// Exits a second of each guest, those that came meanwhile among them.
    fn read_exits(&mut self, at_ns: u64) {
        let now = match self.host.kvm_exits() {
            Ok(now) => now,
            Err(error) => return self.take("exits".to_owned(), ReadingUnit::PerSecond, Err(error.to_string())),
        };
        let gone = std::mem::replace(&mut self.guests, now.clone()).into_iter();
        let gone: Vec<KvmExits> = gone.filter(|guest| !now.contains(guest)).collect();
        for counter in now.iter().chain(&gone) {
            let name = format!("exits/{}", counter.name);
            let value = match self.host.read_kvm_exits(counter) {
                Ok(exits) => rate(self.last.insert(name.clone(), (at_ns, exits)), (at_ns, exits)),
                Err(why) => {
                    self.last.remove(&name);
                    Err(why)
                }
            };
            self.take(name, ReadingUnit::PerSecond, value);
        }
    }

    /// Takes what was read into the open window.
    fn take(&mut self, name: String, unit: ReadingUnit, value: Result<Option<f64>, String>) {
        if value == Ok(None) {
            return;
        }
        let open = self.open.entry(name).or_insert_with(|| Open {
            unit,
            values: Readings::default(),
        });
        match value {
            Ok(Some(value)) => open.values.value(value),
            Ok(None) => {}
            Err(why) => open.values.unknown(why),
        }
    }

    fn read(&mut self, at_ns: u64) {
        let monitors = match &self.monitors {
            Ok(monitors) => monitors,
            Err(why) => {
                let open = self.open.entry("cache".to_owned()).or_insert_with(|| Open {
                    unit: ReadingUnit::Octets,
                    values: Readings::default(),
                });
                return open.values.unknown(why.clone());
            }
        };
        for monitor in monitors {
            let (name, unit) = match monitor.counter {
                CacheCounter::Occupancy => (format!("cache/{}", monitor.name), ReadingUnit::Octets),
                CacheCounter::Total | CacheCounter::Local => {
                    (format!("memory/{}", monitor.name), ReadingUnit::OctetsPerSecond)
                }
            };
            let read = self.host.read_cache_monitor(monitor);
            let value = match (unit, read) {
                (ReadingUnit::Octets, read) => read.map(|octets| Some(octets as f64)),
                (_, Ok(octets)) => rate(self.last.insert(name.clone(), (at_ns, octets)), (at_ns, octets)),
                (_, Err(why)) => {
                    self.last.remove(&name);
                    Err(why)
                }
            };
            let values = &mut self
                .open
                .entry(name)
                .or_insert_with(|| Open {
                    unit,
                    values: Readings::default(),
                })
                .values;
            match value {
                Ok(Some(value)) => values.value(value),
                Ok(None) => {}
                Err(why) => values.unknown(why),
            }
        }
    }
}

/// How much a second between two looks at a counter; `None` at the first, an error where it went back: it wrapped, or counts for another
/// group now.
fn rate(before: Option<(u64, u64)>, (at_ns, octets): (u64, u64)) -> Result<Option<f64>, String> {
    let Some((before_ns, before)) = before else {
        return Ok(None);
    };
    let moved = octets
        .checked_sub(before)
        .ok_or_else(|| format!("the counter went back from {before} to {octets}"))?;
    let took_ns = at_ns.saturating_sub(before_ns);
    Ok((took_ns > 0).then(|| moved as f64 * 1e9 / took_ns as f64))
}

#[cfg(test)]
mod tests;
