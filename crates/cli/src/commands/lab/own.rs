//! Options in the words of a guest command that this machine handles: the place of the run file, and the form of its display.

use super::errand::Errand;
use std::path::PathBuf;

/// Returns the words for the guest, and `errand` completed by the other words. Options before the words of the command take precedence.
pub(super) fn taken_from(words: &[String], errand: &Errand) -> (Vec<String>, Errand) {
    let (mut left, mut errand) = (Vec::new(), errand.clone());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.as_str(), None),
        };
        if let Some(place) = errand.file_of(name) {
            let value = value.or_else(|| words.next().map(String::as_str));
            *place = place.take().or(value.map(PathBuf::from));
        } else if let Some(place) = errand.flag_of(name).filter(|_| value.is_none()) {
            *place = true;
        } else {
            left.push(word.clone());
        }
    }
    (left, errand)
}

impl Errand {
    fn file_of(&mut self, name: &str) -> Option<&mut Option<PathBuf>> {
        match name {
            "--out" => Some(&mut self.out),
            "--html" => Some(&mut self.pages.html),
            "--junit" => Some(&mut self.pages.junit),
            _ => None,
        }
    }

    fn flag_of(&mut self, name: &str) -> Option<&mut bool> {
        match name {
            "--json" => Some(&mut self.face.json),
            "--full" => Some(&mut self.face.full),
            "--summary" => Some(&mut self.face.summary),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::taken_from;
    use crate::commands::lab::errand::Errand;
    use std::path::Path;

    #[test]
    fn where_a_run_goes_is_said_on_either_side() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<String>>();
        let (left, errand) = taken_from(
            &words("reflect eth0 --out a.triptime --role reflector --html=b.html --json -D 5s"),
            &Errand::default(),
        );
        assert_eq!(left, words("reflect eth0 --role reflector -D 5s"));
        assert_eq!(errand.out.as_deref(), Some(Path::new("a.triptime")));
        assert_eq!(errand.pages.html.as_deref(), Some(Path::new("b.html")));
        assert!(errand.face.json && !errand.face.full);
        let first = Errand {
            out: Some("first".into()),
            ..Errand::default()
        };
        let (_, errand) = taken_from(&words("wakeup --out second"), &first);
        assert_eq!(errand.out.as_deref(), Some(Path::new("first")));
    }
}
