// SPDX-License-Identifier: GPL-2.0
/*
 * The rare parts of writing records, which the inlined fast path (fire.h, encode.h)
 * leaves to functions: making a stream ready (no open block, a restart point due, a
 * loss to report, another context), notes, ledger entries. formats/abi/block.h has
 * the layout. Probe context, interrupts off; or process context through
 * dfr_visit_cpu().
 */
#include "kmod/engine/recording/encode.h"
#include "kmod/engine/recording/fire.h"

#define LOSS_BYTES (16 + 1 + 1 + 4 + 24)

u64 dfr_firing_time(struct dfr_firing *firing)
{
	return dfr_time_of(firing);
}

u8 *dfr_record_head(struct dfr_stream *stream, u8 *p, u32 id, u32 level, u64 time)
{
	return dfr_put_head(stream, p, id, level, time);
}

static u32 comm_length(const char *comm)
{
	u32 n = 0;

	while (n < 15 && comm[n])
		n++;
	return n;
}

/* Up to DFR_CONTEXT_BYTES; the caller has made room. */
static void write_context(struct dfr_stream *stream, struct dfr_firing *firing, u64 time, const u8 *base)
{
	const struct dfr_context *context = dfr_firing_context(firing);
	u64 cgroups = dfr_plat_cgroups(firing); /* read first: if it changes now, the next record tells */
	u8 *start = stream->sm_ptr;
	u8 *p = dfr_record_head(stream, start, 0, context->cx_level, time);
	struct dfr_codes codes = { NULL, 0, 0 };
	u32 n;

	*p++ = DFR_CONTROL_CONTEXT;
	codes.co_at = p;
	p += 2;
	p = dfr_put_int(p, context->cx_task, false, &codes);
	p = dfr_put_int(p, context->cx_pid, false, &codes);
	p = dfr_put_int(p, context->cx_tid, false, &codes);
	p = dfr_put_int(p, dfr_plat_builtin(firing, DIF_VAR_NSPID, 0), false, &codes);
	p = dfr_put_int(p, dfr_plat_builtin(firing, DIF_VAR_CGROUP, 0), false, &codes);
	dfr_put_last_codes(&codes);
	n = comm_length(context->cx_comm);
	memcpy(p, context->cx_comm, n);
	p[n] = '\0';
	stream->sm_ptr = p + n + 1;
	stream->sm_time = time;
	stream->sm_context = (u32)(start - base);
	stream->sm_who = dfr_plat_who(firing);
	stream->sm_cgroups = cgroups;
	memcpy(stream->sm_comm, context->cx_comm, sizeof(stream->sm_comm));
	stream->sm_tid = context->cx_tid;
}

static bool context_holds(const struct dfr_stream *stream, struct dfr_firing *firing)
{
	const struct dfr_context *context = dfr_firing_context(firing);

	return stream->sm_context && stream->sm_who == dfr_plat_who(firing) &&
	       stream->sm_cgroups == dfr_plat_cgroups(firing) && stream->sm_tid == context->cx_tid &&
	       !memcmp(stream->sm_comm, context->cx_comm, 16);
}

/* Lets readers see what the stream has written to the open block, without counting a record. */
void dfr_record_publish(struct dfr_share *share)
{
	dfr_publish(share, share->sh_stream.sm_ptr);
}

static void first_in_block(struct dfr_share *share, u64 time)
{
	struct dfr_block *block = share->sh_ring.rg_block;

	if (!block->first_time || time < block->first_time)
		block->first_time = time;
}

static bool ready_ring(struct dfr_share *share, struct dfr_firing *firing, u32 need)
{
	struct dfr_stream *stream = &share->sh_stream;
	bool is_end = firing->fr_probe->pb_id == DFR_PROBE_END;
	u64 time = dfr_firing_time(firing);

	if (!dfr_ring_room(share, need + DFR_CONTEXT_BYTES, time, is_end)) {
		/* A full `fill` ring has stopped, as was asked for: what comes later is not a loss. */
		if (!share->sh_ring.rg_full)
			dfr_lost_here(share, firing, DFR_LOSS_PRINCIPAL, 1);
		return false;
	}
	dfr_record_untold(share, dfr_plat_level_of(firing), time, need + DFR_CONTEXT_BYTES);
	first_in_block(share, time);
	dfr_ring_restart(share);
	if (!context_holds(stream, firing))
		write_context(stream, firing, time, (const u8 *)share->sh_ring.rg_block);
	dfr_ring_soft(share);
	return true;
}

static bool ready_list(struct dfr_share *share, struct dfr_speclist *list, struct dfr_firing *firing,
		       u32 need)
{
	struct dfr_stream *stream = &list->sl_stream;

	if (!dfr_spec_room(share, list, need + DFR_CONTEXT_BYTES)) {
		if (list != dfr_spec_void(share)) /* what goes there is thrown away */
			dfr_lost_here(share, firing, DFR_LOSS_SPEC, 1);
		return false;
	}
	if (!context_holds(stream, firing))
		write_context(stream, firing, dfr_firing_time(firing), (const u8 *)list->sl_last);
	stream->sm_soft = (u8 *)list->sl_last + list->sl_last->size;
	return true;
}

/* Makes w's stream ready for a record of up to `need` bytes. false: the record is lost, and counted. */
bool dfr_record_slow(struct dfr_share *share, struct dfr_writer *w, struct dfr_firing *firing, u32 need)
{
	return w->w_list ? ready_list(share, w->w_list, firing, need) : ready_ring(share, firing, need);
}

/* Notes. */

void dfr_record_note(struct dfr_share *share, u32 field, u32 code, u64 value)
{
	struct dfr_note *note;

	if (!share->sh_notes || share->sh_nnotes >= share->sh_state->st_notes_max)
		return;
	note = &share->sh_notes[share->sh_nnotes++];
	note->no_field = field;
	note->no_code = code;
	note->no_value = value;
}

static u8 *write_note(u8 *p, const struct dfr_note *note)
{
	*p++ = DFR_CONTROL_NOTE;
	*p++ = (u8)note->no_field; /* below DFR_NOTE_FIELDS: check_capture() has refused captures behind these */
	*p++ = (u8)note->no_code;
	dfr_put64(p, note->no_value);
	return p + 8;
}

/*
 * Moves the finished record back and writes the notes on its fields before it. The
 * first note has a long head; the other notes and the record then have a delta of 0.
 */
void dfr_record_add_notes(struct dfr_share *share, struct dfr_writer *w, struct dfr_firing *firing)
{
	u32 level = dfr_plat_level_of(firing);
	u32 bytes = 16 + 11 + (share->sh_nnotes - 1) * 15;
	u8 *p = w->w_start;
	u32 head, i;

	memmove(p + bytes, p, (size_t)(w->w_ptr - p));
	w->w_ptr += bytes;
	for (i = 0; i < share->sh_nnotes; i++) {
		if (!i) {
			p = dfr_put_long_head(p, 0, level, firing->fr_time);
		} else {
			p = dfr_put_short_head(p, 0, level, 0);
		}
		p = write_note(p, &share->sh_notes[i]);
	}
	memcpy(&head, p, sizeof(head));
	if (DFR_REC_ID(head) != DFR_REC_ID_LONG)
		dfr_put_short_head(p, DFR_REC_ID(head), level, 0);
	share->sh_nnotes = 0;
}

/* The loss ledger. */

void dfr_ledger(struct dfr_share *share, u32 cause, u32 probe, u64 count, u64 from, u64 to)
{
	struct dfr_pending *pending = &share->sh_pending[cause];

	if (!pending->pe_count)
		pending->pe_probe = probe;
	else if (pending->pe_probe != probe)
		pending->pe_probe = 0;
	dfr_pending_add(pending, count, from, to);
	share->sh_pending_mask |= 1u << cause;
	share->sh_stream.sm_soft = NULL;
}

void dfr_lost_here(struct dfr_share *share, const struct dfr_firing *firing, u32 cause, u64 count)
{
	u64 time = dfr_firing_time((struct dfr_firing *)firing);

	dfr_count_lost(share, cause, count);
	dfr_ledger(share, cause, firing->fr_probe->pb_id, count, time, time);
}

void dfr_store_lost(const struct dfr_state *state, const struct dfr_firing *firing, u32 cause)
{
	dfr_lost_here(state->st_shares[firing->fr_cpu], firing, cause, 1);
}

/* How it is told: by a record of this level and time. */
struct telling {
	u32 tn_level;
	u32 tn_keep; /* bytes of the block that stay free */
	u64 tn_time;
};

/* false: the open block has no room for it. */
static bool write_loss(struct dfr_share *share, const struct telling *telling, u32 cause,
		       const struct dfr_pending *pending)
{
	struct dfr_ring *ring = &share->sh_ring;
	struct dfr_stream *stream = &share->sh_stream;
	u8 *p;

	if ((size_t)(ring->rg_end - stream->sm_ptr) < LOSS_BYTES + telling->tn_keep)
		return false;
	if (!ring->rg_block->first_time)
		ring->rg_block->first_time = telling->tn_time;
	p = dfr_record_head(stream, stream->sm_ptr, 0, telling->tn_level, telling->tn_time);
	*p++ = DFR_CONTROL_LOSS;
	*p++ = (u8)cause;
	dfr_put32(p, pending->pe_probe);
	dfr_put64(p + 4, pending->pe_count);
	dfr_put64(p + 12, pending->pe_from);
	dfr_put64(p + 20, pending->pe_to);
	stream->sm_ptr = p + 28;
	stream->sm_time = telling->tn_time;
	return true;
}

static bool write_stretch(struct dfr_share *share, const struct telling *telling, u32 priority,
			  const struct dfr_stretch *stretch, u64 to)
{
	struct dfr_pending told = { .pe_count = stretch->left, .pe_from = stretch->from, .pe_to = to };

	told.pe_probe = DFR_THINNED(priority, DFR_TALLY_VALUE(stretch->detached) ? DFR_THINNED_DETACHED : 0);
	return !stretch->from || write_loss(share, telling, DFR_LOSS_THINNED, &told);
}

/* The last stretch of each priority, and the one that goes on. false: not all had room. */
static bool write_thinned(struct dfr_share *share, const struct telling *telling)
{
	struct dfr_tally_thinned *thin;
	u32 priority;

	for (priority = 0; priority < DFR_THIN_PRIORITIES; priority++) {
		thin = dfr_thinned(share, priority);
		if (!write_stretch(share, telling, priority, &thin->over, thin->over.to))
			return false;
		dfr_record_publish(share); /* from here on the block tells of it */
		thin->over = (struct dfr_stretch){ .detached = DFR_TALLY_MARK };
		if (!write_stretch(share, telling, priority, &thin->now, 0))
			return false;
	}
	return true;
}

/* Puts into the ledger what NMIs have counted, which only they write: since the count was looked at last. */
static void collect_nmi(struct dfr_share *share, u64 time)
{
	struct dfr_pending *pending = &share->sh_pending[DFR_LOSS_NMI];
	u64 from = share->sh_nmi_time < time ? share->sh_nmi_time : time;
	u64 seen = dfr_read_once(&share->sh_tally->loss[DFR_LOSS_NMI]);
	u64 fresh = seen - share->sh_nmi_told;

	share->sh_nmi_time = time;
	if (!fresh)
		return;
	share->sh_nmi_told = seen;
	dfr_count(&share->sh_lost, fresh);
	dfr_pending_add(pending, fresh, from, time);
	share->sh_pending_mask |= 1u << DFR_LOSS_NMI;
}

/* Writes as many pending ledger entries as fit into the open block with `keep` bytes left over. */
static void record_losses(struct dfr_share *share, u32 level, u64 time, u32 keep)
{
	struct telling telling = { .tn_level = level, .tn_keep = keep, .tn_time = time };
	struct dfr_ring *ring = &share->sh_ring;
	u32 cause;

	collect_nmi(share, time);
	for (cause = 0; cause < DFR_LOSS_MAX; cause++) {
		if (!(share->sh_pending_mask & (1u << cause)))
			continue;
		/* While a consumer still lacks blocks, this entry could be overwritten, too. */
		if (cause == DFR_LOSS_OVERWRITTEN && dfr_read_once(&ring->rg_wanted))
			continue;
		if (!write_loss(share, &telling, cause, &share->sh_pending[cause]))
			break;
		memset(&share->sh_pending[cause], 0, sizeof(share->sh_pending[cause]));
		share->sh_pending_mask &= ~(1u << cause);
	}
	if (cause == DFR_LOSS_MAX && share->sh_thin_untold && write_thinned(share, &telling))
		share->sh_thin_untold = false;
	dfr_record_publish(share); /* also where not all had room, because the block may be closed now */
}

/* The same if there is something to tell: where a record follows. */
void dfr_record_untold(struct dfr_share *share, u32 level, u64 time, u32 keep)
{
	if (dfr_losses_untold(share) || share->sh_thin_untold)
		record_losses(share, level, time, keep);
	else
		share->sh_nmi_time = time;
}

/*
 * Not before what is told: a reader of a later time takes a block only if that reaches so far. No firing is under way here,
 * and later ones are later.
 */
u64 dfr_telling_time(const struct dfr_share *share)
{
	struct dfr_cpu *pc = dfr_cpu_of(share->sh_state->st_engine, share->sh_cpu);
	u64 time = pc->pc_last, now;
	u32 i;

	for (i = 0; i < DFR_LOSS_MAX; i++)
		if (share->sh_pending_mask & (1u << i) && share->sh_pending[i].pe_to > time)
			time = share->sh_pending[i].pe_to;
	for (i = 0; i < DFR_THIN_PRIORITIES; i++)
		if (dfr_thinned(share, i)->over.to > time)
			time = dfr_thinned(share, i)->over.to;
	/* When NMIs lost theirs, nobody knows; what the governor holds back has no time of its own. */
	if (!time || dfr_read_once(&share->sh_tally->loss[DFR_LOSS_NMI]) != share->sh_nmi_told ||
	    share->sh_governor.gv_skipped) {
		now = dfr_plat_clock(NULL);
		time = now > time ? now : time;
	}
	pc->pc_last = time;
	return time;
}

/* Process context, on the share's CPU. `taken`: a consumer takes all blocks now, so losses are told, too. */
static void tell_now(struct dfr_share *share, bool taken)
{
	u32 blocks = 2; /* the open one may have room for some of what is untold only */
	u64 time;

	while (blocks-- && (share->sh_thin_untold || (taken && dfr_losses_untold(share)))) {
		time = dfr_telling_time(share);
		if (!dfr_ring_room(share, LOSS_BYTES, time, false))
			break;
		/* So that the block gets the entry on overwritten blocks. */
		if (taken)
			share->sh_ring.rg_wanted = false;
		record_losses(share, DFR_LEVEL_TASK, time, 0);
	}
}

/* Tells of thinning at once, and not with the next record. */
void dfr_record_tell(struct dfr_share *share)
{
	tell_now(share, false);
}

/* For a consumer that asks for everything: writes the pending losses and closes the open block. */
void dfr_record_flush(struct dfr_share *share)
{
	struct dfr_cpu *pc = dfr_cpu_of(share->sh_state->st_engine, share->sh_cpu);
	struct dfr_ring *ring = &share->sh_ring;
	bool parted = ring->rg_parted;

	tell_now(share, true);
	/*
	 * What the consumer before this one took may be younger than anything that other CPUs still
	 * have. A block without records tells when it ended.
	 */
	ring->rg_parted = false;
	if (parted && !ring->rg_block)
		dfr_ring_room(share, 1, pc->pc_last, false);
	if (ring->rg_block && (ring->rg_block->committed || parted))
		dfr_ring_close(share);
}
