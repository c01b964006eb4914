// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
//
// Times sampled values between observation points inside one kernel. A frame is known by its stream (MAC addresses, APPID,
// svID) and its first smpCnt: the first point notes when it came, later points take the difference and count it in a
// histogram. crates/trace/src/hops reads what is written here; build.sh builds it.

#include "program.h"
#include "sv_frame.h"
#include "hops_maps.h"
#include "hops_frame.h"

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
