//! Streams that are due together: their frames, encoded once and changed in place, and their grid.

use super::config::StreamConfig;
use super::timetable::{Pace, Timetable};
use crate::error::ProbeError;
use std::sync::Arc;
use streamset::StreamSpec;
use sys::packet::TxBatch;
use units::Monotonic;
use wire::ether::Mac;
use wire::header::EncodeError;
use wire::routed::{TooLong, Wrapper};
use wire::sv::{Message, OwnedAsdu, Template};

use super::waveform::Waveform;

/// Each distinct pace of the streams, in the order of its first use.
pub(super) fn paces(streams: &[StreamConfig]) -> Vec<Pace> {
    let mut paces = Vec::new();
    for pace in streams.iter().map(pace_of) {
        if !paces.contains(&pace) {
            paces.push(pace);
        }
    }
    paces
}

/// The pace of a stream.
pub(super) fn pace_of(stream: &StreamConfig) -> Pace {
    Pace {
        rate: stream.spec.rate,
        asdus: stream.spec.asdus,
    }
}

/// One stream's frame.
struct Member {
    template: Template,
    waveform: Arc<Waveform>,
    ahead: u64,
}

/// The frames of streams that are due together and are sent in one batch.
pub(crate) struct Batch {
    members: Vec<Member>,
    frames: TxBatch,
    /// The frames as datagrams, made before they are due; and their writer.
    datagrams: Option<(TxBatch, Wrapper)>,
}

impl Batch {
    /// Makes the batch of these streams with the source address `source`; with a wrapper it is one of datagrams.
    pub(crate) fn new<'a>(
        streams: impl IntoIterator<Item = &'a StreamConfig>,
        source: Mac,
        wrapper: Option<&Wrapper>,
    ) -> Result<Self, ProbeError> {
        let members = streams.into_iter().map(|stream| member(stream, source));
        let members = members.collect::<Result<Vec<_>, _>>()?;
        let longest = members.iter().map(|member| member.template.bytes().len()).max();
        let mut frames = TxBatch::new(members.len(), longest.unwrap_or(0));
        for (index, member) in members.iter().enumerate() {
            let octets = member.template.bytes();
            frames.frame_mut(index)[..octets.len()].copy_from_slice(octets);
            frames.set_len(index, octets.len());
        }
        let bytes = longest.unwrap_or(0) + Wrapper::LONGER;
        let mut batch = Self {
            datagrams: wrapper.map(|wrapper| (TxBatch::new(members.len(), bytes), wrapper.clone())),
            members,
            frames,
        };
        batch
            .wrap()
            .map_err(|error| ProbeError::Usage(format!("--routed: a frame of these streams is too long: {error}")))?;
        Ok(batch)
    }

    /// Makes the datagrams of all frames, whose lengths stay the same.
    fn wrap(&mut self) -> Result<(), TooLong> {
        let Some((datagrams, wrapper)) = &mut self.datagrams else {
            return Ok(());
        };
        for index in 0..self.members.len() {
            if let Some(octets) = wrapper.wrap_into(self.frames.frame(index), datagrams.frame_mut(index))? {
                datagrams.set_len(index, octets);
            }
        }
        Ok(())
    }

    /// Fills each frame with the samples from `first` on, counted from the first second.
    pub(crate) fn fill(&mut self, Pace { rate, asdus }: Pace, first: u64) {
        for asdu in 0..usize::from(asdus) {
            let sample = first + asdu as u64;
            let smp_cnt = u16::try_from(sample % u64::from(rate)).unwrap_or(0);
            for (index, member) in self.members.iter().enumerate() {
                if let Some(mut place) = member.template.asdu_of(self.frames.frame_mut(index), asdu) {
                    place.set_smp_cnt(smp_cnt);
                    let data = member.waveform.seq_data(sample + member.ahead);
                    place.seq_data_mut().copy_from_slice(data);
                }
            }
        }
        // They were short enough at the begin, and their lengths stay the same.
        let _ = self.wrap();
    }

    /// The frames as last filled.
    pub(crate) fn frames(&mut self) -> &mut TxBatch {
        match &mut self.datagrams {
            Some((datagrams, _)) => datagrams,
            None => &mut self.frames,
        }
    }

    /// Number of streams.
    pub(crate) fn streams(&self) -> u16 {
        u16::try_from(self.members.len()).unwrap_or(u16::MAX)
    }
}

/// The streams of one pace, with their timetable.
pub(super) struct Group {
    pub(super) timetable: Timetable,
    /// Slot of the group's series.
    pub(super) slot: u16,
    batch: Batch,
    /// True if the batch holds the frames that are due next.
    made: bool,
}

impl Group {
    pub(super) fn new(
        pace: Pace,
        slot: u16,
        streams: &[StreamConfig],
        (source, wrapper): (Mac, Option<&Wrapper>),
    ) -> Result<Self, ProbeError> {
        let members = streams.iter().filter(|stream| pace_of(stream) == pace);
        let mut group = Self {
            timetable: Timetable::new(pace),
            slot,
            batch: Batch::new(members, source, wrapper)?,
            made: false,
        };
        // Filled once before the measurement, so that no memory page is missing later.
        group.make();
        Ok(group)
    }

    /// Sets the start to the second at `start`, and the length to `duration_ns`.
    pub(super) fn begin(&mut self, start: Monotonic, duration_ns: Option<u64>) {
        self.timetable.begin(start, duration_ns);
        self.made = false;
    }

    /// Number of streams.
    pub(super) fn streams(&self) -> u16 {
        self.batch.streams()
    }

    /// Number of frames that all streams send in a second.
    pub(super) fn frames_per_second(&self) -> u64 {
        self.timetable.pace.frames_per_second() * u64::from(self.streams())
    }

    /// Prepares the frames that are due next, unless they are ready.
    pub(super) fn make(&mut self) {
        if self.made {
            return;
        }
        self.made = true;
        self.batch.fill(self.timetable.pace, self.timetable.first_sample());
    }

    /// The frames as last prepared.
    pub(super) fn batch(&mut self) -> &mut TxBatch {
        self.batch.frames()
    }

    /// Continues after the frames sent at `sent`; returns the number of due instants that passed meanwhile and are skipped.
    pub(super) fn go_on(&mut self, sent: Monotonic, is_late: bool) -> u64 {
        self.made = false;
        self.timetable.go_on(sent, is_late)
    }
}

fn member(stream: &StreamConfig, source: Mac) -> Result<Member, ProbeError> {
    let template = template(&stream.spec, stream.waveform.seq_data(0), source)
        .map_err(|error| ProbeError::Usage(format!("publish: stream {}: {error}", stream.spec.sv_id)))?;
    Ok(Member {
        template,
        waveform: Arc::clone(&stream.waveform),
        ahead: u64::from(stream.ahead),
    })
}

/// Makes the frame of a stream from `source`; each of its ASDUs has this many octets.
pub(crate) fn template(spec: &StreamSpec, seq_data: &[u8], source: Mac) -> Result<Template, EncodeError> {
    let asdu = OwnedAsdu {
        sv_id: spec.sv_id.clone().into_bytes(),
        dat_set: spec.dat_set.clone().map(String::into_bytes),
        conf_rev: spec.conf_rev,
        smp_synch: Some(spec.smp_synch),
        smp_rate: spec.smp_rate,
        smp_mod: spec.smp_mod,
        seq_data: seq_data.to_vec(),
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
