//! A publisher with a known history, and the fate of its messages.

use crate::{OTHER, message};
use wire::goose::{Curve, Message, Progress};

const MS: i64 = 1_000_000;

/// The fate of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Arrives,
    Lost,
    Twice,
    /// Arrives after the next one.
    Swapped,
}

/// The next step of the publisher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NextMessage {
    Repeat,
    Change,
}

/// A fault, at most one in a history.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    None,
    /// Nothing is sent for this much longer than the longest timeAllowedtoLive.
    Silence {
        beyond_ms: i64,
    },
    /// The publisher restarts after this time.
    Restart {
        after_ms: i64,
        sq_num: u32,
    },
    /// Messages of another publisher, one after each following message of the block's publisher, with stNum and time
    /// ahead by these amounts.
    Foreign {
        same_source: bool,
        ahead: i32,
        sq_num: u32,
        t_ms: i64,
        count: u32,
        simulated: bool,
    },
}

/// A message as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Came {
    pub(crate) at_ns: i64,
    pub(crate) message: Message,
    is_own: bool,
}

/// A message that was sent.
#[derive(Debug, Clone, Copy)]
struct Sent {
    life: u32,
    st_num: u32,
    is_lost: bool,
}

/// A history, and the record of what was done.
#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) came: Vec<Came>,
    sent: Vec<Sent>,
    /// True if a message after a restart arrived whose state does not follow those that had arrived before.
    is_restarted: bool,
    was_silent: bool,
}

impl History {
    /// Runs a publisher through `steps`, starting at this stNum and sqNum; `fault` happens before step `at`.
    pub(crate) fn of([st_num, sq_num]: [u32; 2], steps: &[(NextMessage, Fate)], fault: Fault, at: usize) -> Self {
        let mut run = Run::new(Progress::at(st_num, sq_num));
        for (number, (step, fate)) in steps.iter().enumerate() {
            if number == at {
                run.fault(fault);
            }
            run.step(*step, *fate);
        }
        let delayed = run.delayed.take();
        run.history.came.extend(delayed.map(|delayed| Came {
            at_ns: run.now_ns,
            ..delayed
        }));
        run.history.came.sort_by_key(|came| came.at_ns);
        run.history
    }

    /// Arrival time of the last message.
    pub(crate) fn end_ns(&self) -> i64 {
        self.came.last().map_or(0, |came| came.at_ns)
    }

    /// True if a message is missing, and the messages before and after it show that.
    pub(crate) fn has_lost(&self) -> bool {
        let arrived = |range: &[Sent], is: &dyn Fn(&Sent) -> bool| range.iter().any(|sent| !sent.is_lost && is(sent));
        self.sent.iter().enumerate().any(|(number, lost)| {
            let (before, behind) = self.sent.split_at(number);
            let is_alike = |sent: &Sent| sent.life == lost.life;
            let is_of_state = |sent: &Sent| is_alike(sent) && sent.st_num == lost.st_num;
            let whole_state = !arrived(&self.sent, &is_of_state);
            let shows = match whole_state {
                true => arrived(behind, &is_alike),
                false => arrived(behind, &is_of_state),
            };
            lost.is_lost && arrived(before, &is_alike) && shows
        })
    }

    /// True if nothing arrived for longer than each of the last messages allowed.
    pub(crate) fn has_expired(&self) -> bool {
        let own: Vec<&Came> = self.came.iter().filter(|came| came.is_own).collect();
        let allowed = |came: &&Came| i64::from(came.message.time_allowed_to_live) * MS;
        let longest = self
            .came
            .iter()
            .map(|came| i64::from(came.message.time_allowed_to_live) * MS);
        let longest = longest.max().unwrap_or(0);
        own.windows(5).any(|row| {
            let most = row[..4].iter().map(allowed).max().unwrap_or(longest);
            row[4].at_ns - row[3].at_ns > most
        }) || self.was_silent && own.windows(2).any(|pair| pair[1].at_ns - pair[0].at_ns > longest)
    }

    /// True if the publisher restarted, and messages from before and after that arrived.
    pub(crate) fn has_restarted(&self) -> bool {
        self.is_restarted
    }

    /// True if a message of another publisher arrived before the last two of the block's publisher.
    pub(crate) fn has_foreign(&self) -> bool {
        let foreign = self.came.iter().position(|came| !came.is_own);
        foreign.is_some_and(|at| self.came[at..].iter().filter(|came| came.is_own).count() > 2)
    }
}

struct Run {
    history: History,
    curve: Curve,
    progress: Progress,
    now_ns: i64,
    t_ms: i64,
    life: u32,
    value: i64,
    delayed: Option<Came>,
    foreign: Option<(Message, u32)>,
}

impl Run {
    fn new(progress: Progress) -> Self {
        Self {
            history: History::default(),
            curve: Curve::default(),
            progress,
            now_ns: 0,
            t_ms: 0,
            life: 0,
            value: 0,
            delayed: None,
            foreign: None,
        }
    }

    fn interval_ns(&self) -> i64 {
        // At most 1 s.
        self.curve.interval_ns(self.progress.step()) as i64
    }

    fn step(&mut self, step: NextMessage, fate: Fate) {
        if step == NextMessage::Change && !self.history.sent.is_empty() {
            self.now_ns -= self.interval_before_ns() / 2;
            self.t_ms = self.now_ns / MS;
            self.progress.change();
            self.value += 1;
        }
        self.send(fate);
        self.now_ns += self.interval_ns();
        self.progress.repeat();
    }

    fn interval_before_ns(&self) -> i64 {
        self.curve.interval_ns(self.progress.step().saturating_sub(1)) as i64
    }

    fn send(&mut self, fate: Fate) {
        let (st_num, sq_num) = (self.progress.st_num(), self.progress.sq_num());
        let message = Message {
            time_allowed_to_live: self.curve.time_allowed_to_live_ms(self.progress.step()),
            ..message(st_num, sq_num, self.t_ms, self.value)
        };
        let came = |at_ns: i64| Came {
            at_ns,
            message: message.clone(),
            is_own: true,
        };
        if let Some(delayed) = self.delayed.take() {
            let at_ns = self.now_ns + 50_000;
            self.history.came.push(Came { at_ns, ..delayed });
        }
        // If the state could be the next one from before the restart, the restart is not visible.
        let heard = |sent: &Sent| !sent.is_lost && sent.life < self.life && sent.st_num >= st_num;
        let is_seen = fate != Fate::Lost && self.history.sent.iter().any(heard);
        self.history.is_restarted |= is_seen;
        match fate {
            Fate::Arrives => self.history.came.push(came(self.now_ns)),
            Fate::Twice => self
                .history
                .came
                .extend([came(self.now_ns), came(self.now_ns + 300_000)]),
            Fate::Swapped => self.delayed = Some(came(self.now_ns)),
            Fate::Lost => {}
        }
        self.history.sent.push(Sent {
            life: self.life,
            st_num,
            is_lost: fate == Fate::Lost,
        });
        self.send_foreign();
    }

    fn send_foreign(&mut self) {
        let Some((message, count)) = &mut self.foreign else {
            return;
        };
        if *count == 0 {
            return;
        }
        *count -= 1;
        self.history.came.push(Came {
            at_ns: self.now_ns + 700_000,
            message: message.clone(),
            is_own: false,
        });
        message.sq_num += 1;
    }

    fn fault(&mut self, fault: Fault) {
        match fault {
            Fault::None => {}
            Fault::Silence { beyond_ms } => {
                self.history.was_silent = true;
                self.now_ns += (2_000 + beyond_ms) * MS;
            }
            Fault::Restart { after_ms, sq_num } => {
                self.now_ns += after_ms * MS;
                self.t_ms = self.now_ns / MS;
                self.progress = Progress::at(1, sq_num);
                self.life += 1;
            }
            Fault::Foreign {
                same_source,
                ahead,
                sq_num,
                t_ms,
                count,
                simulated,
            } => {
                let st_num = self.progress.st_num().saturating_add_signed(ahead);
                let own = message(st_num, sq_num, self.t_ms + t_ms, -1);
                let foreign = Message {
                    src: if same_source { own.src } else { OTHER },
                    simulate: simulated,
                    simulation: simulated,
                    ..own
                };
                self.foreign = Some((foreign, count));
            }
        }
    }
}
