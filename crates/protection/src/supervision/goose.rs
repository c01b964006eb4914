//! Supervision of a GOOSE subscription (LGOS).

use super::simulation::Simulation;

/// What a subscription expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GooseSettings {
    /// Configuration revision of the control block.
    pub conf_rev: u32,
    /// Whether the relay is in test: then test messages are used too.
    pub in_test: bool,
}

/// What matters of a message that has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Message {
    /// Number of the state.
    pub st_num: u32,
    /// Number of the repetition.
    pub sq_num: u32,
    /// Configuration revision.
    pub conf_rev: u32,
    /// How long the message is valid, in ms.
    pub time_allowed_to_live_ms: u32,
    /// Whether the publisher needs commissioning.
    pub nds_com: bool,
    /// Whether the message is simulated (the bit of the header, or the field).
    pub simulated: bool,
}

/// What LGOS says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GooseStatus {
    /// Whether the subscription is active (`St`): a message has come, and its time has not run out.
    pub active: bool,
    /// Whether the publisher's configuration is not the expected one, or needs commissioning (`NdsCom`).
    pub needs_commissioning: bool,
    /// Whether simulated messages are used (`SimSt`).
    pub simulated: bool,
    /// Number of the last state (`LastStNum`).
    pub last_st_num: u32,
    /// Configuration revision of the last message (`ConfRevNum`).
    pub conf_rev: u32,
    /// Whether the values can be worked on.
    pub usable: bool,
    /// Messages taken.
    pub received: u64,
    /// Messages that are missing between two that have come.
    pub lost: u64,
    /// Messages older than one that has come already; not taken.
    pub old: u64,
    /// Simulated messages out of simulation, or real ones in simulation; not taken.
    pub foreign: u64,
    /// How often the time ran out.
    pub expired: u64,
    /// Starts anew of the publisher: `stNum` 1 after a higher one, or `sqNum` anew in the same state.
    pub restarts: u64,
}

/// LGOS: follows the messages of one control block (IEC 61850-8-1, as in our reference, section 1.7.2). Time is in ns of
/// any clock that does not go back.
#[derive(Debug, Clone, Default)]
pub struct Lgos {
    settings: GooseSettings,
    simulation: Simulation,
    last: Option<(u32, u32)>,
    until_ns: u64,
    status: GooseStatus,
}

impl Lgos {
    /// A subscription of which nothing has come yet.
    #[must_use]
    pub fn new(settings: GooseSettings) -> Self {
        let mut simulation = Simulation::default();
        simulation.allow(settings.in_test);
        Self {
            settings,
            simulation,
            ..Self::default()
        }
    }

    /// A message has come. Whether its values are to be taken.
    pub fn received(&mut self, now_ns: u64, message: &Message) -> bool {
        self.tick(now_ns);
        if !self.simulation.accepts(message.simulated) {
            self.status.foreign = self.simulation.dropped();
            return false;
        }
        if self.simulation.is_simulated() != self.status.simulated {
            // Another publisher has taken over, with numbers of its own.
            self.last = None;
        }
        let number = (message.st_num, message.sq_num);
        if !self.place(number, now_ns) {
            self.status.old += 1;
            return false;
        }
        self.last = Some(number);
        self.until_ns = now_ns.saturating_add(u64::from(message.time_allowed_to_live_ms) * 1_000_000);
        let status = &mut self.status;
        status.received += 1;
        status.active = true;
        status.simulated = self.simulation.is_simulated();
        status.last_st_num = message.st_num;
        status.conf_rev = message.conf_rev;
        status.needs_commissioning = message.nds_com || message.conf_rev != self.settings.conf_rev;
        status.usable = !status.needs_commissioning;
        status.usable
    }

    /// Time goes on. What it says now.
    pub fn tick(&mut self, now_ns: u64) -> &GooseStatus {
        if self.status.active && now_ns > self.until_ns {
            self.status.active = false;
            self.status.usable = false;
            self.status.expired += 1;
        }
        &self.status
    }

    /// Counts what is missing before a message; whether it is newer than the last.
    fn place(&mut self, (state, repetition): (u32, u32), now_ns: u64) -> bool {
        let Some((last_state, last_repetition)) = self.last else {
            return true;
        };
        let status = &mut self.status;
        if state == last_state {
            if repetition > last_repetition {
                status.lost += u64::from(repetition - last_repetition - 1);
                return true;
            }
            // sqNum wraps to 1 (0 is a new state); a publisher that starts anew in the same state counts from 0 or 1 too.
            if repetition <= 1 && last_repetition > 1 {
                status.restarts += u64::from(last_repetition != u32::MAX);
                return true;
            }
            return false;
        }
        if state > last_state {
            status.lost += u64::from(state - last_state - 1) + u64::from(repetition);
            return true;
        }
        // A lower state: a publisher that was started anew, or that wrapped to 1; or an old message, while the last is valid.
        let anew = state == 1 && (repetition <= 1 || last_state == u32::MAX);
        if anew || now_ns > self.until_ns {
            status.restarts += 1;
            return true;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::{GooseSettings, Lgos, Message};

    fn message(st_num: u32, sq_num: u32) -> Message {
        Message {
            st_num,
            sq_num,
            conf_rev: 1,
            time_allowed_to_live_ms: 2000,
            ..Message::default()
        }
    }

    fn lgos() -> Lgos {
        Lgos::new(GooseSettings {
            conf_rev: 1,
            in_test: false,
        })
    }

    const MS: u64 = 1_000_000;

    #[test]
    fn a_message_is_valid_for_its_time() {
        let mut lgos = lgos();
        assert!(!lgos.tick(0).active);
        assert!(lgos.received(10 * MS, &message(1, 0)));
        assert!(lgos.tick(2010 * MS).usable);
        let status = *lgos.tick(2010 * MS + 1);
        assert_eq!((status.active, status.usable, status.expired), (false, false, 1));
        assert!(lgos.received(3000 * MS, &message(1, 3)));
        assert_eq!(lgos.tick(3000 * MS).lost, 2);
    }

    #[test]
    fn old_messages_are_not_taken_and_a_restart_is() {
        let mut lgos = lgos();
        for (number, taken) in [
            ((5, 0), true),
            ((5, 1), true),
            ((5, 1), false),
            ((5, 7), true),
            ((4, 9), false),
            ((6, 0), true),
            ((1, 0), true),
            ((1, 5), true),
            ((1, 1), true),
            ((9, 2), true),
        ] {
            assert_eq!(lgos.received(MS, &message(number.0, number.1)), taken, "{number:?}");
        }
        let status = *lgos.tick(MS);
        // 2..6 of state 5; 1..4 of state 1; states 2 to 8 and two repetitions of the ninth.
        assert_eq!((status.lost, status.old, status.restarts), (5 + 4 + 7 + 2, 2, 2));
    }

    #[test]
    fn another_configuration_is_not_used() {
        let mut lgos = lgos();
        assert!(!lgos.received(
            0,
            &Message {
                conf_rev: 2,
                ..message(1, 0)
            }
        ));
        let status = *lgos.tick(0);
        assert!(status.active && status.needs_commissioning && !status.usable);
        assert!(!lgos.received(
            0,
            &Message {
                nds_com: true,
                ..message(1, 1)
            }
        ));
        assert!(lgos.received(0, &message(1, 2)));
    }

    #[test]
    fn simulated_messages_are_for_relays_in_test() {
        let simulated = Message {
            simulated: true,
            ..message(1, 0)
        };
        let mut real = lgos();
        assert!(!real.received(0, &simulated));
        assert_eq!(real.tick(0).foreign, 1);
        assert!(!real.tick(0).active);
        let mut test = Lgos::new(GooseSettings {
            conf_rev: 1,
            in_test: true,
        });
        assert!(test.received(0, &message(40, 3)));
        assert!(test.received(0, &simulated));
        assert!(test.tick(0).simulated);
        assert!(!test.received(0, &message(41, 0)));
    }
}
