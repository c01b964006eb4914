//! Loads that cannot start report the reason, and leave nothing behind.

use bed::load::{CacheLoad, HackbenchLoad, Load, LoadError, LoadKind, LoadSpec, MemoryLoad, PacketLoad};
use sys::ErrorKind;
use units::CpuList;

use crate::support::{alone, descriptors, last_cpu, no_threads, on};

fn refusal(spec: &LoadSpec) -> LoadError {
    let before = descriptors();
    let error = Load::start(spec).map(|load| load.describe()).expect_err("no load");
    no_threads(&error.to_string());
    assert_eq!(descriptors(), before, "{error}");
    error
}

fn command(line: &str) -> LoadKind {
    LoadKind::Command {
        line: line.to_owned(),
        namespace: None,
    }
}

fn pairs(groups: usize) -> LoadKind {
    LoadKind::Hackbench(HackbenchLoad {
        groups,
        fds: 1,
        ..HackbenchLoad::default()
    })
}

#[test]
fn commands_that_do_not_start() {
    let _alone = alone();
    let message = |line| refusal(&on(last_cpu(), command(line))).to_string();
    assert_eq!(
        message("no-such-program-here --x"),
        "load command no-such-program-here: no such program: install it, or give its full path"
    );
    assert_eq!(message("a 'b"), "load command a 'b: a quote is not closed");
    assert!(message("/proc/version").contains("is not executable"));
}

#[test]
fn cpus_that_are_not_there() {
    let _alone = alone();
    let kinds = [pairs(1), command("sleep 1"), LoadKind::Memory(MemoryLoad::default())];
    for kind in kinds {
        let error = refusal(&on(4000, kind.clone()));
        assert!(error.to_string().contains("CPU 4000: no such CPU"), "{error}");
        assert_eq!(error.kind(), ErrorKind::Usage);
        let nowhere = LoadSpec {
            kind,
            cpus: CpuList::default(),
        };
        assert!(refusal(&nowhere).to_string().contains("no CPU to run on"));
    }
}

#[test]
fn amounts_that_cannot_be() {
    let _alone = alone();
    let groups = |groups, fds| {
        LoadKind::Hackbench(HackbenchLoad {
            groups,
            fds,
            ..HackbenchLoad::default()
        })
    };
    let kinds = [
        (pairs(0), "hackbench load: groups is 0: give 1 to 10000"),
        (groups(1, 0), "hackbench load: fds is 0: give 1 to 10000"),
        (
            groups(200, 100),
            "hackbench load: groups times fds is 20000: give 1 to 10000",
        ),
        (groups(20_000, 1), "hackbench load: groups is 20000: give 1 to 10000"),
        (
            LoadKind::Memory(MemoryLoad {
                threads: Some(0),
                ..MemoryLoad::default()
            }),
            "memory load: threads is 0: give 1 to 10000",
        ),
        (
            LoadKind::Cache(CacheLoad {
                size: Some(1),
                threads: None,
            }),
            "cache load: size is 1: give 4KiB to 64GiB",
        ),
        (
            LoadKind::Packets(PacketLoad {
                bytes: 1515,
                threads: None,
            }),
            "packets load: bytes is 1515: give 60 to 1514",
        ),
    ];
    for (kind, wanted) in kinds {
        let error = refusal(&on(last_cpu(), kind));
        assert_eq!((error.to_string().as_str(), error.kind()), (wanted, ErrorKind::Usage));
    }
}

#[test]
fn more_memory_than_there_is() {
    let _alone = alone();
    let memory = |size, threads| {
        LoadKind::Memory(MemoryLoad {
            size: Some(size),
            threads: Some(threads),
            ..MemoryLoad::default()
        })
    };
    let cache = LoadKind::Cache(CacheLoad {
        size: Some(64 << 30),
        threads: Some(10_000),
    });
    for kind in [
        memory(1 << 52, 1),
        memory(1 << 52, 10_000),
        memory(1 << 30, 10_000),
        cache,
    ] {
        let error = refusal(&on(last_cpu(), kind));
        assert!(matches!(error, LoadError::NoMemory { .. }), "{error}");
        assert_eq!(error.kind(), ErrorKind::CouldNotMeasure);
    }
}

#[test]
fn more_descriptors_than_the_limit_says_what_to_raise() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let _alone = alone();
    let limit = getrlimit(Resource::Nofile);
    let low = Rlimit {
        current: Some(64),
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, low).expect("a lower limit");
    let error = refusal(&on(last_cpu(), pairs(100)));
    setrlimit(Resource::Nofile, limit).expect("the limit as it was");
    assert!(error.to_string().contains("ulimit -n"), "{error}");
}
