//! The XDP program: frames of the wanted EtherTypes go to the socket of their receive queue, all others to the kernel.
//!
//! Assembled here, so that nothing must be compiled or found at run time. XDP sees a VLAN tag in the data unless the NIC has
//! removed it (`ethtool -k`: rx-vlan-offload); the EtherType is then at octet 16, after two tags at 20.

use crate::bpf::{Assembly, Instruction, op};
use crate::error::SysError;
use crate::packet::MOST_ETHERTYPES;
use std::mem::offset_of;

/// 802.1Q customer and 802.1ad service tags.
const TAGS: [u16; 2] = [0x8100, 0x88a8];
/// Offsets of the EtherType: after no, one and two tags in the data.
const POSITIONS: [i16; 3] = [12, 16, 20];

/// Registers: 0 for the result, 1 to 5 for arguments and scratch; 6 survives calls.
const R0: u8 = 0;
const R1: u8 = 1;
const R2: u8 = 2;
const R3: u8 = 3;
const R4: u8 = 4;
const R5: u8 = 5;
const R6: u8 = 6;

/// Operations (linux/bpf.h): class, size or kind, source.
const LOAD_WORD: u8 = 0x61;
const LOAD_HALF: u8 = 0x69;
const LOAD_MAP: u8 = 0x18;
const MOVE: u8 = 0xbf;
const MOVE_NUMBER: u8 = 0xb7;
const ADD_NUMBER: u8 = 0x07;
const JUMP: u8 = 0x05;
const JUMP_EQUAL: u8 = 0x15;
const JUMP_GREATER: u8 = 0x2d;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;

/// Head of `struct xdp_md` (linux/bpf.h).
#[repr(C)]
struct Context {
    data: u32,
    data_end: u32,
    data_meta: u32,
    ingress_ifindex: u32,
    rx_queue_index: u32,
}

const DATA: i16 = offset_of!(Context, data) as i16;
const DATA_END: i16 = offset_of!(Context, data_end) as i16;
const RX_QUEUE: i16 = offset_of!(Context, rx_queue_index) as i16;

/// The source register value that marks the number as a map's descriptor (`BPF_PSEUDO_MAP_FD`).
const MAP_DESCRIPTOR: u8 = 1;
/// Helper 51: `bpf_redirect_map`.
const REDIRECT_MAP: i32 = 51;
/// Verdict: the frame goes on to the kernel's stack.
const PASS: i32 = 2;

/// Target of a jump.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Pass,
    Take,
    Block(usize),
}

/// Assembles the program for these EtherTypes and this map; an empty list takes all frames.
pub(super) fn assemble(ethertypes: &[u16], map: i32) -> Result<Vec<Instruction>, SysError> {
    if ethertypes.len() > MOST_ETHERTYPES {
        return Err(SysError::Invalid {
            what: format!(
                "{} EtherTypes to take: at most {MOST_ETHERTYPES}, or none for all",
                ethertypes.len()
            ),
        });
    }
    let mut code = Assembly::default();
    code.add(&[op(MOVE, R6, R1, 0, 0)]);
    if !ethertypes.is_empty() {
        code.add(&[op(LOAD_WORD, R2, R1, DATA, 0), op(LOAD_WORD, R3, R1, DATA_END, 0)]);
        for (index, position) in POSITIONS.into_iter().enumerate() {
            code.part(Target::Block(index));
            let tags = if index + 1 < POSITIONS.len() { &TAGS[..] } else { &[] };
            block(&mut code, position, ethertypes, tags, Target::Block(index + 1));
        }
    }
    code.part(Target::Take);
    code.add(&taking(map));
    // The kernel refuses a program with unreachable code.
    if !ethertypes.is_empty() {
        code.part(Target::Pass);
        code.add(&[op(MOVE_NUMBER, R0, 0, 0, PASS), op(EXIT, 0, 0, 0, 0)]);
    }
    Ok(code.resolved())
}

/// One block: a frame that is too short passes, a wanted EtherType is taken, a tag continues with the next block, anything else
/// passes.
fn block(code: &mut Assembly<Target>, position: i16, ethertypes: &[u16], tags: &[u16], onward: Target) {
    code.add(&[
        op(MOVE, R4, R2, 0, 0),
        op(ADD_NUMBER, R4, 0, 0, i32::from(position) + 2),
    ]);
    code.jump_by(op(JUMP_GREATER, R4, R3, 0, 0), Target::Pass);
    code.add(&[op(LOAD_HALF, R5, R2, position, 0)]);
    let wanted = ethertypes.iter().map(|ethertype| (*ethertype, Target::Take));
    for (value, target) in wanted.chain(tags.iter().map(|tag| (*tag, onward))) {
        // The load gives the machine's byte order, and the frame has the network's.
        code.jump(JUMP_EQUAL, R5, i32::from(value.to_be()), target);
    }
    code.jump(JUMP, 0, 0, Target::Pass);
}

/// Passes the frame to the socket of its queue, or to the kernel's stack if the queue has none.
fn taking(map: i32) -> [Instruction; 6] {
    [
        op(LOAD_WORD, R2, R6, RX_QUEUE, 0),
        op(LOAD_MAP, R1, MAP_DESCRIPTOR, 0, map),
        op(0, 0, 0, 0, 0),
        op(MOVE_NUMBER, R3, 0, 0, PASS),
        op(CALL, 0, 0, 0, REDIRECT_MAP),
        op(EXIT, 0, 0, 0, 0),
    ]
}

#[cfg(test)]
mod tests {
    use super::{Context, EXIT, JUMP, JUMP_EQUAL, JUMP_GREATER, MOST_ETHERTYPES, assemble};
    use crate::layout::{assert_as_in_kernel, places};

    /// The program's work on frames is tested with the kernel's own interpreter, in tests/xdp.rs.
    #[test]
    fn every_jump_lands_inside_the_program() {
        let most: Vec<u16> = (0x8800..).take(MOST_ETHERTYPES).collect();
        for ethertypes in [&[][..], &[0x88ba], &most] {
            let program = assemble(ethertypes, 3).expect("a program");
            for (at, instruction) in program.iter().enumerate() {
                if [JUMP, JUMP_EQUAL, JUMP_GREATER].contains(&instruction.code) {
                    let to = at + 1 + usize::try_from(instruction.offset).expect("forwards");
                    assert!(to < program.len(), "{at} to {to} of {}", program.len());
                }
            }
            assert_eq!(program.last().map(|last| last.code), Some(EXIT));
        }
    }

    #[test]
    fn too_many_types_are_refused_with_the_limit() {
        let many: Vec<u16> = (0..=MOST_ETHERTYPES as u16).collect();
        let error = assemble(&many, 3).expect_err("too many");
        assert_eq!(error.to_string(), "55 EtherTypes to take: at most 54, or none for all");
    }

    #[test]
    fn frames_are_as_the_kernel_shows_them() {
        let fields = places!(Context: data, data_end, rx_queue_index);
        assert_as_in_kernel("struct xdp_md", &fields);
    }
}
