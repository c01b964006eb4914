//! Files of this machine that a command in a guest needs: its words name them as if it ran here.

use crate::failure::Failure;
use std::path::{Path, PathBuf};

/// Maximum total size in bytes: the files go in one message, which holds 1 MiB of escaped text.
const MOST: usize = 700 << 10;

/// Words of a command for the guest, and the files of its folder there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Carried {
    pub(super) words: Vec<String>,
    pub(super) files: Vec<(String, String)>,
    /// Source path of each file.
    from: Vec<PathBuf>,
}

impl Carried {
    /// Takes the files that `words` name, and `more`. A word that names a file is replaced by the name of that file without its folder.
    ///
    /// # Errors
    /// A file cannot be read or is not text, two have the same name, or the size exceeds the maximum.
    pub(super) fn of(words: &[String], more: &[PathBuf]) -> Result<Self, Failure> {
        let mut carried = Self::default();
        for (place, word) in words.iter().enumerate() {
            // The first word is the name of the command.
            let word = if place == 0 {
                word.clone()
            } else {
                carried.take_word(word)?
            };
            carried.words.push(word);
        }
        for path in more {
            carried.take(path)?;
        }
        Ok(carried)
    }

    /// Finds a file name that is a word, or the value after the name of an option: `--set=bays.toml`.
    fn take_word(&mut self, word: &str) -> Result<String, Failure> {
        let (option, value) = match word.split_once('=') {
            Some((option, value)) if option.starts_with("--") => (Some(option), value),
            _ => (None, word),
        };
        let path = Path::new(value);
        if !path.is_file() {
            return Ok(word.to_owned());
        }
        let name = self.take(path)?;
        if let Some(data) = data_of(path) {
            self.take(&data)?;
        }
        Ok(option.map_or_else(|| name.clone(), |option| format!("{option}={name}")))
    }

    /// Takes a file; returns its name in the guest.
    fn take(&mut self, path: &Path) -> Result<String, Failure> {
        let failed = |why: &str| Failure::Usage(format!("{}: {why}", path.display()));
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| failed("its name is not valid UTF-8"))?.to_owned();
        let from = path.canonicalize().map_err(|error| failed(&error.to_string()))?;
        match self.files.iter().position(|(other, _)| *other == name) {
            Some(place) if self.from[place] == from => return Ok(name),
            Some(_) => {
                return Err(failed(
                    "another file of that name is taken into the guest already: rename one",
                ));
            }
            None => {}
        }
        let taken: usize = self.files.iter().map(|(_, text)| text.len()).sum();
        let length = std::fs::metadata(path)
            .map_err(|error| failed(&error.to_string()))?
            .len();
        if length > MOST.saturating_sub(taken) as u64 {
            return Err(failed(&format!(
                "the files for a guest may have at most {MOST} bytes together: this one has {length}, those before it {taken}"
            )));
        }
        let octets = std::fs::read(path).map_err(|error| failed(&error.to_string()))?;
        let text = String::from_utf8(octets).map_err(|_| {
            failed("a guest takes text files: give a COMTRADE record in its ASCII form, or play this one from the host")
        })?;
        self.files.push((name.clone(), text));
        self.from.push(from);
        Ok(name)
    }
}

/// Takes the data file of a COMTRADE record, which no word names: the record's configuration names it.
fn data_of(path: &Path) -> Option<PathBuf> {
    let is_record = path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("cfg"));
    let found = ["dat", "DAT"].map(|extension| path.with_extension(extension));
    found.into_iter().find(|data| is_record && data.is_file())
}

#[cfg(test)]
mod tests {
    use super::Carried;

    #[test]
    fn files_that_words_name_are_taken_along() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name).display().to_string();
        for (name, text) in [("bay.toml", "x = 1"), ("fault.cfg", "a"), ("fault.dat", "1,2")] {
            std::fs::write(path(name), text).expect("written");
        }
        let words = [
            "relay",
            &path("bay.toml"),
            "eth0",
            &format!("--replay={}", path("fault.cfg")),
        ]
        .map(str::to_owned);
        let more = [folder.path().join("bay.toml")];
        let carried = Carried::of(&words, &more).expect("taken");
        assert_eq!(carried.words, ["relay", "bay.toml", "eth0", "--replay=fault.cfg"]);
        let names: Vec<&str> = carried.files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["bay.toml", "fault.cfg", "fault.dat"]);
        assert_eq!(carried.files[0].1, "x = 1");
    }

    #[test]
    fn what_cannot_be_taken_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let refused = |word: &str, more: &str| {
            let more = [folder.path().join(more)];
            let words = ["relay".to_owned(), folder.path().join(word).display().to_string()];
            let refused = Carried::of(&words, &more);
            refused.expect_err("refused").to_string()
        };
        std::fs::create_dir(folder.path().join("other")).expect("made");
        std::fs::write(folder.path().join("bay.toml"), "x = 1").expect("written");
        std::fs::write(folder.path().join("other/bay.toml"), "x = 2").expect("written");
        std::fs::write(folder.path().join("fault.cff"), [0xff, 0xfe]).expect("written");
        std::fs::write(folder.path().join("large"), "x".repeat(1 << 20)).expect("written");
        assert!(refused("bay.toml", "other/bay.toml").contains("rename one"));
        assert!(refused("bay.toml", "nowhere").contains("nowhere"));
        assert!(refused("fault.cff", "bay.toml").contains("ASCII"));
        assert!(refused("large", "bay.toml").contains("at most"));
    }
}
