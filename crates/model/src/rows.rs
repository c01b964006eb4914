//! Lists of a run that grow with the length of the run.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use units::foreign::Show;

/// A list whose copies share its memory until one of them is changed. A run made safe to show is a copy of the whole run in which
/// hardly any text changes, and a run of a week has lists of many megabytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows<T>(Arc<Vec<T>>);

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl<T> From<Vec<T>> for Rows<T> {
    fn from(rows: Vec<T>) -> Self {
        Self(Arc::new(rows))
    }
}

impl<T> FromIterator<T> for Rows<T> {
    fn from_iter<I: IntoIterator<Item = T>>(rows: I) -> Self {
        Self::from(Vec::from_iter(rows))
    }
}

impl<T> Deref for Rows<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T: Clone> DerefMut for Rows<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        Arc::make_mut(&mut self.0)
    }
}

impl<'a, T> IntoIterator for &'a Rows<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T: Show + Clone + PartialEq> Show for Rows<T> {
    fn show(&mut self) {
        if self.0.iter().any(|row| row.shown() != *row) {
            Arc::make_mut(&mut self.0).show();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Rows;
    use units::foreign::Show;

    #[test]
    fn copies_share_what_is_safe_to_show() {
        let rows: Rows<String> = ["one".to_owned(), "two".to_owned()].into_iter().collect();
        assert!(std::ptr::eq(rows.shown().as_ptr(), rows.as_ptr()));
    }

    #[test]
    fn a_copy_that_is_changed_changes_alone() {
        let rows = Rows::from(vec!["one".to_owned(), "t\u{1b}wo".to_owned()]);
        assert_eq!(rows.shown()[..], ["one", "t\\u{1b}wo"]);
        let mut other = rows.clone();
        other.push("three".to_owned());
        assert_eq!((rows.len(), other.len()), (2, 3));
    }
}
