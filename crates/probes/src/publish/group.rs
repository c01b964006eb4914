//! Streams that are due together: their frames, encoded once and patched in place, and their grid.

use super::config::StreamConfig;
use crate::error::ProbeError;
use std::sync::Arc;
use sys::packet::TxBatch;
use units::{Grid, Monotonic};
use wire::ether::Mac;
use wire::header::EncodeError;
use wire::sv::{Message, OwnedAsdu, Template};

use super::waveform::Waveform;

/// Samples a second and ASDUs in a frame: what streams that are due together have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pace {
    pub(super) rate: u32,
    pub(super) asdus: u8,
}

impl Pace {
    pub(super) fn of(stream: &StreamConfig) -> Self {
        Self {
            rate: stream.spec.rate,
            asdus: stream.spec.asdus,
        }
    }

    pub(super) fn frames_per_second(self) -> u64 {
        u64::from(self.rate) / u64::from(self.asdus.max(1))
    }

    /// Time between frames of a stream.
    pub(super) fn interval_ns(self) -> f64 {
        f64::from(self.asdus) * 1e9 / f64::from(self.rate)
    }
}

/// Each pace of the streams once, in the order in which they come.
pub(super) fn paces(streams: &[StreamConfig]) -> Vec<Pace> {
    let mut paces = Vec::new();
    for pace in streams.iter().map(Pace::of) {
        if !paces.contains(&pace) {
            paces.push(pace);
        }
    }
    paces
}

/// One stream's frame.
struct Member {
    template: Template,
    waveform: Arc<Waveform>,
    ahead: u64,
}

/// The streams of one pace, the batch they are sent in, and where they are.
pub(super) struct Group {
    pub(super) pace: Pace,
    /// Slot of its series.
    pub(super) slot: u16,
    members: Vec<Member>,
    batch: TxBatch,
    /// Of samples.
    grid: Grid,
    /// The frame that is due next, counted from the first second.
    pub(super) frame: u64,
    /// How many there are; `None` without end.
    frames: Option<u64>,
    /// Whether the batch holds frame number `frame`.
    made: bool,
}

impl Group {
    pub(super) fn new(pace: Pace, slot: u16, streams: &[StreamConfig], source: Mac) -> Result<Self, ProbeError> {
        let members = streams
            .iter()
            .filter(|stream| Pace::of(stream) == pace)
            .map(|stream| member(stream, source))
            .collect::<Result<Vec<_>, _>>()?;
        let longest = members.iter().map(|member| member.template.bytes().len()).max();
        let mut batch = TxBatch::new(members.len(), longest.unwrap_or(0));
        for (index, member) in members.iter().enumerate() {
            let octets = member.template.bytes();
            batch.frame_mut(index)[..octets.len()].copy_from_slice(octets);
            batch.set_len(index, octets.len());
        }
        let mut group = Self {
            pace,
            slot,
            members,
            batch,
            grid: Grid::per_second(Monotonic::from_ns(0), u64::from(pace.rate)),
            frame: 0,
            frames: None,
            made: false,
        };
        // Once before it counts: every page is there.
        group.make();
        Ok(group)
    }

    /// Begins with the second at `start`, for `duration_ns`.
    pub(super) fn begin(&mut self, start: Monotonic, duration_ns: Option<u64>) {
        self.grid = Grid::per_second(start, u64::from(self.pace.rate));
        self.frames = duration_ns.map(|ns| frames_in(ns, self.pace.frames_per_second()));
        self.frame = 0;
        self.made = false;
    }

    /// How many streams there are.
    pub(super) fn streams(&self) -> u16 {
        u16::try_from(self.members.len()).unwrap_or(u16::MAX)
    }

    /// When the next frame is due, the instant of its last sample; `None` when there is none left.
    pub(super) fn due(&self) -> Option<Monotonic> {
        let asdus = u64::from(self.pace.asdus);
        let is_left = self.frames.is_none_or(|frames| self.frame < frames);
        is_left.then(|| self.grid.due(self.frame * asdus + asdus - 1))
    }

    /// Makes the frames that are due next, unless they are made.
    pub(super) fn make(&mut self) {
        if self.made {
            return;
        }
        self.made = true;
        for asdu in 0..usize::from(self.pace.asdus) {
            let sample = self.frame * u64::from(self.pace.asdus) + asdu as u64;
            let smp_cnt = u16::try_from(sample % u64::from(self.pace.rate)).unwrap_or(0);
            for (index, member) in self.members.iter().enumerate() {
                if let Some(mut place) = member.template.asdu_of(self.batch.frame_mut(index), asdu) {
                    place.set_smp_cnt(smp_cnt);
                    let data = member.waveform.seq_data(sample + member.ahead);
                    place.seq_data_mut().copy_from_slice(data);
                }
            }
        }
    }

    /// The frames as they were made last.
    pub(super) fn batch(&mut self) -> &mut TxBatch {
        &mut self.batch
    }

    /// Goes on from the frame sent at `sent`; returns how many were due meanwhile and are left out.
    pub(super) fn go_on(&mut self, sent: Monotonic, is_late: bool) -> u64 {
        let mut next = self.frame + 1;
        if is_late {
            let asdus = u64::from(self.pace.asdus);
            let sample = self.grid.first_after(sent);
            next = next.max(sample.saturating_sub(asdus - 1).div_ceil(asdus));
        }
        // Frames behind the end were never due.
        next = self.frames.map_or(next, |frames| next.min(frames));
        let missed = next - self.frame - 1;
        self.frame = next;
        self.made = false;
        missed
    }
}

fn member(stream: &StreamConfig, source: Mac) -> Result<Member, ProbeError> {
    let template = template(stream, source)
        .map_err(|error| ProbeError::Usage(format!("publish: stream {}: {error}", stream.spec.sv_id)))?;
    Ok(Member {
        template,
        waveform: Arc::clone(&stream.waveform),
        ahead: u64::from(stream.ahead),
    })
}

fn template(stream: &StreamConfig, source: Mac) -> Result<Template, EncodeError> {
    let spec = &stream.spec;
    let asdu = OwnedAsdu {
        sv_id: spec.sv_id.clone().into_bytes(),
        dat_set: spec.dat_set.clone().map(String::into_bytes),
        conf_rev: spec.conf_rev,
        smp_synch: Some(spec.smp_synch),
        smp_rate: spec.smp_rate,
        smp_mod: spec.smp_mod,
        seq_data: stream.waveform.seq_data(0).to_vec(),
        ..OwnedAsdu::default()
    };
    Template::new(&Message {
        dst: spec.destination,
        src: source,
        tags: spec.vlan.into_iter().collect(),
        appid: spec.appid,
        simulate: spec.simulate,
        asdus: vec![asdu; usize::from(spec.asdus)],
    })
}

/// Frames due in `duration_ns`. The time between frames is not always a whole number of nanoseconds, their number is.
fn frames_in(duration_ns: u64, per_second: u64) -> u64 {
    let frames = u128::from(duration_ns) * u128::from(per_second) / 1_000_000_000;
    u64::try_from(frames).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::frames_in;

    #[test]
    fn a_week_has_as_many_frames_as_its_seconds() {
        let week_s = 7 * 86_400;
        assert_eq!(frames_in(week_s * 1_000_000_000, 4_800), week_s * 4_800);
        assert_eq!(frames_in(100_000_000, 4_800), 480);
    }
}
