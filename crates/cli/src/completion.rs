//! Completion in a shell: a small script of the shell asks this program, which knows its options, and the plans, limits, checks and
//! interfaces that they take.

use clap::builder::StyledStr;
use clap::{Arg, Command};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};
use clap_complete::env::Shells;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;

/// Set by the script of a shell that asks, to the shell's name. A name of our own: `COMPLETE` may mean something to others.
const ASKED: &str = "TRIPTIME_COMPLETE";

/// The name of the program in the scripts.
const PROGRAM: &str = "triptime";

/// Answers a shell that asks for completions; returns at once for any other start of the program.
pub(crate) fn answer(command: fn() -> Command) {
    CompleteEnv::with_factory(|| with_values(command()))
        .var(ASKED)
        .bin(PROGRAM)
        .complete();
}

/// Writes the script that registers the completion in `shell`: bash, zsh or fish.
///
/// # Errors
/// The shell is unknown, or the output refuses.
pub(crate) fn script(shell: &str, out: &mut dyn Write) -> io::Result<()> {
    let shells = Shells::builtins();
    let unknown = || io::Error::other(format!("no completion for the shell {shell}"));
    let known = shells.completer(shell).ok_or_else(unknown)?;
    known.write_registration(ASKED, PROGRAM, PROGRAM, PROGRAM, out)?;
    if shell == "zsh" {
        out.write_all(ZSH_FIRST_CALL.as_bytes())?;
    }
    Ok(())
}

/// zsh reads the file when the first completion is wanted: the script only registers its function, which then has to answer that one too.
const ZSH_FIRST_CALL: &str = "
if [[ \"${funcstack[1]}\" == _triptime ]]; then
    _clap_dynamic_completer_triptime \"$@\"
fi
";

/// The command line in which every argument whose values are known offers them.
fn with_values(command: Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|one| one.get_name().to_owned()).collect();
    let command = names
        .iter()
        .fold(command, |command, name| command.mut_subcommand(name, with_values));
    command.mut_args(offering)
}

/// The argument, offering the values that belong to its value name.
fn offering(arg: Arg) -> Arg {
    let names = arg.get_value_names().unwrap_or_default();
    let Some(completer) = names.first().and_then(|name| completer(arg.get_id().as_str(), name)) else {
        return arg;
    };
    arg.add(completer)
}

/// The values of arguments with this value name, or of this one. `None`: the argument itself knows them, or nobody does.
fn completer(argument: &str, value_name: &str) -> Option<ArgValueCompleter> {
    Some(match value_name {
        "NAME|FILE" if argument == "scenario" => ArgValueCompleter::new(NamesOrFiles::of(scenarios)),
        "NAME|FILE" if argument == "type_test" => ArgValueCompleter::new(NamesOrFiles::of(type_tests)),
        "PLAN" => ArgValueCompleter::new(NamesOrFiles::of(plans)),
        "PROFILE" => ArgValueCompleter::new(NamesOrFiles::of(profiles)),
        "RUN" => ArgValueCompleter::new(files("triptime")),
        "CHECK" => ArgValueCompleter::new(|typed: &OsStr| beginning(typed, checks())),
        "INTERFACE" | "IF" | "A,B" | "IF,IF" => ArgValueCompleter::new(|typed: &OsStr| beginning(typed, interfaces())),
        "KIND[:KEY=VALUE,...][@CPUS]" => ArgValueCompleter::new(|typed: &OsStr| beginning(typed, loads())),
        _ => return None,
    })
}

/// Values with a name, and TOML files.
struct NamesOrFiles {
    names: fn() -> Vec<CompletionCandidate>,
    files: PathCompleter,
}

impl NamesOrFiles {
    fn of(names: fn() -> Vec<CompletionCandidate>) -> Self {
        let files = files("toml");
        Self { names, files }
    }
}

impl ValueCompleter for NamesOrFiles {
    fn complete(&self, typed: &OsStr) -> Vec<CompletionCandidate> {
        let mut found = beginning(typed, (self.names)());
        found.extend(self.files.complete(typed));
        found
    }
}

/// Files that end so, and the folders on the way to them.
fn files(extension: &'static str) -> PathCompleter {
    PathCompleter::any().filter(move |path: &Path| path.extension().is_some_and(|end| end == extension))
}

fn beginning(typed: &OsStr, all: Vec<CompletionCandidate>) -> Vec<CompletionCandidate> {
    let typed = typed.as_encoded_bytes();
    let fits = |one: &CompletionCandidate| one.get_value().as_encoded_bytes().starts_with(typed);
    all.into_iter().filter(fits).collect()
}

fn candidate(value: &str, help: Option<&str>) -> CompletionCandidate {
    CompletionCandidate::new(value).help(help.map(|help| StyledStr::from(help.to_owned())))
}

/// The key `what` of a shipped plan or profile: a line on its purpose.
fn purpose(text: &str) -> Option<String> {
    let table: toml::Table = text.parse().ok()?;
    Some(table.get("what")?.as_str()?.to_owned())
}

fn plans() -> Vec<CompletionCandidate> {
    let named = |(name, text): &(&str, &str)| candidate(name, purpose(text).as_deref());
    plan::EMBEDDED.iter().map(named).collect()
}

fn profiles() -> Vec<CompletionCandidate> {
    use report::limits::Profile;
    let of = |name: &str| Profile::embedded_text(name).and_then(purpose);
    let names = Profile::embedded_names();
    names
        .into_iter()
        .map(|name| candidate(name, of(name).as_deref()))
        .collect()
}

fn scenarios() -> Vec<CompletionCandidate> {
    waveform::scenario::names().map(|name| candidate(name, None)).collect()
}

fn type_tests() -> Vec<CompletionCandidate> {
    waveform::type_test::names().map(|name| candidate(name, None)).collect()
}

fn checks() -> Vec<CompletionCandidate> {
    let groups = audit::rule::built_in();
    let rules = groups.iter().flat_map(|(_, group)| &group.rules);
    rules.map(|rule| candidate(&rule.id, Some(&rule.title))).collect()
}

fn interfaces() -> Vec<CompletionCandidate> {
    // A machine whose interfaces cannot be listed has none to offer; the command itself says why.
    let all = host::Host::live().interfaces().unwrap_or_default();
    let named = |one: &host::Interface| candidate(&one.name, Some(one.kind.word()));
    all.iter().map(named).collect()
}

fn loads() -> Vec<CompletionCandidate> {
    bed::load::names()
        .into_iter()
        .map(|name| candidate(name, None))
        .collect()
}
