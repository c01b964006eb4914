//! Reading back the recording of every sample.

use model::hop::HopName;
use recording::{SegmentReader, Survey};
use store::{RunFile, StoreError};

/// Reads all of a run's segments, one after the other; `None` when it has none.
///
/// # Errors
/// The run file cannot be read. An unreadable segment is counted and named in the survey, and the rest is read.
pub fn survey(run: &RunFile) -> Result<Option<Survey>, StoreError> {
    let Some(totals) = run.segment_totals()? else {
        return Ok(None);
    };
    let mut survey = Survey::new((totals.first_ns, totals.last_ns));
    if let Some(ways) = ways(run)? {
        survey = survey.with_ways(ways);
    }
    let mut reader = SegmentReader::new();
    let mut number = 0;
    run.each_segment(|octets| {
        number += 1;
        match octets.map(|octets| reader.read(octets).map_err(|error| error.to_string())) {
            Ok(Ok(segment)) => survey.take(segment),
            Ok(Err(why)) | Err(why) => survey.unreadable(format!("segment {number}: {why}")),
        }
    })?;
    Ok(Some(survey))
}

/// The pairs of points between which the run has series with samples, in their order; `None` if it has no such series.
fn ways(run: &RunFile) -> Result<Option<Vec<(String, String)>>, StoreError> {
    let mut ways = Vec::new();
    let mut any = false;
    for (id, spec) in run.series()? {
        let Some(hop) = HopName::parse(&spec.name) else {
            continue;
        };
        any = true;
        let way = (hop.from.to_owned(), hop.to.to_owned());
        if !ways.contains(&way) && run.totals(id)?.samples > 0 {
            ways.push(way);
        }
    }
    Ok(any.then_some(ways))
}
