// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
//
// Counts of the reasons why frames were not seen properly, by enum trouble.

struct {
	__uint(type, MAP_PERCPU_ARRAY);
	__uint(max_entries, TROUBLES);
	__type(key, u32);
	__type(value, u64);
} troubles SEC(".maps");

inline_always void trouble(u32 which)
{
	u64 *count = map_lookup(&troubles, &which);
	// One program may interrupt another.
	if (count)
		__sync_fetch_and_add(count, 1);
}
