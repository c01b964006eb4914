//! Runs the tasks of a replay and passes their decisions to the story, and to the records if these are wanted.

use super::story::Story;
use crate::config::Config;
use crate::disturbance::{Disturbance, Keeper, Row, RowTap, Stamp};
use crate::engine::Engine;

/// Receiver of a replay's disturbance records; `None` if none are made.
pub type Records<'a> = Option<&'a mut dyn FnMut(Disturbance)>;

/// Runs tasks.
pub(super) struct Runner<'a> {
    pub(super) engine: Engine,
    pub(super) story: Story,
    tape: Option<Tape<'a>>,
    /// Number of the first sample of the current task.
    from: u64,
}

struct Tape<'a> {
    tap: RowTap,
    keeper: Keeper,
    records: &'a mut dyn FnMut(Disturbance),
}

impl<'a> Runner<'a> {
    pub(super) fn new(config: &Config, engine: Engine, records: Records<'a>) -> Self {
        Self {
            story: Story::new(config, engine.rate()),
            tape: records.map(|records| Tape {
                tap: RowTap::new(config),
                keeper: Keeper::new(config, engine.rate(), None),
                records,
            }),
            engine,
            from: 0,
        }
    }

    /// Puts samples before number `up_to` into their windows; may be called several times in a task.
    pub(super) fn align(&mut self, up_to: u64) {
        let from = self.engine.next();
        self.engine.align(up_to);
        if let Some(tape) = &mut self.tape {
            let rows = tape.tap.samples(&self.engine, from..self.engine.next());
            give(rows, &mut tape.keeper, tape.records);
        }
    }

    /// Completes the task.
    pub(super) fn decide(&mut self, stamp: Option<Stamp>) {
        self.engine.measure();
        self.story.tell(self.engine.decide().events);
        let numbers = self.from..self.engine.next();
        self.from = numbers.end;
        if let Some(tape) = &mut self.tape {
            let rows = tape.tap.decided(&self.engine, numbers, stamp);
            give(rows, &mut tape.keeper, tape.records);
        }
    }

    /// Ends the file with sample `last`.
    pub(super) fn end(&mut self, last: u64) {
        self.story.end(last);
        if let Some(tape) = &mut self.tape {
            tape.keeper.finish().into_iter().for_each(&mut tape.records);
        }
    }
}

fn give(rows: impl Iterator<Item = Row>, keeper: &mut Keeper, records: &mut dyn FnMut(Disturbance)) {
    rows.filter_map(|row| keeper.take(row)).for_each(records);
}
