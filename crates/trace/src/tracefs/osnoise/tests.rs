//! Lines as `include/trace/events/osnoise.h` of Linux 6.12 prints them, and a made-up tracefs around them.

use super::parse::{Interrupter, Noise, parse};
use super::{Instance, Osnoise, Owed, Tracefs};
use crate::error::TraceError;
use crate::tracefs::instance::pid_namespace;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use units::Monotonic;

fn noise(kind: Interrupter, name: &str, number: u32, ended_us: i64, net_ns: u64) -> Option<Noise> {
    Some(Noise {
        kind,
        name: name.into(),
        number,
        ended: Monotonic::from_ns(ended_us * 1_000),
        net_ns,
    })
}

#[test]
fn every_kind_is_read() {
    for (line, wanted) in [
        (
            "         noise/1-4961    [001] d.h1.  5789.857532: irq_noise: local_timer:236 start 5791.857529929 duration 1845 ns",
            noise(Interrupter::Interrupt, "local_timer", 236, 5_789_857_532, 1_845),
        ),
        (
            "         noise/1-4961    [001] .Ns1.  5789.857540: softirq_noise:    TIMER:1 start 5791.857535001 duration 992 ns",
            noise(Interrupter::Softirq, "TIMER", 1, 5_789_857_540, 992),
        ),
        (
            "     kworker/1:1-54      [001] d..3.  5789.858413: thread_noise: kworker/1:1:54 start 5791.858409300 duration 3068 ns",
            noise(Interrupter::Thread, "kworker/1:1", 54, 5_789_858_413, 3_068),
        ),
        (
            "              sh-109404  [001] d..3.   426.271263: thread_noise:       sh:109404 start 426.271245853 duration 4769 ns",
            noise(Interrupter::Thread, "sh", 109_404, 426_271_263, 4_769),
        ),
        (
            "         noise/1-4961    [001] d.Z1.   426.271263: nmi_noise: start 426.271245853 duration 700 ns",
            noise(Interrupter::Nmi, "", 0, 426_271_263, 700),
        ),
    ] {
        assert_eq!(parse(line), wanted, "{line}");
    }
}

#[test]
fn what_has_no_length_is_left_out() {
    for line in [
        // Already running when the tracer began.
        "  noise/1-9  [001] d..3.  1.000001: thread_noise: kworker/1:1:54 start 0.000000000 duration 3068 ns",
        // A negative length.
        "  noise/1-9  [001] d..3.  1.000001: irq_noise: x:1 start 1.000000000 duration 18446744073709551615 ns",
        "  noise/1-9  [001] .....  1.000001: sample_threshold: start 1.000000000 duration 8812 ns interference 2",
        "  noise/1-9  [001] d..3.  1.000001: irq_noise: x:1 start 1.000000000",
        "CPU:1 [LOST 5 EVENTS]",
        "",
    ] {
        assert_eq!(parse(line), None, "{line}");
    }
}

#[test]
fn hostile_names_are_names() {
    let line = " a start 1 [7] x-9  [001] d..3.  1.000001: thread_noise: a start 1:b:9 start 1.000000000 duration 5 ns";
    assert_eq!(parse(line), noise(Interrupter::Thread, "a start 1:b", 9, 1_000_001, 5));
}

/// A made-up tracefs of a kernel with osnoise, with an instance in it.
struct Tree {
    _folder: tempfile::TempDir,
    root: PathBuf,
    instance: PathBuf,
}

impl Tree {
    fn new(options: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().to_path_buf();
        let instance = root.join("instances/triptime-1-2-0-workload");
        for kind in Interrupter::ALL {
            fs::create_dir_all(instance.join("events/osnoise").join(kind.event())).expect("a folder");
        }
        fs::create_dir_all(instance.join("per_cpu/cpu1")).expect("a folder");
        fs::create_dir(root.join("osnoise")).expect("a folder");
        for (file, text) in [
            ("available_tracers", "timerlat osnoise hwlat nop\n"),
            ("current_tracer", "nop\n"),
            ("osnoise/options", options),
        ] {
            fs::write(root.join(file), text).expect("a file");
        }
        fs::write(instance.join("per_cpu/cpu1/trace_pipe"), "").expect("a file");
        Self {
            _folder: folder,
            root,
            instance,
        }
    }

    fn tracefs(&self) -> Tracefs {
        Tracefs::at(&self.root)
    }

    fn start(&self) -> Osnoise {
        let tracefs = self.tracefs();
        let instance = Instance::held(&tracefs, self.instance.clone(), Owed::Workload);
        Osnoise::run(&tracefs, instance).expect("it starts")
    }

    fn text(&self, file: &str) -> String {
        fs::read_to_string(self.root.join(file)).expect("a file")
    }

    fn print(&self, text: &str) {
        let path = self.instance.join("per_cpu/cpu1/trace_pipe");
        let mut pipe = OpenOptions::new().append(true).open(path).expect("a file");
        pipe.write_all(text.as_bytes()).expect("written");
    }
}

fn us(us: i64) -> Monotonic {
    Monotonic::from_ns(us * 1_000)
}

#[test]
fn the_settings_of_all_are_changed_and_put_back() {
    let tree = Tree::new("DEFAULTS OSNOISE_WORKLOAD \n");
    let of_instance = |file: &str| fs::read_to_string(tree.instance.join(file)).expect("a file");
    let osnoise = tree.start();
    assert_eq!(tree.text("osnoise/options"), "NO_OSNOISE_WORKLOAD");
    assert_eq!(tree.text("current_tracer"), "nop\n", "tracing of others is left alone");
    assert_eq!(of_instance("current_tracer"), "osnoise");
    for kind in Interrupter::ALL {
        assert_eq!(of_instance(&format!("events/osnoise/{}/enable", kind.event())), "1");
    }
    drop(osnoise);
    assert_eq!(of_instance("current_tracer"), "nop");
    assert_eq!(tree.text("osnoise/options"), "OSNOISE_WORKLOAD");
}

#[test]
fn it_is_not_used_where_it_would_spin_or_disturb() {
    let refused = |tree: &Tree| Osnoise::start(&tree.tracefs()).err().expect("refused");
    let tree = Tree::new("DEFAULTS \n");
    assert!(matches!(refused(&tree), TraceError::NoWorkloadOption));
    fs::remove_file(tree.root.join("osnoise/options")).expect("there");
    assert!(matches!(refused(&tree), TraceError::NoWorkloadOption));

    let tree = Tree::new("DEFAULTS OSNOISE_WORKLOAD \n");
    fs::write(tree.instance.join("current_tracer"), "timerlat\n").expect("a file");
    let busy = refused(&tree).to_string();
    assert!(
        busy.contains("current_tracer is timerlat: somebody else uses it"),
        "{busy}"
    );
    assert_eq!(tree.text("osnoise/options"), "DEFAULTS OSNOISE_WORKLOAD \n");

    fs::write(tree.root.join("available_tracers"), "blk function nop\n").expect("a file");
    assert!(matches!(refused(&tree), TraceError::NoTracer { .. }));
}

#[test]
fn one_that_a_killed_process_left_is_nobody_elses() {
    let tree = Tree::new("NO_DEFAULTS NO_OSNOISE_WORKLOAD \n");
    let dead = format!("instances/triptime-{}-0-0-workload", pid_namespace());
    fs::create_dir(tree.root.join(&dead)).expect("a folder");
    fs::write(tree.root.join(&dead).join("current_tracer"), "osnoise\n").expect("a file");
    // The folder of a new instance stays empty here: there is no kernel to fill it.
    let refused = Osnoise::start(&tree.tracefs()).err().expect("no kernel behind it");
    assert!(matches!(refused, TraceError::File { .. }), "{refused}");
    assert_eq!(tree.text(&format!("{dead}/current_tracer")), "nop");
    assert_eq!(tree.text("osnoise/options"), "OSNOISE_WORKLOAD");
}

#[test]
fn a_gap_is_told_by_what_ended_in_it() {
    let tree = Tree::new("DEFAULTS OSNOISE_WORKLOAD \n");
    let mut osnoise = tree.start();
    osnoise.watch(1, 4961);
    // Before the gap a timer; in the gap a timer, the pre-empted spinning thread, a kworker, another timer; after it an NMI.
    tree.print(
        "  noise/1-4961  [001] d.h1.  100.000500: irq_noise: local_timer:236 start 7.0 duration 9000 ns\n\
         \x20 noise/1-4961  [001] d.h1.  100.001010: irq_noise: local_timer:236 start 7.1 duration 2100 ns\n\
         \x20 noise/1-4961  [001] d..3.  100.001012: thread_noise:  noise/1:4961 start 7.1 duration 800000000 ns\n\
         \x20 kworker/1:1-54  [001] d.h3.  100.001014: irq_noise: local_timer:236 start 7.2 duration 500 ns\n\
         \x20 kworker/1:1-54  [001] d..3.  100.001020: thread_noise: kworker/1:1:54 start 7.2 duration 5000 ns\n\
         \x20 noise/1-4961  [001] d.Z1.  100.002000: nmi_noise: start 7.3 duration 1000 ns\n\
         \x20 <idle>-0  [001] d..3.  100.003000: thread_noise: swapper/1:0 start 7.3 duration 13191798 ns\n",
    );
    let told = osnoise
        .between(1, us(100_001_000), us(100_001_021))
        .expect("a CPU that is watched");
    assert_eq!(
        told,
        "osnoise: thread kworker/1:1 5.00 µs, irq local_timer 2.60 µs (net, by the kernel's own account)"
    );
    let quiet = osnoise.between(1, us(100_001_500), us(100_001_600));
    let nobody = "osnoise: no NMI, interrupt, softirq or thread ran in this gap";
    assert_eq!(quiet.as_deref(), Some(nobody));
    assert_eq!(osnoise.between(0, us(0), us(1)), None);
    assert_eq!(
        osnoise.totals().as_deref(),
        Ok(
            "NMI 1 of 1.00 µs, longest 1.00 µs, irq 3 of 11.6 µs, longest 9.00 µs, softirq none, thread 1 of 5.00 µs, \
             longest 5.00 µs (net; on CPU 1, pauses of the spinning threads included; 0 events lost)"
        )
    );
}

#[test]
fn a_thread_longer_than_the_gap_is_the_interrupted_one() {
    let tree = Tree::new("DEFAULTS OSNOISE_WORKLOAD \n");
    let mut osnoise = tree.start();
    // In its own PID namespace the spinning thread has another number.
    osnoise.watch(1, 7);
    tree.print(
        "  noise/1-4961  [001] d..3.  100.001012: thread_noise:  noise/1:4961 start 7.1 duration 800000000 ns\n",
    );
    let told = osnoise.between(1, us(100_001_000), us(100_001_021)).expect("watched");
    assert!(told.contains("no NMI"), "{told}");
}

#[test]
fn losses_are_told() {
    let tree = Tree::new("DEFAULTS OSNOISE_WORKLOAD \n");
    let mut osnoise = tree.start();
    osnoise.watch(1, 7);
    tree.print("CPU:1 [LOST 12 EVENTS]\n  x-9  [001] d.h1.  100.000500: irq_noise: a:1 start 7.0 duration 900 ns\n");
    let before = osnoise.between(1, us(100_000_490), us(100_000_501)).expect("watched");
    assert!(before.ends_with("account; events of this time were lost)"), "{before}");
    let after = osnoise.between(1, us(100_000_600), us(100_000_700)).expect("watched");
    assert!(!after.contains("lost"), "{after}");
    assert!(osnoise.totals().expect("readable").ends_with("12 events lost)"));
}

#[test]
fn a_cpu_that_cannot_be_read_is_told() {
    let tree = Tree::new("DEFAULTS OSNOISE_WORKLOAD \n");
    let mut osnoise = tree.start();
    osnoise.watch(3, 7);
    let why = osnoise.totals().expect_err("no such CPU");
    assert!(why.contains("per_cpu/cpu3/trace_pipe"), "{why}");
    assert!(Path::new(&tree.instance).exists());
}
