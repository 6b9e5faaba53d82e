// SPDX-License-Identifier: GPL-2.0
/*
 * What a confined state may take of the machine: memory, housekeeping, a share of
 * the CPUs, numbers of ECBs, programs and starts; and what all of a user's states
 * may take together. confine.c says what its programs may do. Sizes of buffers and
 * tables are lowered to the limit, as when memory is short; a program with any other
 * option above its limit is refused when it is loaded. Process context.
 */
#include "kmod/engine/recording/store.h"

#define PROGRAMS_MAX 8
#define ECBS_MAX     16384 /* of all of a user's states */
#define PATTERN_MAX  64	   /* letters: a bracket of a thousand is asked about each letter of each name */
#define USERS_MAX    16	   /* with programs at a time: every clause on a probe asks for the task's owner */

#define STARTS_TIME 10000000000ULL
#define STARTS_USER 60
#define STARTS_ALL  240

/* Frees users without states whose last one ended so long ago that their purses are full again. */
static void forget_old(struct dfr_engine *engine, u64 now)
{
	struct dfr_user **link = &engine->en_users;
	struct dfr_user *user;

	while ((user = *link)) {
		if (user->us_states || now - user->us_left < DFR_GOVERNOR_BURST) {
			link = &user->us_next;
			continue;
		}
		*link = user->us_next;
		dfr_plat_free(user);
	}
}

static struct dfr_user *user_of(struct dfr_engine *engine, u32 uid)
{
	struct dfr_user *user;

	forget_old(engine, dfr_plat_clock(NULL));
	for (user = engine->en_users; user; user = user->us_next)
		if (user->us_uid == uid)
			return user;
	user = dfr_plat_alloc_shared(sizeof(*user) + engine->en_ncpus * sizeof(user->us_purses[0]));
	if (!user)
		return NULL;
	user->us_uid = uid;
	user->us_next = engine->en_users;
	engine->en_users = user;
	return user;
}

int dfr_state_confine(struct dfr_state *state, u32 uid, u32 gid, u64 memory)
{
	struct dfr_user *user = user_of(state->st_engine, uid);

	if (!user)
		return -ENOMEM;
	user->us_states++;
	state->st_user = user;
	state->st_owner.te_kind = DFR_TEST_OWNER;
	state->st_owner.te_words[0] = uid;
	state->st_owner.te_words[1] = gid;
	state->st_memory = memory;
	state->st_options[dfr_option_index(DFR_OPT_CPUBUDGET)] = DFR_CONFINED_BUDGET;
	return 0;
}

/* Called when the state is off all probes. */
void dfr_limits_leave(struct dfr_state *state)
{
	struct dfr_user *user = state->st_user;

	if (!user)
		return;
	user->us_ecbs -= state->st_nepids;
	user->us_states--;
	user->us_left = dfr_plat_clock(NULL);
	state->st_user = NULL;
}

void dfr_limits_forget(struct dfr_engine *engine)
{
	struct dfr_user *user;

	while ((user = engine->en_users)) {
		engine->en_users = user->us_next;
		dfr_plat_free(user);
	}
}

static bool one_more(struct dfr_starts *starts, u64 now, u32 most)
{
	if (now - starts->sts_since > STARTS_TIME) {
		starts->sts_since = now;
		starts->sts_count = 0;
	}
	if (starts->sts_count >= most)
		return false;
	starts->sts_count++;
	return true;
}

/*
 * Starts are limited, because each patches code on all CPUs. A start that is refused to a
 * user does not count in the limit of all, which four users together can reach.
 */
bool dfr_limits_may_start(struct dfr_state *state)
{
	u64 now = dfr_plat_clock(NULL);

	return !state->st_user || (one_more(&state->st_user->us_starts, now, STARTS_USER) &&
				   one_more(&state->st_engine->en_starts, now, STARTS_ALL));
}

static const struct limit {
	u32 li_option;
	s64 li_least;
	s64 li_most;
	const char *li_reason;
} limits[] = {
	{ DFR_OPT_STRSIZE, 0, 4096, "unprivileged users may not set strsize above 4096" },
	{ DFR_OPT_SCRATCHSIZE, 0, 65536, "unprivileged users may not set scratchsize above 64k" },
	{ DFR_OPT_NSPEC, 0, 64, "unprivileged users may not set nspec above 64" },
	{ DFR_OPT_SPECSIZE, 0, 65536, "unprivileged users may not set specsize above 64k" },
	{ DFR_OPT_BLOCKSIZE, 0, 65536, "unprivileged users may not set blocksize above 64k" },
	{ DFR_OPT_CLEANRATE, 9900000, 1LL << 60, "unprivileged users may not set cleanrate above 101hz" },
	{ DFR_OPT_CPUBUDGET, 1, DFR_CONFINED_BUDGET,
	  "unprivileged users may not set cpubudget below 1 or above 5" },
	{ DFR_OPT_CPU, 1, 0, "unprivileged users may not set the option cpu" },
	{ DFR_OPT_MEMORY, 1, 0, "unprivileged users may not set the option memory" },
	{ DFR_OPT_SYSCALLHOOK, 1, 0, "unprivileged users may not set the option syscallhook" },
	{ DFR_OPT_DESTRUCTIVE, 1, 0, "unprivileged users may not use destructive actions" },
};

static bool has_program(const struct dfr_user *user, const struct dfr_state *state)
{
	while (state && (state->st_user != user || !state->st_enablings))
		state = state->st_next;
	return state != NULL;
}

/* Have USERS_MAX other users programs already? This user's own programs do not count. */
static bool is_crowded(const struct dfr_state *state)
{
	const struct dfr_engine *engine = state->st_engine;
	const struct dfr_user *user;
	u32 n = 0;

	for (user = engine->en_users; user; user = user->us_next)
		n += user != state->st_user && user->us_states && has_program(user, engine->en_states);
	return n >= USERS_MAX;
}

static bool has_long_pattern(const struct dfr_clause *clause)
{
	u32 i;

	for (i = 0; i < 4; i++)
		if (strlen(clause->cl_pattern[i]) > PATTERN_MAX)
			return true;
	return strlen(clause->cl_host) > PATTERN_MAX;
}

const char *dfr_limits_check(const struct dfr_state *state, const struct dfr_program *program)
{
	const struct dfr_enabling *enabling;
	u32 clauses = program->pg_nclauses;
	u32 i, k;

	if (state->st_ndofs >= PROGRAMS_MAX)
		return "unprivileged users may not load more than 8 programs into a state";
	for (enabling = state->st_enablings; enabling; enabling = enabling->eb_next)
		clauses += enabling->eb_program->pg_nclauses;
	if (clauses > DFR_CONFINED_CLAUSES_MAX)
		return "unprivileged users may not load more than 256 clauses into a state";
	if (is_crowded(state))
		return "16 other unprivileged users, the most there may be, have programs: wait until one "
		       "ends";
	for (i = 0; i < program->pg_nclauses; i++)
		if (has_long_pattern(&program->pg_clauses[i]))
			return "unprivileged users may not use patterns of more than 64 letters";
	for (i = 0; i < program->pg_noptions; i++)
		for (k = 0; k < sizeof(limits) / sizeof(limits[0]); k++)
			if (program->pg_options[i].po_option == limits[k].li_option &&
			    (program->pg_options[i].po_value < limits[k].li_least ||
			     program->pg_options[i].po_value > limits[k].li_most))
				return limits[k].li_reason;
	return NULL;
}

/* Most bytes of variables that are not dynamic. */
u64 dfr_limits_variables(const struct dfr_state *state)
{
	return state->st_memory / 8;
}

bool dfr_limits_more_ecbs(const struct dfr_state *state)
{
	return !state->st_user || state->st_user->us_ecbs < ECBS_MAX;
}

u32 dfr_limits_aggvars(const struct dfr_state *state)
{
	return dfr_state_confined(state) ? 256 : 4096;
}

/* Each CPU allocates room for one such key (sh_key). */
u32 dfr_limits_key(const struct dfr_state *state)
{
	return dfr_state_confined(state) ? 64u * 1024 : 1024u * 1024;
}

static int at_most(struct dfr_state *state, u32 option, u64 most)
{
	s64 *value = &state->st_options[dfr_option_index(option)];

	if (most < DFR_SIZE_LEAST)
		most = DFR_SIZE_LEAST;
	if (*value >= 0 && (u64)*value <= most)
		return 0;
	if (*value >= 0 && !dfr_state_resizes(state))
		return -ENOMEM;
	*value = (s64)most;
	return 0;
}

/*
 * Lowers sizes to fractions of st_memory. Rings, aggregations and speculations: of a CPU's
 * part, where a ring may double for the blocks that a consumer has taken, and an
 * aggregation has two halves. Dynamic variables: of the whole. If everything together is
 * still too large, prepare.c lowers the sizes further.
 */
int dfr_limits_sizes(struct dfr_state *state)
{
	u64 part = state->st_memory / state->st_engine->en_ncpus;
	int error = at_most(state, DFR_OPT_BUFSIZE, part / 4);

	if (!error)
		error = at_most(state, DFR_OPT_AGGSIZE, part / 8);
	if (!error)
		error = at_most(state, DFR_OPT_DYNVARSIZE, state->st_memory / 8);
	if (!error)
		error = at_most(state, DFR_OPT_SPECPOOL, part / 8);
	return error;
}
