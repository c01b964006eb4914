//! Doubts about hops during a trace. Each doubt is reported when it arises, on the series that it concerns.

use super::Reader;
use crate::error::ProbeError;
use crate::trace::quiet::News;
use ::trace::hops::{HopSeries, Point, StreamInfo};
use model::EventKind;
use units::{Monotonic, Ns, SignedNs};

impl Reader {
    /// Checks streams and interfaces; `now` is an instant at which the tracer was still known to run.
    pub(super) fn look_around(&mut self, now: Monotonic) -> Result<(), ProbeError> {
        self.tracer.find_streams()?;
        self.names.learn(self.tracer.streams());
        let until = self.sender.until(now);
        for stream in self.tracer.streams().to_vec() {
            if let Some(news) = self.quiet.look(stream.number, &stream.progress, until) {
                self.say_news(&stream, news);
            }
        }
        self.say_other_sources();
        for change in self.links.look() {
            self.say_link(&change.points, &change.text, change.is_doubt);
        }
        Ok(())
    }

    fn say_news(&self, stream: &StreamInfo, news: News) {
        let label = self.names.label(stream.number).unwrap_or("?");
        let first = &self.tracer.options().points[0].name;
        match news {
            News::Silent(ns) => {
                let text = format!("{label}: nothing has come to {first} for {}", SignedNs(ns));
                self.doubt(stream, None, &text);
            }
            News::WasSilent(ns) => {
                let most = Ns(ns);
                let text = format!("{label}: nothing came to {first} for up to {most}");
                self.doubt(stream, None, &text);
            }
            News::Again => {
                let most = Ns(stream.progress.longest_silence_ns);
                let text = format!("{label} arrives at {first} again; its longest silence was {most}");
                self.events.write(EventKind::Note, text);
            }
        }
    }

    /// Reports streams whose smpCnt went back more often since the last check than in one sequence.
    pub(super) fn say_two_sequences(&mut self) {
        for stream in self.tracer.streams().to_vec() {
            let Some((times, elapsed_ns)) = self.quiet.is_two(stream.number, &stream.progress) else {
                continue;
            };
            let label = self.names.label(stream.number).unwrap_or("?");
            let text = format!(
                "{label}: smpCnt went back {times} times in {}: two sequences under one identity, so it is not known \
                 which publisher sent a frame",
                SignedNs(elapsed_ns)
            );
            self.doubt(&stream, None, &text);
        }
    }

    /// Reports streams that differ only in their source address. Each pair is reported once, when the later stream appears.
    fn say_other_sources(&mut self) {
        let streams: Vec<StreamInfo> = self.tracer.streams()[..self.names.labels().len()].to_vec();
        for (number, stream) in streams.iter().enumerate().skip(self.compared) {
            for other in streams[..number].iter().filter(|other| is_other_source(stream, other)) {
                let [one, two] = [other, stream].map(|stream| wire::ether::Mac(stream.source).to_string());
                let label = self.names.label(other.number).unwrap_or("?");
                let text = format!("{label}: two publishers under one identity, {one} and {two}");
                self.doubt(stream, None, &text);
                self.doubt(other, None, &text);
            }
        }
        self.compared = streams.len();
    }

    fn say_link(&self, points: &[usize], text: &str, is_doubt: bool) {
        let names: Vec<&str> = points
            .iter()
            .map(|point| self.tracer.options().points[*point].name.as_str())
            .collect();
        let text = format!("{text} (at {})", names.join(" and "));
        let mut is_told = false;
        if is_doubt {
            for stream in self.tracer.streams() {
                for point in points {
                    is_told |= self.doubt(stream, Some(*point), &text);
                }
            }
        }
        if !is_told {
            self.events.write(EventKind::Note, text);
        }
    }

    /// Adds a doubt to the stream's hops that pass this point, or to all of them; returns true if there are any.
    pub(super) fn doubt(&self, stream: &StreamInfo, at: Option<usize>, text: &str) -> bool {
        let points = &self.tracer.options().points;
        let mut is_told = false;
        for hop in hops(points).filter(|hop| stream.has_reached(hop.0)) {
            let (point, total) = hop;
            let series = HopSeries {
                stream: stream.number,
                point,
                total,
            };
            if at.is_none_or(|at| is_on_its_way(points, hop, at))
                && let Some(spec) = self.names.spec(series)
            {
                self.counted.write(spec, EventKind::HopGap, text);
                is_told = true;
            }
        }
        is_told
    }
}

fn is_other_source(one: &StreamInfo, other: &StreamInfo) -> bool {
    let identity = |stream: &StreamInfo| (stream.destination, stream.vlan, stream.appid, stream.sv_id.clone());
    one.source != other.source && !one.sv_id.is_empty() && identity(one) == identity(other)
}

/// Hops of a stream: the point at which each ends, and true if it begins at the first point.
fn hops(points: &[Point]) -> impl Iterator<Item = (usize, bool)> + '_ {
    points.iter().enumerate().skip(1).flat_map(|(number, point)| {
        let total = (point.parent > 0).then_some((number, true));
        std::iter::once((number, false)).chain(total)
    })
}

/// True if the frames of the hop pass this point.
fn is_on_its_way(points: &[Point], (end, total): (usize, bool), at: usize) -> bool {
    if !total {
        return at == end || at == points[end].parent;
    }
    let before = |at: &usize| Some(points[*at].parent).filter(|parent| *parent < *at);
    std::iter::successors(Some(end), before).any(|point| point == at)
}

#[cfg(test)]
mod tests {
    use super::{hops, is_on_its_way};
    use ::trace::hops::Point;

    #[test]
    fn a_point_concerns_the_hops_that_end_begin_or_pass_there() {
        // nic -> port -> edge -> app, and nic -> other.
        let points = [0, 0, 1, 2, 0].map(|parent| Point {
            name: String::new(),
            hooks: Vec::new(),
            parent,
        });
        let at = |at| -> Vec<(usize, bool)> { hops(&points).filter(|hop| is_on_its_way(&points, *hop, at)).collect() };
        let all = [(1, false), (2, false), (2, true), (3, false), (3, true), (4, false)];
        assert_eq!(hops(&points).collect::<Vec<_>>(), all);
        assert_eq!(at(0), [(1, false), (2, true), (3, true), (4, false)]);
        assert_eq!(at(1), [(1, false), (2, false), (2, true), (3, true)]);
        assert_eq!(at(3), [(3, false), (3, true)]);
        assert_eq!(at(4), [(4, false)]);
    }
}
