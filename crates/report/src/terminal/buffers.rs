//! The buffer that a listener of an AVB stream needs.

use super::Paint;
use crate::Report;
use crate::pacing::Buffer;
use std::fmt::Write;

/// One line for each AVB stream, and one on the limits of the figure.
pub(crate) fn buffers(report: &Report, paint: &Paint) -> String {
    let of_streams = report.run.series.iter();
    let buffers: Vec<(&str, Buffer)> = of_streams
        .filter_map(|series| Some((series.spec.name.as_str(), Buffer::of(series)?)))
        .collect();
    if buffers.is_empty() {
        return String::new();
    }
    let mut out = format!("{}\n", paint.heading("Buffer that a listener needs"));
    for (name, buffer) in buffers {
        let _ = writeln!(out, "  {name}: {}", buffer.text());
    }
    out + "  It covers one late frame. It does not cover delays that add up over several frames, nor the way to the \
           listener.\n"
}

#[cfg(test)]
mod tests {
    use crate::Report;
    use testing::synthetic::{run, series};

    #[test]
    fn each_avb_stream_has_its_line_and_others_have_none() {
        let mut listener = series("listen/avtp-01", 1_000, 197_201, 1);
        listener.spec.interval_ns = Some(125_000.0);
        let report = Report::new(
            run(vec![listener, series("spacing/MU01", 1_000, 300_000, 1)]),
            Vec::new(),
        );
        let text = report.text(false, None);
        let part = text.split("Buffer that a listener needs\n").nth(1).expect("a part");
        assert!(
            part.starts_with("  listen/avtp-01: at least 72.2 µs, 1 frame of 125 µs (the longest gap is 197 µs)\n"),
            "{part}"
        );
        assert!(!part.contains("MU01"), "{part}");
    }
}
