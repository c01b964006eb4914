use super::{LimitsError, Pattern, Profile, Quantity, Unit};

const GOOD: &str = r#"name = "site"
what = "our own"

[[limit]]
id = "wakeup.max"
series = "wakeup/*"
quantity = "max"
allowed = "80us"
source = "site standard 7"

[[limit]]
id = "age.lost"
series = "age/MU01"
quantity = "lost"
allowed = 0
source = "site standard 8"
why = "one lost sample is one too many"

[[limit]]
id = "age.received"
series = "age/*"
quantity = "received"
at_least = 1000
source = "site standard 9"
"#;

fn error_of(text: &str) -> String {
    Profile::parse(text, "site.toml")
        .expect_err("must be refused")
        .to_string()
}

#[test]
fn embedded_profiles_parse_and_name_their_sources() {
    for name in Profile::embedded_names() {
        let profile = Profile::find(name).expect("embedded");
        assert_eq!(profile.name, name);
        assert!(
            profile
                .limits
                .iter()
                .all(|limit| limit.source.len() > 10 && !limit.why.is_empty() && limit.name != limit.id)
        );
        assert!(profile.requirements.iter().all(|one| one.name != one.id), "{name}");
    }
    let substation = Profile::find("substation").expect("embedded");
    let allowed: Vec<(&str, u64)> = substation.limits.iter().map(|l| (l.id.as_str(), l.allowed)).collect();
    let wanted = [
        ("rtt.max", 250_000),
        ("wakeup.max", 120_000),
        ("transit.max", 100_000),
        ("age.max", 692_000),
        ("age.mean", 315_000),
        ("task.max", 1_000_000),
        ("task.missed", 0),
        ("spacing.lost", 0),
        ("spacing.conflicting", 0),
        ("goose.lost", 0),
        ("goose.expired", 0),
    ];
    assert_eq!(allowed, wanted);
    assert_eq!(Profile::find("avb").expect("embedded").limits[0].allowed, 50_000);
}

#[test]
fn a_site_file_gives_durations_counts_and_lower_bounds() {
    let profile = Profile::parse(GOOD, "site.toml").expect("good");
    let values: Vec<(u64, Unit)> = profile.limits.iter().map(|l| (l.allowed, l.quantity.unit())).collect();
    assert_eq!(values, [(80_000, Unit::Ns), (0, Unit::Count), (1000, Unit::Count)]);
    assert_eq!(profile.limits[0].allowed_text(), "80.0 µs");
}

#[test]
fn refusals_name_file_line_and_key() {
    let cases = [
        (
            "quantity = \"max\"",
            "quantity = \"worst\"",
            "line 7: key \"quantity\": \"worst\" is not known; write one of max, mean",
        ),
        (
            "\"80us\"",
            "\"80\"",
            "line 8: key \"allowed\": \"80\" has no known unit",
        ),
        (
            "\"80us\"",
            "80",
            "line 8: key \"allowed\": max is a duration: write \"80us\"",
        ),
        (
            "allowed = 0",
            "allowed = \"0us\"",
            "line 15: key \"allowed\": lost is a count",
        ),
        (
            "id = \"age.lost\"",
            "id = \"wakeup.max\"",
            "line 12: key \"id\": \"wakeup.max\" is used twice",
        ),
        (
            "series = \"age/MU01\"",
            "series = \"age/MU01 | \"",
            "line 13: key \"series\": there is nothing on one side of a \"|\"",
        ),
        (
            "source = \"site standard 8\"",
            "source = \" \"",
            "line 16: key \"source\": must not be empty",
        ),
        (
            "at_least = 1000",
            "allowed = 1000",
            "line 23: key \"allowed\": the quantity received is judged by the key \"at_least\"",
        ),
        (
            "at_least = 1000",
            "at_least = 0",
            "line 23: key \"at_least\": 0 is reached by a series of which nothing came: write 1 or more",
        ),
        (
            "allowed = \"80us\"\n",
            "",
            "line 5: key \"allowed\": is missing in limit \"wakeup.max\"",
        ),
    ];
    for (from, to, wanted) in cases {
        let message = error_of(&GOOD.replacen(from, to, 1));
        assert!(message.contains(wanted) && message.contains("site.toml"), "{message}");
    }
}

#[test]
fn what_toml_itself_refuses_names_line_and_key() {
    let message = error_of(&GOOD.replacen("allowed = \"80us\"", "alowed = \"80us\"", 1));
    assert!(
        message.contains("line 8") && message.contains("alowed") && message.contains("site.toml"),
        "{message}"
    );
    let message = error_of(&GOOD.replacen("what = \"our own\"", "what = ", 1));
    assert!(message.contains("line 2"), "{message}");
    let message = error_of(&GOOD.replacen("allowed = \"80us\"", "allowed = -3", 1));
    assert!(
        message.contains("line 8") && message.contains("a duration in quotes"),
        "{message}"
    );
    let message = error_of(&GOOD.replacen("source = \"site standard 7\"\n", "", 1));
    assert!(message.contains("source"), "{message}");
}

#[test]
fn a_profile_that_judges_nothing_is_refused() {
    assert!(error_of("name = \"empty\"\nwhat = \"\"\n").contains("no [[limit]] and no [[require]]"));
}

#[test]
fn unknown_names_list_what_there_is() {
    let error = Profile::find("substatoin").expect_err("no such profile");
    assert!(matches!(error, LimitsError::Unknown(_)));
    assert!(error.to_string().contains("substation, seapath, avb"), "{error}");
    let directory = tempfile::tempdir().expect("a directory");
    let error = Profile::find(directory.path().to_str().expect("utf-8")).expect_err("a directory");
    assert!(matches!(error, LimitsError::Unreadable { .. }), "{error}");
}

#[test]
fn patterns() {
    for (pattern, name, fits) in [
        ("wakeup/*", "wakeup/cpu1", true),
        ("wakeup/*", "wakeup", false),
        ("wakeup/cpu1", "wakeup/cpu1", true),
        ("wakeup/cpu1", "wakeup/cpu10", false),
        ("*", "anything", true),
        ("age/MU*/a", "age/MU01/a", true),
        ("age/MU*/a", "age/MU01/ab", false),
        ("a*b*c", "axxbyyc", true),
        ("a*b*c", "axxc", false),
        ("ab*ba", "aba", false),
        ("a*|b*c", "bxc", true),
        ("a*|b*c", "bxd", false),
        (" a* | b*c ", "bxc", true),
        (" a* | b*c ", "axd", true),
    ] {
        assert_eq!(Pattern::new(pattern).matches(name), fits, "{pattern} {name}");
    }
}

#[test]
fn words_of_quantities_are_unique_and_read_back() {
    for quantity in Quantity::ALL {
        assert_eq!(Quantity::from_word(quantity.word()), Some(quantity));
    }
}

const REQUIRED: &str = r#"name = "site"
what = "our own"

[[require]]
id = "nic.eee"
group = "nic *"
fact = "eee"
is = "off"
source = "site standard 7"

[[require]]
id = "nic.rx-usecs"
group = "nic *"
fact = "rx-usecs"
at_most = 20
unit = "us"
source = "site standard 8"
why = "a frame waits no longer"
"#;

#[test]
fn requirements_are_read_and_may_stand_alone() {
    let profile = Profile::parse(REQUIRED, "site.toml").expect("good");
    assert!(profile.limits.is_empty());
    let wanted: Vec<(&str, String)> = profile
        .requirements
        .iter()
        .map(|one| (one.id.as_str(), one.wanted_text()))
        .collect();
    assert_eq!(
        wanted,
        [
            ("nic.eee", "off".to_owned()),
            ("nic.rx-usecs", "at most 20 us".to_owned())
        ]
    );
}

#[test]
fn refusals_of_requirements_name_line_and_key() {
    for (from, to, wanted) in [
        (
            "is = \"off\"\n",
            "",
            "line 5: key \"is\": requirement \"nic.eee\" needs exactly one of is, at_most and at_least",
        ),
        (
            "is = \"off\"\n",
            "is = \"off\"\nat_most = 3\n",
            "needs exactly one of is, at_most and at_least",
        ),
        ("is = \"off\"", "is = \"\"", "line 8: key \"is\": must not be empty"),
        (
            "nic.rx-usecs\"\ngroup",
            "nic.eee\"\ngroup",
            "line 12: key \"id\": \"nic.eee\" is used twice",
        ),
        (
            "\"site standard 8\"",
            "\" \"",
            "line 17: key \"source\": must not be empty",
        ),
        ("at_most = 20", "at_most = -1", "line 15"),
        ("unit = \"us\"", "units = \"us\"", "units"),
    ] {
        let message = error_of(&REQUIRED.replacen(from, to, 1));
        assert!(message.contains(wanted), "{message}");
    }
}

#[test]
fn avb_requires_of_the_card_what_its_source_says_and_substation_nothing() {
    let avb = Profile::find("avb").expect("embedded");
    let wanted: Vec<(&str, &str, String)> = avb
        .requirements
        .iter()
        .map(|one| (one.id.as_str(), one.fact.as_str(), one.wanted_text()))
        .collect();
    let expected = [
        ("nic.eee", "eee", "off"),
        ("nic.adaptive-rx", "adaptive-rx", "off"),
        ("nic.rx-usecs", "rx-usecs", "at most 20 us"),
        ("nic.rx-frames", "rx-frames", "at most 1"),
        ("nic.tx-usecs", "tx-usecs", "at most 20 us"),
        ("nic.tx-frames", "tx-frames", "at most 1"),
    ];
    assert_eq!(wanted, expected.map(|(id, fact, text)| (id, fact, text.to_owned())));
    assert!(
        avb.requirements
            .iter()
            .all(|one| one.source.len() > 10 && !one.why.is_empty())
    );
    assert!(Profile::find("substation").expect("embedded").requirements.is_empty());
}

#[test]
fn classes_ascend_and_only_the_last_has_no_end() {
    let with = |lines: &str| GOOD.replacen("source = \"site standard 7\"", &format!("source = \"s\"\n{lines}"), 1);
    let good = with("classes = [{ under = \"10us\", is = \"good\" }, { is = \"poor\" }]\nstamps = \"known\"");
    let limit = Profile::parse(&good, "site.toml").expect("good").limits.remove(0);
    assert_eq!(limit.class_of(9_999.0, 0.0).as_deref(), Some("good (under 10.0 µs)"));
    assert_eq!(limit.class_of(10_000.0, 0.0).as_deref(), Some("poor (from 10.0 µs)"));
    assert!(limit.needs_known_stamps);
    for (lines, wanted) in [
        (
            "classes = [{ is = \"a\" }, { under = \"1us\", is = \"b\" }]",
            "line 10: key \"classes\": each class except the last needs",
        ),
        (
            "classes = [{ under = \"2us\", is = \"a\" }, { under = \"2us\", is = \"b\" }, { is = \"c\" }]",
            "each class must end above the one before",
        ),
        (
            "classes = [{ under = \"2\", is = \"a\" }, { is = \"c\" }]",
            "has no known unit",
        ),
        ("classes = [{ is = \" \" }]", "each needs a name"),
        ("stamps = \"tap\"", "key \"stamps\": write \"known\""),
    ] {
        let message = error_of(&with(lines));
        assert!(message.contains(wanted), "{message}");
    }
}

#[test]
fn a_series_takes_its_threshold_from_the_lowest_limit_on_its_maximum() {
    let substation = Profile::find("substation").expect("embedded");
    for (name, threshold_ns) in [
        ("rtt/reflect", Some(250_000)),
        ("age/any stream at all", Some(692_000)),
        ("hop/nic-to-edge/MU01", Some(100_000)),
        ("hop/nic-to-port/MU01", None),
        ("spacing/MU01", None),
    ] {
        assert_eq!(substation.threshold_ns(name), threshold_ns, "{name}");
    }
}

#[test]
fn a_limit_has_its_id_as_a_name_until_the_file_gives_one() {
    let profile = Profile::parse(GOOD, "site.toml").expect("a profile");
    assert_eq!(profile.limits[0].name, "wakeup.max");
    let named = |name: &str| GOOD.replacen("series =", &format!("name = {name}\nseries ="), 1);
    let profile = Profile::parse(&named("\"Wake-up\""), "site.toml").expect("a profile");
    assert_eq!(
        (profile.limits[0].id.as_str(), profile.limits[0].name.as_str()),
        ("wakeup.max", "Wake-up")
    );
    assert!(error_of(&named("\"  \"")).contains("must not be empty"));
}
