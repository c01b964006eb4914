//! The live page: of a run while it is measured, by a process beside it, or of run files.

mod library;
mod process;
mod standing;

pub(crate) use library::Runs;
pub(crate) use process::LiveProcess;

use crate::failure::Failure;
use serve::{Address, Bound, ServeError, Token};
use std::path::PathBuf;

/// Options of a command whose run is shown while it is measured.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ServedArgs {
    /// Serve a live page of the run, and its figures for Prometheus under /metrics, until the run ends: on a port of the loopback interface, on
    /// IP:PORT with --serve-token, or on unix:/PATH
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) serve: Option<Address>,
    /// File with the token that readers must give: a program as Authorization: Bearer, a person as the password
    #[arg(long, value_name = "FILE", requires = "serve")]
    pub(crate) serve_token: Option<PathBuf>,
}

impl ServedArgs {
    /// Begins to listen, if that was asked for.
    ///
    /// # Errors
    /// The address is taken, or needs a token; the token cannot be read.
    pub(crate) fn bound(&self) -> Result<Option<Bound>, Failure> {
        let Some(address) = &self.serve else { return Ok(None) };
        let token = self.serve_token.as_deref().map(Token::read).transpose()?;
        Ok(Some(address.bind(token.as_ref())?))
    }

    /// Refuses the options for a command that measures one run after the other.
    ///
    /// # Errors
    /// They were given.
    pub(crate) fn refuse_for(&self, what: &str) -> Result<(), Failure> {
        match self.serve {
            None => Ok(()),
            Some(_) => Err(Failure::Usage(format!(
                "--serve shows one run, and {what} measures several: show the run under way with `triptime serve RUN`"
            ))),
        }
    }
}

impl From<ServeError> for Failure {
    fn from(error: ServeError) -> Self {
        match error {
            ServeError::Wrong(text) => Self::Usage(text),
            ServeError::Io { .. } => Self::CouldNotMeasure(error.to_string()),
        }
    }
}
