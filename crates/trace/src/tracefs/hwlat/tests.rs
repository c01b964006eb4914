//! Lines as the kernel prints them (`trace_hwlat_print` from 4.9 to 6.18), and a made-up tracefs around them.

use super::parse::{HwlatSample, cpumask, mode, parse};
use super::{Hwlat, Instance, Owed, Tracefs};
use crate::error::TraceError;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use units::CpuList;

fn cpus(list: &str) -> CpuList {
    list.parse().expect("CPUs")
}

#[test]
fn every_form_of_a_sample_is_read() {
    let head = "           <...>-1729    [001] d...   678.473449: ";
    let sample = |longest_us: u64, count, nmis| {
        Some(HwlatSample {
            cpu: 1,
            longest_ns: longest_us * 1_000,
            count,
            nmis,
        })
    };
    for (text, wanted) in [
        (
            "#1     inner/outer(us):   11/12    ts:1581527483.343962693 count:6",
            sample(12, Some(6), 0),
        ),
        (
            "#14    inner/outer(us):   23/6     ts:1581527484.343962693 count:2 nmi-total:5 nmi-count:1",
            sample(23, Some(2), 1),
        ),
        (
            "#3     inner/outer(us):    0/8     ts:1581527485.000000001 nmi-count:2",
            sample(8, None, 2),
        ),
        (
            "#123456 inner/outer(us): 12345/1234567 ts:1.000000001",
            sample(1_234_567, None, 0),
        ),
        ("irq_noise: inner/outer(us):    0/8     ts:1.000000001", None),
        ("#3     inner/outer(us):    x/8     ts:1.000000001", None),
        ("bprint: #3", None),
    ] {
        assert_eq!(parse(&format!("{head}{text}")), wanted, "{text}");
    }
    assert_eq!(parse("# tracer: hwlat"), None);
}

#[test]
fn masks_and_modes_are_those_of_the_kernel() {
    for (list, wanted) in [
        ("0", "00000001"),
        ("1-3", "0000000e"),
        ("31", "80000000"),
        ("0,32-33", "00000003,00000001"),
        ("64", "00000001,00000000,00000000"),
    ] {
        assert_eq!(cpumask(&cpus(list)), wanted, "{list}");
    }
    assert_eq!(mode("none [round-robin] per-cpu\n"), "round-robin");
    assert_eq!(mode("none round-robin [per-cpu]\n"), "per-cpu");
}

fn tree(root: &Path) -> Instance {
    let path = root.join("instances/triptime-1-2-0");
    for folder in [path.join("per_cpu"), root.join("hwlat_detector")] {
        fs::create_dir_all(folder).expect("a folder");
    }
    for (file, text) in [
        ("available_tracers", "hwlat nop\n"),
        ("tracing_thresh", "10\n"),
        ("hwlat_detector/width", "500000\n"),
        ("hwlat_detector/window", "1000000\n"),
        ("hwlat_detector/mode", "none [round-robin] per-cpu\n"),
        ("instances/triptime-1-2-0/trace_pipe", ""),
    ] {
        fs::write(root.join(file), text).expect("a file");
    }
    Instance::held(&Tracefs::at(root), path, Owed::Nothing)
}

#[test]
fn it_reports_and_leaves_everything_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    let text = |file: &str| fs::read_to_string(root.join(file)).expect("a file");
    let instance = tree(root);
    let mut hwlat = Hwlat::run(&Tracefs::at(root), instance, &cpus("1-2"), 2_900).expect("it starts");
    assert_eq!(text("tracing_thresh"), "2");
    assert_eq!(hwlat.threshold_ns(), 2_000);
    assert_eq!(text("instances/triptime-1-2-0/current_tracer"), "hwlat");
    assert_eq!(text("instances/triptime-1-2-0/tracing_cpumask"), "00000006");
    assert_eq!(
        hwlat.settings(),
        "interrupts off for 500 ms of every 1.00 s, CPUs: round-robin"
    );
    assert_eq!(hwlat.look().expect("readable"), []);
    let path = root.join("instances/triptime-1-2-0/trace_pipe");
    let mut pipe = OpenOptions::new().append(true).open(path).expect("a file");
    pipe.write_all(b"  hwlatd-77  [002] d...   6.473449: #1     inner/outer(us):    3/0     ts:1.000000001 count:1\n")
        .expect("written");
    let found = hwlat.look().expect("readable");
    assert_eq!((found.len(), found[0].cpu, found[0].longest_ns), (1, 2, 3_000));
    assert_eq!(hwlat.look().expect("readable"), [], "each is told once");
    drop(hwlat);
    assert_eq!(text("tracing_thresh"), "10");
    assert_eq!(text("instances/triptime-1-2-0/current_tracer"), "nop");
    assert_eq!(text("hwlat_detector/width"), "500000\n");
    assert_eq!(text("hwlat_detector/window"), "1000000\n");
}

#[test]
fn a_kernel_without_it_is_told_by_its_option() {
    let folder = tempfile::tempdir().expect("a folder");
    drop(tree(folder.path()));
    fs::write(folder.path().join("available_tracers"), "osnoise nop\n").expect("a file");
    let refused = Hwlat::start(&Tracefs::at(folder.path()), &cpus("1"), 1_000);
    let error = refused.err().expect("refused");
    assert!(matches!(error, TraceError::NoTracer { .. }));
    assert!(error.to_string().contains("CONFIG_HWLAT_TRACER"), "{error}");
}
