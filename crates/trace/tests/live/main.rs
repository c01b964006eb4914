//! Tests the recorder on this machine: planted disturbances, the kernel's own output, and the required capabilities.

mod planted;
mod printed;
mod recorder;
mod rights;
mod rings;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use sys::thread::{Policy, RtThread};
use trace::FlightRecorder;

/// One at a time: these tests put real-time threads on a CPU and count the events recorded there.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the recorder; `None` if the test is skipped.
fn recorder(test: &str) -> Option<FlightRecorder> {
    match FlightRecorder::start() {
        Ok(recorder) => Some(recorder),
        Err(error) => {
            testing::skip(test, &error.to_string());
            None
        }
    }
}

/// The CPU under test: the last one, which gets fewer interrupts than the first.
fn cpu() -> u32 {
    let cpus = sys::thread::allowed_cpus();
    cpus.iter().last().expect("a CPU")
}

/// Runs `work` on a thread of this name, pinned to the CPU under test.
fn pinned<T: Send + 'static>(
    name: &'static str,
    policy: Policy,
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    let thread = RtThread {
        policy,
        cpu: Some(cpu()),
        stack_bytes: 64 * 1024,
    };
    std::thread::spawn(move || {
        sys::thread::set_name(name);
        thread.enter().expect("a real-time thread");
        work()
    })
}
