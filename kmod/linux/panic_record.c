// SPDX-License-Identifier: GPL-2.0
/*
 * The panic's record (formats/abi/anchor.h): an anchor on two pages, which are allocated at load and written
 * one after the other, so that one of them is whole at any time. Any context of a dying machine: no lock,
 * nothing allocated.
 *
 * Several CPUs may die at once. The kernel chooses one of them; the others stop in panic(). Who is chosen is known only
 * after panic() was entered, at __crash_kexec() and in the panic notifier. So there are two records, each with buffers
 * of its own for its texts. The one is of the first CPU that enters panic(), which alone writes it, and once: it counts
 * if the machine does not get any further. The other is of the CPU that the kernel has chosen, which alone writes it,
 * because the kernel chooses one at a time; another task begins it anew. It is the one that counts.
 */
#include "kmod/linux/linux.h"

#include "formats/abi/anchor.h"
#include "formats/abi/reserved.h"

#include <linux/atomic.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/sched.h>

/* Of the chosen CPU, at __crash_kexec() and in the notifier. No more, lest a fault in them lead here again and again. */
#define TEXTS_MAX 4

struct record {
	struct dfr_anchor *rd_page, *rd_copy;
	u32 rd_writes; /* the lower half of the anchor's generation. The upper is which record it is: the highest counts */
	u32 rd_texts; /* how often its texts were made */
};
enum { FIRST, CHOSEN, RECORDS };
static struct record records[RECORDS];

int dfr_panic_record_init(void)
{
	struct record *record;

	BUILD_BUG_ON(sizeof(struct dfr_anchor) + sizeof(struct dfr_anchor_panic) > PAGE_SIZE);
	for (record = records; record < records + ARRAY_SIZE(records); record++) {
		record->rd_page = (struct dfr_anchor *)get_zeroed_page(DFR_GFP_SHARED);
		record->rd_copy = (struct dfr_anchor *)get_zeroed_page(DFR_GFP_SHARED);
		if (!record->rd_page || !record->rd_copy) {
			dfr_panic_record_exit();
			return -ENOMEM;
		}
	}
	return 0;
}

void dfr_panic_record_exit(void)
{
	struct record *record;

	for (record = records; record < records + ARRAY_SIZE(records); record++) {
		free_page((unsigned long)record->rd_page);
		free_page((unsigned long)record->rd_copy);
		record->rd_page = record->rd_copy = NULL;
	}
}

static void put(char *reason, const char *text)
{
	size_t at = 0;

	for (; *text && at < DFR_ANCHOR_REASON_MAX - 1; text++)
		if (*text != '\n')
			reason[at++] = *text;
	reason[at] = 0;
}

static struct dfr_anchor_panic *change(struct record *record)
{
	record->rd_page->checksum = 0;
	smp_wmb();
	return (struct dfr_anchor_panic *)record->rd_page->run;
}

/* The same once more where a warm reset leaves it, and the texts behind it. */
static void publish_reserved(const struct record *record, u64 generation)
{
	u8 *room = dfr_reserved_record(record - records);
	u8 *copy = room + DFR_RESERVED_RECORD_PAGES * PAGE_SIZE;
	const struct dfr_anchor_panic *content = (const struct dfr_anchor_panic *)record->rd_page->run;
	unsigned int i;

	BUILD_BUG_ON(DFR_RESERVED_TEXT_PAGES * 4096 < DFR_PANIC_TEXT_MAX);
	BUILD_BUG_ON(DFR_RESERVED_RECORDS != ARRAY_SIZE(records));
	if (!room)
		return;
	if (content->texts.pfn)
		memcpy(copy, phys_to_virt(content->texts.pfn << PAGE_SHIFT), DFR_PANIC_TEXT_MAX);
	for (i = 0; i < DFR_RESERVED_RECORD_PAGES; i++) {
		struct dfr_anchor *page = (struct dfr_anchor *)(room + i * PAGE_SIZE);

		page->checksum = 0;
		smp_wmb();
		memcpy(page->run, content, sizeof(*content));
		page->kind = record->rd_page->kind;
		page->cpu = record->rd_page->cpu;
		if (content->texts.pfn)
			((struct dfr_anchor_panic *)page->run)->texts.pfn = dfr_reserved_pfn(copy);
		dfr_anchor_publish(page, generation);
	}
}

static void publish(struct record *record)
{
	u64 generation = (u64)(record - records + 1) << 32 | ++record->rd_writes;

	dfr_anchor_publish(record->rd_page, generation);
	memcpy(record->rd_copy, record->rd_page, PAGE_SIZE);
	dfr_anchor_publish(record->rd_copy, generation);
	publish_reserved(record, generation);
}

static void note_reason(struct record *record, const char *reason, u64 time)
{
	struct dfr_anchor_panic *content = change(record);

	if (content->time != time) /* another task dies */
		memset(&content->texts, 0, sizeof(content->texts));
	content->time = time;
	content->cpu = raw_smp_processor_id();
	content->tid = current->pid;
	memcpy(content->comm, current->comm, sizeof(content->comm) - 1);
	put(content->reason, reason);
	content->broken = dfr_engine_broken(dfr_engine_instance);
	record->rd_page->kind = DFR_ANCHOR_PANIC;
	record->rd_page->cpu = content->cpu;
	publish(record);
}

/* Behind the reason, which is safe by then, whatever happens here. */
static void note_texts(struct record *record, unsigned int buffer)
{
	struct dfr_panic_texts texts;

	if (!dfr_panic_text(buffer, &texts))
		return;
	change(record)->texts = texts;
	publish(record);
}

void dfr_panic_note(const char *reason, u64 time)
{
	static atomic_t taken;

	if (atomic_xchg(&taken, 1))
		return;
	note_reason(&records[FIRST], reason, time);
	note_texts(&records[FIRST], 0);
}

void dfr_panic_note_chosen(const char *reason, u64 time, bool whole)
{
	struct record *record = &records[CHOSEN];

	note_reason(record, reason, time);
	if (whole && record->rd_texts < TEXTS_MAX)
		note_texts(record, 1 + record->rd_texts++ % (DFR_PANIC_BUFFERS - 1));
}
