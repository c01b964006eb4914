//! Every probe is documented: its page, its command's help, its row in the README. Every cause has a remedy.

use model::Cause;
use std::path::Path;
use support::run;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn text(path: &str) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The command of a probe: a capture is sent again by `publish`, and a test set measures in three ways.
fn command(probe: &str) -> &str {
    match probe {
        "replay" => "publish",
        "ping_pong" | "watch" => "trip",
        other => other,
    }
}

#[test]
fn every_probe_has_a_page_that_index_and_page_name() {
    let index = text("docs/README.md");
    for about in probes::LIST {
        let page = text(&format!("docs/{}", about.page));
        assert!(index.contains(&format!("({})", about.page)), "{}", about.page);
        let said = format!("triptime {}", command(about.name));
        assert!(page.contains(&said), "{}: no \"{said}\"", about.page);
        for kind in about.kinds {
            // GOOSE has a page of its own.
            let series = format!("{}/", kind.name);
            let is_there =
                page.contains(&series) || (page.contains("(goose.md") && text("docs/guide/goose.md").contains(&series));
            assert!(is_there, "{}: no series {series}", about.page);
        }
    }
}

#[test]
fn every_probe_has_a_row_in_the_readme() {
    let readme = text("README.md");
    for about in probes::LIST {
        let name = command(about.name);
        let row = |line: &str| {
            line.starts_with('|')
                && line
                    .split('|')
                    .nth(1)
                    .is_some_and(|cell| cell.contains(&format!("`{name}")))
        };
        assert!(readme.lines().any(row), "{name}");
    }
}

#[test]
fn every_command_of_a_probe_has_help_with_an_example() {
    for about in probes::LIST {
        let name = command(about.name);
        let output = run(&[name, "--help"]);
        let help = String::from_utf8_lossy(&output.stdout);
        assert!(
            help.contains("Example") && help.contains(&format!("triptime {name}")),
            "{help}"
        );
    }
}

/// A command on a page that reads a recorded machine, and what it prints, which stands after it.
const ON_RECORDED: &str = "--root tests/hosts/";

/// `RENEW=1 cargo test -p triptime-tests --test documented` writes it.
#[test]
fn a_page_shows_what_the_command_prints() {
    let (mut compared, folder) = (0, root().join("docs/guide"));
    for page in std::fs::read_dir(folder)
        .expect("a folder")
        .flatten()
        .map(|entry| entry.path())
    {
        let text = std::fs::read_to_string(&page).expect("a page");
        let mut parts: Vec<String> = text.split("```\n").map(str::to_owned).collect();
        // Blocks are the odd parts: a command, some text, and what it prints.
        for at in (1..parts.len().saturating_sub(2)).step_by(2) {
            let command = parts[at].clone();
            if command.lines().count() != 1 || !command.contains(ON_RECORDED) {
                continue;
            }
            let words: Vec<&str> = command.split_whitespace().skip(1).collect();
            let printed = support::run_in(root(), &words).stdout;
            compared += 1;
            parts[at + 2] = String::from_utf8(printed).expect("text");
        }
        let wanted = parts.join("```\n");
        if std::env::var_os("RENEW").is_some() {
            std::fs::write(&page, &wanted).expect("a page");
        }
        assert!(
            wanted == text,
            "{}: RENEW=1 writes what it should be:\n{wanted}",
            page.display()
        );
    }
    assert!(compared >= 1, "no page shows anything");
}

/// What sets a machine up, and what brings triptime to one, has what a probe has: page, row, help, man page, and its options in the
/// completions.
#[test]
fn commands_without_a_probe_are_documented_as_probes_are() {
    let (index, readme) = (text("docs/README.md"), text("README.md"));
    let share = tempfile::tempdir().expect("a directory");
    let place = |name: &str| share.path().join(name);
    let written = run(&["manual", share.path().to_str().expect("UTF-8")]);
    assert!(written.status.success(), "{}", support::stderr(&written));
    let completions = std::fs::read_to_string(place("bash-completion/completions/triptime")).expect("completions");
    for (name, options) in [
        ("audit", ["--capture", "--waivers", "--fail-on", "--profile"]),
        ("tune", ["--apply", "--undo", "--emit", "--prove"]),
        ("emit", ["image", "quadlet", "job", "checkup"]),
    ] {
        assert!(index.contains(&format!("(guide/{name}.md)")), "{name}");
        assert!(readme.contains(&format!("\n| `{name}` |")), "{name}");
        let man = place(&format!("man/man1/triptime-{name}.1"));
        assert!(man.exists(), "{}", man.display());
        let help = String::from_utf8_lossy(&run(&[name, "--help"]).stdout).into_owned();
        assert!(
            help.contains("Examples: triptime") && help.contains("Exit status:"),
            "{help}"
        );
        let page = text(&format!("docs/guide/{name}.md"));
        for option in options {
            assert!(
                help.contains(option) && page.contains(option) && completions.contains(option),
                "{name} {option}"
            );
        }
    }
}

/// The screen sends a person whose host failed to this page: each cause that it can name has its row there, with a remedy.
#[test]
fn every_cause_has_a_remedy_on_the_page_for_hosts_that_failed() {
    let page = text("docs/guide/host-failed.md");
    for cause in Cause::ALL {
        let begin = format!("| `{}` |", cause.word());
        let row = page.lines().find(|line| line.starts_with(&begin));
        let cells: Vec<&str> = row.unwrap_or_else(|| panic!("no row {begin}")).split('|').collect();
        assert!(
            cells.len() == 5 && cells.iter().skip(1).take(3).all(|cell| !cell.trim().is_empty()),
            "{cells:?}"
        );
    }
}

/// The options that many commands share are explained on one page, and named in the help of each; completions know them everywhere.
#[test]
fn shared_options_are_explained_once() {
    let help = |arguments: &[&str]| String::from_utf8_lossy(&run(arguments).stdout).into_owned();
    let topic = help(&["help", "output"]);
    for option in ["--file-budget <SIZE>", "--junit <FILE>", "--capture <FILE>"] {
        assert!(topic.contains(option), "{option} is not in {topic}");
    }
    assert_eq!(help(&["output"]), topic);
    for about in probes::LIST {
        let help = help(&[command(about.name), "--help"]);
        assert!(
            help.contains("--file-budget") && help.contains("`triptime help output`"),
            "{help}"
        );
        assert!(
            !help.contains("--file-budget <") && !help.contains("--capture <"),
            "{help}"
        );
    }
}

/// What hands that know cyclictest type.
#[test]
fn short_forms_mean_what_they_mean_to_cyclictest() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("x.triptime");
    let words = "wakeup -p 80 -i 500us -D 100ms -a 0 -d 0 -b 1s --json -q --out";
    let words: Vec<&str> = words.split(' ').chain(file.to_str()).collect();
    let output = run(&words);
    if !support::root_or_skip("short_forms_mean_what_they_mean_to_cyclictest") {
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}", support::stderr(&output));
    let document = support::json(&output);
    let settings = &support::series(&document, "wakeup/cpu0")["settings"];
    assert_eq!(
        (&settings["policy"], &settings["interval"]),
        (&"fifo:80".into(), &"500 µs".into()),
        "{settings}"
    );
}

/// A step of a plan has the options of the command as keys, in its page too.
#[test]
fn the_options_of_a_command_are_the_keys_of_its_step() {
    let page = text("docs/formats/plan.md");
    let mut of_streams = keys::<probes::publish::PublishOptions>();
    // A plan says rate and ASDUs themselves.
    of_streams.retain(|key| key != "profile");
    for (probe, own) in [
        ("wakeup", keys::<probes::wakeup::WakeupOptions>()),
        ("noise", keys::<probes::noise::NoiseOptions>()),
        ("reflect", keys::<probes::reflect::ReflectOptions>()),
        ("sampled-values", of_streams),
        ("talk-listen", keys::<probes::talk::TalkOptions>()),
    ] {
        let row = page
            .lines()
            .find(|line| line.starts_with(&format!("| `probe = \"{probe}\"`")));
        let row = row.expect("a row");
        for key in own {
            assert!(row.contains(&format!("`{key}`")), "{probe}: {key} is not in {row}");
        }
    }
}

/// The options that a probe's type declares.
fn keys<T: clap::Args>() -> Vec<String> {
    let command = T::augment_args(clap::Command::new("options"));
    command
        .get_arguments()
        .map(|option| option.get_id().to_string())
        .collect()
}
