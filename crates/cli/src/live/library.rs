//! The documents of runs: page, metrics, result document. Each is made from the run file as it is at that moment.

use super::standing::{self, Listed};
use crate::verdict;
use model::{RunState, RunView};
use report::Report;
use report::live::{Live, SCRIPT};
use serve::{Document, Library};
use std::path::{Path, PathBuf};
use store::RunFile;
use units::foreign;

const HTML: &str = "text/html; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const JSON: &str = "application/json";
/// OpenMetrics 1.0, section "Overall structure".
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Runs to show.
pub(crate) struct Runs {
    files: Vec<PathBuf>,
    /// True if the run that started this process is the only one.
    of_run: bool,
}

/// A document of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sheet {
    Page,
    Script,
    Metrics,
    Result,
}

impl Sheet {
    /// The document of this name.
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "" => Self::Page,
            "live.js" => Self::Script,
            "metrics" => Self::Metrics,
            "result.json" => Self::Result,
            _ => return None,
        })
    }
}

impl Runs {
    /// The runs in these files. `of_run`: the process that writes the only one started this process, and outlives it.
    pub(crate) fn of(files: Vec<PathBuf>, of_run: bool) -> Self {
        Self { files, of_run }
    }

    /// The run and the document of a path: `/metrics` of the only run, `/2/metrics` of the second of several.
    fn find(&self, path: &str) -> Option<(&Path, Sheet)> {
        let path = path.strip_prefix('/')?;
        if let [only] = &self.files[..] {
            return Some((only, Sheet::named(path)?));
        }
        let (number, name) = path.split_once('/')?;
        let at = number.parse::<usize>().ok()?.checked_sub(1)?;
        // One document has one path: it is kept in memory by it.
        let file = self.files.get(at).filter(|_| number == (at + 1).to_string())?;
        Some((file, Sheet::named(name)?))
    }

    /// The list of several runs.
    fn list(&self) -> Document {
        let rows: String = (1..)
            .zip(&self.files)
            .map(|(number, file)| {
                let name = escaped(&foreign::shown(&file.to_string_lossy()));
                format!("<li><a href=\"{number}/\">{name}</a> (<a href=\"{number}/metrics\">metrics</a>)</li>")
            })
            .collect();
        let head = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, \
                    initial-scale=1\"><link rel=\"icon\" href=\"data:,\"><title>triptime: runs</title><style>:root { color-scheme: light dark; } body { font: \
                    16px/1.6 system-ui, sans-serif; margin: 24px; } li { overflow-wrap: anywhere; }</style></head><body><h1>Runs</h1><ol>";
        Document::new(HTML, format!("{head}{rows}</ol></body></html>\n"))
    }
}

impl Library for Runs {
    fn has(&self, path: &str) -> bool {
        self.find(path).is_some() || (path == "/" && self.files.len() > 1)
    }

    fn make(&self, path: &str) -> Result<Document, String> {
        let Some((file, sheet)) = self.find(path) else {
            return Ok(self.list());
        };
        match sheet {
            Sheet::Script => Ok(Document::new(JAVASCRIPT, SCRIPT)),
            Sheet::Page | Sheet::Metrics | Sheet::Result => made(file, sheet, self.of_run),
        }
    }
}

/// Makes a document of the run in `file`.
fn made(file: &Path, sheet: Sheet, of_run: bool) -> Result<Document, String> {
    let told = |error: &dyn std::fmt::Display| foreign::message(&error.to_string());
    let listed = Listed::of(file);
    let run = RunFile::open_as_it_is(file).map_err(|error| told(&error))?;
    let live = standing::of(&run, listed, of_run);
    let view = RunView {
        state: state(&run, &live, sheet),
        ..run.view().map_err(|error| told(&error))?
    };
    let mut body = Vec::new();
    let media_type = match sheet {
        Sheet::Result => {
            let report = verdict::of_view(&run, view, None).map_err(|failure| told(&failure))?;
            report.write_json(&mut body).map_err(|error| told(&error))?;
            JSON
        }
        Sheet::Metrics => {
            let report = judged(&run, view).map_err(|failure| told(&failure))?;
            interop::export::openmetrics_of_live(&report, &live, &mut body).map_err(|error| told(&error))?;
            OPENMETRICS
        }
        Sheet::Page | Sheet::Script => {
            let report = judged(&run, view).map_err(|failure| told(&failure))?;
            body = report.live_page(&live).map_err(|error| told(&error))?.into_bytes();
            HTML
        }
    };
    Ok(Document::new(media_type, body))
}

/// The state by which a run is judged: documents say that it goes on, which leaves every pass undecided; the page shows what it would be if the run
/// had ended now, and says so.
fn state(run: &RunFile, live: &Live, sheet: Sheet) -> RunState {
    match sheet {
        _ if !live.state.is_running() => run.state(),
        Sheet::Page | Sheet::Script => RunState::Complete,
        Sheet::Metrics | Sheet::Result => RunState::Running,
    }
}

/// The run judged by the limits kept in it, without what only its result document has.
fn judged(run: &RunFile, view: RunView) -> Result<Report, crate::failure::Failure> {
    let profile = campaign::profile_of(run, None)?;
    Ok(Report::new(view, profile.into_iter().collect()))
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Runs, Sheet};
    use serve::Library;
    use std::path::Path;

    #[test]
    fn one_run_has_short_paths_and_several_have_numbers() {
        let one = Runs::of(vec!["a".into()], true);
        assert_eq!(one.find("/metrics"), Some((Path::new("a"), Sheet::Metrics)));
        assert_eq!(one.find("/"), Some((Path::new("a"), Sheet::Page)));
        assert!(!one.has("/1/") && !one.has("/../a") && !one.has("metrics") && !one.has("/metrics/"));
        let two = Runs::of(vec!["a".into(), "<b>".into()], false);
        assert_eq!(two.find("/2/result.json"), Some((Path::new("<b>"), Sheet::Result)));
        for path in ["/0/", "/3/", "/02/", "/2", "/metrics", "/2/x", "/+2/"] {
            assert!(!two.has(path), "{path}");
        }
        let list = two.make("/").expect("a list");
        let text = String::from_utf8_lossy(&list.body).into_owned();
        assert!(text.contains("href=\"2/\">&lt;b&gt;</a>"), "{text}");
    }

    #[test]
    fn a_file_that_is_gone_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let gone = Runs::of(vec![folder.path().join("gone.triptime")], true);
        for path in ["/", "/metrics", "/result.json"] {
            assert!(gone.make(path).expect_err("gone").contains("gone.triptime"), "{path}");
        }
    }
}
