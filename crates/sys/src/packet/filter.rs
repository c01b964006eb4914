//! The socket filter: classic BPF that passes the wanted EtherTypes.
//!
//! When it runs, the kernel has removed the outer VLAN tag from the frame (it is in the ring's header), so the EtherType is at
//! octet 12; after one tag that is still in the data it is at 16, after two at 20. An HSR tag moves it by six octets.
//!
//! With a UDP port, datagrams to it pass as well, over IPv4 and IPv6 without extension headers, and the first fragment of each.
//!
//! A few frames in which other headers may hide a wanted EtherType also pass. They are chosen at random, so that other traffic on
//! the same interface does not fill the ring.

use crate::error::SysError;
use libc::sock_filter;

/// Jumps reach 255 instructions; this number keeps three blocks within that, and is far more than the EtherTypes of a process bus.
pub(super) const MOST_ETHERTYPES: usize = 54;

/// 802.1Q customer and 802.1ad service tags.
const CUSTOMER: u32 = 0x8100;
const SERVICE: u32 = 0x88a8;
/// The tag of HSR (IEC 62439-3).
const HSR: u32 = 0x892f;

/// Offsets of the EtherType, and the place at which to continue if there is a tag: after no, one and two VLAN tags, and the same
/// after an HSR tag.
const PLACES: [(u32, &[(u32, usize)]); 6] = [
    (12, &[(CUSTOMER, 1), (SERVICE, 1), (HSR, 3)]),
    (16, &[(CUSTOMER, 2), (SERVICE, 2), (HSR, 4)]),
    (20, &[(HSR, 5)]),
    (18, &[(CUSTOMER, 4), (SERVICE, 4)]),
    (22, &[(CUSTOMER, 5), (SERVICE, 5)]),
    (26, &[]),
];

/// EtherTypes of headers that can hide others: IPv4, IPv6, the redundancy tag (IEEE 802.1CB), old VLAN tags, and further tags.
const HIDING: [u32; 8] = [0x0800, 0x86dd, 0xf1c1, 0x9100, 0x9200, CUSTOMER, SERVICE, HSR];
/// Of the frames with such a header, one in so many passes; the value is a mask, one less than that number.
const ONE_IN: u32 = 0xff;

/// EtherTypes of IP.
const IPV4: u32 = 0x0800;
const IPV6: u32 = 0x86dd;
const UDP: u32 = 17;
/// Number of instructions that let datagrams pass, behind IPv4 and behind IPv6.
const OVER_IPV4: usize = 6;
const OVER_IPV6: usize = 5;
const OVER_IP: usize = 2 + OVER_IPV4 + OVER_IPV6;

/// Maximum number of instructions of a place's block in addition to its comparisons with EtherTypes.
const BESIDE: usize = 3 + 3 + HIDING.len() + CHANCE + OVER_IP;
/// Number of instructions that let a part of the frames pass.
const CHANCE: usize = 4;
/// Maximum number of blocks that a jump skips, including its own.
const FARTHEST: usize = 3;

/// `BPF_LD | BPF_H | BPF_ABS`: load 16 bits in network order.
const LOAD: u16 = (libc::BPF_LD | libc::BPF_H | libc::BPF_ABS) as u16;
/// `BPF_JMP | BPF_JEQ | BPF_K`: jump when equal.
const JUMP: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
/// `BPF_RET | BPF_K`: number of octets of the frame to keep.
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
/// `BPF_LD | BPF_W | BPF_ABS`: load 32 bits, here a random number.
const LOAD_WORD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
/// `BPF_ALU | BPF_AND | BPF_K`: keep the bits of a mask.
const MASK: u16 = (libc::BPF_ALU | libc::BPF_AND | libc::BPF_K) as u16;
/// Offset at which the kernel provides a random number for a filter.
const RANDOM: u32 = (libc::SKF_AD_OFF + libc::SKF_AD_RANDOM) as u32;

/// `BPF_LD | BPF_B | BPF_ABS`: load an octet.
const LOAD_OCTET: u16 = (libc::BPF_LD | libc::BPF_B | libc::BPF_ABS) as u16;
/// `BPF_LDX | BPF_B | BPF_MSH`: load the length of an IPv4 header into the index register.
const LOAD_HEADER: u16 = (libc::BPF_LDX | libc::BPF_B | libc::BPF_MSH) as u16;
/// `BPF_LD | BPF_H | BPF_IND`: load 16 bits in network order, behind the index register.
const LOAD_BEHIND: u16 = (libc::BPF_LD | libc::BPF_H | libc::BPF_IND) as u16;

const ALL: u32 = u32::MAX;
const NONE: u32 = 0;

/// Assembles the program for these EtherTypes; an empty list makes one that passes all. With `hidden`, a part of the frames in
/// which other headers may hide them passes, too; with `udp_port`, every datagram to it.
pub(super) fn program(ethertypes: &[u16], hidden: bool, udp_port: Option<u16>) -> Result<Vec<sock_filter>, SysError> {
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
    // With a port, what IP hides is known.
    let hides = |header: &&u32| hidden && !(udp_port.is_some() && [IPV4, IPV6].contains(header));
    let hiding: Vec<u32> = HIDING.iter().filter(hides).copied().collect();
    let chance = if hidden { CHANCE } else { 0 };
    let (to_ip, over_ip) = if udp_port.is_some() {
        (2, OVER_IPV4 + OVER_IPV6)
    } else {
        (0, 0)
    };
    let length =
        |onward: &[(u32, usize)]| 1 + ethertypes.len() + onward.len() + hiding.len() + to_ip + 1 + chance + over_ip + 1;
    let start = |place: usize| PLACES[..place].iter().map(|(_, onward)| length(onward)).sum::<usize>();
    let mut program = Vec::new();
    for (place, (position, onward)) in PLACES.iter().enumerate() {
        program.push(load(*position));
        let all = start(place + 1) - 1;
        let wanted = ethertypes.iter().map(|ethertype| (u32::from(*ethertype), all));
        let onward = onward.iter().map(|(tag, place)| (*tag, start(*place)));
        let hiding = hiding.iter().map(|header| (*header, all - over_ip - chance));
        let ip = [(IPV4, all - over_ip), (IPV6, all - OVER_IPV6)];
        let ip = ip.into_iter().filter(|_| udp_port.is_some());
        for (value, target) in wanted.chain(onward).chain(hiding).chain(ip) {
            let next = program.len() + 1;
            program.push(jump(value, target - next));
        }
        program.push(end(NONE));
        if hidden {
            let passes = 1 + over_ip;
            program.extend([word(LOAD_WORD, RANDOM), word(MASK, ONE_IN), jump(0, passes), end(NONE)]);
        }
        if let Some(port) = udp_port {
            program.extend(over_ipv4(position + 2, port));
            program.extend(over_ipv6(position + 2, port));
        }
        program.push(end(ALL));
    }
    Ok(program)
}

/// Passes a datagram to `port` whose IPv4 header is at `at`.
fn over_ipv4(at: u32, port: u16) -> [sock_filter; OVER_IPV4] {
    [
        word(LOAD_OCTET, at + 9),
        unless(UDP, 3),
        word(LOAD_HEADER, at),
        word(LOAD_BEHIND, at + 2),
        jump(u32::from(port), 1 + OVER_IPV6),
        end(NONE),
    ]
}

/// Passes a datagram to `port` whose IPv6 header is at `at`.
fn over_ipv6(at: u32, port: u16) -> [sock_filter; OVER_IPV6] {
    [
        word(LOAD_OCTET, at + 6),
        unless(UDP, 2),
        word(LOAD, at + 40 + 2),
        jump(u32::from(port), 1),
        end(NONE),
    ]
}

/// Skips `instructions` unless the loaded value is `value`.
fn unless(value: u32, instructions: u8) -> sock_filter {
    sock_filter {
        code: JUMP,
        jt: 0,
        jf: instructions,
        k: value,
    }
}

const fn load(position: u32) -> sock_filter {
    word(LOAD, position)
}

/// An instruction that continues with the next one.
const fn word(code: u16, k: u32) -> sock_filter {
    sock_filter { code, jt: 0, jf: 0, k }
}

/// Skips `instructions` if the loaded value is `value`.
fn jump(value: u32, instructions: usize) -> sock_filter {
    sock_filter {
        code: JUMP,
        jt: u8::try_from(instructions).expect("the blocks are shorter than a jump reaches"),
        jf: 0,
        k: value,
    }
}

const fn end(octets: u32) -> sock_filter {
    word(RETURN, octets)
}

const _: () = assert!(FARTHEST * (MOST_ETHERTYPES + BESIDE) <= u8::MAX as usize);

#[cfg(test)]
mod tests {
    use super::{
        HSR, JUMP, LOAD, LOAD_BEHIND, LOAD_HEADER, LOAD_OCTET, LOAD_WORD, MASK, MOST_ETHERTYPES, RANDOM, RETURN,
        program,
    };
    use libc::sock_filter;

    fn passes(program: &[sock_filter], frame: &[u8]) -> bool {
        passes_by(program, frame, 1)
    }

    /// Runs a program as the kernel does, with the random number `chance`; a load beyond the frame drops it.
    fn passes_by(program: &[sock_filter], frame: &[u8], chance: u32) -> bool {
        let (mut counter, mut accumulator, mut index) = (0, 0, 0);
        loop {
            let instruction = program[counter];
            counter += 1;
            match instruction.code {
                LOAD => match frame.get(instruction.k as usize..).and_then(|rest| rest.first_chunk()) {
                    Some(octets) => accumulator = u32::from(u16::from_be_bytes(*octets)),
                    None => return false,
                },
                LOAD_OCTET => match frame.get(instruction.k as usize) {
                    Some(octet) => accumulator = u32::from(*octet),
                    None => return false,
                },
                LOAD_HEADER => index = usize::from(frame[instruction.k as usize] & 0x0f) * 4,
                LOAD_BEHIND => match frame
                    .get(instruction.k as usize + index..)
                    .and_then(|rest| rest.first_chunk())
                {
                    Some(octets) => accumulator = u32::from(u16::from_be_bytes(*octets)),
                    None => return false,
                },
                LOAD_WORD if instruction.k == RANDOM => accumulator = chance,
                MASK => accumulator &= instruction.k,
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
        let program = program(&[0x88ba, 0x88b8], false, None).expect("a program");
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
        let program = program(&[0x88ba], false, None).expect("a program");
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
    fn of_what_can_hide_them_a_part_passes() {
        let program = program(&[0x88ba, 0x88b8], true, None).expect("a program");
        let hiding = [
            &[0x0800][..],
            &[0x86dd],
            &[0x8100, 0x0800],
            &[0x8100, 0x9100, 0x88ba],
            &[0xf1c1, 0x88ba],
            &[0x8100, 0x8100, 0x8100, 0x88ba],
            &[0x892f, 0x892f, 0x88ba],
            &[0x892f, 0x8100, 0x8100, 0x8100, 0x88ba],
        ];
        for types in hiding {
            assert!(passes_by(&program, &frame(types), 0x100), "{types:x?}");
            assert!(!passes_by(&program, &frame(types), 0x101), "{types:x?}");
        }
        for types in [&[0x88ba][..], &[0x88a8, 0x8100, 0x88b8], &[0x892f, 0x8100, 0x88ba]] {
            assert!(passes_by(&program, &frame(types), 1), "{types:x?}");
        }
        for types in [&[0x0806][..], &[0x8100, 0x88f7], &[0x892f, 0x88fb]] {
            assert!(!passes_by(&program, &frame(types), 0), "{types:x?}");
        }
    }

    /// A datagram to this port, in a packet with this many words of IPv4 options; `None` for IPv6.
    fn datagram(tags: &[u16], options: Option<u8>, protocol: u8, port: u16) -> Vec<u8> {
        let mut octets = vec![0; 12];
        for tag in tags {
            octets.extend([(tag >> 8) as u8, *tag as u8, 0x80, 5]);
        }
        let packet = match options {
            Some(words) => {
                let mut header = vec![0; 20 + 4 * usize::from(words)];
                (header[0], header[9]) = (0x45 + words, protocol);
                octets.extend([0x08, 0]);
                header
            }
            None => {
                let mut header = vec![0; 40];
                (header[0], header[6]) = (0x60, protocol);
                octets.extend([0x86, 0xdd]);
                header
            }
        };
        octets.extend(packet);
        octets.extend([0, 9]);
        octets.extend(port.to_be_bytes());
        octets.extend([0; 40]);
        octets
    }

    #[test]
    fn datagrams_to_the_port_pass_and_no_others() {
        for hidden in [false, true] {
            let program = program(&[0x88ba, 0x88b8], hidden, Some(102)).expect("a program");
            for tags in [&[][..], &[0x8100], &[0x88a8, 0x8100]] {
                for options in [Some(0), Some(3), None] {
                    let passes = |protocol, port| passes_by(&program, &datagram(tags, options, protocol, port), 0);
                    assert!(passes(17, 102), "{tags:x?} {options:?}");
                    assert!(!passes(17, 103), "{tags:x?} {options:?}: another port");
                    assert!(!passes(6, 102), "{tags:x?} {options:?}: TCP");
                }
            }
            assert!(passes(&program, &frame(&[0x8100, 0x88ba])));
            assert_eq!(passes_by(&program, &frame(&[0xf1c1, 0x88ba]), 0), hidden);
            assert!(!passes_by(&program, &frame(&[0x0806]), 0));
        }
        let most: Vec<u16> = (0..MOST_ETHERTYPES as u16).collect();
        let most = program(&most, true, Some(102)).expect("as many as fit");
        assert!(passes(&most, &datagram(&[0x8100, 0x8100], Some(0), 17, 102)));
    }

    #[test]
    fn none_asked_for_means_all_and_too_many_are_refused() {
        assert!(passes(&program(&[], false, None).expect("a program"), &[0; 14]));
        let many: Vec<u16> = (0..=MOST_ETHERTYPES as u16).collect();
        assert!(
            program(&many, false, None)
                .expect_err("too many")
                .to_string()
                .contains("at most 54")
        );
        let most = program(&many[..MOST_ETHERTYPES], true, None).expect("as many as fit");
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
