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
// So long without a frame, a stream is silent.
#define SILENCE_NS 500000000ull

// Log-linear: 64 buckets an octave, exact below 64 ns, up to 2^29 ns, which is more than EXPIRY_NS.
#define SUB_BITS 6
#define BUCKETS 1536

enum kind { RECEIVE, TRANSMIT, QUEUE, OFFLOAD, CONSUME, READ, KINDS };

// Set when the programs are loaded, and then constant: the kernel takes out what they make unreachable.

// A place and a kind of event, and which point it is. The few there are are looked through faster than a hash map is asked.
#define PLACES 16
struct place {
	u32 ifindex;
	u32 netns; // inode number
	u32 kind;
	u32 number;
	u32 parent;    // of the first point: its own number
	u32 histogram; // of those of a stream, that since the parent; the next is that since the first point, where that is another
	u32 cell;      // of those of a stream; of the point's first kind it has the point's number
	u32 is_shared; // whether programs of other kinds count in the histogram, too
};
volatile const struct place places[PLACES] = {};
volatile const u32 place_count = 0;

// By kind, a bit for each interface number modulo 64 that has a point: most frames at other interfaces are let go by it.
volatile const u64 wanted[KINDS] = {};

// Of each point, the one before it.
volatile const u32 parents[POINTS] = {};
volatile const u32 point_count = 0;
// A bit for each point that frames come to whoever listens: what never came there is lost from the start on. At the others, which are
// readers, from the first frame on that was read.
volatile const u32 always_there = 0;
// Cells of a stream on one CPU: of each point, one for each kind of event it is made of. One program may interrupt another.
volatile const u32 cell_count = 0;
// Histograms of a stream.
volatile const u32 histogram_count = 0;
volatile const u32 own_histograms = 0; // whether each CPU has its own
// Whether this kernel lets programs read a frame in place (since Linux 6.17); else it is copied first.
volatile const u32 reads_in_place = 0;
// Streams that fit.
volatile const u32 most_streams = 0;
// Longer durations count as over; ~0: none.
volatile const u64 threshold_ns = 0;
// Tell every duration.
volatile const u32 all_events = 0;

// Set along the run.
struct settings {
	u64 span;      // counts from 1: extremes are of one span
	u64 opened_at; // from then on the first point takes frames
	u64 closed_at; // until then
};
volatile struct settings settings;

// What one CPU has of its own stands in arrays of which each CPU has a part, and begins at a cache line, as the values of maps that
// could be mapped do: per-CPU maps are asked by a helper before Linux 6.10, and by way of a table of pointers since.
#define MAP_MMAPABLE (1u << 10)

// Which streams come to a place. By place: an interrupt may run another program in the midst of one, but never the same, and a
// place has one.
struct site {
	u32 next; // likely to come next
	u32 last;
};
struct sites {
	u64 used; // whether anything came on this CPU
	u64 unused[7];
	struct site of[PLACES];
};
struct {
	__uint(type, MAP_ARRAY);
	__uint(map_flags, MAP_MMAPABLE);
	__uint(max_entries, 1); // by CPU
	__type(key, u32);
	__type(value, struct sites);
} sites SEC(".maps");

struct {
	__uint(type, MAP_HASH);
	__uint(max_entries, 1);
	__type(key, struct stream_key);
	__type(value, u32);
} streams SEC(".maps");

// What a stream is called.
struct stream_info {
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

// How far a stream has come.
struct progress {
	u64 last_at;   // when a frame last came to the first point; 0: never
	u64 silent_ns; // longest of its silences there
	u32 newest;    // smpCnt at the first point, to see frames out of order, and a bit that there is one
	u32 reached;   // a bit per point at which a frame was paired
	u32 silences;  // how often nothing came for SILENCE_NS
	u32 turned;    // how often smpCnt went back by more than frames out of order do: at each wrap, and between two sequences
};
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct progress);
} progresses SEC(".maps");

struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} stream_count SEC(".maps");

// A frame under way. state: smpCnt, SEEN at the first point, DOUBTFUL. By later point, the time since the first and 1, or 0.
#define SEEN (1u << 16)
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

// Octets of a prefix.
#define PREFIX 128

// The longest and shortest of a span.
struct extreme {
	u32 span; // of which it is; of another: it is none
	u32 max_ns;
	u32 min_ns;
	u32 total_max_ns;
	u32 total_min_ns;
};

// Of one stream at one point by one kind of event, on one CPU, since the start. What every frame takes stands together.
struct cell {
	// How its frames begin here, up to the first smpCnt: a frame that begins so, and is as long as it says there, is of this stream
	// and need not be taken apart. Octets of that beginning, and of the whole frame << 16; 0 while there is none, BUSY while it is
	// written.
	u32 prefix;
	u32 next;   // the stream that came behind this one last time
	u64 paired; // at the first point: seen
	u64 sum_ns;
	u64 total_sum_ns;
	struct extreme extremes[2]; // of this span and the one before
	u64 words[PREFIX / 8]; // of the prefix
	u64 over;
	u64 lost;      // seen at the point before, never here
	u64 duplicate; // the same frame came to the first point again
	u64 doubtful;  // not paired, because it may be either of two
	u64 again;     // came here again: another reader, or a copy
	u64 stale;     // not seen at the first point, or too long ago
	u64 early;     // as stale, when it may have passed the first point before that was opened
	u64 skipped;   // not seen at the point before
	u64 reordered; // came to the first point behind a later one
	u64 cut;       // shorter than it says: not timed
	u64 unused[5]; // up to a cache line
};
#define BUSY 0xffffffffu
struct {
	__uint(type, MAP_ARRAY);
	__uint(map_flags, MAP_MMAPABLE);
	__uint(max_entries, 1); // by CPU, stream, and point and kind
	__type(key, u32);
	__type(value, struct cell);
} cells SEC(".maps");

// The counts come round; user space takes differences. Each CPU has its own, unless that takes too much memory.
struct histogram {
	u32 buckets[BUCKETS];
};
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1); // by CPU, stream and series
	__type(key, u32);
	__type(value, struct histogram);
} histograms SEC(".maps");

// Durations above this are told one by one. Of one stream at one point: since the point before, and since the first point. User
// space keeps it at what is worth telling.
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} floors SEC(".maps");

struct duration {
	u64 at;
	u64 ns;
	u32 thread; // who ran when the frame came
	u32 cpu;
	u32 series; // as in floors
	u16 smp_cnt;
	u16 unused;
};
struct {
	__uint(type, MAP_RINGBUF);
	__uint(max_entries, 1 << 20);
} durations SEC(".maps");

enum trouble { MALFORMED, CUT_SHORT, NO_ROOM, UNKNOWN_STREAM, RING_FULL, TROUBLES };
#include "troubles.h"

// Octets of a frame that is taken apart. One per program, as it is with sites.
struct scratch {
	u8 octets[SCRATCH];
};
struct {
	__uint(type, MAP_PERCPU_ARRAY);
	__uint(max_entries, KINDS);
	__type(key, u32);
	__type(value, struct scratch);
} scratches SEC(".maps");
