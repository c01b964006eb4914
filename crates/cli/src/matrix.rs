//! The result of a matrix, from its folder or from run files, in each form.

use crate::face::Form;
use crate::failure::Failure;
use crate::named;
use campaign::matrix::{of_folder, of_runs};
use matrix::StateError;
use report::matrix::Matrix;
use std::path::Path;

impl From<StateError> for Failure {
    fn from(error: StateError) -> Self {
        match error {
            StateError::Io { .. } | StateError::Removed(_) => Self::CouldNotMeasure(error.to_string()),
            _ => Self::Usage(error.to_string()),
        }
    }
}

/// The matrix from run files named one by one, or from one folder.
pub(crate) fn of_files(names: &[String]) -> Result<Matrix, Failure> {
    if let [folder] = names
        && Path::new(folder).is_dir()
    {
        return Ok(of_folder(Path::new(folder))?);
    }
    let runs = names.iter().map(|name| named::open(name).map(|named| named.file));
    of_runs(runs)
}

/// The matrix in a form.
pub(crate) fn text(matrix: &Matrix, form: Form) -> Result<String, Failure> {
    Ok(match form {
        Form::Text => matrix.text(),
        Form::Json => matrix.json().map_err(|error| Failure::of_document(&error))?,
        Form::Csv => matrix.csv(),
    })
}

/// The page of a matrix.
pub(crate) fn html(matrix: &Matrix) -> Result<String, Failure> {
    let made = matrix.html();
    made.map_err(|error| Failure::CouldNotMeasure(format!("cannot make the HTML page: {error}")))
}
