//! A measurement lasts as long as it is told to, also where that is shorter than its interval.

mod common;

use common::Run;
use probes::Probe;
use probes::wakeup::{WakeupConfig, WakeupOptions};
use probes::{OnCpus, ProbeError};
use std::time::{Duration, Instant};
use sys::thread::Policy;

/// Time for which wake-ups with this interval are measured, and their number.
fn measured(interval: &str, duration: Duration) -> Result<(Duration, u64), ProbeError> {
    let mut run = Run::start();
    let cpu = sys::thread::allowed_cpus().iter().last().expect("a CPU");
    let config = WakeupConfig {
        options: WakeupOptions {
            policy: Policy::Other,
            interval: interval.parse().expect("a period"),
            ..WakeupOptions::default()
        },
        on: OnCpus {
            duration_ns: u64::try_from(duration.as_nanos()).ok(),
            ..OnCpus::of([cpu].into_iter().collect())
        },
    };
    let begun = Instant::now();
    config.start((), &mut run.recorder, &run.stop)?.join()?;
    let lasted = begun.elapsed();
    let counters = run.finish().counters(&format!("wakeup/cpu{cpu}"));
    Ok((lasted, counters.received))
}

#[test]
fn wake_ups_of_a_long_interval_outlast_their_time_by_no_more_than_an_interval() {
    let (lasted, received) = measured("3s", Duration::from_secs(1)).expect("it ends well");
    assert!(lasted <= Duration::from_secs(4), "{lasted:?}");
    assert_eq!(received, 1, "one was due at the begin");
    let (lasted, received) = measured("1500ms", Duration::from_secs(3)).expect("it ends well");
    assert!(lasted <= Duration::from_millis(4_500), "{lasted:?}");
    assert!((1..=2).contains(&received), "{received}");
}
