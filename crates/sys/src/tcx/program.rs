//! The program: it copies frames of the wanted EtherTypes into a slot and drops them; all others go on.
//!
//! A slot is taken by an atomic addition, since each CPU may run the program at the same time, and its number is written last: who
//! sees it sees the frame.

use super::Shape;
use super::ring::{Control, Slot, Tag};
use crate::bpf::{Assembly, Instruction, op};
use crate::error::SysError;
use crate::layout::octets_of;
use crate::packet::MOST_ETHERTYPES;
use std::mem::offset_of;

/// Registers: 0 returns, 1 to 5 are arguments and scratch, 6 to 9 outlive calls, 10 is the stack.
const R0: u8 = 0;
const R1: u8 = 1;
const R2: u8 = 2;
const R3: u8 = 3;
const R4: u8 = 4;
const SKB: u8 = 6;
const SLOT: u8 = 7;
const NUMBER: u8 = 8;
const CONTROL: u8 = 9;
const STACK: u8 = 10;

/// Operations (linux/bpf.h): class, size or kind, source.
const LOAD_WORD: u8 = 0x61;
const LOAD_LONG: u8 = 0x79;
const LOAD_MAP: u8 = 0x18;
const STORE_WORD: u8 = 0x63;
const STORE_HALF: u8 = 0x6b;
const STORE_NUMBER: u8 = 0x62;
const ATOMIC: u8 = 0xdb;
const MOVE: u8 = 0xbf;
const MOVE_NUMBER: u8 = 0xb7;
const ADD_NUMBER: u8 = 0x07;
const AND_NUMBER: u8 = 0x57;
const SUBTRACT: u8 = 0x1f;
const JUMP: u8 = 0x05;
const JUMP_EQUAL: u8 = 0x15;
const JUMP_AT_LEAST: u8 = 0x35;
const JUMP_AT_MOST: u8 = 0xb5;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;

/// Kinds of [`ATOMIC`].
const ADD: i32 = 0;
const FETCH_ADD: i32 = 1;
const EXCHANGE: i32 = 0xe1;

/// Source registers that say what a number is: a map's descriptor, and one whose first value is meant.
const MAP_DESCRIPTOR: u8 = 1;
const MAP_VALUE: u8 = 2;

/// Helpers.
const MAP_LOOKUP: i32 = 1;
const LOAD_BYTES: i32 = 26;

/// Head of `struct __sk_buff` (linux/bpf.h).
#[repr(C)]
struct SkBuff {
    len: u32,
    pkt_type: u32,
    mark: u32,
    queue_mapping: u32,
    protocol: u32,
    vlan_present: u32,
    vlan_tci: u32,
    vlan_proto: u32,
}

const LENGTH: i16 = offset_of!(SkBuff, len) as i16;
const PROTOCOL: i16 = offset_of!(SkBuff, protocol) as i16;
const VLAN_PRESENT: i16 = offset_of!(SkBuff, vlan_present) as i16;
const VLAN_TCI: i16 = offset_of!(SkBuff, vlan_tci) as i16;
const VLAN_PROTOCOL: i16 = offset_of!(SkBuff, vlan_proto) as i16;

/// What this side reads is written here by the same structures.
const HEAD_AT: i16 = offset_of!(Control, head) as i16;
const TAIL_AT: i16 = offset_of!(Control, tail) as i16;
const DROPPED_AT: i16 = offset_of!(Control, dropped) as i16;
const NUMBER_AT: i16 = offset_of!(Slot, number) as i16;
const LENGTH_AT: i16 = offset_of!(Slot, length) as i16;
const TAG_AT: i16 = offset_of!(Slot, tag) as i16;
const TCI_AT: i16 = TAG_AT + offset_of!(Tag, tci) as i16;
const TAG_PROTOCOL_AT: i16 = TAG_AT + offset_of!(Tag, protocol) as i16;
const FRAME_AT: i32 = size_of::<Slot>() as i32;

// As many octets as the operations on them: longs, words (both halves of the tag are cleared as one) and halves.
const _: () = assert!(octets_of(|slot: &Slot| &slot.number) == 8);
const _: () = assert!(octets_of(|slot: &Slot| &slot.length) == 4 && octets_of(|slot: &Slot| &slot.tag) == 4);
const _: () = assert!(octets_of(|tag: &Tag| &tag.tci) == 2 && octets_of(|tag: &Tag| &tag.protocol) == 2);

/// Verdicts: `TCX_NEXT`, `TCX_DROP`.
const NEXT: i32 = -1;
const DROP: i32 = 2;

/// Octets of an Ethernet header.
const SHORTEST: i32 = 14;

/// Where a jump leads to, until the addresses are known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Following,
    Take,
    Fits,
    Untagged,
    Copied,
    Full,
    Pass,
}

/// The program that takes nothing.
pub(super) fn all_go_on() -> [Instruction; 2] {
    [op(MOVE_NUMBER, R0, 0, 0, NEXT), op(EXIT, 0, 0, 0, 0)]
}

/// The program for these EtherTypes and this ring.
pub(super) fn assemble(ethertypes: &[u16], shape: &Shape) -> Result<Vec<Instruction>, SysError> {
    if !(1..=MOST_ETHERTYPES).contains(&ethertypes.len()) {
        return Err(SysError::Invalid {
            what: format!("{} EtherTypes to take: 1 to {MOST_ETHERTYPES}", ethertypes.len()),
        });
    }
    let mut code = Assembly::default();
    code.add(&[op(MOVE, SKB, R1, 0, 0), op(LOAD_WORD, R2, SKB, PROTOCOL, 0)]);
    for ethertype in ethertypes {
        // The load is in the machine's order, the frame in the network's.
        code.jump(JUMP_EQUAL, R2, i32::from(ethertype.to_be()), Target::Take);
    }
    code.jump(JUMP, 0, 0, Target::Pass);
    code.part(Target::Take);
    take_slot(&mut code, shape);
    write_head(&mut code, shape);
    write_frame(&mut code);
    code.part(Target::Full);
    code.add(&[
        op(MOVE_NUMBER, R1, 0, 0, 1),
        op(ATOMIC, CONTROL, R1, DROPPED_AT, ADD),
        op(MOVE_NUMBER, R0, 0, 0, DROP),
        op(EXIT, 0, 0, 0, 0),
    ]);
    code.part(Target::Pass);
    code.add(&all_go_on());
    Ok(code.resolved())
}

/// A slot of our own, unless too many wait.
fn take_slot(code: &mut Assembly<Target>, shape: &Shape) {
    code.add(&[
        op(LOAD_MAP, CONTROL, MAP_VALUE, 0, shape.control),
        op(0, 0, 0, 0, 0),
        op(LOAD_LONG, R1, CONTROL, HEAD_AT, 0),
        op(LOAD_LONG, R2, CONTROL, TAIL_AT, 0),
        op(SUBTRACT, R1, R2, 0, 0),
    ]);
    code.jump(JUMP_AT_LEAST, R1, shape.room.cast_signed(), Target::Full);
    code.add(&[
        op(MOVE_NUMBER, NUMBER, 0, 0, 1),
        op(ATOMIC, CONTROL, NUMBER, HEAD_AT, FETCH_ADD),
        op(MOVE, R1, NUMBER, 0, 0),
        op(AND_NUMBER, R1, 0, 0, shape.mask.cast_signed()),
        op(STORE_WORD, STACK, R1, -4, 0),
        op(MOVE, R2, STACK, 0, 0),
        op(ADD_NUMBER, R2, 0, 0, -4),
        op(LOAD_MAP, R1, MAP_DESCRIPTOR, 0, shape.slots),
        op(0, 0, 0, 0, 0),
        op(CALL, 0, 0, 0, MAP_LOOKUP),
    ]);
    // Never: the mask keeps the number inside the map. The kernel insists on it.
    code.jump(JUMP_EQUAL, R0, 0, Target::Pass);
    code.add(&[op(MOVE, SLOT, R0, 0, 0)]);
}

/// Length and tag; leaves the octets to copy in the fourth argument.
fn write_head(code: &mut Assembly<Target>, shape: &Shape) {
    code.add(&[
        op(LOAD_WORD, R4, SKB, LENGTH, 0),
        op(STORE_WORD, SLOT, R4, LENGTH_AT, 0),
        op(STORE_NUMBER, SLOT, 0, TAG_AT, 0),
        op(LOAD_WORD, R1, SKB, VLAN_PRESENT, 0),
    ]);
    code.jump(JUMP_EQUAL, R1, 0, Target::Untagged);
    code.add(&[
        op(LOAD_WORD, R1, SKB, VLAN_TCI, 0),
        op(STORE_HALF, SLOT, R1, TCI_AT, 0),
        op(LOAD_WORD, R1, SKB, VLAN_PROTOCOL, 0),
        op(STORE_HALF, SLOT, R1, TAG_PROTOCOL_AT, 0),
    ]);
    code.part(Target::Untagged);
    code.jump(JUMP_AT_MOST, R4, shape.frame_bytes.cast_signed(), Target::Fits);
    code.add(&[op(MOVE_NUMBER, R4, 0, 0, shape.frame_bytes.cast_signed())]);
    code.part(Target::Fits);
}

/// The frame, and then the slot's number, one more than that of the frame.
fn write_frame(code: &mut Assembly<Target>) {
    let copy = [
        op(MOVE, R1, SKB, 0, 0),
        op(MOVE_NUMBER, R2, 0, 0, 0),
        op(MOVE, R3, SLOT, 0, 0),
        op(ADD_NUMBER, R3, 0, 0, FRAME_AT),
        op(CALL, 0, 0, 0, LOAD_BYTES),
    ];
    // A slot that was taken is written whatever comes, or the reader would wait for it for ever.
    let none = op(STORE_NUMBER, SLOT, 0, LENGTH_AT, 0);
    code.jump(JUMP_AT_LEAST, R4, SHORTEST, Target::Following);
    code.add(&[none]);
    code.jump(JUMP, 0, 0, Target::Copied);
    code.part(Target::Following);
    code.add(&copy);
    code.jump(JUMP_EQUAL, R0, 0, Target::Copied);
    code.add(&[none]);
    code.part(Target::Copied);
    code.add(&[
        op(ADD_NUMBER, NUMBER, 0, 0, 1),
        op(ATOMIC, SLOT, NUMBER, NUMBER_AT, EXCHANGE),
        op(MOVE_NUMBER, R0, 0, 0, DROP),
        op(EXIT, 0, 0, 0, 0),
    ]);
}

#[cfg(test)]
mod tests {
    use super::{MOST_ETHERTYPES, Shape, SkBuff, assemble};
    use crate::layout::{assert_as_in_kernel, places};

    const SHAPE: Shape = Shape {
        control: 3,
        slots: 4,
        mask: 127,
        room: 126,
        frame_bytes: 1_518,
    };

    /// What the program does with frames is tested with the kernel's own verifier and compiler, in tests/tcx.rs.
    #[test]
    fn one_program_for_one_to_many_types() {
        let lengths = [1, 2, MOST_ETHERTYPES].map(|types| {
            let types: Vec<u16> = (0x8800..).take(types).collect();
            assemble(&types, &SHAPE).expect("a program").len() - types.len()
        });
        assert!(lengths.iter().all(|length| *length == lengths[0]), "{lengths:?}");
        for types in [0, MOST_ETHERTYPES + 1] {
            let types: Vec<u16> = (0x8800..).take(types).collect();
            let error = assemble(&types, &SHAPE).expect_err("none, and too many");
            assert!(error.to_string().ends_with("EtherTypes to take: 1 to 64"), "{error}");
        }
    }

    #[test]
    fn frames_are_as_the_kernel_shows_them() {
        let fields = places!(SkBuff: len, protocol, vlan_present, vlan_tci, vlan_proto);
        assert_as_in_kernel("struct __sk_buff", &fields);
    }
}
