// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
//
// Parses a frame of sampled values up to its first smpCnt.

// In memory order of little-endian machines, for which this is built.
#define ETH_SV 0xba88
#define ETH_8021Q 0x0081
#define ETH_8021AD 0xa888

#include "stream_layout.h"

#define ID_OCTETS 129
_Static_assert(ID_OCTETS <= 8 * ID_WORDS, "room for an svID");
// Number of bytes of a frame that are parsed, and size of their buffer.
#define FRAME_OCTETS 320
#define SCRATCH 512

// The fields of a frame that are needed.
struct frame {
	struct stream_key key;
	u16 smp_cnt;
	u16 vlan;
	u32 smp_cnt_at;
	u32 id_at;
	u32 id_octets;
	u32 asdus;
	u32 whole_octets; // from its beginning, by its own Length
};

inline_always u32 big_endian(const u8 *octets)
{
	return octets[0] << 8 | octets[1];
}

#define AT_MOST (SCRATCH - 160)

// The type of an offset in the frame. With 64 bits, verifiers before Linux 6.8 know more: they forget the bounds of a number whose lower
// half is moved to another register.
#ifndef PLACE
#define PLACE u32
#endif

// A number that is checked and used in the same register: verifiers before Linux 6.13 do not derive its bound from that of the number
// minus one, or from that of a copy.
inline_always u64 one_register(u64 number)
{
	__asm__ volatile("" : "+r"(number));
	return number;
}

// The same offset, passed through memory, whose values the verifier does not track: it forgets on which of the many paths the
// frame was read so far, and does not follow each of them further. The last bytes of the buffer are reserved for it. An offset
// that is too large stays too large.
inline_always PLACE forget(u8 *octets, PLACE at)
{
	volatile u32 *room = (volatile u32 *)(octets + SCRATCH - sizeof(*room));
	*room = at;
	u64 back = *room;
	return one_register(back > AT_MOST ? AT_MOST + 1 : back);
}

// The length of a BER element whose tag was read; moves `at` to its contents. Lengths of up to two octets.
inline_always s64 ber_length(const u8 *octets, PLACE *at)
{
	PLACE here = *at;
	if (here > AT_MOST)
		return -1;
	u32 first = octets[here];
	if (first < 0x80) {
		*at = here + 1;
		return first;
	}
	if (first == 0x81) {
		*at = here + 2;
		return octets[here + 1];
	}
	if (first == 0x82) {
		*at = here + 3;
		return big_endian(octets + here + 1);
	}
	return -1;
}

// Enters an element with this tag; returns its length, or negative.
inline_always s64 enter(u8 *octets, PLACE *at, u8 tag)
{
	PLACE here = *at;
	if (here > AT_MOST || octets[here] != tag)
		return -1;
	*at = here + 1;
	s64 length = ber_length(octets, at);
	*at = forget(octets, *at);
	return length;
}

inline_always u64 fnv1a(const u8 *octets, PLACE at, u32 length)
{
	u64 hash = HASH_BASIS;
#pragma clang loop unroll(disable)
	for (u32 i = 0; i < ID_OCTETS; i++) {
		if (i >= length)
			break;
		hash = (hash ^ octets[at + i]) * HASH_PRIME;
	}
	return hash;
}

// Enters an element with this tag that ends within the one around it, and sets `end` to its end; returns 0, or negative.
inline_always int enter_within(u8 *octets, PLACE *at, PLACE *end, u8 tag)
{
	s64 length = enter(octets, at, tag);
	if (length < 0 || *at + length > *end)
		return -1;
	*end = *at + length;
	return 0;
}

// IEC 61850-9-2, clause 8: from APPID at `at`; `captured` is the end of the captured bytes. 0 if it is valid up to its first smpCnt, each
// element within the one around it. The caller checks the length of the frame.
inline_always int parse_sv(u8 *octets, PLACE at, u32 captured, struct frame *frame)
{
	frame->key.appid = big_endian(octets + at);
	PLACE end = at + big_endian(octets + at + 2);
	frame->whole_octets = end;
	at += 8;
	if (enter_within(octets, &at, &end, 0x60))
		return -1;
	if (enter(octets, &at, 0x80) != 1 || at > AT_MOST)
		return -1;
	frame->asdus = octets[at];
	at += 1;
	// Security, optional.
	if (at <= AT_MOST && octets[at] == 0xa1) {
		s64 length = enter(octets, &at, 0xa1);
		if (length < 0 || length > 255)
			return -1;
		at = forget(octets, at + length);
	}
	if (enter_within(octets, &at, &end, 0xa2) || enter_within(octets, &at, &end, 0x30))
		return -1;
	s64 length = enter(octets, &at, 0x80);
	if (length < 1 || length > ID_OCTETS || at > AT_MOST)
		return -1;
	frame->id_at = at;
	frame->id_octets = length;
	if (at + length > captured || at + length > end)
		return -1;
	at = forget(octets, at + length);
	// datSet, optional.
	if (at <= AT_MOST && octets[at] == 0x81) {
		length = enter(octets, &at, 0x81);
		if (length < 0 || length > 255)
			return -1;
		at = forget(octets, at + length);
	}
	if (enter(octets, &at, 0x82) != 2 || at > AT_MOST || at + 2 > captured || at + 2 > end)
		return -1;
	frame->smp_cnt = big_endian(octets + at);
	frame->smp_cnt_at = at;
	return 0;
}

inline_always int is_vlan(u16 protocol)
{
	return protocol == ETH_8021Q || protocol == ETH_8021AD;
}
