// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
//
// Maps of passage.bpf.c.

// After the slots of tracepoints.
#define FUNCTIONS SLOTS
// For this long after the last event of a chosen frame, other frames are examined, too, because they may be copies of it.
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

// Chosen frames, by content.
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

// Frames that came to the interface recently, by a hash of their identity. A new one replaces the old: far fewer frames are on their way
// at the same time.
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

// The chosen frames by sk_buff, for places where the frame itself cannot be read. A freed sk_buff belongs to no frame, though functions
// that free it may still be called and recognise the content. Those not seen for long make room.
struct carrier {
	u32 number;
	u32 is_freed;
	u64 head; // its data: if different, it belongs to another frame
};
struct {
	__uint(type, MAP_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, u64);
	__type(value, struct carrier);
} carriers SEC(".maps");

// One bit for each smpCnt of a chosen frame: rejects most other frames.
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, u64);
} counts SEC(".maps");

// The softirq and the interrupt that this CPU is in.
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

// A frame as seen at one place.
struct sight {
	u64 skb;
	u64 head;
	u64 mac;      // address of its beginning
	u64 dev;      // 0: none
	u64 location; // the code that freed it
	u32 held;     // bytes from there in the linear part
	u32 octets;   // all bytes from there
	u32 is_whole; // 1 if its headers are set: before, the memory may contain an earlier frame
	u32 ifindex;
	u32 netns;
	u32 vlan;
	u32 slot;
	u32 function;
	u32 reason;
	u32 is_freed;
	u32 is_once; // 1 if each frame passes there once
	u32 is_here; // 1 at the given interface, while frames there are chosen or recorded
	u32 is_open; // 1 if they are chosen
};

// Facts about a frame. Not on the stack, where the verifier would follow each possible history of them through all later code: here it
// forgets them. One per slot: an interrupt may run another program during one, but never the same.
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
