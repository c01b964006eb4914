//! Refuses files that contradict each other or themselves: another machine, or a duration that is too short.

use super::threads::Rebuilt;
use super::{ImportError, Source};

/// The file's start and end are in whole seconds, and include the setup and end of threads.
const SLACK_NS: u64 = 2_000_000_000;

/// Checks that all files that name their host name the same one.
pub(super) fn one_machine(sources: &[Source]) -> Result<(), ImportError> {
    let mut hosts = sources.iter().filter_map(|source| {
        let system = source.measurement.system.as_ref()?;
        (!system.nodename.is_empty()).then_some((&source.file, &system.nodename))
    });
    let Some((first, host)) = hosts.next() else {
        return Ok(());
    };
    match hosts.find(|(_, other)| *other != host) {
        Some((file, other)) => Err(ImportError::OtherMachine {
            file: file.clone(),
            other: other.clone(),
            first: first.clone(),
            host: host.clone(),
        }),
        None => Ok(()),
    }
}

/// Checks that no thread had more activations than fit between start and end: with too long an interval, too few periods would count as skipped. (Too
/// short an interval makes the run shorter than the time from start to end; the notes report this.)
pub(super) fn length(source: &Source, threads: &[Rebuilt<'_>]) -> Result<(), ImportError> {
    let Some(lasted_ns) = lasted_ns(source) else {
        return Ok(());
    };
    let too_long = |rebuilt: &&Rebuilt<'_>| {
        let allowed_ns = lasted_ns.saturating_add(lasted_ns / 100).saturating_add(SLACK_NS);
        rebuilt.duration_ns() > allowed_ns
    };
    match threads.iter().find(too_long) {
        Some(rebuilt) => Err(ImportError::TooLong {
            file: source.file.clone(),
            thread: rebuilt.thread.number,
            activations: rebuilt.activations(),
            interval_ns: rebuilt.interval_ns,
            needed_ns: rebuilt.duration_ns(),
            lasted_ns,
        }),
        None => Ok(()),
    }
}

/// Time from start to end in ns, as the file states; `None` if it is missing or invalid.
pub(super) fn lasted_ns(source: &Source) -> Option<u64> {
    let measurement = &source.measurement;
    let lasted = measurement.ended_ns?.checked_sub(measurement.started_ns?)?;
    u64::try_from(lasted).ok()
}
