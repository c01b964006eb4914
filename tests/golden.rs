//! Texts that users see, byte for byte, against the files in `tests/golden`: the help of every command, and the faces of two runs.
//!
//! `RENEW=1 cargo test -p triptime-tests --test golden` writes the files, and removes files that are no longer made. Read the difference before you
//! commit it.

use report::Report;
use report::about::About;
use report::limits::Profile;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use support::triptime;
use testing::synthetic;

/// Commands that no list of commands shows.
const HIDDEN: [&str; 2] = ["device", "output"];

fn golden(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(folder)
}

/// The standard output of the binary without a terminal and with 100 columns, run in the folder of recorded runs.
fn printed(words: &[&str]) -> String {
    let mut command = triptime();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    command.args(words).current_dir(folder).env("COLUMNS", "100");
    let output = command.stdin(Stdio::null()).output().expect("the binary");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Compares texts, by the names of their files, with a folder of `tests/golden`, or writes it. A file that belongs to no text fails too.
fn assert_golden(folder: &str, texts: &BTreeMap<String, String>) {
    let folder = golden(folder);
    if std::env::var_os("RENEW").is_some() {
        renew(&folder, texts);
    }
    let mut differing: Vec<String> = Vec::new();
    for (name, text) in texts {
        let kept = fs::read_to_string(folder.join(name)).unwrap_or_default();
        if kept != *text {
            differing.push(format!("{name}: {}", first_difference(&kept, text)));
        }
    }
    let left = names(&folder).into_iter().filter(|name| !texts.contains_key(name));
    differing.extend(left.map(|name| format!("{name}: nothing makes it any more")));
    assert!(
        differing.is_empty(),
        "{} (RENEW=1 cargo test -p triptime-tests --test golden writes these):\n{}",
        folder.display(),
        differing.join("\n")
    );
}

fn renew(folder: &Path, texts: &BTreeMap<String, String>) {
    fs::create_dir_all(folder).expect("a folder");
    for name in names(folder).iter().filter(|name| !texts.contains_key(*name)) {
        fs::remove_file(folder.join(name)).expect("removed");
    }
    for (name, text) in texts {
        fs::write(folder.join(name), text).expect("written");
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect()
}

/// The first differing line of each of two texts.
fn first_difference(kept: &str, text: &str) -> String {
    let (mut old, mut new) = (kept.lines(), text.lines());
    let mut number = 0;
    loop {
        number += 1;
        match (old.next(), new.next()) {
            (None, None) => return "the ends of lines differ".into(),
            (old, new) if old == new => {}
            (old, new) => {
                let shown =
                    |line: Option<&str>| line.map_or("(no line)".into(), |line| line.chars().take(300).collect());
                let (old, new): (String, String) = (shown(old), shown(new));
                return format!("line {number}\n  golden: {old}\n  now:    {new}");
            }
        }
    }
}

/// The help of this command and of all its subcommands, by their command words.
fn add_help(words: &[&str], texts: &mut BTreeMap<String, String>) {
    let help = printed(&[words, &["--help"]].concat());
    let block = help.split_once("\nCommands:\n").map_or("", |(_, block)| block);
    let names = block.lines().take_while(|line| !line.is_empty());
    let names = names.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    for name in names.filter(|name| !name.is_empty() && *name != "help") {
        add_help(&[words, &[name]].concat(), texts);
    }
    texts.insert(format!("{}.txt", [&["triptime"], words].concat().join("-")), help);
}

fn all_help() -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    add_help(&[], &mut texts);
    for name in HIDDEN {
        add_help(&[name], &mut texts);
    }
    texts
}

#[test]
fn the_help_of_every_command() {
    assert_golden("help", &all_help());
}

/// Man pages and help have the same source, so it is enough to check that each command has a man page with each option.
#[test]
fn man_pages_have_the_commands_and_options_of_the_help() {
    let share = tempfile::tempdir().expect("a directory");
    printed(&["manual", share.path().to_str().expect("UTF-8")]);
    let folder = share.path().join("man/man1");
    let mut pages = names(&folder);
    for (name, help) in all_help() {
        let page = name.replace(".txt", ".1");
        // Subcommands have no separate page; `device` is for the program itself.
        let Some(at) = pages.iter().position(|other| *other == page) else {
            assert!(name.matches('-').count() > 1 || name.contains("-device"), "no {page}");
            continue;
        };
        pages.swap_remove(at);
        let text = fs::read_to_string(folder.join(&page))
            .expect("a page")
            .replace('\\', "");
        for option in help.lines().filter_map(option) {
            assert!(text.contains(option), "{page}: no {option}");
        }
    }
    pages.retain(|page| page != "triptime-device.1");
    assert!(pages.is_empty(), "pages without help: {pages:?}");
}

/// The long name of the option that a line of the help begins with.
fn option(line: &str) -> Option<&str> {
    let words = line.trim_start();
    let is_one = words.starts_with("--") || (words.starts_with('-') && words.get(2..6) == Some(", --"));
    let name = is_one.then(|| words.split_once("--"))??.1;
    name.split([' ', '[', '=']).next()
}

/// The lines and spans of a page that call the program, each split into words.
fn calls(page: &str) -> Vec<Vec<&str>> {
    let lines = page.split(['`', '\n']).map(|line| line.trim_start_matches("sudo "));
    let calls = lines.filter_map(|line| line.strip_prefix("triptime "));
    // Words in quotes belong to another program.
    calls
        .map(|call| call.split('"').next().unwrap_or_default().split_whitespace().collect())
        .collect()
}

/// The words of the called command, in the form of the name of its golden file.
fn called<'a>(call: &[&'a str], texts: &BTreeMap<String, String>) -> (String, Vec<&'a str>) {
    let mut name = "triptime".to_owned();
    let mut words = call.iter().copied().peekable();
    while let Some(word) = words.next_if(|word| texts.contains_key(&format!("{name}-{word}.txt"))) {
        name = format!("{name}-{word}");
    }
    (
        name,
        words
            .take_while(|word| !["--", "#", "|", "&&"].contains(word))
            .collect(),
    )
}

/// A page of the guide shows only options that its command has.
#[test]
fn pages_call_commands_with_options_that_they_have() {
    let (texts, mut checked) = (all_help(), 0);
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide");
    for name in names(&guide) {
        let page = fs::read_to_string(guide.join(&name)).expect("a page");
        for call in calls(&page) {
            let (command, words) = called(&call, &texts);
            // Another command follows the guest's own options; the internal process of `lab up` is not for users.
            if command.starts_with("triptime-lab") {
                continue;
            }
            for word in words.iter().filter(|word| word.starts_with("--")) {
                let option = word.split(['=', ',', ';', ')', ']']).next().unwrap_or(word);
                checked += 1;
                assert!(
                    texts[&format!("{command}.txt")].contains(option),
                    "{name}: {command} {option}: {call:?}"
                );
            }
        }
    }
    assert!(checked > 300, "only {checked} options found");
}

/// A minute of wake-ups, from a real machine: the output of `triptime report` for the run file.
#[test]
fn the_faces_of_a_recorded_run() {
    let file = "minute.triptime";
    let judged = ["report", file, "--limits", "substation"];
    let mut texts = BTreeMap::new();
    for (name, words) in [
        ("screen.txt", &[][..]),
        ("summary.txt", &["--summary"]),
        ("full.txt", &["--full"]),
        ("result.json", &["--json"]),
    ] {
        texts.insert(name.to_owned(), printed(&[&judged, words].concat()));
    }
    let folder = tempfile::tempdir().expect("a directory");
    for (name, option) in [("page.html", "--html"), ("junit.xml", "--junit")] {
        let path = folder.path().join(name);
        printed(&[&judged[..], &[option, path.to_str().expect("UTF-8")]].concat());
        texts.insert(name.to_owned(), fs::read_to_string(path).expect(option));
    }
    assert_golden("minute", &texts);
}

/// An invented run with every probe of a plan, so that its report has all subjects.
#[test]
fn the_faces_of_a_made_up_run() {
    let run = synthetic::qualify(2, 10);
    let report = Report::new(run, vec![Profile::find("substation").expect("embedded")]);
    let mut document = Vec::new();
    report.write_json(&mut document).expect("JSON");
    let texts = [
        ("page.html", report.html(&About::default(), None).expect("a page")),
        ("screen.txt", report.screen(report::screen::Size::LARGEST, false, None)),
        ("full.txt", report.text(false, None)),
        ("result.json", String::from_utf8(document).expect("UTF-8")),
    ];
    assert_golden("made-up", &texts.map(|(name, text)| (name.to_owned(), text)).into());
}
