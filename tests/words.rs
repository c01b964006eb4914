//! Words: comments begin with a noun or a verb, and a guarded word of `docs/words.md` names one type.

use std::collections::BTreeMap;
use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

/// Comments that begin with one of [`CLAUSE`]. The number may only fall: write a lower one down here.
const CLAUSES: usize = 4;

/// The count may lie this far below [`CLAUSES`] before the lower number has to be written down, so that changes made side by side
/// do not all touch that line.
const SLACK: usize = 10;

/// The same for the other types of a guarded word.
const TYPES_SLACK: usize = 2;

/// Functions and fields of `crates/*/src` with a text as error: facts and readings, whose reason is stored and shown as text, and the crates
/// that do not use `units::Refusal` yet. The number may only fall: write a lower one down here.
const TEXTS_AS_ERRORS: usize = 451;

/// First words of a clause that stands for a noun: "What is read", where "The fields that are read" is meant.
const CLAUSE: [&str; 7] = ["What", "Who", "Whom", "Whose", "Which", "Those", "Whether"];

/// Folders that hold no text of ours.
const NOT_OURS: [&str; 4] = ["target", "hosts", "golden", "corpus"];

/// Words on the screen of an answer that `docs/words.md` has to explain.
const ON_SCREEN: [&str; 12] = [
    "allowed",
    "exceeded",
    "judged",
    "limit",
    "not measured",
    "partial pass",
    "proves",
    "spacing",
    "times",
    "undecided",
    "within",
    "worst",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files below a folder whose names end in one of `kinds`.
fn files(folder: &Path, kinds: &[&str], found: &mut Vec<PathBuf>) {
    for path in read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && !NOT_OURS.contains(&name.as_str()) {
            files(&path, kinds, found);
        } else if path.is_file() && kinds.iter().any(|kind| name.ends_with(kind)) {
            found.push(path);
        }
    }
}

/// The text of a line that is a comment or begins a docstring; empty for any other.
fn comment(line: &str, is_rust: bool) -> &str {
    let line = line.trim_start();
    let signs: &[&str] = if is_rust {
        &["///", "//!", "//"]
    } else {
        &["\"\"\"", "#"]
    };
    let text = signs.iter().find_map(|sign| line.strip_prefix(sign));
    text.unwrap_or_default().trim()
}

/// The numbers of the lines that begin a comment with one of [`CLAUSE`].
fn clauses(text: &str, is_rust: bool) -> Vec<usize> {
    let (mut found, mut is_inside) = (Vec::new(), false);
    for (at, line) in text.lines().enumerate() {
        let comment = comment(line, is_rust);
        let first = comment.split(|sign: char| !sign.is_alphanumeric()).next();
        if !is_inside && first.is_some_and(|word| CLAUSE.contains(&word)) {
            found.push(at + 1);
        }
        is_inside = !comment.is_empty();
    }
    found
}

#[test]
fn fewer_comments_begin_with_a_clause() {
    let mut all = Vec::new();
    files(&root(), &[".rs", ".toml", ".py", ".sh"], &mut all);
    let mut folders: BTreeMap<String, usize> = BTreeMap::new();
    for path in &all {
        let is_rust = path.extension().is_some_and(|kind| kind == "rs");
        let count = clauses(&read_to_string(path).unwrap_or_default(), is_rust).len();
        let inside = path.strip_prefix(root()).expect("below the root");
        let folder: PathBuf = inside.components().take(2).collect();
        *folders.entry(folder.display().to_string()).or_default() += count;
    }
    let count: usize = folders.values().sum();
    folders.retain(|_, count| *count > 0);
    assert!(
        count <= CLAUSES,
        "{count} comments begin with {CLAUSE:?}, {CLAUSES} are allowed: begin yours with a noun or a verb; by folder: {folders:?}"
    );
    assert!(
        count + SLACK > CLAUSES,
        "{count} comments begin with a clause, {CLAUSES} are allowed: write the lower number into CLAUSES in tests/words.rs"
    );
}

#[test]
fn a_clause_is_found_where_a_comment_begins() {
    let rust = "//! What it is.\n\n/// Reads it.\n/// Which is new.\nfn x() {} // Those\n    // Whether so.\n";
    assert_eq!(clauses(rust, true), [1, 6]);
    assert_eq!(clauses("\"\"\"What SciPy says.\"\"\"\n# Whatever\n#What\n", false), [1]);
}

/// A row of the table of guarded words: the word, the crates that may have its one type, and how many other types still have the name.
struct Guarded {
    word: String,
    homes: Vec<String>,
    left: usize,
}

fn page() -> String {
    read_to_string(root().join("docs/words.md")).expect("docs/words.md")
}

fn guarded() -> Vec<Guarded> {
    let page = page();
    let table = page.split_once("## Names of types").expect("the table").1;
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        Guarded {
            word: cells[1].to_owned(),
            homes: cells[2].split("`, `").map(str::to_owned).collect(),
            left: cells[4].parse().expect("a number"),
        }
    })
    .collect()
}

/// The name of the type that a line defines.
fn defined(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = match line.strip_prefix("pub") {
        Some(rest) => rest.split_once(' ')?.1.trim_start_matches("crate) ").trim_start(),
        None => line,
    };
    let keyword = ["struct ", "enum ", "trait ", "type ", "union "];
    let name = keyword.iter().find_map(|word| line.strip_prefix(word))?;
    name.split(|sign: char| !sign.is_alphanumeric()).next()
}

/// The crates that define types of each name, once for each definition.
fn definitions() -> BTreeMap<String, Vec<String>> {
    let (mut found, mut all): (BTreeMap<String, Vec<String>>, _) = (BTreeMap::new(), Vec::new());
    let crates = root().join("crates");
    files(&crates, &[".rs"], &mut all);
    for path in all {
        let inside = path.strip_prefix(&crates).expect("below crates");
        let name = inside.iter().next().expect("a crate").to_string_lossy().into_owned();
        // Functions that a trait asks of others have their name there, and no definition.
        for line in read_to_string(&path).expect("source code").lines() {
            if let Some(word) = defined(line).filter(|_| !line.trim_end().ends_with("Self;")) {
                found.entry(word.to_owned()).or_default().push(name.clone());
            }
        }
    }
    found
}

#[test]
fn a_guarded_word_names_one_type() {
    let (found, mut wrong) = (definitions(), Vec::new());
    for Guarded { word, homes, left } in guarded() {
        let crates = found.get(&word).cloned().unwrap_or_default();
        if !homes.iter().any(|home| crates.contains(home)) {
            wrong.push(format!(
                "{word}: no type of this name in {homes:?}: write its crate into docs/words.md"
            ));
        }
        let others = crates.len().saturating_sub(1);
        if others > left {
            wrong.push(format!(
                "{word}: {others} other types, {left} are allowed: give the new one a name of its own: {crates:?}"
            ));
        } else if others + TYPES_SLACK < left {
            wrong.push(format!(
                "{word}: {others} other types, {left} are allowed: write {others} into docs/words.md"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn definitions_are_found() {
    assert_eq!(defined("    pub(crate) struct Held {"), Some("Held"));
    assert_eq!(defined("pub(super) enum Step {"), Some("Step"));
    assert_eq!(defined("type End<'bed> = (&'bed NetNs, u8);"), Some("End"));
    assert_eq!(defined("pub trait Place: Debug {"), Some("Place"));
    assert_eq!(defined("pub fn place() {"), None);
}

#[test]
fn the_words_of_the_screen_are_explained() {
    let page = page();
    for word in ON_SCREEN {
        assert!(page.contains(&format!("\n| {word} | ")), "{word}");
    }
}

/// True if the arguments of a generic type, which stand before its `>`, end in `String`.
fn end_in_string(arguments: &str) -> bool {
    let (mut depth, mut last) = (0, None);
    for (at, sign) in arguments.char_indices() {
        match sign {
            '>' if arguments[..at].ends_with(['-', '=']) => {}
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' if depth > 0 => depth -= 1,
            '>' => return last.is_some_and(|last| arguments[last..at].trim() == "String"),
            ',' if depth == 0 && !arguments[at + 1..].trim_start().starts_with('>') => last = Some(at + 1),
            ',' if depth == 0 => return last.is_some_and(|last| arguments[last..at].trim() == "String"),
            ';' | '{' if depth == 0 => return false,
            _ => {}
        }
    }
    false
}

/// Number of results in a source that have a text as error.
fn texts_as_errors(text: &str) -> usize {
    let after = text
        .match_indices("Result<")
        .map(|(at, found)| &text[at + found.len()..]);
    after.filter(|arguments| end_in_string(arguments)).count()
}

#[test]
fn fewer_errors_are_texts() {
    let mut all = Vec::new();
    let crates = root().join("crates");
    for folder in read_dir(&crates).expect("crates").flatten() {
        files(&folder.path().join("src"), &[".rs"], &mut all);
    }
    let mut by_crate: BTreeMap<String, usize> = BTreeMap::new();
    for path in &all {
        let inside = path.strip_prefix(&crates).expect("below the crates");
        let name = inside.iter().next().unwrap_or_default().display().to_string();
        *by_crate.entry(name).or_default() += texts_as_errors(&read_to_string(path).unwrap_or_default());
    }
    by_crate.retain(|_, count| *count > 0);
    let count: usize = by_crate.values().sum();
    assert!(
        count <= TEXTS_AS_ERRORS,
        "{count} results have a String as error, {TEXTS_AS_ERRORS} are allowed: use units::Refusal; by crate: {by_crate:?}"
    );
    assert!(
        count + SLACK > TEXTS_AS_ERRORS,
        "{count} results have a String as error, {TEXTS_AS_ERRORS} are allowed: write the lower number into TEXTS_AS_ERRORS in tests/words.rs"
    );
}

#[test]
fn a_text_as_error_is_found_in_each_form() {
    let found = "fn a() -> Result<Vec<u8>, String> {}\ntype B = fn(u8) -> Result<Box<dyn Fn() -> u8>, String>;\n\
                 fn c(\n) -> Result<\n    u8,\n    String,\n> {}\nlet d: Option<&Result<(u8, u8), String>>;\n";
    assert_eq!(texts_as_errors(found), 4);
    let others = "fn a() -> Result<BTreeMap<u8, String>, Error> {}\nfn b() -> Result<String> {}\nfn c() -> Result<String, Refusal> {}\n";
    assert_eq!(texts_as_errors(others), 0);
}
