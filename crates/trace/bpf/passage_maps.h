// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
//
// Maps of passage.bpf.c.

// Behind those of tracepoints.
#define FUNCTIONS SLOTS
// So long after the last event of a chosen frame other frames are still looked at, as they may be copies of it.
#define ACTIVE_NS 100000000ull

struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct settings);
} settings SEC(".maps");

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

// The softirq and the interrupt that this CPU is in the midst of.
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

struct {
	__uint(type, MAP_RINGBUF);
	__uint(max_entries, 1 << 20);
} events SEC(".maps");

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
	u32 is_here; // at the interface that is looked at, and frames that come to it are chosen or noted
	u32 is_open; // chosen
};

// Facts of a frame. Not on the stack, where the verifier would follow each way on which they came about through all that
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
