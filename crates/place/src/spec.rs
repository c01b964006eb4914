//! Locations of devices, and how their places are made.

use crate::container::{Container, Containers};
use crate::error::PlaceError;
use crate::far::Far;
use crate::guest::{Guest, GuestSpec};
use crate::place::Place;
use bed::{Bed, BedError, Management, Network};
use model::EventKind;
use run::Recorder;
use std::sync::Arc;

/// Location of a plan's devices under test, with the settings needed to make it.
#[derive(Debug, Clone, Default)]
pub enum PlaceSpec {
    /// In this process.
    #[default]
    Native,
    /// Each in a container.
    Container(Containers),
    /// Each in a guest with this description.
    Guest(Box<GuestSpec>),
    /// The only device is on another machine, connected to a port of this one.
    Far(Arc<Far>),
}

impl PlaceSpec {
    /// True if the devices are in this process.
    pub fn is_here(&self) -> bool {
        matches!(self, Self::Native)
    }

    /// A bed over `network` for this many devices in these places.
    ///
    /// # Errors
    /// See [`Bed::over`] and [`Bed::for_guests`]; another machine is connected through a port, so no bed can be made for it.
    pub fn bed(&self, network: Network, devices: usize) -> Result<Bed, BedError> {
        match self {
            Self::Native | Self::Container(_) => Bed::over(network, devices),
            Self::Guest(_) => Bed::for_guests(network, devices),
            Self::Far(far) => Err(BedError::NotAvailable(format!(
                "{}: name the port of this machine that leads there: --nic IF",
                far.describe()
            ))),
        }
    }
}

/// Makes the places of this many devices, at their ends of `bed`, or without a network; guests get a second card on `management`, if there is one.
/// Returns no places if the devices are in this process.
///
/// # Errors
/// The first place that cannot be made.
pub fn up(
    spec: &PlaceSpec,
    (bed, management): (Option<&Bed>, Option<&Management>),
    devices: usize,
    recorder: &Recorder,
) -> Result<Vec<Arc<dyn Place>>, PlaceError> {
    let mut places: Vec<Arc<dyn Place>> = Vec::new();
    for number in 0..devices {
        let end = bed
            .filter(|bed| bed.has_devices())
            .map(|bed| bed.device(number))
            .transpose()?;
        let place: Arc<dyn Place> = match spec {
            PlaceSpec::Native => return Ok(places),
            PlaceSpec::Container(spec) => Arc::new(Container::up(spec, end)?),
            PlaceSpec::Guest(spec) => {
                let second = management.and_then(|management| management.card(number));
                Arc::new(Guest::up(spec, number, end, second.as_ref())?)
            }
            PlaceSpec::Far(far) => far.clone(),
        };
        recorder.events().write(EventKind::Note, place.describe());
        recorder.add_facts(place.facts());
        // Recorded for all series, because measurements on this machine depend on the place, too.
        if let Some(why) = place.emulated() {
            recorder.events().write(EventKind::Emulated, why);
        }
        places.push(place);
    }
    Ok(places)
}
