//! Runs and the names under which they are shown.

use crate::failure::Failure;
use crate::verdict;
use model::RunView;
use model::fact::LABEL;
use std::path::Path;
use store::RunFile;

/// A run that was named on a command line, as `FILE` or `NAME=FILE`.
pub(crate) struct Named {
    /// Name given on the command line, if any.
    pub(crate) name: Option<String>,
    /// The opened file.
    pub(crate) file: RunFile,
    /// Content of the run file, without series about which nothing is certain.
    pub(crate) view: RunView,
    /// True if neither a window nor such a series is missing.
    pub(crate) is_whole: bool,
}

/// Opens a run under its given name.
pub(crate) fn open(text: &str) -> Result<Named, Failure> {
    let (name, path) = match text.split_once('=') {
        Some((name, path)) if !name.contains('/') && !Path::new(text).exists() => (Some(name.to_owned()), path),
        _ => (None, text),
    };
    let file = verdict::open(Path::new(path))?;
    let mut view = file.view()?;
    let uncertain = verdict::say_contradictions(&view);
    view.series.retain(|series| !uncertain.contains(&series.id));
    let is_whole = uncertain.is_empty() && view.lacks_log.is_none();
    Ok(Named {
        name,
        file,
        view,
        is_whole,
    })
}

impl Named {
    /// The given name, else the label, else the name of the file.
    pub(crate) fn shown_by(&self) -> String {
        let stem = || {
            let path = &self.view.file;
            path.file_stem().map_or_else(
                || path.display().to_string(),
                |stem| stem.to_string_lossy().into_owned(),
            )
        };
        self.name
            .clone()
            .or_else(|| LABEL.of(&self.view.facts))
            .unwrap_or_else(stem)
    }
}

/// Adds numbers to runs that have the same name.
pub(crate) fn distinct(mut runs: Vec<(String, RunView)>) -> Vec<(String, RunView)> {
    for index in 0..runs.len() {
        let before = runs[..index].iter().filter(|(name, _)| *name == runs[index].0).count();
        if before > 0 {
            runs[index].0 = format!("{} ({})", runs[index].0, before + 1);
        }
    }
    runs
}
