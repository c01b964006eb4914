// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
//
// Structures that the programs that time frames share with crates/trace/src/hops/layout.rs.

#define POINTS 6
#define PLACES 16
#define SLOTS 2048
// A frame older than this at a later point is not paired: smpCnt may have wrapped.
#define EXPIRY_NS 500000000ull
// A stream without a frame for this long is silent.
#define SILENCE_NS 500000000ull

// Log-linear: 64 buckets per octave, exact below 64 ns, up to 2^29 ns, which is more than EXPIRY_NS.
#define SUB_BITS 6
#define BUCKETS 1536

enum kind {
	RECEIVE = 0,
	TRANSMIT = 1,
	QUEUE = 2,
	OFFLOAD = 3,
	CONSUME = 4,
	READ = 5,
	KINDS = 6,
};

enum trouble {
	MALFORMED = 0,
	CUT_SHORT = 1,
	NO_ROOM = 2,
	UNKNOWN_STREAM = 3,
	RING_FULL = 4,
	UNSTAMPED = 5,
	TROUBLES = 6,
};

// Set when the programs are loaded, and then constant: the kernel removes code that they make unreachable.

// A place and a kind of event, with the number of its point. There are few: scanning them is faster than a hash map.
struct place {
	u32 ifindex;
	u32 netns; // inode number
	u32 kind;
	u32 number;
	u32 parent;    // for the first point: its own number
	u32 histogram; // number in a stream: since the parent; the next one is since the first point, if that is another
	u32 cell;      // number in a stream; for the point's first kind it is the point's number
	u32 is_shared; // 1 if programs of other kinds count in the histogram, too
};
OCTETS(place, 32);
FIELD(place, ifindex, 0, 4);
FIELD(place, netns, 4, 4);
FIELD(place, kind, 8, 4);
FIELD(place, number, 12, 4);
FIELD(place, parent, 16, 4);
FIELD(place, histogram, 20, 4);
FIELD(place, cell, 24, 4);
FIELD(place, is_shared, 28, 4);

volatile const struct place places[PLACES] = {};
GLOBAL(places, 512);
volatile const u32 place_count = 0;
GLOBAL(place_count, 4);

// By kind, one bit for each interface number modulo 64 that has a point: rejects most frames at other interfaces.
volatile const u64 wanted[KINDS] = {};
GLOBAL(wanted, 48);

// The point before each point.
volatile const u32 parents[POINTS] = {};
GLOBAL(parents, 24);
volatile const u32 point_count = 0;
GLOBAL(point_count, 4);
// One bit for each point that frames reach even if no program listens: frames that never came there are lost from the start on. At the
// others, which are readers, they are lost from the first read frame on.
volatile const u32 always_there = 0;
GLOBAL(always_there, 4);
// Number of cells of a stream on one CPU: one for each kind of event at each point, because one program may interrupt another.
volatile const u32 cell_count = 0;
GLOBAL(cell_count, 4);
// Number of histograms of a stream.
volatile const u32 histogram_count = 0;
GLOBAL(histogram_count, 4);
volatile const u32 own_histograms = 0; // 1 if each CPU has its own
GLOBAL(own_histograms, 4);
// 1 if this kernel lets programs read a frame in place (since Linux 6.17); else it is copied first.
volatile const u32 reads_in_place = 0;
GLOBAL(reads_in_place, 4);
// Number of streams that fit.
volatile const u32 most_streams = 0;
GLOBAL(most_streams, 4);
// Longer durations count as over; ~0: none.
volatile const u64 threshold_ns = 0;
GLOBAL(threshold_ns, 8);
// 1 to report every duration.
volatile const u32 all_events = 0;
GLOBAL(all_events, 4);

// 1 if the NIC's stamp is the instant at the first point.
volatile const u32 first_by_nic = 0;
GLOBAL(first_by_nic, 4);

// Set during the run.
struct settings {
	u64 span;      // counts from 1: extremes are of one span
	u64 opened_at; // instant from which the first point takes frames
	u64 closed_at; // instant at which it stops
	s64 nic_behind; // the monotonic clock minus the NIC's
	u64 nic_until;  // until when that is valid
};
OCTETS(settings, 40);
FIELD(settings, span, 0, 8);
FIELD(settings, opened_at, 8, 8);
FIELD(settings, closed_at, 16, 8);
FIELD(settings, nic_behind, 24, 8);
FIELD(settings, nic_until, 32, 8);

// Streams that come to a place. Each place has its own: an interrupt may run another program during one, but never the same, and a place
// has only one program.
struct site {
	u32 next; // probably comes next
	u32 last;
};
OCTETS(site, 8);
FIELD(site, next, 0, 4);
FIELD(site, last, 4, 4);
struct sites {
	u64 used; // 1 if a frame came on this CPU
	u64 unused[7];
	struct site of[PLACES];
};
OCTETS(sites, 192);
FIELD(sites, used, 0, 8);
FIELD(sites, unused, 8, 56);
FIELD(sites, of, 64, 128);

// Identity of a stream.
struct stream_info {
	struct stream_key key;
	u16 vlan; // identifier at the first point, or VLAN_NONE
	u16 id_octets;
	u32 asdus;
	u8 id[8 * ID_WORDS];
};
OCTETS(stream_info, 168);
FIELD(stream_info, key, 0, 24);
FIELD(stream_info, vlan, 24, 2);
FIELD(stream_info, id_octets, 26, 2);
FIELD(stream_info, asdus, 28, 4);
FIELD(stream_info, id, 32, 136);

// Progress of a stream.
struct progress {
	u64 last_at;   // when a frame last came to the first point; 0: never
	u64 silent_ns; // longest of its silences there
	u32 newest;    // smpCnt at the first point, to see frames out of order, and a bit that there is one
	u32 reached;   // one bit for each point at which a frame was paired
	u32 silences;  // how often no frame came for SILENCE_NS
	u32 turned;    // how often smpCnt went back further than for frames out of order: at wraps, and between two sequences
};
OCTETS(progress, 32);
FIELD(progress, last_at, 0, 8);
FIELD(progress, silent_ns, 8, 8);
FIELD(progress, newest, 16, 4);
FIELD(progress, reached, 20, 4);
FIELD(progress, silences, 24, 4);
FIELD(progress, turned, 28, 4);

// A frame on its way. state: smpCnt, SEEN at the first point, DOUBTFUL. For each later point, the time since the first plus 1, or 0.
#define SEEN (1u << 16)
#define DOUBTFUL (1u << 31)
struct entry {
	u64 first_at;
	u32 state;
	u32 offset_ns[POINTS - 1];
};
OCTETS(entry, 32);
FIELD(entry, first_at, 0, 8);
FIELD(entry, state, 8, 4);
FIELD(entry, offset_ns, 12, 20);
struct table {
	struct entry entries[SLOTS];
};
OCTETS(table, 65536);
FIELD(table, entries, 0, 65536);

// The longest and shortest duration of a span.
struct extreme {
	u32 span; // the span; if another, this entry is empty
	u32 max_ns;
	u32 min_ns;
	u32 total_max_ns;
	u32 total_min_ns;
};
OCTETS(extreme, 20);
FIELD(extreme, span, 0, 4);
FIELD(extreme, max_ns, 4, 4);
FIELD(extreme, min_ns, 8, 4);
FIELD(extreme, total_max_ns, 12, 4);
FIELD(extreme, total_min_ns, 16, 4);

// Bytes of a prefix.
#define PREFIX 128

// Counts for one stream at one point by one kind of event, on one CPU, since the start. Fields for every frame are adjacent.
struct cell {
	// The first bytes of its frames here, up to the first smpCnt: a frame that begins with them, and has the length given there, belongs to
	// this stream and need not be parsed. Number of those bytes, and of the whole frame << 16; 0 while there are none, BUSY while they are
	// written.
	u32 prefix;
	u32 next;   // the stream that last came after this one
	u64 paired; // at the first point: frames seen
	u64 sum_ns;
	u64 total_sum_ns;
	u64 last_at; // when the newest frame came
	struct extreme extremes[2]; // of this span and the previous one
	u64 words[PREFIX / 8]; // the prefix
	u64 over;
	u64 lost;      // seen at the point before, never here
	u64 duplicate; // the same frame came to the first point again
	u64 doubtful;  // not paired, because it may be either of two
	u64 again;     // came here again: for another reader, or as a copy
	u64 stale;     // not seen at the first point, or too long ago
	u64 early;     // like stale, but may have passed the first point before it was opened
	u64 skipped;   // not seen at the point before
	u64 reordered; // came to the first point after a later one
	u64 cut;       // shorter than its own Length: not timed
	u64 unused[4]; // fills the cache line
};
OCTETS(cell, 320);
FIELD(cell, prefix, 0, 4);
FIELD(cell, next, 4, 4);
FIELD(cell, paired, 8, 8);
FIELD(cell, sum_ns, 16, 8);
FIELD(cell, total_sum_ns, 24, 8);
FIELD(cell, last_at, 32, 8);
FIELD(cell, extremes, 40, 40);
FIELD(cell, words, 80, 128);
FIELD(cell, over, 208, 8);
FIELD(cell, lost, 216, 8);
FIELD(cell, duplicate, 224, 8);
FIELD(cell, doubtful, 232, 8);
FIELD(cell, again, 240, 8);
FIELD(cell, stale, 248, 8);
FIELD(cell, early, 256, 8);
FIELD(cell, skipped, 264, 8);
FIELD(cell, reordered, 272, 8);
FIELD(cell, cut, 280, 8);
FIELD(cell, unused, 288, 32);

// The counts wrap, and user space takes differences. Each CPU has its own, unless that needs too much memory.
struct histogram {
	u32 buckets[BUCKETS];
};
OCTETS(histogram, 6144);
FIELD(histogram, buckets, 0, 6144);

// A duration that is reported one by one.
struct duration {
	u64 at;
	u64 ns;
	u32 thread; // the thread that ran when the frame came
	u32 cpu;
	u32 series; // as in floors
	u16 smp_cnt;
	u16 unused;
};
OCTETS(duration, 32);
FIELD(duration, at, 0, 8);
FIELD(duration, ns, 8, 8);
FIELD(duration, thread, 16, 4);
FIELD(duration, cpu, 20, 4);
FIELD(duration, series, 24, 4);
FIELD(duration, smp_cnt, 28, 2);
FIELD(duration, unused, 30, 2);
