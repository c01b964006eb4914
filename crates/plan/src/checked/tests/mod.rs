//! Plans that are accepted or refused.

mod faults;
mod lans;

use super::{EMBEDDED, Plan};
use crate::measure::{CpuStep, SampledValuesStep, TalkListenStep};
use crate::{Named, Step};
use host::CpuFacts;
use probes::wakeup::WakeupConfig;

const QUICK: &str = include_str!("../../../../../plans/quick.toml");

#[test]
fn every_embedded_plan_is_valid_and_called_what_it_says() {
    for (name, text) in EMBEDDED {
        let plan = Plan::parse(name, text).expect(name);
        assert_eq!(plan.name, *name);
    }
}

/// Embedded plans judge the host as it is in service.
#[test]
fn no_embedded_plan_holds_idle_states_off() {
    for (name, text) in EMBEDDED {
        let plan = Plan::parse(name, text).expect(name);
        assert!(plan.steps.iter().all(|step| step.common.idle.is_system()), "{name}");
    }
}

#[test]
fn quick_stays_near_a_minute() {
    let plan = Plan::load("quick").expect("embedded");
    assert!((40..=60).contains(&(plan.duration_ns() / 1_000_000_000)));
}

#[test]
fn networks_takes_a_minute_or_a_bit_more() {
    let plan = Plan::load("networks").expect("embedded");
    assert!((60..=90).contains(&(plan.duration_ns() / 1_000_000_000)));
    assert_eq!(plan.lasting(10).duration_ns(), 200, "four rounds over five networks");
}

#[test]
fn a_plan_that_nobody_would_see_the_end_of_is_refused_with_its_line() {
    let text = Plan::load("networks").expect("embedded").text;
    let line = 1 + text
        .lines()
        .position(|line| line.starts_with("duration"))
        .expect("a step");
    let refusal = |duration: &str| {
        let text = text.replace("duration = \"4s\"", &format!("duration = \"{duration}\""));
        assert!(text.contains(duration), "the embedded plan has steps of 4 s");
        Plan::parse("site.toml", &text).expect_err("too long").to_string()
    };
    let message = refusal("3000d");
    assert!(
        message.contains(&format!("line {line}: duration: step \"round trip\"")),
        "{message}"
    );
    assert!(message.contains("at most 3650 d"), "{message}");
    assert!(refusal("4000d").contains("at most 3650 d"));
    let plan = Plan::load("networks").expect("embedded");
    assert!(plan.lasting(units::LONGEST_NS).check_length().is_err());
}

#[test]
fn every_frame_is_kept_of_one_network_in_one_round_only() {
    let head = "name = \"lab\"\nwhat = \"a test\"\nlimits = \"lab\"\nwindow = \"20s\"\n\n[cpus]\nhousekeeping = \"first\"\nmeasured = \"rest\"\n";
    let step = "[[step]]\nprobe = \"sampled-values\"\nduration = \"10s\"\npolicy = \"other\"\nrecord = true\n";
    let plan = |bed: &str| Plan::parse("lab.toml", &format!("{head}{bed}{step}"));
    let says = "record: every frame is kept of one network in one round";
    for bed in [
        "[bed]\nnetworks = [\"veth\", \"bridge\"]\n",
        "[bed]\nnetworks = [\"veth\"]\nrounds = 2\n",
    ] {
        let refused = plan(bed).expect_err("measured twice").to_string();
        assert!(refused.contains(says) && refused.contains("line"), "{refused}");
    }
    let one = plan("[bed]\nnetworks = [\"veth\"]\n").expect("a plan");
    let with_ports = one.check_beside_ports().expect_err("two networks").to_string();
    assert!(with_ports.contains(says), "{with_ports}");
    assert!(plan("").is_ok());
}

#[test]
fn networks_that_cannot_be_compared_are_refused() {
    let text = Plan::load("networks").expect("embedded").text;
    let refusal = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        let refused = Plan::parse("site.toml", &text.replace(from, to)).expect_err("must be refused");
        refused.to_string()
    };
    for (from, to, says) in [
        ("\"bridge\"", "\"hub\"", "unknown variant `hub`"),
        ("\"bridge\"", "\"veth\"", "bed.networks: veth is listed twice"),
        ("rounds = 4", "rounds = 0", "no round"),
        ("\"block\"", "\"spin\"", "would keep the switch of tap from its CPU"),
        ("\"reflect\"\n", "\"wakeup\"\n", "unknown field `receive`"),
    ] {
        let message = refusal(from, to);
        assert!(message.contains(says), "{message}");
    }
}

#[test]
fn streams_are_measured_over_each_network() {
    let text = Plan::load("networks").expect("embedded").text;
    let streams =
        "probe = \"sampled-values\"\nstreams = 1\nrate = 4800\nasdus = 1\nduration = \"1s\"\npolicy = \"other\"";
    let plan = Plan::parse("site.toml", &format!("{text}\n[[step]]\n{streams}\n")).expect("a plan");
    let both = plan.lasting(10).duration_ns();
    assert_eq!(both, 400, "four rounds over five networks of two steps");
}

#[test]
fn sampled_values_are_traced_when_asked_for() {
    let quick = Plan::load("quick").expect("embedded");
    let traced = |plan: &Plan| {
        let own = &streams_of(plan).own;
        (own.trace, own.trace_threshold.map(|ns| ns.0))
    };
    assert_eq!(traced(&quick), (true, None));
    let with = |more: &str| Plan::parse("site.toml", &quick.text.replace("trace = true", more));
    let plan = with("trace = true\ntrace_threshold = \"50us\"").expect("a plan");
    assert_eq!(traced(&plan), (true, Some(50_000)));
    assert_eq!(traced(&with("").expect("a plan")), (false, None));
    let message = with("trace_threshold = \"50us\"").expect_err("refused").to_string();
    assert!(message.contains("add trace = true"), "{message}");
}

#[test]
fn streams_have_the_options_of_the_command() {
    let quick = Plan::load("quick").expect("embedded");
    let with = |more: &str| Plan::parse("site.toml", &quick.text.replace("trace = true", more));
    let plan = with("trace = true\nvlan = \"100:6\"\nsv_id = \"BAY\"\nsmp_synch = 1").expect("a plan");
    let step = streams_of(&plan);
    let [spec, ..] = &step.options.specs(1)[..] else {
        panic!("no stream: {step:?}");
    };
    assert_eq!((spec.sv_id.as_str(), spec.smp_synch), ("BAY01", 1));
    assert_eq!(spec.vlan.map(|tag| (tag.vid(), tag.pcp())), Some((100, 6)));
    assert_eq!((spec.rate, spec.asdus), (4_800, 1));
    for (wrong, says) in [
        ("vlan = 5000", "vlan"),
        (
            "receive = \"spin\"",
            "unknown field `receive`, expected one of `streams`, `rate`",
        ),
        ("tracing = true", "`simulate`, `policy`, `trace`, `trace_threshold`"),
    ] {
        let message = with(wrong).expect_err(wrong).to_string();
        assert!(message.contains(says), "{message}");
    }
}

fn streams_of(plan: &Plan) -> &SampledValuesStep {
    let found = plan.steps.iter().find_map(Step::measures);
    found.expect("a step has streams")
}

fn refusal(change: impl Fn(&str) -> String) -> String {
    Plan::parse("site.toml", &change(QUICK))
        .expect_err("must be refused")
        .to_string()
}

#[test]
fn a_wrong_key_is_named_with_its_line() {
    let message = refusal(|text| text.replace("interval = \"250us\"", "intervall = \"250us\""));
    assert!(
        message.contains("site.toml") && message.contains("line") && message.contains("intervall"),
        "{message}"
    );
}

/// The message has the line of the key, although the parser only knows the line of the step, and proposes a key, probe or value.
#[test]
fn the_line_is_that_of_the_key_and_the_nearest_key_is_named() {
    for (right, wrong, meant) in [
        (
            "interval = \"250us\"",
            "intervall = \"250us\"",
            "; did you mean `interval`?",
        ),
        ("window = ", "widnow = ", "; did you mean `window`?"),
        ("housekeeping = \"first\"", "house = \"first\"", ""),
        ("probe = \"wakeup\"", "probe = \"wakup\"", "; did you mean `wakeup`?"),
        ("duration = \"5s\"", "  duration = \"5\"", ""),
        ("kind = \"hackbench\"", "kind = \"hackbanch\"", ""),
        ("groups = 4", "grops = 4", "; did you mean `groups`?"),
    ] {
        let text = QUICK.replacen(right, wrong, 1);
        let at = text.lines().position(|line| line.contains(wrong)).expect(wrong) + 1;
        let message = Plan::parse("site.toml", &text)
            .expect_err("must be refused")
            .to_string();
        assert!(message.contains(&format!("at line {at}, column")), "{message}");
        let shown = format!("{at} | {}", text.lines().nth(at - 1).expect(wrong));
        assert!(message.contains(&shown) && message.ends_with(meant), "{message}");
        assert_eq!(message.contains("did you mean"), !meant.is_empty(), "{message}");
    }
}

#[test]
fn wrong_values_say_what_would_do() {
    let message = refusal(|text| text.replace("duration = \"14s\"", "duration = \"14\""));
    assert!(message.contains("20s, 5m"), "{message}");
    let message = refusal(|text| text.replace("\"rest\"", "\"some\""));
    assert!(message.contains("CPU list"), "{message}");
    let message = refusal(|text| text.replace("fifo:80", "fifo:800"));
    assert!(message.contains("800"), "{message}");
}

#[test]
fn one_cpu_has_to_play_both_roles() {
    let plan = Plan::load("quick").expect("embedded");
    let roles = |online: &str| {
        let facts = CpuFacts {
            online: online.parse().expect("list"),
            ..CpuFacts::default()
        };
        let roles = plan.roles(&facts, &Named::default()).expect("roles");
        (roles.housekeeping.to_string(), roles.measured.to_string())
    };
    assert_eq!(roles("0"), ("0".into(), "0".into()));
    assert_eq!(roles("0-3"), ("0".into(), "1-3".into()));
}

#[test]
fn steps_are_named_in_the_words_of_the_field() {
    let plan = Plan::load("quick").expect("embedded");
    let names: Vec<&str> = plan.steps.iter().map(Step::name).collect();
    assert_eq!(names, ["wake-up", "noise", "round trip", "sampled values", "trip"]);
}

#[test]
fn a_paced_step_has_a_framing_and_a_spin_ahead() {
    let plan = Plan::load("avb").expect("embedded");
    let last = |plan: &Plan| {
        let step = plan.steps.last().and_then(Step::measures::<TalkListenStep>);
        step.expect("the last step talks").options.clone()
    };
    let talk = last(&plan);
    assert_eq!((talk.spin_ahead, talk.interval.whole_ns()), (50_000, 125_000));
    let wrong = plan.text.replace("framing = \"avtp\"", "framing = \"avb\"");
    let message = Plan::parse("site.toml", &wrong).expect_err("refused").to_string();
    assert!(message.contains("avb") && message.contains("avtp"), "{message}");
    let plain = plan
        .text
        .replace("framing = \"avtp\"\n", "")
        .replace("spin_ahead = \"50us\"\n", "");
    let plan = Plan::parse("site.toml", &plain).expect("both may be left out");
    assert_eq!(last(&plan).spin_ahead, 0);
    let options = plain + "vlan = \"2:3\"\nlate_after = \"50us\"\nsize = 100\n";
    let talk = last(&Plan::parse("site.toml", &options).expect("options of the command are keys"));
    assert_eq!(
        (talk.vlan.map(|tag| tag.vid()), talk.late_after, talk.size),
        (Some(2), Some(50_000), Some(100))
    );
    let contradicting = options.replace("size = 100", "size = 100\nframing = \"sv\"");
    let message = Plan::parse("site.toml", &contradicting)
        .expect_err("refused")
        .to_string();
    assert!(message.contains("test frames only"), "{message}");
    let unknown = options.replace("size = 100", "sizes = 100");
    let message = Plan::parse("site.toml", &unknown).expect_err("refused").to_string();
    assert!(message.contains("sizes"), "{message}");
}

#[test]
fn a_step_has_its_own_label_loads_and_idle_policy() {
    let text = r#"
name = "site"
what = "one step with everything"
limits = "substation"
window = "1s"
table = "jitter"
[cpus]
housekeeping = "first"
measured = "all"
[[step]]
probe = "wakeup"
duration = "10s"
interval = "4800/s"
policy = "fifo:90"
label = "hackbench"
idle = "system"
[[step.load]]
kind = "hackbench"
groups = 3
[[step]]
probe = "noise"
duration = "10s"
gaps_above = "1us"
policy = "fifo:90"
"#;
    let plan = Plan::parse("site.toml", text).expect("a plan").lasting(5);
    let [wakeup, noise] = &plan.steps[..] else {
        panic!("two steps: {:?}", plan.steps);
    };
    assert_eq!(
        (wakeup.common.label.as_deref(), wakeup.common.loads.len()),
        (Some("hackbench"), 1)
    );
    // The system's idle states are the default.
    assert!(wakeup.common.idle.is_system() && noise.common.idle.is_system());
    let held = Plan::parse("site.toml", text).expect("a plan").holding_idle();
    let is_held = |step: &Step| !step.common.idle.is_system() && step.written["idle"].as_str() == Some("held");
    assert!(held.steps.iter().all(is_held));
    let options = wakeup.measures::<CpuStep<WakeupConfig>>().expect("wake-ups");
    assert_eq!(options.options.interval.fraction(), (625_000, 3));
    assert_eq!(plan.duration_ns(), 10);
    let wrong = text.replace("label = \"hackbench\"", "lable = \"hackbench\"");
    let message = Plan::parse("site.toml", &wrong).expect_err("refused").to_string();
    assert!(message.contains("lable"), "{message}");
    // A load of a step is a part of its table.
    let wrong = text.replace("groups = 3", "grops = 3");
    let at = wrong.lines().position(|line| line == "grops = 3").expect("a line") + 1;
    let message = Plan::parse("site.toml", &wrong).expect_err("refused").to_string();
    assert!(message.contains(&format!("at line {at}, ")), "{message}");
    let twice = text.replace(
        "probe = \"noise\"\nduration = \"10s\"\ngaps_above = \"1us\"",
        "probe = \"wakeup\"\nduration = \"10s\"\ninterval = \"1ms\"\nlabel = \"hackbench\"",
    );
    let message = Plan::parse("site.toml", &twice).expect_err("refused").to_string();
    assert!(message.contains("hackbench"), "{message}");
}

#[test]
fn what_is_wrong_in_a_step_is_named_with_its_key_and_its_line() {
    let message = refusal(|text| text.replace("gaps_above = \"1us\"", "gaps_above = \"1parsec\""));
    assert!(
        message.contains("line") && message.contains("in `gaps_above`"),
        "{message}"
    );
    let message = refusal(|text| text.replace("duration = \"14s\"", "duration = 14"));
    assert!(message.contains("in `duration`"), "{message}");
    let message = refusal(|text| text.replace("probe = \"noise\"", "probe = \"noice\""));
    assert!(
        message.contains("probe = \"noice\": no such probe, use one of `wakeup`, `noise`"),
        "{message}"
    );
    let message = refusal(|text| text.replace("probe = \"noise\"", "probe = \"noise\"\ntest_set = \"0\""));
    assert!(message.contains("a step \"noise\" has no test set"), "{message}");
    let message = refusal(|text| text.replace("probe = \"reflect\"", "probe = \"reflect\"\nlabel = \"x\""));
    assert!(message.contains("unknown field `label`"), "{message}");
}

#[test]
fn a_relay_waits_for_no_stream_that_the_test_set_does_not_send() {
    let refusal = |from: &str, to: &str| {
        assert!(QUICK.contains(from), "{from}");
        refusal(|text| text.replace(from, to))
    };
    for (from, to, says) in [
        (
            "relay = \"bays8\"",
            "relay = \"bays9\"",
            "waits for MU09 with 4800 samples a second",
        ),
        ("relay = \"bays8\"", "relay = \"nowhere.toml\"", "bays1 to bays999"),
        ("relay = \"bays8\"", "", "missing field `relay`"),
        (
            "[\"overcurrent\", \"load\"]",
            "[\"nowhere\"]",
            "neither one of this program",
        ),
        ("settle = \"300ms\"", "settel = \"300ms\"", "settel"),
    ] {
        let message = refusal(from, to);
        assert!(message.contains(says), "{message}");
    }
}

#[test]
fn several_relays_stand_side_by_side_where_the_bed_has_room_for_them() {
    let plan = |bed: &str, step: &str| {
        let text = format!(
            "name = \"two\"\nwhat = \"x\"\nlimits = \"substation\"\nwindow = \"1s\"\n[cpus]\nhousekeeping = \"first\"\n\
             measured = \"rest\"\n{bed}[[step]]\nprobe = \"trip\"\nduration = \"1s\"\nstreams = 2\npolicy = \"fifo:60\"\n{step}"
        );
        Plan::parse("two", &text)
    };
    let relays = "relay = [\"bays2\", \"bays1\", \"bays2\"]\n";
    let three = plan("", relays).expect("on a bridge");
    assert_eq!((three.devices(), three.compares_networks()), (3, false));
    let bed = |network: &str| format!("[bed]\nnetworks = [\"{network}\"]\n");
    let on_one_port = plan(&bed("macvlan"), relays).expect("on a macvlan");
    assert_eq!(on_one_port.duration_ns(), 1_000_000_000);
    let refused = |bed: &str, step: &str| plan(bed, step).expect_err("refused").to_string();
    assert!(refused(&bed("tap"), relays).contains("tap has one device, but a step has several"));
    let faults = "[[fault]]\nkind = \"drop\"\nto = \"device\"\nevery = 2\n";
    assert!(refused(faults, relays).contains("the wire that makes faults has one device"));
    let traced = format!(
        "{relays}[[step]]\nprobe = \"sampled-values\"\nduration = \"1s\"\npolicy = \"fifo:60\"\ntrace = true\n"
    );
    assert!(refused("", &traced).contains("trace in a separate plan"));
    assert!(refused("", "relay = [\"bays2\", \"bays3\"]\n").contains("the relay bays3 waits for MU03"));
    assert!(refused("", "relay = []\n").contains("0 relays; 1 to 16"));
}

#[test]
fn what_scenarios_expect_is_judged_once_for_each_step() {
    let limits = Plan::load("vpc").expect("embedded").own_limits().expect("limits");
    let limits = limits.expect("it has trips");
    let count = |text: &str| limits.matches(text).count();
    assert_eq!(count("id = \"trip.within.30-streams-load-overcurrent\""), 1);
    assert_eq!(
        (
            count("trip.within."),
            count("id = \"trip.failures\""),
            count("id = \"trip.false\"")
        ),
        (11, 1, 1)
    );
    assert_eq!(count("id = \"trip.within.two-of-20-load-2-overcurrent\""), 1);
    assert_eq!(Plan::load("avb").expect("embedded").own_limits().expect("limits"), None);
}
