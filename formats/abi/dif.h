/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The D intermediate format: numbers and layouts that the compiler, the engine
 * (kernel and user space) and the disassembler share. The encodings are DTrace's
 * public ones. What DTrace does not have is numbered from 0x4600 ("F") on, so that
 * numbers that others add do not collide. What they mean: formats/dif/DIF.md.
 */
#ifndef DFR_ABI_DIF_H
#define DFR_ABI_DIF_H

#include "formats/abi/base.h"

#define DIF_VERSION 2
#define DIF_NREGS 8  /* %r0 to %r7; %r0 reads 0 */
#define DIF_NTUPLE 8 /* entries of the tuple stack */
#define DIF_STRSIZE_DEFAULT 256
#define DIF_STRSIZE_MAX 65536
#define DIF_FRAMES_MAX 4096               /* of one stack */
#define DIF_PRINT_MAX 4096                /* the largest printsize */
#define DIF_SCRATCH_MAX (4 * 1024 * 1024) /* the largest scratchsize */
#define DIF_DIFO_MAX (256 * 1024)
#define DIF_STATIC_MAX (16 * 1024) /* a by-reference static variable */

/*
 * An instruction is 32 bits:
 *
 *   R      [op:8][r1:8][r2:8][rd:8]
 *   branch [op:8][label:24]            absolute instruction index
 *   wide   [op:8][index:16][rd:8]
 *   LDA    [op:8][array id:8][index register:8][rd:8]
 *   push   [op:8][type:8][size register:8][value register:8]
 */
#define DIF_OP(i) (((i) >> 24) & 0xffu)
#define DIF_R1(i) (((i) >> 16) & 0xffu)
#define DIF_R2(i) (((i) >> 8) & 0xffu)
#define DIF_RD(i) ((i)&0xffu)
#define DIF_LABEL(i) ((i)&0xffffffu)
#define DIF_WIDE(i) (((i) >> 8) & 0xffffu)

#define DIF_INSTR_R(op, r1, r2, rd)                                                                          \
	(((__u32)(op) << 24) | ((__u32)(r1) << 16) | ((__u32)(r2) << 8) | (__u32)(rd))
#define DIF_INSTR_BRANCH(op, label) (((__u32)(op) << 24) | ((__u32)(label)&0xffffffu))
#define DIF_INSTR_WIDE(op, index, rd) (((__u32)(op) << 24) | ((__u32)(index) << 8) | (__u32)(rd))

enum dif_opcode {
	DIF_OP_OR = 1,
	DIF_OP_XOR,
	DIF_OP_AND,
	DIF_OP_SLL,
	DIF_OP_SRL,
	DIF_OP_SUB,
	DIF_OP_ADD,
	DIF_OP_MUL,
	DIF_OP_SDIV,
	DIF_OP_UDIV,
	DIF_OP_SREM,
	DIF_OP_UREM,
	DIF_OP_NOT,
	DIF_OP_MOV,
	DIF_OP_CMP,
	DIF_OP_TST,
	DIF_OP_BA,
	DIF_OP_BE,
	DIF_OP_BNE,
	DIF_OP_BG,
	DIF_OP_BGU,
	DIF_OP_BGE,
	DIF_OP_BGEU,
	DIF_OP_BL,
	DIF_OP_BLU,
	DIF_OP_BLE,
	DIF_OP_BLEU,
	DIF_OP_LDSB,
	DIF_OP_LDSH,
	DIF_OP_LDSW,
	DIF_OP_LDUB,
	DIF_OP_LDUH,
	DIF_OP_LDUW,
	DIF_OP_LDX,
	DIF_OP_RET,
	DIF_OP_NOP,
	DIF_OP_SETX,
	DIF_OP_SETS,
	DIF_OP_SCMP,
	DIF_OP_LDGA,
	DIF_OP_LDGS,
	DIF_OP_STGS,
	DIF_OP_LDTA,
	DIF_OP_LDTS,
	DIF_OP_STTS,
	DIF_OP_SRA,
	DIF_OP_CALL,
	DIF_OP_PUSHTR,
	DIF_OP_PUSHTV,
	DIF_OP_POPTS,
	DIF_OP_FLUSHTS,
	DIF_OP_LDGAA,
	DIF_OP_LDTAA,
	DIF_OP_STGAA,
	DIF_OP_STTAA,
	DIF_OP_LDLS,
	DIF_OP_STLS,
	DIF_OP_ALLOCS,
	DIF_OP_COPYS,
	DIF_OP_STB,
	DIF_OP_STH,
	DIF_OP_STW,
	DIF_OP_STX,
	DIF_OP_ULDSB,
	DIF_OP_ULDSH,
	DIF_OP_ULDSW,
	DIF_OP_ULDUB,
	DIF_OP_ULDUH,
	DIF_OP_ULDUW,
	DIF_OP_ULDX,
	DIF_OP_RLDSB,
	DIF_OP_RLDSH,
	DIF_OP_RLDSW,
	DIF_OP_RLDUB,
	DIF_OP_RLDUH,
	DIF_OP_RLDUW,
	DIF_OP_RLDX,
	DIF_OP_XLATE,
	DIF_OP_XLARG,
	DIF_OP_MAX = DIF_OP_XLARG
};

/* dtrace_diftype: 8 bytes. */
struct dif_type {
	__u8 kind;  /* DIF_KIND_* */
	__u8 ckind; /* CTF kind: 1 integer, 2 float, 3 pointer, 4 array, 6 struct, ... */
	__u8 flags; /* DIF_TF_* */
	__u8 pad;
	__u32 size; /* 0 for a string of the default size */
};
#define DIF_KIND_CTF 0
#define DIF_KIND_STRING 1
#define DIF_TF_BYREF 0x1
#define DIF_TF_BYUREF 0x2
#define DIF_TF_SIGNED 0x4 /* dfr's own, on the DIFOs of actions: the integer result is signed */

/*
 * CTF kinds as DIF numbers them. Signed and unsigned integers have the same kind;
 * DIF_TF_SIGNED, which only dfr has, tells them apart.
 */
#define DIF_CK_UNKNOWN 0
#define DIF_CK_INTEGER 1
#define DIF_CK_FLOAT 2
#define DIF_CK_POINTER 3
#define DIF_CK_ARRAY 4
#define DIF_CK_FUNCTION 5
#define DIF_CK_STRUCT 6
#define DIF_CK_UNION 7
#define DIF_CK_ENUM 8
#define DIF_CK_FORWARD 9
#define DIF_CK_TYPEDEF 10

/* dtrace_difv: 20 bytes. */
struct dif_var {
	__u32 name; /* string table offset */
	__u32 id;
	__u8 kind;  /* DIF_VK_* */
	__u8 scope; /* DIF_VS_* */
	__u16 flags;
	struct dif_type type;
};
#define DIF_VK_ARRAY 0
#define DIF_VK_SCALAR 1
#define DIF_VS_GLOBAL 0
#define DIF_VS_THREAD 1
#define DIF_VS_LOCAL 2
#define DIF_VF_REF 0x1
#define DIF_VF_MOD 0x2

#define DIF_VAR_USER_FIRST 0x500 /* user variables, per scope */
#define DIF_VAR_MAX 0xffff
#define DIF_CAPTURED_THERE 0x100000000ull

enum dif_builtin {
	DIF_VAR_ARGS = 0x00,
	DIF_VAR_REGS = 0x01,
	DIF_VAR_UREGS = 0x02,
	/* Replay only. captured[i]: the program's i-th captured input; captured[DIF_CAPTURED_THERE | i]: 1 if
	 * this firing has that input, else 0 */
	DIF_VAR_CAPTURED = 0x7e,
	DIF_VAR_CURTHREAD = 0x100,
	DIF_VAR_TIMESTAMP,
	DIF_VAR_VTIMESTAMP,
	DIF_VAR_IPL,
	DIF_VAR_EPID,
	DIF_VAR_ID,
	DIF_VAR_ARG0, /* to ARG9 = 0x10f */
	DIF_VAR_ARG9 = DIF_VAR_ARG0 + 9,
	DIF_VAR_STACKDEPTH = 0x110,
	DIF_VAR_CALLER,
	DIF_VAR_PROBEPROV,
	DIF_VAR_PROBEMOD,
	DIF_VAR_PROBEFUNC,
	DIF_VAR_PROBENAME,
	DIF_VAR_PID,
	DIF_VAR_TID,
	DIF_VAR_EXECNAME,
	DIF_VAR_ZONENAME,
	DIF_VAR_WALLTIMESTAMP,
	DIF_VAR_USTACKDEPTH,
	DIF_VAR_UCALLER,
	DIF_VAR_PPID,
	DIF_VAR_UID,
	DIF_VAR_GID,
	DIF_VAR_ERRNO,
	DIF_VAR_EXECARGS,
	/* Of this engine, not of DTrace: */
	DIF_VAR_CPU = 0x200,
	DIF_VAR_NSPID,
	DIF_VAR_CGROUP
};

enum dif_subr {
	DIF_SUBR_RAND,
	DIF_SUBR_MUTEX_OWNED,
	DIF_SUBR_MUTEX_OWNER,
	DIF_SUBR_MUTEX_TYPE_ADAPTIVE,
	DIF_SUBR_MUTEX_TYPE_SPIN,
	DIF_SUBR_RW_READ_HELD,
	DIF_SUBR_RW_WRITE_HELD,
	DIF_SUBR_RW_ISWRITER,
	DIF_SUBR_COPYIN,
	DIF_SUBR_COPYINSTR,
	DIF_SUBR_SPECULATION,
	DIF_SUBR_PROGENYOF,
	DIF_SUBR_STRLEN,
	DIF_SUBR_COPYOUT,
	DIF_SUBR_COPYOUTSTR,
	DIF_SUBR_ALLOCA,
	DIF_SUBR_BCOPY,
	DIF_SUBR_COPYINTO,
	DIF_SUBR_MSGDSIZE,
	DIF_SUBR_MSGSIZE,
	DIF_SUBR_GETMAJOR,
	DIF_SUBR_GETMINOR,
	DIF_SUBR_DDI_PATHNAME,
	DIF_SUBR_STRJOIN,
	DIF_SUBR_LLTOSTR,
	DIF_SUBR_BASENAME,
	DIF_SUBR_DIRNAME,
	DIF_SUBR_CLEANPATH,
	DIF_SUBR_STRCHR,
	DIF_SUBR_STRRCHR,
	DIF_SUBR_STRSTR,
	DIF_SUBR_STRTOK,
	DIF_SUBR_SUBSTR,
	DIF_SUBR_INDEX,
	DIF_SUBR_RINDEX,
	DIF_SUBR_HTONS,
	DIF_SUBR_HTONL,
	DIF_SUBR_HTONLL,
	DIF_SUBR_NTOHS,
	DIF_SUBR_NTOHL,
	DIF_SUBR_NTOHLL,
	DIF_SUBR_INET_NTOP,
	DIF_SUBR_INET_NTOA,
	DIF_SUBR_INET_NTOA6,
	DIF_SUBR_TOUPPER,
	DIF_SUBR_TOLOWER,
	DIF_SUBR_MEMREF,
	DIF_SUBR_SX_SHARED_HELD,
	DIF_SUBR_SX_EXCLUSIVE_HELD,
	DIF_SUBR_SX_ISEXCLUSIVE,
	DIF_SUBR_MEMSTR,
	DIF_SUBR_GETF,
	DIF_SUBR_JSON,
	DIF_SUBR_STRTOLL,
	DIF_SUBR_RANDOM,
	DIF_SUBR_CLASSIC_MAX = DIF_SUBR_RANDOM,

	/* dfr's own */
	DIF_SUBR_D_PATH = 0x4600, /* string (struct path *) */
	DIF_SUBR_LINK_NTOP,       /* string (int hwtype, void *addr) */
	DIF_SUBR_F_ADD = 0x4620,  /* soft float: operands are bit patterns of double */
	DIF_SUBR_F_SUB,
	DIF_SUBR_F_MUL,
	DIF_SUBR_F_DIV,
	DIF_SUBR_F_NEG,
	DIF_SUBR_F_CMP, /* int (a, b): -1, 0, 1, or 2 when unordered */
	DIF_SUBR_F_FROM_I64,
	DIF_SUBR_F_FROM_U64,
	DIF_SUBR_F_TO_I64,
	DIF_SUBR_F_TO_U64,
	DIF_SUBR_F_FROM_F32, /* makes a double of a float's 32 bits */
	DIF_SUBR_F_TO_F32,
	DIF_SUBR_OURS_MAX = DIF_SUBR_F_TO_F32
};

/* Fault codes, as the ERROR probe's arg4 gives them. */
enum dif_fault {
	DIF_FAULT_UNKNOWN = 0,
	DIF_FAULT_BADADDR,
	DIF_FAULT_BADALIGN,
	DIF_FAULT_ILLOP,
	DIF_FAULT_DIVZERO,
	DIF_FAULT_NOSCRATCH,
	DIF_FAULT_KPRIV,
	DIF_FAULT_UPRIV,
	DIF_FAULT_TUPOFLOW,
	DIF_FAULT_BADSTACK,
	DIF_FAULT_LIBRARY = 1000
};

#endif
