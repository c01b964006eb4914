//! The part of bpf(2) that lets a small program take frames at an interface: maps, a program, a link, and the program's
//! instructions.
//!
//! Each structure is the head of the kernel's `union bpf_attr` (linux/bpf.h); the kernel takes the rest of the union as zero.

use crate::error::{SysError, last_errno};
use crate::privilege::Capability;
use rustix::io::Errno;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;

const MAP_CREATE: libc::c_int = 0;
const MAP_UPDATE: libc::c_int = 2;
pub(crate) const PROGRAM_LOAD: libc::c_int = 5;
pub(crate) const LINK_CREATE: libc::c_int = 28;

/// `BPF_MAP_TYPE_XSKMAP`.
const XSKMAP: u32 = 17;

/// `BPF_PROG_TYPE_XDP`, `BPF_XDP`.
pub(crate) const PROGRAM_TYPE_XDP: u32 = 6;
pub(crate) const ATTACH_XDP: u32 = 37;

/// The programs call no helper that asks for a GPL-compatible licence.
const LICENSE: &std::ffi::CStr = c"Apache-2.0";

/// One instruction (`struct bpf_insn`): operation, destination register in the low and source register in the high half of a byte,
/// offset, immediate.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Instruction {
    pub(crate) code: u8,
    pub(crate) registers: u8,
    pub(crate) offset: i16,
    pub(crate) immediate: i32,
}

/// Builds an instruction from its parts.
pub(crate) const fn op(code: u8, destination: u8, source: u8, offset: i16, immediate: i32) -> Instruction {
    Instruction {
        code,
        registers: destination | source << 4,
        offset,
        immediate,
    }
}

/// A program under construction: instructions, jumps to parts of it, and where the parts begin.
#[derive(Debug)]
pub(crate) struct Assembly<T> {
    instructions: Vec<(Instruction, Option<T>)>,
    parts: Vec<(T, usize)>,
}

impl<T> Default for Assembly<T> {
    fn default() -> Self {
        Self {
            instructions: Vec::new(),
            parts: Vec::new(),
        }
    }
}

impl<T: Copy + PartialEq> Assembly<T> {
    pub(crate) fn add(&mut self, instructions: &[Instruction]) {
        self.instructions.extend(instructions.iter().map(|one| (*one, None)));
    }

    /// Adds a jump to `target`, taken when `register` and `number` compare as `code` says.
    pub(crate) fn jump(&mut self, code: u8, register: u8, number: i32, target: T) {
        self.jump_by(op(code, register, 0, 0, number), target);
    }

    /// Adds the jump `instruction` to `target`.
    pub(crate) fn jump_by(&mut self, instruction: Instruction, target: T) {
        self.instructions.push((instruction, Some(target)));
    }

    /// Begins the part `part` here.
    pub(crate) fn part(&mut self, part: T) {
        self.parts.push((part, self.instructions.len()));
    }

    /// Returns the instructions, with the distances of their jumps filled in.
    pub(crate) fn resolved(self) -> Vec<Instruction> {
        let at_of = |target| self.parts.iter().find(|(part, _)| *part == target).map(|(_, at)| *at);
        let resolve = |(at, (instruction, target)): (usize, &(Instruction, Option<T>))| Instruction {
            offset: match target.and_then(at_of) {
                Some(to) => i16::try_from(to - at - 1).expect("a few hundred instructions, jumped forwards"),
                None => instruction.offset,
            },
            ..*instruction
        };
        self.instructions.iter().enumerate().map(resolve).collect()
    }
}

#[repr(C)]
struct MapCreate {
    kind: u32,
    key_bytes: u32,
    value_bytes: u32,
    entries: u32,
    flags: u32,
}

#[repr(C)]
struct MapUpdate {
    map: u32,
    padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C)]
struct ProgramLoad {
    kind: u32,
    instructions: u32,
    code: u64,
    license: u64,
}

#[repr(C)]
struct LinkCreate {
    program: u32,
    interface: u32,
    attach_type: u32,
    flags: u32,
}

/// Makes an array of `entries` values of `value_bytes` each that can be mapped, like the arrays of compiled eBPF objects.
#[cfg(test)]
pub(crate) fn array(value_bytes: u32, entries: u32) -> Result<OwnedFd, Errno> {
    /// `BPF_MAP_TYPE_ARRAY`, `BPF_F_MMAPABLE`.
    const ARRAY: u32 = 2;
    const MAPPABLE: u32 = 1 << 10;
    let attributes = MapCreate {
        kind: ARRAY,
        key_bytes: 4,
        value_bytes,
        entries,
        flags: MAPPABLE,
    };
    // SAFETY: the attributes hold no addresses.
    unsafe { descriptor(MAP_CREATE, &attributes) }
}

/// Makes a map of `entries` AF_XDP sockets, indexed by receive queue.
pub(crate) fn socket_map(entries: u32) -> Result<OwnedFd, Errno> {
    let attributes = MapCreate {
        kind: XSKMAP,
        key_bytes: 4,
        value_bytes: 4,
        entries,
        flags: 0,
    };
    // SAFETY: the attributes hold no addresses.
    unsafe { descriptor(MAP_CREATE, &attributes) }
}

/// Puts a socket into the map, for the frames of `queue`.
pub(crate) fn insert(map: &OwnedFd, queue: u32, socket: &OwnedFd) -> Result<(), Errno> {
    let socket = word(socket.as_raw_fd());
    let attributes = MapUpdate {
        map: word(map.as_raw_fd()),
        padding: 0,
        key: address(&queue),
        value: address(&socket),
        flags: 0,
    };
    // SAFETY: key and value are words that outlive the call, and the map's keys and values are words.
    unsafe { call(MAP_UPDATE, &attributes) }.map(|_| ())
}

/// Has the kernel check and compile a program.
pub(crate) fn load(kind: u32, program: &[Instruction]) -> Result<OwnedFd, Errno> {
    let attributes = ProgramLoad {
        kind,
        instructions: u32::try_from(program.len()).unwrap_or(u32::MAX),
        code: program.as_ptr().addr() as u64,
        license: LICENSE.as_ptr().addr() as u64,
    };
    // SAFETY: the instructions and the terminated licence outlive the call.
    unsafe { descriptor(PROGRAM_LOAD, &attributes) }
}

/// Attaches the program to an interface for as long as the returned descriptor is open. It is detached when the process ends, in
/// whatever way.
pub(crate) fn attach(program: &OwnedFd, interface: u32, attach_type: u32, flags: u32) -> Result<OwnedFd, Errno> {
    let attributes = LinkCreate {
        program: word(program.as_raw_fd()),
        interface,
        attach_type,
        flags,
    };
    // SAFETY: the attributes hold no addresses.
    unsafe { descriptor(LINK_CREATE, &attributes) }
}

/// Turns a refusal into an error. It may be due to a missing privilege: bpf(2) requires both.
pub(crate) fn refused(operation: &'static str, name: &Arc<str>, errno: Errno) -> SysError {
    let missing = [Capability::NetAdmin, Capability::Bpf]
        .into_iter()
        .find(|capability| !crate::privilege::has(*capability));
    match errno {
        Errno::NOSYS => SysError::MissingFeature {
            what: format!("{operation} {name}"),
            needs: "CONFIG_BPF_SYSCALL",
        },
        _ => SysError::or_capability(missing.unwrap_or(Capability::Bpf), operation, Arc::clone(name), errno),
    }
}

fn word(fd: RawFd) -> u32 {
    fd.cast_unsigned()
}

fn address(word: &u32) -> u64 {
    std::ptr::from_ref(word).addr() as u64
}

/// # Safety
/// As for [`call`], and the command must be one that makes a descriptor.
pub(crate) unsafe fn descriptor<T>(command: libc::c_int, attributes: &T) -> Result<OwnedFd, Errno> {
    // SAFETY: passed on to the caller.
    let fd = unsafe { call(command, attributes) }?;
    // SAFETY: the descriptor was just made by bpf(2), close-on-exec, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// # Safety
/// Addresses in the attributes must point to data of the kind that the command expects there.
pub(crate) unsafe fn call<T>(command: libc::c_int, attributes: &T) -> Result<RawFd, Errno> {
    // SAFETY: the pointer is to a whole T, and the length is T's; the caller promises the rest.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(attributes), size_of::<T>()) };
    match RawFd::try_from(result) {
        Ok(fd) if fd >= 0 => Ok(fd),
        _ => Err(last_errno()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Instruction, LinkCreate, MapCreate, MapUpdate, ProgramLoad};
    use crate::layout::{assert_as_in_kernel, places};

    #[test]
    fn the_heads_are_the_kernels() {
        let fields = places!(MapCreate: kind = "map_type", key_bytes = "key_size", value_bytes = "value_size",
            entries = "max_entries", flags = "map_flags");
        assert_as_in_kernel("union bpf_attr", &fields);
        let fields = places!(MapUpdate: map = "map_fd", key, value, flags);
        assert_as_in_kernel("union bpf_attr", &fields);
        let fields = places!(ProgramLoad: kind = "prog_type", instructions = "insn_cnt", code = "insns", license);
        assert_as_in_kernel("union bpf_attr", &fields);
        let fields = places!(LinkCreate: program = "link_create.prog_fd", interface = "link_create.target_ifindex",
            attach_type = "link_create.attach_type", flags = "link_create.flags");
        assert_as_in_kernel("union bpf_attr", &fields);
        // The registers are fields of four bits each, which have no offset.
        let fields = places!(Instruction: code, offset = "off", immediate = "imm");
        assert_as_in_kernel("struct bpf_insn", &fields);
        assert_eq!(size_of::<Instruction>(), 8);
    }
}
