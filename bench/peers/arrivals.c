/* How late the frames of sampled-value publishers arrive: kernel receive stamp minus the instant that smpCnt stands for, on the
 * wall clock. Independent of every publisher compared: it knows only EtherType, the BER of IEC 61850-9-2 and the rate.
 *
 *   arrivals INTERFACE CPU SECONDS RATE (first|last) EVERY
 *
 * Looks only at streams whose destination's last octet is a multiple of EVERY, a power of two. A frame is due at the instant of its first or its last sample. Prints one JSON line: frames, those the ring had no room for, and
 * min, p50, p99, p99.9 and max in ns, in steps of 100 ns. Counts from the first frame on, without the first 0.2 s.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL
#define STEP 100
#define BUCKETS 1000000 /* 100 ms */
#define SLOTS (1 << 17)
#define SLOT_OCTETS 1024

static uint32_t histogram[BUCKETS + 1];

static void die(const char *what) { fprintf(stderr, "arrivals: %s: %s\n", what, strerror(errno)); exit(1); }

/* Where the content of a TLV begins; its length in *length. */
static const uint8_t *content(const uint8_t *at, unsigned *length)
{
	unsigned octet = at[1];
	if (octet < 128) { *length = octet; return at + 2; }
	*length = 0;
	for (unsigned i = 0; i < (octet & 127); i++) *length = *length << 8 | at[2 + i];
	return at + 2 + (octet & 127);
}

/* smpCnt of the first or the last ASDU, or -1. */
static int smp_cnt(const uint8_t *frame, const uint8_t *end, int wants_last)
{
	const uint8_t *at = frame + 12;
	unsigned length;
	int found = -1;
	if (at[0] == 0x81 && at[1] == 0) at += 4;
	if (at[0] != 0x88 || at[1] != 0xba || at[10] != 0x60) return -1;
	at = content(at + 10, &length);
	for (const uint8_t *next; at + 2 < end; at = next) {
		const uint8_t *inside = content(at, &length);
		next = *at == 0xa2 || *at == 0x30 ? inside : inside + length;
		if (*at == 0x82 && length == 2) {
			found = inside[0] << 8 | inside[1];
			if (!wants_last) return found;
		}
	}
	return found;
}

static long long quantile(double share, long long count)
{
	long long wanted = count * share, below = 0;
	for (int i = 0; i <= BUCKETS; i++)
		if ((below += histogram[i]) > wanted) return (long long)i * STEP;
	return (long long)BUCKETS * STEP;
}

/* The kernel lets go of frames of other streams before they are copied. */
static void take_every(int fd, unsigned every)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 5),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, every - 1),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0x40000),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = { .len = sizeof code / sizeof *code, .filter = code };
	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program)) die("filter");
}

int main(int count, char **words)
{
	if (count != 7) { fprintf(stderr, "arrivals INTERFACE CPU SECONDS RATE (first|last) EVERY\n"); return 2; }
	int one = 1, version = TPACKET_V2, index = if_nametoindex(words[1]), wants_last = !strcmp(words[5], "last");
	long long rate = atoll(words[4]);
	cpu_set_t cpus;
	CPU_ZERO(&cpus);
	CPU_SET(atoi(words[2]), &cpus);
	if (sched_setaffinity(0, sizeof cpus, &cpus)) die("affinity");
	struct tpacket_req request = { .tp_block_size = 1 << 20, .tp_frame_size = SLOT_OCTETS,
		.tp_block_nr = (long long)SLOTS * SLOT_OCTETS >> 20, .tp_frame_nr = SLOTS };
	int fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (fd < 0) die("socket");
	setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one);
	setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof one);
	if (setsockopt(fd, SOL_PACKET, PACKET_VERSION, &version, sizeof version)) die("version");
	if (setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof request)) die("ring");
	uint8_t *ring = mmap(0, (size_t)SLOTS * SLOT_OCTETS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (ring == MAP_FAILED) die("mmap");
	take_every(fd, atoi(words[6]));
	struct sockaddr_ll address = { .sll_family = AF_PACKET, .sll_protocol = htons(0x88ba), .sll_ifindex = index };
	if (bind(fd, (struct sockaddr *)&address, sizeof address)) die("bind");

	long long first = 0, frames = 0, least = SECOND, most = -SECOND, sum = 0;
	long long until = time(0) + 30; /* without a frame */
	for (unsigned slot = 0;;) {
		struct tpacket2_hdr *header = (void *)(ring + (size_t)slot * SLOT_OCTETS);
		if (!(__atomic_load_n(&header->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER)) {
			/* Not poll: to be woken for a frame costs the CPU that delivers it, which over veth is the publisher's. */
			usleep(200);
			if (time(0) > until) break;
			continue;
		}
		long long stamp = header->tp_sec * SECOND + header->tp_nsec;
		const uint8_t *frame = (uint8_t *)header + header->tp_mac;
		int sample = smp_cnt(frame, frame + header->tp_snaplen, wants_last);
		__atomic_store_n(&header->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
		slot = (slot + 1) % SLOTS;
		if (sample < 0) continue;
		if (!first) { first = stamp; until = time(0) + atoll(words[3]) + 2; }
		if (stamp - first < SECOND / 5) continue;
		if (stamp - first > atoll(words[3]) * SECOND) break;
		long long late = (stamp - sample * SECOND / rate) % SECOND;
		if (late > SECOND / 2) late -= SECOND;
		long long bucket = late / STEP;
		histogram[bucket < 0 ? 0 : bucket > BUCKETS ? BUCKETS : bucket]++;
		frames++;
		sum += late;
		if (late < least) least = late;
		if (late > most) most = late;
	}
	struct tpacket_stats statistics = { 0 };
	socklen_t length = sizeof statistics;
	getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &statistics, &length);
	if (!frames) { fprintf(stderr, "arrivals: no frame came\n"); return 3; }
	printf("{\"frames\": %lld, \"dropped\": %u, \"min\": %lld, \"mean\": %lld, \"p50\": %lld, \"p99\": %lld, \"p999\": %lld, \"max\": %lld}\n",
		frames, statistics.tp_drops, least, sum / frames, quantile(0.5, frames), quantile(0.99, frames), quantile(0.999, frames), most);
	return 0;
}
