//! The watch as a whole: every frame goes to the ring, to the supervision of its stream, and to the relays.

use crate::alarm::AlarmKind;
use crate::block::{BlockWatch, WatchedBlock};
use crate::desk::{Desk, WATCH};
use crate::found::Found;
use crate::gaps::Gaps;
use crate::open::Open;
use crate::parts::{Parts, all_blocks};
use crate::relay::{Deaf, RelayWatch, WatchedRelay};
use crate::ring::Ring;
use crate::specs::{of_block, of_stream, of_wakeup};
use crate::stream::{StreamWatch, WatchedStream};
use crate::watched::Watched;
use model::{EventKind, SeriesId, SeriesSpec, Spike, Window};
use observation::Rule;
use units::Ns;
use wire::ether::{self, EthernetView, VlanTag};
use wire::goose;
use wire::routed::Datagram;
use wire::sv;

/// Label of the series of the wake-ups on a spare CPU.
pub const WAKEUP: &str = "spare";

/// A wake-up later than this is an alarm only if a limit says so.
const NO_LIMIT: u64 = u64::MAX;

/// The relays and streams of a watch, and its settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The relays.
    pub relays: Vec<WatchedRelay>,
    /// The streams of sampled values.
    pub streams: Vec<WatchedStream>,
    /// The control blocks, in addition to those of the relays.
    pub blocks: Vec<WatchedBlock>,
    /// How long a stream may take to come for the first time, in ns.
    pub never_ns: u64,
    /// Octets of memory for frames.
    pub ring_octets: usize,
    /// Frames of the ring are no older than this, in ns.
    pub ring_ns: u64,
    /// Alarms of one kind and subject that are told in an hour.
    pub alarms_an_hour: u32,
    /// Time from one wake-up on the spare CPU to the next, in ns; `None` measures none.
    pub wakeup_ns: Option<u64>,
    /// Latest wake-up that is in time, in ns.
    pub wakeup_within_ns: Option<u64>,
}

/// A frame as it came.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// Its octets.
    pub data: &'a [u8],
    /// The outer VLAN tag that the kernel took out of it.
    pub vlan: Option<VlanTag>,
    /// Its stamp on a clock that is never stepped, in ns.
    pub at_ns: i64,
    /// Its stamp on the wall clock, in ns since 1970 UTC.
    pub wall_ns: i64,
}

/// A watch over relays in service.
#[derive(Debug)]
pub struct Sentinel {
    relays: Vec<RelayWatch>,
    streams: Vec<StreamWatch>,
    blocks: Vec<BlockWatch>,
    wakeup: Option<usize>,
    wakeup_within_ns: u64,
    desk: Desk,
    own: Gaps,
    checked_ns: i64,
    is_deaf: bool,
    is_down: bool,
    down_ns: i64,
    malformed: u64,
    untold: u64,
    opened_ns: i64,
}

impl Sentinel {
    /// Begins to watch at `now_ns`.
    pub fn new(config: &Config, now_ns: i64) -> Self {
        let never_ns = i64::try_from(config.never_ns).unwrap_or(i64::MAX / 4);
        let mut parts = Parts::default();
        let relays = config.relays.iter().map(|relay| parts.relay(relay)).collect();
        let streams = config.streams.iter().map(|stream| {
            let numbers = parts.add(&stream.sv_id, of_stream(stream));
            StreamWatch::new(stream.clone(), numbers, now_ns, never_ns)
        });
        let streams = streams.collect();
        let blocks = all_blocks(config).into_iter().map(|block| {
            let numbers = parts.add(&block.gocb_ref, of_block(&block));
            BlockWatch::new(block, numbers, now_ns, never_ns)
        });
        let blocks = blocks.collect();
        let wakeup = config.wakeup_ns.map(|ns| parts.add(WAKEUP, of_wakeup(ns))[1]);
        let longest_ns = i64::try_from(config.ring_ns).unwrap_or(i64::MAX / 4);
        Self {
            relays,
            streams,
            blocks,
            wakeup,
            wakeup_within_ns: config.wakeup_within_ns.unwrap_or(NO_LIMIT),
            desk: Desk::new(
                Ring::new(config.ring_octets, longest_ns),
                config.alarms_an_hour,
                parts.series.into_iter().map(Open::new).collect(),
                parts.subjects,
            ),
            own: Gaps::default(),
            checked_ns: now_ns,
            is_deaf: false,
            is_down: false,
            down_ns: now_ns,
            malformed: 0,
            untold: 0,
            opened_ns: now_ns,
        }
    }

    /// The series, in the order of their numbers.
    pub fn series(&self) -> impl Iterator<Item = &SeriesSpec> {
        self.desk.series.iter().map(|open| &open.spec)
    }

    /// Takes a frame; frames come in the order of their stamps.
    pub fn take(&mut self, frame: &Frame<'_>) {
        self.desk.ring.push(frame.data, frame.vlan, frame.at_ns, frame.wall_ns);
        let Ok(ethernet) = EthernetView::with_tag(frame.data, frame.vlan) else {
            self.malformed += 1;
            return;
        };
        match Datagram::within(&ethernet) {
            Some(Ok(datagram)) => {
                for message in datagram.messages() {
                    match message {
                        Ok(view) => self.one(&view, frame.at_ns),
                        Err(_) => self.malformed += 1,
                    }
                }
            }
            Some(Err(_)) => self.malformed += 1,
            None => self.one(&ethernet, frame.at_ns),
        }
        for relay in &mut self.relays {
            relay.observer.take(frame.data, frame.vlan, frame.at_ns);
            relay.gather(frame.at_ns);
        }
    }

    fn one(&mut self, ethernet: &EthernetView<'_>, at_ns: i64) {
        match ethernet.ether_type() {
            ether::SV => match sv::Frame::parse(ethernet) {
                Ok(frame) => self.samples(&frame, at_ns),
                Err(_) => self.malformed += 1,
            },
            ether::GOOSE => match goose::Frame::parse(ethernet) {
                Ok(frame) => {
                    let desk = &mut self.desk;
                    self.blocks.iter_mut().for_each(|block| block.take(&frame, at_ns, desk));
                }
                Err(_) => self.malformed += 1,
            },
            _ => {}
        }
    }

    fn samples(&mut self, frame: &sv::Frame<'_>, at_ns: i64) {
        for stream in &mut self.streams {
            if !stream.take(frame, at_ns, &mut self.desk) {
                continue;
            }
            let sv_id = &stream.config.sv_id;
            for relay in self.relays.iter_mut().filter(|relay| uses(&relay.config, sv_id)) {
                relay.begin_again(at_ns);
            }
        }
    }

    /// Of all frames that came before `now_ns` the watch lost so many. To be called before each [`Self::look`].
    pub fn checked(&mut self, now_ns: i64, dropped: u64) {
        self.is_deaf = dropped > 0;
        if self.is_deaf {
            let since_ns = self.checked_ns;
            self.excuse([since_ns, now_ns]);
            let lasted = Ns(now_ns.saturating_sub(since_ns).unsigned_abs());
            let text = format!("the watch itself lost {dropped} frames in the last {lasted}: it was held up");
            // A doubt of the stream's kind: a relay's failure that is certain stays one (docs/doubts.md).
            self.desk
                .span([since_ns, now_ns], EventKind::StreamDoubt, None, text.clone());
            self.desk.alarm(AlarmKind::Own, WATCH, [since_ns, now_ns], text);
        }
        self.checked_ns = self.checked_ns.max(now_ns);
    }

    /// The watch itself heard not all in this span.
    fn excuse(&mut self, [since_ns, now_ns]: [i64; 2]) {
        self.own.add(since_ns, now_ns);
        self.streams.iter_mut().for_each(|stream| stream.excuse(now_ns));
        self.blocks.iter_mut().for_each(|block| block.excuse(now_ns));
    }

    /// The wall clock jumped within this span: it was set, or the machine slept and heard nothing.
    pub fn jumped(&mut self, span: [i64; 2], text: &str) {
        self.excuse(span);
        self.own(span, EventKind::StreamDoubt, text);
    }

    /// The link went down, or is up again.
    pub fn link(&mut self, is_down: bool, now_ns: i64) {
        if is_down == self.is_down {
            return;
        }
        self.is_down = is_down;
        if is_down {
            self.down_ns = now_ns;
            let text = "the link is down: nothing is heard".to_owned();
            self.desk.event(now_ns, EventKind::StreamDoubt, None, text.clone());
            self.desk.alarm(AlarmKind::Silent, WATCH, [now_ns, now_ns], text);
            return;
        }
        self.own.add(self.down_ns, now_ns);
        let lasted = Ns(now_ns.saturating_sub(self.down_ns).unsigned_abs());
        let text = format!("the link is up again, after {lasted}");
        self.desk
            .span([self.down_ns, now_ns], EventKind::StreamDoubt, None, text);
    }

    /// Looks for silence, and judges: every frame that came before `now_ns` was taken, and [`Self::checked`] knows of all that were lost.
    pub fn look(&mut self, now_ns: i64) {
        let desk = &mut self.desk;
        self.streams.iter_mut().for_each(|stream| stream.look(now_ns, desk));
        self.blocks.iter_mut().for_each(|block| block.look(now_ns, desk));
        if self.is_down {
            self.own.add(self.down_ns, now_ns);
        }
        for relay in &mut self.relays {
            relay.observer.look(now_ns);
            relay.gather(now_ns);
            let (own, others, is_live) = heard(&relay.config, &self.own, &self.streams, &self.blocks);
            let deaf = Deaf { own, others };
            relay.judge(now_ns, &deaf, desk);
            relay.stopwatch.pass(now_ns, is_live && !self.is_down && !self.is_deaf);
        }
        self.unread(now_ns);
        self.desk.tell_counted(now_ns, false);
        self.desk.write_counted(now_ns, false);
    }

    /// A run file ends: all events of its time are written down, also those of a flood.
    pub fn settle(&mut self, now_ns: i64) {
        self.desk.write_counted(now_ns, true);
    }

    /// Ends the watch: judges what is under way as far as it was heard, and tells what was only counted.
    pub fn end(&mut self) {
        // All frames are known up to the last check.
        let now_ns = self.checked_ns;
        self.look(now_ns);
        for relay in &mut self.relays {
            relay.end(now_ns);
            let (own, others, _) = heard(&relay.config, &self.own, &self.streams, &self.blocks);
            relay.judge(now_ns, &Deaf { own, others }, &mut self.desk);
        }
        self.desk.tell_counted(now_ns, true);
    }

    fn unread(&mut self, now_ns: i64) {
        let malformed = std::mem::take(&mut self.malformed);
        if malformed > 0 {
            let text = format!("{malformed} frames could not be read");
            self.desk
                .span([self.checked_ns, now_ns], EventKind::StreamDoubt, None, text.clone());
            self.desk.alarm(AlarmKind::Changed, WATCH, [now_ns, now_ns], text);
        }
    }

    /// When to look although no frame came, in ns.
    pub fn deadline_ns(&self) -> Option<i64> {
        let blocks = self.blocks.iter().filter_map(BlockWatch::deadline_ns);
        let relays = self.relays.iter().filter_map(|relay| relay.observer.deadline_ns());
        blocks.chain(relays).map(|ns| ns + 1).min()
    }

    /// A wake-up on the spare CPU was late by this.
    pub fn woke(&mut self, late_ns: i64, at_ns: i64) {
        let Some(series) = self.wakeup else { return };
        self.desk.sample(series, late_ns, at_ns);
        if u64::try_from(late_ns).is_ok_and(|late| late > self.wakeup_within_ns) {
            let text = format!("a timer on the spare CPU came {} late", Ns(late_ns.unsigned_abs()));
            let subject = self.desk.subjects.len() - 1;
            self.desk.alarm(AlarmKind::Late, subject, [at_ns, at_ns], text);
        }
    }

    /// So many wake-ups were skipped, because the thread was held up.
    pub fn missed_wakeups(&mut self, n: u64) {
        if let Some(series) = self.wakeup {
            self.desk.count(series, model::Counter::Missed, n);
        }
    }

    /// The thread of the wake-ups ended: from now on there are none, and that is no pass.
    pub fn woken_no_more(&mut self, at_ns: i64) {
        let text = "wake-ups are not measured any more: their thread ended by a defect".to_owned();
        self.desk.span(
            [self.opened_ns, at_ns],
            EventKind::Incomplete,
            self.wakeup,
            text.clone(),
        );
        self.desk.alarm(AlarmKind::Own, WATCH, [at_ns, at_ns], text);
    }

    /// Tells something of the watch itself: a full disk, a gap.
    pub fn own(&mut self, [at_ns, found_ns]: [i64; 2], kind: EventKind, text: &str) {
        self.desk.span([at_ns, found_ns], kind, None, text.to_owned());
        self.desk
            .alarm(AlarmKind::Own, WATCH, [at_ns, found_ns], text.to_owned());
    }

    /// The next finding, if there is one.
    pub fn next_found(&mut self) -> Option<Found> {
        let found = self.desk.findings.take();
        if found.is_none() {
            let untold = self.desk.findings.take_untold();
            self.untold += untold;
            if untold > 0 {
                return Some(Found::Event {
                    at_ns: self.checked_ns,
                    since_ns: None,
                    kind: EventKind::RecorderOverrun,
                    series: None,
                    text: format!("{untold} findings had no room, and were not told"),
                });
            }
        }
        found
    }

    /// Findings for which there was no room, since the watch began.
    pub fn untold(&self) -> u64 {
        self.untold
    }

    /// Closes the open windows at `now_ns`, as of a run that began at `begin_ns`: returns them and their worst samples. New ones begin, unless these are the
    /// last of the run.
    pub fn close_windows(&mut self, begin_ns: i64, now_ns: i64, is_last: bool) -> (Vec<Window>, Vec<Spike>) {
        let (mut windows, mut spikes) = (Vec::new(), Vec::new());
        for (number, open) in self.desk.series.iter_mut().enumerate() {
            let id = SeriesId(u32::try_from(number).unwrap_or(u32::MAX));
            if let Some((window, worst)) = open.close(id, [begin_ns, now_ns], is_last) {
                windows.push(window);
                spikes.extend(worst);
            }
        }
        self.opened_ns = now_ns;
        (windows, spikes)
    }

    /// Each relay, and the time for which it was watched.
    pub fn watched(&self) -> impl Iterator<Item = (&str, Watched)> {
        self.relays.iter().map(RelayWatch::watched)
    }

    /// Alarms so far, told or not: kind, subject, how many.
    pub fn alarms(&self) -> impl Iterator<Item = (AlarmKind, &str, u64)> {
        let counts = self.desk.flood.counts();
        counts.map(|((kind, subject), n)| (kind, self.desk.subjects[subject].as_str(), n))
    }

    /// The last frames.
    pub fn frames(&self) -> &Ring {
        &self.desk.ring
    }
}

fn uses(relay: &WatchedRelay, sv_id: &str) -> bool {
    relay.observed.rule.is_of_samples() && relay.observed.sv_id == sv_id
}

/// The gaps that matter for a relay, and whether all that it needs is heard now.
fn heard<'a>(
    relay: &WatchedRelay,
    own: &'a Gaps,
    streams: &'a [StreamWatch],
    blocks: &'a [BlockWatch],
) -> (&'a Gaps, Vec<&'a Gaps>, bool) {
    let mut others = Vec::new();
    let mut is_live = true;
    for stream in streams.iter().filter(|stream| uses(relay, &stream.config.sv_id)) {
        others.push(&stream.gaps);
        is_live &= stream.is_live();
    }
    let contact = match &relay.observed.rule {
        Rule::Contact { gocb_ref, .. } => Some(gocb_ref),
        _ => None,
    };
    let is_its = |name: &String| *name == relay.observed.gocb_ref || Some(name) == contact;
    for block in blocks.iter().filter(|block| is_its(&block.config.gocb_ref)) {
        others.push(&block.gaps);
        is_live &= block.is_live();
    }
    (own, others, is_live)
}
