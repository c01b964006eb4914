// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
//
// Maps and constants of hops.bpf.c.

// Frames that passed the first point before it was opened may still come to later ones this long.
#define BEGIN_NS 20000000ull
#define REORDER_MOST 32
// Time that a NIC's stamp may lie ahead of the system clock, by the uncertainty of the difference between the two clocks.
#define AHEAD_NS 1000000ull

volatile struct settings settings;

// Data of one CPU are in arrays of which each CPU has a part, and begin at a cache line, as the values of maps that could be mapped
// do: per-CPU maps are asked by a helper before Linux 6.10, and by way of a table of pointers since.
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

// Durations above this are told one by one. Of one stream at one point: since the point before, and since the first point. User
// space keeps it at what is worth telling.
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
