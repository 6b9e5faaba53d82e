// SPDX-License-Identifier: GPL-2.0
//
// Every error tag that the compiler can raise, by a program that provokes it,
// and where the caret stands. One row is one program with one error.
#include <catch2/catch.hpp>

#include "tests/unit/d_target.h"

namespace d_errors_test {

using namespace dfr;

namespace {

struct Row {
	const char* tag;
	const char* source;
	unsigned column; // on line 1; 0: not checked
};

const Row kRows[] = {
    {"D_SYNTAX", "BEGIN { trace(1 }", 17},
    {"D_SYNTAX", "BEGIN { trace(1);", 0},
    {"D_SYNTAX", "BEGIN { for (;;) ; }", 9},
    {"D_SYNTAX", "BEGIN", 1},
    {"D_SYNTAX", "BEGIN { x = 1; /* open", 16},
    {"D_EMPTY", "", 1},
    {"D_EMPTY", "/* nothing */", 1},
    {"D_EMPTY", " /* a declaration */ int x;", 22},
    {"D_TYPE_ERR", "BEGIN { x = sizeof(enum nosuch); }", 20},
    {"D_TYPE_MEMBER", "struct s { int a; }; struct s v; BEGIN { trace(v.b); }", 49},
    {"D_TYPE_MEMBER", "struct s { int a; }; BEGIN { x = offsetof(struct s, b); }", 34},
    {"D_PDESC_ZERO", "nosuch:::probe { trace(1); }", 1},
    {"D_PDESC_INVAL", "a:b:c:d:e:f { }", 1},
    {"D_PDESC_INVAL", "fbt:::vfs_read:entry { }", 5},
    {"D_PRED_SCALAR", "struct s { int a; }; struct s v; BEGIN /v/ { trace(1); }", 41},
    {"D_FUNC_IDENT", "BEGIN { this->f(1); }", 13},
    {"D_FUNC_IDENT", "BEGIN { (pid)(1); }", 10},
    {"D_FUNC_IDENT", "BEGIN { trace(`f(1)); }", 15},
    {"D_FUNC_UNDEF", "BEGIN { nosuch(); }", 9},
    {"D_FUNC_IDKIND", "BEGIN { pid(1); }", 9},
    {"D_DECL_ARRNULL", "int x[]; BEGIN { }", 5},
    {"D_DECL_ARRSUB", "int x[0]; BEGIN { }", 5},
    {"D_DECL_BFCONST", "struct s { int a:0; }; BEGIN { }", 18},
    {"D_ATTR_MIN", "#pragma D option amin=Stable/Stable/Common\nBEGIN { trace(curthread); }", 0},
    {"D_ATTR_MIN", "#pragma D option amin=Stable/Stable/Common\nfbt::vfs_read:entry { }", 0},
    {"D_MACRO_UNDEF", "$nosuch:::entry { }", 0},
    {"D_OFFSETOF_TYPE", "BEGIN { x = offsetof(int, a); }", 13},
    {"D_OFFSETOF_BITFIELD", "struct s { int a:3; }; BEGIN { x = offsetof(struct s, a); }", 36},
    {"D_SIZEOF_TYPE", "BEGIN { x = sizeof(void); }", 13},
    {"D_SIZEOF_BITFIELD", "struct s { int a:3; }; struct s v; BEGIN { x = sizeof(v.a); }", 48},
    {"D_STRINGOF_TYPE", "struct s { int a; }; struct s v; BEGIN { x = stringof(v); }", 46},
    {"D_OP_INT", "BEGIN { x = \"a\" % 2; }", 17},
    {"D_OP_SCALAR", "struct s { int a; }; struct s v; BEGIN { x = !v; }", 46},
    {"D_OP_ARITH", "BEGIN { x = -\"a\"; }", 13},
    {"D_OP_WRITE", "BEGIN { pid = 1; }", 13},
    {"D_OP_WRITE", "BEGIN { `jiffies = 1; }", 18},
    {"D_OP_LVAL", "BEGIN { 3 = 4; }", 11},
    {"D_OP_LVAL", "BEGIN { x = 1; (x + 1)++; }", 0},
    {"D_OP_INCOMPAT", "BEGIN { x = 1; x = \"a\"; }", 18},
    {"D_OP_INCOMPAT", "BEGIN { x = \"a\" == 1; }", 17},
    {"D_OP_INCOMPAT", "BEGIN { trace(pid ? \"a\" : 1); }", 19},
    {"D_OP_PTR", "BEGIN { x = 1; trace(x->a); }", 23},
    {"D_OP_SOU", "BEGIN { x = 1; trace(x.a); }", 23},
    {"D_OP_SOU", "struct s { int a; }; struct s v; struct s w; BEGIN { x = v == w; }", 60},
    {"D_OP_INCOMPLETE", "struct t; BEGIN { x = (struct t *)arg0; y = x + 1; }", 47},
    {"D_OP_DYN",
     "struct o { int a; }; translator struct o < int i > { a = i; }; BEGIN { x = xlate <struct o>(1); }", 0},
    {"D_OP_ACT", "BEGIN { x = exit(0); }", 13},
    {"D_OP_ACT", "BEGIN { x = stack() + 1; }", 13},
    {"D_AGG_REDEF", "BEGIN { @a = count(); @a = sum(1); }", 23},
    {"D_PROTO_ARG", "BEGIN { @a[1] = count(); @a[\"x\"] = count(); }", 29},
    {"D_PROTO_LEN", "BEGIN { @a[1] = count(); @a[1, 2] = count(); }", 26},
    {"D_AGG_FUNC", "BEGIN { @a = 1; }", 14},
    {"D_AGG_FUNC", "BEGIN { x = count(); }", 13},
    {"D_AGG_MDIM", "BEGIN { @a[1][2] = count(); }", 14},
    {"D_AGG_NULL", "BEGIN { @a = count(); @a; }", 23},
    {"D_AGG_SCALAR", "struct s { int a; }; struct s v; BEGIN { @a = sum(v); }", 51},
    {"D_AGG_SCALAR", "BEGIN { @a = count(); x = @a; }", 27},
    {"D_ARR_BADREF", "BEGIN { x[1] = 2; trace(x); }", 25},
    {"D_ARR_BADREF", "BEGIN { x = 2; trace(x[1]); }", 23},
    {"D_ARR_BADREF", "BEGIN { x[x = 1] = 2; }", 0},
    {"D_ARR_LOCAL", "BEGIN { this->x[1] = 2; }", 0},
    {"D_ARR_BOUNDS", "struct s { int a[3]; }; struct s v; BEGIN { trace(v.a[3]); }", 55},
    {"D_DIV_ZERO", "BEGIN { x = pid / 0; }", 19},
    {"D_DIV_ZERO", "BEGIN { x = 1 / (char)256.0; }", 0},
    {"D_DIV_ZERO", "BEGIN { x = pid % (1 - 1); }", 0},
    {"D_DEREF_NONPTR", "BEGIN { x = *pid; }", 13},
    {"D_DEREF_VOID", "BEGIN { x = *(void *)arg0; }", 13},
    {"D_DEREF_FUNC", "extern int f(int); BEGIN { x = *&f; }", 0},
    {"D_ADDROF_LVAL", "BEGIN { x = &3; }", 13},
    {"D_ADDROF_VAR", "BEGIN { x = 1; y = &x; }", 20},
    {"D_ADDROF_BITFIELD", "struct s { int a:3; }; BEGIN { x = &((struct s *)arg0)->a; }", 36},
    {"D_XLATE_REDECL",
     "struct o { int a; }; translator struct o < int i > { a = i; }; translator struct o < int j > { a = j; "
     "};",
     64},
    {"D_XLATE_NOCONV",
     "struct o { int a, b; }; translator struct o < int i > { a = i; }; BEGIN { trace(xlate <struct "
     "o>(1).b); }",
     0},
    {"D_XLATE_NONE", "struct o { int a; }; BEGIN { trace(xlate <struct o>(1).a); }", 36},
    {"D_XLATE_SOU", "BEGIN { trace(xlate <int>(1)); }", 15},
    {"D_XLATE_MEMB", "struct o { int a; }; translator struct o < int i > { b = i; };", 54},
    {"D_XLATE_INCOMPAT",
     "struct o { int a; }; translator struct o < int i > { a = \"x\"; }; BEGIN { trace(xlate <struct "
     "o>(1).a); }",
     0},
    {"D_CAST_INVAL", "struct s { int a; }; struct s v; BEGIN { x = (int)v; }", 46},
    {"D_PRAGERR", "#pragma error stop\nBEGIN { }", 0},
    {"D_PRAGCTL_INVAL", "#if 0\nBEGIN { }", 1},
    {"D_PRAGMA_INVAL", "#pragma D nosuch\nBEGIN { }", 11},
    {"D_PRAGMA_MALFORM", "#pragma D option\nBEGIN { }", 1},
    {"D_PRAGMA_MALFORM", "#pragma D priority urgent\nBEGIN { }", 20},
    {"D_PRAGMA_MALFORM", "#pragma D priority\nBEGIN { }", 1},
    {"D_PRAGMA_OPTSET", "#pragma D option nosuch=1\nBEGIN { }", 18},
    {"D_PRAGMA_OPTSET", "#pragma D option bufsize=fish\nBEGIN { }", 18},
    {"D_PRAGMA_DEPEND", "#pragma D depends_on provider nosuch\nBEGIN { }", 31},
    {"D_MACRO_UNDEF", "BEGIN { trace($nosuch); }", 15},
    {"D_MACRO_UNDEF", "BEGIN { trace($1); }", 15},
    {"D_INT_OFLOW", "BEGIN { trace(18446744073709551616); }", 15},
    {"D_INT_OFLOW", "BEGIN { trace(9223372036854775808); }", 15},
    {"D_INT_DIGIT", "BEGIN { trace(089); }", 15},
    {"D_INT_DIGIT", "BEGIN { trace(12ab); }", 15},
    {"D_STR_NL", "BEGIN { trace(\"a\n); }", 15},
    {"D_CHR_NL", "BEGIN { trace('a\n); }", 15},
    {"D_CHR_NULL", "BEGIN { trace(''); }", 15},
    {"D_CHR_OFLOW", "BEGIN { trace('123456789'); }", 15},
    {"D_IDENT_UNDEF", "BEGIN { trace(nosuch); }", 15},
    {"D_IDENT_UNDEF", "BEGIN { trace(`nosuch); }", 15},
    {"D_SYM_BADREF", "BEGIN { trace(pid1`lib`sym); }", 15},
    {"D_VAR_UNDEF", "BEGIN { trace(self->x); }", 19},
    {"D_VAR_UNDEF", "BEGIN { trace(this->x); }", 19},
    {"D_PROTO_LEN", "BEGIN { trace(strlen()); }", 15},
    {"D_PROTO_LEN", "BEGIN { x[1, 2] = 3; trace(x[1]); }", 29},
    {"D_PROTO_LEN", "BEGIN { exit(); }", 9},
    {"D_PROTO_ARG", "BEGIN { trace(strlen(1)); }", 22},
    {"D_PROTO_ARG", "BEGIN { x[1] = 3; trace(x[\"a\"]); }", 27},
    {"D_ARGS_NONE", "BEGIN { trace(args[0]); }", 19},
    {"D_ARGS_MULTI", "fbt::vfs_read:entry, syscall::read:entry { trace(args[0]); }", 54},
    {"D_ARGS_TYPE", "fbt::vfs_read:entry { trace(args[pid]); }", 34},
    {"D_ARGS_IDX", "fbt::vfs_read:entry { trace(args[9]); }", 34},
    {"D_ARGS_XLATOR", "syscall::read:return { trace(args[0]); }", 0},
    {"D_KEY_TYPE", "int x[struct nosuch]; BEGIN { }", 7},
    {"D_PRINTF_DYN_PROTO", "BEGIN { printf(\"%*d\"); }", 17},
    {"D_PRINTF_DYN_TYPE", "BEGIN { printf(\"%*d\", \"a\", 1); }", 23},
    {"D_PRINTF_AGG_CONV", "BEGIN { printf(\"%@d\", 1); }", 17},
    {"D_PRINTF_ARG_PROTO", "BEGIN { printf(\"%d\"); }", 17},
    {"D_PRINTF_ARG_TYPE", "BEGIN { printf(\"%d\", \"a\"); }", 22},
    {"D_PRINTF_ARG_TYPE", "BEGIN { printf(\"%s\", 1); }", 22},
    {"D_PRINTF_ARG_TYPE", "BEGIN { printf(\"%Y\", pid); }", 22},
    {"D_PRINTF_ARG_TYPE", "BEGIN { printf(\"%k\", pid); }", 22},
    {"D_PRINTF_ARG_EXTRA", "BEGIN { printf(\"%d\", 1, 2); }", 25},
    {"D_PRINTF_ARG_FMT", "BEGIN { printf(1); }", 16},
    {"D_PRINTF_FMT_EMPTY", "BEGIN { printf(\"\"); }", 16},
    {"D_DECL_CHARATTR", "long char x; BEGIN { }", 1},
    {"D_DECL_VOIDATTR", "unsigned void *x; BEGIN { }", 1},
    {"D_DECL_SIGNINT", "unsigned float x; BEGIN { }", 1},
    {"D_DECL_LONGINT", "long float x; BEGIN { }", 1},
    {"D_DECL_IDENT", "int *; BEGIN { }", 6},
    {"D_DECL_CLASS", "extern typedef int x; BEGIN { }", 8},
    {"D_DECL_BADCLASS", "static int x; BEGIN { }", 1},
    {"D_DECL_PARMCLASS", "extern int f(self int x); BEGIN { }", 14},
    {"D_DECL_COMBO", "int char x; BEGIN { }", 1},
    {"D_DECL_ARRSUB", "struct s { int a[-1]; }; BEGIN { }", 18},
    {"D_DECL_ARRNULL", "struct s { void a[2]; }; BEGIN { }", 0},
    {"D_DECL_ARRBIG", "struct s { int a[0x7fffffff]; }; BEGIN { }", 0},
    {"D_DECL_IDRED", "int x; string x; BEGIN { }", 15},
    {"D_DECL_IDRED", "int pid; BEGIN { }", 5},
    {"D_DECL_TYPERED", "struct s { int a; }; struct s { int b; }; BEGIN { }", 22},
    {"D_DECL_TYPERED", "typedef int t; typedef string t; BEGIN { }", 31},
    {"D_DECL_MNAME", "struct s { int a; int a; }; BEGIN { }", 23},
    {"D_DECL_MNAME", "struct s { int; }; BEGIN { }", 15},
    {"D_DECL_BFCONST", "struct s { int a:pid; }; BEGIN { }", 18},
    {"D_DECL_BFSIZE", "struct s { int a:33; }; BEGIN { }", 18},
    {"D_DECL_BFTYPE", "struct s { int *a:3; }; BEGIN { }", 19},
    {"D_DECL_ENCONST", "enum e { A = pid }; BEGIN { }", 10},
    {"D_DECL_ENOFLOW", "enum e { A = 0x80000000 }; BEGIN { }", 10},
    {"D_DECL_SCOPE", "int vmlinux`x; BEGIN { }", 5},
    {"D_DECL_PROTO_NAME", "int x[int key]; BEGIN { }", 11},
    {"D_DECL_USELESS", "int; BEGIN { }", 1},
    {"D_DECL_LOCASSC", "this int x[int]; BEGIN { }", 10},
    {"D_DECL_VOIDOBJ", "void x; BEGIN { }", 6},
    {"D_DECL_INCOMPLETE", "struct nosuch x; BEGIN { }", 15},
    {"D_DECL_PROTO_VARARGS", "extern int f(..., int); BEGIN { }", 17},
    {"D_DECL_PROTO_VOID", "extern int f(int, void); BEGIN { }", 19},
    {"D_COMM_DREC", "BEGIN { trace(1); commit(2); }", 19},
    {"D_SPEC_SPEC", "BEGIN { speculate(1); speculate(2); }", 23},
    {"D_SPEC_COMM", "BEGIN { commit(1); speculate(2); }", 20},
    {"D_SPEC_DREC", "BEGIN { trace(1); speculate(2); }", 19},
    {"D_AGG_COMM", "BEGIN { commit(1); @a = count(); }", 23},
    {"D_AGG_SPEC", "BEGIN { speculate(1); @a = count(); }", 26},
    {"D_ACT_SPEC", "BEGIN { speculate(1); stop(); }", 23},
    {"D_EXIT_SPEC", "BEGIN { speculate(1); exit(0); }", 23},
    {"D_SNAP_SPEC", "BEGIN { speculate(1); snapshot(\"slow\"); }", 23},
    {"D_DREC_COMM", "BEGIN { commit(1); snapshot(\"slow\"); }", 20},
    {"D_SNAP_REASON", "BEGIN { snapshot(\"\"); }", 18},
    {"D_SNAP_REASON", "BEGIN { snapshot(\"two\\nlines\"); }", 18},
    {"D_PROTO_ARG", "BEGIN { snapshot(execname); }", 18},
    {"D_PROTO_LEN", "BEGIN { snapshot(); }", 9},
    {"D_DREC_COMM", "BEGIN { commit(1); trace(1); }", 20},
    {"D_PRINTA_PROTO", "BEGIN { printa(); }", 9},
    {"D_PRINTA_AGGARG", "BEGIN { printa(\"%d\", 1); }", 22},
    {"D_PRINTA_AGGBAD", "BEGIN { printa(@nosuch); }", 16},
    {"D_PRINTA_AGGPROTO", "BEGIN { @a[1] = count(); @b[\"x\"] = count(); printa(@a, @b); }", 56},
    {"D_PRINTA_AGGKEY", "BEGIN { @a[1] = count(); @b = count(); printa(@a, @b); }", 51},
    {"D_TRACE_VOID", "BEGIN { trace((void)1); }", 15},
    {"D_TRACE_DYN",
     "struct o { int a; }; translator struct o < int i > { a = i; }; BEGIN { trace(xlate <struct o>(1)); }",
     78},
    {"D_TRACE_AGG", "BEGIN { @a = count(); trace(@a); }", 29},
    {"D_PRINT_VOID", "BEGIN { print((void)1); }", 15},
    {"D_PRINT_DYN",
     "struct o { int a; }; translator struct o < int i > { a = i; }; BEGIN { print(xlate <struct o>(1)); }",
     78},
    {"D_PRINT_AGG", "BEGIN { @a = count(); print(@a); }", 29},
    {"D_TRACEMEM_ADDR", "struct s { int a; }; struct s v; BEGIN { tracemem(v, 4); }", 51},
    {"D_TRACEMEM_SIZE", "BEGIN { tracemem(arg0, pid); }", 24},
    {"D_TRACEMEM_SIZE", "BEGIN { tracemem(arg0, 262145); }", 24},
    {"D_TRACEMEM_SIZE", "BEGIN { tracemem(arg0, 65536, arg1); }", 24},
    {"D_TRACEMEM_ARGS", "BEGIN { tracemem(arg0); }", 9},
    {"D_TRACEMEM_DYNSIZE", "BEGIN { tracemem(arg0, 4, \"a\"); }", 27},
    {"D_STACK_PROTO", "BEGIN { stack(1, 2); }", 9},
    {"D_STACK_SIZE", "BEGIN { stack(pid); }", 15},
    {"D_USTACK_FRAMES", "BEGIN { ustack(0); }", 16},
    {"D_USTACK_STRSIZE", "BEGIN { ustack(1, pid); }", 19},
    {"D_USTACK_PROTO", "BEGIN { ustack(1, 2, 3); }", 9},
    {"D_LQUANT_BASETYPE", "BEGIN { @a = lquantize(1, pid, 10); }", 27},
    {"D_LQUANT_BASEVAL", "BEGIN { @a = lquantize(1, 0x100000000, 10); }", 27},
    {"D_LQUANT_LIMTYPE", "BEGIN { @a = lquantize(1, 0, pid); }", 30},
    {"D_LQUANT_LIMVAL", "BEGIN { @a = lquantize(1, 0, 0x100000000); }", 30},
    {"D_LQUANT_MISMATCH", "BEGIN { @a = lquantize(1, 10, 10); }", 27},
    {"D_LQUANT_STEPTYPE", "BEGIN { @a = lquantize(1, 0, 10, pid); }", 34},
    {"D_LQUANT_STEPVAL", "BEGIN { @a = lquantize(1, 0, 10, 0); }", 34},
    {"D_LQUANT_STEPLARGE", "BEGIN { @a = lquantize(1, 0, 10, 11); }", 34},
    {"D_LQUANT_STEPSMALL", "BEGIN { @a = lquantize(1, 0, 70000, 1); }", 37},
    {"D_QUANT_PROTO", "BEGIN { @a = quantize(); }", 14},
    {"D_LQUANT_MATCHBASE", "BEGIN { @a = lquantize(1, 0, 10); @a = lquantize(1, 1, 10); }", 40},
    {"D_LQUANT_MATCHLIM", "BEGIN { @a = lquantize(1, 0, 10); @a = lquantize(1, 0, 11); }", 40},
    {"D_LQUANT_MATCHSTEP", "BEGIN { @a = lquantize(1, 0, 10); @a = lquantize(1, 0, 20, 2); }", 40},
    {"D_LLQUANT_FACTORTYPE", "BEGIN { @a = llquantize(1, pid, 0, 6, 20); }", 28},
    {"D_LLQUANT_FACTORVAL", "BEGIN { @a = llquantize(1, 65536, 0, 6, 20); }", 28},
    {"D_LLQUANT_FACTORMATCH", "BEGIN { @a = llquantize(1, 10, 0, 6, 20); @a = llquantize(1, 20, 0, 6, 20); }",
     48},
    {"D_LLQUANT_LOWTYPE", "BEGIN { @a = llquantize(1, 10, pid, 6, 20); }", 32},
    {"D_LLQUANT_LOWVAL", "BEGIN { @a = llquantize(1, 10, 65536, 6, 20); }", 32},
    {"D_LLQUANT_LOWMATCH", "BEGIN { @a = llquantize(1, 10, 0, 6, 20); @a = llquantize(1, 10, 1, 6, 20); }",
     48},
    {"D_LLQUANT_HIGHTYPE", "BEGIN { @a = llquantize(1, 10, 0, pid, 20); }", 35},
    {"D_LLQUANT_HIGHVAL", "BEGIN { @a = llquantize(1, 10, 0, 65536, 20); }", 35},
    {"D_LLQUANT_HIGHMATCH", "BEGIN { @a = llquantize(1, 10, 0, 6, 20); @a = llquantize(1, 10, 0, 7, 20); }",
     48},
    {"D_LLQUANT_NSTEPTYPE", "BEGIN { @a = llquantize(1, 10, 0, 6, pid); }", 38},
    {"D_LLQUANT_NSTEPVAL", "BEGIN { @a = llquantize(1, 10, 0, 6, 65536); }", 38},
    {"D_LLQUANT_NSTEPMATCH", "BEGIN { @a = llquantize(1, 10, 0, 6, 20); @a = llquantize(1, 10, 0, 6, 10); }",
     48},
    {"D_LLQUANT_MAGRANGE", "BEGIN { @a = llquantize(1, 10, 6, 6, 20); }", 32},
    {"D_LLQUANT_FACTORNSTEPS", "BEGIN { @a = llquantize(1, 10, 0, 6, 4); }", 38},
    {"D_LLQUANT_FACTOREVEN", "BEGIN { @a = llquantize(1, 10, 0, 6, 15); }", 38},
    {"D_LLQUANT_FACTORSMALL", "BEGIN { @a = llquantize(1, 1, 0, 6, 20); }", 28},
    {"D_LLQUANT_MAGTOOBIG", "BEGIN { @a = llquantize(1, 10, 0, 19, 20); }", 35},
    {"D_CLEAR_PROTO", "BEGIN { clear(); }", 9},
    {"D_CLEAR_AGGARG", "BEGIN { clear(1); }", 15},
    {"D_CLEAR_AGGBAD", "BEGIN { clear(@nosuch); }", 15},
    {"D_NORMALIZE_PROTO", "BEGIN { @a = count(); normalize(@a); }", 23},
    {"D_NORMALIZE_SCALAR", "BEGIN { @a = count(); normalize(@a, \"x\"); }", 37},
    {"D_NORMALIZE_AGGARG", "BEGIN { normalize(1, 2); }", 19},
    {"D_NORMALIZE_AGGBAD", "BEGIN { normalize(@nosuch, 2); }", 19},
    {"D_TRUNC_PROTO", "BEGIN { trunc(); }", 9},
    {"D_TRUNC_SCALAR", "BEGIN { @a = count(); trunc(@a, \"x\"); }", 33},
    {"D_TRUNC_AGGARG", "BEGIN { trunc(1); }", 15},
    {"D_TRUNC_AGGBAD", "BEGIN { trunc(@nosuch); }", 15},
    {"D_PRAGMA_SCOPE", "#pragma D attributes Stable/Stable/Common pid\nBEGIN { }", 43},
    {"D_PRAGMA_SCOPE", "#pragma D binding \"1.0\" vmlinux`jiffies\nBEGIN { }", 25},
    {"D_PRAGMA_UNUSED", "#pragma D attributes Stable/Stable/Common nosuch\nBEGIN { }", 43},
    {"D_OP_IDENT", "BEGIN { trace(curthread->3); }", 26},
    {"D_OP_IDENT", "struct s { int a; }; struct s v; BEGIN { trace(v.(a)); }", 50},
    {"D_OP_VFPTR", "void *p; BEGIN { p++; }", 19},
    {"D_OP_VFPTR", "typedef int f_t(int); f_t *p; BEGIN { --p; }", 39},
    {"D_IDENT_AMBIG", "enum e { A }; int A; BEGIN { trace(A); }", 36},
    {"D_SYM_NOTYPES", "BEGIN { trace(`f); }", 15},
    {"D_DECL_PROTO_TYPE", "inline int f[void v] = 1; BEGIN { }", 14},
    {"D_DECL_PROTO_TYPE", "extern int g(struct nosuch s); BEGIN { }", 14},
    {"D_DECL_PROTO_FORM", "inline int f[int] = 1; BEGIN { }", 17},
    {"D_DECL_DYNOBJ", "int @a; BEGIN { }", 5},
    {"D_PROC_NODEV", "pid12:libc:malloc:entry { }", 1},
    {"D_PROC_NODEV", "pid12::main: { }", 1},
    {"D_PROC_BADPROV", "pid12x::main:entry { }", 1},
    {"D_PROC_BADPID", "pid0::main:entry { }", 1},
    {"D_PROC_BADPID", "BEGIN, pid99999999999999999999::main:entry { }", 8},
    {"D_PROC_OFF", "pid12::main:middle { }", 1},
    {"D_PROV_BADNAME", "provider foo1 { probe a(); };", 10},
    {"D_PROV_INCOMPAT", "provider foo { probe a(); }; provider foo { probe a(int); };", 39},
    {"D_PROV_PRXLATOR", "struct o { int a; }; provider foo { probe a(int *x) : (struct o *x); };", 43},
    {"D_PROV_PRXLATOR", "provider foo { probe a(int x) : (int x, int y); };", 22},
    {"D_PROV_PRDUP", "provider foo { probe a(); probe a(); };", 33},
    {"D_FREOPEN_INVALID", "BEGIN { freopen(\".\"); }", 17},
    {"D_PRINTM_ADDR", "BEGIN { printm(4, 1); }", 19},
    {"D_PRINTM_SIZE", "BEGIN { printm(pid, memref(arg0, 4)); }", 16},
    {"D_PRINTM_SIZE", "BEGIN { printm(65536, memref(arg0, 4)); }", 16},
    {"D_IDENT_BADREF", "inline int loop = loop + 1; BEGIN { trace(loop); }", 0},
    // What can only be a mistake (LANGUAGE.md, "refused").
    {"D_IDENT_UNDEF", "BEGIN /x == 0/ { y = 1; } BEGIN { x = 1; }", 8},
    {"D_OP_INCOMPAT", "BEGIN /x == 1/ { x = \"a\"; }", 10},
    {"D_OP_ACT", "BEGIN { x = 1 ? printf(\"a\") : 2; }", 17},
    {"D_PRED_SCALAR", "BEGIN { if (execname) trace(1); }", 13},
    {"D_PRED_SCALAR", "BEGIN { execname ? printf(\"a\") : printf(\"b\"); }", 9},
    {"D_CHR_OFLOW", "BEGIN { trace('abcdefghi'); }", 15},
    {"D_PROTO_ARG",
     "struct p { int x; }; struct q { int x; }; struct p v; struct q w; BEGIN { a[v] = 1; trace(a[w]); }",
     93},
    {"D_PRINTF_DYN_PROTO", "BEGIN { @a = count(); printa(\"%*d\", @a); }", 31},
    {"D_PROTO_ARG", "BEGIN { copyin(\"a\", 4); }", 16},
    {"D_PROTO_ARG", "BEGIN { trace(copyinstr(execname)); }", 25},
    {"D_PROTO_ARG", "BEGIN { copyinto(0, 4, 5); }", 24},
    {"D_PROTO_ARG", "BEGIN { copyinto(0, 4, \"abcd\"); }", 24},
    {"D_PROTO_ARG", "BEGIN { copyinto(0, 4, &`jiffies); }", 24},
    {"D_ALLOCA_SIZE", "BEGIN { p = alloca(4194305); }", 20},
    {"D_ALLOCA_SIZE", "BEGIN { p = alloca(-1); }", 20},
    {"D_PROTO_ARG", "BEGIN { p = copyin(0, 4194305); }", 23},
    {"D_PROTO_ARG", "BEGIN { copyinto(0, 4194305, alloca(1)); }", 21},
    {"D_ALLOCA_INCOMPAT", "BEGIN { p = alloca(8); q = pid ? p : (void *)&`jiffies; }", 32},
    {"D_CG_DYN",
     "struct s { int a; }; translator struct s < int i > { a = i; }; BEGIN { xlate <struct s *> (1); }", 72},
    {"D_OP_DYN",
     "struct s { int a; }; translator struct s < int i > { a = i; }; BEGIN { x = xlate <struct s *> (1) ? 1 "
     ": 2; }",
     76},
    {"D_OP_DYN",
     "struct s { int a; }; translator struct s < int i > { a = i; }; BEGIN { x = (xlate <struct s *> "
     "(1))[0]; }",
     100},
    {"D_OP_VFPTR", "BEGIN { p = alloca(8); trace(p + 1); }", 32},
    {"D_OP_VFPTR", "BEGIN { p = alloca(8); trace(p - 1); }", 32},
    {"D_OP_ARRFUN", "int a[4]; int b[4]; BEGIN { a = b; }", 31},
    {"D_PRINT_SIZE", "struct s { int n; char a[]; }; struct s *e; BEGIN { print(e->a); }", 60},
    {"D_PRINT_VOID", "BEGIN { print(bcopy(alloca(1), alloca(1), 1)); }", 15},
    {"D_XLATE_INCOMPAT", "struct s { int a; }; translator struct s < void v > { a = 1; }; BEGIN { }", 44},
    {"D_TYPE_ERR", "struct s { int a; }; translator struct s < nosuch v > { a = 1; }; BEGIN { }", 44},
    {"D_PROTO_ARG", "BEGIN { trace(inet_ntoa6(\"::1\")); }", 26},
    {"D_PROTO_ARG", "BEGIN { trace(inet_ntoa6(1)); }", 26},
    {"D_ACT_SPEC", "BEGIN { speculate(1); copyout(alloca(4), 0, 4); }", 23},
    {"D_DECL_IDRED", "inline int A = 1; inline int A = 2; BEGIN { }", 30},
    {"D_SYNTAX", "enum e { }; BEGIN { }", 10},
    {"D_SYNTAX", "enum e { A = , B }; BEGIN { }", 14},
    {"D_SYNTAX", "enum e { 1 }; BEGIN { }", 10},
    {"D_SYNTAX", "struct s { a; }; BEGIN { }", 12},
    {"D_SYNTAX", "#pragma D option quiet", 1},
    {"D_PRAGMA_DEPEND", "#pragma D depends_on library procfs.d\nBEGIN { }", 22},
    {"D_PRAGMA_OPTSET", "#pragma D option cpp\nBEGIN { }", 18},
    {"D_PRAGMA_OPTSET", "#pragma D option verbose\nBEGIN { }", 18},
    {"D_PRAGMA_OPTSET", "#pragma D option bufsize=511\nBEGIN { }", 18},
    {"D_PRAGMA_OPTSET", "#pragma D option version=1.14\nBEGIN { }", 18},
    {"D_PRAGMA_OPTSET", "#pragma D option printsize=0\nBEGIN { }", 18},
    {"D_PDESC_ZERO", "dtrace { exit(0); }", 1},
};

} // namespace

TEST_CASE("every error tag has a program that provokes it, alone and at the right column") {
	for (const Row& row : kRows) {
		test::TestTarget target;
		target.symbols["jiffies"] = 0xffffffff81000000;
		target.symbols["f"] = 0xffffffff81000100;
		target.arguments[6] = {{"struct file *", "", 0}};
		target.arguments[4] = {{"char *", "", 0}};
		target.arguments[5] = {{"int", "struct nowhere *", 0}};
		target.kernel.forward(types::Kind::Struct, "file");
		target.kernel.forward(types::Kind::Struct, "nowhere");
		const auto result = test::compile(row.source, target);
		INFO(row.source);
		INFO("wanted " << row.tag);
		INFO(result.diagnostics.render(true));
		CHECK(result.diagnostics.errors() == 1);
		if (result.diagnostics.all().empty())
			continue;
		const auto& first = result.diagnostics.all()[0];
		CHECK(first.tag == row.tag);
		if (row.column)
			CHECK(result.diagnostics.sources().locate(first.place).column == row.column);
	}
}

TEST_CASE("a program with thirty errors reports thirty, each on its line and column") {
	std::string source;
	for (int i = 0; i < 10; i++) {
		source += "syscall::read:entry { trace(missing" + std::to_string(i) + "); }\n";
		source += "  syscall::read:entry { x = strlen(1; y = 2; }\n";
		source += "    syscall::read:entry { printf(\"%d\", execname); }\n";
	}
	test::TestTarget target;
	const auto result = test::compile(source, target);
	INFO(result.diagnostics.render(true));
	REQUIRE(result.diagnostics.errors() == 30);
	const auto& all = result.diagnostics.all();
	for (unsigned i = 0; i < 30; i++) {
		const auto where = result.diagnostics.sources().locate(all[i].place);
		CHECK(where.line == i + 1);
		CHECK(where.column == (i % 3 == 0 ? 29 : i % 3 == 1 ? 37 : 40));
	}
}

TEST_CASE("a program with very many errors reports a hundred, and that there are more") {
	std::string names, comments = "/* ", exactly;
	for (int i = 0; i < 20000; i++) {
		const std::string name = "missing" + std::to_string(i);
		names += "trace(" + name + "); ";
		comments += "/*";
		exactly += i < 100 ? "trace(" + name + "); " : "";
	}
	for (const std::string& source : {"BEGIN { " + names + "}", comments}) {
		test::TestTarget target;
		const auto result = test::compile(source, target);
		REQUIRE(result.diagnostics.errors() == 101);
		CHECK(result.diagnostics.all()[99].tag != "D_ERR_MANY");
		CHECK(result.diagnostics.all()[100].tag == "D_ERR_MANY");
	}
	test::TestTarget target;
	CHECK(test::compile("BEGIN { " + exactly + "}", target).diagnostics.errors() == 100);
}

TEST_CASE("names that a predicate's trial misses are not counted") {
	std::string predicate = "(x = 1)", statements;
	for (int i = 0; i < 150; i++) {
		const std::string name = "v" + std::to_string(i);
		predicate += " && " + name;
		statements += name + " = 1; ";
	}
	test::TestTarget target;
	const auto result = test::compile("BEGIN /" + predicate + "/ { " + statements + "}", target);
	INFO(result.diagnostics.render(true));
	CHECK_FALSE(result.diagnostics.failed());
}

TEST_CASE("unknown names are answered with the nearest known one, or what they are called here") {
	const struct {
		const char* source;
		const char* hint;
	} rows[] = {
	    {"BEGIN { trace(exename); }", "did you mean execname?"},
	    {"BEGIN { trace(comm); }", "in D this is execname"},
	    {"BEGIN { trace(nsecs); }", "in D this is timestamp"},
	    {"BEGIN { trace(strlne(\"a\")); }", "did you mean strlen?"},
	    {"struct s { int alpha; }; struct s v; BEGIN { trace(v.alhpa); }", "did you mean alpha?"},
	    {"#pragma D option bufsiez=1m\nBEGIN { }", "did you mean bufsize?"},
	    {"BEGIN { self->start = 1; trace(self->strat); }", "did you mean start?"},
	    {"syscall::read { trace(1); }",
	     "fields are counted from the right; did you mean 'syscall::read:'?"},
	    {"syscall { trace(1); }", "fields are counted from the right; did you mean 'syscall:::'?"},
	};
	for (const auto& row : rows) {
		test::TestTarget target;
		const auto result = test::compile(row.source, target);
		INFO(row.source);
		REQUIRE(result.diagnostics.errors() == 1);
		CHECK(result.diagnostics.all()[0].hint == row.hint);
	}
}

TEST_CASE("messages have file, line, column, the line and a caret; and dtrace's own first line") {
	test::TestTarget target;
	const auto result = test::compile("BEGIN\n{\n\ttrace(nosuch);\n}\n", target);
	CHECK(result.diagnostics.render(true).starts_with(
	    "test.d:3:8: error: failed to resolve nosuch: Unknown variable name [D_IDENT_UNDEF]\n"
	    "    \ttrace(nosuch);\n"
	    "    \t      ^\n"));
	CHECK(result.diagnostics.classic(false) == "line 3: failed to resolve nosuch: Unknown variable name");
	CHECK(result.diagnostics.classic(true) ==
	      "[D_IDENT_UNDEF] line 3: failed to resolve nosuch: Unknown variable name");
	CHECK(result.diagnostics.classic(false, 0, true) ==
	      "in action list: failed to resolve nosuch: Unknown variable name");
}

TEST_CASE("a mistake in a provider's probe is one error, and the next probe is read") {
	test::TestTarget target;
	const auto result = test::compile(
	    "provider foo { probe a(int, @b) : (int); probe c(); probe c(); }; BEGIN { trace(nosuch); }",
	    target);
	INFO(result.diagnostics.render(true));
	REQUIRE(result.diagnostics.errors() == 3);
	CHECK(result.diagnostics.all()[0].tag == "D_SYNTAX");
	CHECK(result.diagnostics.all()[1].tag == "D_PROV_PRDUP");
	CHECK(result.diagnostics.all()[2].tag == "D_IDENT_UNDEF");
	CHECK(test::compile("provider foo { probe a(", target).diagnostics.errors() == 1);
}

TEST_CASE("a character that is not ASCII is one error, at its own column") {
	const std::tuple<const char*, unsigned, const char*, const char*> rows[] = {
	    {"BEGIN { x = \xe2\x80\x9c; }", 13, "syntax error near \"\xe2\x80\x9c\"", "write a plain \""},
	    {"BEGIN {\xc2\xa0x = 1; }", 8, "syntax error near \"", "write a space"},
	    {"BEGIN { x = \xc3\xa9; }", 13, "syntax error near \"\xc3\xa9\"", "ASCII"},
	    {"BEGIN { x = \xff; }", 13, "syntax error near \"\\xff\"", "ASCII"},
	};
	for (const auto& [source, column, message, hint] : rows) {
		INFO(source);
		test::TestTarget target;
		const auto result = test::compile(source, target);
		REQUIRE(result.diagnostics.errors() == 1);
		const d::Diagnostic& one = result.diagnostics.all().front();
		CHECK(result.diagnostics.sources().locate(one.place).column == column);
		CHECK_THAT(one.message, Catch::StartsWith(message));
		CHECK_THAT(one.hint, Catch::Contains(hint));
	}
}

TEST_CASE("what is nested too deeply, or too big, is called so") {
	std::string chain = "BEGIN { if (pid == 0) { trace(0); }";
	for (unsigned i = 1; i < 150; i++)
		chain += " else if (pid == " + std::to_string(i) + ") { trace(0); }";
	const std::pair<std::string, const char*> rows[] = {
	    {chain + " }", "nested too deeply"},
	    {"struct s { char a[0x7fffffff]; char b[0x7fffffff]; }; struct t { struct s x[1]; };"
	     "struct u { struct t a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p; };"
	     "struct v { struct u a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p; }; BEGIN { }",
	     "is too big"},
	};
	for (const auto& [source, message] : rows) {
		test::TestTarget target;
		const auto result = test::compile(source, target);
		INFO(result.diagnostics.render(true));
		REQUIRE(result.diagnostics.errors() == 1);
		CHECK_THAT(result.diagnostics.all().front().message, Catch::Contains(message));
	}
}

TEST_CASE("an option's hint names its values") {
	test::TestTarget target;
	const auto result = test::compile("#pragma D option memory=foo\nBEGIN { }", target);
	CHECK_THAT(result.diagnostics.render(true), Catch::Contains("reserved"));
}

TEST_CASE("a probe has at most 255 arguments") {
	for (const size_t count : {255, 256}) {
		std::string source = "provider foo { probe a(int";
		for (size_t i = 1; i < count; i++)
			source += ", int";
		test::TestTarget target;
		const auto result = test::compile(source + "); }; BEGIN { }", target);
		CAPTURE(count);
		REQUIRE(result.diagnostics.errors() == (count > 255));
		if (count > 255)
			CHECK(result.diagnostics.all()[0].tag == "D_PROV_PRARGLEN");
	}
}

// LANGUAGE.md, section 11.
TEST_CASE("tracemem() and printm() compile up to their bounds") {
	for (const char* const source :
	     {"BEGIN { tracemem(arg0, 262144); }", "BEGIN { tracemem(arg0, 65535, arg1); }",
	      "BEGIN { printm(65535, memref(arg0, 4)); }"}) {
		test::TestTarget target;
		const auto result = test::compile(source, target);
		INFO(source);
		INFO(result.diagnostics.render(true));
		CHECK_FALSE(result.diagnostics.failed());
	}
}

TEST_CASE("an expression that needs more registers than there are keeps what waits in clause-locals") {
	test::TestTarget target;
	CHECK_FALSE(
	    test::compile("BEGIN { x = (pid+(pid+(pid+(pid+(pid+(pid+(pid+(pid+pid)))))))); }", target)
	        .diagnostics.failed());
}

TEST_CASE("where the clause-locals are used up, if and print() are refused") {
	std::string ifs = "BEGIN { ", locals;
	for (unsigned i = 0; i < 65000; i++) {
		ifs += "if(1){}";
		locals += "this int v" + std::to_string(i) + ";";
	}
	for (const std::string& source :
	     {ifs + " }", locals + "struct s { int a; }; struct s *p; BEGIN { print(p); }"}) {
		test::TestTarget target;
		const auto result = test::compile(source, target);
		REQUIRE(result.diagnostics.failed());
		CHECK(result.diagnostics.all()[0].tag == "D_ID_OFLOW");
	}
}

TEST_CASE("the text of an argument's type is no program", "[hostile]") {
	for (const char* const native : {"struct made { int a; } *", "int [made = 1]",
	                                 "\n#pragma D option quiet\nint", "int [$1]", "int [$made]"}) {
		test::TestTarget target;
		target.arguments[6] = {{.native = native}};
		d::CompileOptions options;
		options.arguments = {"5"};
		const auto result = test::compile(
		    "vfs_read:entry { trace(args[0]); trace(sizeof(struct made)); trace(made); }", target,
		    options);
		INFO(native);
		INFO(result.diagnostics.render(true));
		// args[0], the two names, and $1, which nothing refers to.
		REQUIRE(result.diagnostics.errors() == 4);
		CHECK(result.diagnostics.all()[0].tag == "D_ARGS_TYPE");
		CHECK(result.diagnostics.all()[3].tag == "D_MACRO_UNUSED");
	}
}

TEST_CASE("a bit-field that reaches into a ninth byte is refused, one in eight is not") {
	test::TestTarget target;
	const types::TypeRef packed = target.kernel.forward(types::Kind::Struct, "packed");
	const types::TypeRef word = target.kernel.integer("unsigned long", {.bits = 64, .is_signed = false});
	target.kernel.define(
	    packed,
	    std::vector<types::MemberSpec>{{"a", word, 4}, {"b", word, 60}, {"c", word, 4}, {"d", word, 61}},
	    {.most = 1});
	const std::string begin = "BEGIN { trace(((struct packed *)alloca(20))->";
	CHECK_FALSE(test::compile(begin + "b); }", target).diagnostics.failed());
	const auto result = test::compile(begin + "d); }", target);
	REQUIRE(result.diagnostics.errors() == 1);
	CHECK(result.diagnostics.all()[0].tag == "D_TYPE_MEMBER");
	CHECK_THAT(result.diagnostics.all()[0].message, Catch::Contains("ninth byte"));
}

TEST_CASE("what is larger than 4 GiB is said to be no smaller") {
	test::TestTarget target;
	const auto result = test::compile("struct s { char a[0x7fffffff], b[0x7fffffff], c[16]; };"
	                                  "BEGIN { trace(*(struct s *)arg0); }",
	                                  target);
	INFO(result.diagnostics.render(true));
	REQUIRE_FALSE(result.diagnostics.failed());
	CHECK(result.compiled.image.bodies.at(0).actions.at(0).difo->rtype.size == UINT32_MAX);
}

// The sanitizers say whether its size is computed within 64 bits.
TEST_CASE("a packed enum's constant of 64 bits is one error") {
	test::TestTarget target;
	d::CompileOptions options;
	options.preprocess = true;
	for (const char* const value : {"0x7fffffffffffffff", "-0x7fffffffffffffff"}) {
		const auto result = test::compile(std::string("enum e { B = -1, A = ") + value +
		                                      " } __attribute__((packed)); BEGIN { exit(0); }\n",
		                                  target, options);
		INFO(result.diagnostics.render(true));
		REQUIRE(result.diagnostics.errors() == 1);
		CHECK(result.diagnostics.all()[0].tag == "D_DECL_ENOFLOW");
	}
}

} // namespace d_errors_test
