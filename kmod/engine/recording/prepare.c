// SPDX-License-Identifier: GPL-2.0
/*
 * What go allocates for a state, before anything is armed: everything that probe context
 * will need. The sizes of rings and tables, the variables, a share for each CPU; and the
 * shares of CPUs that come later. Process context under the state's lock.
 */
#include "formats/abi/anchor.h"
#include "kmod/engine/recording/store.h"

#define BLOCK_LARGE	(64u * 1024)
#define BLOCK_USUAL	4096u
#define BLOCKS_MIN	8u
#define SCRATCH_DEFAULT (32u * 1024)

/* Sizes. */

/*
 * Sums over END's ECBs: the bytes that DTrace would reserve, the bytes that our records need, and
 * their number.
 */
static void end_needs(const struct dfr_state *state, u64 *classic, u64 *bytes, u32 *count)
{
	const struct dfr_ecb *ecb;

	*classic = 0;
	*bytes = 0;
	*count = 0;
	for (ecb = state->st_ecbs; ecb; ecb = ecb->ec_sibling) {
		if (ecb->ec_probe->pb_id != DFR_PROBE_END || !(ecb->ec_plan->pn_flags & DFR_PN_RECORDS))
			continue;
		*classic += ecb->ec_plan->pn_classic;
		*bytes += ecb->ec_plan->pn_need + DFR_CONTEXT_BYTES;
		(*count)++;
	}
}

static int check_sizes(const struct dfr_state *state, u64 bufsize, u64 end_classic)
{
	const struct dfr_ecb *ecb;

	if (dfr_option(state, DFR_OPT_BUFPOLICY) == DFR_BUFPOLICY_FILL && end_classic > bufsize)
		return -E2BIG;
	for (ecb = state->st_ecbs; ecb; ecb = ecb->ec_sibling)
		if (ecb->ec_plan->pn_flags & DFR_PN_RECORDS &&
		    (ecb->ec_plan->pn_classic > bufsize || ecb->ec_plan->pn_need > DFR_BLOCK_MAX))
			return -ENOSPC; /* no block would ever have room for it */
	return 0;
}

/*
 * Large rings have large blocks, small ones several small blocks; the largest record fits into one
 * in any case.
 */
static u32 block_size(const struct dfr_state *state, u64 bufsize)
{
	s64 wish = dfr_option(state, DFR_OPT_BLOCKSIZE);
	u32 size = bufsize < BLOCKS_MIN * (u64)BLOCK_USUAL ? DFR_BLOCK_MIN : BLOCK_USUAL;

	if (wish > 0)
		size = (u32)wish;
	else
		while (size < BLOCK_LARGE &&
		       (u64)size * 2 * (size < BLOCK_USUAL ? BLOCKS_MIN : 64) <= bufsize)
			size *= 2;
	while (size < DFR_BLOCK_MAX &&
	       size - DFR_BLOCK_HDR_SIZE(size) < state->st_need_max + DFR_CONTEXT_BYTES)
		size *= 2;
	return size;
}

static void size_ring(struct dfr_state *state, u64 bufsize)
{
	u64 classic, bytes, blocks;
	u32 count, payload;

	state->st_block_size = block_size(state, bufsize);
	blocks = bufsize / state->st_block_size;
	state->st_nblocks = blocks < 2 ? 2 : blocks > 65536 ? 65536 : (u32)blocks;
	end_needs(state, &classic, &bytes, &count);
	state->st_keep_slots = 0;
	if (dfr_option(state, DFR_OPT_BUFPOLICY) != DFR_BUFPOLICY_FILL || !count)
		return;
	/* Records do not straddle blocks: in the worst case half of each block stays empty. */
	payload = state->st_block_size - DFR_BLOCK_HDR_SIZE(state->st_block_size);
	state->st_keep_slots = (u32)(2 * bytes / payload) + 1;
}

/* Shares. */

static int create_machine(struct dfr_state *state, struct dfr_share *share)
{
	u8 *scratch = dfr_plat_alloc(state->st_scratch);
	struct dfr_machine *machine = &share->sh_machine;

	if (!scratch)
		return -ENOMEM;
	machine->m_vars = state->st_vars;
	machine->m_state = state;
	machine->m_scratch = scratch;
	machine->m_scratch_end = scratch + state->st_scratch;
	dfr_machine_reset_scratch(machine);
	machine->m_strsize = state->st_strsize;
	if (dfr_option(state, DFR_OPT_DESTRUCTIVE) >= 0)
		machine->m_flags = DFR_M_DESTRUCTIVE;
	share->sh_error_machine = *machine;
	return 0;
}

#define KEY_SLACK    64
#define FRAMES_BYTES (256 * 8)

static void free_share(struct dfr_share *share)
{
	dfr_agg_free_share(share);
	dfr_spec_free_share(share);
	dfr_ring_free(share);
	if (share->sh_tally)
		dfr_plat_free_pages(share->sh_tally, DFR_TALLY_BYTES);
	dfr_plat_free(share->sh_machine.m_scratch);
	dfr_plat_free(share->sh_key);
	dfr_plat_free(share->sh_pcs);
	dfr_plat_free(share->sh_notes);
	dfr_plat_free(share->sh_triggers);
	dfr_plat_free(share);
}

static int create_tally(struct dfr_state *state, u32 cpu, struct dfr_tally **out)
{
	struct dfr_tally *tally = dfr_plat_alloc_pages(dfr_state_reserved(state), DFR_TALLY_BYTES);
	u32 i;

	if (!tally)
		return -ENOMEM;
	*out = tally;
	for (i = 0; i < DFR_LOSS_MAX; i++)
		tally->loss[i] = DFR_TALLY_MARK;
	for (i = 0; i < DFR_TALLY_CAUSES - DFR_LOSS_MAX; i++)
		tally->unused[i] = DFR_TALLY_MARK;
	for (i = 0; i < DFR_TALLY_PRIORITIES; i++) {
		tally->thinned[i].now.detached = DFR_TALLY_MARK;
		tally->thinned[i].over.detached = DFR_TALLY_MARK;
	}
	tally->cpu = cpu;
	tally->state_id = state->st_id;
	tally->magic = DFR_TALLY_MAGIC;
	return 0;
}

static void anchor_tally(struct dfr_state *state, struct dfr_tally *tally)
{
	dfr_state_anchor(state, DFR_ANCHOR_TALLY, tally->cpu, 0, tally, DFR_TALLY_BYTES, DFR_TALLY_BYTES);
}

static int fill_share(struct dfr_state *state, struct dfr_share *share)
{
	int error = create_tally(state, share->sh_cpu, &share->sh_tally);

	if (error)
		return error;
	share->sh_nmi_told = share->sh_tally->loss[DFR_LOSS_NMI];
	share->sh_nmi_time = dfr_plat_clock(NULL);
	share->sh_key = dfr_plat_alloc(state->st_key_max + KEY_SLACK);
	share->sh_pcs = dfr_plat_alloc(FRAMES_BYTES);
	share->sh_notes = dfr_plat_alloc((state->st_notes_max + 1) * sizeof(share->sh_notes[0]));
	share->sh_triggers = dfr_plat_alloc((state->st_nreasons + 1) * sizeof(share->sh_triggers[0]));
	if (!share->sh_key || !share->sh_pcs || !share->sh_notes || !share->sh_triggers)
		return -ENOMEM;
	error = create_machine(state, share);
	if (!error)
		error = dfr_ring_create(state, share);
	if (!error)
		error = dfr_agg_share(state, share);
	if (!error)
		error = dfr_spec_share(state, share);
	return error;
}

/*
 * Anchors list a share when it is whole: they can only be removed together with all others of the state, so those of
 * a share that could not be made would stand in the way of the one that is made later.
 */
static int create_share(struct dfr_state *state, u32 cpu, struct dfr_share **out)
{
	struct dfr_share *share = dfr_plat_alloc(sizeof(*share));
	int error;

	if (!share)
		return -ENOMEM;
	share->sh_state = state;
	share->sh_cpu = cpu;
	share->sh_governor.gv_user = state->st_user ? &state->st_user->us_purses[cpu] : NULL;
	error = fill_share(state, share);
	if (error) {
		free_share(share);
		return error;
	}
	anchor_tally(state, share->sh_tally);
	dfr_ring_anchor(state, share);
	dfr_agg_anchor(state, share);
	dfr_spec_anchor(state, share);
	*out = share;
	return 0;
}

/*
 * A CPU that is away but was online before counts too: when it comes back, dfr_engine_cpu_prepare()
 * may get no lock to make its share in time.
 */
static bool wants_cpu(const struct dfr_state *state, u32 cpu)
{
	s64 only = dfr_option(state, DFR_OPT_CPU);

	return (dfr_plat_cpu_online(cpu) || dfr_plat_cpu_left(cpu)) && (only < 0 || only == cpu);
}

void dfr_shares_free(struct dfr_state *state)
{
	u32 i;

	for (i = 0; i < state->st_engine->en_ncpus; i++) {
		if (state->st_shares[i])
			free_share(state->st_shares[i]);
		state->st_shares[i] = NULL;
	}
	if (state->st_tally)
		dfr_plat_free_pages(state->st_tally, DFR_TALLY_BYTES);
	state->st_tally = NULL;
	dfr_agg_free(state);
}

/*
 * A confined state's limit holds for everything that it takes or may come to take (spares, CPUs that
 * are not there yet), not only for its buffers, because the rest adds up over many CPUs.
 */
static bool quota_suffices(const struct dfr_state *state)
{
	u64 share = sizeof(struct dfr_share) + DFR_TALLY_BYTES + state->st_scratch + state->st_key_max +
		    KEY_SLACK + FRAMES_BYTES + (state->st_notes_max + 1) * sizeof(struct dfr_note) +
		    (state->st_nreasons + 1) * sizeof(struct dfr_trigger) + dfr_ring_bytes(state) +
		    dfr_agg_bytes(state) + dfr_spec_bytes(state);
	u64 common = DFR_TALLY_BYTES + dfr_agg_bytes(state) + (u64)dfr_option(state, DFR_OPT_DYNVARSIZE) +
		     dfr_limits_variables(state) + state->st_nepids * sizeof(struct dfr_ecb);

	return !dfr_state_confined(state) || common + state->st_engine->en_ncpus * share <= state->st_memory;
}

/*
 * Is it worth trying to allocate? Taking all memory that there is, only to give it back, would take
 * long.
 */
static bool rings_fit(const struct dfr_state *state)
{
	u64 ring = (u64)(state->st_nblocks + state->st_keep_slots + DFR_SPARES_FIRST) * state->st_block_size;
	u64 left = dfr_plat_memory_left(dfr_state_reserved(state));
	u32 cpu;

	for (cpu = 0; cpu < state->st_engine->en_ncpus; cpu++) {
		if (!wants_cpu(state, cpu))
			continue;
		if (ring > left)
			return false;
		left -= ring;
	}
	return true;
}

/*
 * Does the state fit into reserved memory? Its sizes are not lowered, because somebody has chosen how much is to
 * survive. Counted besides rings with a CPU's first spares, and tables: the log, twice, with as much again for what it gets
 * at go; and the anchors' pages.
 */
static bool room_suffices(struct dfr_state *state)
{
	u64 share =
		DFR_TALLY_BYTES +
		(u64)(state->st_nblocks + state->st_keep_slots + DFR_SPARES_FIRST) * state->st_block_size +
		dfr_agg_bytes(state) + dfr_spec_bytes(state);
	u64 anchors = 2 * 4096 * ((share >> 20) + 8);
	const struct dfr_catlog_extent *extent;
	u32 cpu;

	state->st_room_wanted = 3 * DFR_TALLY_BYTES + dfr_agg_bytes(state);
	state->st_room_left = dfr_plat_memory_left(true);
	for (extent = state->st_extents; extent; extent = extent->ce_next)
		state->st_room_wanted += 3 * extent->ce_size;
	for (cpu = 0; cpu < state->st_engine->en_ncpus; cpu++)
		if (wants_cpu(state, cpu))
			state->st_room_wanted += share + anchors;
	return state->st_room_wanted <= state->st_room_left;
}

static int reserve(struct dfr_state *state)
{
	size_ring(state, (u64)dfr_option(state, DFR_OPT_BUFSIZE));
	return room_suffices(state) ? dfr_catalog_move(state) : -ENOMEM;
}

static int create_shares(struct dfr_state *state)
{
	u32 cpu;
	int error = quota_suffices(state) && rings_fit(state) ? dfr_agg_create(state) : -ENOMEM;

	if (!error)
		error = create_tally(state, DFR_TALLY_NO_CPU, &state->st_tally);
	if (!error)
		anchor_tally(state, state->st_tally);
	for (cpu = 0; cpu < state->st_engine->en_ncpus && !error; cpu++)
		if (wants_cpu(state, cpu))
			error = create_share(state, cpu, &state->st_shares[cpu]);
	return error;
}

static void lower(struct dfr_state *state, u32 option, s64 least)
{
	s64 *value = &state->st_options[dfr_option_index(option)];

	*value = *value / 2 > least ? *value / 2 : least;
}

/*
 * Halves the larger of bufsize and aggsize, or both if they are equal, so that a size that is too
 * large does not cost the other. False: neither can be lowered further.
 */
static bool lower_sizes(struct dfr_state *state)
{
	s64 buffer = dfr_option(state, DFR_OPT_BUFSIZE), aggregation = dfr_option(state, DFR_OPT_AGGSIZE);

	if (buffer <= DFR_SIZE_LEAST && aggregation <= 2 * DFR_SIZE_LEAST)
		return false;
	if (buffer > DFR_SIZE_LEAST && (buffer >= aggregation || aggregation <= 2 * DFR_SIZE_LEAST))
		lower(state, DFR_OPT_BUFSIZE, DFR_SIZE_LEAST);
	if (aggregation > 2 * DFR_SIZE_LEAST && (aggregation >= buffer || buffer <= DFR_SIZE_LEAST))
		lower(state, DFR_OPT_AGGSIZE, 2 * DFR_SIZE_LEAST);
	return true;
}

/* With bufresize=auto sizes are halved until all of it can be allocated; not in reserved memory. */
static int allocate(struct dfr_state *state)
{
	int error;

	for (;;) {
		size_ring(state, (u64)dfr_option(state, DFR_OPT_BUFSIZE));
		error = create_shares(state);
		if (!error)
			return 0;
		dfr_plat_unanchor(state);
		dfr_shares_free(state);
		dfr_catalog_anchor(state);
		if (error != -ENOMEM || dfr_state_reserved(state) || !dfr_state_resizes(state) ||
		    !lower_sizes(state))
			return error;
	}
}

static int create_vars(struct dfr_state *state)
{
	struct dfr_vars_config config = { .vc_strsize = state->st_strsize, .vc_state = state };
	struct dfr_enabling *enabling;
	struct dfr_refusal why;
	int error;

	while (dfr_state_resizes(state) && dfr_option(state, DFR_OPT_DYNVARSIZE) > DFR_SIZE_LEAST &&
	       (u64)dfr_option(state, DFR_OPT_DYNVARSIZE) > dfr_plat_memory_left(false))
		lower(state, DFR_OPT_DYNVARSIZE, DFR_SIZE_LEAST);
	config.vc_dynvarsize = (size_t)dfr_option(state, DFR_OPT_DYNVARSIZE);
	error = dfr_vars_create(state->st_engine, &config, &state->st_vars);
	for (enabling = state->st_enablings; enabling && !error; enabling = enabling->eb_next)
		error = dfr_vars_declare(state->st_vars, enabling->eb_program, &why);
	/* When it was enabled, its strings had the default size. */
	if (!error && dfr_state_confined(state) &&
	    dfr_vars_bytes(state->st_vars) > dfr_limits_variables(state)) {
		dfr_vars_free(state->st_vars);
		state->st_vars = NULL;
		error = -ENOMEM;
	}
	return error;
}

/* All of it. */

static int check_destructive(const struct dfr_state *state)
{
	const struct dfr_enabling *enabling;

	if (dfr_option(state, DFR_OPT_DESTRUCTIVE) >= 0)
		return 0;
	for (enabling = state->st_enablings; enabling; enabling = enabling->eb_next)
		if (enabling->eb_program->pg_destructive)
			return -EACCES;
	return 0;
}

static void set_scratch(struct dfr_state *state)
{
	s64 wish = dfr_option(state, DFR_OPT_SCRATCHSIZE);
	u64 size = wish > 0 ? (u64)wish : 8ULL * state->st_strsize;

	if (wish <= 0 && size < SCRATCH_DEFAULT)
		size = SCRATCH_DEFAULT;
	state->st_scratch = (u32)size & ~7u; /* a wish above DIF_SCRATCH_MAX has been refused (enable.c) */
}

/*
 * Native code compares all 16 bytes of an execname, the interpreter up to strsize. Not asked when a
 * program is loaded, because a later one may set strsize.
 */
static void set_strsize(struct dfr_state *state)
{
	struct dfr_enabling *enabling;

	state->st_strsize = (u32)dfr_option(state, DFR_OPT_STRSIZE);
	if (state->st_strsize >= 16)
		return;
	for (enabling = state->st_enablings; enabling; enabling = enabling->eb_next)
		dfr_program_interpret(enabling->eb_program);
}

int dfr_state_prepare(struct dfr_state *state)
{
	u64 classic, bytes;
	u32 count;
	int error = check_destructive(state);

	if (error)
		return error;
	set_strsize(state);
	set_scratch(state);
	error = dfr_state_confined(state) ? dfr_limits_sizes(state) : 0;
	if (!error)
		error = dfr_state_build(state);
	if (error)
		return error;
	end_needs(state, &classic, &bytes, &count);
	error = check_sizes(state, (u64)dfr_option(state, DFR_OPT_BUFSIZE), classic);
	if (!error)
		error = create_vars(state);
	if (!error)
		error = dfr_spec_setup(state);
	if (!error && dfr_state_reserved(state))
		error = reserve(state);
	if (!error)
		error = allocate(state);
	if (!error)
		dfr_catalog_copy(state);
	if (!error)
		dfr_past_recall(state);
	if (!error)
		error = dfr_catalog_state(state);
	return error;
}

/* CPUs that come. */

static bool records(const struct dfr_state *state)
{
	return state->st_armed && state->st_vars;
}

/* On the share's CPU, or while that is away. From here on it records: dfr_engine_cpu_online() would be too late. */
static void publish(void *arg)
{
	struct dfr_share *share = arg;
	struct dfr_state *state = share->sh_state;

	dfr_store_release(&state->st_shares[share->sh_cpu], share);
	if (dfr_read_once(&state->st_activity) == DFR_ACTIVE)
		dfr_governor_open(share, true, dfr_plat_clock(NULL));
}

/*
 * The state's lock is held. A CPU that runs already gets its share in a visit, so that each of its firings is recorded, or
 * counted as that of a CPU without one.
 */
static int prepare_cpu(struct dfr_state *state, u32 cpu, bool runs)
{
	s64 only = dfr_option(state, DFR_OPT_CPU);
	struct dfr_share *share;

	if (!records(state) || state->st_shares[cpu] || (only >= 0 && only != cpu))
		return 0;
	if (create_share(state, cpu, &share)) {
		dfr_plat_log("no memory for CPU %u in state %u: its firings are lost, and counted", cpu,
			     dfr_state_number(state));
		return -ENOMEM;
	}
	if (runs)
		dfr_visit_cpu(state->st_engine, cpu, publish, share);
	else
		publish(share);
	return 0;
}

int dfr_engine_cpu_prepare(struct dfr_engine *engine, u32 cpu, bool wait)
{
	struct dfr_state *state;
	int error = 0;

	if (cpu >= engine->en_ncpus)
		return -EINVAL;
	for (state = engine->en_states; state; state = state->st_next) {
		if (wait)
			dfr_mutex_lock(&state->st_lock);
		else if (!dfr_mutex_trylock(&state->st_lock))
			continue;
		if (prepare_cpu(state, cpu, wait))
			error = -ENOMEM;
		dfr_mutex_unlock(&state->st_lock);
	}
	return error;
}
