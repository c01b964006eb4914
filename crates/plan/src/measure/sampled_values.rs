//! Streams from the test set to a subscriber on the device under test, optionally traced on their path.

use super::{Given, Measure, OwnKeys, StepContext, TwoEnds};
use crate::checked::rules;
use crate::hops::{Hops, Wanted};
use crate::joined::Joining;
use crate::value::Duration;
use bed::End;
use model::Fact;
use place::Place;
use probes::publish::{self, PublishConfig, PublishOptions, StreamConfig, Waveform};
use probes::subscribe::{self, JudgedLans, SubscribeConfig};
use probes::{Directions, Need, Numbers, Probe, Running, SenderEnd, Stamps};
use run::Stop;
use serde::Deserialize;
use session::runner::{Ends, Underway};
use session::{Aside, Session, SessionError};
use std::sync::Arc;
use streamset::StreamSpec;
use units::CpuList;
use wire::redundancy::Lan;

/// The test set's sender spins for this last part of each period, in ns, so that its wake-up latency is not measured.
const SPIN_AHEAD_NS: u64 = 60_000;

/// Ways of a stream between recordings that are joined: to this kernel, from it, and the whole.
const JOINED_WAYS: u64 = 3;

/// Stamps of a frame at its ends: due and sent by the publisher, received by the device's kernel and its application.
const STAMPS_AT_ENDS: u64 = 4;

/// Streams from the test set to a subscriber on the device under test, with the options of `publish` as keys.
pub(crate) type SampledValuesStep = TwoEnds<Traced, PublishOptions>;

/// Keys for tracing frames on their path.
#[derive(Debug, Deserialize)]
pub(crate) struct Traced {
    /// Time each frame from point to point inside this kernel, if that is possible.
    #[serde(default)]
    pub(crate) trace: bool,
    /// Times from one point to the next above this are kept with their cause; defaults to the limit on them.
    #[serde(default)]
    pub(crate) trace_threshold: Option<Duration>,
    /// Keep every frame with its stamps at the publisher, at the points of this kernel and at the device, and join them: the ways between the
    /// machines become series of the run.
    #[serde(default)]
    pub(crate) record: bool,
    /// Source of the frames' stamps, at both ends.
    #[serde(default)]
    stamps: Stamps,
}

impl OwnKeys for Traced {
    const NAMES: &[&str] = &["trace", "trace_threshold", "record", "stamps"];
}

impl Measure for SampledValuesStep {
    fn words(&self) -> &'static str {
        "sampled values"
    }

    fn family(&self) -> &'static str {
        "age"
    }

    fn is_traced(&self) -> bool {
        self.own.trace
    }

    fn stamped(&self) -> [Directions; 2] {
        let is_by_nic = self.own.stamps == Stamps::Hardware;
        let directions = |received, sent| Directions {
            received: is_by_nic && received,
            sent: is_by_nic && sent,
        };
        [directions(false, true), directions(true, false)]
    }

    /// A traced frame has a stamp at both ends of each hop.
    fn stamps_kept(&self, hops: u64) -> u64 {
        if !self.own.record {
            return 0;
        }
        let of_trace = if self.own.trace { hops + 1 } else { 0 };
        let frames: u64 = self.options.specs(1).iter().map(|spec| u64::from(spec.rate)).sum();
        frames.saturating_mul(of_trace + STAMPS_AT_ENDS)
    }

    fn takes_label(&self) -> bool {
        false
    }

    fn check(&self) -> Result<(), String> {
        match self.own.trace_threshold {
            Some(_) if !self.own.trace => Err("trace_threshold: nothing is traced: add trace = true".into()),
            _ => Ok(()),
        }
    }

    fn in_two_lans(&self) -> Result<(), (&'static str, String)> {
        let is_stamped = self.own.stamps != Stamps::Off;
        let keys = [
            ("trace", self.own.trace),
            ("record", self.own.record),
            ("stamps", is_stamped),
        ];
        match keys.into_iter().find(|(_, is_given)| *is_given) {
            Some((key, _)) => Err((
                key,
                "a frame takes two ways in two LANs, and this follows one: leave it out".to_owned(),
            )),
            None => Ok(()),
        }
    }

    fn judged_lans(&self, _: Option<&str>) -> Result<Vec<JudgedLans>, String> {
        let judged = |lan: Lan| JudgedLans {
            name: lan.letter().to_string(),
            series: format!("lan/{}", lan.letter()),
        };
        Ok(Lan::BOTH.map(judged).into())
    }

    /// Number of series: spacing and arrival of each stream and its hops, the publisher's lateness, and delivery.
    fn series(&self, _: &CpuList, hops: u64) -> u64 {
        let hops = if self.own.trace { hops } else { 0 };
        let joined = if self.own.record { JOINED_WAYS } else { 0 };
        self.options.specs(1).len() as u64 * (2 + hops + joined) + 2
    }

    fn needs(&self, _: &CpuList) -> Vec<Need> {
        vec![Need::Policy(self.policy)]
    }

    fn for_place(&self, place: &StepContext<'_>, given: &mut Given) -> Result<(), SessionError> {
        given.keys.insert("sv_id".to_owned(), self.sv_id(place).into());
        // Frames are traced on this machine, not in the place.
        given.keys.remove("trace");
        given.keys.remove("trace_threshold");
        Ok(())
    }

    fn device(
        &self,
        place: &StepContext<'_>,
        sender: &SenderEnd,
        session: &mut Session,
    ) -> Result<Running, SessionError> {
        let subscriber = SubscribeConfig {
            stamps: self.own.stamps.received(),
            cpu: place.judged.first(),
            sender: sender.clone(),
            clock: place.clock()?,
            // In this process, the trace sees the application.
            record: self.own.record && place.there.is_some(),
            ..subscriber(&self.publisher(place))
        };
        let options = match place.has_two_lans() {
            true => subscribe::lan_port_options(),
            false => subscriber.stamps.asked_of(subscribe::port_options()),
        };
        let device = place.node_port((End::Device, 0), &options, &Numbers::default())?;
        Ok(subscriber.start(device, &mut session.recorder, &place.stop)?.running)
    }

    fn test_set(&self, place: &StepContext<'_>, session: &mut Session) -> Result<Running, SessionError> {
        let publisher = self.publisher(place);
        let options = publisher.stamps.asked_of(publish::port_options());
        let test_set = place.node_port((End::TestSet, 0), &options, &Numbers::default())?;
        Ok(publisher.start(test_set, &mut session.recorder, &place.stop)?)
    }

    fn start<'a>(
        &self,
        place: &StepContext<'a>,
        session: &mut Session,
    ) -> Result<Box<dyn Underway + 'a>, SessionError> {
        let way = place.way();
        // A plan that says so is refused when it is read; ports may have been added.
        if self.own.record && place.bed.is_some_and(|(_, beds)| beds.times() > 1) {
            return Err(SessionError::Wrong(rules::record_of_several()));
        }
        let mut joining = self
            .own
            .record
            .then(|| Joining::begin(&place.ends_of_clocks(), session));
        let publisher = self.publisher(place);
        let wanted = self.own.trace.then(|| Wanted {
            bed: &way.bed,
            network: way.network(),
            streams: publisher
                .streams
                .iter()
                .map(|stream| stream.spec.sv_id.clone())
                .collect(),
            threshold_ns: self.own.trace_threshold.map(|ns| ns.0),
            window_ns: place.window_ns,
            record: self.own.record,
        });
        if let (Some(joining), Some(_)) = (&mut joining, &wanted) {
            joining.host = Some(session.aside("trace")?);
        }
        session.recorder.record_aside(
            joining
                .as_ref()
                .and_then(|joining| joining.host.as_ref())
                .map(Aside::recorder),
        );
        let hops = wanted.map(|wanted| Hops::start(wanted, &mut session.recorder, &place.stop));
        session.recorder.record_aside(None);
        let sender = hops.as_ref().map(Hops::sender).unwrap_or_default();
        match self.ends(place, sender, joining.as_mut(), session) {
            Ok(ends) => Ok(Box::new(Streams {
                ends,
                hops,
                joining: joining.map(|joining| (joining, place.ends_of_clocks())),
                stop: place.stop.clone(),
            })),
            Err(error) => {
                let _ = finish(hops, &place.stop, session);
                Err(error)
            }
        }
    }
}

impl SampledValuesStep {
    /// Settings of the test set. If there are several networks, its streams are named after their network.
    fn publisher(&self, place: &StepContext<'_>) -> PublishConfig {
        let mut options = self.options.clone();
        options.sv_id = self.sv_id(place);
        // A forwarding thread has the same CPUs: it could not run while the sender spins.
        let is_forwarded = place.bed.is_some_and(|(way, _)| way.in_user_space());
        PublishConfig {
            streams: alike(options.specs(1)),
            duration_ns: Some(place.duration.0),
            policy: self.policy,
            cpu: place.test_set.first(),
            record: self.own.record,
            stamps: self.own.stamps,
            spin_ahead_ns: if is_forwarded { 0 } else { SPIN_AHEAD_NS },
            ..PublishConfig::default()
        }
    }

    /// The svID of the first stream. If there are several networks, the name contains the network.
    fn sv_id(&self, place: &StepContext<'_>) -> String {
        match place.bed.and_then(|(way, _)| way.network()) {
            Some(_) => format!("{}-{}", place.label(), self.options.sv_id),
            None => self.options.sv_id.clone(),
        }
    }

    fn ends(
        &self,
        place: &StepContext<'_>,
        sender: SenderEnd,
        joining: Option<&mut Joining>,
        session: &mut Session,
    ) -> Result<Ends, SessionError> {
        let far = place.start_device(self, &sender, session)?;
        if let Some(joining) = joining.filter(|_| place.test_set_place.is_none()) {
            let aside = session.aside("publish")?;
            session.recorder.record_aside(Some(aside.recorder()));
            joining.publisher = Some(aside);
        }
        let near = place.start_test_set(self, session);
        session.recorder.record_aside(None);
        Ends::of(near, far, &place.stop, sender, session)
    }
}

/// Streams of one rate with the same content.
fn alike(specs: Vec<StreamSpec>) -> Vec<StreamConfig> {
    let rate = specs.first().map_or(0, |spec| spec.rate);
    let waveform = Arc::new(Waveform::new(rate));
    let stream = |spec| StreamConfig {
        spec,
        waveform: Arc::clone(&waveform),
        ahead: 0,
    };
    specs.into_iter().map(stream).collect()
}

/// Settings of the device under test for the streams that `publisher` sends.
fn subscriber(publisher: &PublishConfig) -> SubscribeConfig {
    SubscribeConfig {
        rate: publisher.streams.first().map(|stream| stream.spec.rate),
        max_streams: u16::try_from(publisher.streams.len()).unwrap_or(u16::MAX),
        policy: publisher.policy,
        ..SubscribeConfig::default()
    }
}

/// Streams under way.
struct Streams<'a> {
    ends: Ends,
    hops: Option<Hops<'a>>,
    /// Data recorded of every frame, and the places whose clocks are concerned.
    joining: Option<(Joining, Vec<Arc<dyn Place>>)>,
    stop: Stop,
}

impl Underway for Streams<'_> {
    fn is_finished(&self) -> bool {
        self.ends.is_finished()
    }

    fn end(self: Box<Self>, session: &Session) -> Result<(), SessionError> {
        let outcome = self.ends.end_both(session);
        let sees_application = self.hops.as_ref().is_some_and(Hops::see_application);
        let traced = finish(self.hops, &self.stop, session);
        let fetched = outcome?;
        match self.joining {
            Some((joining, places)) => joining.end(traced, sees_application, fetched)?.join(&places, session),
            None => Ok(()),
        }
    }
}

/// Ends the tracing after all other parts; returns the facts about its recording.
fn finish(hops: Option<Hops<'_>>, stop: &Stop, session: &Session) -> Vec<Fact> {
    stop.request();
    hops.map_or_else(Vec::new, |hops| hops.finish(&session.recorder))
}
