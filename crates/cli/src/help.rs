//! The command line for the help. The options that many commands share are explained once, on a separate page; each command only lists
//! their names.

use crate::arguments::{CaptureArgs, RunArgs};
use crate::failure::Failure;
use crate::verdict;
use clap::Command;

/// The page, read with `triptime help output`.
const TOPIC: &str = "output";

/// Headings of the options that it explains.
const SHARED: [&str; 2] = ["Run and output", "Capture"];

/// Options that the measuring commands share: run file, report, limits, loads, captures
#[derive(Debug, Clone, clap::Args)]
#[command(override_usage = "triptime COMMAND [OPTIONS]")]
pub(crate) struct TopicArgs {
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    capture: CaptureArgs,
}

/// Shows the page; returns the exit status.
pub(crate) fn show_topic(mut cli: Command) -> Result<u8, Failure> {
    let page = cli
        .find_subcommand_mut(TOPIC)
        .map(|topic| topic.render_help().to_string());
    verdict::write(&page.unwrap_or_default())?;
    Ok(0)
}

/// The command line for help, in which each command only lists the names of the shared options.
pub(crate) fn folded(cli: Command) -> Command {
    let names = cli.get_subcommands().map(|command| command.get_name().to_owned());
    let others: Vec<String> = names.filter(|name| name != TOPIC).collect();
    others.iter().fold(cli, |cli, name| cli.mut_subcommand(name, fold))
}

/// Order of the help: what a command does, examples, usage, options, and the rest.
const TEMPLATE: &str = "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

/// The command line with the examples of each command before its options: they answer most questions.
pub(crate) fn examples_first(command: Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|one| one.get_name().to_owned()).collect();
    let command = names
        .iter()
        .fold(command, |command, name| command.mut_subcommand(name, examples_first));
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let at_line = |at: &usize| *at == 0 || after.as_bytes()[at - 1] == b'\n';
    let Some(at) = after.match_indices("Example").map(|(at, _)| at).find(at_line) else {
        return command;
    };
    let (rest, examples) = after.split_at(at);
    let command = command.help_template(TEMPLATE).before_help(examples.to_owned());
    command.after_help(rest.trim_end().to_owned())
}

fn fold(command: Command) -> Command {
    let lines: Vec<String> = SHARED.iter().filter_map(|heading| line(&command, heading)).collect();
    if lines.is_empty() {
        return command;
    }
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let is_shared = |heading: Option<&str>| heading.is_some_and(|heading| SHARED.contains(&heading));
    let command = command.mut_args(|option| match is_shared(option.get_help_heading()) {
        true => option.hide(true),
        false => option,
    });
    let see = format!("`triptime help {TOPIC}` explains these.");
    command.after_help(format!("{}\n{see}\n\n{after}", lines.join("\n")))
}

/// The names of a command's options under a heading.
fn line(command: &Command, heading: &str) -> Option<String> {
    let options = command
        .get_arguments()
        .filter(|option| option.get_help_heading() == Some(heading));
    let names: Vec<String> = options
        .filter(|option| !option.is_hide_set())
        .filter_map(|option| Some(format!("--{}", option.get_long()?)))
        .collect();
    (!names.is_empty()).then(|| format!("{heading}: {}", names.join(" ")))
}
