//! A run file as evidence: its size and its hash.

use report::about::Evidence;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Size and SHA-256 of a run file.
pub fn evidence(run: &Path) -> Evidence {
    let octets = fs::metadata(run).map_or(0, |file| file.len());
    Evidence {
        octets,
        sha256: sha256(run),
    }
}

fn sha256(run: &Path) -> Result<String, String> {
    let mut log = run.as_os_str().to_owned();
    log.push("-wal");
    if fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
        return Err("the run was not closed: a part of it is in the log next to the file".to_owned());
    }
    let mut hash = Sha256::new();
    let hashed = File::open(run).and_then(|mut file| io::copy(&mut file, &mut hash));
    hashed.map_err(|error| format!("it cannot be read: {error}"))?;
    Ok(hash.finalize().iter().map(|octet| format!("{octet:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::evidence;
    use std::fs;
    use std::path::Path;

    #[test]
    fn the_hash_is_that_of_the_file_and_refused_where_a_log_is_beside_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let run = directory.path().join("x.triptime");
        fs::write(&run, "abc").expect("written");
        // FIPS 180-4, first example.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!((evidence(&run).octets, evidence(&run).sha256.as_deref()), (3, Ok(abc)));
        fs::write(directory.path().join("x.triptime-wal"), "more").expect("written");
        assert!(evidence(&run).sha256.is_err_and(|why| why.contains("log next to")));
        assert!(evidence(Path::new("/nowhere")).sha256.is_err());
    }
}
