//! Links of the beds during a step. A step that fails while one of them is down does not end the plan: the next step may find it up again.

use super::beds::Beds;
use super::step::Step;
use model::EventKind;
use run::Events;
use session::SessionError;
use sys::link::LinkInfo;
use units::Monotonic;

/// State of an interface; `None` if there is none of this name.
type Seen = (String, Option<LinkInfo>);

/// The links of this machine's ends of the beds, before a step.
pub(super) struct LinksBefore(Vec<Seen>);

impl LinksBefore {
    /// Looks at all of them; none for a plan without beds.
    pub(super) fn look(beds: Option<&Beds>) -> Self {
        Self(now(beds))
    }

    /// Links that are down, or were down since then: `pb0 lost its carrier`; `None` if there are none.
    pub(super) fn lost(&self, beds: Option<&Beds>) -> Option<String> {
        let now = now(beds);
        let pairs = self.0.iter().zip(&now);
        let texts: Vec<String> = pairs.filter_map(|(before, now)| lost(before, now)).collect();
        (!texts.is_empty()).then(|| texts.join(", "))
    }
}

fn now(beds: Option<&Beds>) -> Vec<Seen> {
    let beds = beds.into_iter().flat_map(|beds| &beds.ways);
    beds.flat_map(|way| way.bed.links()).collect()
}

fn lost((name, before): &Seen, (_, now): &Seen) -> Option<String> {
    let change = match (before, now) {
        (_, None) => "is gone".to_owned(),
        (_, Some(now)) if !now.up => "is down".to_owned(),
        (Some(before), Some(now)) if before.carrier || now.carrier => now.carrier_change(before)?.to_string(),
        (_, Some(now)) if !now.carrier => "has no carrier".to_owned(),
        _ => return None,
    };
    Some(format!("{name} {change}"))
}

/// Steps that failed because of a link or a place, with their reasons.
#[derive(Default)]
pub(super) struct LostSteps {
    texts: Vec<String>,
    /// True if a place failed: no step after it is begun.
    is_place_lost: bool,
}

impl LostSteps {
    /// Records that these steps, which began at `began`, failed with `error`, because links were `lost` or their place failed: all that was measured
    /// since then is in doubt.
    pub(super) fn add(
        &mut self,
        group: &[Step],
        error: &SessionError,
        lost: Option<String>,
        began: Monotonic,
        events: &Events,
    ) {
        let names: Vec<&str> = group.iter().map(Step::name).collect();
        self.is_place_lost |= lost.is_none();
        let lost = lost.map(|lost| format!("{lost}: ")).unwrap_or_default();
        let text = format!("{}: not measured to the end, because {lost}{error}", names.join(", "));
        events.write_since(began, EventKind::Incomplete, text.clone());
        self.texts.push(text);
    }

    /// True if the places of the plan do not answer.
    pub(super) fn is_place_lost(&self) -> bool {
        self.is_place_lost
    }

    /// Records that these steps were not begun, because the places of the plan do not answer.
    pub(super) fn leave(&mut self, group: &[Step], events: &Events) {
        let names: Vec<&str> = group.iter().map(Step::name).collect();
        let text = format!(
            "{}: not measured, because the place of the device failed before",
            names.join(", ")
        );
        events.write(EventKind::Incomplete, text.clone());
        self.texts.push(text);
    }

    /// The outcome of the plan: an error if there is any such step.
    pub(super) fn outcome(self) -> Result<(), SessionError> {
        let text = self.texts.join("; ");
        match (self.texts.is_empty(), self.is_place_lost) {
            (true, _) => Ok(()),
            (false, false) => Err(SessionError::StepsLost(text)),
            (false, true) => Err(SessionError::PlaceLost(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::lost;
    use sys::link::LinkInfo;

    fn link(carrier: bool, losses: u32) -> LinkInfo {
        LinkInfo {
            up: true,
            carrier,
            carrier_losses: Some(losses),
            ..sys::link::find("lo").expect("every namespace has lo")
        }
    }

    #[test]
    fn a_link_is_lost_that_is_or_was_down() {
        let told = |before: Option<LinkInfo>, now: Option<LinkInfo>| {
            lost(&("pb0".to_owned(), before), &("pb0".to_owned(), now))
        };
        assert_eq!(told(Some(link(true, 1)), Some(link(true, 1))), None);
        let down = LinkInfo {
            up: false,
            ..link(false, 1)
        };
        for (before, now, text) in [
            (Some(link(true, 1)), None, "pb0 is gone"),
            (Some(link(true, 1)), Some(down), "pb0 is down"),
            (Some(link(true, 1)), Some(link(false, 2)), "pb0 lost its carrier"),
            (Some(link(false, 2)), Some(link(false, 2)), "pb0 has no carrier"),
            (Some(link(false, 2)), Some(link(true, 2)), "pb0 has its carrier again"),
            (
                Some(link(true, 1)),
                Some(link(true, 2)),
                "pb0 lost its carrier and regained it (losses: 1)",
            ),
        ] {
            assert_eq!(told(before, now).as_deref(), Some(text));
        }
    }
}
