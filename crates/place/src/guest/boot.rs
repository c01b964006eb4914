//! Boots a guest.

use super::asked::MANAGEMENT;
use super::channel::{Call, CallError, Channel, Incoming};
use super::facts::Made;
use super::how::{self, How};
use super::image;
use super::message::{Greeting, GuestAnswer};
use super::modules;
use super::peer::Peer;
use super::qemu;
use super::qemu::line::{NAME, Ways};
use super::qemu::machine::{CHANNEL_WAY, CONSOLE_WAY, InMemory, Machine};
use super::qemu::threads;
use super::share::Share;
use super::up::Up;
use super::{Cable, Guest, GuestSpec, PlaceError, accel, cable};
use bed::{DeviceEnd, SecondCard};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use sys::privilege::{Capability, has};

/// Interval between checks for errors during the boot.
pub(super) const LOOK: Duration = Duration::from_millis(100);

/// Name of the card if the agent reports none.
const NO_CARD: &str = "none";

impl Guest {
    /// Boots a guest, with its network card on `cable`.
    ///
    /// # Errors
    /// A requirement is missing on this machine, or the guest does not come up; the error has the last lines of its console.
    pub fn boot(spec: &GuestSpec, cable: Option<&Cable>) -> Result<Self, PlaceError> {
        Self::with_second(spec, cable, None)
    }

    fn with_second(
        spec: &GuestSpec,
        cable: Option<&Cable>,
        second: Option<&SecondCard<'_>>,
    ) -> Result<Self, PlaceError> {
        spec.check()?;
        let modules = modules::choose(&spec.modules, &modules::OF_QEMU)?;
        let image = image::make(Path::new(image::OWN_PROGRAM), &modules, spec.runtime)?;
        let maker = Maker {
            spec,
            program: qemu::program()?,
            image: InMemory::new(&image)?,
            image_octets: image.len(),
            cable,
            second,
        };
        drop(image);
        how::boot(spec, |how, patience| maker.attempt(how, patience))
    }

    /// Boots guest number `number`, from 0, at its end of a bed for guests, with a second card if there is one for it. Each guest uses its own part
    /// of the spec's CPUs of this machine.
    ///
    /// # Errors
    /// See [`Guest::boot`]; or the end is not for a guest.
    pub fn up(
        spec: &GuestSpec,
        number: usize,
        end: Option<DeviceEnd<'_>>,
        second: Option<&SecondCard<'_>>,
    ) -> Result<Self, PlaceError> {
        let cable = end.map(cable::of).transpose()?;
        let mut spec = spec.of(number);
        if let Some(second) = second {
            let argument = format!("{} {MANAGEMENT}{}", spec.arguments, second.argument);
            argument.trim_start().clone_into(&mut spec.arguments);
        }
        Self::with_second(&spec, cable.as_ref(), second)
    }
}

/// Values that all attempts to boot share.
struct Maker<'a> {
    spec: &'a GuestSpec,
    program: PathBuf,
    image: InMemory,
    image_octets: usize,
    cable: Option<&'a Cable>,
    second: Option<&'a SecondCard<'a>>,
}

impl Maker<'_> {
    /// Boots once.
    fn attempt(&self, how: &How, patience: Duration) -> Result<Guest, PlaceError> {
        let kvm = how.is_kvm();
        let plugged = self.cable.map(|cable| cable.plug(kvm)).transpose()?;
        let plugged = match (plugged, self.second) {
            (Some(plugged), Some(second)) => Some(plugged.and(second, kvm)?),
            (plugged, _) => plugged,
        };
        let ways = Ways {
            name: NAME.to_owned(),
            kvm,
            locked: has(Capability::IpcLock),
            share: Share::here(self.spec),
            image: self.image.path(),
            console: CONSOLE_WAY.to_owned(),
            channel: CHANNEL_WAY.to_owned(),
            cards: plugged
                .as_ref()
                .map(|plugged| plugged.cards.clone())
                .unwrap_or_default(),
        };
        let words = qemu::line::words(self.spec, &ways);
        let begun = Instant::now();
        let (machine, stream) = Machine::start(&self.program, &words, plugged, ways.share.emulator.clone())?;
        let (channel, greeting) = Channel::new(stream).map_err(|error| PlaceError::Io {
            path: self.program.clone(),
            error,
        })?;
        let up = Up { channel, machine, kvm };
        let greeting = greeted(&up, &greeting, patience)?;
        let boot = begun.elapsed();
        let placed = match &self.spec.host_cpus {
            Some(cpus) => Some(threads::place(up.machine.process(), cpus, kvm)?),
            None => None,
        };
        if let (Some(_), None) = (self.cable, &greeting.interface) {
            return Err(up.refused(&format!("it has no network card: {}", greeting.complaints.join("; "))));
        }
        let processor = how.to_string();
        let facts = Made {
            spec: self.spec,
            program: &self.program,
            words: &words,
            ways: &ways,
            image_octets: self.image_octets,
            processor: &processor,
            kvm,
            process: up.machine.process(),
            greeting: &greeting,
            boot,
            placed,
        }
        .facts();
        let (interface, mac) = greeting
            .interface
            .clone()
            .unwrap_or_else(|| (NO_CARD.to_owned(), [0; 6]));
        Ok(Guest {
            what: describe(self.spec, &greeting, kvm),
            processor,
            leaves_no_cpu: ways.share.leaves_no_cpu,
            card: self.cable.map(|cable| cable.describe(kvm)),
            up: Arc::new(up),
            greeting,
            interface,
            mac,
            facts,
            boot,
            contains: self.spec.runtime.is_some(),
            has_told: AtomicBool::new(false),
        })
    }
}

pub(super) fn describe(spec: &GuestSpec, greeting: &Greeting, kvm: bool) -> String {
    let (cpus, release) = (spec.cpus, &greeting.release);
    let how = match kvm {
        true => "QEMU with KVM",
        false => "QEMU, emulated: timing is no evidence",
    };
    format!("vm: {how}; {cpus} virtual CPUs, kernel {release}")
}

/// Waits for the agent's greeting.
fn greeted(up: &Up, greeting: &Call, patience: Duration) -> Result<Greeting, PlaceError> {
    let begun = Instant::now();
    loop {
        match greeting.receive(LOOK) {
            Ok(Incoming::Answer {
                answer: GuestAnswer::Up(greeting),
                ..
            }) => return Ok(greeting),
            Ok(_) => {}
            Err(CallError::Silence(_)) => {
                let gave_up = up.machine.said.text().contains(accel::GAVE_UP);
                if gave_up || begun.elapsed() > patience {
                    return Err(not_up(up, begun.elapsed(), None));
                }
            }
            Err(error) => {
                up.machine.wait_a_moment();
                return Err(not_up(up, begun.elapsed(), Some(&error)));
            }
        }
    }
}

fn not_up(up: &Up, after: Duration, why: Option<&CallError>) -> PlaceError {
    let why = why.map(|error| format!(" ({error})")).unwrap_or_default();
    up.refused(&format!(
        "it did not come up in {:.1} s{why}. {}",
        after.as_secs_f64(),
        up.machine.last_words()
    ))
}
