//! Frames of an attack, made before the run and changed in place.

use super::hostile::is_quality;
use super::{Hostile, PeerConfig};
use crate::error::ProbeError;
use crate::trip::frames::neighbour;
use wire::ether::Mac;
use wire::goose::{Message, Template, Value};
use wire::quality::GooseQuality;
use wire::time::UtcTime;

/// timeAllowedtoLive of messages that are to be believed, in ms.
const ALIVE_MS: u32 = 2_000;

/// The same of messages that a subscriber may take: short, so that the peer is believed again before the next shot.
const SHORT_MS: u32 = 10;

/// Distance of a jump of stNum.
const JUMP: u32 = 1_000;

/// The last message of the peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Last {
    pub(super) st_num: u32,
    pub(super) sq_num: u32,
    pub(super) t: UtcTime,
    pub(super) value: bool,
}

impl Last {
    /// A second before the last change of state.
    fn before_change(&self) -> UtcTime {
        UtcTime {
            seconds: self.t.seconds.saturating_sub(1),
            ..self.t
        }
    }
}

/// The messages of one attack. Only its creation allocates memory.
pub(super) struct Attack {
    pub(super) case: Hostile,
    template: Template,
    member: usize,
}

impl Attack {
    /// Makes the messages of `case`, as `source` would send them.
    ///
    /// # Errors
    /// The message cannot be encoded.
    pub(super) fn new(case: Hostile, peer: &PeerConfig, source: Mac) -> Result<Self, ProbeError> {
        let mut message = Message {
            src: source,
            ..peer.block.message.clone()
        };
        match case {
            Hostile::Simulated => (message.simulate, message.simulation) = (true, true),
            Hostile::NeedsCommissioning => message.nds_com = true,
            Hostile::OtherSource => message.src = neighbour(source),
            Hostile::Test => {
                for value in message.all_data.iter_mut().filter(|value| is_quality(value)) {
                    *value = Value::quality(GooseQuality(GooseQuality::TEST));
                }
            }
            _ => {}
        }
        let template = Template::new(&message);
        Ok(Self {
            case,
            template: template.map_err(|error| ProbeError::Usage(format!("trip: the peer's GOOSE: {error}")))?,
            member: peer.member,
        })
    }

    /// The message number `count` of the attack, counted from 0; `now` is the present time.
    pub(super) fn frame(&mut self, last: &Last, count: u32, now: UtcTime) -> &[u8] {
        let next = last.st_num.wrapping_add(1);
        let (st_num, sq_num, t, alive_ms) = match self.case {
            Hostile::SameNumbers => (last.st_num, last.sq_num, last.t, ALIVE_MS),
            Hostile::OlderState => (
                last.st_num.saturating_sub(1).max(1),
                count,
                last.before_change(),
                ALIVE_MS,
            ),
            Hostile::Restart => (1, count.saturating_add(1), now, SHORT_MS),
            Hostile::Expired => (next, count, now, 0),
            Hostile::Jump => (last.st_num.wrapping_add(JUMP), count, now, SHORT_MS),
            Hostile::OtherSource => (next, count, now, SHORT_MS),
            _ => (next, count, now, ALIVE_MS),
        };
        let template = &mut self.template;
        template.set_st_num(st_num);
        template.set_sq_num(sq_num);
        template.set_t(t);
        template.set_times(t);
        template.set_time_allowed_to_live(alive_ms);
        template.set_entry(self.member, &Value::Boolean(!last.value));
        template.bytes()
    }
}
