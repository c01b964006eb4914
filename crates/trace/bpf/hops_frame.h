// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
//
// Which stream a frame is of, and its first smpCnt: recognised by how it begins, else taken apart.

inline_always void trouble(u32 which)
{
	u64 *count = map_lookup(&troubles, &which);
	if (count)
		(*count)++;
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
