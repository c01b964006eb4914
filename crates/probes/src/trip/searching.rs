//! A search in a type test: each shot is chosen by the outcome of the one before.

use super::conductor::{Conductor, EarlyEnd};
use super::program::Ask;
use model::EventKind;
use waveform::type_test::{Search, TypeTest};

impl Conductor {
    /// Plays the shots of a search, until each line has its border, or has none.
    pub(super) fn search(&mut self, test: &TypeTest, mut search: Search) -> Result<(), EarlyEnd> {
        while let Some(place) = search.shot() {
            if self.is_over() {
                let (ended, all) = search.progress();
                let text = format!("type test {}: {ended} of {all} lines: its time ran out", test.name);
                self.events.write(EventKind::NotCounted, text);
                return Ok(());
            }
            let tripped = self.shot(&Ask::of(test.shot(place)))?;
            search.take(tripped);
        }
        if search.given_up() > 0 {
            let text = format!(
                "type test {}: {} lines were given up, because three shots in a row did not count",
                test.name,
                search.given_up()
            );
            self.events.write(EventKind::NotCounted, text);
        }
        Ok(())
    }
}
