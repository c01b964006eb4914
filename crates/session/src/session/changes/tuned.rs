//! The active profile of TuneD.

use super::Part;
use super::known::{Item, Listing, Tells};
use host::Host;
use model::Subject;
use std::fs;
use std::time::SystemTime;

/// TuneD writes it whenever it applies a profile, also the same again.
const ACTIVE: &str = "/etc/tuned/active_profile";

/// The profile, and how often it was written during the run.
#[derive(Default)]
pub(super) struct Tuned {
    written: Option<SystemTime>,
    profile: String,
    again: u64,
}

impl Part for Tuned {
    fn name(&self) -> &'static str {
        Subject::Tuned.word()
    }

    fn look(&mut self, host: &Host) -> Result<Option<Listing>, String> {
        let profile = match host.reader().line_or_blank(ACTIVE) {
            Ok(profile) => profile,
            Err(error) if error.is_absent() => return Ok(Some(Listing::new())),
            Err(error) => return Err(error.to_string()),
        };
        let written = fs::metadata(ACTIVE).and_then(|file| file.modified()).ok();
        Ok(Some(vec![(
            (Subject::Tuned, String::new()),
            Ok(self.item(profile, written)),
        )]))
    }
}

impl Tuned {
    fn item(&mut self, profile: String, written: Option<SystemTime>) -> Item {
        let is_written_again = self.written.is_some() && written != self.written;
        match profile == self.profile {
            true if is_written_again => self.again += 1,
            true => {}
            false => self.again = 0,
        }
        (self.written, self.profile) = (written, profile);
        let name = if self.profile.is_empty() { "none" } else { &self.profile };
        Item {
            name: "active profile".to_owned(),
            value: match self.again {
                0 => name.to_owned(),
                1 => format!("{name}, applied again"),
                n => format!("{name}, applied again {n} times"),
            },
            cpus: None,
            who: None,
            tells: Tells::All,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Tuned;
    use std::time::{Duration, SystemTime};

    #[test]
    fn the_same_profile_applied_again_is_another_value() {
        let mut tuned = Tuned::default();
        let at = |second: u64| Some(SystemTime::UNIX_EPOCH + Duration::from_secs(second));
        let mut value = |profile: &str, second: u64| tuned.item(profile.to_owned(), at(second)).value;
        assert_eq!(value("realtime", 1), "realtime");
        assert_eq!(value("realtime", 1), "realtime");
        assert_eq!(value("realtime", 5), "realtime, applied again");
        assert_eq!(value("realtime", 5), "realtime, applied again");
        assert_eq!(value("realtime", 7), "realtime, applied again 2 times");
        assert_eq!(value("balanced", 8), "balanced");
        assert_eq!(value("", 9), "none");
    }
}
