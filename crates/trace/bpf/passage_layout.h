// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
//
// Structures that the programs that follow frames share with crates/trace/src/passage/layout.rs.

// Largest number of tracepoints; the slot after them is for functions.
#define SLOTS 64
// Arguments of a tracepoint that a program can read, and the position for a missing one.
#define ARGUMENTS 6
#define NO_ARGUMENT 0xff
// Positions at which functions may have their sk_buff.
#define POSITIONS 5
// No frame has this smpCnt: it means any.
#define ANY_SMP_CNT 0x10000u
// After this time, a frame with the smpCnt of a chosen one is a different frame.
#define EXPIRY_NS 500000000ull

enum trouble {
	MALFORMED = 0,
	NO_ROOM = 1,
	RING_FULL = 2,
	MET = 3,
	NOT_KEPT = 4,
	TROUBLES = 5,
};

// Set when the programs are loaded, and then constant.

// By slot, the positions of the useful arguments.
volatile const u8 skb_at[SLOTS] = {};
GLOBAL(skb_at, 64);
volatile const u8 reason_at[SLOTS] = {};
GLOBAL(reason_at, 64);
volatile const u8 location_at[SLOTS] = {};
GLOBAL(location_at, 64);
// By slot, 1 if the sk_buff is free after it, and 1 if each frame passes it once at an interface.
volatile const u8 frees[SLOTS] = {};
GLOBAL(frees, 64);
volatile const u8 comes_once[SLOTS] = {};
GLOBAL(comes_once, 64);

// The interface at which frames are chosen.
volatile const u32 look_ifindex = 0;
GLOBAL(look_ifindex, 4);
volatile const u32 look_netns = 0;
GLOBAL(look_netns, 4);
// Frames to choose: with one svID (by its hash; 0: any), with one smpCnt, so many of each stream.
volatile const u64 only_id = 0;
GLOBAL(only_id, 8);
volatile const u32 only_smp_cnt = ANY_SMP_CNT;
GLOBAL(only_smp_cnt, 4);
volatile const u32 quota = 1;
GLOBAL(quota, 4);

struct settings {
	u64 opened_at; // instant from which frames are chosen; before, they are only recorded
	u64 closed_at; // instant at which choosing ends
};
OCTETS(settings, 16);
FIELD(settings, opened_at, 0, 8);
FIELD(settings, closed_at, 8, 8);

struct state {
	u64 active_until;
	u32 chosen; // frames so far
	u32 unused;
};
OCTETS(state, 16);
FIELD(state, active_until, 0, 8);
FIELD(state, chosen, 8, 4);
FIELD(state, unused, 12, 4);

// A chosen frame.
struct follow {
	u64 began_at;
	u32 told; // events reported
	u32 lost; // events that found no room in the ring
	struct stream_key key;
	u16 smp_cnt;
	u16 vlan;
	u16 asdus;
	u16 id_octets;
	u64 id[ID_WORDS];
};
OCTETS(follow, 184);
FIELD(follow, began_at, 0, 8);
FIELD(follow, told, 8, 4);
FIELD(follow, lost, 12, 4);
FIELD(follow, key, 16, 24);
FIELD(follow, smp_cnt, 40, 2);
FIELD(follow, vlan, 42, 2);
FIELD(follow, asdus, 44, 2);
FIELD(follow, id_octets, 46, 2);
FIELD(follow, id, 48, 136);

struct event {
	u64 at;
	u64 skb;
	u64 head;
	u64 location;
	u64 thread; // process << 32 | thread
	u32 follow;
	u32 slot;
	u32 function;
	u32 cpu;
	u32 ifindex;
	u32 netns;
	u32 reason;
	u32 held;
	u32 softirq; // vector + 1; 0: none
	u32 irq;     // number + 1; 0: none
	u32 by_content;
	u32 unused;
	u8 comm[16];
	u8 interface[16];
};
OCTETS(event, 120);
FIELD(event, at, 0, 8);
FIELD(event, skb, 8, 8);
FIELD(event, head, 16, 8);
FIELD(event, location, 24, 8);
FIELD(event, thread, 32, 8);
FIELD(event, follow, 40, 4);
FIELD(event, slot, 44, 4);
FIELD(event, function, 48, 4);
FIELD(event, cpu, 52, 4);
FIELD(event, ifindex, 56, 4);
FIELD(event, netns, 60, 4);
FIELD(event, reason, 64, 4);
FIELD(event, held, 68, 4);
FIELD(event, softirq, 72, 4);
FIELD(event, irq, 76, 4);
FIELD(event, by_content, 80, 4);
FIELD(event, unused, 84, 4);
FIELD(event, comm, 88, 16);
FIELD(event, interface, 104, 16);
