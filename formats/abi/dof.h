/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The D object format: the file that the compiler writes and the engine loads. The
 * layout is DTrace's public one; dfr's own sections, actions and options are numbered
 * from 0x4600 on. Everything read from a DOF is hostile until the engine's loader
 * (kmod/engine/loading/dof.c) has verified it. What it means: formats/dof/DOF.md.
 *
 *   [ header 64 ][ section table ][ loadable payloads ... ][ other payloads ]
 *   |<------------------ loadsz -------------------------->|
 */
#ifndef DFR_ABI_DOF_H
#define DFR_ABI_DOF_H

#include "formats/abi/base.h"
#include "formats/abi/dif.h"

#define DOF_MAGIC "\177DOF"
#define DOF_MODEL_ILP32 1
#define DOF_MODEL_LP64 2
#define DOF_ENCODE_LSB 1
#define DOF_ENCODE_MSB 2
#define DOF_VERSION_1 1
#define DOF_VERSION_2 2
/* What this project writes as ident. */
#define DOF_IDENT                                                                                            \
	{                                                                                                    \
		0x7f, 'D', 'O', 'F', DOF_MODEL_LP64, DOF_ENCODE_LSB, DOF_VERSION_2, DIF_VERSION, DIF_NREGS,  \
		    DIF_NTUPLE                                                                               \
	}
#define DOF_LOADSZ_MAX (8 * 1024 * 1024)
#define DOF_SECIDX_NONE 0xffffffffu
#define DOF_STRIDX_NONE 0xffffffffu

struct dof_header {
	__u8 ident[16]; /* magic, model, encoding, version, DIF version, registers, tuple entries, zeros */
	__u32 flags;    /* 0 */
	__u32 hdrsize;  /* 64 */
	__u32 secsize;  /* 32 */
	__u32 secnum;
	__u64 secoff;
	__u64 loadsz;
	__u64 filesz;
	__u64 pad;
};
DFR_STATIC_ASSERT(sizeof(struct dof_header) == 64, "DOF header");

struct dof_sec {
	__u32 type;
	__u32 align;
	__u32 flags; /* DOF_SECF_LOAD */
	__u32 entsize;
	__u64 offset;
	__u64 size;
};
DFR_STATIC_ASSERT(sizeof(struct dof_sec) == 32, "DOF section header");
#define DOF_SECF_LOAD 1

enum dof_sectype {
	DOF_SECT_NONE,
	DOF_SECT_COMMENTS,
	DOF_SECT_SOURCE,
	DOF_SECT_ECBDESC,
	DOF_SECT_PROBEDESC,
	DOF_SECT_ACTDESC,
	DOF_SECT_DIFOHDR,
	DOF_SECT_DIF,
	DOF_SECT_STRTAB,
	DOF_SECT_VARTAB,
	DOF_SECT_RELTAB,
	DOF_SECT_TYPTAB,
	DOF_SECT_URELHDR,
	DOF_SECT_KRELHDR,
	DOF_SECT_OPTDESC,
	DOF_SECT_PROVIDER,
	DOF_SECT_PROBES,
	DOF_SECT_PRARGS,
	DOF_SECT_PROFFS,
	DOF_SECT_INTTAB,
	DOF_SECT_UTSNAME,
	DOF_SECT_XLTAB,
	DOF_SECT_XLMEMBERS,
	DOF_SECT_XLIMPORT,
	DOF_SECT_XLEXPORT,
	DOF_SECT_PREXPORT,
	DOF_SECT_PRENOFFS,
	DOF_SECT_CLASSIC_MAX = DOF_SECT_PRENOFFS,

	/* dfr's own. The engine reads those that say LOAD; all have the flag, so that catalogs keep them. */
	DOF_SECT_HOSTDESC = 0x4600, /* LOAD: fifth probe field: array of dof_hostdesc */
	DOF_SECT_EXPRS,             /* canonical text of recorded expressions: array of dof_expr */
	DOF_SECT_LINES,             /* line table: array of dof_line */
	DOF_SECT_BTFID,             /* LOAD: the kernel's types that it was compiled against: dof_btfid */
	DOF_SECT_TYPES,             /* text of the D types of recorded values (print(), typed keys) */
	DOF_SECT_AGGS               /* names of the aggregation variables: array of dof_aggname */
};

struct dof_ecbdesc {
	__u32 probes;  /* PROBEDESC section */
	__u32 pred;    /* DIFOHDR section or none */
	__u32 actions; /* ACTDESC section or none */
	__u32 pad;
	__u64 uarg; /* DFR_ECBUARG() */
};

/*
 * The compiler's ecbdesc.uarg: the number of the clause in the program, and
 * CONTINUATION for the later parts of a clause that `if` splits. A
 * continuation runs only if, in this firing, the clause's first part had a true
 * predicate and no earlier part of it faulted. If an earlier part called speculate(),
 * the continuation's records go to that speculation too. If an earlier part's record
 * found no room, only exit() and what it may depend on happen. The parts of a clause share
 * scratch memory and are one line of output. KERNEL_TYPES: what the clause means depends on
 * the types that DOF_SECT_BTFID names. FAULT_HOLDS: a predicate that faults counts as true,
 * and fires no ERROR (what `dfr record --for` derives). PRIORITY: which clauses go first when
 * the state's budget is short (#pragma D priority); all parts of a clause have the same.
 */
#define DFR_ECBUARG(clause, flags) (((__u64)(clause) << 8) | (flags))
#define DFR_ECBUARG_CLAUSE(uarg) ((uarg) >> 8)
#define DFR_ECBUARG_CONTINUATION 0x1
#define DFR_ECBUARG_KERNEL_TYPES 0x2
#define DFR_ECBUARG_FAULT_HOLDS 0x4
#define DFR_ECBUARG_PRIORITY(uarg) ((__u32)((uarg) >> 3) & 3)
#define DFR_ECBUARG_OF_PRIORITY(priority) ((priority) << 3)

enum dfr_priority {
	DFR_PRIORITY_NORMAL,
	DFR_PRIORITY_LOW,
	DFR_PRIORITY_HIGH,
	DFR_PRIORITIES /* a clause that claims this one is refused */
};

struct dof_probedesc {
	__u32 strtab;
	__u32 provider;
	__u32 module;
	__u32 function;
	__u32 name;
	__u32 id;
};

struct dof_actdesc {
	__u32 difo;   /* DIFOHDR section or none */
	__u32 strtab; /* for a format, or none */
	__u32 kind;   /* DFR_ACT_* */
	__u32 ntuple; /* aggregations: how many preceding actions are the tuple (keys and weight) */
	__u64 arg;
	__u64 uarg;
};
DFR_STATIC_ASSERT(sizeof(struct dof_actdesc) == 32, "DOF action");

/*
 * actdesc.uarg. Of an aggregating action: the id of its aggregation variable, from
 * 1. Of every other action, also one in a tuple: which statement of the clause it
 * belongs to (from 0) and its index in that statement; a LIBACT adds its
 * sub-kind. DFR_UARG_WEIGHT: the tuple's last action is not a key but the weight
 * (quantize's `incr` and the like). DFR_UARG_CPU: the tuple's last key is the CPU,
 * which the compiler added for aggpercpu; readers print the sum over all CPUs and
 * the value of each.
 */
#define DFR_UARG(statement, index, libact)                                                                   \
	(((__u64)(libact) << 32) | (((__u64)(statement) + 1) << 8) | (index))
#define DFR_UARG_INDEX(uarg) ((uarg)&0xffu)
#define DFR_UARG_STATEMENT(uarg) ((((uarg) >> 8) & 0xffffffu) - 1)
#define DFR_UARG_LIBACT(uarg) ((uarg) >> 32)
#define DFR_UARG_WEIGHT 1ULL
#define DFR_UARG_CPU 2ULL

/* DIFOHDR: struct dif_type, then u32 section indices. */
struct dof_difohdr {
	struct dif_type rtype;
	__u32 links[];
};

struct dof_relohdr {
	__u32 strtab;
	__u32 relsec;
	__u32 tgtsec;
};

/* KRELHDR: the engine resolves `name` ("module`symbol" or "symbol") at load. */
struct dof_relodesc {
	__u32 name;
	__u32 type; /* DOF_RELO_* */
	__u64 offset;
	__u64 data; /* added to the symbol's address */
};
#define DOF_RELO_NONE 0
#define DOF_RELO_SETX 1
#define DOF_RELO_DOFREL 2

struct dof_optdesc {
	__u32 option; /* DFR_OPT_* */
	__u32 strtab; /* none */
	__u64 value;  /* signed; DFR_OPT_UNSET is refused */
};

/*
 * BTFID. A kernel whose BTF has another digest leaves out the clauses marked
 * DFR_ECBUARG_KERNEL_TYPES. The digest is over the BTF as the kernel shows it in
 * /sys/kernel/btf/vmlinux, by words of 8 bytes, the last one filled with zeros:
 * h = DOF_BTF_DIGEST_START; for each word: h = (h ^ word) * DOF_BTF_DIGEST_PRIME;
 * and finally the same step with the number of bytes as the word.
 */
struct dof_btfid {
	__u64 digest;
	__u32 strtab;
	__u32 name;
};
#define DOF_BTF_DIGEST_START 0xcbf29ce484222325ULL
#define DOF_BTF_DIGEST_PRIME 0x100000001b3ULL

/* HOSTDESC entry: the host glob of one ECBDESC. */
struct dof_hostdesc {
	__u32 ecb; /* ECBDESC section */
	__u32 strtab;
	__u32 host;
	__u32 pad;
};

/*
 * EXPRS entry: action `index` of section `actions` records the value of this
 * firing input. Index DOF_EXPR_PREDICATE: the text is the predicate of the ECBDESCs
 * that use the section.
 */
#define DOF_EXPR_PREDICATE 0xffffffffu
struct dof_expr {
	__u32 actions;
	__u32 index;
	__u32 strtab;
	__u32 text; /* canonical text of the typed tree; see formats/d/canon.h */
};

/* LINES entry: instructions from `pc` on in DIFO `difo` belong to this place of the source. */
struct dof_line {
	__u32 difo;
	__u32 pc;
	__u32 strtab;
	__u32 file;
	__u32 line;
	__u32 column;
};

/* AGGS entry. */
struct dof_aggname {
	__u32 id;
	__u32 strtab;
	__u32 name; /* without "@"; "_" for the unnamed one */
	__u32 pad;
};

#define DFR_CAPTURE_ARGS_MAX 10 /* arguments that CAPTURE_ARGS records */

/* Action kinds; the high byte is the class. */
enum dfr_action {
	DFR_ACT_NONE = 0,
	DFR_ACT_DIFEXPR = 0x0001,
	DFR_ACT_EXIT = 0x0002,
	DFR_ACT_PRINTF = 0x0003,
	DFR_ACT_PRINTA = 0x0004,
	DFR_ACT_LIBACT = 0x0005,
	DFR_ACT_TRACEMEM = 0x0006,
	DFR_ACT_TRACEMEM_DYNSIZE = 0x0007,
	DFR_ACT_PRINTM = 0x0008,
	DFR_ACT_USTACK = 0x0101,
	DFR_ACT_JSTACK = 0x0102,
	DFR_ACT_USYM = 0x0103,
	DFR_ACT_UMOD = 0x0104,
	DFR_ACT_UADDR = 0x0105,
	DFR_ACT_STOP = 0x0201,
	DFR_ACT_RAISE = 0x0202,
	DFR_ACT_SYSTEM = 0x0203,
	DFR_ACT_FREOPEN = 0x0204,
	DFR_ACT_STACK = 0x0401,
	DFR_ACT_SYM = 0x0402,
	DFR_ACT_MOD = 0x0403,
	DFR_ACT_BREAKPOINT = 0x0501,
	DFR_ACT_PANIC = 0x0502,
	DFR_ACT_CHILL = 0x0503,
	DFR_ACT_SPECULATE = 0x0601,
	DFR_ACT_COMMIT = 0x0602,
	DFR_ACT_DISCARD = 0x0603,
	DFR_ACT_COUNT = 0x0701,
	DFR_ACT_MIN = 0x0702,
	DFR_ACT_MAX = 0x0703,
	DFR_ACT_AVG = 0x0704,
	DFR_ACT_SUM = 0x0705,
	DFR_ACT_STDDEV = 0x0706,
	DFR_ACT_QUANTIZE = 0x0707,
	DFR_ACT_LQUANTIZE = 0x0708,
	DFR_ACT_LLQUANTIZE = 0x0709,

	/*
	 * dfr's own. CAPTURE records the value of its DIFO and prints nothing. A
	 * capture() of n expressions is n such actions. capture() without arguments is
	 * one CAPTURE_ARGS action without DIFO: it records arg0 to arg(n-1), where n is
	 * the number of arguments that the probe declares (at most 10), or 6 if it declares none.
	 * (Time, CPU, pid, tid and execname come with every record.)
	 */
	DFR_ACT_CAPTURE = 0x4601,
	DFR_ACT_CAPTURE_ARGS = 0x4602,
	/*
	 * snapshot("reason") has no DIFO; its reason is where a format would be. It records no field: the record
	 * says when and where, the reason is in the program. It is counted as a trigger (DFR_IOC_TRIGGERS).
	 */
	DFR_ACT_SNAPSHOT = 0x4603
};
#define DFR_REASON_MAX 64  /* bytes of a reason, with the NUL */
#define DFR_REASONS_MAX 32 /* different ones of a state's programs */
#define DFR_ACT_CLASS(kind) ((kind) >> 8)
#define DFR_ACT_IS_AGG(kind) (DFR_ACT_CLASS(kind) == 0x07)
#define DFR_ACT_IS_DESTRUCTIVE(kind) (DFR_ACT_CLASS(kind) == 0x02 || DFR_ACT_CLASS(kind) == 0x05)

/*
 * Sub-kinds of LIBACT, in uarg: DFR_UARG_LIBACT(). DFR_LIBACT_CAPTURED is in the uarg of actions of other
 * kinds (a stack, a symbol) that capture() made: they are recorded and print nothing.
 */
enum dfr_libact {
	DFR_LIBACT_CLEAR = 1,
	DFR_LIBACT_NORMALIZE,
	DFR_LIBACT_DENORMALIZE,
	DFR_LIBACT_TRUNC,
	DFR_LIBACT_FTRUNCATE,
	DFR_LIBACT_SETOPT,
	DFR_LIBACT_CAPTURED = 0x1000
};

enum dfr_option {
	DFR_OPT_BUFSIZE,
	DFR_OPT_BUFPOLICY,
	DFR_OPT_DYNVARSIZE,
	DFR_OPT_AGGSIZE,
	DFR_OPT_SPECSIZE,
	DFR_OPT_NSPEC,
	DFR_OPT_STRSIZE,
	DFR_OPT_CLEANRATE,
	DFR_OPT_CPU,
	DFR_OPT_BUFRESIZE,
	DFR_OPT_GRABANON,
	DFR_OPT_FLOWINDENT,
	DFR_OPT_QUIET,
	DFR_OPT_STACKFRAMES,
	DFR_OPT_USTACKFRAMES,
	DFR_OPT_AGGRATE,
	DFR_OPT_SWITCHRATE,
	DFR_OPT_STATUSRATE,
	DFR_OPT_DESTRUCTIVE,
	DFR_OPT_STACKINDENT,
	DFR_OPT_RAWBYTES,
	DFR_OPT_JSTACKFRAMES,
	DFR_OPT_JSTACKSTRSIZE,
	DFR_OPT_AGGSORTKEY,
	DFR_OPT_AGGSORTREV,
	DFR_OPT_AGGSORTPOS,
	DFR_OPT_AGGSORTKEYPOS,
	DFR_OPT_TEMPORAL,
	DFR_OPT_AGGHIST,
	DFR_OPT_AGGPACK,
	DFR_OPT_AGGZOOM,
	DFR_OPT_ZONE,
	DFR_OPT_CLASSIC_MAX,

	/* dfr's own */
	DFR_OPT_SPECPOOL = 0x4600,
	DFR_OPT_SCRATCHSIZE,
	DFR_OPT_CPUBUDGET,
	DFR_OPT_AGGEVICT,
	DFR_OPT_BLOCKSIZE,
	DFR_OPT_JIT,
	DFR_OPT_SYSCALLHOOK,
	DFR_OPT_MEMORY,
	DFR_OPT_ENCODING, /* of consumers, as the next two are: what is printed */
	DFR_OPT_NORESOLVE,
	DFR_OPT_DROPTAGS,
	DFR_OPT_OURS_MAX
};
#define DFR_OPT_UNSET (-2LL)
#define DFR_BUFPOLICY_RING 0
#define DFR_BUFPOLICY_FILL 1
#define DFR_BUFPOLICY_SWITCH 2
#define DFR_MEMORY_RESERVED 1
#define DFR_ENCODING_ASCII 0
#define DFR_ENCODING_UTF8 1

#endif
