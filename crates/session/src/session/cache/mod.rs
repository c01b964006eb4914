//! Cache, memory bandwidth, guest exits and throttling during a run: the kernel's counters of the groups with measured CPUs, of guests under
//! KVM, and of the measured CPUs themselves, window by window.

use host::{CacheCounter, CacheMonitor, Host, KvmExits, Throttled};
use model::{Reading, ReadingUnit, Readings};
use std::collections::BTreeMap;
use units::CpuList;

/// A reading in the open window.
struct Open {
    unit: ReadingUnit,
    values: Readings,
    /// Total change of a counter that only grows.
    moved: Moved,
}

impl Open {
    fn new(unit: ReadingUnit) -> Self {
        Self {
            unit,
            values: Readings::default(),
            moved: Moved::default(),
        }
    }

    /// Closes the readings: looks are unevenly spaced, so the mean of a rate is not the mean of its values.
    fn closed(self) -> Readings {
        let mut values = self.values;
        if let (Some(rate), Some(min), Some(max)) = (self.moved.rate(), values.min, values.max) {
            values.mean = Some(rate.clamp(min, max));
        }
        values
    }
}

/// Change of a counter, and the time it took.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Moved {
    by: u64,
    in_ns: u64,
}

impl Moved {
    /// Change per second; `None` if no time has passed.
    fn rate(self) -> Option<f64> {
        (self.in_ns > 0).then(|| self.by as f64 * 1e9 / self.in_ns as f64)
    }
}

/// Result of a look at a counter.
enum Value {
    /// Level at this look.
    Level(f64),
    /// Change since the last look.
    Moved(Moved),
    /// No value yet: the first look at a counter that only grows.
    First,
}

/// The counters of one run.
pub(super) struct CacheReadings {
    host: Host,
    measured: CpuList,
    window_ns: u64,
    /// The counters of the open window, or the reason why they cannot be listed.
    monitors: Result<Vec<CacheMonitor>, String>,
    /// The guests present at the last look: one that is gone is recorded once as missing.
    guests: Vec<KvmExits>,
    /// Counters of measured CPUs that were too hot, or the reason why they cannot be listed. They are those of the run's beginning: one that goes is
    /// unknown from then on.
    throttled: Result<Vec<Throttled>, String>,
    /// Number of the open window; `None` before the first look.
    window: Option<u64>,
    open: BTreeMap<String, Open>,
    /// Instant and value of the last reading of each counter that only grows.
    last: BTreeMap<String, (u64, u64)>,
}

impl CacheReadings {
    /// Makes the readings for the groups that have one of these CPUs.
    pub(super) fn new(host: Host, measured: CpuList, window_ns: u64) -> Self {
        Self {
            throttled: host.throttled(&measured).map_err(|error| error.to_string()),
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

    /// Reads every counter at this instant since the run's start; returns the windows that are over.
    pub(super) fn look(&mut self, at_ns: u64) -> Vec<Reading> {
        let window = at_ns / self.window_ns;
        let mut closed = Vec::new();
        if self.window != Some(window) {
            let end_ns = self.window.map_or(0, |open| (open + 1) * self.window_ns);
            closed = self.close(end_ns);
            self.window = Some(window);
            // Groups can appear and disappear.
            let found = self.host.cache_monitors(&self.measured);
            self.monitors = found.map_err(|error| error.to_string());
        }
        self.read(at_ns);
        self.read_exits(at_ns);
        self.read_throttled(at_ns);
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
            values: open.closed(),
        };
        open.map(reading).collect()
    }

    /// Reads the exits per second of each guest, including guests that started meanwhile.
    fn read_exits(&mut self, at_ns: u64) {
        let now = match self.host.kvm_exits() {
            Ok(now) => now,
            Err(error) => return self.take("exits".to_owned(), ReadingUnit::PerSecond, Err(error.to_string())),
        };
        let gone = std::mem::replace(&mut self.guests, now.clone()).into_iter();
        let gone: Vec<KvmExits> = gone.filter(|guest| !now.contains(guest)).collect();
        for counter in now.iter().chain(&gone) {
            let count = self.host.read_kvm_exits(counter);
            self.take_count(format!("exits/{}", counter.name), at_ns, count);
        }
    }

    /// Reads how often a second each measured CPU slowed itself down.
    fn read_throttled(&mut self, at_ns: u64) {
        let counters = match &self.throttled {
            Ok(counters) => counters.clone(),
            Err(why) => return self.take("throttled".to_owned(), ReadingUnit::PerSecond, Err(why.clone())),
        };
        for counter in &counters {
            let count = self.host.read_throttled(counter);
            self.take_count(format!("throttled/{}", counter.name), at_ns, count);
        }
    }

    /// Adds the change of a counter of occurrences, which is unknown where it could not be read.
    fn take_count(&mut self, name: String, at_ns: u64, count: Result<u64, String>) {
        let value = match count {
            Ok(count) => moved(self.last.insert(name.clone(), (at_ns, count)), (at_ns, count)),
            Err(why) => {
                self.last.remove(&name);
                Err(why)
            }
        };
        self.take(name, ReadingUnit::PerSecond, value);
    }

    /// Adds a value to the open window.
    fn take(&mut self, name: String, unit: ReadingUnit, value: Result<Value, String>) {
        let open = self.open.entry(name).or_insert_with(|| Open::new(unit));
        match value {
            Ok(Value::Level(level)) => open.values.value(level),
            Ok(Value::Moved(moved)) => {
                let Some(rate) = moved.rate() else { return };
                open.values.value(rate);
                open.moved.by = open.moved.by.saturating_add(moved.by);
                open.moved.in_ns += moved.in_ns;
            }
            Ok(Value::First) => {}
            Err(why) => open.values.unknown(why),
        }
    }

    fn read(&mut self, at_ns: u64) {
        let monitors = match &self.monitors {
            Ok(monitors) => monitors.clone(),
            Err(why) => return self.take("cache".to_owned(), ReadingUnit::Octets, Err(why.clone())),
        };
        for monitor in &monitors {
            let (name, unit) = match monitor.counter {
                CacheCounter::Occupancy => (format!("cache/{}", monitor.name), ReadingUnit::Octets),
                CacheCounter::Total | CacheCounter::Local => {
                    (format!("memory/{}", monitor.name), ReadingUnit::OctetsPerSecond)
                }
            };
            let value = match (unit, self.host.read_cache_monitor(monitor)) {
                (ReadingUnit::Octets, read) => read.map(|octets| Value::Level(octets as f64)),
                (_, Ok(octets)) => moved(self.last.insert(name.clone(), (at_ns, octets)), (at_ns, octets)),
                (_, Err(why)) => {
                    self.last.remove(&name);
                    Err(why)
                }
            };
            self.take(name, unit, value);
        }
    }
}

/// Change of a counter between two looks; an error if it decreased: it wrapped, or now counts for another group.
fn moved(before: Option<(u64, u64)>, (at_ns, count): (u64, u64)) -> Result<Value, String> {
    let Some((before_ns, before)) = before else {
        return Ok(Value::First);
    };
    let by = count
        .checked_sub(before)
        .ok_or_else(|| format!("the counter went back from {before} to {count}"))?;
    let in_ns = at_ns.saturating_sub(before_ns);
    Ok(Value::Moved(Moved { by, in_ns }))
}

#[cfg(test)]
mod tests;
