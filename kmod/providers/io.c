// SPDX-License-Identifier: GPL-2.0
/*
 * io: block I/O, bio by bio. arg0 and arg1 are the bio (bufinfo_t and devinfo_t
 * are made of it by io.d), arg2 is the file, 0 where the block layer no longer
 * knows it.
 *
 *   start, done             a bio is given to a device's queue; it is complete
 *   wait-start, wait-done   the current thread begins, ends to wait for its bio
 *
 * Handlers are probe context.
 */
#include "kmod/providers/events.h"

#include <linux/bio.h>
#include <linux/blk-mq.h>
#include "kmod/linux/linux.h"

enum { START, DONE, WAIT_START, WAIT_DONE, PROBES };
static struct dfr_event_probe probes[PROBES];

static void fire(int which, struct bio *bio)
{
	u64 args[3] = { (u64)bio, (u64)bio, 0 };

	dfr_event_fire(&probes[which], args, ARRAY_SIZE(args), NULL);
}

static void on_queue(void *data, struct bio *bio)
{
	fire(START, bio);
}

static void on_complete(void *data, struct request_queue *queue, struct bio *bio)
{
	fire(DONE, bio);
}

/* A request completes `bytes` of its bios; each bio that this finishes is one "done". */
static void on_request_complete(void *data, struct request *request, blk_status_t error,
				unsigned int bytes)
{
	struct bio *bio;

	for (bio = request->bio; bio && bytes >= bio->bi_iter.bi_size && bio->bi_iter.bi_size;
	     bio = bio->bi_next) {
		bytes -= bio->bi_iter.bi_size;
		fire(DONE, bio);
	}
}

static void on_wait(struct dfr_hook *hook, struct pt_regs *regs)
{
	u64 args[DFR_FUNCTION_ARGS];

	dfr_arch_function_args(regs, args);
	fire(WAIT_START, (struct bio *)args[0]);
	if (READ_ONCE(probes[WAIT_DONE].ep_armed) && !dfr_hook_return(hook, (void *)args[0], regs))
		dfr_probe_lost(probes[WAIT_DONE].ep_probe, DFR_LOSS_RETURN_POOL);
}

static void on_waited(void *cookie, struct pt_regs *regs)
{
	fire(WAIT_DONE, cookie);
}

static struct dfr_tracepoint tp_queue = { .tp_name = "block_bio_queue", .tp_probe = on_queue };
static struct dfr_tracepoint tp_complete = { .tp_name = "block_bio_complete", .tp_probe = on_complete };
static struct dfr_tracepoint tp_request = { .tp_name = "block_rq_complete",
					    .tp_probe = on_request_complete };
static const char *const wait_names[] = { "submit_bio_wait", NULL };
static struct dfr_hook hook_wait = {
	.hk_names = wait_names, .hk_enter = on_wait, .hk_return = on_waited,
};

static struct dfr_event_probe probes[PROBES] = {
	[START] = { .ep_name = "start", .ep_nargs = 3, .ep_points = { &tp_queue } },
	[DONE] = { .ep_name = "done", .ep_nargs = 3, .ep_points = { &tp_complete, &tp_request } },
	[WAIT_START] = { .ep_name = "wait-start", .ep_nargs = 3, .ep_hooks = { &hook_wait } },
	[WAIT_DONE] = { .ep_name = "wait-done", .ep_nargs = 3, .ep_hooks = { &hook_wait } },
};

static struct dfr_events io = {
	.ev_name = "io", .ev_module = "vmlinux", .ev_probes = probes, .ev_count = PROBES,
};

int dfr_io_init(void)
{
	return dfr_events_init(&io);
}

void dfr_io_exit(void)
{
	dfr_events_exit(&io);
}
