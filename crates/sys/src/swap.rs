//! Switches swap areas on and off.

use crate::error::{SysError, last_errno};
use crate::privilege::Capability;
use std::ffi::CString;

/// `SWAP_FLAG_PREFER` (linux/swap.h): the lowest 15 bits are the priority.
const PREFER: i32 = 0x8000;
const HIGHEST: u16 = 0x7fff;

/// Switches the swap area `path` on. Without a priority, the kernel gives it the next one below the areas that are on.
///
/// # Errors
/// `path` does not exist, is not a swap area, or `CAP_SYS_ADMIN` is missing.
pub fn on(path: &str, priority: Option<u16>) -> Result<(), SysError> {
    let name = c_string(path)?;
    let flags = priority.map_or(0, |priority| PREFER | i32::from(priority.min(HIGHEST)));
    // SAFETY: the pointer is to a text that ends with a zero and outlives the call.
    done("swapon", path, unsafe { libc::swapon(name.as_ptr(), flags) })
}

/// Switches the swap area `path` off: the kernel first reads every page in it back, which can take minutes.
///
/// # Errors
/// The area is not on, memory cannot hold its pages (ENOMEM), or `CAP_SYS_ADMIN` is missing.
pub fn off(path: &str) -> Result<(), SysError> {
    let name = c_string(path)?;
    // SAFETY: the pointer is to a text that ends with a zero and outlives the call.
    done("swapoff", path, unsafe { libc::swapoff(name.as_ptr()) })
}

fn c_string(path: &str) -> Result<CString, SysError> {
    CString::new(path).map_err(|_| SysError::Invalid {
        what: format!("\"{path}\" is not a valid path"),
    })
}

fn done(operation: &'static str, path: &str, code: i32) -> Result<(), SysError> {
    match code {
        0 => Ok(()),
        _ => Err(SysError::or_capability(
            Capability::SysAdmin,
            operation,
            path.to_owned(),
            last_errno(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::{off, on};

    #[test]
    fn what_is_no_swap_area_is_refused_by_its_name() {
        for error in [on("/dev/null", None), off("/dev/null")] {
            let text = error.expect_err("no area").to_string();
            assert!(text.contains("/dev/null"), "{text}");
        }
    }
}
