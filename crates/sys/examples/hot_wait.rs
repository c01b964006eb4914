//! The measuring loop alone, to be watched from outside:
//!
//! ```sh
//! cargo build --release -p triptime-sys --example hot_wait
//! strace -f -o trace target/.../release/examples/hot_wait
//! ```
//!
//! Between the two `write` calls ("begin", "end") the thread makes one `clock_nanosleep` per cycle and no other system call.

use std::hint::black_box;
use std::io::Write;
use sys::thread::{Policy, RtThread};
use sys::wait::Wait;
use sys::{SysError, clock, memory};

const CYCLES: usize = 2_000;
const WARM_UP: usize = 50;
const INTERVAL_NS: i64 = 1_000_000;

fn main() {
    if let Err(error) = measure() {
        let _ = writeln!(std::io::stderr(), "{error}");
        std::process::exit(3);
    }
}

fn measure() -> Result<(), SysError> {
    let mut late_ns = vec![0_i64; CYCLES];
    memory::lock_all()?;
    let cpu = sys::thread::allowed_cpus().iter().last();
    RtThread {
        policy: Policy::Fifo(80),
        cpu,
        stack_bytes: 256 << 10,
    }
    .enter()?;
    run(&mut late_ns[..WARM_UP]);
    say("begin\n");
    run(black_box(&mut late_ns));
    say("end\n");
    late_ns.sort_unstable();
    let (median, worst) = (late_ns[CYCLES / 2], late_ns[CYCLES - 1]);
    say(&format!(
        "{CYCLES} cycles, wake-up latency: median {median} ns, max {worst} ns\n"
    ));
    Ok(())
}

fn run(late_ns: &mut [i64]) {
    let wait = Wait::default();
    let mut due = clock::monotonic() + INTERVAL_NS;
    for late in late_ns {
        *late = wait.until(due) - due;
        due = due + INTERVAL_NS;
    }
}

fn say(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
