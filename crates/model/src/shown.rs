//! The texts of a run, made safe to show, because a file can come from anywhere.

use crate::action::Action;
use crate::change::{Change, ChangeWatch};
use crate::event::Event;
use crate::explanation::{Explanation, Part};
use crate::fact::Fact;
use crate::reading::Reading;
use crate::run::RunInfo;
use crate::series::{SeriesId, SeriesSpec};
use crate::shot::{Cell, Shot};
use crate::spike::Spike;
use crate::view::{RunView, SeriesView};
use units::foreign::Show;

impl Show for RunInfo {
    fn show(&mut self) {
        for text in [&mut self.id, &mut self.command, &mut self.tool_version] {
            text.show();
        }
        self.arguments.show();
    }
}

impl Show for SeriesSpec {
    fn show(&mut self) {
        self.name.show();
        self.what.show();
        self.settings.show();
    }
}

impl Show for Event {
    fn show(&mut self) {
        self.text.show();
    }
}

impl Show for Shot {
    fn show(&mut self) {
        self.name.show();
        match &mut self.cell {
            Some(Cell::Distance { fault, .. }) => fault.show(),
            Some(Cell::Ramp(ramp)) => ramp.phases.show(),
            Some(Cell::Edge(edge)) => edge.fault.show(),
            Some(Cell::Overcurrent { .. }) | None => {}
        }
    }
}

impl Show for Action {
    fn show(&mut self) {
        for text in [&mut self.name, &mut self.line, &mut self.said] {
            text.show();
        }
    }
}

impl Show for Reading {
    fn show(&mut self) {
        self.name.show();
        self.values.why.show();
    }
}

impl Show for Change {
    fn show(&mut self) {
        self.name.show();
        for text in [&mut self.before, &mut self.after, &mut self.who, &mut self.place] {
            text.show();
        }
    }
}

impl Show for ChangeWatch {
    fn show(&mut self) {
        self.place.show();
        self.unread.show();
    }
}

impl Show for Fact {
    fn show(&mut self) {
        for text in [&mut self.group, &mut self.name, &mut self.source] {
            text.show();
        }
        self.value.show();
    }
}

impl Show for Spike {
    fn show(&mut self) {
        self.explanation.show();
    }
}

impl Show for Explanation {
    fn show(&mut self) {
        self.text.show();
        self.stages.show();
        self.occupants.show();
        self.around.show();
    }
}

impl Show for Part {
    fn show(&mut self) {
        self.what.show();
    }
}

/// A number holds no text; the implementation exists because it occurs in structures with text.
impl Show for SeriesId {
    fn show(&mut self) {}
}

impl Show for RunView {
    fn show(&mut self) {
        self.info.show();
        self.file.show();
        self.series.show();
        self.events.show();
        self.shots.show();
        self.actions.show();
        self.readings.show();
        self.changes.show();
        self.watches.show();
        self.facts.show();
        self.last_facts.show();
        self.lacks_log.show();
    }
}

impl Show for SeriesView {
    fn show(&mut self) {
        self.spec.show();
        self.spikes.show();
    }
}
