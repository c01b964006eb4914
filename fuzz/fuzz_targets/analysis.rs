//! The streams of captures.
#![no_main]

use analysis::{Analysis, Config, Sink, Window};
use libfuzzer_sys::fuzz_target;

/// Adds up the counts of the windows.
#[derive(Default)]
struct Sums {
    received: u64,
    lost: u64,
}

impl Sink for Sums {
    fn window(&mut self, window: &Window<'_>) {
        assert!(window.start_ns <= window.end_ns);
        self.received += window.tally.counters.received;
        self.lost += window.tally.counters.lost;
    }
}

fuzz_target!(|octets: &[u8]| {
    let Ok(mut reader) = capture::Reader::new(octets) else {
        return;
    };
    let config = Config {
        max_streams: 4,
        rate: None,
        window_ns: Some(1_000_000),
        port_mbit: None,
    };
    let mut sums = Sums::default();
    let mut analysis = Analysis::new(config, &mut sums);
    while let Ok(Some(frame)) = reader.next_frame() {
        analysis.frame(&frame);
    }
    let summary = analysis.finish();
    assert!(summary.streams.len() <= 4);
    assert_eq!(
        sums.received,
        summary
            .streams
            .iter()
            .map(|stream| stream.tally.counters.received)
            .sum::<u64>()
    );
    assert_eq!(
        sums.lost,
        summary
            .streams
            .iter()
            .map(|stream| stream.tally.counters.lost)
            .sum::<u64>()
    );
});
