// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
//
// Finds the stream and the first smpCnt of a frame: recognises it by its first bytes, or else parses it.

// Number of bytes at a frame's beginning that are enough for short names.
#define SHORT 64
// After the prefix there must be room for a word.
#define LONGEST (PREFIX - 8)
#define MOST_HELD 0xffff

// True if a frame at a later point must have been seen at the first.
inline_always int must_be_known(u64 now)
{
	u64 opened_at = settings.opened_at;
	return now > opened_at && now - opened_at > BEGIN_NS && now < settings.closed_at;
}

// Finds the stream's number; the first point may add the stream. Negative: none.
inline_always s64 find_stream(struct frame *frame, const u8 *octets, int may_add)
{
	u32 *known = map_lookup(&streams, &frame->key);
	if (known)
		return *known;
	if (!may_add) {
		if (must_be_known(ktime_get_ns()))
			trouble(UNKNOWN_STREAM);
		return -1;
	}
	u32 zero = 0;
	u32 *count = map_lookup(&stream_count, &zero);
	if (!count || *count >= most_streams) {
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
	u64 at = frame->id_at;
	if (at > AT_MOST) {
		trouble(MALFORMED);
		return -1;
	}
#pragma clang loop unroll(disable)
	for (u32 i = 0; i < ID_OCTETS; i++) {
		if (i >= frame->id_octets)
			break;
		info->id[i] = octets[at + i];
	}
	barrier();
	// Last: user space reads entries with a length. Two CPUs may add a stream at once: then the second number gets no frames.
	if (map_update(&streams, &frame->key, &number, NOEXIST)) {
		known = map_lookup(&streams, &frame->key);
		if (known)
			return *known;
		trouble(NO_ROOM);
		return -1;
	}
	info->id_octets = frame->id_octets;
	return number;
}

inline_always struct cell *cell_of(u32 cpu, u32 stream, u32 number)
{
	u32 key = (cpu * most_streams + stream) * cell_count + number;
	return map_lookup(&cells, &key);
}

// Number of bytes from the frame's beginning in the linear part, which has the headers. Very large if it was never set.
inline_always u32 held_of(struct sk_buff *skb)
{
	return skb->tail - skb->mac_header;
}

// True if two words differ in their first bytes.
inline_always int differ(u64 one, u64 other, u32 octets)
{
	return ((one ^ other) & ((1ull << (8 * octets)) - 1)) != 0;
}

// The smpCnt after the cell's prefix of this many bytes, if the frame begins with the prefix; else negative.
inline_always s64 behind_prefix(const u8 *mac, const struct cell *cell, u32 octets)
{
	u32 at = 0;
#pragma clang loop unroll(disable)
	for (u32 i = 0; i < PREFIX / 8 && at + 8 <= octets; i++, at += 8) {
		if (*(const u64 *)(mac + at) != cell->words[i])
			return -1;
	}
	if (at >= PREFIX || differ(*(const u64 *)(mac + at), cell->words[at / 8], octets - at))
		return -1;
	return __builtin_bswap16(*(const u16 *)(mac + octets));
}

// The same with the frame's beginning copied to the stack, where all offsets must be constant. Copying costs time per byte, and most names
// are short, so there are two lengths.
#define COPIED_BEHIND_PREFIX(name, length)                                                         \
	inline_always s64 name(const u8 *mac, const struct cell *cell, u32 octets, u32 held)       \
	{                                                                                          \
		u64 words[(length) / 8], last = 0, next = 0, wanted_last = 0;                      \
		if (held < (length) || probe_read_kernel(words, (length), mac))                    \
			return -1;                                                                 \
		_Pragma("clang loop unroll(full)") for (u32 i = 0; i < (length) / 8 - 1; i++)      \
		{                                                                                  \
			last = words[i];                                                           \
			next = words[i + 1];                                                       \
			wanted_last = cell->words[i];                                              \
			if (i == octets / 8)                                                       \
				break;                                                             \
			if (last != wanted_last)                                                   \
				return -1;                                                         \
		}                                                                                  \
		u32 rest = octets % 8;                                                             \
		if (differ(last, wanted_last, rest))                                               \
			return -1;                                                                 \
		return __builtin_bswap16(last >> (8 * rest) | next << 1 << (63 - 8 * rest));       \
	}
COPIED_BEHIND_PREFIX(copied_behind_short_prefix, SHORT)
COPIED_BEHIND_PREFIX(copied_behind_prefix, PREFIX)

// The frame's smpCnt, if the frame belongs to the cell's stream; else negative.
inline_always s64 recognise(struct sk_buff *skb, const struct cell *cell)
{
	u32 held = held_of(skb);
	const u8 *mac = skb->head + skb->mac_header;
	u32 prefix = *(volatile const u32 *)&cell->prefix;
	u32 octets = prefix & 0xffff, whole = prefix >> 16;
	if (octets == 0 || octets >= LONGEST || held > MOST_HELD || held < octets + 2)
		return -1;
	if (held < whole && held + skb->data_len < whole)
		return -1;
	s64 smp_cnt;
	if (reads_in_place)
		smp_cnt = behind_prefix(mac, cell, octets);
	else if (octets < SHORT - 8)
		smp_cnt = copied_behind_short_prefix(mac, cell, octets, held);
	else
		smp_cnt = copied_behind_prefix(mac, cell, octets, held);
	barrier();
	// An interrupt may have written another prefix meanwhile.
	return *(volatile const u32 *)&cell->prefix == prefix ? smp_cnt : -1;
}

// Saves the first bytes of the stream's frames at this point.
inline_always void learn(const u8 *octets, const struct frame *frame, u32 stream, u32 cell_number)
{
	struct cell *cell = cell_of(this_cpu(), stream, cell_number);
	u32 prefix_octets = frame->smp_cnt_at, whole = frame->whole_octets;
	if (!cell || prefix_octets >= LONGEST || whole > MOST_HELD || cell->prefix == BUSY)
		return;
	*(volatile u32 *)&cell->prefix = BUSY;
	const u64 *words = (const u64 *)octets;
#pragma clang loop unroll(disable)
	for (u32 i = 0; i < PREFIX / 8; i++)
		cell->words[i] = words[i];
	barrier();
	*(volatile u32 *)&cell->prefix = whole << 16 | prefix_octets;
}

// Remembers that this stream came to the site after the one before.
inline_always void come_behind(struct site *site, u32 stream, u32 cell_number)
{
	struct cell *before = cell_of(this_cpu(), site->last, cell_number);
	if (before)
		before->next = stream;
}

// Counts a frame that ends before its own Length, for its stream if that is known: its contents are incomplete.
inline_always void count_cut(const struct frame *frame, u32 cell_number)
{
	u32 *stream = map_lookup(&streams, &frame->key);
	struct cell *cell = stream ? cell_of(this_cpu(), *stream, cell_number) : 0;
	if (cell)
		cell->cut++;
	else
		trouble(CUT_SHORT);
}

// Parses the frame; returns its stream << 16 and smpCnt, or negative. Occurs only once in the object.
static __attribute__((noinline)) s64 take_apart(struct sk_buff *skb, u32 point, u32 cell_number, u32 kind)
{
	if (!skb)
		return -1;
	u32 held = held_of(skb);
	struct scratch *scratch = map_lookup(&scratches, &kind);
	if (!scratch)
		return -1;
	u8 *octets = scratch->octets;
	u64 copied = one_register(held > FRAME_OCTETS ? FRAME_OCTETS : held);
	if (held < 40 || held > MOST_HELD || copied > FRAME_OCTETS || probe_read_kernel(octets, copied, skb->head + skb->mac_header)) {
		trouble(MALFORMED);
		return -1;
	}
	struct frame frame = {.vlan = skb->vlan_proto ? skb->vlan_tci & 0xfff : VLAN_NONE};
	// The tag may be in the frame, or outside it if the driver or the kernel removed it.
	u64 at = 14;
	u16 type = *(u16 *)(octets + 12);
	if (is_vlan(type)) {
		frame.vlan = big_endian(octets + 14) & 0xfff;
		type = *(u16 *)(octets + 16);
		at = 18;
	}
	if (type != ETH_SV)
		return -1;
	__builtin_memcpy(frame.key.macs, octets, 12);
	if (parse_sv(octets, at, copied, &frame)) {
		trouble(MALFORMED);
		return -1;
	}
	frame.key.id_hash = fnv1a(octets, frame.id_at, frame.id_octets);
	if (held + skb->data_len < frame.whole_octets) {
		count_cut(&frame, cell_number);
		return -1;
	}
	s64 stream = find_stream(&frame, octets, point == 0);
	if (stream < 0)
		return -1;
	learn(octets, &frame, stream, cell_number);
	return stream << 16 | frame.smp_cnt;
}
