//! Statements about a test that its operator supplies, for the acceptance record at the beginning of the printed page.
//! They are only in the page, not in the run file.

use serde::{Deserialize, Serialize};
use units::foreign::Show;

/// The fields of the record that are not measured. An empty field is left to be filled in by hand.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct About {
    /// The kind of test: `Factory acceptance test`.
    pub test: String,
    /// The tested object.
    pub object: String,
    /// Its serial number, or several of them.
    pub serial_number: String,
    /// Place of the test.
    pub site: String,
    /// The person who ran the test.
    pub operator: String,
    /// The acceptance criteria: contract, specification, standard, with editions.
    pub criteria: String,
    /// Further remarks.
    pub remarks: String,
    /// Number of the document.
    pub document: String,
    /// Its revision.
    pub revision: String,
    /// Inspection and calibration of the test equipment.
    pub calibration: String,
    /// The person who prepared the document.
    pub prepared: String,
    /// The person who reviewed it.
    pub reviewed: String,
    /// The person who recommended it for approval.
    pub recommended: String,
    /// The person who approved it.
    pub approved: String,
    /// Signatories, one line for each.
    pub signatures: Vec<String>,
}

/// The run file from which the page was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// Its length in bytes.
    pub octets: u64,
    /// Its SHA-256 in hexadecimal digits, or the reason why it is not known.
    pub sha256: Result<String, String>,
}

impl Show for About {
    fn show(&mut self) {
        let texts = [
            &mut self.test,
            &mut self.object,
            &mut self.serial_number,
            &mut self.site,
            &mut self.operator,
            &mut self.criteria,
            &mut self.remarks,
            &mut self.document,
            &mut self.revision,
            &mut self.calibration,
            &mut self.prepared,
            &mut self.reviewed,
            &mut self.recommended,
            &mut self.approved,
        ];
        texts.into_iter().for_each(Show::show);
        self.signatures.show();
    }
}

impl About {
    /// Reads the TOML form described in `docs/formats/about.md`.
    ///
    /// # Errors
    /// Invalid TOML, an unknown key, or a value of the wrong type; the message states the line.
    pub fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| {
            let line = error
                .span()
                .map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            format!("line {line}: {}", error.message())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::About;

    #[test]
    fn what_is_not_given_is_empty() {
        let about = About::parse("object = \"Bay 1\"\nsignatures = [\"Supplier\", \"Customer\"]\n").expect("read");
        assert_eq!((about.object.as_str(), about.site.as_str()), ("Bay 1", ""));
        assert_eq!(about.signatures, ["Supplier", "Customer"]);
    }

    #[test]
    fn the_first_thing_wrong_is_said_with_its_line() {
        let said = |text: &str| About::parse(text).expect_err("refused");
        let unknown = said("object = \"x\"\nsit = \"y\"\n");
        assert!(unknown.starts_with("line 2: unknown field `sit`"), "{unknown}");
        assert!(
            said("\n\nobject = 3\n").starts_with("line 3: "),
            "{}",
            said("\n\nobject = 3\n")
        );
        assert!(said("object").starts_with("line 1: "));
    }
}
