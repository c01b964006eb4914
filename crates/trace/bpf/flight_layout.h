// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
//
// Structures that the flight recorder's programs share with crates/trace/src/bpf/layout.rs.

// 1 MiB per CPU.
#define EVENTS_PER_CPU 32768

// One bit for each thread number modulo 65,536: wake-ups of these threads are recorded whatever their priority.
#define WATCHED_BITS 65536u

enum kind {
	SWITCH = 1,
	WAKING = 2,
	IRQ_ENTRY = 3,
	IRQ_EXIT = 4,
	SOFTIRQ_ENTRY = 5,
	SOFTIRQ_EXIT = 6,
	VECTOR_ENTRY = 7,
	VECTOR_EXIT = 8,
	TIMER_ENTRY = 9,
	TIMER_EXIT = 10,
	NMI = 11,
	IDLE = 12,
};

enum vector {
	LOCAL_TIMER = 1,
	RESCHEDULE = 2,
	CALL_FUNCTION = 3,
	CALL_FUNCTION_SINGLE = 4,
	IRQ_WORK = 5,
};

struct event {
	u64 at;	  // CLOCK_MONOTONIC, ns
	u64 word; // from the lowest bit: kind, lap, argument, identifier
	u64 name[2];
};
OCTETS(event, 32);
FIELD(event, at, 0, 8);
FIELD(event, word, 8, 8);
FIELD(event, name, 16, 16);

// Offsets of these parts in the word.
#define LAP_BIT 8
#define ARGUMENT_BIT 16
#define IDENTIFIER_BIT 32

// For a switch, the argument has: the priority of the next thread, if the previous one could have continued, and bits 8 to 14 of the
// previous one's number. Bits 0 to 7 of that number are in the name's last byte, which the kernel keeps at 0.
#define COULD_RUN_BIT 8
#define PREVIOUS_BIT 9
#define PREVIOUS_MASK 0x7fffu
#define NAME_END_BIT 56
// In the identifier, whose thread number has at most 22 bits: the
// priority with which the previous thread left, and if it was stopped.
#define LEFT_WITH_BIT 22
#define STOPPED (1u << 31)

// Number of events written on a CPU since the start. Each has its own cache line.
struct head {
	u64 written;
	u64 unused[7];
};
OCTETS(head, 64);
FIELD(head, written, 0, 8);
FIELD(head, unused, 8, 56);
