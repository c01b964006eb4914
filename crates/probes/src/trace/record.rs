//! Every single duration, as lines of text.

use crate::error::ProbeError;
use ::trace::hops::Duration;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Octets written at once.
const CHUNK: usize = 1 << 20;

/// A file of durations: see `docs/guide/trace.md`.
pub(super) struct Durations {
    path: PathBuf,
    out: BufWriter<File>,
}

impl Durations {
    pub(super) fn create(path: &Path) -> Result<Self, ProbeError> {
        let failed = |error| ProbeError::Usage(format!("{}: {error}", path.display()));
        let file = File::create_new(path).map_err(failed)?;
        let mut out = BufWriter::with_capacity(CHUNK, file);
        writeln!(out, "monotonic_ns,hop,svID,smpCnt,duration_ns,cpu").map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            out,
        })
    }

    pub(super) fn write(&mut self, hop: &str, label: &str, duration: &Duration) -> Result<(), ProbeError> {
        let Duration {
            at, ns, cpu, smp_cnt, ..
        } = duration;
        // A name from the wire may hold what separates fields.
        let label = label.replace(['"', '\n', '\r'], "?");
        writeln!(self.out, "{},{hop},\"{label}\",{smp_cnt},{ns},{cpu}", at.as_ns()).map_err(|error| self.failed(&error))
    }

    pub(super) fn finish(&mut self) -> Result<(), ProbeError> {
        self.out.flush().map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &std::io::Error) -> ProbeError {
        ProbeError::Usage(format!("{}: {error}", self.path.display()))
    }
}
