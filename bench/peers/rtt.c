/* Round trips over one veth pair with as little around the system calls as possible: the peer that `triptime reflect` and its
 * packet ports are compared with. One process is one end.
 *
 *   rtt (ping|pong) ENGINE INTERFACE CPU ROUNDS
 *
 * Engines: ring (TPACKET_V2 receive ring, spun; send), ring-bypass (the same past the queueing discipline), ring-xdp (the same,
 * sending by AF_XDP), recv (recv without waiting), xdp-native, xdp-generic (AF_XDP, copying, spun). ping prints one JSON line;
 * pong runs until it is killed.
 *
 * Bursts of 50 ms with rests of 50 ms, so that real-time throttling does not strike. Frames have EtherType 0x88b6, so that a
 * triptime on the same wire does not answer them.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ETHERTYPE 0x88b6
#define OCTETS 60
#define WARM_UP 2000
#define BURST_NS 50000000LL
#define GIVE_UP_NS 100000000LL
#define SLOTS 256
#define SLOT_OCTETS 2048

static int fd;       /* to receive from */
static int send_fd;  /* to send to */
static int is_xdp, is_recv, sends_by_xdp;
static uint8_t buffer[SLOT_OCTETS];
static void die(const char *what) { fprintf(stderr, "%s: %s\n", what, strerror(errno)); exit(1); }

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* --- packet socket ------------------------------------------------------------------------------------------------------- */

static uint8_t *ring;
static unsigned slot;

static void open_packet(int index, int bypass, int mapped)
{
	int one = 1, version = TPACKET_V2;
	struct tpacket_req request = { .tp_block_size = 65536, .tp_frame_size = SLOT_OCTETS,
		.tp_block_nr = SLOTS * SLOT_OCTETS / 65536, .tp_frame_nr = SLOTS };
	struct sockaddr_ll address = { .sll_family = AF_PACKET, .sll_protocol = htons(ETHERTYPE), .sll_ifindex = index };
	fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (fd < 0) die("socket");
	setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one);
	if (bypass) setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof one);
	if (mapped) {
		if (setsockopt(fd, SOL_PACKET, PACKET_VERSION, &version, sizeof version)) die("version");
		if (setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof request)) die("ring");
		ring = mmap(0, SLOTS * SLOT_OCTETS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
		if (ring == MAP_FAILED) die("mmap");
	}
	if (bind(fd, (struct sockaddr *)&address, sizeof address)) die("bind");
}

/* --- AF_XDP -------------------------------------------------------------------------------------------------------------- */

struct queue { uint32_t *producer, *consumer, *flags; void *entries; uint32_t own; };
static struct queue rx, tx, fill, completion;
static uint8_t *umem;
static uint32_t tx_chunk;

static long bpf(int command, union bpf_attr *attributes)
{
	long result = syscall(SYS_bpf, command, attributes, sizeof *attributes);
	if (result < 0) die("bpf");
	return result;
}

static int program(int map)
{
	struct bpf_insn code[] = {
		{ .code = 0xbf, .dst_reg = 6, .src_reg = 1 },
		{ .code = 0x61, .dst_reg = 2, .src_reg = 1, .off = 0 },
		{ .code = 0x61, .dst_reg = 3, .src_reg = 1, .off = 4 },
		{ .code = 0xbf, .dst_reg = 4, .src_reg = 2 },
		{ .code = 0x07, .dst_reg = 4, .imm = 14 },
		{ .code = 0x2d, .dst_reg = 4, .src_reg = 3, .off = 8 },
		{ .code = 0x69, .dst_reg = 5, .src_reg = 2, .off = 12 },
		{ .code = 0x55, .dst_reg = 5, .off = 6, .imm = htons(ETHERTYPE) },
		{ .code = 0x61, .dst_reg = 2, .src_reg = 6, .off = 16 },
		{ .code = 0x18, .dst_reg = 1, .src_reg = 1, .imm = map }, { 0 },
		{ .code = 0xb7, .dst_reg = 3, .imm = 2 },
		{ .code = 0x85, .imm = 51 },
		{ .code = 0x95 },
		{ .code = 0xb7, .dst_reg = 0, .imm = 2 },
		{ .code = 0x95 },
	};
	union bpf_attr load = { .prog_type = BPF_PROG_TYPE_XDP, .insn_cnt = sizeof code / sizeof *code,
		.insns = (uintptr_t)code, .license = (uintptr_t)"Apache-2.0" };
	return bpf(BPF_PROG_LOAD, &load);
}

static void map_queue(struct queue *queue, struct xdp_ring_offset offsets, size_t entry, off_t page)
{
	uint8_t *memory = mmap(0, offsets.desc + SLOTS * entry, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, page);
	if (memory == MAP_FAILED) die("mmap");
	queue->producer = (void *)(memory + offsets.producer);
	queue->consumer = (void *)(memory + offsets.consumer);
	queue->flags = (void *)(memory + offsets.flags);
	queue->entries = memory + offsets.desc;
}

/* Has the frames of queue 0 go to the socket. */
static void deliver(int index, int generic)
{
	uint32_t key = 0, value = fd;
	union bpf_attr map = { .map_type = BPF_MAP_TYPE_XSKMAP, .key_size = 4, .value_size = 4, .max_entries = 1 };
	int map_fd = bpf(BPF_MAP_CREATE, &map);
	union bpf_attr link = { .link_create = { .prog_fd = program(map_fd), .target_ifindex = index, .attach_type = BPF_XDP,
		.flags = generic ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE } };
	bpf(BPF_LINK_CREATE, &link);
	union bpf_attr update = { .map_fd = map_fd, .key = (uintptr_t)&key, .value = (uintptr_t)&value };
	bpf(BPF_MAP_UPDATE_ELEM, &update);
}

static void open_xdp(int index)
{
	uint32_t size = SLOTS;
	fd = socket(AF_XDP, SOCK_RAW, 0);
	umem = mmap(0, 2 * SLOTS * SLOT_OCTETS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	struct xdp_umem_reg memory = { .addr = (uintptr_t)umem, .len = 2 * SLOTS * SLOT_OCTETS, .chunk_size = SLOT_OCTETS };
	if (setsockopt(fd, SOL_XDP, XDP_UMEM_REG, &memory, sizeof memory)) die("umem");
	for (int option = XDP_RX_RING; option <= XDP_UMEM_COMPLETION_RING; option++)
		if (option != XDP_UMEM_REG && setsockopt(fd, SOL_XDP, option, &size, sizeof size)) die("rings");
	struct xdp_mmap_offsets offsets;
	socklen_t length = sizeof offsets;
	if (getsockopt(fd, SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &length)) die("offsets");
	map_queue(&rx, offsets.rx, sizeof(struct xdp_desc), XDP_PGOFF_RX_RING);
	map_queue(&tx, offsets.tx, sizeof(struct xdp_desc), XDP_PGOFF_TX_RING);
	map_queue(&fill, offsets.fr, 8, XDP_UMEM_PGOFF_FILL_RING);
	map_queue(&completion, offsets.cr, 8, XDP_UMEM_PGOFF_COMPLETION_RING);
	for (int i = 0; i < SLOTS; i++) ((uint64_t *)fill.entries)[fill.own++] = i * SLOT_OCTETS;
	__atomic_store_n(fill.producer, fill.own, __ATOMIC_RELEASE);
	struct sockaddr_xdp address = { .sxdp_family = AF_XDP, .sxdp_flags = XDP_COPY | XDP_USE_NEED_WAKEUP, .sxdp_ifindex = index };
	for (int tries = 0; bind(fd, (struct sockaddr *)&address, sizeof address); tries++) {
		if (errno != EBUSY || tries == 200) die("bind");
		usleep(5000);
	}
	send_fd = fd;
}

/* --- both ---------------------------------------------------------------------------------------------------------------- */

/* The frame that is there, or 0. It stays valid until release(). */
static inline uint8_t *look(void)
{
	if (is_recv) return recv(fd, buffer, sizeof buffer, MSG_DONTWAIT) > 0 ? buffer : 0;
	if (is_xdp) {
		if (__atomic_load_n(rx.producer, __ATOMIC_ACQUIRE) == rx.own) return 0;
		return umem + ((struct xdp_desc *)rx.entries)[rx.own & (SLOTS - 1)].addr;
	}
	struct tpacket2_hdr *header = (void *)(ring + slot * SLOT_OCTETS);
	if (!(__atomic_load_n(&header->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER)) return 0;
	return (uint8_t *)header + header->tp_mac;
}

static inline void release(uint8_t *frame)
{
	if (is_recv) return;
	if (is_xdp) {
		__atomic_store_n(rx.consumer, ++rx.own, __ATOMIC_RELEASE);
		((uint64_t *)fill.entries)[fill.own++ & (SLOTS - 1)] = (frame - umem) & ~(uint64_t)(SLOT_OCTETS - 1);
		__atomic_store_n(fill.producer, fill.own, __ATOMIC_RELEASE);
		return;
	}
	__atomic_store_n(&((struct tpacket2_hdr *)(ring + slot * SLOT_OCTETS))->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
	slot = (slot + 1) % SLOTS;
}

static inline void transmit(const uint8_t *frame)
{
	if (!sends_by_xdp) {
		if (send(send_fd, frame, OCTETS, 0) < 0) die("send");
		return;
	}
	/* One frame is on its way at a time: chunks in turn are always free. */
	uint64_t address = (uint64_t)(SLOTS + tx_chunk++ % SLOTS) * SLOT_OCTETS;
	memcpy(umem + address, frame, OCTETS);
	((struct xdp_desc *)tx.entries)[tx.own++ & (SLOTS - 1)] = (struct xdp_desc){ .addr = address, .len = OCTETS };
	__atomic_store_n(tx.producer, tx.own, __ATOMIC_RELEASE);
	if (sendto(send_fd, 0, 0, MSG_DONTWAIT, 0, 0) < 0) die("sendto");
	completion.own = __atomic_load_n(completion.producer, __ATOMIC_ACQUIRE);
	__atomic_store_n(completion.consumer, completion.own, __ATOMIC_RELEASE);
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static void rest(void)
{
	struct timespec pause = { .tv_nsec = BURST_NS };
	nanosleep(&pause, 0);
}

static void ping(int rounds)
{
	uint8_t frame[OCTETS] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, ETHERTYPE >> 8, ETHERTYPE & 0xff };
	int64_t *values = calloc(rounds + WARM_UP, sizeof *values), rested = now();
	int lost = 0;
	for (int i = 0; i < rounds + WARM_UP; i++) {
		uint8_t *got;
		int64_t sent = now();
		if (sent - rested > BURST_NS) { rest(); rested = sent = now(); }
		transmit(frame);
		unsigned looks = 0;
		while (!(got = look()))
			if (++looks % 4096 == 0 && now() - sent > GIVE_UP_NS) break;
		values[i] = now() - sent;
		if (got) release(got); else lost++;
	}
	values += WARM_UP;
	qsort(values, rounds, sizeof *values, compare);
	printf("{\"rounds\": %d, \"lost\": %d, \"min\": %ld, \"p50\": %ld, \"p99\": %ld, \"p999\": %ld, \"max\": %ld}\n", rounds, lost,
		(long)values[0], (long)values[rounds / 2], (long)values[rounds / 100 * 99], (long)values[rounds / 1000 * 999],
		(long)values[rounds - 1]);
}

/* Spins while there is something to answer, and sleeps a little when there has not been for a while. */
static void pong(void)
{
	uint8_t *got, answer[OCTETS];
	for (;;) {
		unsigned looks = 0;
		while (!(got = look()))
			if (++looks > 100000) { usleep(20); looks = 90000; }
		memcpy(answer, got, OCTETS);
		release(got);
		transmit(answer);
	}
}

int main(int count, char **words)
{
	if (count != 6) { fprintf(stderr, "rtt (ping|pong) ENGINE INTERFACE CPU ROUNDS\n"); return 2; }
	const char *engine = words[2];
	int index = if_nametoindex(words[3]);
	cpu_set_t cpus;
	CPU_ZERO(&cpus);
	CPU_SET(atoi(words[4]), &cpus);
	struct sched_param priority = { .sched_priority = 10 };
	if (!index) die("interface");
	if (sched_setaffinity(0, sizeof cpus, &cpus)) die("affinity");
	is_xdp = !strncmp(engine, "xdp-", 4);
	is_recv = !strcmp(engine, "recv");
	sends_by_xdp = is_xdp || !strcmp(engine, "ring-xdp");
	if (sends_by_xdp) open_xdp(index);
	if (is_xdp) deliver(index, !strcmp(engine, "xdp-generic"));
	else open_packet(index, !strcmp(engine, "ring-bypass"), !is_recv);
	if (!sends_by_xdp) send_fd = fd;
	if (mlockall(MCL_CURRENT | MCL_FUTURE)) die("mlockall");
	if (sched_setscheduler(0, SCHED_FIFO, &priority)) die("scheduler");
	if (!strcmp(words[1], "ping")) ping(atoi(words[5])); else pong();
	return 0;
}
