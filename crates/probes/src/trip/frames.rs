//! The frames of the stream, one for each manner of sending.

use super::late::DelayLine;
use super::script::{Manner, Script};
use crate::error::ProbeError;
use crate::port::Port;
use crate::publish::template;
use streamset::StreamSpec;
use wire::ether::Mac;
use wire::goose::Message;
use wire::sv::Template;

/// If frames are lost on purpose, one frame out of this many is left out.
const LOST_OF: u64 = 4;

/// Number of frames of a storm after each frame of the stream.
const STORM: usize = 10;

/// Result of sending the frames of one instant.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sent {
    pub(super) frames: u16,
    /// Number of frames that the kernel did not accept.
    pub(super) refused: u64,
}

/// The frames, made once and changed in place.
pub(super) struct Frames {
    plain: Template,
    other_sv_id: Template,
    unsynchronised: Template,
    simulated: Template,
    second: Template,
    /// The stream of the far side, sent as a merging unit sends it whatever the manner; `None` if there is one side.
    far: Option<Template>,
    /// Size in bytes of a sample of one side.
    octets: usize,
    /// Message of a control block that no relay uses.
    goose: Vec<u8>,
    /// Line that delays frames.
    late: DelayLine,
    /// A frame that is held back or changed.
    spare: Vec<u8>,
    /// True if `spare` is to be sent after the next frame.
    is_held: bool,
    /// Number of instants since the stream began.
    instants: u64,
    /// Position of the tag of the protocol data unit.
    pdu_at: usize,
}

impl Frames {
    /// Makes the frames of a stream, and of that of its far side, sent from `source`.
    pub(super) fn of(
        spec: &StreamSpec,
        far: Option<&StreamSpec>,
        seq_data: &[u8],
        source: Mac,
    ) -> Result<Self, ProbeError> {
        let octets = seq_data.len() / (1 + usize::from(far.is_some()));
        let seq_data = &seq_data[..octets];
        let make = |spec: &StreamSpec, source: Mac| {
            let made = template(spec, seq_data, source);
            made.map_err(|error| ProbeError::Usage(format!("trip: stream {}: {error}", spec.sv_id)))
        };
        let other_sv_id = StreamSpec {
            sv_id: another(&spec.sv_id),
            ..spec.clone()
        };
        let unsynchronised = StreamSpec {
            smp_synch: 0,
            ..spec.clone()
        };
        let simulated = StreamSpec {
            simulate: true,
            ..spec.clone()
        };
        let plain = make(spec, source)?;
        Ok(Self {
            other_sv_id: make(&other_sv_id, source)?,
            unsynchronised: make(&unsynchronised, source)?,
            simulated: make(&simulated, source)?,
            second: make(spec, neighbour(source))?,
            far: far.map(|spec| make(spec, source)).transpose()?,
            octets,
            goose: foreign_goose(source)?,
            late: DelayLine::of(plain.bytes(), spec.frames_per_second()),
            spare: plain.bytes().to_vec(),
            plain,
            is_held: false,
            instants: 0,
            // Position after two addresses, the VLAN tag, the EtherType, and APPID to Reserved2.
            pdu_at: 12 + spec.vlan.map_or(0, |_| 4) + 2 + 8,
        })
    }

    /// Sets an ASDU of the next frame to sample number `sample` of the stream, taken from `script`.
    pub(super) fn set(&mut self, script: &Script, asdu: usize, sample: u64, smp_cnt: u16) {
        let number = sample.saturating_sub(script.base);
        let (near, of_far) = script.table.seq_data(number).split_at(self.octets);
        put(self.of_manner(script.manner), asdu, smp_cnt, near);
        if let Some(far) = &mut self.far {
            put(far, asdu, smp_cnt, of_far);
        }
        if let Some(samples) = &script.second {
            let octets = self.octets;
            let second = match script.manner {
                Manner::OtherSvId => &mut self.other_sv_id,
                _ => &mut self.second,
            };
            put(second, asdu, smp_cnt, &samples.seq_data(number)[..octets]);
        }
    }

    fn of_manner(&mut self, manner: Manner) -> &mut Template {
        match manner {
            Manner::Unsynchronised => &mut self.unsynchronised,
            Manner::Simulated => &mut self.simulated,
            Manner::Plain
            | Manner::OtherSvId
            | Manner::Late
            | Manner::StormOfSv
            | Manner::StormOfGoose
            | Manner::Corrupted
            | Manner::Lost
            | Manner::Duplicated
            | Manner::Reordered
            | Manner::SecondPublisher => &mut self.plain,
        }
    }

    /// Sends the frames that are due at one instant.
    ///
    /// # Errors
    /// An error after which a publisher cannot continue.
    pub(super) fn send(&mut self, manner: Manner, port: &mut Port) -> Result<Sent, ProbeError> {
        let mut sent = self.send_near(manner, port)?;
        if let Some(far) = &self.far {
            let refused = port.publish(far.bytes())?;
            sent.refused += refused;
            sent.frames += u16::from(refused == 0);
        }
        Ok(sent)
    }

    /// Number of streams.
    pub(super) fn streams(&self) -> u16 {
        1 + u16::from(self.far.is_some())
    }

    fn send_near(&mut self, manner: Manner, port: &mut Port) -> Result<Sent, ProbeError> {
        self.instants += 1;
        let mut sent = Sent::default();
        let mut send = |frame: &[u8]| -> Result<(), ProbeError> {
            let refused = port.publish(frame)?;
            sent.refused += refused;
            sent.frames += u16::from(refused == 0);
            Ok(())
        };
        if manner != Manner::Late {
            // Late frames go before the new ones, in the order of their delayed times.
            while let Some(frame) = self.late.pop() {
                send(frame)?;
            }
        }
        match manner {
            Manner::Lost if self.instants.is_multiple_of(LOST_OF) => {}
            Manner::Reordered if !self.is_held => {
                self.spare.copy_from_slice(self.plain.bytes());
                self.is_held = true;
                return Ok(sent);
            }
            Manner::Corrupted => {
                self.spare.copy_from_slice(self.plain.bytes());
                self.spare[self.pdu_at] = !self.spare[self.pdu_at];
                send(&self.spare)?;
            }
            Manner::Duplicated => {
                send(self.plain.bytes())?;
                send(self.plain.bytes())?;
            }
            Manner::SecondPublisher => {
                send(self.plain.bytes())?;
                send(self.second.bytes())?;
            }
            Manner::OtherSvId => {
                send(self.plain.bytes())?;
                send(self.other_sv_id.bytes())?;
            }
            Manner::Late => {
                if self.late.is_full()
                    && let Some(frame) = self.late.pop()
                {
                    send(frame)?;
                }
                self.late.push(self.plain.bytes());
            }
            Manner::StormOfSv | Manner::StormOfGoose => {
                send(self.plain.bytes())?;
                let foreign = match manner {
                    Manner::StormOfSv => self.other_sv_id.bytes(),
                    _ => &self.goose,
                };
                for _ in 0..STORM {
                    send(foreign)?;
                }
            }
            _ => send(self.of_manner(manner).bytes())?,
        }
        // The held frame is sent even if the manner has changed, so that no sample is lost.
        if std::mem::take(&mut self.is_held) {
            send(&self.spare)?;
        }
        Ok(sent)
    }
}

fn put(template: &mut Template, asdu: usize, smp_cnt: u16, data: &[u8]) {
    if let Some(mut place) = template.asdu_mut(asdu) {
        place.set_smp_cnt(smp_cnt);
        place.seq_data_mut().copy_from_slice(data);
    }
}

/// A message of a control block that no relay uses.
fn foreign_goose(source: Mac) -> Result<Vec<u8>, ProbeError> {
    let message = Message {
        dst: Mac([0x01, 0x0c, 0xcd, 0x01, 0x01, 0xff]),
        src: source,
        appid: 0x3fff,
        gocb_ref: b"STORMLD0/LLN0$GO$gcb".to_vec(),
        dat_set: b"STORMLD0/LLN0$ds".to_vec(),
        ..Message::default()
    };
    message
        .encode()
        .map_err(|error| ProbeError::Usage(format!("trip: {error}")))
}

/// A different svID of the same length.
fn another(sv_id: &str) -> String {
    let mut letters: Vec<char> = sv_id.chars().collect();
    match letters.last_mut() {
        Some(last) => *last = if *last == 'X' { 'Y' } else { 'X' },
        None => letters.push('X'),
    }
    letters.into_iter().collect()
}

/// A different address, for a second publisher.
pub(super) fn neighbour(Mac(mut octets): Mac) -> Mac {
    octets[5] ^= 1;
    Mac(octets)
}

#[cfg(test)]
mod tests {
    use super::{Frames, another};
    use streamset::StreamSpec;
    use wire::ether::{EthernetView, Mac, VlanTag};
    use wire::sv::Frame;

    #[test]
    fn another_sv_id_is_another_one() {
        for sv_id in ["MU01", "MUX", "", "Ü"] {
            let other = another(sv_id);
            assert_ne!(other, sv_id);
            assert!(other.chars().count() == sv_id.chars().count().max(1), "{other}");
        }
    }

    #[test]
    fn a_corrupted_frame_is_no_sampled_value() {
        for vlan in [None, Some(VlanTag::new(4, false, 100))] {
            let spec = StreamSpec {
                vlan,
                ..StreamSpec::named("MU01")
            };
            let frames = Frames::of(&spec, None, &[0; 64], Mac([2; 6])).expect("frames");
            let mut octets = frames.plain.bytes().to_vec();
            let parses = |octets: &[u8]| EthernetView::parse(octets).and_then(|view| Frame::parse(&view)).is_ok();
            assert!(parses(&octets) && octets[frames.pdu_at] == 0x60, "savPdu");
            octets[frames.pdu_at] = !octets[frames.pdu_at];
            assert!(!parses(&octets));
        }
    }
}
