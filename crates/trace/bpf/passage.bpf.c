// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
//
// Follows chosen sampled values through the kernel: each tracepoint and function with the frame's sk_buff as an argument reports that the
// frame was there. A frame is chosen when it comes to the given interface. Then it is recognised by its content (stream and first smpCnt),
// or by its sk_buff if the content cannot be read.
//
// The tracepoint of a slot, and the useful ones of its arguments, are set when it is loaded. crates/trace/src/passage reads the events;
// build.sh builds the object.

#include "program.h"
#include "kernel.h"
#include "sv_frame.h"
#include "passage_layout.h"
#include "passage_maps.h"
#include "passage_frame.h"

#define MAC_UNSET 0xffff

inline_always void tell(const struct sight *sight, u32 number, u64 now, u32 by_content)
{
	struct follow *follow = map_lookup(&follows, &number);
	struct event *told = ringbuf_reserve(&events, sizeof(*told), 0);
	if (!told) {
		trouble(RING_FULL);
		if (follow)
			__sync_fetch_and_add(&follow->lost, 1);
		return;
	}
	if (follow)
		__sync_fetch_and_add(&follow->told, 1);
	told->at = now;
	told->skb = sight->skb;
	told->head = sight->head;
	told->location = sight->location;
	told->thread = current_pid_tgid();
	told->follow = number;
	told->slot = sight->slot;
	told->function = sight->function;
	told->cpu = this_cpu();
	told->ifindex = sight->ifindex;
	told->netns = sight->netns;
	told->reason = sight->reason;
	told->held = sight->held;
	told->by_content = by_content;
	told->softirq = 0;
	told->irq = 0;
	told->unused = 0;
	u32 zero = 0;
	struct context *context = map_lookup(&contexts, &zero);
	if (context) {
		told->irq = context->irq;
		// On PREEMPT_RT a softirq may be preempted: then another thread runs.
		if (context->softirq_thread == (u32)told->thread)
			told->softirq = context->softirq;
	}
	current_comm(told->comm, sizeof(told->comm));
	told->interface[0] = 0;
	if (sight->dev) {
		struct net_device *dev = (void *)sight->dev;
		probe_read_kernel_str(told->interface, sizeof(told->interface), &dev->name);
	}
	// User space looks at intervals.
	ringbuf_submit(told, NO_WAKEUP);
}

inline_always void note_carrier(const struct sight *sight, u32 number)
{
	struct carrier *known = map_lookup(&carriers, &sight->skb);
	if (known && known->number == number && known->is_freed)
		return;
	struct carrier carrier = {.number = number, .is_freed = sight->is_freed, .head = sight->head};
	if (map_update(&carriers, &sight->skb, &carrier, 0))
		trouble(NOT_KEPT);
}

static __attribute__((noinline)) int at_sight(struct scratch *scratch)
{
	u64 now = ktime_get_ns();
	u32 zero = 0;
	struct sight *sight = &scratch->sight;
	struct settings *set = map_lookup(&settings, &zero);
	struct state *state = map_lookup(&states, &zero);
	if (!set || !state)
		return 0;
	u32 is_here = sight->ifindex == look_ifindex && sight->netns == look_netns && now < set->closed_at;
	if (!is_here && now >= state->active_until)
		return 0;
	sight->is_here = is_here;
	sight->is_open = is_here && now >= set->opened_at;
	u32 by_content = 0;
	s64 found = number_of(scratch, sight, now, &by_content);
	if (found < 0)
		return 0;
	u32 number = found;
	state->active_until = now + ACTIVE_NS;
	note_carrier(sight, number);
	tell(sight, number, now, by_content);
	return 0;
}

inline_always struct sight *begin(struct scratch *scratch, u64 skb, u32 slot, u64 location)
{
	struct sight *sight = &scratch->sight;
	sight->skb = skb;
	sight->slot = slot;
	sight->location = location;
	sight->function = 0;
	sight->reason = 0;
	sight->is_freed = 0;
	sight->is_once = 0;
	sight->ifindex = 0;
	sight->netns = 0;
	return sight;
}

static __attribute__((noinline)) int at_skb(struct sk_buff *skb, u32 slot, u32 reason, u64 location)
{
	struct net_device *dev = skb->dev;
	u32 is_sv = is_sv_type(skb->protocol);
	// Most frames are ignored here.
	if (!(is_sv && dev && (u32)dev->ifindex == look_ifindex) && !is_active())
		return 0;
	struct scratch *scratch = map_lookup(&scratches, &slot);
	if (!scratch)
		return 0;
	struct sight *sight = begin(scratch, (u64)skb, slot, location);
	sight->reason = reason;
	sight->is_freed = frees[slot & (SLOTS - 1)];
	sight->is_once = comes_once[slot & (SLOTS - 1)];
	sight->dev = (u64)dev;
	if (dev) {
		sight->ifindex = dev->ifindex;
		sight->netns = dev->nd_net.net->ns.inum;
	} else {
		// A packet socket has removed the device from its frames.
		struct sock *sk = skb->sk;
		sight->ifindex = skb->skb_iif;
		if (sk)
			sight->netns = sk->__sk_common.skc_net.net->ns.inum;
	}
	// The differences in 64 bits: the verifier treats these as pointers, and allows no 32-bit arithmetic with them.
	u64 head = (u64)skb->head;
	u64 data_at = (u64)skb->data - head;
	__asm__ volatile("" : "+r"(data_at));
	u32 mac_at = skb->mac_header;
	sight->is_whole = is_sv && mac_at != MAC_UNSET;
	sight->head = head;
	sight->mac = head + mac_at;
	// The linear part, which has the headers.
	sight->octets = (u32)data_at - mac_at + skb->len;
	sight->held = sight->octets - skb->data_len;
	sight->vlan = skb->vlan_proto ? skb->vlan_tci & 0xfff : VLAN_NONE;
	return at_sight(scratch);
}

// The argument at this position. Each has its own load: the kernel allows none at an offset that is not constant.
inline_always u64 argument(const u64 *ctx, u32 at)
{
	u64 value = 0;
	switch (at) {
#define CASE(number, offset)                                                                                                       \
	case number:                                                                                                               \
		__asm__ volatile("%0 = *(u64 *)(%1 + " #offset ")" : "=r"(value) : "r"(ctx));                                      \
		break;
		CASE(0, 0)
		CASE(1, 8)
		CASE(2, 16)
		CASE(3, 24)
		CASE(4, 32)
		CASE(5, 40)
#undef CASE
		_Static_assert(ARGUMENTS == 6 && NO_ARGUMENT >= ARGUMENTS, "a case for each argument");
	}
	return value;
}

// Not inlined: otherwise the object would contain it once per slot. The kernel checks it separately for each slot, and knows the positions
// there.
static __attribute__((noinline)) int at_tracepoint(const u64 *ctx, u32 slot)
{
	struct sk_buff *skb = (void *)argument(ctx, skb_at[slot]);
	if (!skb)
		return 0;
	return at_skb(skb, slot, argument(ctx, reason_at[slot]), argument(ctx, location_at[slot]));
}

#define SLOT(number)                                                                                                               \
	SEC("tp_btf/slot_" #number) int slot_##number(const u64 *ctx)                                                              \
	{                                                                                                                          \
		return at_tracepoint(ctx, number);                                                                                 \
	}
#define EIGHT_SLOTS(tens)                                                                                                          \
	SLOT(tens##0) SLOT(tens##1) SLOT(tens##2) SLOT(tens##3) SLOT(tens##4) SLOT(tens##5) SLOT(tens##6) SLOT(tens##7)
// Slots are numbered in octal: there are 64.
EIGHT_SLOTS(0)
EIGHT_SLOTS(01)
EIGHT_SLOTS(02)
EIGHT_SLOTS(03)
EIGHT_SLOTS(04)
EIGHT_SLOTS(05)
EIGHT_SLOTS(06)
EIGHT_SLOTS(07)

#define READ(to, from) probe_read_kernel(&(to), sizeof(to), __builtin_preserve_access_index(&(from)))

inline_always u32 namespace_number(struct net *net)
{
	u32 number = 0;
	READ(number, net->ns.inum);
	return number;
}

// Like at_skb, for data that the verifier knows nothing about: each access may fail, and then reads zeros.
static __attribute__((noinline)) int at_address(struct sk_buff *skb, u32 function, u64 location)
{
	u16 protocol = 0;
	struct net_device *dev = 0;
	u32 ifindex = 0;
	if (!skb || READ(protocol, skb->protocol) || READ(dev, skb->dev))
		return 0;
	if (dev)
		READ(ifindex, dev->ifindex);
	u32 is_sv = is_sv_type(protocol);
	if (!(is_sv && ifindex == look_ifindex) && !is_active())
		return 0;
	u32 slot = FUNCTIONS;
	struct scratch *scratch = map_lookup(&scratches, &slot);
	if (!scratch)
		return 0;
	struct sight *sight = begin(scratch, (u64)skb, slot, location);
	sight->function = function;
	struct net *net = 0;
	sight->dev = (u64)dev;
	if (dev) {
		sight->ifindex = ifindex;
		READ(net, dev->nd_net.net);
	} else {
		struct sock *sk = 0;
		READ(sight->ifindex, skb->skb_iif);
		READ(sk, skb->sk);
		if (sk)
			READ(net, sk->__sk_common.skc_net.net);
	}
	if (net)
		sight->netns = namespace_number(net);
	u64 head = 0, data = 0;
	u32 len = 0, data_len = 0;
	u16 mac_header = MAC_UNSET, vlan_proto = 0, vlan_tci = 0;
	READ(head, skb->head);
	READ(data, skb->data);
	READ(len, skb->len);
	READ(data_len, skb->data_len);
	READ(mac_header, skb->mac_header);
	READ(vlan_proto, skb->vlan_proto);
	READ(vlan_tci, skb->vlan_tci);
	sight->is_whole = is_sv && mac_header != MAC_UNSET;
	sight->head = head;
	sight->mac = head + mac_header;
	sight->octets = (u32)(data - head) - mac_header + len;
	sight->held = sight->octets - data_len;
	sight->vlan = vlan_proto ? vlan_tci & 0xfff : VLAN_NONE;
	return at_sight(scratch);
}

// The registers that hold a function's arguments, in struct pt_regs of x86-64.
enum { R8 = 9, CX = 11, DX = 12, SI = 13, DI = 14 };
#define AT_FUNCTION(position, register)                                                                                            \
	SEC("kprobe/function_" #position) int function_##position(u64 *registers)                                                  \
	{                                                                                                                          \
		return at_address((void *)registers[register], attach_cookie(registers), function_address(registers));             \
	}
AT_FUNCTION(0, DI)
AT_FUNCTION(1, SI)
AT_FUNCTION(2, DX)
AT_FUNCTION(3, CX)
AT_FUNCTION(4, R8)

SEC("tp_btf/softirq_entry") int on_softirq_entry(const u64 *ctx)
{
	u32 zero = 0;
	struct context *context = map_lookup(&contexts, &zero);
	if (context) {
		context->softirq_thread = current_pid_tgid();
		context->softirq = (u32)ctx[0] + 1;
	}
	return 0;
}

SEC("tp_btf/softirq_exit") int on_softirq_exit(const u64 *ctx)
{
	u32 zero = 0;
	struct context *context = map_lookup(&contexts, &zero);
	if (context)
		context->softirq = 0;
	return 0;
}

SEC("tp_btf/irq_handler_entry") int on_irq_entry(const u64 *ctx)
{
	u32 zero = 0;
	struct context *context = map_lookup(&contexts, &zero);
	if (context)
		context->irq = (u32)ctx[0] + 1;
	return 0;
}

SEC("tp_btf/irq_handler_exit") int on_irq_exit(const u64 *ctx)
{
	u32 zero = 0;
	struct context *context = map_lookup(&contexts, &zero);
	if (context)
		context->irq = 0;
	return 0;
}

char licence[] SEC("license") = "Dual BSD/GPL";
