//! The user's statements about a test, which the acceptance record of a printed page and a certificate show next to the run.

use report::about::About;
use std::fs;

/// Reads the user's statements about a test.
pub(crate) fn about(path: &str) -> Result<About, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    About::parse(&text)
}

#[cfg(test)]
mod tests {
    use super::about;
    use std::fs;

    #[test]
    fn a_bad_file_is_said_with_its_line() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("about.toml");
        fs::write(&file, "object = \"Bay 1\"\nowner = \"x\"\n").expect("written");
        let said = about(&file.to_string_lossy()).expect_err("refused");
        assert!(said.starts_with("line 2: unknown field `owner`"), "{said}");
        assert!(about("/nowhere").is_err());
    }
}
