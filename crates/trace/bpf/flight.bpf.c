// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
//
// The flight recorder's eBPF programs: write the occupants of each CPU into a ring per CPU that overwrites its oldest events.
// crates/trace/src/bpf reads these rings; build.sh builds the object.

#include "program.h"
#include "flight_layout.h"

// The loader sizes both by the number of possible CPUs. User space reads them in place.
struct {
	__uint(type, MAP_ARRAY);
	__uint(map_flags, MAP_MMAPABLE);
	__uint(max_entries, EVENTS_PER_CPU);
	__type(key, u32);
	__type(value, struct event);
} rings SEC(".maps");

struct {
	__uint(type, MAP_ARRAY);
	__uint(map_flags, MAP_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct head);
} heads SEC(".maps");

struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, WATCHED_BITS / 64);
	__type(key, u32);
	__type(value, u64);
} watched SEC(".maps");

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct task_struct {
	int pid;
	int prio;
	char comm[16];
	unsigned int __state;
};
// Before Linux 5.14.
struct task_struct___before_5_14 {
	long state;
};
struct irqaction {
	const char *name;
};
struct hrtimer {
	s64 _softexpires;
};
#pragma clang attribute pop

#define field_exists(field) __builtin_preserve_field_info(field, 2)

// The lap shows user space if the slot holds the event that it looks for, or one of the previous lap.
inline_always u64 word_of(u64 position, u8 kind, u16 argument, u32 id)
{
	return kind | (position / EVENTS_PER_CPU & 0xff) << LAP_BIT | (u64)argument << ARGUMENT_BIT | (u64)id << IDENTIFIER_BIT;
}

inline_always int emit(u8 kind, u16 argument, u32 id, u64 name0, u64 name1)
{
	u64 at = ktime_get_ns();
	u32 cpu = this_cpu();
	struct head *head = map_lookup(&heads, &cpu);
	if (!head)
		return 0;
	// Atomic, because an interrupt between reading and writing would take the same slot.
	u64 position = __sync_fetch_and_add(&head->written, 1);
	u32 number = cpu * EVENTS_PER_CPU + position % EVENTS_PER_CPU;
	struct event *event = map_lookup(&rings, &number);
	if (!event)
		return 0;
	event->at = at;
	event->name[0] = name0;
	event->name[1] = name1;
	// Last, so that the slot counts as written only when it is complete.
	barrier();
	event->word = word_of(position, kind, argument, id);
	return 0;
}

inline_always u32 state_of(struct task_struct *task)
{
	if (field_exists(task->__state))
		return task->__state;
	struct task_struct___before_5_14 *old = (void *)task;
	return old->state;
}

// Of struct task_struct (include/linux/sched.h): stopped by a signal, by a debugger, or (since Linux 6.1) by a freezer.
#define TASK_STOPPED 0x4
#define TASK_TRACED 0x8
#define TASK_FROZEN 0x8000

// The number of the previous thread shows if a switch was lost.
SEC("tp_btf/sched_switch") int on_switch(u64 *ctx)
{
	struct task_struct *previous = (void *)ctx[1], *next = (void *)ctx[2];
	u32 state = state_of(previous);
	u32 could_run = ctx[0] & 1 || !state;
	u32 stopped = !could_run && state & (TASK_STOPPED | TASK_TRACED | TASK_FROZEN) ? STOPPED : 0;
	u32 number = previous->pid;
	u64 *comm = (u64 *)next->comm;
	u16 argument = (next->prio & 0xff) | could_run << COULD_RUN_BIT | (number & PREVIOUS_MASK) >> 8 << PREVIOUS_BIT;
	u64 name1 = (comm[1] & ((1ull << NAME_END_BIT) - 1)) | (u64)number << NAME_END_BIT;
	u32 left_with = (previous->prio & 0xff) << LEFT_WITH_BIT;
	return emit(SWITCH, argument, next->pid | left_with | stopped, comm[0], name1);
}

// Priorities below 100 are real-time.
SEC("tp_btf/sched_waking") int on_waking(u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	u32 pid = task->pid;
	int priority = task->prio;
	if (priority >= 100) {
		u32 key = pid % WATCHED_BITS / 64;
		u64 *bits = map_lookup(&watched, &key);
		if (!bits || !(*bits >> (pid % 64) & 1))
			return 0;
	}
	u64 *comm = (u64 *)task->comm;
	return emit(WAKING, priority & 0xff, pid, comm[0], comm[1]);
}

SEC("tp_btf/irq_handler_entry") int on_irq_entry(u64 *ctx)
{
	struct irqaction *action = (void *)ctx[1];
	u64 name[2] = {0, 0};
	probe_read_kernel_str(name, sizeof(name), action->name);
	return emit(IRQ_ENTRY, 0, ctx[0], name[0], name[1]);
}

SEC("tp_btf/irq_handler_exit") int on_irq_exit(u64 *ctx)
{
	return emit(IRQ_EXIT, 0, ctx[0], 0, 0);
}

SEC("tp_btf/softirq_entry") int on_softirq_entry(u64 *ctx)
{
	return emit(SOFTIRQ_ENTRY, 0, ctx[0], 0, 0);
}

SEC("tp_btf/softirq_exit") int on_softirq_exit(u64 *ctx)
{
	return emit(SOFTIRQ_EXIT, 0, ctx[0], 0, 0);
}

// x86 gives each of its own interrupt vectors a pair of tracepoints.
#define VECTOR(name, number)                                                                                           \
	SEC("tp_btf/" #name "_entry") int on_##name##_entry(u64 *ctx)                                                  \
	{                                                                                                              \
		return emit(VECTOR_ENTRY, 0, number, 0, 0);                                                            \
	}                                                                                                              \
	SEC("tp_btf/" #name "_exit") int on_##name##_exit(u64 *ctx)                                                    \
	{                                                                                                              \
		return emit(VECTOR_EXIT, 0, number, 0, 0);                                                             \
	}
VECTOR(local_timer, LOCAL_TIMER)
VECTOR(reschedule, RESCHEDULE)
VECTOR(call_function, CALL_FUNCTION)
VECTOR(call_function_single, CALL_FUNCTION_SINGLE)
VECTOR(irq_work, IRQ_WORK)

// The first half of the name is the instant at which the timer was due.
SEC("tp_btf/hrtimer_expire_entry") int on_timer_entry(u64 *ctx)
{
	struct hrtimer *timer = (void *)ctx[0];
	return emit(TIMER_ENTRY, 0, 0, timer->_softexpires, 0);
}

SEC("tp_btf/hrtimer_expire_exit") int on_timer_exit(u64 *ctx)
{
	return emit(TIMER_EXIT, 0, 0, 0, 0);
}

// Comes after the handler has ended, with its duration in ns.
SEC("tp_btf/nmi_handler") int on_nmi(u64 *ctx)
{
	return emit(NMI, 0, ctx[1], 0, 0);
}

// The entered state, or -1 when the CPU leaves its state.
SEC("tp_btf/cpu_idle") int on_idle(u64 *ctx)
{
	return emit(IDLE, 0, ctx[0], 0, 0);
}

// Does nothing: the kernel's statistics count only their own cost for it. Attached while the cost is measured.
SEC("tp_btf/sched_switch") int on_nothing(u64 *ctx)
{
	return 0;
}

char licence[] SEC("license") = "Dual BSD/GPL";
