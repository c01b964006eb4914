// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
//
// Finds the number of a frame among the chosen ones, and chooses new ones.

// linux/errno.h: the map is full.
#define E2BIG 7

// FNV-1a by words. event.rs does the same with an svID.
inline_always u64 hash_word(u64 hash, u64 word)
{
	hash = (hash ^ word) * HASH_PRIME;
	return hash ^ hash >> 32;
}

inline_always u32 is_sv_type(u16 protocol)
{
	return protocol == ETH_SV || is_vlan(protocol);
}

// True if a chosen frame was seen recently. The clock is not read while none is on its way.
inline_always int is_active(void)
{
	u32 zero = 0;
	struct state *state = map_lookup(&states, &zero);
	if (!state)
		return 0;
	u64 until = *(volatile u64 *)&state->active_until;
	if (!until)
		return 0;
	if (ktime_get_ns() < until)
		return 1;
	// Unless another CPU has just seen one.
	__sync_val_compare_and_swap(&state->active_until, until, 0);
	return 0;
}

inline_always u64 *count_word(u16 smp_cnt)
{
	u32 word = smp_cnt >> 6;
	return map_lookup(&counts, &word);
}

// Reads the frame; 1: it is one of sampled values, negative: it is incomplete.
inline_always int read_frame(struct scratch *scratch, const struct sight *sight, struct frame *frame)
{
	u32 held = sight->held;
	if (held < 40)
		return 0;
	if (held > FRAME_OCTETS)
		held = FRAME_OCTETS;
	if (probe_read_kernel(scratch->octets, held, (void *)sight->mac))
		return 0;
	u8 *octets = scratch->octets;
	u32 at = 14;
	u16 type = *(u16 *)(octets + 12);
	frame->vlan = sight->vlan;
	if (is_vlan(type)) {
		frame->vlan = big_endian(octets + 14) & 0xfff;
		type = *(u16 *)(octets + 16);
		at = 18;
	}
	if (type != ETH_SV)
		return 0;
	__builtin_memcpy(frame->key.macs, octets, 12);
	// A frame that ends before its own Length is incomplete.
	return parse_sv(octets, at, held, frame) || frame->whole_octets > sight->octets ? -1 : 1;
}

// Reads the svID, and hashes it by words: a loop over bytes has too many exits for the verifier to be fast.
inline_always int read_id(struct scratch *scratch, struct frame *frame)
{
	u32 at = frame->id_at, octets = frame->id_octets;
	__builtin_memset(scratch->id, 0, sizeof(scratch->id));
	if (at > AT_MOST || octets > ID_OCTETS || probe_read_kernel(scratch->id, octets, scratch->octets + at))
		return 0;
	u64 hash = HASH_BASIS ^ octets;
#pragma clang loop unroll(full)
	for (u32 i = 0; i < ID_WORDS; i++)
		hash = hash_word(hash, scratch->id[i]);
	frame->key.id_hash = hash;
	return 1;
}

// True if another frame of this stream is wanted; if so, counts it.
inline_always int take_one(struct stream_key *key)
{
	struct stream_state *state = map_lookup(&streams, key);
	if (!state) {
		struct stream_state none = {};
		if (map_update(&streams, key, &none, NOEXIST) == -E2BIG)
			trouble(NO_ROOM);
		state = map_lookup(&streams, key);
		if (!state)
			return 0;
	}
	if (state->taken >= quota)
		return 0;
	return __sync_fetch_and_add(&state->taken, 1) < quota;
}

// Chooses the frame if it is wanted; returns its number, or negative.
inline_always s64 choose(struct scratch *scratch, struct frame *frame, struct sought *sought, u64 now)
{
	if (only_id && frame->key.id_hash != only_id)
		return -1;
	if (!take_one(&frame->key))
		return -1;
	u32 zero = 0;
	struct state *state = map_lookup(&states, &zero);
	if (!state)
		return -1;
	u32 number = __sync_fetch_and_add(&state->chosen, 1);
	struct follow *follow = map_lookup(&follows, &number);
	u64 *word = count_word(frame->smp_cnt);
	if (!follow || !word) {
		trouble(NO_ROOM);
		return -1;
	}
	follow->began_at = now;
	follow->key = frame->key;
	follow->smp_cnt = frame->smp_cnt;
	follow->vlan = frame->vlan;
	follow->asdus = frame->asdus;
	__builtin_memcpy(follow->id, scratch->id, sizeof(follow->id));
	// Last: user space reads entries with a length.
	follow->id_octets = frame->id_octets;
	if (map_update(&chosen, sought, &number, 0))
		return -1;
	__sync_fetch_and_or(word, 1ull << (frame->smp_cnt & 63));
	return number;
}

// True if the frame comes to the interface for the first time; records that it came.
inline_always int is_first_time(const struct sought *sought, u64 now)
{
	const u64 *words = (const u64 *)sought;
	u64 hash = HASH_BASIS;
#pragma clang loop unroll(full)
	for (u32 i = 0; i < sizeof(*sought) / sizeof(*words); i++)
		hash = hash_word(hash, words[i]);
	u32 slot = hash % NOTES;
	struct note *note = map_lookup(&notes, &slot);
	if (!note)
		return 1;
	// Another CPU may have recorded it a little after this one read the clock.
	if (note->hash == hash && (s64)(now - note->at) < (s64)EXPIRY_NS)
		return 0;
	note->hash = hash;
	note->at = now;
	return 1;
}

// Finds the number of this chosen frame; negative: none. A frame that comes to the interface for the first time may be chosen.
inline_always s64 number_of(struct scratch *scratch, const struct sight *sight, u64 now, u32 *by_content)
{
	struct frame *frame = &scratch->frame;
	int read = sight->is_whole ? read_frame(scratch, sight, frame) : 0;
	if (read <= 0) {
		if (read < 0 && sight->is_open && sight->is_once)
			trouble(MALFORMED);
		struct carrier *carrier = map_lookup(&carriers, &sight->skb);
		return carrier && !carrier->is_freed && carrier->head == sight->head ? (s64)carrier->number : -1;
	}
	*by_content = 1;
	u64 *word = count_word(frame->smp_cnt);
	if (!word)
		return -1;
	if (!sight->is_here && !(*word >> (frame->smp_cnt & 63) & 1))
		return -1;
	if (!read_id(scratch, frame))
		return -1;
	struct sought *sought = &scratch->sought;
	sought->key = frame->key;
	sought->smp_cnt = frame->smp_cnt;
	u32 *known = map_lookup(&chosen, sought);
	if (known) {
		u32 number = *known;
		struct follow *follow = map_lookup(&follows, &number);
		// After that time smpCnt may have wrapped.
		if (follow && now - follow->began_at < EXPIRY_NS)
			return number;
	}
	// Before choosing begins, frames are only recorded: frames on their way at the start must not be chosen in the middle of their path.
	if (!sight->is_here || !is_first_time(sought, now) || !sight->is_open)
		return -1;
	trouble(MET);
	if (only_smp_cnt < ANY_SMP_CNT && only_smp_cnt != frame->smp_cnt)
		return -1;
	return choose(scratch, frame, sought, now);
}
