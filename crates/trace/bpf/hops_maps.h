// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
//
// Maps and constants of hops.bpf.c.

// For this long, frames that passed the first point before it was opened may still come to later points.
#define BEGIN_NS 20000000ull
#define REORDER_MOST 32
// How far a NIC's stamp may be ahead of the system clock, by the uncertainty of the difference between the two clocks.
#define AHEAD_NS 1000000ull

volatile struct settings settings;

// Data of one CPU are in arrays with a part for each CPU, which begins at a cache line, like the values of mappable maps. Per-CPU maps are
// slower: a helper reads them before Linux 6.10, and a table of pointers since.
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

struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct stream_info);
} infos SEC(".maps");

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

struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct table);
} tables SEC(".maps");

#define BUSY 0xffffffffu
struct {
	__uint(type, MAP_ARRAY);
	__uint(map_flags, MAP_MMAPABLE);
	__uint(max_entries, 1); // by CPU, stream, and point and kind
	__type(key, u32);
	__type(value, struct cell);
} cells SEC(".maps");

struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1); // by CPU, stream and series
	__type(key, u32);
	__type(value, struct histogram);
} histograms SEC(".maps");

// Durations above this are reported one by one. For each stream and point: since the point before, and since the first point. User space
// sets it to the shortest duration worth reporting.
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} floors SEC(".maps");

struct {
	__uint(type, MAP_RINGBUF);
	__uint(max_entries, 1 << 20);
} durations SEC(".maps");

#include "troubles.h"

// Bytes of a frame to be parsed. One per program, for the same reason as for sites.
struct scratch {
	u8 octets[SCRATCH];
};
struct {
	__uint(type, MAP_PERCPU_ARRAY);
	__uint(max_entries, KINDS);
	__type(key, u32);
	__type(value, struct scratch);
} scratches SEC(".maps");
