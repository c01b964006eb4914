//! The settings of a load by name, from the command line or from plans.

use std::collections::BTreeMap;

use super::request::LoadRequestError;

/// The given settings, and the keys that were read. A key that is left at the end is unknown to the load.
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

    /// A number of bytes: `100`, `8MiB`.
    pub(super) fn bytes(&mut self, key: &'static str) -> Result<Option<u64>, LoadRequestError> {
        self.read(key, |text| units::parse_bytes(text).map_err(|error| error.to_string()))
    }

    /// One of several words.
    pub(super) fn word<T: Copy>(
        &mut self,
        key: &'static str,
        words: &[(&'static str, T)],
    ) -> Result<Option<T>, LoadRequestError> {
        self.read(key, |text| {
            let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
            let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            found.ok_or_else(|| format!("\"{text}\" is not one of {}", all.join(", ")))
        })
    }

    /// Any text.
    pub(super) fn text(&mut self, key: &'static str) -> Option<String> {
        self.keys.push(key);
        self.given.remove(key)
    }

    /// Refuses keys that were not read.
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

/// A size in a form that [`units::parse_bytes`] parses: `8MiB`, `100`.
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

/// The word of a value in a table of words.
pub(super) fn word_of<T: PartialEq>(words: &[(&'static str, T)], value: &T) -> &'static str {
    words
        .iter()
        .find(|(_, other)| other == value)
        .map_or("", |(word, _)| word)
}

#[cfg(test)]
mod tests {
    use super::size_text;
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
    }

    proptest! {
        #[test]
        fn sizes_read_back(number in any::<u64>()) {
            assert_eq!(units::parse_bytes(&size_text(number)), Ok(number));
        }
    }
}
