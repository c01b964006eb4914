//! Chooses how a guest is run: by KVM if that boots its kernel, otherwise by emulation.

use super::{Accel, GuestSpec, PlaceError, accel};
use std::fmt;
use std::time::Duration;

/// Time limit for an emulated boot: seconds are usual, on a busy machine ten times as long.
const PATIENCE: Duration = Duration::from_secs(180);

/// Ways to run a guest.
#[derive(Debug)]
pub(super) enum How {
    /// KVM.
    Kvm,
    /// Emulation, and the reason for it.
    Emulated(String),
}

impl How {
    pub(super) fn is_kvm(&self) -> bool {
        matches!(self, Self::Kvm)
    }
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kvm => f.write_str("KVM"),
            Self::Emulated(why) => write!(f, "emulated by QEMU: timing is no evidence ({why})"),
        }
    }
}

/// Boots a guest in the requested way, or in a possible one. `attempt` boots once, with a time limit.
pub(super) fn boot<T>(
    spec: &GuestSpec,
    attempt: impl Fn(&How, Duration) -> Result<T, PlaceError>,
) -> Result<T, PlaceError> {
    let emulated = |why: &str| attempt(&How::Emulated(why.to_owned()), PATIENCE);
    match spec.accel {
        Accel::Kvm => attempt(&How::Kvm, PATIENCE),
        Accel::Tcg => emulated("asked for"),
        Accel::Auto if spec.icount.is_some() => emulated("virtual time is asked for"),
        Accel::Auto => as_can_be(spec, &attempt, emulated),
    }
}

/// Boots with KVM if KVM is known to boot this kernel or boots it now; otherwise emulated.
fn as_can_be<T>(
    spec: &GuestSpec,
    attempt: impl Fn(&How, Duration) -> Result<T, PlaceError>,
    emulated: impl Fn(&str) -> Result<T, PlaceError>,
) -> Result<T, PlaceError> {
    let kernel = &spec.kernel;
    let known = accel::known(kernel).or_else(|| accel::can_be_tried().err().map(Err));
    match known {
        Some(Ok(())) => attempt(&How::Kvm, PATIENCE),
        Some(Err(why)) => emulated(&why),
        None => match attempt(&How::Kvm, accel::patience()) {
            Ok(guest) => {
                accel::keep(kernel, Ok(()));
                Ok(guest)
            }
            Err(error) => {
                let text = error.to_string();
                let first = text.lines().next().unwrap_or_default();
                let why = format!("KVM does not boot this kernel here: {first}");
                accel::keep(kernel, Err(why.clone()));
                emulated(&why)
            }
        },
    }
}
