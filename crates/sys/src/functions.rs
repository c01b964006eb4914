//! Attaches a program to the entries of many kernel functions at once (kprobe.multi), through bpf(2).

use crate::bpf::{LINK_CREATE, PROGRAM_LOAD, call, descriptor};
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

const OBJECT_INFO: libc::c_int = 15;

/// `BPF_PROG_TYPE_KPROBE`, `BPF_TRACE_KPROBE_MULTI`.
const PROGRAM_TYPE_KPROBE: u32 = 2;
const ATTACH_KPROBE_MULTI: u32 = 42;

/// Bytes for the verifier's log about a program that it refuses.
const LOG_OCTETS: usize = 1 << 22;

/// Head of `union bpf_attr` for loading a program.
#[repr(C)]
struct ProgramLoad {
    kind: u32,
    instructions: u32,
    code: u64,
    license: u64,
    log_level: u32,
    log_octets: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
    interface: u32,
    expected_attach_type: u32,
}

/// Head of `union bpf_attr` for a link to many functions.
#[repr(C)]
struct LinkCreate {
    program: u32,
    target: u32,
    attach_type: u32,
    flags: u32,
    multi_flags: u32,
    count: u32,
    symbols: u64,
    addresses: u64,
    cookies: u64,
}

/// Head of `union bpf_attr` for a query about an object.
#[repr(C)]
struct ObjectInfo {
    object: RawFd,
    octets: u32,
    info: u64,
}

/// `struct bpf_link_info` of a link to many functions, up to the last field that is read.
#[repr(C)]
#[derive(Default)]
struct LinkInfo {
    kind: u32,
    id: u32,
    program: u32,
    padding: u32,
    addresses: u64,
    count: u32,
    flags: u32,
    missed: u64,
}

/// Why the kernel refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{errno}{said}")]
pub struct Refused {
    /// The error number that it returned.
    pub errno: Errno,
    /// The last line of the verifier's log, if there is one.
    pub said: String,
}

/// Has the kernel check and compile a program for function entries; each instruction is a word in memory.
///
/// # Errors
/// The kernel refuses; the error says why.
pub fn load(instructions: &[u64], license: &CStr) -> Result<OwnedFd, Refused> {
    load_with(instructions, license, &mut []).map_err(|errno| {
        // Loads again with a log, to learn the reason. The log of an accepted program would not fit, so the first attempt has none.
        let mut log = vec![0u8; LOG_OCTETS];
        let _ = load_with(instructions, license, &mut log);
        Refused {
            errno,
            said: last_line(&log),
        }
    })
}

fn load_with(instructions: &[u64], license: &CStr, log: &mut [u8]) -> Result<OwnedFd, Errno> {
    let has_log = !log.is_empty();
    let attributes = ProgramLoad {
        kind: PROGRAM_TYPE_KPROBE,
        instructions: u32::try_from(instructions.len()).unwrap_or(u32::MAX),
        code: instructions.as_ptr().addr() as u64,
        license: license.as_ptr().addr() as u64,
        log_level: u32::from(has_log),
        log_octets: u32::try_from(log.len()).unwrap_or(0),
        log: if has_log { log.as_mut_ptr().addr() as u64 } else { 0 },
        kernel_version: 0,
        flags: 0,
        name: [0; 16],
        interface: 0,
        expected_attach_type: ATTACH_KPROBE_MULTI,
    };
    // SAFETY: the instructions, the terminated licence and the log outlive the call and have the lengths given.
    unsafe { descriptor(PROGRAM_LOAD, &attributes) }
}

/// Attaches the program to the entries of functions for as long as the returned descriptor is open. The program sees the number
/// given for each function.
///
/// # Errors
/// The kernel refuses: `EINVAL` before Linux 5.18 and without `CONFIG_FPROBE`, `ESRCH` if there is no such function.
pub fn attach(program: &OwnedFd, functions: &[(CString, u64)]) -> Result<OwnedFd, Errno> {
    let symbols: Vec<u64> = functions.iter().map(|(name, _)| name.as_ptr().addr() as u64).collect();
    let cookies: Vec<u64> = functions.iter().map(|(_, cookie)| *cookie).collect();
    let attributes = LinkCreate {
        program: program.as_raw_fd().cast_unsigned(),
        target: 0,
        attach_type: ATTACH_KPROBE_MULTI,
        flags: 0,
        multi_flags: 0,
        count: u32::try_from(functions.len()).unwrap_or(u32::MAX),
        symbols: symbols.as_ptr().addr() as u64,
        addresses: 0,
        cookies: cookies.as_ptr().addr() as u64,
    };
    // SAFETY: there are as many addresses of terminated names, and as many words, as the count says; all outlive the call.
    unsafe { descriptor(LINK_CREATE, &attributes) }
}

/// Number of function entries at which the link's program did not run because the CPU was already handling such an entry.
///
/// Kernels before Linux 6.7 do not count this and leave it 0.
///
/// # Errors
/// The kernel refuses.
pub fn missed(link: &OwnedFd) -> Result<u64, Errno> {
    let mut info = LinkInfo::default();
    let attributes = ObjectInfo {
        object: link.as_raw_fd(),
        octets: size_of::<LinkInfo>() as u32,
        info: (&raw mut info).addr() as u64,
    };
    // SAFETY: the kernel writes no more bytes of the information than the given length, and the buffer outlives the call; the
    // request asks for no list of addresses.
    unsafe { call(OBJECT_INFO, &attributes) }?;
    Ok(info.missed)
}

fn last_line(log: &[u8]) -> String {
    let end = log.iter().position(|octet| *octet == 0).unwrap_or(log.len());
    let text = String::from_utf8_lossy(&log[..end]);
    let mut lines = text.lines().filter(|line| !line.starts_with("processed "));
    lines.next_back().map_or_else(String::new, |line| format!(": {line}"))
}

#[cfg(test)]
mod tests {
    use super::{LinkCreate, LinkInfo, ObjectInfo, ProgramLoad};
    use crate::layout::{assert_as_in_kernel, places};

    #[test]
    fn the_heads_are_the_kernels() {
        let fields = places!(ProgramLoad: kind = "prog_type", instructions = "insn_cnt", code = "insns", license, log_level,
            log_octets = "log_size", log = "log_buf", kernel_version = "kern_version", flags = "prog_flags", name = "prog_name",
            interface = "prog_ifindex", expected_attach_type);
        assert_as_in_kernel("union bpf_attr", &fields);
        let fields = places!(LinkCreate: program = "link_create.prog_fd", target = "link_create.target_fd",
            attach_type = "link_create.attach_type", flags = "link_create.flags", multi_flags = "link_create.kprobe_multi.flags",
            count = "link_create.kprobe_multi.cnt", symbols = "link_create.kprobe_multi.syms",
            addresses = "link_create.kprobe_multi.addrs", cookies = "link_create.kprobe_multi.cookies");
        assert_as_in_kernel("union bpf_attr", &fields);
        let fields = places!(ObjectInfo: object = "info.bpf_fd", octets = "info.info_len", info = "info.info");
        assert_as_in_kernel("union bpf_attr", &fields);
        // The other fields may be newer than the headers of the build machine.
        let fields = places!(LinkInfo: kind = "type", id, program = "prog_id");
        assert_as_in_kernel("struct bpf_link_info", &fields);
    }
}
