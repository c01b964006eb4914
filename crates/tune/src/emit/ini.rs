//! Files in sections, as systemd, udev and TuneD read them. Settings of several rules for one section are combined, because udev reads only
//! one of several `.link` files that match a card.

use std::fmt::Write;

use super::EmittedLine;

/// A file in sections.
#[derive(Default)]
pub(super) struct File {
    /// Path of the file, or the file to which it belongs; empty if unknown.
    name: String,
    /// Checks that contribute to it, with their titles.
    notes: Vec<String>,
    sections: Vec<(String, Vec<String>)>,
}

impl File {
    /// Adds a setting unless it already exists.
    pub(super) fn set(&mut self, section: &str, setting: String) {
        let place = self.sections.iter().position(|(known, _)| known == section);
        let place = place.unwrap_or_else(|| {
            self.sections.push((section.to_owned(), Vec::new()));
            self.sections.len() - 1
        });
        once(&mut self.sections[place].1, setting);
    }

    /// Adds the settings in `lines`, for every file that they name, without their notes.
    pub(super) fn add(&mut self, lines: &[EmittedLine<'_>]) {
        for (line, place) in placed(lines) {
            let LinePosition {
                section: Some(section), ..
            } = place
            else {
                continue;
            };
            self.set(&section, line.text.clone());
        }
    }

    /// Text of the file in the tool's format.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        for comment in std::iter::once(&self.name)
            .filter(|name| !name.is_empty())
            .chain(&self.notes)
        {
            let _ = writeln!(out, "# {comment}");
        }
        for (place, (name, settings)) in self.sections.iter().enumerate() {
            let _ = writeln!(
                out,
                "{}[{name}]\n{}",
                if place > 0 { "\n" } else { "" },
                settings.join("\n")
            );
        }
        out
    }
}

/// Files in `lines`, after the commands among them: lines outside any section.
pub(super) fn files(lines: &[EmittedLine<'_>]) -> String {
    let (mut commands, mut files): (Vec<String>, Vec<File>) = (Vec::new(), Vec::new());
    for (line, place) in placed(lines) {
        let Some(section) = place.section else {
            for note in &line.notes {
                once(&mut commands, format!("# {note}"));
            }
            commands.push(line.text.clone());
            continue;
        };
        let known = files.iter().position(|file| file.name == place.file);
        let at = known.unwrap_or_else(|| {
            files.push(File {
                name: place.file,
                ..File::default()
            });
            files.len() - 1
        });
        add_notes(&mut files[at].notes, line);
        files[at].set(&section, line.text.clone());
    }
    let commands = commands.iter().map(|line| format!("{line}\n")).collect::<String>();
    let parts = std::iter::once(commands).chain(files.iter().map(File::text));
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Place of a line.
#[derive(Clone, Default)]
struct LinePosition {
    file: String,
    section: Option<String>,
}

/// Settings and commands among `lines`, with their places: `# PATH` begins a file, `[NAME]` a section. Each rule starts without a place.
fn placed<'l, 'a>(lines: &'l [EmittedLine<'a>]) -> Vec<(&'l EmittedLine<'a>, LinePosition)> {
    let (mut place, mut last, mut found) = (LinePosition::default(), "", Vec::new());
    for line in lines {
        if line.finding.rule.id != last {
            (place, last) = (LinePosition::default(), &line.finding.rule.id);
        }
        let section = line.text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        match (line.text.strip_prefix("# "), section) {
            (Some(file), _) => {
                place = LinePosition {
                    file: file.to_owned(),
                    section: None,
                }
            }
            (None, Some(section)) => place.section = Some(section.to_owned()),
            (None, None) => found.push((line, place.clone())),
        }
    }
    found
}

fn add_notes(notes: &mut Vec<String>, line: &EmittedLine<'_>) {
    for note in &line.notes {
        once(notes, note.clone());
    }
}

fn once(all: &mut Vec<String>, text: String) {
    if !all.contains(&text) {
        all.push(text);
    }
}
