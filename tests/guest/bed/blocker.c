// Blocks a CPU for a known time, again and again, as a badly placed real-time thread does: `blocker CPU BLOCK-MS PAUSE-MS`.

#define _GNU_SOURCE
#include <err.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

static long long now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int count, char **arguments)
{
	if (count != 4)
		errx(2, "usage: blocker CPU BLOCK-MS PAUSE-MS");
	cpu_set_t cpus;
	CPU_ZERO(&cpus);
	CPU_SET(atoi(arguments[1]), &cpus);
	struct sched_param priority = {.sched_priority = 90};
	if (sched_setaffinity(0, sizeof(cpus), &cpus) || sched_setscheduler(0, SCHED_FIFO, &priority))
		err(1, "a real-time thread");
	prctl(PR_SET_NAME, "blocker");
	long long block_ns = atoll(arguments[2]) * 1000000, pause_ns = atoll(arguments[3]) * 1000000;
	for (;;) {
		struct timespec pause = {.tv_sec = pause_ns / 1000000000, .tv_nsec = pause_ns % 1000000000};
		nanosleep(&pause, NULL);
		for (long long begin = now_ns(); now_ns() - begin < block_ns;)
			;
	}
}
