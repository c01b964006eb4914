//! Prints svID and smpCnt of each sampled value in a capture: `cargo run --example samples -- FILE.pcap`.

#![allow(clippy::print_stdout, reason = "the output of an example")]

use wire::ether::EthernetView;
use wire::sv::Frame;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("which capture?")?;
    let mut reader = capture::Reader::open(path.as_ref())?;
    while let Some(captured) = reader.next_frame()? {
        let Ok(ethernet) = EthernetView::parse(captured.data) else {
            continue;
        };
        let Ok(frame) = Frame::parse(&ethernet) else { continue };
        for asdu in frame.asdus() {
            println!("{}: smpCnt {}", String::from_utf8_lossy(asdu.sv_id()), asdu.smp_cnt());
        }
    }
    Ok(())
}
