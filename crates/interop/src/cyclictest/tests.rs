//! Real files of cyclictest 2.4 (`tests/data`, see its README), the same in the form of 2.7, and generated ones.

use super::{Bucket, CyclictestError, Dialect, Measurement, Thread, read, write_json, write_text};
use proptest::prelude::*;

macro_rules! data {
    ($name:literal) => {
        include_bytes!(concat!("../../tests/data/", $name)).as_slice()
    };
}

fn whole(octets: &[u8]) -> Measurement {
    read(octets, None).expect("a file of cyclictest")
}

fn text(measurement: &Measurement, dialect: Dialect) -> String {
    let mut out = Vec::new();
    write_text(measurement, dialect, &mut out).expect("into memory");
    String::from_utf8(out).expect("text")
}

fn json(measurement: &Measurement) -> String {
    let mut out = Vec::new();
    write_json(measurement, &mut out).expect("into memory");
    String::from_utf8(out).expect("text")
}

/// Figures that every form contains.
fn figures(measurement: &Measurement) -> Vec<Thread> {
    let threads = measurement.threads.iter().cloned();
    threads
        .map(|thread| Thread {
            cpu: None,
            mean: None,
            interval_ns: None,
            priority: None,
            ..thread
        })
        .collect()
}

#[test]
fn a_real_histogram_and_the_json_of_the_same_run_agree() {
    for (text, json) in [
        (data!("plain24.txt"), data!("plain24.json")),
        (data!("sum24.txt"), data!("sum24.json")),
        (data!("over24.txt"), data!("over24.json")),
        (data!("status24.txt"), data!("status24.json")),
    ] {
        let (text, json) = (whole(text), whole(json));
        assert!(!text.threads.is_empty());
        assert_eq!(figures(&text), figures(&json));
        for (text, json) in text.threads.iter().zip(&json.threads) {
            let (truncated, rounded) = (text.mean.expect("a mean").value, json.mean.expect("a mean").value);
            assert!(truncated <= rounded && rounded <= truncated + 1.0);
        }
    }
}

#[test]
fn figures_of_a_real_file() {
    let over = whole(data!("over24.txt"));
    assert_eq!((over.bucket, over.range), (Bucket::Microsecond, Some(400)));
    let thread = &over.threads[0];
    assert_eq!(
        (thread.cycles, thread.in_buckets(), thread.overflows()),
        (9417, 9354, 63)
    );
    assert_eq!((thread.min, thread.max), (Some(7), Some(35_046)));
    assert_eq!(thread.buckets[0], (7, 13));
    let json = whole(data!("over24.json"));
    assert_eq!(
        (json.range, json.threads[0].cpu, json.threads[0].interval_ns),
        (Some(400), Some(1), Some(200_000))
    );
    assert_eq!(json.version.as_deref(), Some("2.40"));
    assert_eq!(
        json.ended_ns.zip(json.started_ns).map(|(end, start)| end - start),
        Some(2_000_000_000)
    );
    let system = json.system.expect("sysinfo");
    assert_eq!(
        (system.sysname.as_str(), system.machine.as_str(), system.realtime),
        ("Linux", "x86_64", 0)
    );
}

#[test]
fn both_dialects_say_the_same() {
    for (since_27, until_26) in [
        (data!("plain27.txt"), data!("plain24.txt")),
        (data!("sum27.txt"), data!("sum24.txt")),
        (data!("over27.txt"), data!("over24.txt")),
    ] {
        let (new, old) = (whole(since_27), whole(until_26));
        assert_eq!(new.threads, old.threads);
        assert_eq!(
            new.range, None,
            "it leaves rows out, so where they would have ended is not known"
        );
        assert!(old.range.is_some());
    }
}

#[test]
fn nanoseconds_are_what_the_json_says_and_what_the_caller_says() {
    let json = whole(data!("ns24.json"));
    let text = read(data!("ns24.txt"), Some(Bucket::Nanosecond)).expect("text");
    assert_eq!((json.bucket, text.bucket), (Bucket::Nanosecond, Bucket::Nanosecond));
    assert_eq!(figures(&text), figures(&json));
    let error = read(data!("ns24.json"), Some(Bucket::Microsecond)).expect_err("the file knows better");
    assert_eq!(
        error.to_string(),
        "the file says that its buckets are 1 ns wide, not 1000 ns: leave the bucket's width out"
    );
}

#[test]
fn the_whole_output_with_its_status_lines_is_read() {
    let loud = whole(data!("loud24.txt"));
    let thread = &loud.threads[0];
    assert_eq!(
        (thread.cycles, thread.max),
        (1000, Some(142)),
        "from the block, not from a line before its end"
    );
    assert_eq!(thread.interval_ns, Some(1_000_000));
    let status = whole(data!("status24.txt"));
    let found: Vec<_> = status
        .threads
        .iter()
        .map(|t| (t.cycles, t.max, t.interval_ns))
        .collect();
    assert_eq!(
        found,
        [(1000, Some(124), Some(1_000_000)), (667, Some(54), Some(1_500_000))]
    );
    assert!(status.threads.iter().all(|thread| thread.overflows() == thread.cycles));
    let json = whole(data!("status24.json"));
    assert_eq!(
        json.threads[1].interval_ns,
        Some(1_500_000),
        "without a histogram, from the command line"
    );
}

#[test]
fn json_on_standard_output_is_found_between_the_other_lines() {
    let mixed = whole(data!("mixed24.txt"));
    let thread = &mixed.threads[0];
    assert_eq!((thread.cpu, thread.cycles, thread.overflows()), (Some(1), 4998, 6));
}

#[test]
fn a_break_is_seen_in_both_forms() {
    assert!(whole(data!("break24.txt")).stopped && whole(data!("break24.json")).stopped);
    assert!(!whole(data!("plain24.txt")).stopped && !whole(data!("plain24.json")).stopped);
}

/// SEAPATH's script writes the command line; the first line of output follows on the same line.
#[test]
fn a_command_line_before_the_output_tells_the_interval() {
    let mut octets = b"cyclictest -l100000 -m -Sp90 -i200 -h400 -q# /dev/cpu_dma_latency set to 0us\n".to_vec();
    octets.extend_from_slice(data!("plain24.txt"));
    let read = whole(&octets);
    assert_eq!(read.threads[0].interval_ns, Some(200_000));
    assert_eq!(
        read.command_line.as_deref(),
        Some("cyclictest -l100000 -m -Sp90 -i200 -h400 -q")
    );
}

#[test]
fn invalid_json_as_cyclictest_writes_it() {
    let original = std::str::from_utf8(data!("status24.json")).expect("text");
    let idle = original
        .replace("\"cycles\": 667", "\"cycles\": 0")
        .replace("\"min\": 9,", "\"min\": 1000000,")
        .replace("\"max\": 54,", "\"max\": 0,")
        .replace("\"avg\": 13.81,", "\"avg\": -nan,")
        .replace("--json=status24.json", "--json=\"my\\file\"");
    assert!(serde_json::from_str::<serde_json::Value>(&idle).is_err());
    assert!(idle.contains("-nan"), "{original}");
    let read = whole(idle.as_bytes());
    let thread = &read.threads[1];
    assert_eq!(
        (thread.cycles, thread.min, thread.max, thread.mean),
        (0, None, None, None)
    );
    assert_eq!(read.threads[0], whole(original.as_bytes()).threads[0]);
    assert!(read.command_line.expect("kept").ends_with("--json=\"my\\file\""));
}

#[test]
fn what_2_7_writes_without_a_histogram() {
    let original = std::str::from_utf8(data!("status24.json")).expect("text");
    let without = original.replace("\"histogram\": {      },\n", "");
    assert_eq!(without.matches("histogram").count(), 0);
    assert_eq!(whole(without.as_bytes()).threads, whole(original.as_bytes()).threads);
}

#[test]
fn what_was_read_is_written_as_it_was() {
    let plain = std::str::from_utf8(data!("plain24.txt")).expect("text");
    assert_eq!(text(&whole(plain.as_bytes()), Dialect::AllRows), plain);
    let sum = std::str::from_utf8(data!("sum24.txt")).expect("text");
    let written = text(&whole(sum.as_bytes()), Dialect::AllRows);
    let (cycle_numbers, first_line) = (
        "# Thread 0: 00156 00162\n# Thread 1: 00153 00155 00161 01908\n",
        "# /dev",
    );
    let block = sum.split_once('\n').filter(|(first, _)| first.starts_with(first_line));
    let unknown = "# Thread 0: # 00002 others\n# Thread 1: # 00004 others\n";
    assert_eq!(written, block.expect("a first line").1.replace(cycle_numbers, unknown));
    let plain = std::str::from_utf8(data!("plain27.txt")).expect("text");
    assert_eq!(text(&whole(plain.as_bytes()), Dialect::SparseRows), plain);
}

#[test]
fn the_json_has_the_keys_and_their_order() {
    let original = std::str::from_utf8(data!("sum24.json")).expect("text");
    let written = json(&whole(original.as_bytes()));
    let lines = |json: &str| -> Vec<String> {
        // NUMA nodes of CPUs are not kept; 14.60 and 14.6 are the same number.
        let same = json.replace("\"node\": -1", "\"node\": 0").replace("14.60,", "14.6,");
        same.lines().map(|line| line.trim().to_owned()).collect()
    };
    assert_eq!(lines(&written), lines(original));
}

#[test]
fn all_samples_beyond_the_histogram() {
    let text = "# Histogram\n# Min Latencies: 00450\n# Avg Latencies: 00500\n# Max Latencies: 00600\n\
                # Histogram Overflows: 00003\n# Histogram Overflow at cycle number:\n# Thread 0:  # 00003 others\n\n";
    let thread = &whole(text.as_bytes()).threads[0];
    assert_eq!((thread.cycles, thread.overflows(), thread.buckets.len()), (3, 3, 0));
}

#[test]
fn a_block_without_its_rows_is_bounded_by_its_exact_maximum() {
    let plain = std::str::from_utf8(data!("sum24.txt")).expect("text");
    let is_row = |line: &&str| line.starts_with(|c: char| c.is_ascii_digit());
    let rest: Vec<&str> = plain.lines().filter(|line| !is_row(line)).collect();
    // The command line tells where the buckets end; that puts no sample beyond them.
    for command in ["", "cyclictest -t2 -i500 -h9000\n"] {
        let (whole, read) = (
            whole(plain.as_bytes()),
            whole(format!("{command}{}", rest.join("\n")).as_bytes()),
        );
        assert_eq!((read.threads.len(), read.range), (whole.threads.len(), None));
        for (thread, all) in read.threads.iter().zip(&whole.threads) {
            assert_eq!((thread.cycles, thread.min, thread.max), (all.cycles, all.min, all.max));
            assert_eq!((thread.overflows(), thread.buckets.len()), (all.cycles, 0));
        }
    }
    let total = rest.iter().find(|line| line.starts_with("# Total:")).expect("a total");
    let short = rest.join("\n").replace(total, "# Total: 3000");
    let error = read(short.as_bytes(), None).expect_err("one of two").to_string();
    assert!(error.contains("1 totals for 2 threads"), "{error}");
}

#[test]
fn status_lines_do_not_say_that_samples_are_beyond_the_histogram() {
    let status = std::str::from_utf8(data!("status24.txt")).expect("text");
    let with_command = format!("cyclictest -t2 -i1000 -d500 -h9000\n{status}");
    let read = whole(with_command.as_bytes());
    assert_eq!((read.range, read.threads[0].max), (None, Some(124)));
}

#[test]
fn a_text_that_a_report_indents_is_read() {
    for name in [
        data!("loud24.txt"),
        data!("plain24.txt"),
        data!("sum27.txt"),
        data!("status24.txt"),
    ] {
        let plain = String::from_utf8_lossy(name);
        let indented: String = plain.lines().map(|line| format!("    {line}\n")).collect();
        let quoted = format!("The result was:\n\n{indented}\nGood night.\n");
        assert_eq!(whole(indented.as_bytes()), whole(name));
        assert_eq!(whole(quoted.as_bytes()).threads, whole(name).threads);
    }
}

#[test]
fn the_priority_is_that_of_the_status_line() {
    let status = String::from_utf8_lossy(data!("status24.txt")).into_owned();
    let priorities = |text: &str| -> Vec<Option<u64>> {
        let read = whole(text.as_bytes());
        read.threads.iter().map(|thread| thread.priority).collect()
    };
    assert_eq!(
        priorities("T: 0 (  700) P: 0 I:1000 C: 60 Min: 9 Act: 66 Avg: 70 Max: 4321\n"),
        [Some(0)]
    );
    assert_eq!(
        priorities("T: 0 (  700) P:95 I:1000 C: 60 Min: 9 Act: 66 Avg: 70 Max: 4321\n"),
        [Some(95)]
    );
    assert!(priorities(&status).iter().all(Option::is_some), "{status}");
    assert_eq!(priorities(&String::from_utf8_lossy(data!("plain24.txt"))), [None]);
}

#[test]
fn a_thread_that_never_ran() {
    let text = "# Histogram\n000000 000000\t000000\n000001 000004\t000000\n# Min Latencies: 00001 1000000\n\
                # Avg Latencies: 00001 00000\n# Max Latencies: 00001 00000\n# Histogram Overflows: 00000 00000\n";
    let read = whole(text.as_bytes());
    assert_eq!(
        (read.threads[1].cycles, read.threads[1].min, read.threads[1].max),
        (0, None, None)
    );
    assert_eq!(read.threads[0].cycles, 4);
}

#[test]
fn refusals_name_line_and_reason() {
    let plain = std::str::from_utf8(data!("plain24.txt")).expect("text");
    let line = |what: &str| 1 + plain.lines().position(|line| line.starts_with(what)).expect("a line");
    let (total, row) = (line("# Total:"), line("000007 "));
    let count = plain.lines().nth(row - 1).expect("a row");
    let edited = |from: &str, to: &str| {
        read(plain.replacen(from, to, 1).as_bytes(), None)
            .expect_err(to)
            .to_string()
    };
    let cases = [
        (edited(count, "000007 x"), format!("line {row}: \"x\" is not a count")),
        (
            edited(count, "000003 000001"),
            format!("line {row}: bucket 3 is out of order"),
        ),
        (
            edited(count, "000007 000001\t000002\t000003"),
            format!("line {row}: 3 counts for 1 threads"),
        ),
        (
            edited(count, "000007 000001\t000002"),
            format!("line {row}: the last count is not the sum of the others"),
        ),
        (
            edited("# Total: 000003000", "# Total: 000003001"),
            format!("line {total}: thread 0: a total of 3001, but the rows from line 2 on add up to 3000"),
        ),
        (
            edited("# Avg Latencies: 000", "# Avg Latencies: 1 2 000"),
            format!("line {}: 3 values for 1 threads", total + 2),
        ),
        (
            edited("# Max Latencies: 00039", "# Max Latencies: 00038"),
            "thread 0: samples in bucket 39, above the largest latency, 38".to_owned(),
        ),
        (
            edited("# Histogram Overflows: 00000", "# Histogram Overflows: 00002"),
            "thread 0: 2 samples are in no bucket, but the largest latency, 39, is below 400, where the buckets end"
                .to_owned(),
        ),
        (
            edited("# Max Latencies: 00039", "# Max Latencies: -0039"),
            format!("line {}: \"-0039\" is not a count", total + 3),
        ),
        (
            edited("# Histogram\n", "# Histogram\n# Histogram\n"),
            "line 2: a second histogram in one file: give each run of cyclictest its own file".to_owned(),
        ),
    ];
    for (error, expected) in cases {
        assert_eq!(error, expected);
    }
    let cut = &plain[..plain.find("# Avg").expect("there")];
    assert_eq!(
        read(cut.as_bytes(), None).expect_err("cut").to_string(),
        "the histogram that begins in line 1 is cut: there is no \"# Avg Latencies:\" line after it"
    );
}

#[test]
fn other_files_are_refused() {
    assert_eq!(read(b" \n", None), Err(CyclictestError::Empty));
    assert_eq!(read(b"\x7fELF\x02\x01", None), Err(CyclictestError::NotCyclictest));
    let oslat = br#"{ "file_version": 1, "cmdline:": "oslat", "resolution_in_ns": 0,
        "thread": { "0": { "cpu": 1, "freq": 2600, "min": 1, "max": 2, "avg": 1.5, "duration": 3 } } }"#;
    let error = read(oslat, None).expect_err("another tool").to_string();
    assert!(error.contains("missing field `cycles`"), "{error}");
    let newer = std::str::from_utf8(data!("plain24.json"))
        .expect("text")
        .replace("\"file_version\": 1", "\"file_version\": 2");
    let error = read(newer.as_bytes(), None).expect_err("newer").to_string();
    assert!(error.contains("file_version 2: only 1 is known"), "{error}");
}

#[test]
fn measurements_of_the_same_threads_add_up() {
    let one = whole(data!("plain24.json"));
    let mut two = one.clone();
    two.add(&one).expect("the same threads");
    let thread = &two.threads[0];
    assert_eq!((thread.cycles, thread.in_buckets()), (6000, 6000));
    assert_eq!((thread.min, thread.max), (one.threads[0].min, one.threads[0].max));
    let mean = (
        thread.mean.expect("a mean").value,
        one.threads[0].mean.expect("a mean").value,
    );
    assert!((mean.0 - mean.1).abs() < 1e-9);
    assert!(matches!(
        two.add(&whole(data!("ns24.json"))),
        Err(CyclictestError::Apart(_))
    ));
    assert!(matches!(
        two.add(&whole(data!("sum24.json"))),
        Err(CyclictestError::Apart(_))
    ));
}

/// One to four threads whose figures fit together, some with overflows.
fn measurements() -> impl Strategy<Value = Measurement> {
    let buckets = prop::collection::btree_map(0u64..3_000, 1u64..5_000_000, 0..40);
    let thread = (buckets, 0u64..4, 0u64..100_000);
    let threads = prop::collection::vec(thread, 1..5);
    (threads, any::<bool>()).prop_map(|(threads, ns)| {
        let numbered = (0..).zip(threads);
        Measurement {
            bucket: if ns { Bucket::Nanosecond } else { Bucket::Microsecond },
            range: Some(3_000),
            threads: numbered
                .map(|(number, (buckets, overflows, beyond))| thread_of(number, buckets, overflows, beyond))
                .collect(),
            command_line: None,
            version: Some("2.40".to_owned()),
            started_ns: None,
            ended_ns: None,
            system: None,
            stopped: false,
        }
    })
}

fn thread_of(number: u32, buckets: std::collections::BTreeMap<u64, u64>, overflows: u64, beyond: u64) -> Thread {
    let beyond = (overflows > 0).then_some(3_000 + beyond);
    let cycles = buckets.values().sum::<u64>() + overflows;
    Thread {
        number,
        cpu: None,
        cycles,
        min: buckets.keys().next().copied().or(beyond),
        max: beyond.or(buckets.keys().next_back().copied()),
        mean: None,
        buckets: buckets.into_iter().collect(),
        interval_ns: None,
        priority: None,
    }
}

proptest! {
    #[test]
    fn every_form_reads_back_as_what_was_written(measurement in measurements()) {
        let unit = Some(measurement.bucket);
        for dialect in [Dialect::AllRows, Dialect::SparseRows] {
            let written = text(&measurement, dialect);
            let back = read(written.as_bytes(), unit).expect("our own text");
            prop_assert_eq!(figures(&back), figures(&measurement));
            prop_assert_eq!(back.range, (dialect == Dialect::AllRows).then_some(3_000));
        }
        let back = read(json(&measurement).as_bytes(), unit).expect("our own JSON");
        prop_assert_eq!(figures(&back), figures(&measurement));
        prop_assert_eq!(back.bucket, measurement.bucket);
    }

    #[test]
    fn no_octets_panic(octets in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&octets, None);
    }

    #[test]
    fn no_lines_panic(lines in prop::collection::vec(line(), 0..20)) {
        let _ = read(lines.join("\n").as_bytes(), None);
    }

    #[test]
    fn no_damage_panics(which in 0usize..4, at in any::<prop::sample::Index>(), octet in any::<u8>(), cut in any::<bool>()) {
        let files = [data!("sum24.txt"), data!("sum27.txt"), data!("status24.json"), data!("loud24.txt")];
        let mut octets = files[which].to_vec();
        let at = at.index(octets.len());
        octets[at] = octet;
        if cut {
            octets.truncate(at);
        }
        let _ = read(&octets, None);
    }
}

/// Lines as they occur in the forms, with numbers of any size.
fn line() -> impl Strategy<Value = String> {
    let number = prop_oneof![Just(0u64), 0u64..2_000, any::<u64>()];
    (0usize..12, prop::collection::vec(number, 1..4)).prop_map(|(form, numbers)| {
        let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
        let joined = numbers.join(" ");
        match form {
            0 | 1 => "# Histogram".to_owned(),
            2..=4 => joined,
            5 => format!("# Total: {joined}"),
            6 => format!("# Min Latencies: {joined}"),
            7 => format!("# Avg Latencies: {joined}"),
            8 => format!("# Max Latencies: {joined}"),
            9 => format!("# Histogram Overflows: {joined}"),
            10 => format!("T: {0} (1) P:90 I:{0} C:{0} Min:{0} Act:1 Avg:{0} Max:{0}", numbers[0]),
            _ => format!("\x1b[{joined}A"),
        }
    })
}
