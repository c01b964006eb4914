//! Rules of time synchronisation.

use super::tree::{finding, outcome, tree};
use crate::finding::Outcome::{self, Fail, NotApplicable, Pass, Unknown, Warn};
use crate::parameters::Parameters;

const HOST: [(&str, &str); 5] = [
    ("sys/devices/system/cpu/online", "0-3\n"),
    ("proc/sys/kernel/osrelease", "6.12.0\n"),
    ("proc/1/comm", "systemd\n"),
    ("proc/2/comm", "kthreadd\n"),
    ("sys/class/net/eth0/device/ptp/ptp0/clock_name", "igb\n"),
];

const SETTINGS: &str = "[global]\nnetwork_transport L2\ndelay_mechanism P2P\nlogAnnounceInterval 0\nlogSyncInterval 0\nlogMinPdelayReqInterval 0\nannounceReceiptTimeout 3\ntx_timestamp_timeout 10\nslaveOnly 1\n[eth0]\n";

/// A process with these arguments, FIFO 10 on CPU 0 unless `stat` says otherwise.
fn process(pid: u32, line: &str) -> Vec<(String, String)> {
    with_policy(pid, line, "10 1", "0")
}

fn with_policy(pid: u32, line: &str, policy: &str, cpus: &str) -> Vec<(String, String)> {
    let name = line
        .split(' ')
        .next()
        .and_then(|path| path.rsplit('/').next())
        .expect("a name");
    let name: String = name.chars().take(15).collect();
    let zeros = "0 ".repeat(36);
    vec![
        (
            format!("proc/{pid}/stat"),
            format!("{pid} ({name}) S {zeros}{policy} 0 0\n"),
        ),
        (format!("proc/{pid}/status"), format!("Cpus_allowed_list:\t{cpus}\n")),
        (format!("proc/{pid}/cmdline"), format!("{}\0", line.replace(' ', "\0"))),
    ]
}

fn says(id: &str, processes: &[Vec<(String, String)>], files: &[(&str, &str)]) -> Outcome {
    let made = processes.concat();
    let made: Vec<(&str, &str)> = made.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let parameters = Parameters {
        rt_cpus: Some("2-3".parse().expect("CPUs")),
        ..Parameters::default()
    };
    outcome(&tree(&[&HOST[..], &made, files].concat()), &parameters, id)
}

fn ptp4l() -> Vec<(String, String)> {
    process(50, "/usr/sbin/ptp4l -f /etc/ptp.conf -i eth0 -m")
}

#[test]
fn exactly_one_program_sets_the_wall_clock() {
    let of = |lines: &[&str]| {
        let processes: Vec<_> = lines.iter().zip(50..).map(|(line, pid)| process(pid, line)).collect();
        says("ts-single-source", &processes, &[("etc/ptp.conf", SETTINGS)])
    };
    let ptp = "ptp4l -f /etc/ptp.conf -i eth0";
    assert_eq!(of(&[ptp, "phc2sys -a -r"]), Pass);
    assert_eq!(of(&[ptp, "phc2sys -arr"]), Pass);
    assert_eq!(of(&[ptp, "phc2sys -s eth0 -w"]), Pass);
    assert_eq!(
        of(&[ptp, "phc2sys -s eth0 -E ntpshm", "chronyd -F 2"]),
        Pass,
        "as timemaster does"
    );
    assert_eq!(
        of(&["timemaster", ptp, "phc2sys -s eth0 -Entpshm", "chronyd", "chronyd"]),
        Pass,
        "with a helper"
    );
    assert_eq!(of(&[ptp, "phc2sys -s CLOCK_REALTIME -c eth0", "chronyd"]), Pass);
    assert_eq!(of(&["systemd-timesyncd"]), Pass);
    assert_eq!(of(&["ptp4l -S -i eth0"]), Pass, "software stamps set the clock");
    assert_eq!(of(&[ptp, "phc2sys -a -r", "chronyd"]), Fail);
    assert_eq!(of(&["systemd-timesyncd", "chronyd"]), Fail);
    assert_eq!(of(&[ptp, "phc2sys -a"]), Fail, "nobody sets it");
    assert_eq!(of(&[ptp, "chronyd -x"]), Fail);
    assert_eq!(of(&[]), Fail);
}

#[test]
fn arguments_that_cannot_be_read_and_containers_are_unknown() {
    let mut silent = process(51, "phc2sys -a -r");
    silent.retain(|(path, _)| !path.ends_with("cmdline"));
    assert_eq!(says("ts-single-source", &[silent], &[]), Unknown);
    let unseen = tree(&[("sys/devices/system/cpu/online", "0-3\n")]);
    for id in [
        "ts-single-source",
        "ts-synchronised",
        "ts-ptp-port",
        "ts-ptp-profile",
        "ts-daemon-placement",
        "ts-step-policy",
    ] {
        assert_eq!(outcome(&unseen, &Parameters::default(), id), Unknown, "{id}");
    }
}

#[test]
fn the_kernel_and_the_hardware_clock_both_say_that_the_clock_is_right() {
    let of = |unsynchronised: bool, offset: i64, processes: &[Vec<(String, String)>]| {
        let clock = format!("unsynchronised = {unsynchronised}\ntai-s = 37\nmax-error-ns = 1000\n");
        let phc = format!("offset-ns = {offset}\n");
        let files = [
            (".answers/wall-clock", clock.as_str()),
            (".answers/phc-0", &phc),
            ("etc/ptp.conf", SETTINGS),
        ];
        says("ts-synchronised", processes, &files)
    };
    assert_eq!(of(false, 37_000_000_300, &[ptp4l()]), Pass, "on TAI");
    assert_eq!(of(false, -700, &[ptp4l()]), Pass, "on UTC");
    assert_eq!(of(false, 37_000_002_000, &[ptp4l()]), Fail);
    assert_eq!(of(true, 37_000_000_300, &[ptp4l()]), Fail);
    assert_eq!(of(false, 0, &[process(51, "chronyd")]), Pass, "no hardware clock");
    assert_eq!(says("ts-hardware-clock", &[process(51, "chronyd")], &[]), Warn);
    assert_eq!(
        says(
            "ts-hardware-clock",
            &[ptp4l()],
            &[
                ("etc/ptp.conf", SETTINGS),
                (".answers/phc-0", "offset-ns = 5\n"),
                (".answers/wall-clock", "tai-s = 0\n")
            ]
        ),
        Pass
    );
    assert_eq!(of(true, 0, &[process(51, "chronyd")]), Fail);
    assert_eq!(
        says("ts-synchronised", &[ptp4l()], &[("etc/ptp.conf", SETTINGS)]),
        Unknown
    );
    let garbage = [(".answers/wall-clock", "unsynchronised = 0\n")];
    assert_eq!(says("ts-synchronised", &[], &garbage), Unknown);
}

#[test]
fn a_port_that_listens_to_nobody_is_found() {
    let good = "state = \"SLAVE\"\ngrandmaster = true\noffset-ns = 90\npath-delay-ns = 500\nclock-class = 6\nsteps-removed = 1\n";
    let of = |from: &str, to: &str| {
        let answer = good.replace(from, to);
        says(
            "ts-ptp-port",
            &[ptp4l()],
            &[("etc/ptp.conf", SETTINGS), (".answers/ptp4l", &answer)],
        )
    };
    assert_eq!(of("", ""), Pass);
    assert_eq!(of("SLAVE", "LISTENING"), Fail);
    assert_eq!(of("true", "false"), Fail);
    assert_eq!(of("= 90", "= 90000"), Fail);
    assert_eq!(of("class = 6", "class = 248"), Fail);
    assert_eq!(of("grandmaster = true\n", ""), Unknown);
    assert_eq!(says("ts-ptp-port", &[ptp4l()], &[("etc/ptp.conf", SETTINGS)]), Unknown);
    assert_eq!(says("ts-ptp-port", &[], &[]), NotApplicable);
}

#[test]
fn the_profile_is_read_from_arguments_and_from_three_kinds_of_files() {
    let of = |line: &str, settings: &str| says("ts-ptp-profile", &[process(50, line)], &[("etc/ptp.conf", settings)]);
    let line = "ptp4l -f /etc/ptp.conf -i eth0";
    assert_eq!(of(line, SETTINGS), Pass);
    for (from, to) in [
        ("P2P", "E2E"),
        ("L2", "UDPv4"),
        ("logAnnounceInterval 0", "logAnnounceInterval 1"),
        ("timeout 10", "timeout 1"),
    ] {
        assert_eq!(of(line, &SETTINGS.replace(from, to)), Fail, "{from}");
    }
    assert_eq!(
        of("ptp4l -f /etc/ptp.conf -i eth0 -E", SETTINGS),
        Fail,
        "an argument comes before the file"
    );
    assert_eq!(
        of("ptp4l -f /etc/ptp.conf -i eth0 --delay_mechanism=E2E", SETTINGS),
        Fail
    );
    assert_eq!(of("ptp4l -2P -f /etc/ptp.conf", &SETTINGS.replace("P2P", "E2E")), Pass);
    assert_eq!(of(line, &SETTINGS.replace("tx_timestamp_timeout 10\n", "")), Unknown);
    assert_eq!(
        says("ts-ptp-profile", &[ptp4l()], &[]),
        Unknown,
        "the file it names is missing"
    );
    assert_eq!(
        says("ts-ptp-profile", &[], &[("etc/linuxptp/ptp4l.conf", SETTINGS)]),
        Pass
    );
    let seapath = format!(
        "[timemaster]\n[ptp_domain 0]\ninterfaces eth0\ndelay_mechanism P2P\n[ptp4l.conf]\n{}",
        SETTINGS.replace("[global]\n", "").replace("[eth0]\n", "")
    );
    assert_eq!(
        says("ts-ptp-profile", &[], &[("etc/linuxptp/timemaster.conf", &seapath)]),
        Pass
    );
    let brought = [("etc/linuxptp/ptp4l.conf", "[global]\ntx_timestamp_timeout 1\n")];
    assert_eq!(says("ts-ptp-profile", &[], &brought), Warn, "nothing runs by it");
    assert_eq!(says("ts-ptp-profile", &[], &[]), NotApplicable);
}

#[test]
fn daemons_of_time_are_real_time_and_off_the_real_time_cpus() {
    let of = |policy, cpus| {
        let daemon = with_policy(50, "phc2sys -a -r", policy, cpus);
        says("ts-daemon-placement", &[daemon], &[])
    };
    assert_eq!(of("10 1", "0-1"), Pass);
    assert_eq!(of("0 0", "0-1"), Fail);
    assert_eq!(of("10 1", "0-3"), Fail);
    let worker = with_policy(60, "ptp0", "0 0", "0-1");
    assert_eq!(
        says("ts-daemon-placement", &[process(50, "phc2sys -a -r"), worker], &[]),
        Fail
    );
    assert_eq!(says("ts-daemon-placement", &[], &[]), NotApplicable);
    assert_eq!(
        says("ts-daemon-placement", &[], &[("proc/50/comm", "ptp4l\n")]),
        Unknown,
        "only its name was recorded"
    );
}

#[test]
fn steps_of_a_settled_clock_are_found() {
    let of = |lines: &[&str], files: &[(&str, &str)]| {
        let processes: Vec<_> = lines.iter().zip(50..).map(|(line, pid)| process(pid, line)).collect();
        says("ts-step-policy", &processes, files)
    };
    let chrony = |line| [("etc/chrony/chrony.conf", line)];
    assert_eq!(of(&["chronyd"], &chrony("makestep 1 3\n")), Pass);
    assert_eq!(of(&["chronyd"], &chrony("makestep 0.1 -1\n")), Fail);
    assert_eq!(
        of(&["chronyd"], &chrony("makestep 1 -1\n")),
        Pass,
        "one second and more"
    );
    assert_eq!(of(&["chronyd"], &chrony("pool x\n")), Pass);
    assert_eq!(of(&["chronyd"], &chrony("makestep a b\n")), Unknown);
    assert_eq!(of(&["chronyd"], &[]), Unknown);
    let more = [
        ("etc/chrony/chrony.conf", "confdir /etc/chrony/conf.d\n"),
        ("etc/chrony/conf.d/a.conf", "makestep 0.1 -1\n"),
    ];
    assert_eq!(of(&["chronyd"], &more), Fail);
    for (line, outcome) in [
        ("include /etc/chrony/conf.d/a.conf", Fail),
        ("Include /etc/chrony/conf.d/*.conf", Fail),
        ("include /etc/chrony/conf.d/b*.conf", Pass),
        ("include /etc/chrony/conf.d/b.conf", Unknown),
        ("include /etc/chrony/*/a.conf", Unknown),
    ] {
        assert_eq!(of(&["chronyd"], &[chrony(line)[0], more[1]]), outcome, "{line}");
    }
    let started = ("proc/50/cwd", "->/run/timemaster");
    let file = ("run/timemaster/chrony.conf", "makestep 0.1 -1\n");
    assert_eq!(of(&["chronyd -n -f chrony.conf"], &[started, file]), Fail);
    assert_eq!(of(&["systemd-timesyncd"], &[]), Fail);
    assert_eq!(of(&["phc2sys -a -r"], &[]), Pass);
    assert_eq!(of(&["phc2sys -a -r -S 0.00002"], &[]), Fail);
    let settings = [("etc/ptp.conf", SETTINGS)];
    assert_eq!(of(&["ptp4l -f /etc/ptp.conf"], &settings), Pass);
    assert_eq!(
        of(&["ptp4l -f /etc/ptp.conf --step_threshold 0.00001"], &settings),
        Fail,
        "as SEAPATH has it"
    );
    assert_eq!(of(&[], &[]), NotApplicable);
}

/// The finding of each ptp4l, by its name.
fn each_ptp4l(id: &str, lines: &[&str], files: &[(&str, &str)]) -> Vec<(String, Outcome)> {
    let made: Vec<(String, String)> = lines
        .iter()
        .zip(50..)
        .flat_map(|(line, pid)| process(pid, line))
        .collect();
    let made: Vec<(&str, &str)> = made.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let found = finding(&tree(&[&HOST[..], &made, files].concat()), &Parameters::default(), id);
    found.parts.into_iter().map(|part| (part.part, part.outcome)).collect()
}

#[test]
fn each_of_several_ptp4l_is_judged() {
    let two = [
        "ptp4l -f /etc/ptp.conf",
        "ptp4l -f /etc/ptp-b.conf --uds_address=/run/ptp-b",
    ];
    let second = SETTINGS.replace("[eth0]", "[eth1]").replace("P2P", "E2E");
    let answer = |state: &str| {
        format!(
            "state = \"{state}\"\ngrandmaster = true\noffset-ns = 90\npath-delay-ns = 500\nclock-class = 6\nsteps-removed = 1\n"
        )
    };
    let (slave, listening) = (answer("SLAVE"), answer("LISTENING"));
    let files = [
        ("etc/ptp.conf", SETTINGS),
        ("etc/ptp-b.conf", second.as_str()),
        (".answers/ptp4l", slave.as_str()),
        (".answers/ptp4l-2", listening.as_str()),
    ];
    let named = |first, second| vec![("eth0".to_owned(), first), ("eth1".to_owned(), second)];
    assert_eq!(each_ptp4l("ts-ptp-profile", &two, &files), named(Pass, Fail));
    assert_eq!(each_ptp4l("ts-ptp-port", &two, &files), named(Pass, Fail));
    assert_eq!(each_ptp4l("ts-ptp-port", &two, &files[..3]), named(Pass, Unknown));
    let one_socket = [two[0], "ptp4l -f /etc/ptp-b.conf"];
    assert_eq!(each_ptp4l("ts-ptp-port", &one_socket, &files), named(Unknown, Unknown));
    let of_one_interface = ["ptp4l -f /etc/ptp.conf", "ptp4l -f /etc/ptp.conf --domainNumber=1"];
    let names: Vec<String> = each_ptp4l("ts-ptp-profile", &of_one_interface, &files)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(names, ["eth0 (process 50)", "eth0 (process 51)"]);
}

#[test]
fn of_several_hardware_clocks_the_one_that_phc2sys_names_counts() {
    let of = |phc2sys: &str, offset: &str| {
        let lines = ["ptp4l -i eth0", "ptp4l -i eth1 --uds_address=/run/b", phc2sys];
        let processes: Vec<_> = lines.iter().zip(50..).map(|(line, pid)| process(pid, line)).collect();
        let files = [
            ("sys/class/net/eth1/device/ptp/ptp1/clock_name", "igb\n"),
            (
                ".answers/wall-clock",
                "unsynchronised = false\ntai-s = 37\nmax-error-ns = 1000\n",
            ),
            (".answers/phc-0", "offset-ns = 900000\n"),
            (".answers/phc-1", offset),
        ];
        says("ts-synchronised", &processes, &files)
    };
    assert_eq!(of("phc2sys -s eth1 -w", "offset-ns = 300\n"), Pass);
    assert_eq!(of("phc2sys -s eth1 -w", "offset-ns = 30000\n"), Fail);
    assert_eq!(of("phc2sys -s eth0 -w", "offset-ns = 300\n"), Fail);
    assert_eq!(
        of("phc2sys -a -r", "offset-ns = 300\n"),
        Unknown,
        "which one, it does not say"
    );
}

#[test]
fn a_step_of_any_of_several_ptp4l_is_found() {
    let of = |second: &str| {
        let lines = ["ptp4l -i eth0", second];
        let processes: Vec<_> = lines.iter().zip(50..).map(|(line, pid)| process(pid, line)).collect();
        (
            says("ts-step-policy", &processes, &[]),
            says("ts-single-source", &processes, &[]),
        )
    };
    assert_eq!(of("ptp4l -i eth1"), (Pass, Fail));
    assert_eq!(of("ptp4l -i eth1 --step_threshold=0.00001").0, Fail);
    assert_eq!(
        of("ptp4l -i eth1 -S").1,
        Pass,
        "the second sets the wall clock by software stamps"
    );
}

#[test]
fn a_relative_file_is_looked_up_where_ptp4l_was_started() {
    let running = process(50, "ptp4l -f ptp.conf -i eth0");
    let of = |files: &[(&str, &str)]| says("ts-ptp-profile", std::slice::from_ref(&running), files);
    let started = ("proc/50/cwd", "->/srv/ptp");
    assert_eq!(of(&[started, ("srv/ptp/ptp.conf", SETTINGS)]), Pass);
    assert_eq!(of(&[started, ("ptp.conf", SETTINGS)]), Unknown, "not in the root");
    assert_eq!(of(&[("srv/ptp/ptp.conf", SETTINGS)]), Unknown);
}

#[test]
fn an_interface_of_ptp4l_is_nobody_elses() {
    let of = |files: &[(&str, &str)]| {
        let all = [&[("etc/ptp.conf", SETTINGS)], files].concat();
        says("ts-ptp-port-alone", &[ptp4l()], &all)
    };
    assert_eq!(of(&[]), Pass);
    let bridge = [
        ("sys/class/net/br0/uevent", "DEVTYPE=bridge\n"),
        ("sys/class/net/eth0/master", "->../br0"),
    ];
    assert_eq!(of(&bridge), Fail);
    assert_eq!(
        of(&[("sys/class/net/eth0/master", "->../br9")]),
        Fail,
        "br9 is not in the tree"
    );
    let upper = |kind| {
        [
            ("sys/class/net/x0/uevent", kind),
            ("sys/class/net/eth0/upper_x0", "->../x0"),
        ]
    };
    assert_eq!(of(&upper("INTERFACE=x0\nIFINDEX=7\n")), Fail, "a macvtap names no kind");
    assert_eq!(of(&upper("DEVTYPE=vlan\nINTERFACE=x0\n")), Pass);
    assert_eq!(of(&[("sys/class/net/eth0/upper_x0", "->../x0")]), Unknown);
    assert_eq!(says("ts-ptp-port-alone", &[], &[]), NotApplicable);
}

#[test]
fn vmwares_tools_may_be_the_one_program() {
    let of = |others: &[&str], sync: Option<&str>| {
        let all = [&["vmtoolsd"], others].concat();
        let made: Vec<(String, String)> = all
            .iter()
            .zip(50..)
            .flat_map(|(line, pid)| process(pid, line))
            .collect();
        let made: Vec<(&str, &str)> = made.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let vmx = format!("tools.syncTime = \"{}\"\n", sync.unwrap_or_default());
        let files = tree(&[&HOST[..], &made, &[("relay.vmx", vmx.as_str())]].concat());
        let parameters = Parameters {
            vmx: Vec::from_iter(sync.map(|_| files.path().join("relay.vmx"))),
            ..Parameters::default()
        };
        outcome(&files, &parameters, "ts-single-source")
    };
    assert_eq!(of(&[], Some("TRUE")), Pass);
    assert_eq!(of(&[], Some("FALSE")), Fail);
    assert_eq!(of(&[], None), Unknown);
    assert_eq!(of(&["chronyd"], Some("TRUE")), Fail, "two masters");
    assert_eq!(of(&["chronyd"], Some("FALSE")), Pass);
    assert_eq!(of(&["chronyd"], None), Pass);
}
