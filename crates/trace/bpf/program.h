// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
//
// The common beginning of every eBPF program here.
//
// There is no vmlinux.h: the few kernel structures are declared with the needed fields only, and the loader adapts the accesses to this
// kernel (CO-RE).

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;

#define SEC(name) __attribute__((section(name), used))
#define __uint(name, value) int(*name)[value]
#define __type(name, value) typeof(value) *name
#define inline_always static inline __attribute__((always_inline))
#define barrier() __asm__ volatile("" ::: "memory")

// Assertions that user space relies on, too. build.rs makes the same from these lines for the Rust side (crates/trace/src/layout.rs). The
// fields of a structure are listed in order, without a gap; offsets and sizes are in bytes.
#define OCTETS(of, octets) _Static_assert(sizeof(struct of) == (octets), "octets of struct " #of)
#define FIELD(of, field, at, octets)                                                                                               \
	_Static_assert(__builtin_offsetof(struct of, field) == (at), "place of " #of "." #field);                                  \
	_Static_assert(sizeof(((struct of *)0)->field) == (octets), "octets of " #of "." #field)
#define GLOBAL(name, octets) _Static_assert(sizeof(name) == (octets), "octets of " #name)

// linux/bpf.h, enum bpf_func_id, enum bpf_map_type, flags of bpf_map_update_elem and bpf_ringbuf_submit, and BPF_F_MMAPABLE.
static void *(*map_lookup)(void *, const void *) = (void *)1;
static long (*map_update)(void *, const void *, const void *, u64) = (void *)2;
static u64 (*ktime_get_ns)(void) = (void *)5;
static u32 (*this_cpu)(void) = (void *)8;
static u64 (*current_pid_tgid)(void) = (void *)14;
static long (*current_comm)(void *, u32) = (void *)16;
static long (*probe_read_kernel)(void *, u32, const void *) = (void *)113;
static long (*probe_read_kernel_str)(void *, u32, const void *) = (void *)115;
static void *(*ringbuf_reserve)(void *, u64, u64) = (void *)131;
static void (*ringbuf_submit)(void *, u64) = (void *)132;
static u64 (*function_address)(void *) = (void *)173;
static u64 (*attach_cookie)(void *) = (void *)174;
enum { MAP_HASH = 1, MAP_ARRAY = 2, MAP_PERCPU_ARRAY = 6, MAP_LRU_HASH = 9, MAP_RINGBUF = 27 };
enum { NOEXIST = 1, NO_WAKEUP = 1 };
#define MAP_MMAPABLE (1u << 10)
