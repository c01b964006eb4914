//! Planted stalls of a CPU, and the spikes of a guest that name them.

use model::SeriesId;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use store::RunFile;
use sys::thread::{Policy, RtThread};
use sys::wait::sleep_until;

/// Runs `work` while a real-time thread called `planted-stall` takes the last CPU for `ns` now and then.
///
/// # Panics
/// If no real-time thread can run here.
pub fn beside_stalls<T>(ns: i64, work: impl FnOnce() -> T) -> T {
    let cpu = sys::thread::allowed_cpus().iter().last().expect("a CPU");
    let stop = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&stop);
    let blocker = std::thread::spawn(move || {
        sys::thread::set_name("planted-stall");
        let thread = RtThread {
            policy: Policy::Fifo(95),
            cpu: Some(cpu),
            stack_bytes: 0,
        };
        thread.enter().expect("a real-time thread");
        while !told.load(Ordering::Relaxed) {
            sleep_until(sys::clock::monotonic() + 190_700_000);
            let begin = sys::clock::monotonic();
            while sys::clock::monotonic() - begin < ns {
                std::hint::spin_loop();
            }
        }
    });
    let done = work();
    stop.store(true, Ordering::Relaxed);
    blocker.join().expect("no panic");
    done
}

/// Number of spikes of a series that name the host's stalls as the cause.
///
/// # Panics
/// If the run file cannot be read.
pub fn told_by_the_host(run: &RunFile, series: SeriesId) -> usize {
    let spikes = run.spikes(series).expect("spikes");
    let texts = spikes
        .iter()
        .filter_map(|spike| spike.explanation.as_ref())
        .map(|why| &why.text);
    let named = texts.filter(|text| text.contains("; on the host: ") && text.contains("planted-stall"));
    named.count()
}
