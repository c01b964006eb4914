//! The settings of a load by name, from the command line and from plans alike.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::request::LoadRequestError;

/// Settings as given, and which keys were asked for. What is left at the end is a key that the load does not have.
#[derive(Debug)]
pub(super) struct Settings {
    load: &'static str,
    given: BTreeMap<String, String>,
    keys: Vec<&'static str>,
}

impl Settings {
    pub(super) fn new(load: &'static str, given: BTreeMap<String, String>) -> Self {
        Self {
            load,
            given,
            keys: Vec::new(),
        }
    }

    /// A number.
    pub(super) fn count(&mut self, key: &'static str) -> Result<Option<usize>, LoadRequestError> {
        self.read(key, |text| {
            text.parse().map_err(|_| format!("\"{text}\" is not a whole number"))
        })
    }

    /// Octets: `100`, `8MiB`.
    pub(super) fn bytes(&mut self, key: &'static str) -> Result<Option<u64>, LoadRequestError> {
        self.read(key, |text| units::parse_bytes(text).map_err(|error| error.to_string()))
    }

    /// Octets, or a word for "without limit".
    pub(super) fn bytes_or(
        &mut self,
        key: &'static str,
        unlimited: &str,
    ) -> Result<Option<Option<u64>>, LoadRequestError> {
        self.read(key, |text| {
            if text == unlimited {
                return Ok(None);
            }
            let bytes = units::parse_bytes(text).map_err(|error| format!("{error}, or {unlimited}"));
            bytes.map(Some)
        })
    }

    /// Nanoseconds: `20us`.
    pub(super) fn duration(&mut self, key: &'static str) -> Result<Option<u64>, LoadRequestError> {
        self.read(key, |text| units::parse_ns(text).map_err(|error| error.to_string()))
    }

    /// One of some words.
    pub(super) fn word<T: Copy>(
        &mut self,
        key: &'static str,
        words: &[(&'static str, T)],
    ) -> Result<Option<T>, LoadRequestError> {
        self.read(key, |text| {
            let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
            let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            found.ok_or_else(|| format!("\"{text}\" is none of {}", all.join(", ")))
        })
    }

    /// A path, as it stands.
    pub(super) fn path(&mut self, key: &'static str) -> Result<Option<PathBuf>, LoadRequestError> {
        self.read(key, |text| match text {
            "" => Err("it is empty".to_owned()),
            path => Ok(path.into()),
        })
    }

    /// Any text.
    pub(super) fn text(&mut self, key: &'static str) -> Option<String> {
        self.keys.push(key);
        self.given.remove(key)
    }

    /// Refuses a key nobody asked for.
    pub(super) fn finish(self) -> Result<(), LoadRequestError> {
        match self.given.into_keys().next() {
            None => Ok(()),
            Some(key) => Err(LoadRequestError::Key {
                load: self.load,
                key,
                keys: self.keys.join(", "),
            }),
        }
    }

    fn read<T>(
        &mut self,
        key: &'static str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, LoadRequestError> {
        let value = self.text(key).map(|text| parse(&text)).transpose();
        value.map_err(|why| LoadRequestError::Value {
            load: self.load,
            key,
            why,
        })
    }
}

/// A size so that [`units::parse_bytes`] reads it back: `8MiB`, `100`.
pub(super) fn size_text(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let whole = units
        .iter()
        .find(|(bits, _)| bytes != 0 && bytes.trailing_zeros() >= *bits);
    match whole {
        Some((bits, unit)) => format!("{}{unit}", bytes >> bits),
        None => bytes.to_string(),
    }
}

/// A duration so that [`units::parse_ns`] reads it back: `20us`, `1ms`.
pub(super) fn duration_text(ns: u64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")];
    match units.iter().find(|(unit, _)| ns >= *unit && ns.is_multiple_of(*unit)) {
        Some((factor, unit)) => format!("{}{unit}", ns / factor),
        None => "0".to_owned(),
    }
}

/// The word of a value in a table of words.
pub(super) fn word_of<T: PartialEq>(words: &[(&'static str, T)], value: &T) -> &'static str {
    words
        .iter()
        .find(|(_, other)| other == value)
        .map_or("", |(word, _)| word)
}

#[cfg(test)]
mod tests {
    use super::{duration_text, size_text};
    use proptest::prelude::{any, proptest};

    #[test]
    fn written_with_the_largest_unit_that_is_exact() {
        for (bytes, text) in [
            (0, "0"),
            (100, "100"),
            (1536, "1536"),
            (8 << 20, "8MiB"),
            (3 << 30, "3GiB"),
        ] {
            assert_eq!(size_text(bytes), text);
        }
        for (ns, text) in [(0, "0"), (20_000, "20us"), (208_333, "208333ns"), (2_000_000_000, "2s")] {
            assert_eq!(duration_text(ns), text);
        }
    }

    proptest! {
        #[test]
        fn sizes_and_durations_read_back(number in any::<u64>(), ns in 0..=i64::MAX.unsigned_abs()) {
            assert_eq!(units::parse_bytes(&size_text(number)), Ok(number));
            assert_eq!(units::parse_ns(&duration_text(ns)), Ok(ns));
        }
    }
}
