//! The socket filter: classic BPF that passes the wanted EtherTypes.
//!
//! When it runs, the kernel has taken the outer VLAN tag out of the frame (it is in the ring's header), so the EtherType is at
//! octet 12; behind a tag still in the data it is at 16, behind two at 20. An HSR tag moves it by six octets.

use crate::error::SysError;
use libc::sock_filter;

/// Jumps reach 255 instructions; this keeps three blocks within that, and is far more than the EtherTypes of a process bus.
pub(super) const MOST_ETHERTYPES: usize = 64;

/// 802.1Q customer and 802.1ad service tags.
const CUSTOMER: u32 = 0x8100;
const SERVICE: u32 = 0x88a8;
/// The tag of HSR (IEC 62439-3).
const HSR: u32 = 0x892f;

/// Where the EtherType can be, and at which of these places to go on when a tag stands there: behind no, one and two VLAN tags,
/// and the same behind an HSR tag.
const PLACES: [(u32, &[(u32, usize)]); 6] = [
    (12, &[(CUSTOMER, 1), (SERVICE, 1), (HSR, 3)]),
    (16, &[(CUSTOMER, 2), (SERVICE, 2), (HSR, 4)]),
    (20, &[(HSR, 5)]),
    (18, &[(CUSTOMER, 4), (SERVICE, 4)]),
    (22, &[(CUSTOMER, 5), (SERVICE, 5)]),
    (26, &[]),
];

/// Most instructions of the block of a place beside its comparisons with EtherTypes.
const BESIDE: usize = 3 + 3;
/// Blocks that a jump leaps over at most, its own included.
const FARTHEST: usize = 3;

/// `BPF_LD | BPF_H | BPF_ABS`: load 16 bits in network order.
const LOAD: u16 = (libc::BPF_LD | libc::BPF_H | libc::BPF_ABS) as u16;
/// `BPF_JMP | BPF_JEQ | BPF_K`: jump when equal.
const JUMP: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
/// `BPF_RET | BPF_K`: octets of the frame to keep.
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

const ALL: u32 = u32::MAX;
const NONE: u32 = 0;

/// The program for these EtherTypes; an empty list makes one that passes all.
pub(super) fn program(ethertypes: &[u16]) -> Result<Vec<sock_filter>, SysError> {
    if ethertypes.len() > MOST_ETHERTYPES {
        return Err(SysError::Invalid {
            what: format!(
                "{} EtherTypes to filter for: at most {MOST_ETHERTYPES}, or none for all",
                ethertypes.len()
            ),
        });
    }
    if ethertypes.is_empty() {
        return Ok(vec![end(ALL)]);
    }
    let length = |onward: &[(u32, usize)]| 1 + ethertypes.len() + onward.len() + 2;
    let start = |place: usize| PLACES[..place].iter().map(|(_, onward)| length(onward)).sum::<usize>();
    let mut program = Vec::new();
    for (place, (position, onward)) in PLACES.iter().enumerate() {
        program.push(load(*position));
        let all = start(place + 1) - 1;
        let wanted = ethertypes.iter().map(|ethertype| (u32::from(*ethertype), all));
        let onward = onward.iter().map(|(tag, place)| (*tag, start(*place)));
        for (value, target) in wanted.chain(onward) {
            let next = program.len() + 1;
            program.push(jump(value, target - next));
        }
        program.push(end(NONE));
        program.push(end(ALL));
    }
    Ok(program)
}

const fn load(position: u32) -> sock_filter {
    sock_filter {
        code: LOAD,
        jt: 0,
        jf: 0,
        k: position,
    }
}

/// Leaps over `instructions` if the loaded value is `value`.
fn jump(value: u32, instructions: usize) -> sock_filter {
    sock_filter {
        code: JUMP,
        jt: u8::try_from(instructions).expect("the blocks are shorter than a jump reaches"),
        jf: 0,
        k: value,
    }
}

const fn end(octets: u32) -> sock_filter {
    sock_filter {
        code: RETURN,
        jt: 0,
        jf: 0,
        k: octets,
    }
}

const _: () = assert!(FARTHEST * (MOST_ETHERTYPES + BESIDE) <= u8::MAX as usize);

#[cfg(test)]
mod tests {
    use super::{HSR, JUMP, LOAD, MOST_ETHERTYPES, RETURN, program};
    use libc::sock_filter;

    /// Runs a program as the kernel does; a load beyond the frame drops it.
    fn passes(program: &[sock_filter], frame: &[u8]) -> bool {
        let (mut counter, mut accumulator) = (0, 0);
        loop {
            let instruction = program[counter];
            counter += 1;
            match instruction.code {
                LOAD => match frame.get(instruction.k as usize..).and_then(|rest| rest.first_chunk()) {
                    Some(octets) => accumulator = u32::from(u16::from_be_bytes(*octets)),
                    None => return false,
                },
                JUMP if accumulator == instruction.k => counter += usize::from(instruction.jt),
                JUMP => counter += usize::from(instruction.jf),
                RETURN => return instruction.k != 0,
                code => panic!("unexpected instruction {code}"),
            }
        }
    }

    fn frame(types_and_tags: &[u16]) -> Vec<u8> {
        let mut octets = vec![0; 12];
        for (index, word) in types_and_tags.iter().enumerate() {
            octets.extend(word.to_be_bytes());
            let is_tag = index + 1 < types_and_tags.len();
            octets.extend([0x80, 5].iter().filter(|_| is_tag));
            octets.extend([0, 9].iter().filter(|_| is_tag && u32::from(*word) == HSR));
        }
        octets.extend([0xba; 46]);
        octets
    }

    #[test]
    fn wanted_types_pass_behind_two_tags_and_that_of_hsr() {
        let program = program(&[0x88ba, 0x88b8]).expect("a program");
        for wanted in [0x88ba, 0x88b8] {
            for tags in [&[][..], &[0x8100], &[0x88a8], &[0x88a8, 0x8100], &[0x8100, 0x8100]] {
                let types: Vec<u16> = tags.iter().copied().chain([wanted]).collect();
                assert!(passes(&program, &frame(&types)), "{types:x?}");
                for place in 0..=tags.len() {
                    let mut types = types.clone();
                    types.insert(place, 0x892f);
                    assert!(passes(&program, &frame(&types)), "{types:x?}");
                }
            }
        }
    }

    #[test]
    fn everything_else_is_dropped() {
        let program = program(&[0x88ba]).expect("a program");
        for types in [
            &[0x0800][..],
            &[0x8100, 0x0800],
            &[0x88a8, 0x8100, 0x0800],
            &[0x8100, 0x8100, 0x8100, 0x88ba],
            &[0x892f, 0x0800],
            &[0x892f, 0x8100, 0x0800],
            &[0x892f, 0x892f, 0x88ba],
            &[0x892f, 0x8100, 0x892f, 0x88ba],
        ] {
            assert!(!passes(&program, &frame(types)), "{types:x?}");
        }
        assert!(!passes(&program, &[0; 13]));
    }

    #[test]
    fn none_asked_for_means_all_and_too_many_are_refused() {
        assert!(passes(&program(&[]).expect("a program"), &[0; 14]));
        let many: Vec<u16> = (0..=MOST_ETHERTYPES as u16).collect();
        assert!(program(&many).expect_err("too many").to_string().contains("at most 64"));
        let most = program(&many[..MOST_ETHERTYPES]).expect("as many as fit");
        for ethertype in &many[..MOST_ETHERTYPES] {
            assert!(passes(&most, &frame(&[0x88a8, 0x8100, *ethertype])), "{ethertype}");
            assert!(
                passes(&most, &frame(&[0x88a8, 0x8100, 0x892f, *ethertype])),
                "{ethertype}"
            );
        }
        assert!(!passes(&most, &frame(&[0x88a8, 0x8100, MOST_ETHERTYPES as u16])));
    }
}
