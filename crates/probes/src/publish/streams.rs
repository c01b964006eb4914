//! The frames: encoded once, patched in place.

use super::PublishConfig;
use super::waveform::{MEMBERS, Waveform};
use crate::error::ProbeError;
use sys::packet::TxBatch;
use wire::ether::Mac;
use wire::header::EncodeError;
use wire::quality::SvQuality;
use wire::sv::{Message, OwnedAsdu, Template};

/// Every stream's frame, and the batch they are sent in.
pub(super) struct Streams {
    templates: Vec<Template>,
    waveform: Waveform,
    batch: TxBatch,
    rate: u32,
    asdus: u8,
}

impl Streams {
    pub(super) fn new(config: &PublishConfig, source: Mac) -> Result<Self, ProbeError> {
        let templates: Vec<Template> = (0..config.streams)
            .map(|stream| template(config, source, stream))
            .collect::<Result<_, _>>()
            .map_err(|error| ProbeError::Usage(format!("publish: {error}")))?;
        let longest = templates
            .iter()
            .map(|template| template.bytes().len())
            .max()
            .unwrap_or(0);
        let mut batch = TxBatch::new(templates.len(), longest);
        for (index, template) in templates.iter().enumerate() {
            batch.set_len(index, template.bytes().len());
        }
        let mut streams = Self {
            templates,
            waveform: Waveform::new(config.rate),
            batch,
            rate: config.rate,
            asdus: config.asdus,
        };
        streams.patch(0);
        Ok(streams)
    }

    /// Makes frame number `frame`, counted from the first second, of every stream.
    pub(super) fn patch(&mut self, frame: u64) {
        for (index, template) in self.templates.iter_mut().enumerate() {
            for asdu in 0..u64::from(self.asdus) {
                let sample = (frame * u64::from(self.asdus) + asdu) % u64::from(self.rate);
                let smp_cnt = u16::try_from(sample).unwrap_or(0);
                if let Some(mut place) = template.asdu_mut(usize::try_from(asdu).unwrap_or(0)) {
                    place.set_smp_cnt(smp_cnt);
                    place.seq_data_mut().copy_from_slice(self.waveform.sample(smp_cnt));
                }
            }
            self.batch.frame_mut(index)[..template.bytes().len()].copy_from_slice(template.bytes());
        }
        self.batch.set_count(self.templates.len());
    }

    /// The frames as they were patched last.
    pub(super) fn batch(&mut self) -> &mut TxBatch {
        &mut self.batch
    }
}

fn template(config: &PublishConfig, source: Mac, stream: u16) -> Result<Template, EncodeError> {
    let sv_id = format!("{}{:02}", config.sv_id_prefix, stream + 1);
    let asdu = OwnedAsdu::new(
        &sv_id,
        config.conf_rev,
        config.smp_synch,
        &[(0, SvQuality::GOOD); MEMBERS],
    );
    Template::new(&Message {
        dst: destination(config.destination, stream),
        src: source,
        tags: config.vlan.into_iter().collect(),
        appid: config.appid,
        simulate: config.simulate,
        asdus: vec![asdu; usize::from(config.asdus)],
    })
}

/// The first stream's address plus `stream`, in the last two octets.
fn destination(first: Mac, stream: u16) -> Mac {
    let mut octets = first.0;
    let last = u16::from_be_bytes([octets[4], octets[5]]).wrapping_add(stream);
    octets[4..].copy_from_slice(&last.to_be_bytes());
    Mac(octets)
}

#[cfg(test)]
mod tests {
    use super::destination;
    use wire::ether::Mac;

    #[test]
    fn destinations_count_up() {
        let first = Mac([1, 0x0c, 0xcd, 4, 0, 0xff]);
        assert_eq!(destination(first, 0), first);
        assert_eq!(destination(first, 1), Mac([1, 0x0c, 0xcd, 4, 1, 0]));
    }
}
