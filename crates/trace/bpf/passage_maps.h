// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
//
// What passage.bpf.c keeps, and where user space reads and sets it.

// Tracepoints that are served at the most; the slot behind them stands for functions.
#define SLOTS 64
#define FUNCTIONS SLOTS
// Room for an svID.
#define ID_WORDS 17
// A frame that was chosen longer ago is another one with its smpCnt.
#define EXPIRY_NS 500000000ull
// So long after the last event of a chosen frame other frames are still looked at, as they may be copies of it.
#define ACTIVE_NS 100000000ull

// By slot, the positions of the arguments that are of use; NO_ARGUMENT: it has none.
volatile const u8 skb_at[SLOTS] = {};
volatile const u8 reason_at[SLOTS] = {};
volatile const u8 location_at[SLOTS] = {};
// By slot, whether the sk_buff is free after it, and whether each frame comes to it once at an interface.
volatile const u8 frees[SLOTS] = {};
volatile const u8 comes_once[SLOTS] = {};

// The interface at which frames are chosen.
volatile const u32 look_ifindex = 0;
volatile const u32 look_netns = 0;
// Which: of one svID (by its hash; 0: of any), with one smpCnt (above 0xffff: with any), so many of each stream.
volatile const u64 only_id = 0;
volatile const u32 only_smp_cnt = 0x10000;
volatile const u32 quota = 1;

struct settings {
	u64 opened_at; // from then on frames are chosen; before, they are noted
	u64 closed_at; // until then
};
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct settings);
} settings SEC(".maps");

struct state {
	u64 active_until;
	u32 chosen; // frames so far
	u32 unused;
};
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct state);
} states SEC(".maps");

struct stream_state {
	u32 taken;
	u32 unused;
};
struct {
	__uint(type, MAP_HASH);
	__uint(max_entries, 1);
	__type(key, struct stream_key);
	__type(value, struct stream_state);
} streams SEC(".maps");

// A frame that was chosen.
struct follow {
	u64 began_at;
	u32 told; // events
	u32 lost; // events that found no room in the ring
	struct stream_key key;
	u16 smp_cnt;
	u16 vlan;
	u16 asdus;
	u16 id_octets;
	u64 id[ID_WORDS];
};
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct follow);
} follows SEC(".maps");

// Frames that were chosen, by content.
struct sought {
	struct stream_key key;
	u64 smp_cnt;
};
struct {
	__uint(type, MAP_HASH);
	__uint(max_entries, 1);
	__type(key, struct sought);
	__type(value, u32);
} chosen SEC(".maps");

// Frames that came to the interface lately, by a hash of what they are known by. The newest takes the place: those that are under
// way at the same time are far fewer.
#define NOTES 16384
struct note {
	u64 hash;
	u64 at;
};
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, NOTES);
	__type(key, u32);
	__type(value, struct note);
} notes SEC(".maps");

// The chosen ones by sk_buff, for where the frame itself cannot be read. One that is freed is no frame's, though what frees it may still
// come by and be recognised by content. Those that were not met for long make room.
struct carrier {
	u32 number;
	u32 is_freed;
	u64 head; // its octets: with others it is another frame's
};
struct {
	__uint(type, MAP_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, u64);
	__type(value, struct carrier);
} carriers SEC(".maps");

// A bit for each smpCnt that a chosen frame has: most other frames are let go by it.
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, u64);
} counts SEC(".maps");

// What this CPU is in the midst of.
struct context {
	u32 softirq; // vector + 1; 0: none
	u32 softirq_thread;
	u32 irq; // number + 1; 0: none
	u32 unused;
};
struct {
	__uint(type, MAP_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct context);
} contexts SEC(".maps");

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
	u32 softirq;
	u32 irq;
	u32 by_content;
	u32 unused;
	u8 comm[16];
	u8 interface[16];
};
struct {
	__uint(type, MAP_RINGBUF);
	__uint(max_entries, 1 << 20);
} events SEC(".maps");

enum trouble { MALFORMED, NO_ROOM, RING_FULL, MET, NOT_KEPT, TROUBLES };
#include "troubles.h"

// A frame as it was met.
struct sight {
	u64 skb;
	u64 head;
	u64 mac;      // where it begins
	u64 dev;      // 0: it has none
	u64 location; // who freed it
	u32 held;     // octets from there on in the linear part
	u32 octets;   // octets from there on in all
	u32 is_whole; // its headers are set: before, its octets may be those of the frame that had the room before
	u32 ifindex;
	u32 netns;
	u32 vlan;
	u32 slot;
	u32 function;
	u32 reason;
	u32 is_freed;
	u32 is_once; // each frame comes there once
};

// What is known of a frame. Not on the stack, where the verifier would follow each way on which it came about through all that
// comes: here it forgets them. One per slot: an interrupt may run another program in the midst of one, but never the same.
struct scratch {
	u8 octets[SCRATCH];
	u64 id[ID_WORDS];
	struct sight sight;
	struct frame frame;
	struct sought sought;
};
struct {
	__uint(type, MAP_PERCPU_ARRAY);
	__uint(max_entries, SLOTS + 1);
	__type(key, u32);
	__type(value, struct scratch);
} scratches SEC(".maps");
