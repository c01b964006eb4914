//! Every probe is documented: its page, its command's help, its row in the README. Every cause has a remedy.

use model::Cause;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use support::run;

/// Lock for the two tests that may write README.md.
static README: Mutex<()> = Mutex::new(());

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn text(path: &str) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The command of a probe: `publish` also replays captures, and a test set measures in four ways.
fn command(probe: &str) -> &str {
    match probe {
        "replay" => "publish",
        "ping_pong" | "watch" | "observe" => "trip",
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

/// The commands of `triptime --help`, each with its first paragraph of help as one line.
fn commands() -> Vec<(String, String)> {
    let help = String::from_utf8(run(&["--help"]).stdout).expect("UTF-8");
    let block = help.split_once("\nCommands:\n").expect("commands").1;
    let mut commands: Vec<(String, String)> = Vec::new();
    for line in block.lines().take_while(|line| !line.is_empty()) {
        match line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')) {
            Some(rest) => {
                let (name, about) = rest.split_once(' ').unwrap_or((rest, ""));
                commands.push((name.to_owned(), about.trim().to_owned()));
            }
            None => {
                let (_, about) = commands.last_mut().expect("a command");
                about.push(' ');
                about.push_str(line.trim());
            }
        }
    }
    commands.retain(|(name, _)| name != "help");
    commands
}

/// The table of the README: names and words are those of the help; the third column is written by hand.
#[test]
fn the_readme_lists_every_command_in_the_words_of_its_help() {
    let (begin, end) = ("<!-- commands: begin -->\n", "<!-- commands: end -->");
    let _held = README.lock();
    let page = text("README.md");
    let (before, rest) = page.split_once(begin).expect("the table's begin");
    let (found, after) = rest.split_once(end).expect("the table's end");
    let heading: String = found.split_inclusive('\n').take(2).collect();
    let field = |name: &str| {
        let begin = format!("| `{name}` |");
        let row = found.lines().find(|line| line.starts_with(&begin));
        row.and_then(|row| row.trim_end_matches(" |").rsplit_once(" | "))
            .map_or("?", |(_, field)| field)
    };
    let rows: String = commands()
        .iter()
        .map(|(name, about)| format!("| `{name}` | {about} | {} |\n", field(name)))
        .collect();
    let wanted = format!("{heading}{rows}");
    if std::env::var_os("RENEW").is_some() {
        let renewed = format!("{before}{begin}{wanted}{end}{after}");
        std::fs::write(root().join("README.md"), renewed).expect("README.md can be written");
    }
    assert!(
        !wanted.contains("| ? |"),
        "name the counterpart in the field:\n{wanted}"
    );
    assert!(
        found == wanted,
        "the table of README.md should be (RENEW=1 writes it):\n{wanted}"
    );
}

#[test]
fn the_help_of_every_command_shows_an_example_before_the_options() {
    let help = |name: &str| {
        let output = run(&[name, "--help"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let listed = run(&["--help"]);
    let all = String::from_utf8_lossy(&listed.stdout);
    let commands = all.lines().filter_map(|line| {
        let name = line.strip_prefix("  ")?.split(' ').next()?;
        (name.starts_with(|first: char| first.is_ascii_lowercase()) && name != "help").then_some(name)
    });
    let mut count = 0;
    for name in commands {
        count += 1;
        let text = help(name);
        let (example, usage) = (text.find("Example"), text.find("Usage:"));
        assert!(
            example < usage && text.contains(&format!("triptime {name}")),
            "{name}: {text}"
        );
        assert!(example.is_some(), "{name}: {text}");
    }
    assert!(count > 30, "{count}: {all}");
}

/// Commands whose output is the same everywhere: they read a recorded machine or run, or data inside the binary. A page shows the output in the block
/// after that of the command.
const SAME_EVERYWHERE: [&str; 3] = ["--root tests/hosts/", " tests/data/", "triptime qualify --list"];

/// `RENEW=1 cargo test -p triptime-tests --test documented` writes it.
#[test]
fn a_page_shows_what_the_command_prints() {
    let _held = README.lock();
    let (mut compared, folder) = (0, root().join("docs/guide"));
    let guides = std::fs::read_dir(folder).expect("a folder").flatten();
    for page in guides.map(|entry| entry.path()).chain([root().join("README.md")]) {
        let text = std::fs::read_to_string(&page).expect("a page");
        let mut parts: Vec<String> = text.split("```\n").map(str::to_owned).collect();
        // Blocks are the odd parts: a command, some text, and its output.
        for at in (1..parts.len().saturating_sub(2)).step_by(2) {
            let command = parts[at].clone();
            if command.lines().count() != 1 || !SAME_EVERYWHERE.iter().any(|part| command.contains(part)) {
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
    assert!(
        compared >= 3,
        "{compared} commands: the audit of a machine, and two of the README"
    );
}

/// Commands that set a machine up, or bring triptime to one, are documented like probes: page, row, help, man page, and options in the completions.
#[test]
fn commands_without_a_probe_are_documented_as_probes_are() {
    let (index, readme) = (text("docs/README.md"), text("README.md"));
    let share = tempfile::tempdir().expect("a directory");
    let place = |name: &str| share.path().join(name);
    let written = run(&["manual", share.path().to_str().expect("UTF-8")]);
    assert!(written.status.success(), "{}", support::stderr(&written));
    let completions = |command: &str| {
        let words = ["--", "triptime", command, ""];
        let mut asked = std::process::Command::new(support::binary());
        let asked = asked
            .args(words)
            .env("TRIPTIME_COMPLETE", "bash")
            .env("_CLAP_COMPLETE_INDEX", "2");
        String::from_utf8_lossy(&asked.output().expect("the binary").stdout).into_owned()
    };
    for (name, options) in [
        ("audit", ["--capture", "--waivers", "--fail-on", "--profile"]),
        ("tune", ["--apply", "--undo", "--emit", "--prove"]),
        ("emit", ["image", "oci", "quadlet", "job"]),
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
        let completions = completions(name);
        for option in options {
            assert!(
                help.contains(option) && page.contains(option) && completions.contains(option),
                "{name} {option}"
            );
        }
    }
}

/// All pages of the repository, except those of the recorded machines.
fn pages() -> Vec<PathBuf> {
    let (mut folders, mut pages) = (vec![root().join("docs")], Vec::new());
    pages.extend(["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"].map(|name| root().join(name)));
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder)
            .expect("a folder")
            .flatten()
            .map(|entry| entry.path())
        {
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(kind) if kind == "md" => pages.push(path),
                _ => {}
            }
        }
    }
    pages
}

/// The anchors of the headings of a page.
fn headings(page: &str) -> Vec<String> {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    let plain = |sign: &char| sign.is_alphanumeric() || [' ', '-', '_'].contains(sign);
    headings
        .map(|line| line.trim_start_matches('#').trim().to_lowercase())
        .map(|text| text.chars().filter(plain).collect::<String>().replace(' ', "-"))
        .collect()
}

#[test]
fn every_link_of_a_page_leads_somewhere() {
    let mut wrong = Vec::new();
    for path in pages() {
        let page = std::fs::read_to_string(&path).expect("a page");
        let links = page.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in links.filter(|link| !link.starts_with("http")) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() {
                path.clone()
            } else {
                path.parent().expect("a folder").join(file)
            };
            let is_there = match heading {
                "" => target.exists(),
                heading => {
                    std::fs::read_to_string(&target).is_ok_and(|text| headings(&text).iter().any(|one| one == heading))
                }
            };
            if !is_there {
                wrong.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The list of the journal has each page once, under a topic, with its present state.
#[test]
fn every_page_of_the_journal_is_listed_with_its_status() {
    let list = text("docs/journal/README.md");
    let folder = std::fs::read_dir(root().join("docs/journal"))
        .expect("the journal")
        .flatten();
    let names = folder.map(|entry| entry.file_name().to_string_lossy().into_owned());
    for name in names.filter(|name| name != "README.md") {
        let rows: Vec<&str> = list.lines().filter(|line| line.starts_with("| [")).collect();
        let own: Vec<&&str> = rows
            .iter()
            .filter(|row| row.split('|').nth(1).is_some_and(|cell| cell.contains(&name)))
            .collect();
        assert_eq!(own.len(), 1, "{name}: a row of its own");
        let status = own[0].split(" | ").nth(2).unwrap_or_default();
        assert!(
            status == "holds |"
                || ["in part: ", "replaced by "]
                    .iter()
                    .any(|word| status.starts_with(word)),
            "{name}: {status}"
        );
    }
}

/// The screen sends a person whose host failed to this page: each possible cause has a row there, with a remedy.
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

/// Options that many commands share are explained on one page and named in the help of each command; completions know them for every command.
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

/// Short forms for users of cyclictest.
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

/// A step of a plan has the options of the command as keys, and the page lists them.
#[test]
fn the_options_of_a_command_are_the_keys_of_its_step() {
    let page = text("docs/formats/plan.md");
    let mut of_streams = keys::<probes::publish::PublishOptions>();
    // A plan states rate and ASDUs directly.
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
