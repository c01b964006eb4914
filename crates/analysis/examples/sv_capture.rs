//! Writes a capture of sampled values for measuring: F4800S1I4U4 streams (1 ASDU, 4 currents, 4 voltages), 4800 frames/s
//! each, one after the other, without losses; each due instant is jittered by up to 8 us.
//!
//!     cargo run --release -p triptime-analysis --example sv_capture -- FILE [FRAMES] [STREAMS]

use capture::write::PcapWriter;
use std::fs::File;
use std::io::{self, BufWriter};
use wire::ether::{Mac, VlanTag};
use wire::quality::SvQuality;
use wire::sv::{Message, OwnedAsdu, Template};

const RATE: u64 = 4_800;
const START_NS: i64 = 1_790_000_000_000_000_000;

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let usage = || io::Error::new(io::ErrorKind::InvalidInput, "usage: sv_capture FILE [FRAMES] [STREAMS]");
    let file = arguments.next().ok_or_else(usage)?;
    let mut number = |default: u64| match arguments.next() {
        Some(text) => text.parse().map_err(|_| usage()),
        None => Ok(default),
    };
    let (frames, streams) = (number(1_000_000)?, number(20)?.max(1));
    let mut templates: Vec<Template> = (0..streams).map(template).collect::<io::Result<_>>()?;
    let mut writer = PcapWriter::new(BufWriter::with_capacity(1 << 20, File::create(file)?))?;
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for frame in 0..frames {
        let (sample, stream) = (frame / streams, frame % streams);
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let jitter_ns = random % 8_000 / streams + stream * 8_000 / streams;
        let due_ns = (sample * 1_000_000_000 / RATE + jitter_ns) as i64;
        let template = &mut templates[stream as usize];
        if let Some(mut asdu) = template.asdu_mut(0) {
            asdu.set_smp_cnt((sample % RATE) as u16);
            asdu.set_member(0, (random >> 40) as i32, SvQuality(0));
        }
        writer.write(START_NS + due_ns, template.bytes())?;
    }
    writer.finish()?;
    Ok(())
}

fn template(stream: u64) -> io::Result<Template> {
    let low = stream as u8;
    Template::new(&Message {
        dst: Mac([1, 0x0c, 0xcd, 4, (stream >> 8) as u8 & 1, low]),
        src: Mac([2, 0, 0, 0, (stream >> 8) as u8, low]),
        tags: vec![VlanTag::new(4, false, 1)],
        appid: 0x4000 + (stream as u16 & 0x3fff),
        simulate: false,
        asdus: vec![OwnedAsdu::new(
            &format!("MU{:02}", stream + 1),
            1,
            2,
            &[(0, SvQuality(0)); 8],
        )],
    })
    .map_err(io::Error::other)
}
