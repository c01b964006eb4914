//! Makes streams to be published on the grid of the second from the sampled-value streams of a capture.

use super::{StreamConfig, Waveform};
use crate::captured::{Learned, Stamped, each_frame};
use crate::error::ProbeError;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use streamset::{Content, StreamSpec};
use waveform::sample::SampleTable;
use wire::ether::{EthernetView, Mac};
use wire::sv::Frame;

/// One stream while the capture is read.
struct Collected {
    /// Description of the stream; its rate and dataset are set later.
    spec: StreamSpec,
    learned: Learned,
    samples: Vec<Vec<u8>>,
}

/// Reads the streams of a capture; their samples repeat. The sample of the first captured smpCnt is sent with the same smpCnt
/// first. A sample missing in the capture is replaced by the previous one. `rate` is for streams whose own rate cannot be found.
///
/// # Errors
/// The file cannot be read; a frame is cut or has no time stamp; a stream's rate is unknown; there are no sampled values.
pub fn captured_streams(path: &Path, rate: Option<u32>) -> Result<Vec<StreamConfig>, ProbeError> {
    let usage = |message: String| ProbeError::Usage(format!("{}: {message}", path.display()));
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let mut streams: Vec<Collected> = Vec::new();
    let mut known: HashMap<(Mac, u16, Vec<u8>), usize> = HashMap::new();
    each_frame(path, |frame| {
        if let Ok(ethernet) = EthernetView::parse(frame.data)
            && let Ok(sv) = Frame::parse(&ethernet)
        {
            collect(&sv, frame, &mut streams, &mut known);
        }
        Ok(())
    })?;
    if streams.is_empty() {
        return Err(usage("it holds no sampled values".into()));
    }
    streams
        .into_iter()
        .map(|stream| stream.finish(rate, &name).map_err(usage))
        .collect()
}

fn collect(
    sv: &Frame<'_>,
    frame: &Stamped<'_>,
    streams: &mut Vec<Collected>,
    known: &mut HashMap<(Mac, u16, Vec<u8>), usize>,
) {
    for asdu in sv.asdus() {
        let key = (sv.ethernet().dst(), sv.appid(), asdu.sv_id().to_vec());
        let index = *known.entry(key).or_insert(streams.len());
        if index == streams.len() {
            streams.push(Collected {
                spec: StreamSpec {
                    dat_set: asdu.dat_set().map(|name| String::from_utf8_lossy(name).into_owned()),
                    destination: sv.ethernet().dst(),
                    vlan: sv.ethernet().vlan(),
                    appid: sv.appid(),
                    conf_rev: asdu.conf_rev(),
                    smp_synch: asdu.smp_synch().unwrap_or(0),
                    simulate: sv.simulate(),
                    asdus: u8::try_from(sv.asdu_count()).unwrap_or(u8::MAX),
                    smp_rate: asdu.smp_rate(),
                    smp_mod: asdu.smp_mod(),
                    ..StreamSpec::named(&String::from_utf8_lossy(asdu.sv_id()))
                },
                learned: Learned::new(asdu.sv_id(), frame.time_ns),
                samples: Vec::new(),
            });
        }
        let stream = &mut streams[index];
        stream.learned.take(asdu.smp_cnt(), frame.time_ns);
        stream.samples.push(asdu.seq_data().to_vec());
    }
}

impl Collected {
    fn finish(self, stated: Option<u32>, name: &str) -> Result<StreamConfig, String> {
        let rate = self.learned.rate(stated)?;
        let stride = self.samples[0].len();
        if let Some(other) = self.samples.iter().find(|sample| sample.len() != stride) {
            return Err(format!(
                "stream {}: samples of {stride} and of {} octets: cut the capture where its dataset changed",
                self.spec.sv_id,
                other.len()
            ));
        }
        let mut places = vec![None; usize::try_from(self.learned.span(rate)).unwrap_or(0)];
        for (sample, place) in self.samples.iter().zip(self.learned.positions(rate)) {
            if let Some(place) = usize::try_from(place).ok().and_then(|place| places.get_mut(place)) {
                *place = Some(sample);
            }
        }
        let mut octets = Vec::with_capacity(places.len() * stride);
        let mut newest = &self.samples[0];
        for place in places {
            newest = place.unwrap_or(newest);
            octets.extend_from_slice(newest);
        }
        let table = SampleTable::repeated(octets, stride);
        let first = u64::from(self.learned.first_count());
        let content = Content::Other {
            octets: Some(stride),
            why: "it is as it was captured".to_owned(),
        };
        Ok(StreamConfig {
            spec: StreamSpec {
                rate,
                content,
                ..self.spec
            },
            ahead: u32::try_from((table.looped() - first % table.looped()) % table.looped()).unwrap_or(0),
            waveform: Arc::new(Waveform::of(Arc::new(table), format!("samples of {name}"))),
        })
    }
}
