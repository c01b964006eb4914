// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
//
// What hops.bpf.c keeps, and where user space reads and sets it.

#define POINTS 6
#define SLOTS 2048
// A frame that is older than this when it comes to a later point is not paired: smpCnt may have come round.
#define EXPIRY_NS 500000000ull
// Frames that passed the first point before it was opened may still come to later ones this long.
#define BEGIN_NS 20000000ull
#define REORDER_MOST 32

// Log-linear: 64 buckets an octave, exact below 64 ns, up to 2^29 ns, which is more than EXPIRY_NS.
#define SUB_BITS 6
#define BUCKETS 1536

enum kind { RECEIVE, TRANSMIT, QUEUE, OFFLOAD, CONSUME, READ, KINDS };

// A place and a kind of event, and which point it is. The few there are are looked through faster than a hash map is asked. Set
// when the programs are loaded, as is what follows.
#define PLACES 24
struct place {
	u32 ifindex;
	u32 netns; // inode number
	u32 kind;
	u32 number;
	u32 parent; // of the first point: its own number
};
volatile const struct place places[PLACES] = {};
volatile const u32 place_count = 0;

struct point {
	u32 number;
	u32 parent;
};

// By kind, a bit for each interface number modulo 64 that has a point: most frames at other interfaces are let go by it.
volatile const u64 wanted[KINDS] = {};

struct settings {
	u64 threshold_ns; // longer durations count as over; ~0: none
	u64 all_events;	  // tell every duration
	u64 bank;	  // 0 or 1: where extremes go
	u64 streams;	  // how many fit
	u64 opened_at;	  // from then on the first point takes frames
	u64 closed_at;	  // until then
	u64 parents[POINTS];
};
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct settings);
} settings SEC(".maps");

// How the frames of a stream begin at one point, up to its first smpCnt: a frame that begins so is of this stream and need not be
// taken apart. octets: 0 while there is none, BUSY while it is written.
#define PREFIX 128
#define BUSY 0xffffffffu
struct prefix {
	u32 octets;
	u32 unused;
	u64 words[PREFIX / 8];
};
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, POINTS);
	__type(key, u32);
	__type(value, struct prefix);
} prefixes SEC(".maps");

// By point, the stream that comes next on this CPU: publishers send theirs in the same order each time.
struct {
	__uint(type, MAP_PERCPU_ARRAY);
	__uint(max_entries, POINTS);
	__type(key, u32);
	__type(value, u32);
} likely SEC(".maps");

struct {
	__uint(type, MAP_HASH);
	__uint(max_entries, 1);
	__type(key, struct stream_key);
	__type(value, u32);
} streams SEC(".maps");

struct stream_info {
	u64 reached; // a bit per point at which a frame was paired
	struct stream_key key;
	u16 vlan; // identifier at the first point, or VLAN_NONE
	u16 id_octets;
	u32 asdus;
	u8 id[136];
};
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct stream_info);
} infos SEC(".maps");

// state: smpCnt, points seen << 16 (bit 0: the first), DOUBTFUL.
#define SEEN_SHIFT 16
#define DOUBTFUL (1u << 31)
struct entry {
	u64 first_at;
	u32 state;
	u32 offset_ns[POINTS - 1];
};
struct table {
	struct entry entries[SLOTS];
};
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct table);
} tables SEC(".maps");

// Of one stream at one point, on one CPU, since the start.
struct cell {
	u64 seen;
	u64 paired;
	u64 over;
	u64 lost;      // seen at the point before, never here
	u64 duplicate; // the same frame came to the first point again
	u64 doubtful;  // not paired, because it may be either of two
	u64 again;     // came here again: another reader, or a copy
	u64 stale;     // not seen at the first point, or too long ago
	u64 skipped;   // not seen at the point before
	u64 sum_ns;
	u64 total_sum_ns;
	u64 reordered; // came to the first point behind a later one
};
struct {
	__uint(type, MAP_PERCPU_ARRAY);
	__uint(max_entries, POINTS);
	__type(key, u32);
	__type(value, struct cell);
} cells SEC(".maps");

// Of one stream at one point, on one CPU, in one bank. The smallest is kept inverted, so that 0 is none.
struct extreme {
	u64 max_ns;
	u64 inverted_min_ns;
	u64 total_max_ns;
	u64 total_inverted_min_ns;
};
struct {
	__uint(type, MAP_PERCPU_ARRAY);
	__uint(max_entries, 2 * POINTS);
	__type(key, u32);
	__type(value, struct extreme);
} extremes SEC(".maps");

// Of one stream at one point: since the point before, and since the first point. The counts come round; user space takes
// differences.
struct histogram {
	u32 buckets[BUCKETS];
};
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 2 * POINTS);
	__type(key, u32);
	__type(value, struct histogram);
} histograms SEC(".maps");

// Durations above this are told one by one. User space keeps it at what is worth telling.
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 2 * POINTS);
	__type(key, u32);
	__type(value, u64);
} floors SEC(".maps");

struct duration {
	u64 at;
	u64 ns;
	u32 thread; // who ran when the frame came
	u32 cpu;
	u32 series; // as in histograms
	u16 smp_cnt;
	u16 unused;
};
struct {
	__uint(type, MAP_RINGBUF);
	__uint(max_entries, 1 << 20);
} durations SEC(".maps");

enum trouble { MALFORMED, NO_ROOM, UNKNOWN_STREAM, RING_FULL, TROUBLES };
struct {
	__uint(type, MAP_PERCPU_ARRAY);
	__uint(max_entries, TROUBLES);
	__type(key, u32);
	__type(value, u64);
} troubles SEC(".maps");

struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} stream_count SEC(".maps");

// The newest smpCnt at the first point, to see frames out of order. Written by whoever serves that point.
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} newest SEC(".maps");

// Octets of the frame. One per program: an interrupt may run another program in the midst of one, but never the same.
struct scratch {
	u8 octets[SCRATCH];
};
struct {
	__uint(type, MAP_PERCPU_ARRAY);
	__uint(max_entries, KINDS);
	__type(key, u32);
	__type(value, struct scratch);
} scratches SEC(".maps");
