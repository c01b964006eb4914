//! `triptime site`: asks for what no file of the machine says, and writes plan, relay, limits and statements.

use crate::failure::Failure;
use crate::verdict::write;
use host::Host;
use site::{Answers, Found, QUESTIONS, Question, commands, files, form};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use streamset::{SclChoice, StreamSet};
use units::{Refusal, Refuse, foreign};

/// File of the answers, in the folder.
const ANSWERS: &str = "site.toml";

/// Asks for what cannot be found on this machine, and writes a plan, a relay, limits and the record's statements for this site
///
/// CPUs, ports, streams and relays are found on this machine or in an SCL file, or asked for. Each question says how to find its answer; an
/// empty answer leaves it open. Without a terminal and without --answers it prints the form. Changes nothing on the host.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples: triptime site
          triptime site north --scl substation.scd
          triptime site > site.toml; triptime site north --answers site.toml")]
pub(crate) struct SiteArgs {
    /// Folder of the files: site.toml (the answers), plan.toml, relay.toml, limits.toml, about.toml
    #[arg(default_value = "site", value_name = "FOLDER")]
    folder: PathBuf,
    /// Answers of a form that was filled in; nothing is asked
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
    /// SCL file with the streams and the relays' GOOSE
    #[arg(long, value_name = "FILE")]
    scl: Option<PathBuf>,
    /// Replace files that exist in the folder
    #[arg(long)]
    force: bool,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &SiteArgs) -> Result<u8, Failure> {
    let cpus = plan::live_facts().ok();
    let host = Host::live();
    let mut found = Found::on(&host, cpus.as_ref());
    let mut answers = args.answers.as_deref().map_or_else(|| Ok(Answers::default()), read)?;
    if let Some(scl) = &args.scl {
        let question = Question::of("scl").ok_or_else(|| Failure::Usage("no question for an SCL file".into()))?;
        let given = answers.give(question, &scl.display().to_string());
        given.map_err(|wrong| Failure::Usage(format!("--scl: {wrong}")))?;
    }
    if let Some(file) = answers.of("scl") {
        take_scl(file, &mut found).map_err(|wrong| Failure::Usage(wrong.to_string()))?;
    }
    if args.answers.is_none() {
        // Also where the form goes into a file.
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            write(&form(&answers, &found))?;
            return Ok(0);
        }
        refuse_to_replace(args)?;
        ask(&mut answers, &mut found, &mut io::stdin().lock(), &mut io::stderr())
            .map_err(|error| Failure::CouldNotMeasure(format!("cannot ask: {error}")))?;
    }
    answers
        .fit_with(&found)
        .map_err(|wrong| Failure::Usage(wrong.to_string()))?;
    save(args, &answers, &found)?;
    write(&next(args, &answers, &found))?;
    Ok(0)
}

fn read(path: &Path) -> Result<Answers, Failure> {
    let name = path.display();
    let text = fs::read_to_string(path).map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
    Answers::parse(&text).map_err(|wrong| Failure::Usage(wrong.of(name).to_string()))
}

fn take_scl(file: &str, found: &mut Found) -> Result<(), Refusal> {
    let octets = fs::read(file).refused_of(file)?;
    let choice = SclChoice {
        ieds: &[],
        frequency_hz: None,
        goose_alone: true,
    };
    let set = StreamSet::of_scl(&octets, file.to_owned(), choice)?;
    found.take_scl(&set);
    Ok(())
}

/// Asks each question whose answer is neither given nor found. The end of the input leaves the rest open.
fn ask(answers: &mut Answers, found: &mut Found, input: &mut dyn BufRead, screen: &mut dyn Write) -> io::Result<()> {
    writeln!(
        screen,
        "An empty answer leaves a question open; Ctrl-D leaves the rest open."
    )?;
    for question in &QUESTIONS {
        if answers.of(question.key).is_some() {
            continue;
        }
        if let Some((answer, source)) = found.of(question.key) {
            let (answer, source) = (foreign::message(answer), foreign::message(source));
            writeln!(screen, "\n{}\n  found: {answer} ({source})", question.asks)?;
            continue;
        }
        writeln!(
            screen,
            "\n{}\n  how:  {}\n  open: {}",
            question.asks, question.how, question.open
        )?;
        for candidate in found.candidates(question.key) {
            writeln!(screen, "  here: {}", foreign::message(candidate))?;
        }
        if !answered(question, answers, found, input, screen)? {
            writeln!(screen)?;
            return Ok(());
        }
    }
    Ok(())
}

/// Asks until the answer is usable; false at the end of the input.
fn answered(
    question: &Question,
    answers: &mut Answers,
    found: &mut Found,
    input: &mut dyn BufRead,
    screen: &mut dyn Write,
) -> io::Result<bool> {
    loop {
        write!(screen, "  > ")?;
        screen.flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(false);
        }
        let before = answers.clone();
        let given = answers.give(question, &line).and_then(|()| answers.fit_with(found));
        let usable = given.and_then(|()| match (question.key, answers.of("scl")) {
            ("scl", Some(file)) => take_scl(file, found),
            _ => Ok(()),
        });
        let Err(problem) = usable else { return Ok(true) };
        *answers = before;
        writeln!(
            screen,
            "  {} (such as {})",
            foreign::message(&problem.to_string()),
            question.example
        )?;
    }
}

fn paths(args: &SiteArgs) -> impl Iterator<Item = PathBuf> + '_ {
    let names = [ANSWERS, "plan.toml", "relay.toml", "limits.toml", "about.toml"];
    names.into_iter().map(|name| args.folder.join(name))
}

/// Refuses to replace a file, which a person may have changed.
fn refuse_to_replace(args: &SiteArgs) -> Result<(), Failure> {
    let is_answers = |path: &Path| args.answers.as_deref() == Some(path);
    match paths(args).find(|path| path.exists() && !args.force && !is_answers(path)) {
        Some(path) => Err(Failure::Usage(format!(
            "{} exists, and may have been changed by hand: name another folder, or replace its files with --force",
            path.display()
        ))),
        None => Ok(()),
    }
}

/// Writes the answers and the files made from them.
fn save(args: &SiteArgs, answers: &Answers, found: &Found) -> Result<(), Failure> {
    refuse_to_replace(args)?;
    let failed = |path: &Path, error: io::Error| Failure::CouldNotMeasure(format!("{}: {error}", path.display()));
    fs::create_dir_all(&args.folder).map_err(|error| failed(&args.folder, error))?;
    let folder = std::path::absolute(&args.folder).map_err(|error| failed(&args.folder, error))?;
    let machine = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let made = files(answers, found, &folder, &machine);
    let mut all = vec![(ANSWERS, form(answers, found))];
    all.extend(made.map(|file| (file.name, file.text)));
    for (name, text) in all {
        let path = args.folder.join(name);
        let written = File::create(&path).and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| failed(&path, error))?;
    }
    Ok(())
}

/// The written files and the next commands, in words.
fn next(args: &SiteArgs, answers: &Answers, found: &Found) -> String {
    let folder = args.folder.display().to_string();
    let mut text = format!(
        "written: {folder}/plan.toml, relay.toml, limits.toml, about.toml; the answers: {folder}/{ANSWERS}\n\nNext:\n"
    );
    for command in commands(answers, found, &folder) {
        let _ = write!(
            text,
            "  {}\n      {}\n",
            foreign::message(&command.line),
            command.purpose
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::ask;
    use site::{Answers, Found};

    fn asked(typed: &str) -> (Answers, String) {
        let (mut answers, mut screen) = (Answers::default(), Vec::new());
        ask(&mut answers, &mut Found::default(), &mut typed.as_bytes(), &mut screen).expect("a screen");
        (answers, String::from_utf8(screen).expect("text"))
    }

    #[test]
    fn a_wrong_answer_is_asked_again_and_the_end_leaves_the_rest_open() {
        let (answers, screen) = asked("North\nmoon\nvm\n");
        assert_eq!(
            (answers.of("site"), answers.of("place"), answers.of("cpus")),
            (Some("North"), Some("vm"), None)
        );
        assert!(
            screen.contains("must be one of native, container, vm, container-in-vm (such as vm)"),
            "{screen}"
        );
        assert!(
            screen.contains("how:  `cat /sys/devices/system/cpu/isolated`"),
            "{screen}"
        );
        assert!(
            !screen.contains("Interface to the process bus"),
            "asked after the end:\n{screen}"
        );
    }

    #[test]
    fn asdus_that_do_not_fit_the_rate_are_asked_again() {
        let typed = format!("{}4800\n7\n2\n", "\n".repeat(6));
        let (answers, screen) = asked(&typed);
        assert_eq!((answers.of("rate"), answers.of("asdus")), (Some("4800"), Some("2")));
        assert!(screen.contains("are not divisible by 7 ASDUs"), "{screen}");
    }

    #[test]
    fn a_file_that_is_no_scl_is_asked_again() {
        let (answers, screen) = asked("\n\n\n\n/nowhere.scd\n\n8\n");
        assert_eq!((answers.of("scl"), answers.of("streams")), (None, Some("8")));
        assert!(screen.contains("/nowhere.scd: No such file"), "{screen}");
    }
}
