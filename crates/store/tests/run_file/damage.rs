//! A damaged file gives an error or other numbers, but never a panic.

use crate::support::{Numbers, batch, create};
use model::{RunState, SeriesId};
use std::fs;
use std::path::Path;
use store::{RunFile, StoreError};

/// Reads everything, regardless of earlier errors; returns the number of errors.
fn read_all(path: &Path) -> usize {
    let run = match RunFile::open(path) {
        Ok(run) => run,
        Err(error) => {
            assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
            return 1;
        }
    };
    let mut answers = vec![
        run.series().err(),
        run.events().err(),
        run.facts().err(),
        run.document("plan").err(),
    ];
    for id in [SeriesId(0), SeriesId(1)] {
        answers.push(run.totals(id).err());
        answers.push(run.windows(id).err());
        answers.push(run.spikes(id).err());
        answers.push(run.histograms(id).err());
        match run.histogram(id) {
            Ok(histogram) => {
                let _ = (
                    histogram.quantiles([0.5, 0.99]),
                    histogram.mean(),
                    histogram.log_buckets(20),
                );
            }
            Err(error) => answers.push(Some(error)),
        }
    }
    let refused: Vec<StoreError> = answers.iter_mut().filter_map(Option::take).collect();
    for error in &refused {
        assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
    }
    refused.len()
}

/// The bytes of a run file on the disk.
fn whole_run(directory: &Path) -> Vec<u8> {
    let path = directory.join("whole.triptime");
    let mut writer = create(&path, 2, Some(30_000));
    for number in 0..60 {
        writer.write(&batch(2, number)).expect("written");
    }
    writer.put_document("plan", &"[plan]\n".repeat(2_000)).expect("kept");
    writer.finish(RunState::Complete, 1).expect("finished");
    fs::read(&path).expect("read")
}

#[test]
fn flipped_bytes_never_panic() {
    let directory = tempfile::tempdir().expect("a directory");
    let whole = whole_run(directory.path());
    let path = directory.path().join("flipped.triptime");
    let mut numbers = Numbers::unforeseen();
    let mut refused = 0;
    for round in 0..600u64 {
        let mut bytes = whole.clone();
        // A third of the rounds damage the first page (header and schema), a third the head of a page (its structure).
        let place = |numbers: &mut Numbers| match round % 3 {
            0 => numbers.below(4_096),
            1 => numbers.below(whole.len() as u64 / 4_096) * 4_096 + numbers.below(64),
            _ => numbers.below(whole.len() as u64),
        };
        for _ in 0..=numbers.below(4) {
            let at = place(&mut numbers) as usize;
            bytes[at] ^= 1 + numbers.below(255) as u8;
        }
        fs::write(&path, &bytes).expect("written");
        refused += usize::from(read_all(&path) > 0);
    }
    assert!(refused > 60, "hardly any damage was noticed: {refused}");
}

#[test]
fn a_file_cut_short_is_damaged() {
    let directory = tempfile::tempdir().expect("a directory");
    let whole = whole_run(directory.path());
    let path = directory.path().join("short.triptime");
    let mut numbers = Numbers::unforeseen();
    for _ in 0..200 {
        let length = numbers.below(whole.len() as u64) as usize;
        fs::write(&path, &whole[..length]).expect("written");
        let error = RunFile::open(&path).expect_err("not a whole run");
        assert!(
            matches!(error, StoreError::Damaged { .. } | StoreError::NotARunFile { .. }),
            "cut at {length}: {error:?}"
        );
    }
}

#[test]
fn noise_beside_the_file_is_not_taken_for_its_log() {
    let directory = tempfile::tempdir().expect("a directory");
    let whole = whole_run(directory.path());
    let path = directory.path().join("noise.triptime");
    fs::write(&path, &whole).expect("written");
    let mut numbers = Numbers::unforeseen();
    let noise: Vec<u8> = (0..50_000).map(|_| numbers.next() as u8).collect();
    fs::write(directory.path().join("noise.triptime-wal"), noise).expect("written");
    let run = RunFile::open(&path).expect("opens");
    crate::support::assert_holds(&run, 2, 60);
}

#[test]
fn a_text_that_was_kept_and_is_gone_is_damage() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("gone.triptime");
    let mut writer = create(&path, 1, None);
    for name in ["plan", "limits", "limits"] {
        writer.put_document(name, "name = \"site\"\n").expect("kept");
    }
    writer.finish(RunState::Complete, 1).expect("finished");
    let kept = RunFile::open(&path).expect("a run");
    assert!(kept.document("limits").expect("read").is_some() && kept.document("other").expect("read").is_none());
    drop(kept);
    let db = rusqlite::Connection::open(&path).expect("a database");
    db.execute("DELETE FROM document WHERE name = 'limits'", [])
        .expect("gone");
    drop(db);
    let run = RunFile::open(&path).expect("a run");
    for name in ["limits", "plan"] {
        let error = run.document(name).expect_err("damaged").to_string();
        assert!(error.contains("2 were kept, 1 can be read"), "{error}");
    }
}
