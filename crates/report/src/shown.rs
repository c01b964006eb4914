//! Makes a report safe to show: every text in it that may come from other sources, and every text made from such texts.
//!
//! A run is judged before it is made safe, because limits find series by their original names.

use crate::Report;
use crate::budget::{Budget, Line, State};
use crate::capacity::Capacity;
use crate::comparison::{Compared, Comparison, FactDifference};
use crate::days::LimitDays;
use crate::insight::Insight;
use crate::limits::{Limit, Pattern, Profile, Requirement, Wanted};
use crate::screen::limits::Row;
use crate::stall::Stall;
use crate::verdict::{Check, Judgement, NotApplicable, NotMeasured, ProfileVerdict, RequirementCheck, RequirementOpen};
use units::foreign::Show;

impl Show for Report {
    fn show(&mut self) {
        self.run.show();
        self.profiles.show();
        self.judgement.show();
        self.days.show();
        self.budget.show();
        self.insights.show();
        self.stalls.show();
        self.procedure.show();
        self.timeline.show();
        self.capacity.show();
        self.way.iter_mut().for_each(|(_, text)| text.show());
        let wider = self.again.wider.as_mut().map(|wider| &mut wider.order);
        for order in self.again.longer.as_mut().into_iter().chain(wider) {
            order.command.show();
            order.short.show();
        }
        if let Some(survey) = &mut self.recording {
            survey.points.show();
            survey.reasons.show();
            for stream in &mut survey.streams {
                stream.info.name.show();
                stream.info.sv_id.show();
            }
        }
    }
}

impl Show for LimitDays {
    fn show(&mut self) {
        self.profile.show();
        self.limit.show();
        for day in &mut self.days {
            day.series.show();
            day.why.show();
        }
    }
}

impl Show for Capacity {
    fn show(&mut self) {
        let tried = self.search.tried.iter_mut().filter_map(|tried| tried.gave_way.as_mut());
        tried
            .chain(&mut self.hold.gave_way)
            .for_each(|gave_way| gave_way.what.show());
    }
}

impl Show for Profile {
    fn show(&mut self) {
        self.name.show();
        self.what.show();
        self.limits.show();
        self.requirements.show();
    }
}

impl Show for Limit {
    fn show(&mut self) {
        self.series.show();
        for text in [&mut self.id, &mut self.name, &mut self.source, &mut self.why] {
            text.show();
        }
    }
}

impl Show for Requirement {
    fn show(&mut self) {
        self.group.show();
        if let Wanted::Is(word) = &mut self.wanted {
            word.show();
        }
        for text in [
            &mut self.id,
            &mut self.name,
            &mut self.fact,
            &mut self.unit,
            &mut self.source,
            &mut self.why,
        ] {
            text.show();
        }
    }
}

impl Show for Pattern {
    fn show(&mut self) {
        *self = Self::new(self.as_str().to_owned().shown());
    }
}

impl Show for Judgement {
    fn show(&mut self) {
        self.profiles.show();
        self.checks.show();
        self.not_measured.show();
        self.requirements.show();
        self.not_applicable.show();
        self.not_asked.show();
    }
}

impl Show for ProfileVerdict {
    fn show(&mut self) {
        self.name.show();
        self.what.show();
    }
}

impl Show for Check {
    fn show(&mut self) {
        self.limit.show();
        for text in [&mut self.profile, &mut self.series, &mut self.why] {
            text.show();
        }
        self.decision.iter_mut().for_each(|decided| decided.unknown.show());
    }
}

impl Show for NotMeasured {
    fn show(&mut self) {
        self.limit.show();
        self.profile.show();
        self.why.show();
    }
}

impl Show for RequirementCheck {
    fn show(&mut self) {
        self.requirement.show();
        self.value.show();
        for text in [&mut self.profile, &mut self.group, &mut self.why] {
            text.show();
        }
    }
}

impl Show for NotApplicable {
    fn show(&mut self) {
        self.requirement.show();
        for text in [&mut self.profile, &mut self.group, &mut self.why] {
            text.show();
        }
    }
}

impl Show for RequirementOpen {
    fn show(&mut self) {
        self.requirement.show();
        self.profile.show();
    }
}

impl Show for Budget {
    fn show(&mut self) {
        self.lines.show();
        self.beside.show();
    }
}

impl Show for Line {
    fn show(&mut self) {
        if let State::Measured(measured) = &mut self.state {
            measured.worst.show();
            measured.note.show();
        }
    }
}

impl Show for Insight {
    fn show(&mut self) {
        self.series.show();
    }
}

impl Show for Stall {
    fn show(&mut self) {
        self.series.show();
        self.explanation.show();
    }
}

impl Show for Comparison {
    fn show(&mut self) {
        self.runs.show();
        self.series.show();
        self.alone.show();
        self.facts.show();
        self.limits.show();
    }
}

impl Show for Compared {
    fn show(&mut self) {
        self.name.show();
        self.unfair.show();
        for (_, why) in &mut self.doubts {
            why.show();
        }
        self.settings.show();
    }
}

impl Show for FactDifference {
    fn show(&mut self) {
        self.group.show();
        self.name.show();
        self.values.show();
    }
}

impl Show for Row {
    fn show(&mut self) {
        for text in [
            &mut self.id,
            &mut self.name,
            &mut self.worst,
            &mut self.allowed,
            &mut self.series,
            &mut self.why,
        ] {
            text.show();
        }
    }
}
