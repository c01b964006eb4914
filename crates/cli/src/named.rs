//! Runs by the names they are shown by.

use crate::failure::Failure;
use crate::verdict;
use model::RunView;
use model::fact::LABEL;
use std::path::Path;
use store::RunFile;

/// A run that was named on a command line, as `FILE` or `NAME=FILE`.
pub(crate) struct Named {
    /// The name that was given with it, if any.
    pub(crate) name: Option<String>,
    /// Its file, open.
    pub(crate) file: RunFile,
    /// The content of the run file, without the series of which nothing is certain.
    pub(crate) view: RunView,
    /// True where no window and no such series is missing.
    pub(crate) is_whole: bool,
}

/// Opens a run under the name it was given.
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
    /// The name it was given, its label, or the name of its file.
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
