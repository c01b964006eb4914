//! Locations of devices, and how their places are made.

use crate::container::{Container, Containers};
use crate::error::PlaceError;
use crate::far::Far;
use crate::guest::{Guest, GuestSpec};
use crate::place::Place;
use bed::{Bed, BedError, DeviceEnd, Management, Network, SecondCard};
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
    let mut places = Vec::new();
    for number in 0..devices {
        let end = bed
            .filter(|bed| bed.has_devices())
            .map(|bed| bed.device(number))
            .transpose()?;
        let second = management.and_then(|management| management.card(number));
        places.extend(one(spec, number, (end, second.as_ref()), recorder)?);
    }
    Ok(places)
}

/// Makes the place of the test set at its end of `bed`; `None` if it is in this process.
///
/// # Errors
/// The place cannot be made.
pub fn up_for_test_set(spec: &PlaceSpec, bed: &Bed, recorder: &Recorder) -> Result<Option<Arc<dyn Place>>, PlaceError> {
    let end = match spec {
        PlaceSpec::Native | PlaceSpec::Far(_) => None,
        PlaceSpec::Container(_) | PlaceSpec::Guest(_) => Some(bed.test_set()?),
    };
    one(spec, 0, (end, None), recorder)
}

/// Makes place number `number` at this end of a bed, with a second card of a guest; `None` if it is this process.
fn one(
    spec: &PlaceSpec,
    number: usize,
    (end, second): (Option<DeviceEnd<'_>>, Option<&SecondCard<'_>>),
    recorder: &Recorder,
) -> Result<Option<Arc<dyn Place>>, PlaceError> {
    let place: Arc<dyn Place> = match spec {
        PlaceSpec::Native => return Ok(None),
        PlaceSpec::Container(spec) => Arc::new(Container::up(spec, end)?),
        PlaceSpec::Guest(spec) => Arc::new(Guest::up(spec, number, end, second)?),
        PlaceSpec::Far(far) => far.clone(),
    };
    recorder.events().write(EventKind::Note, place.describe());
    recorder.add_facts(place.facts());
    // Recorded for all series, because measurements on this machine depend on the place, too.
    if let Some(why) = place.emulated() {
        recorder.events().write(EventKind::Emulated, why);
    }
    Ok(Some(place))
}
