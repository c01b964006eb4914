// Plays the part of QEMU with vhost-net: makes a tap, and gives it to the kernel's vhost thread with one receive queue, whose
// buffers it hands back as they are filled. `vmm TAP`, until SIGTERM; then it says how many sampled values came.

#include <err.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/vhost.h>
#include <linux/virtio_ring.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define QUEUE 256
#define BUFFER 2048
// In a buffer: behind what virtio puts before a frame, and the MAC addresses.
#define ETHERTYPE (10 + 12)

// Stands in for the guest's memory: its addresses are those of this process.
static struct {
	struct vring_desc descriptors[QUEUE] __attribute__((aligned(4096)));
	struct {
		struct vring_avail ring;
		uint16_t entries[QUEUE + 1];
	} available __attribute__((aligned(4096)));
	struct {
		struct vring_used ring;
		struct vring_used_elem entries[QUEUE + 1];
	} used __attribute__((aligned(4096)));
	char buffers[QUEUE][BUFFER] __attribute__((aligned(4096)));
} memory;

static volatile sig_atomic_t is_over;

static void end(int signal)
{
	(void)signal;
	is_over = 1;
}

static int must(int result, const char *what)
{
	if (result < 0)
		err(1, "%s", what);
	return result;
}

static int open_tap(const char *name)
{
	int tap = must(open("/dev/net/tun", O_RDWR | O_NONBLOCK), "/dev/net/tun");
	struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR};
	strncpy(request.ifr_name, name, IFNAMSIZ - 1);
	must(ioctl(tap, TUNSETIFF, &request), "TUNSETIFF");
	return tap;
}

static void give(uint16_t descriptor)
{
	volatile struct vring_avail *ring = &memory.available.ring;
	ring->ring[ring->idx % QUEUE] = descriptor;
	__sync_synchronize();
	ring->idx++;
}

static void start_vhost(int tap, int kick, int call)
{
	int vhost = must(open("/dev/vhost-net", O_RDWR), "/dev/vhost-net");
	uint64_t features = 0;
	struct {
		struct vhost_memory head;
		struct vhost_memory_region region;
	} table = {
		.head = {.nregions = 1},
		.region = {
			.guest_phys_addr = (uintptr_t)&memory,
			.userspace_addr = (uintptr_t)&memory,
			.memory_size = sizeof(memory),
		},
	};
	struct vhost_vring_state size = {.num = QUEUE}, base = {0};
	struct vhost_vring_addr addresses = {
		.desc_user_addr = (uintptr_t)memory.descriptors,
		.avail_user_addr = (uintptr_t)&memory.available,
		.used_user_addr = (uintptr_t)&memory.used,
	};
	struct vhost_vring_file to_vhost = {.fd = kick}, from_vhost = {.fd = call}, backend = {.fd = tap};
	must(ioctl(vhost, VHOST_SET_OWNER), "VHOST_SET_OWNER");
	must(ioctl(vhost, VHOST_SET_FEATURES, &features), "VHOST_SET_FEATURES");
	must(ioctl(vhost, VHOST_SET_MEM_TABLE, &table), "VHOST_SET_MEM_TABLE");
	must(ioctl(vhost, VHOST_SET_VRING_NUM, &size), "VHOST_SET_VRING_NUM");
	must(ioctl(vhost, VHOST_SET_VRING_BASE, &base), "VHOST_SET_VRING_BASE");
	must(ioctl(vhost, VHOST_SET_VRING_ADDR, &addresses), "VHOST_SET_VRING_ADDR");
	must(ioctl(vhost, VHOST_SET_VRING_KICK, &to_vhost), "VHOST_SET_VRING_KICK");
	must(ioctl(vhost, VHOST_SET_VRING_CALL, &from_vhost), "VHOST_SET_VRING_CALL");
	must(ioctl(vhost, VHOST_NET_SET_BACKEND, &backend), "VHOST_NET_SET_BACKEND");
}

int main(int count, char **arguments)
{
	if (count != 2)
		errx(2, "usage: vmm TAP");
	signal(SIGTERM, end);
	int kick = must(eventfd(0, EFD_NONBLOCK), "eventfd"), call = must(eventfd(0, EFD_NONBLOCK), "eventfd");
	for (uint16_t i = 0; i < QUEUE; i++) {
		memory.descriptors[i] = (struct vring_desc){
			.addr = (uintptr_t)memory.buffers[i],
			.len = BUFFER,
			.flags = VRING_DESC_F_WRITE,
		};
		give(i);
	}
	start_vhost(open_tap(arguments[1]), kick, call);

	volatile struct vring_used *used = &memory.used.ring;
	uint16_t taken = 0;
	unsigned long frames = 0;
	while (!is_over) {
		struct pollfd wait = {.fd = call, .events = POLLIN};
		eventfd_t events;
		if (poll(&wait, 1, 100) > 0)
			eventfd_read(call, &events);
		for (; taken != used->idx; taken++) {
			uint16_t filled = used->ring[taken % QUEUE].id;
			frames += memcmp(memory.buffers[filled] + ETHERTYPE, "\x88\xba", 2) == 0;
			give(filled);
		}
		must(eventfd_write(kick, 1), "to wake vhost");
	}
	printf("%lu\n", frames);
	return 0;
}
