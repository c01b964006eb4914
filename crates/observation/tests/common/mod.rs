//! An injector and a relay of these tests, as the frames of both with their stamps.
#![allow(dead_code, reason = "each test program uses a part of it")]

use observation::{Act, Config, Observer, Seen, Shot};
use wire::ether::Mac;
use wire::goose::{self, Value};
use wire::quality::SvQuality;
use wire::sv::{Message, OwnedAsdu};

pub(crate) const MS: i64 = 1_000_000;
pub(crate) const START_NS: i64 = 1_790_000_000_000_000_000;
pub(crate) const RELAY: &str = "IED1LD0/LLN0$GO$gcbTrip";
pub(crate) const CONTACT: &str = "INJLD0/LLN0$GO$gcbStart";

/// A fault in the samples: from one sample to another, currents this many times larger, and turned by so many degrees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    pub(crate) from: u64,
    pub(crate) until: u64,
    pub(crate) times: f64,
    pub(crate) turned_deg: f64,
}

/// An injector's stream.
#[derive(Clone, Debug)]
pub(crate) struct Injector {
    pub(crate) rate: u64,
    pub(crate) asdus: u64,
    pub(crate) samples: u64,
    pub(crate) frequency_hz: f64,
    pub(crate) phase_deg: f64,
    /// RMS of the load, in A.
    pub(crate) load_a: f64,
    /// Noise of each value: up to so many counts.
    pub(crate) noise: i64,
    /// How late each frame comes: up to so many ns.
    pub(crate) jitter_ns: u64,
    pub(crate) faults: Vec<Fault>,
    /// Frames that never come, by their first sample.
    pub(crate) lost: Vec<u64>,
    /// Clock of the injector compared with that of the stamps, in millionths.
    pub(crate) drift_ppm: f64,
    /// smpCnt of the first sample.
    pub(crate) first_count: u64,
}

impl Default for Injector {
    fn default() -> Self {
        Self {
            rate: 4_800,
            asdus: 1,
            samples: 4_800 * 3,
            frequency_hz: 50.0,
            phase_deg: 0.0,
            load_a: 300.0,
            noise: 0,
            jitter_ns: 20_000,
            faults: Vec::new(),
            lost: Vec::new(),
            drift_ppm: 0.0,
            first_count: 0,
        }
    }
}

/// A number that looks random, always the same for the same place.
pub(crate) fn scatter(place: u64, salt: u64) -> u64 {
    let mut x = place.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt.wrapping_mul(0xd1b5_4a32_d192_ed03);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Injector {
    /// When a sample is taken: the truth.
    pub(crate) fn taken_ns(&self, sample: u64) -> i64 {
        let ns = sample as f64 * 1e9 / self.rate as f64 * (1.0 + self.drift_ppm / 1e6);
        START_NS + ns as i64
    }

    fn values(&self, sample: u64) -> Vec<(i32, SvQuality)> {
        let fault = self
            .faults
            .iter()
            .find(|fault| (fault.from..fault.until).contains(&sample));
        let (times, turned) = fault.map_or((1.0, 0.0), |fault| (fault.times, fault.turned_deg));
        let is_on = fault.is_some();
        let turn = 360.0 * self.frequency_hz * sample as f64 / self.rate as f64 + self.phase_deg;
        let value = |number: u64| {
            let (peak, shift) = match number {
                0..=2 => (self.load_a * 1_000.0 * times, turned - 120.0 * number as f64),
                4..=6 => (63_500.0 * 100.0 / times.max(1.0), -120.0 * (number - 4) as f64),
                _ => (0.0, 0.0),
            };
            let sine = (turn + shift).to_radians().sin() * peak * std::f64::consts::SQRT_2;
            let span = 2 * self.noise + 1;
            let noise = (scatter(sample, number) % span as u64) as i64 - self.noise;
            ((sine as i64 + noise) as i32, SvQuality(0))
        };
        let mut all: Vec<_> = (0..8).map(value).collect();
        // A digital of the injector: the value of a ninth member.
        all.push((i32::from(is_on) << 3, SvQuality(u32::from(is_on) << 12)));
        all
    }

    fn frame(&self, sample: u64) -> Vec<u8> {
        let asdus = (sample..sample + self.asdus).map(|sample| {
            let mut asdu = OwnedAsdu::new("INJ01", 1, 2, &self.values(sample));
            asdu.smp_cnt = ((self.first_count + sample) % self.rate) as u16;
            asdu
        });
        let message = Message {
            dst: Mac([1, 0x0c, 0xcd, 4, 0, 1]),
            src: Mac([2, 0, 0, 0, 0, 9]),
            tags: Vec::new(),
            appid: 0x4000,
            simulate: false,
            asdus: asdus.collect(),
        };
        message.encode().expect("a frame")
    }

    /// Its frames that come, with their stamps: each is sent when its last sample is taken.
    pub(crate) fn frames(&self) -> Vec<(i64, Vec<u8>)> {
        let firsts = (0..self.samples).step_by(self.asdus as usize);
        let come = firsts.filter(|first| !self.lost.contains(first));
        come.map(|first| {
            let late_ns = scatter(first, 77) % (self.jitter_ns + 1);
            (
                self.taken_ns(first + self.asdus - 1) + late_ns as i64,
                self.frame(first),
            )
        })
        .collect()
    }
}

/// A publisher of GOOSE: a boolean that changes at these instants, each change with its value.
pub(crate) fn publisher(gocb_ref: &str, changes: &[(i64, bool)], until_ns: i64) -> Vec<(i64, Vec<u8>)> {
    let mut frames = Vec::new();
    let mut states = vec![(START_NS - 50 * MS, false)];
    states.extend_from_slice(changes);
    for (number, (from, value)) in states.iter().enumerate() {
        let to = states.get(number + 1).map_or(until_ns, |(at, _)| *at);
        let (mut at, mut sq_num, mut pause) = (*from, 0, 4 * MS);
        while at < to {
            frames.push((at, message(gocb_ref, [number as u32 + 1, sq_num], *value)));
            sq_num += 1;
            at += pause;
            pause = (pause * 2).min(200 * MS);
        }
    }
    frames
}

pub(crate) fn message(gocb_ref: &str, [st_num, sq_num]: [u32; 2], value: bool) -> Vec<u8> {
    let message = goose::Message {
        dst: Mac([1, 0x0c, 0xcd, 1, 0, 1]),
        src: Mac([2, 0, 0, 0, 0, 7]),
        gocb_ref: gocb_ref.as_bytes().to_vec(),
        time_allowed_to_live: 500,
        dat_set: b"d".to_vec(),
        st_num,
        sq_num,
        all_data: vec![Value::Boolean(value)],
        ..goose::Message::default()
    };
    message.encode().expect("a message")
}

pub(crate) fn config(rule: &str) -> Config {
    Config {
        rule: rule.parse().expect("a rule"),
        sv_id: "INJ01".into(),
        rate: None,
        frequency_hz: 50.0,
        gocb_ref: RELAY.into(),
        trip: "0".parse().expect("a member"),
        start: None,
        deadline_ns: 500_000_000,
    }
}

/// Everything that an observation finds in these frames.
pub(crate) fn observed(config: &Config, parts: &[&[(i64, Vec<u8>)]]) -> Vec<Seen> {
    let mut frames: Vec<&(i64, Vec<u8>)> = parts.iter().copied().flatten().collect();
    frames.sort_by_key(|(at, _)| *at);
    let mut observer = Observer::new(config);
    let mut seen = Vec::new();
    for (at_ns, octets) in &frames {
        observer.take(octets, None, *at_ns);
        seen.extend(std::iter::from_fn(|| observer.next_seen()));
    }
    observer.end(frames.last().map_or(0, |(at, _)| *at));
    seen.extend(std::iter::from_fn(|| observer.next_seen()));
    seen
}

pub(crate) fn shots(seen: &[Seen]) -> Vec<Shot> {
    let shots = seen.iter().filter_map(|seen| match seen {
        Seen::Shot(shot) => Some(*shot),
        _ => None,
    });
    shots.collect()
}

/// Everything but shots, in words, each with the word of its kind.
pub(crate) fn said(seen: &[Seen]) -> Vec<String> {
    let others = seen.iter().filter(|seen| !matches!(seen, Seen::Shot(_)));
    others
        .map(|seen| {
            let (kind, text) = seen.told();
            format!("{}: {text}", kind.word())
        })
        .collect()
}

/// The trip time of a shot that tripped.
pub(crate) fn tripped_ns(shot: &Shot) -> i64 {
    match shot.act {
        Act::Tripped(at) => at - shot.start.at_ns,
        _ => panic!("{shot:?}"),
    }
}
