// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
//
// Structures that the flight recorder's programs share with crates/trace/src/bpf/layout.rs.

// 1 MiB a CPU.
#define EVENTS_PER_CPU 32768

// A bit per thread number modulo 65,536: wake-ups of these threads are recorded whatever their priority.
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

// Where they begin in the word.
#define LAP_BIT 8
#define ARGUMENT_BIT 16
#define IDENTIFIER_BIT 32

// Of a switch. In the argument: the priority of the next thread, whether the previous one could have run on, and the bits 8 to 14 of
// its number. Bits 0 to 7 of that stand in the name's last octet, which the kernel keeps at 0.
#define COULD_RUN_BIT 8
#define PREVIOUS_BIT 9
#define PREVIOUS_MASK 0x7fffu
#define NAME_END_BIT 56
// In the identifier, whose number of a thread has 22 bits at most: the priority with which the thread before left, and whether it was
// stopped.
#define LEFT_WITH_BIT 22
#define STOPPED (1u << 31)

// Events written on a CPU since the start. A cache line of its own each.
struct head {
	u64 written;
	u64 unused[7];
};
OCTETS(head, 64);
FIELD(head, written, 0, 8);
FIELD(head, unused, 8, 56);
