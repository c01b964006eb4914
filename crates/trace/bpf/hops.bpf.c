// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
//
// Times sampled values between observation points inside one kernel. A frame is known by its stream (MAC addresses, APPID,
// svID) and its first smpCnt: the first point notes when it came, later points take the difference and count it in a
// histogram. crates/trace/src/hops reads what is written here; build.sh builds it.
//
// No vmlinux.h: the few kernel structures that are read are declared with the fields that are read, and the loader
// moves the accesses to where this kernel has them (CO-RE).

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;

#define SEC(name) __attribute__((section(name), used))
#define __uint(name, value) int(*name)[value]
#define __type(name, value) typeof(value) *name
#define inline_always static inline __attribute__((always_inline))
#define barrier() __asm__ volatile("" ::: "memory")

// linux/bpf.h, enum bpf_func_id, enum bpf_map_type, and flags of bpf_map_update_elem and bpf_ringbuf_submit.
static void *(*map_lookup)(void *, const void *) = (void *)1;
static long (*map_update)(void *, const void *, const void *, u64) = (void *)2;
static u64 (*ktime_get_ns)(void) = (void *)5;
static u32 (*this_cpu)(void) = (void *)8;
static u64 (*current_pid_tgid)(void) = (void *)14;
static long (*probe_read_kernel)(void *, u32, const void *) = (void *)113;
static void *(*ringbuf_reserve)(void *, u64, u64) = (void *)131;
static void (*ringbuf_submit)(void *, u64) = (void *)132;
enum { MAP_HASH = 1, MAP_ARRAY = 2, MAP_PERCPU_ARRAY = 6, MAP_RINGBUF = 27 };
enum { NOEXIST = 1, NO_WAKEUP = 1 };

// Octets as they lie in memory on the little-endian machines this is built for.
#define ETH_SV 0xba88
#define ETH_8021Q 0x0081
#define ETH_8021AD 0xa888
#define VLAN_NONE 0xffff

#define POINTS 6
#define SLOTS 2048
// A frame that is older than this when it comes to a later point is not paired: smpCnt may have come round.
#define EXPIRY_NS 500000000ull
#define ID_OCTETS 129
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

// What a frame must have in common at every point. Not the VLAN, which a bridge may take off.
struct stream_key {
	u64 id_hash; // FNV-1a of the whole svID
	u8 macs[12];
	u16 appid;
	u16 unused;
};
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
#define SCRATCH 512
#define FRAME_OCTETS 320
struct scratch {
	u8 octets[SCRATCH];
};
struct {
	__uint(type, MAP_PERCPU_ARRAY);
	__uint(max_entries, KINDS);
	__type(key, u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct ns_common {
	unsigned int inum;
};
struct net {
	struct ns_common ns;
};
typedef struct {
	struct net *net;
} possible_net_t;
struct net_device {
	int ifindex;
	possible_net_t nd_net;
};
struct sock_common {
	possible_net_t skc_net;
};
struct sock {
	struct sock_common __sk_common;
};
struct sk_buff {
	struct net_device *dev;
	struct sock *sk;
	unsigned int len, data_len;
	u16 protocol;
	u16 mac_header;
	u16 vlan_proto, vlan_tci;
	int skb_iif;
	unsigned char *head, *data;
};
#pragma clang attribute pop

// What is read of a frame.
struct frame {
	struct stream_key key;
	u16 smp_cnt;
	u16 vlan;
	u32 smp_cnt_at;
	u32 id_at;
	u32 id_octets;
	u32 asdus;
};

inline_always void trouble(u32 which)
{
	u64 *count = map_lookup(&troubles, &which);
	if (count)
		(*count)++;
}

inline_always u32 big_endian(const u8 *octets)
{
	return octets[0] << 8 | octets[1];
}

#define AT_MOST (SCRATCH - 160)

// The length of a BER element whose tag was read; moves `at` behind it. Lengths of up to two octets.
inline_always s64 ber_length(const u8 *octets, u32 *at)
{
	u32 here = *at;
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

// Moves into an element with this tag; its length, or negative.
inline_always s64 enter(const u8 *octets, u32 *at, u8 tag)
{
	u32 here = *at;
	if (here > AT_MOST || octets[here] != tag)
		return -1;
	*at = here + 1;
	return ber_length(octets, at);
}

inline_always u64 fnv1a(const u8 *octets, u32 at, u32 length)
{
	u64 hash = 0xcbf29ce484222325ull;
#pragma clang loop unroll(disable)
	for (u32 i = 0; i < ID_OCTETS; i++) {
		if (i >= length)
			break;
		hash = (hash ^ octets[at + i]) * 0x100000001b3ull;
	}
	return hash;
}

// IEC 61850-9-2, clause 8: from APPID at `at`; `end` is where the captured octets end. 0 when it is whole.
inline_always int parse_sv(const u8 *octets, u32 at, u32 end, struct frame *frame)
{
	frame->key.appid = big_endian(octets + at);
	at += 8;
	if (enter(octets, &at, 0x60) < 0)
		return -1;
	if (enter(octets, &at, 0x80) != 1 || at > AT_MOST)
		return -1;
	frame->asdus = octets[at];
	at += 1;
	// Security, optional.
	if (at <= AT_MOST && octets[at] == 0x81) {
		s64 length = enter(octets, &at, 0x81);
		if (length < 0 || length > 255)
			return -1;
		at += length;
	}
	if (enter(octets, &at, 0xa2) < 0 || enter(octets, &at, 0x30) < 0)
		return -1;
	s64 length = enter(octets, &at, 0x80);
	if (length < 1 || length > ID_OCTETS || at > AT_MOST)
		return -1;
	frame->id_at = at;
	frame->id_octets = length;
	if (at + length > end)
		return -1;
	at += length;
	// datSet, optional.
	if (at <= AT_MOST && octets[at] == 0x81) {
		length = enter(octets, &at, 0x81);
		if (length < 0 || length > 255)
			return -1;
		at += length;
	}
	if (enter(octets, &at, 0x82) != 2 || at > AT_MOST || at + 2 > end)
		return -1;
	frame->smp_cnt = big_endian(octets + at);
	frame->smp_cnt_at = at;
	return 0;
}

inline_always int is_vlan(u16 protocol)
{
	return protocol == ETH_8021Q || protocol == ETH_8021AD;
}

// Whether a frame at a later point must have been seen at the first.
inline_always int must_be_known(struct settings *set, u64 now)
{
	return now > set->opened_at && now - set->opened_at > BEGIN_NS && now < set->closed_at;
}

// Finds the stream's number; the first point may add it. Negative: none.
inline_always s64 find_stream(struct frame *frame, const u8 *octets, struct settings *set, int may_add, u64 now)
{
	u32 *known = map_lookup(&streams, &frame->key);
	if (known)
		return *known;
	if (!may_add) {
		if (must_be_known(set, now))
			trouble(UNKNOWN_STREAM);
		return -1;
	}
	u32 zero = 0;
	u32 *count = map_lookup(&stream_count, &zero);
	if (!count || *count >= set->streams) {
		trouble(NO_ROOM);
		return -1;
	}
	u32 number = __sync_fetch_and_add(count, 1);
	struct stream_info *info = map_lookup(&infos, &number);
	if (!info) {
		trouble(NO_ROOM);
		return -1;
	}
	info->key = frame->key;
	info->vlan = frame->vlan;
	info->asdus = frame->asdus;
	u32 at = frame->id_at;
	if (at > AT_MOST)
		return -1;
#pragma clang loop unroll(disable)
	for (u32 i = 0; i < ID_OCTETS; i++) {
		if (i >= frame->id_octets)
			break;
		info->id[i] = octets[at + i];
	}
	barrier();
	// Last: user space reads what has a length. Two CPUs may add it at once: the second's number stays without frames.
	if (map_update(&streams, &frame->key, &number, NOEXIST)) {
		known = map_lookup(&streams, &frame->key);
		return known ? *known : -1;
	}
	info->id_octets = frame->id_octets;
	return number;
}

inline_always struct cell *cell_of(u32 stream, u32 point)
{
	u32 key = stream * POINTS + point;
	return map_lookup(&cells, &key);
}

inline_always u32 seen_bit(u32 point)
{
	return 1u << (SEEN_SHIFT + (point & 7));
}

// Counts the frame that had the slot before, where it was lost.
inline_always void account_lost(u32 stream, u32 old, struct settings *set)
{
	struct stream_info *info = map_lookup(&infos, &stream);
	if (!info || old & DOUBTFUL)
		return;
	u32 missing = (u32)info->reached & ~(old >> SEEN_SHIFT);
	if (!missing)
		return;
#pragma clang loop unroll(disable)
	for (u32 point = 1; point < POINTS; point++) {
		if (!(missing >> point & 1) || !(old & seen_bit(set->parents[point])))
			continue;
		struct cell *cell = cell_of(stream, point);
		if (cell)
			cell->lost++;
	}
}

inline_always void at_first_point(struct frame *frame, u32 stream, struct entry *entry, u64 now, struct settings *set)
{
	struct cell *cell = cell_of(stream, 0);
	if (!cell)
		return;
	cell->seen++;
	u32 old = entry->state;
	if (old & seen_bit(0)) {
		if ((u16)old == frame->smp_cnt && now - entry->first_at < EXPIRY_NS) {
			// Which of the two comes to a later point cannot be told.
			__sync_fetch_and_or(&entry->state, DOUBTFUL);
			cell->duplicate++;
			return;
		}
		account_lost(stream, old, set);
	}
	u64 *last = map_lookup(&newest, &stream);
	if (last) {
		// Further behind is a wrap, or a gap.
		u16 behind = (u16)*last - frame->smp_cnt;
		if (*last && behind && behind <= REORDER_MOST)
			cell->reordered++;
		else
			*last = 0x10000 | frame->smp_cnt;
	}
	entry->state = 0;
	barrier();
	entry->first_at = now;
	barrier();
	entry->state = frame->smp_cnt | seen_bit(0);
}

inline_always u32 log2_of(u64 value)
{
	u32 log = 0;
	if (value >> 16) {
		log = 16;
		value >>= 16;
	}
	if (value >> 8) {
		log += 8;
		value >>= 8;
	}
	if (value >> 4) {
		log += 4;
		value >>= 4;
	}
	if (value >> 2) {
		log += 2;
		value >>= 2;
	}
	return log + (value >> 1);
}

inline_always u32 bucket_of(u64 ns)
{
	if (ns < 1u << SUB_BITS)
		return ns;
	u32 shift = log2_of(ns) - SUB_BITS;
	return ((shift + 1) << SUB_BITS) + ((ns >> shift) & ((1u << SUB_BITS) - 1));
}

inline_always void count_duration(u32 series, u64 ns)
{
	struct histogram *histogram = map_lookup(&histograms, &series);
	u32 bucket = bucket_of(ns);
	if (histogram && bucket < BUCKETS)
		__sync_fetch_and_add(&histogram->buckets[bucket], 1);
}

inline_always void tell(u32 series, u64 ns, u64 now, u16 smp_cnt, struct settings *set)
{
	u64 *floor = map_lookup(&floors, &series);
	if (!floor || (ns <= *floor && !set->all_events))
		return;
	struct duration *told = ringbuf_reserve(&durations, sizeof(*told), 0);
	if (!told) {
		trouble(RING_FULL);
		return;
	}
	told->at = now;
	told->ns = ns;
	told->thread = current_pid_tgid();
	told->cpu = this_cpu();
	told->series = series;
	told->smp_cnt = smp_cnt;
	told->unused = 0;
	// Nobody sleeps on the ring.
	ringbuf_submit(told, NO_WAKEUP);
}

inline_always void note_reached(u32 stream, u32 point)
{
	struct stream_info *info = map_lookup(&infos, &stream);
	if (info)
		__sync_fetch_and_or(&info->reached, 1ull << point);
}

inline_always void at_later_point(struct frame *frame, u32 stream, struct entry *entry, u64 now, struct point *point,
				  struct settings *set)
{
	u32 number = point->number;
	struct cell *cell = cell_of(stream, number);
	if (!cell || number < 1 || number >= POINTS)
		return;
	cell->seen++;
	u32 state = entry->state;
	u64 total_ns = now - entry->first_at;
	if (!(state & seen_bit(0)) || (u16)state != frame->smp_cnt || total_ns >= EXPIRY_NS) {
		if (must_be_known(set, now))
			cell->stale++;
		return;
	}
	u32 own = seen_bit(number);
	u32 before = __sync_fetch_and_or(&entry->state, own);
	if (before & DOUBTFUL) {
		cell->doubtful++;
		return;
	}
	if (before & own) {
		cell->again++;
		return;
	}
	entry->offset_ns[number - 1] = total_ns;
	u32 parent = point->parent;
	if (!(before & seen_bit(parent))) {
		cell->skipped++;
		return;
	}
	u64 ns = total_ns;
	if (parent >= 1 && parent < POINTS) {
		u32 passed_ns = entry->offset_ns[parent - 1];
		ns = total_ns > passed_ns ? total_ns - passed_ns : 0;
	}
	if (!cell->paired++)
		note_reached(stream, number);
	cell->sum_ns += ns;
	cell->total_sum_ns += total_ns;
	if (ns > set->threshold_ns)
		cell->over++;
	u32 key = stream * POINTS + number;
	u32 banked = 2 * key + (set->bank & 1);
	struct extreme *extreme = map_lookup(&extremes, &banked);
	if (extreme) {
		if (ns > extreme->max_ns)
			extreme->max_ns = ns;
		if (~ns > extreme->inverted_min_ns)
			extreme->inverted_min_ns = ~ns;
		if (total_ns > extreme->total_max_ns)
			extreme->total_max_ns = total_ns;
		if (~total_ns > extreme->total_inverted_min_ns)
			extreme->total_inverted_min_ns = ~total_ns;
	}
	count_duration(2 * key, ns);
	tell(2 * key, ns, now, frame->smp_cnt, set);
	if (parent != 0) {
		count_duration(2 * key + 1, total_ns);
		tell(2 * key + 1, total_ns, now, frame->smp_cnt, set);
	}
}

// Which point this is, by the interface and its network namespace; false for none.
inline_always int point_of(struct sk_buff *skb, const struct net_device *dev, u32 kind, struct point *point)
{
	u32 ifindex, netns;
	if (dev) {
		ifindex = dev->ifindex;
		if (!(wanted[kind] >> (ifindex & 63) & 1))
			return 0;
		netns = dev->nd_net.net->ns.inum;
	} else {
		// A packet socket has taken the device away from its frames.
		struct sock *sk = skb->sk;
		if (!sk)
			return 0;
		ifindex = skb->skb_iif;
		netns = sk->__sk_common.skc_net.net->ns.inum;
	}
#pragma clang loop unroll(disable)
	for (u32 i = 0; i < PLACES; i++) {
		if (i >= place_count)
			break;
		if (places[i].ifindex != ifindex || places[i].netns != netns || places[i].kind != kind)
			continue;
		point->number = places[i].number;
		point->parent = places[i].parent;
		return 1;
	}
	return 0;
}

// Whether the octets begin with the prefix; where its smpCnt is, or 0.
inline_always u32 begins_with(const struct scratch *scratch, const struct prefix *prefix, u32 held)
{
	u32 octets = *(volatile const u32 *)&prefix->octets;
	if (octets == 0 || octets > PREFIX - 2 || octets + 2 > held)
		return 0;
	const u64 *words = (const u64 *)scratch->octets;
#pragma clang loop unroll(disable)
	for (u32 i = 0; i < PREFIX / 8; i++) {
		u32 left = octets - 8 * i;
		u64 difference = words[i] ^ prefix->words[i];
		if (left < 8) {
			if (difference & ((1ull << (8 * left)) - 1))
				return 0;
			break;
		}
		if (difference)
			return 0;
		if (left == 8)
			break;
	}
	barrier();
	return *(volatile const u32 *)&prefix->octets == octets ? octets : 0;
}

// The stream that is likely, if the frame is of it; negative if not.
inline_always s64 guess(const struct scratch *scratch, u32 held, u32 point, u32 *next, u32 *smp_cnt_at)
{
	u32 number = *next;
	u32 key = number * POINTS + point;
	struct prefix *prefix = map_lookup(&prefixes, &key);
	if (!prefix)
		return -1;
	*smp_cnt_at = begins_with(scratch, prefix, held);
	return *smp_cnt_at ? (s64)number : -1;
}

// Keeps how the stream's frames begin at this point.
inline_always void learn(const struct scratch *scratch, struct frame *frame, u32 stream, u32 point)
{
	u32 key = stream * POINTS + point;
	struct prefix *prefix = map_lookup(&prefixes, &key);
	if (!prefix || frame->smp_cnt_at > PREFIX - 2)
		return;
	u32 old = prefix->octets;
	if (old == BUSY || __sync_val_compare_and_swap(&prefix->octets, old, BUSY) != old)
		return;
	const u64 *words = (const u64 *)scratch->octets;
#pragma clang loop unroll(disable)
	for (u32 i = 0; i < PREFIX / 8; i++)
		prefix->words[i] = words[i];
	barrier();
	*(volatile u32 *)&prefix->octets = frame->smp_cnt_at;
}

inline_always void come_next(u32 *next, u32 stream)
{
	u32 zero = 0;
	u32 *count = map_lookup(&stream_count, &zero);
	*next = count && stream + 1 < *count ? stream + 1 : 0;
}

// Takes the frame apart; its stream, or negative.
inline_always s64 take_apart(struct scratch *scratch, u32 held, struct point *point, struct settings *set, u64 now, struct frame *frame)
{
	u8 *octets = scratch->octets;
	// The tag may stand in the frame, or beside it where the driver or the kernel took it out.
	u32 at = 14;
	u16 type = *(u16 *)(octets + 12);
	if (is_vlan(type)) {
		frame->vlan = big_endian(octets + 14) & 0xfff;
		type = *(u16 *)(octets + 16);
		at = 18;
	}
	if (type != ETH_SV)
		return -1;
	__builtin_memcpy(frame->key.macs, octets, 12);
	if (parse_sv(octets, at, held, frame)) {
		trouble(MALFORMED);
		return -1;
	}
	frame->key.id_hash = fnv1a(octets, frame->id_at, frame->id_octets);
	s64 stream = find_stream(frame, octets, set, point->number == 0, now);
	if (stream >= 0)
		learn(scratch, frame, stream, point->number);
	return stream;
}

// What follows is the same for every kind of point, and stands in the object once.
static __attribute__((noinline)) int at_frame(const u8 *mac, u32 held, u32 vlan, struct point *point, u32 kind)
{
	u64 now = ktime_get_ns();
	u32 zero = 0, number = point ? point->number : 0;
	struct settings *set = map_lookup(&settings, &zero);
	struct scratch *scratch = map_lookup(&scratches, &kind);
	u32 *next = map_lookup(&likely, &number);
	if (!set || !scratch || !next || !point)
		return 0;
	if (number == 0 && (now < set->opened_at || now >= set->closed_at))
		return 0;
	if (held > FRAME_OCTETS)
		held = FRAME_OCTETS;
	// Most frames need no more than their beginning.
	u32 first = held > PREFIX ? PREFIX : held;
	if (held < 40 || probe_read_kernel(scratch->octets, first, mac)) {
		trouble(MALFORMED);
		return 0;
	}
	struct frame frame = {.vlan = vlan};
	u32 smp_cnt_at = 0;
	s64 stream = guess(scratch, first, number, next, &smp_cnt_at);
	if (stream >= 0 && smp_cnt_at <= PREFIX - 2) {
		frame.smp_cnt = big_endian(scratch->octets + smp_cnt_at);
	} else {
		if (held > first && probe_read_kernel(scratch->octets, held, mac)) {
			trouble(MALFORMED);
			return 0;
		}
		stream = take_apart(scratch, held, point, set, now, &frame);
		if (stream < 0)
			return 0;
	}
	u32 of = stream;
	come_next(next, of);
	struct table *table = map_lookup(&tables, &of);
	if (!table)
		return 0;
	struct entry *entry = &table->entries[frame.smp_cnt % SLOTS];
	if (number == 0)
		at_first_point(&frame, of, entry, now, set);
	else
		at_later_point(&frame, of, entry, now, point, set);
	return 0;
}

inline_always int at_point(struct sk_buff *skb, const struct net_device *dev, u32 kind)
{
	u16 protocol = skb->protocol;
	if (protocol != ETH_SV && !is_vlan(protocol))
		return 0;
	struct point point = {};
	if (!point_of(skb, dev, kind, &point))
		return 0;
	u32 mac_at = skb->mac_header;
	// The difference in 64 bits: the verifier knows these as pointers, of which it allows no 32-bit arithmetic.
	u64 data_at = (u64)skb->data - (u64)skb->head;
	__asm__ volatile("" : "+r"(data_at));
	// The linear part, which the headers are in.
	u32 held = (u32)data_at - mac_at + skb->len - skb->data_len;
	const u8 *mac = skb->head + mac_at;
	u32 vlan = skb->vlan_proto ? skb->vlan_tci & 0xfff : VLAN_NONE;
	return at_frame(mac, held, vlan, &point, kind);
}

SEC("tp_btf/netif_receive_skb") int on_receive(u64 *ctx)
{
	struct sk_buff *skb = (void *)ctx[0];
	return at_point(skb, skb->dev, RECEIVE);
}

SEC("tp_btf/net_dev_start_xmit") int on_transmit(u64 *ctx)
{
	return at_point((void *)ctx[0], (void *)ctx[1], TRANSMIT);
}

SEC("tp_btf/netif_rx") int on_queue(u64 *ctx)
{
	struct sk_buff *skb = (void *)ctx[0];
	return at_point(skb, skb->dev, QUEUE);
}

SEC("tp_btf/napi_gro_receive_entry") int on_offload(u64 *ctx)
{
	struct sk_buff *skb = (void *)ctx[0];
	return at_point(skb, skb->dev, OFFLOAD);
}

SEC("tp_btf/consume_skb") int on_consume(u64 *ctx)
{
	struct sk_buff *skb = (void *)ctx[0];
	struct net_device *dev = skb->dev;
	if (!dev)
		return 0;
	return at_point(skb, dev, CONSUME);
}

SEC("tp_btf/skb_copy_datagram_iovec") int on_read(u64 *ctx)
{
	struct sk_buff *skb = (void *)ctx[0];
	return at_point(skb, skb->dev, READ);
}

char licence[] SEC("license") = "Dual BSD/GPL";
