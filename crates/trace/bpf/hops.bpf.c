// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
//
// Times sampled values between observation points inside one kernel. A frame is recognised by its stream (MAC addresses, APPID, svID) and
// its first smpCnt: the first point records when it came, and later points count the difference in a histogram. crates/trace/src/hops
// reads the maps; build.sh builds the object.

#include "program.h"
#include "kernel.h"
#define PLACE u64
#include "sv_frame.h"
#include "hops_layout.h"
#include "hops_maps.h"
#include "hops_frame.h"

// Counts the previous frame of the entry at the points where it was lost.
static __attribute__((noinline)) int account_lost(struct entry *entry, u32 stream, u32 missing)
{
	if (!entry)
		return 0;
#pragma clang loop unroll(disable)
	for (u32 point = 1; point < POINTS; point++) {
		u32 parent = parents[point];
		if (!(missing >> point & 1) || parent >= POINTS)
			continue;
		// It was lost only if it came to the point before.
		if (parent != 0 && !entry->offset_ns[parent - 1])
			continue;
		// The cell of the point's first kind. Only programs of the first point count this.
		struct cell *cell = cell_of(this_cpu(), stream, point);
		if (cell)
			__sync_fetch_and_add(&cell->lost, 1);
	}
	return 0;
}

// Of these points, the ones that the frame has not reached.
inline_always u32 missing_points(const struct entry *entry, u32 wanted_at)
{
#pragma clang loop unroll(full)
	for (u32 point = 1; point < POINTS; point++) {
		if (point >= point_count)
			break;
		if (entry->offset_ns[point - 1])
			wanted_at &= ~(1u << point);
	}
	return wanted_at;
}

// Records when a frame came to the first point, and how long none had come.
inline_always void note_time(struct progress *progress, u64 now)
{
	u64 last_at = progress->last_at;
	// Another CPU may have recorded a later one.
	s64 silent_ns = now - last_at;
	if (last_at && silent_ns >= (s64)SILENCE_NS) {
		progress->silences++;
		if ((u64)silent_ns > progress->silent_ns)
			progress->silent_ns = silent_ns;
	}
	progress->last_at = now;
}

inline_always void at_first_point(u16 smp_cnt, u32 stream, struct cell *cell, struct entry *entry, u64 now)
{
	struct progress *progress = map_lookup(&progresses, &stream);
	if (!progress)
		return;
	note_time(progress, now);
	cell->paired++;
	cell->last_at = now;
	u32 old = entry->state;
	if (old & SEEN) {
		if ((u16)old == smp_cnt && now - entry->first_at < EXPIRY_NS) {
			// It is unknown which of the two comes to a later point.
			__sync_fetch_and_or(&entry->state, DOUBTFUL);
			cell->duplicate++;
			return;
		}
		u32 missing = missing_points(entry, progress->reached | always_there);
		if (missing && !(old & DOUBTFUL))
			account_lost(entry, stream, missing);
	}
	// Further back means a wrap, or a gap.
	u32 newest = progress->newest;
	u16 behind = (u16)newest - smp_cnt;
	if (newest && behind && behind <= REORDER_MOST) {
		cell->reordered++;
	} else {
		if (newest && behind && behind < 0x8000)
			progress->turned++;
		progress->newest = SEEN | smp_cnt;
	}
	entry->state = 0;
	barrier();
	entry->first_at = now;
#pragma clang loop unroll(full)
	for (u32 later = 0; later < POINTS - 1; later++)
		entry->offset_ns[later] = 0;
	barrier();
	entry->state = SEEN | smp_cnt;
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

inline_always void count_duration(u32 histogram_number, u32 ns, u32 is_own)
{
	struct histogram *histogram = map_lookup(&histograms, &histogram_number);
	u32 bucket = bucket_of(ns);
	if (!histogram || bucket >= BUCKETS)
		return;
	if (is_own)
		histogram->buckets[bucket]++;
	else
		__sync_fetch_and_add(&histogram->buckets[bucket], 1);
}

static __attribute__((noinline)) int tell(u32 series, u32 ns, u64 now, u16 smp_cnt)
{
	struct duration *told = ringbuf_reserve(&durations, sizeof(*told), 0);
	if (!told) {
		trouble(RING_FULL);
		return 0;
	}
	told->at = now;
	told->ns = ns;
	told->thread = current_pid_tgid();
	told->cpu = this_cpu();
	told->series = series;
	told->smp_cnt = smp_cnt;
	told->unused = 0;
	// Nothing sleeps on the ring.
	ringbuf_submit(told, NO_WAKEUP);
	return 0;
}

inline_always void tell_if_long(u32 series, u32 ns, u64 now, u16 smp_cnt)
{
	u64 *floor = map_lookup(&floors, &series);
	if (floor && (ns > *floor || all_events))
		tell(series, ns, now, smp_cnt);
}

inline_always void note_reached(u32 stream, u32 point)
{
	struct progress *progress = map_lookup(&progresses, &stream);
	if (progress)
		__sync_fetch_and_or(&progress->reached, 1u << point);
}

inline_always void note_extremes(struct cell *cell, u32 ns, u32 total_ns)
{
	u32 span = settings.span;
	struct extreme *extreme = &cell->extremes[span & 1];
	if (extreme->span != span) {
		extreme->span = span;
		extreme->max_ns = extreme->min_ns = ns;
		extreme->total_max_ns = extreme->total_min_ns = total_ns;
		return;
	}
	if (ns > extreme->max_ns)
		extreme->max_ns = ns;
	if (ns < extreme->min_ns)
		extreme->min_ns = ns;
	if (total_ns > extreme->total_max_ns)
		extreme->total_max_ns = total_ns;
	if (total_ns < extreme->total_min_ns)
		extreme->total_min_ns = total_ns;
}

inline_always void at_later_point(u16 smp_cnt, u32 stream, u32 cpu, struct cell *cell, struct entry *entry, u64 now,
				  u32 number, u32 parent, u32 histogram, u32 is_own, u32 kind)
{
	u32 state = entry->state;
	u64 passed_ns = now - entry->first_at;
	if ((state & ~DOUBTFUL) != (SEEN | smp_cnt) || passed_ns >= EXPIRY_NS) {
		if (must_be_known(now))
			cell->stale++;
		else
			cell->early++;
		return;
	}
	if (state & DOUBTFUL) {
		cell->doubtful++;
		return;
	}
	u64 slot = one_register(number - 1);
	if (slot >= POINTS - 1)
		return;
	u32 total_ns = passed_ns;
	u32 *own = &entry->offset_ns[slot];
	u32 before = *own;
	// Several readers may read the same frame at the same time, on several CPUs.
	if (kind == CONSUME || kind == READ)
		before = __sync_val_compare_and_swap(own, 0, total_ns + 1);
	else if (!before)
		*own = total_ns + 1;
	if (before) {
		cell->again++;
		return;
	}
	u32 ns = total_ns;
	u64 parent_slot = one_register(parent - 1);
	if (parent_slot < POINTS - 1) {
		u32 at_parent = entry->offset_ns[parent_slot];
		if (!at_parent) {
			cell->skipped++;
			return;
		}
		ns = total_ns >= at_parent ? total_ns - at_parent + 1 : 0;
	}
	if (!cell->paired++)
		note_reached(stream, number);
	cell->last_at = now;
	cell->sum_ns += ns;
	if (ns > threshold_ns)
		cell->over++;
	note_extremes(cell, ns, total_ns);
	u32 series = 2 * (stream * POINTS + number);
	u32 histograms_of = own_histograms ? cpu * most_streams + stream : stream;
	u32 histogram_number = histograms_of * histogram_count + histogram;
	count_duration(histogram_number, ns, is_own);
	tell_if_long(series, ns, now, smp_cnt);
	if (parent != 0) {
		cell->total_sum_ns += total_ns;
		count_duration(histogram_number + 1, total_ns, is_own);
		tell_if_long(series + 1, total_ns, now, smp_cnt);
	}
}

// Finds the number of this place, by the interface and its network namespace; PLACES if there is none.
inline_always u32 place_of(struct sk_buff *skb, const struct net_device *dev, u32 kind)
{
	u32 ifindex;
	const struct net *net;
	if (dev) {
		ifindex = dev->ifindex;
		if (!(wanted[kind] >> (ifindex & 63) & 1))
			return PLACES;
		net = dev->nd_net.net;
	} else {
		// A packet socket has removed the device from its frames.
		struct sock *sk = skb->sk;
		if (!sk)
			return PLACES;
		ifindex = skb->skb_iif;
		net = sk->__sk_common.skc_net.net;
	}
	u32 netns = net->ns.inum;
	// Unrolled: when it loads the program, the kernel knows which places are of this kind, and removes the others.
#pragma clang loop unroll(full)
	for (u32 i = 0; i < PLACES; i++) {
		if (i >= place_count)
			break;
		if (places[i].kind == kind && places[i].ifindex == ifindex && places[i].netns == netns)
			return i;
	}
	return PLACES;
}

// When the NIC stamped the frame, on the monotonic clock; 0: it did not, or the instant is unknown.
inline_always u64 stamped_at(struct sk_buff *skb, u64 now)
{
	const struct skb_shared_info *info = (const void *)(skb->head + skb->end);
	s64 stamp = 0;
	if (now >= settings.nic_until || probe_read_kernel(&stamp, sizeof(stamp), &info->hwtstamps.hwtstamp) || !stamp)
		return 0;
	u64 at = stamp + settings.nic_behind;
	// The clocks agree only approximately: no frame comes after it was seen.
	s64 passed_ns = now - at;
	if (passed_ns < -(s64)AHEAD_NS || passed_ns >= (s64)EXPIRY_NS)
		return 0;
	return passed_ns < 0 ? now : at;
}

inline_always int at_point(struct sk_buff *skb, const struct net_device *dev, u32 kind)
{
	u16 protocol = skb->protocol;
	if (protocol != ETH_SV && !is_vlan(protocol))
		return 0;
	u32 place = place_of(skb, dev, kind);
	if (place >= PLACES)
		return 0;
	u32 number = places[place].number, parent = places[place].parent, histogram = places[place].histogram;
	u32 cell_number = places[place].cell, is_own = own_histograms && !places[place].is_shared;
	u64 now = ktime_get_ns();
	if (number == 0 && (now < settings.opened_at || now >= settings.closed_at))
		return 0;
	u32 cpu = this_cpu();
	struct sites *here = map_lookup(&sites, &cpu);
	if (!here)
		return 0;
	struct site *site = &here->of[place];
	u32 stream = site->next;
	struct cell *cell = cell_of(cpu, stream, cell_number);
	s64 smp_cnt = cell ? recognise(skb, cell) : -1;
	if (smp_cnt < 0) {
		smp_cnt = take_apart(skb, number, cell_number, kind);
		if (smp_cnt < 0)
			return 0;
		stream = smp_cnt >> 16;
		come_behind(site, stream, cell_number);
		cell = cell_of(cpu, stream, cell_number);
	}
	struct table *table = map_lookup(&tables, &stream);
	if (!cell || !table)
		return 0;
	here->used = 1;
	site->last = stream;
	site->next = cell->next;
	struct entry *entry = &table->entries[(u16)smp_cnt % SLOTS];
	if (number == 0) {
		u64 at = first_by_nic ? stamped_at(skb, now) : now;
		if (at)
			at_first_point(smp_cnt, stream, cell, entry, at);
		else
			trouble(UNSTAMPED);
	} else {
		at_later_point(smp_cnt, stream, cpu, cell, entry, now, number, parent, histogram, is_own, kind);
	}
	return 0;
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
