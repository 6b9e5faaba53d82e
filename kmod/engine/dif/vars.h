/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the variables of a state: statics (vars.c) and dynamic variables
 * (dynvar.c). Declaring and cleaning are process context under the engine's
 * lock, loads and stores probe context.
 */
#ifndef DFR_ENGINE_VARS_H
#define DFR_ENGINE_VARS_H

#include "kmod/engine/dif/machine.h"

/* A variable of one scope; the index is id - DIF_VAR_USER_FIRST. */
struct dfr_vardesc {
	u32 vd_offset;	 /* statics: of the word in its area; a by-reference value follows it */
	u32 vd_size;	 /* by reference: bytes; by value: 8 */
	u32 vd_declared; /* size of the declared type; 0: strsize, or not known */
	u32 vd_flags;	 /* DFR_VD_* */
};
#define DFR_VD_DECLARED 0x1
#define DFR_VD_ARRAY	0x2 /* associative */
#define DFR_VD_BYREF	0x4
#define DFR_VD_STRING	0x8 /* copied up to its NUL */

struct dfr_scope {
	struct dfr_vardesc *sc_vars;
	u32 sc_nvars;
};

/*
 * Memory of static variables: globals have one copy, clause-locals one per CPU.
 *
 *   | word | word | data ......... | word | ...	one copy, sa_used bytes
 *     scalar  by reference: 0, or DFR_WORD_NULL when NULL was stored
 */
#define DFR_WORD_NULL 0xffull
struct dfr_statics {
	u8 *sa_mem;
	u32 sa_used;
	u32 sa_copies;
	/* The by-reference data, in order of offset: pointers may point only there. */
	struct dfr_extent *sa_extents;
	u32 sa_nextents;
	u32 sa_extents_room;
};
struct dfr_extent {
	u32 ex_offset;
	u32 ex_size;
};

/* Limits of a state's statics. Clause-locals have less, because each firing that uses them zeroes them. */
#define DFR_GLOBALS_MAX (16u * 1024 * 1024)
#define DFR_LOCALS_MAX	(256u * 1024)

/* A chunk of dynamic-variable memory: header, key image, data. */
struct dfr_dynvar {
	u64 dv_hash; /* DFR_DV_FREE, or the key's hash */
	struct dfr_dynvar
		*dv_next; /* in its bucket; unlinking does not change it, because firings may still read it */
	struct dfr_dynvar *dv_free; /* in a list of free ones */
	u32 dv_var;		    /* id, scope and kind in one word */
	u32 dv_keysize;		    /* bytes of the key image */
	u32 dv_datasize;
	u32 dv_pad;
	u64 dv_words[];
};
#define DFR_DV_FREE   0ull
#define DFR_DV_FIRST  2ull /* smallest hash of a variable in use */
#define DFR_CHUNK_MIN 256

/* The lock word is odd while the bucket's chain is being changed. */
struct dfr_dynbucket {
	u64 db_lock;
	struct dfr_dynvar *db_head;
};

/* One CPU's lists. A chunk goes free -> in use -> dirty -> rinsing -> clean -> free. */
struct dfr_dyncpu {
	struct dfr_dynvar *dc_free;
	struct dfr_dynvar *dc_dirty;
	struct dfr_dynvar *dc_rinsing;
	struct dfr_dynvar *dc_clean;
	u64 *dc_key;  /* key image under construction */
	u64 dc_stamp; /* dfr_cpu_stamp() when rinsing began */
};

struct dfr_dynvars {
	u64 dy_budget; /* bytes for buckets and chunks */
	u8 *dy_chunks;
	u64 dy_chunks_size;
	u32 dy_chunk; /* bytes of one */
	u32 dy_nchunks;
	u32 dy_ncpus;
	u32 dy_mask;	/* buckets - 1 */
	u64 dy_rinsing; /* chunks that are being rinsed */
	u64 dy_grace;	/* dfr_plat_grace_begin() when rinsing began */
	u32 dy_touched; /* a chunk has been used, so dfr_dyn_layout() must not move the memory */
	struct dfr_dynbucket *dy_buckets;
	struct dfr_dyncpu *dy_cpus;
};

/* Thread-local numbers: self.c. A key is DFR_SELF_KEY() | DFR_THREAD_KEY(). */
#define DFR_SELF_USED	  (1ULL << 63)
#define DFR_SELF_ID_SHIFT 40
#define DFR_SELF_KEY(id)  ((u64)(id) << DFR_SELF_ID_SHIFT | DFR_SELF_USED)
#define DFR_SELF_ID(key)  ((u32)(((key) & ~DFR_SELF_USED) >> DFR_SELF_ID_SHIFT))
struct dfr_selfslot {
	u64 ss_key; /* 0: free */
	u64 ss_value;
};
struct dfr_selfvars {
	struct dfr_selfslot *se_slots; /* NULL: no program uses one, or no memory for them */
	bool se_laid_out;
	u64 se_away;			  /* keys that are not in their home slot */
	u32 se_reach;			  /* of its buckets, so many any of them has needed */
	u64 se_factor;			  /* of the hash */
	u32 se_mask;			  /* of offsets in bytes */
	const struct dfr_state *se_state; /* whose they are */
};

/*
 * One CPU's place in its stream of rand() and random(), in a cache line of its own. From what a program is given all
 * of the stream can be computed, so each state has its own.
 */
struct dfr_random {
	u64 dw_word;
	u64 dw_pad[7];
};

struct dfr_image {
	u64 im_base;
	u64 im_size;
};

struct dfr_vars {
	struct dfr_engine *va_engine;
	struct dfr_hashkey va_hash; /* of dynamic variables */
	u32 va_strsize;
	u32 va_nimages;
	struct dfr_image *va_images;   /* loaded DOFs: their string tables are readable */
	struct dfr_scope va_scopes[3]; /* by DIF_VS_* */
	struct dfr_statics va_global;
	struct dfr_statics va_local;
	struct dfr_dynvars va_dyn;
	struct dfr_selfvars va_self;
	struct dfr_random *va_random; /* [cpu] */
};

/* vars.c */
u64 dfr_global_load(struct dfr_machine *m, u32 id);
void dfr_global_store(struct dfr_machine *m, u32 id, u64 value);
u64 dfr_local_load(struct dfr_machine *m, u32 id);
void dfr_local_store(struct dfr_machine *m, u32 id, u64 value);
u64 dfr_statics_room(const struct dfr_vars *vars, u32 cpu, u64 addr);

/* For ldts and stts, in native code and the interpreter: both kinds of thread-locals (self.c, dynvar.c). */
u64 dfr_thread_load(struct dfr_machine *m, u32 id);
void dfr_thread_store(struct dfr_machine *m, u32 id, u64 value);

/* dynvar.c; scope DIF_VS_GLOBAL or DIF_VS_THREAD, array: keyed by the tuple stack. */
u64 dfr_dyn_load(struct dfr_machine *m, u32 scope, u32 id, bool array);
void dfr_dyn_store(struct dfr_machine *m, u32 scope, u32 id, bool array, u64 value);
u64 dfr_dyn_room(const struct dfr_dynvars *dyn, u64 addr);
int dfr_dyn_layout(struct dfr_vars *vars,
		   u32 chunk); /* process context; -EBUSY: in use with smaller chunks */
void dfr_dyn_free(struct dfr_vars *vars);
/* self.c; process context */
int dfr_self_layout(struct dfr_vars *vars);
void dfr_self_free(struct dfr_vars *vars);
void dfr_dyn_clean(struct dfr_vars *vars);

#endif
