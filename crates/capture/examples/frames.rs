//! Lists the frames of a capture: `cargo run --example frames -- FILE.pcap`.

#![allow(clippy::print_stdout, reason = "the output of an example")]

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("which capture?")?;
    let mut reader = capture::Reader::open(path.as_ref())?;
    while let Some(frame) = reader.next_frame()? {
        let time = frame.time_ns.map_or("no stamp".to_owned(), |ns| format!("{ns} ns"));
        println!("frame {}: {time}, {} bytes", frame.number, frame.original_len);
    }
    Ok(())
}
