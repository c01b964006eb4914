//! Where devices are to be, and how their places are made.

use crate::container::{Container, Containers};
use crate::error::PlaceError;
use crate::far::Far;
use crate::guest::{Guest, GuestSpec};
use crate::place::Place;
use bed::{Bed, BedError, Management, Network};
use model::EventKind;
use run::Recorder;
use std::sync::Arc;

/// Where the devices under test of a plan are to be, with what is to be known to make it.
#[derive(Debug, Clone, Default)]
pub enum PlaceSpec {
    /// In this process.
    #[default]
    Native,
    /// Each in a container.
    Container(Containers),
    /// Each in a guest made like this.
    Guest(Box<GuestSpec>),
    /// The one device is this machine's port's other end, on another machine.
    Far(Arc<Far>),
}

impl PlaceSpec {
    /// True if the devices are in this process.
    pub fn is_here(&self) -> bool {
        matches!(self, Self::Native)
    }

    /// A bed over `network` for so many devices there.
    ///
    /// # Errors
    /// As of [`Bed::over`] and [`Bed::for_guests`]; another machine is joined by a port, and by no bed that is made.
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

/// The places of so many devices, at their ends of `bed`, or without a network; guests have a second card on `management`, where there is
/// one. None: they are in this process.
///
/// # Errors
/// The first error in making one.
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
        // Of all series: what is measured here is measured of the place.
        if let Some(why) = place.emulated() {
            recorder.events().write(EventKind::Emulated, why);
        }
        places.push(place);
    }
    Ok(places)
}
