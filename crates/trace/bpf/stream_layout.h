// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
//
// How streams are distinguished: shared by the programs and crates/trace/src/stream.rs.

#define VLAN_NONE 0xffff

// Room for an svID.
#define ID_WORDS 17

// FNV-1a's numbers.
#define HASH_BASIS 0xcbf29ce484222325ull
#define HASH_PRIME 0x100000001b3ull

// The properties of a frame that are the same at every point of its path. Not the VLAN, which a bridge may remove.
struct stream_key {
	u64 id_hash; // of the whole svID; each program has its own function
	u8 macs[12]; // destination, source
	u16 appid;
	u16 unused;
};
OCTETS(stream_key, 24);
FIELD(stream_key, id_hash, 0, 8);
FIELD(stream_key, macs, 8, 12);
FIELD(stream_key, appid, 20, 2);
FIELD(stream_key, unused, 22, 2);
