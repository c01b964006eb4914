//! Additional work that makes a light task as heavy as that of a product.

use ::relay::config::TaskLoad;
use std::hint::black_box;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Memory to touch and time to compute in every cycle.
pub(super) struct Burden {
    memory: Box<[u8]>,
    busy_ns: i64,
}

impl Burden {
    pub(super) fn of(load: &TaskLoad) -> Self {
        // Written once, so that the kernel maps every page now.
        let octets = load.working_set_mib as usize * (1 << 20);
        Self {
            memory: vec![1; octets].into_boxed_slice(),
            busy_ns: i64::try_from(load.busy_ns).unwrap_or(i64::MAX),
        }
    }

    /// Touches every cache line of the memory, then computes for the given time.
    pub(super) fn carry(&mut self) {
        for octet in self.memory.iter_mut().step_by(LINE) {
            *octet = octet.wrapping_add(1);
        }
        black_box(&self.memory);
        if self.busy_ns > 0 {
            let until = sys::clock::monotonic() + self.busy_ns;
            while sys::clock::monotonic() < until {
                std::hint::spin_loop();
            }
        }
    }
}
