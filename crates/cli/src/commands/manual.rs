//! `triptime manual DIR`: man pages and shell completions, from the same source as the help.

use crate::completion;
use crate::failure::Failure;
use crate::help;
use clap::Command;
use clap_mangen::Man;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Folders where shells look for completions, below a folder such as /usr/local/share.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "bash-completion/completions/triptime"),
    ("zsh", "zsh/site-functions/_triptime"),
    ("fish", "fish/vendor_completions.d/triptime.fish"),
];

/// Writes man pages, and completions for bash, zsh and fish
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example: triptime manual /usr/local/share")]
pub(crate) struct ManualArgs {
    /// Folder to write into, where `man` and the shells look: DIR/man/man1, DIR/bash-completion, DIR/zsh, DIR/fish
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Writes all files for `command`; returns the exit status.
pub(crate) fn run(args: &ManualArgs, command: Command) -> Result<u8, Failure> {
    let written = completions(&args.folder).and_then(|()| pages(&args.folder, command));
    written.map_err(|error| Failure::CouldNotMeasure(format!("{}: {error}", args.folder.display())))?;
    Ok(0)
}

fn completions(folder: &Path) -> io::Result<()> {
    for (shell, name) in COMPLETIONS {
        let mut text = Vec::new();
        completion::script(shell, &mut text)?;
        write(&folder.join(name), &text)?;
    }
    Ok(())
}

/// Man pages: one of the program, one of each command, and one of the shared options.
fn pages(folder: &Path, command: Command) -> io::Result<()> {
    let mut command = help::folded(command).disable_help_subcommand(true);
    command.build();
    let commands: Vec<Command> = command.get_subcommands().cloned().collect();
    for one in commands.into_iter().chain([command]) {
        let page = Man::new(one).manual("triptime");
        let mut text = Vec::new();
        page.render(&mut text)?;
        write(&folder.join("man/man1").join(page.get_filename()), &text)?;
    }
    Ok(())
}

fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    File::create(path)?.write_all(text)
}
