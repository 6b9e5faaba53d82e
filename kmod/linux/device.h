/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An open descriptor of /dev/dfr, and what the device's files share.
 */
#ifndef DFR_KMOD_LINUX_DEVICE_H
#define DFR_KMOD_LINUX_DEVICE_H

#include "kmod/linux/linux.h"

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>

struct file;
struct vm_area_struct;

/*
 * An open descriptor. fl_holding is written under both fl_busy and fl_map, and read under either.
 * Tasks in poll() sleep on fl_wait, which is in the descriptor so that the holding may end
 * meanwhile. fl_opener is the process that opened it, fl_words a number that each request changes
 * (holding.c watches it). A wake-up may still use the structure after release, so RCU frees it.
 */
struct dfr_file {
	struct dfr_holding *fl_holding;
	bool fl_views; /* it looks at the holding and does not own it: as fl_holding */
	struct dfr_rights fl_rights;
	wait_queue_head_t fl_wait;
	struct list_head fl_viewer; /* of the holding that it views: under holdings_lock */
	u64 fl_triggers;	    /* it has asked for so many of its holding's triggers */
	ktime_t fl_rests;	    /* rest(): until then */
	struct list_head fl_list;   /* of users without privilege: under confined_lock */
	struct mutex fl_busy;	    /* requests come one by one; outside the engine's lock */
	struct mutex fl_map;	    /* while a mapping is made, else for moments; inside all, mmap_lock too */
	void *fl_buffer;	    /* of the request under way: under fl_busy, */
	size_t fl_lent;		    /* as dfr_request_alloc() has lent it */
	struct pid *fl_opener;	    /* its process, */
	u32 fl_words;		    /* and a number that each of its requests changes */
	struct rcu_head fl_rcu;	    /* a wake-up may be on its way */
};

/*
 * Copies a structure of the control interface, whose first word is its size. An older caller's
 * structure is shorter: the members that it lacks read 0. A newer caller's is longer: if what is
 * unknown here is not 0, that is an error (E2BIG).
 */
int dfr_device_copy_in(void *to, size_t size, const void __user *from);
int dfr_device_copy_out(void __user *to, const void *from, size_t size);

/* The one buffer of a request, which goes with it. NULL: there is no memory. */
void *dfr_device_buffer(struct dfr_file *file, size_t size);

void dfr_device_set_holding(struct dfr_file *file, struct dfr_holding *holding);

int dfr_device_mmap(struct file *filp, struct vm_area_struct *vma); /* mapping.c */
int dfr_device_probes(struct dfr_file *file, void __user *arg);	    /* listing.c */

#endif
