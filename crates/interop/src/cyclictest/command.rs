//! Parses the settings of a measurement from cyclictest's command line.
//!
//! Only options that affect the result are parsed. Letters are those of cyclictest 2.0 to 2.10.

/// Short options with a value, attached or as the next word.
const WITH_VALUE: &str = "bcdDFhHilop";

/// Short options whose value, if any, is attached.
const WITH_ATTACHED: &str = "aAt";

/// Interval of the first thread without `-i`, in microseconds.
const DEFAULT_INTERVAL_US: u64 = 1_000;

/// Additional interval of each further thread without `-d` and without a histogram, in microseconds.
const DEFAULT_DISTANCE_US: u64 = 500;

/// Options of a command line of cyclictest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Command {
    interval_us: Option<u64>,
    distance_us: Option<u64>,
    /// `-h` or `-H`: number of buckets.
    pub(super) buckets: Option<u64>,
    /// `-b`: stops at the first sample above this, in microseconds.
    pub(super) break_us: Option<u64>,
}

impl Command {
    /// Parses a command line; `None` if it is not one of cyclictest.
    pub(super) fn of(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace().peekable();
        words.by_ref().find(|word| is_cyclictest(word))?;
        let mut command = Self::default();
        while let Some(word) = words.next() {
            let mut next = || words.peek().copied();
            if let Some(long) = word.strip_prefix("--") {
                let (name, value) = long
                    .split_once('=')
                    .map_or((long, None), |(name, value)| (name, Some(value)));
                command.long(name, value.or_else(&mut next));
            } else if let Some(letters) = word.strip_prefix('-') {
                command.short(letters, &mut next);
            }
        }
        Some(command)
    }

    /// Time between due times of thread `number`, in ns. Without a histogram each further thread has a longer interval.
    pub(super) fn interval_ns(&self, number: u32) -> Option<u64> {
        let first = self.interval_us.unwrap_or(DEFAULT_INTERVAL_US);
        let distance = if self.buckets.is_some() {
            0
        } else {
            self.distance_us.unwrap_or(DEFAULT_DISTANCE_US)
        };
        let us = distance.checked_mul(u64::from(number))?.checked_add(first)?;
        us.checked_mul(1_000).filter(|ns| *ns > 0)
    }

    fn long(&mut self, name: &str, value: Option<&str>) {
        let letter = match name {
            "interval" => 'i',
            "distance" => 'd',
            "histogram" | "histofall" => 'h',
            "breaktrace" => 'b',
            _ => return,
        };
        self.set(letter, value);
    }

    fn short<'a>(&mut self, letters: &'a str, next: &mut impl FnMut() -> Option<&'a str>) {
        for (at, letter) in letters.char_indices() {
            let rest = &letters[at + letter.len_utf8()..];
            if WITH_VALUE.contains(letter) {
                self.set(letter, if rest.is_empty() { next() } else { Some(rest) });
                return;
            }
            if WITH_ATTACHED.contains(letter) {
                return;
            }
        }
    }

    fn set(&mut self, letter: char, value: Option<&str>) {
        let value = value.and_then(|value| value.parse().ok());
        match letter {
            'i' => self.interval_us = value,
            'd' => self.distance_us = value,
            // `-h 0` means no histogram.
            'h' | 'H' => self.buckets = value.filter(|buckets| *buckets > 0),
            'b' => self.break_us = value.filter(|us| *us > 0),
            _ => {}
        }
    }
}

/// True if a word is the program's name, with or without its directory.
fn is_cyclictest(word: &str) -> bool {
    word.rsplit('/').next() == Some("cyclictest")
}

#[cfg(test)]
mod tests {
    use super::Command;

    #[test]
    fn the_forms_that_options_take() {
        for line in [
            "cyclictest -q -i 200 -h 400 -b 100",
            "/usr/bin/cyclictest -qmi200 -Sp90 -h400 -b100",
            "taskset -c 1 cyclictest --interval=200 --histogram=400 --breaktrace 100 -a 1-3",
            "cyclictest -Sp99 -i 200 -d 7 -H400 -b 100 --json=i9.json",
        ] {
            let command = Command::of(line).expect(line);
            assert_eq!(
                (command.interval_ns(0), command.interval_ns(3)),
                (Some(200_000), Some(200_000)),
                "{line}"
            );
            assert_eq!((command.buckets, command.break_us), (Some(400), Some(100)), "{line}");
        }
    }

    #[test]
    fn without_a_histogram_further_threads_are_slower() {
        let command = Command::of("cyclictest -t4 -p80").expect("cyclictest");
        assert_eq!(
            (command.interval_ns(0), command.interval_ns(2)),
            (Some(1_000_000), Some(2_000_000))
        );
        let equal = Command::of("cyclictest -t4 -i125 -d0").expect("cyclictest");
        assert_eq!((equal.interval_ns(3), equal.buckets), (Some(125_000), None));
    }

    #[test]
    fn other_programs_say_nothing() {
        assert_eq!(Command::of("oslat -i 200"), None);
        assert_eq!(Command::of(""), None);
    }
}
