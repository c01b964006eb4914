//! Loads as text and as tables of a plan.

use bed::load::{Access, CacheLoad, HackbenchLoad, LoadKind, LoadRequest, MemoryLoad, Over, PacketLoad, kind_from};
use proptest::option::of;
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use units::CpuList;

fn read(text: &str) -> LoadRequest {
    text.parse().expect(text)
}

fn refusal(text: &str) -> String {
    text.parse::<LoadRequest>().expect_err(text).to_string()
}

#[test]
fn kinds_and_their_defaults() {
    let cases = [
        ("memory", LoadKind::Memory(MemoryLoad::default())),
        ("cache", LoadKind::Cache(CacheLoad::default())),
        ("packets", LoadKind::Packets(PacketLoad::default())),
        ("hackbench", LoadKind::Hackbench(HackbenchLoad::default())),
    ];
    for (text, kind) in cases {
        assert_eq!(kind.label(), text);
        assert_eq!(read(text), LoadRequest { kind, cpus: None });
    }
}

#[test]
fn keys_and_cpus() {
    let pipes = LoadKind::Hackbench(HackbenchLoad {
        groups: 3,
        fds: 1,
        bytes: 512,
        over: Over::Pipes,
    });
    let request = read("hackbench:groups=3,fds=1,bytes=512,over=pipes@1-3,5");
    assert_eq!(request.cpus, Some("1-3,5".parse().expect("CPUs")));
    assert_eq!(request.kind, pipes);
    let groups = LoadKind::Hackbench(HackbenchLoad {
        groups: 4,
        ..HackbenchLoad::default()
    });
    assert_eq!(read("hackbench: groups = 4 ").kind, groups);
}

#[test]
fn cpus_are_those_asked_for_else_the_callers() {
    let default: CpuList = "0".parse().expect("CPUs");
    assert_eq!(read("cache@2").on(&default).cpus.to_string(), "2");
    assert_eq!(read("cache").on(&default).cpus.to_string(), "0");
    let label = |line: &str| {
        LoadKind::Command {
            line: line.to_owned(),
            namespace: None,
        }
        .label()
    };
    assert_eq!(label("stress-ng --cpu 2"), "stress-ng");
    assert_eq!(label("'/opt/my tools/burn' -x"), "burn");
}

#[test]
fn refusals_name_what_is_wrong_and_what_is_right() {
    for (text, message) in [
        (
            "cash",
            "\"cash\" is not a load: write hackbench, memory, cache, packets; \
             start any other program with --load-command",
        ),
        (
            "command:line=x",
            "\"command\" is not a load: write hackbench, memory, cache, packets; \
             start any other program with --load-command",
        ),
        (
            "cache:sizes=1MiB",
            "cache load has no \"sizes\": its keys are size, threads",
        ),
        (
            "scheduler:pairs=4",
            "\"scheduler\" is not a load any more: write hackbench:groups=10,fds=1, whose groups are pairs, \
             or in a plan kind = \"hackbench\", groups = 10, fds = 1",
        ),
        (
            "hackbench:over=tcp",
            "hackbench load: over: \"tcp\" is not one of sockets, pipes",
        ),
        (
            "hackbench:pairs=1",
            "hackbench load has no \"pairs\": its keys are groups, fds, bytes, over",
        ),
        (
            "hackbench:groups=-1",
            "hackbench load: groups: \"-1\" is not a whole number",
        ),
        ("hackbench:groups=0", "hackbench load: groups is 0: give 1 to 10000"),
        ("hackbench:fds=1,fds=2", "hackbench load: fds is given twice"),
        ("hackbench:", "hackbench load: \"\" is not KEY=VALUE"),
        ("cache:8MiB", "cache load: \"8MiB\" is not KEY=VALUE"),
        (
            "cache:size=8XB",
            "cache load: size: \"8XB\" is not a size: write it as 4096, 512KiB, 64MiB or 2GiB",
        ),
        (
            "timers:interval=20us",
            "\"timers\" is not a load any more: write --load-command \"stress-ng --timer 1 --timer-freq 50000\", \
             or in a plan kind = \"command\" and this as its line",
        ),
        ("cache@x", "after @: \"x\" is not a CPU list: write it as 1 or 1-3,5"),
        ("cache@", "after @: no CPU: name at least one, or leave @ out"),
    ] {
        assert_eq!(refusal(text), message, "{text}");
    }
}

#[test]
fn a_plan_has_the_same_kinds_and_keys() {
    for (kind, values, text) in [
        ("cache", vec![("size", "8MiB")], "cache:size=8MiB"),
        (
            "hackbench",
            vec![("groups", "4"), ("over", "pipes")],
            "hackbench:over=pipes,groups=4",
        ),
        ("packets", vec![], "packets"),
    ] {
        let values = values
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(kind_from(kind, &values.collect()), Ok(read(text).kind));
    }
    let plan = |table: &str| toml::from_str::<plan::PlanLoad>(table).map_err(|error| error.to_string());
    let load = plan("kind = 'memory'\naccess = 'copy'\nsize = '8MiB'\nthreads = 2\ncpus = '0'").expect("a load");
    assert_eq!(load.kind, read("memory:access=copy,size=8MiB,threads=2").kind);
    let error = plan("kind = 'disk'\ndir = '/var/tmp'").expect_err("no such load any more");
    assert!(
        error.contains("\"disk\" is not a load any more: write --load-command \"fio --name=disk"),
        "{error}"
    );
    let error = plan("kind = 'cache'\nsizes = '8MiB'").expect_err("no such key");
    assert!(
        error.contains("cache load has no \"sizes\": its keys are size, threads"),
        "{error}"
    );
}

fn kinds() -> impl Strategy<Value = LoadKind> {
    let threads = || of(1..=10_000_usize);
    let accesses = [Access::Read, Access::Write, Access::Copy, Access::Mix];
    let overs = proptest::sample::select(vec![Over::Sockets, Over::Pipes]);
    let messages = (1..=1_usize << 20, overs);
    let hackbench = (1..=100_usize, 1..=100_usize, messages);
    let memory = (
        of(16..=1_u64 << 52),
        proptest::sample::select(accesses.to_vec()),
        threads(),
    );
    let cache = (of(4096..=64_u64 << 30), threads());
    let packets = (60..=1514_usize, threads());
    prop_oneof![
        hackbench.prop_map(|(groups, fds, (bytes, over))| LoadKind::Hackbench(HackbenchLoad {
            groups,
            fds,
            bytes,
            over,
        })),
        memory.prop_map(|(size, access, threads)| LoadKind::Memory(MemoryLoad { size, access, threads })),
        cache.prop_map(|(size, threads)| LoadKind::Cache(CacheLoad { size, threads })),
        packets.prop_map(|(bytes, threads)| LoadKind::Packets(PacketLoad { bytes, threads })),
    ]
}

fn requests() -> impl Strategy<Value = LoadRequest> {
    let cpus = of(proptest::collection::btree_set(0..64_u32, 1..8));
    let cpus = cpus.prop_map(|cpus| cpus.map(|cpus| cpus.into_iter().collect()));
    (kinds(), cpus).prop_map(|(kind, cpus)| LoadRequest { kind, cpus })
}

/// Texts that are similar to valid ones.
fn texts() -> impl Strategy<Value = String> {
    let words =
        "(hackbench|scheduler|memory|cache|timers|network|disk|command|groups|size|bytes|over|pipes|rate|max|threads)";
    let pieces = format!("({words}|[:=,@ ]|[0-9]{{1,20}}|us|MiB|-|\\PC){{0,12}}");
    prop_oneof![
        proptest::string::string_regex(&pieces).expect("a pattern"),
        any::<String>(),
        Just(String::new())
    ]
}

proptest! {
    #[test]
    fn what_is_shown_is_read_back(request in requests()) {
        assert_eq!(request.to_string().parse(), Ok(request));
    }

    #[test]
    fn no_text_panics_and_what_is_read_is_sound(text in texts()) {
        if let Ok(request) = text.parse::<LoadRequest>() {
            assert_eq!(request.to_string().parse(), Ok(request));
        }
    }
}
