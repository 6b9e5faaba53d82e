@@ error.SYNTAX | unit | wrong
BEGIN { printf( }
--tag D_SYNTAX

@@ error.SYNTAX.unclosed | unit | wrong
BEGIN { trace(1) 
--tag D_SYNTAX

@@ error.SYNTAX.nested-comment | lex.comment | wrong
/* /* nested */
BEGIN { exit(0); }
--tag D_SYNTAX

@@ error.SYNTAX.for | statements, lex.keyword | wrong
BEGIN { for (;;) ; }
--tag D_SYNTAX

@@ error.EMPTY | unit | wrong
--tag D_EMPTY

@@ error.TYPE_MEMBER | op.postfix, type.struct | wrong
struct s { int a; int b : 3; };
struct s v;
BEGIN { trace(v.nosuch); }
--tag D_TYPE_MEMBER

@@ error.PDESC_ZERO | probe.none | wrong
nosuch:::probe { trace(1); }
--tag D_PDESC_ZERO

@@ error.PDESC_INVAL | probe.form | wrong
a:b:c:d:e:f { trace(1); }
--tag D_PDESC_INVAL

@@ error.PRED_SCALAR | clause | wrong
struct s { int a; int b : 3; };
struct s v;
BEGIN /v/ { trace(1); }
--tag D_PRED_SCALAR

@@ error.FUNC_UNDEF | subr.call | wrong
BEGIN { nosuch(1); }
--tag D_FUNC_UNDEF

@@ error.FUNC_IDKIND | subr.call | wrong
BEGIN { pid(1); }
--tag D_FUNC_IDKIND

@@ error.OFFSETOF_TYPE | op.offsetof | wrong
BEGIN { trace(offsetof(int, x)); }
--tag D_OFFSETOF_TYPE

@@ error.OFFSETOF_BITFIELD | op.offsetof | wrong
struct s { int a; int b : 3; };
struct s v;
BEGIN { trace(offsetof(struct s, b)); }
--tag D_OFFSETOF_BITFIELD

@@ error.SIZEOF_TYPE | op.sizeof | wrong
BEGIN { trace(sizeof (void)); }
--tag D_SIZEOF_TYPE

@@ error.SIZEOF_BITFIELD | op.sizeof | wrong
struct s { int a; int b : 3; };
struct s v;
BEGIN { trace(sizeof (v.b)); }
--tag D_SIZEOF_BITFIELD

@@ error.STRINGOF_TYPE | op.stringof | wrong
struct s { int a; int b : 3; };
struct s v;
BEGIN { trace(stringof(v)); }
--tag D_STRINGOF_TYPE

@@ error.OP_INT | op.bits | wrong
BEGIN { trace("a" & 1); }
--tag D_OP_INT

@@ error.OP_INT.not | op.bits | wrong
BEGIN { trace(~"a"); }
--tag D_OP_INT

@@ error.OP_ARITH | op.multiply | wrong
BEGIN { trace("a" * 2); }
--tag D_OP_ARITH

@@ error.OP_SCALAR | op.unary | wrong
struct s { int a; int b : 3; };
struct s v;
BEGIN { trace(!v); }
--tag D_OP_SCALAR

@@ error.OP_LVAL | op.write | wrong
BEGIN { 1 = 2; }
--tag D_OP_LVAL

@@ error.OP_INCOMPAT | var.type, op.assign | wrong
BEGIN { x = 1; x = "a"; }
--tag D_OP_INCOMPAT

@@ error.OP_PTR | op.postfix | wrong
BEGIN { x = 1; trace(x->y); }
--tag D_OP_PTR

@@ error.OP_SOU | op.postfix | wrong
BEGIN { trace(((int *)0)->y); }
--tag D_OP_SOU

@@ error.AGG_REDEF | agg.form | wrong
BEGIN { @a = count(); @a = sum(1); }
--tag D_AGG_REDEF

@@ error.AGG_FUNC | agg.form | wrong
BEGIN { @a = strlen("x"); }
--tag D_AGG_FUNC

@@ error.AGG_NULL | agg.form | wrong
BEGIN { @a = count(); @a; }
--tag D_AGG_NULL

@@ error.AGG_SCALAR | agg.sum | wrong
struct s { int a; int b : 3; };
struct s v;
BEGIN { @a = sum(v); }
--tag D_AGG_SCALAR

@@ error.DIV_ZERO | op.zero | wrong
BEGIN { trace(1 / 0); }
--tag D_DIV_ZERO

@@ error.DIV_ZERO.modulo | op.zero | wrong
BEGIN { trace(1 % 0); }
--tag D_DIV_ZERO

@@ error.DEREF_NONPTR | op.load | wrong
BEGIN { trace(*1); }
--tag D_DEREF_NONPTR

@@ error.DEREF_VOID | op.load | wrong
BEGIN { trace(*(void *)0); }
--tag D_DEREF_VOID

@@ error.ADDROF_LVAL | op.address | wrong
BEGIN { trace(&1); }
--tag D_ADDROF_LVAL

@@ error.ADDROF_VAR | op.address | wrong
BEGIN { x = 1; trace(&x); }
--tag D_ADDROF_VAR

@@ error.ADDROF_BITFIELD | op.address | wrong
struct s { int a; int b : 3; };
struct s v;
this struct s *p;
BEGIN { trace(&(this->p->b)); }
--tag D_ADDROF_BITFIELD

@@ error.XLATE_REDECL | translator | wrong
struct in { int i; };
struct out { int o; int q; };
translator struct out < struct in *I > { o = I->i; };
translator struct out < struct in *I > { o = I->i; };
BEGIN { exit(0); }
--tag D_XLATE_REDECL

@@ error.XLATE_NOCONV | xlate | wrong
struct in { int i; };
struct out { int o; int q; };
translator struct out < struct in *I > { o = I->i; };
BEGIN { trace(xlate <struct out *>((struct in *)0)->q); }
--tag D_XLATE_NOCONV

@@ error.XLATE_NONE | xlate | wrong
struct in { int i; };
struct out { int o; int q; };
translator struct out < struct in *I > { o = I->i; };
BEGIN { trace(xlate <struct in *>((struct out *)0)->i); }
--tag D_XLATE_NONE

@@ error.XLATE_SOU | translator | wrong
translator int < int *I > { o = *I; };
BEGIN { exit(0); }
--tag D_XLATE_SOU

@@ error.XLATE_MEMB | translator | wrong
struct in { int i; };
struct out { int o; };
translator struct out < struct in *I > { nosuch = I->i; };
BEGIN { exit(0); }
--tag D_XLATE_MEMB

@@ error.CAST_INVAL | op.cast | wrong
struct s { int a; int b : 3; };
struct s v;
BEGIN { trace((struct s)1); }
--tag D_CAST_INVAL

@@ error.PRAGERR | pragma.ident | wrong
#pragma error stop here
BEGIN { exit(0); }
--tag D_PRAGERR

@@ error.PRAGERR.directive | pragma.ident | wrong
#error stop here
BEGIN { exit(0); }
--tag D_PRAGERR

@@ error.PRAGMA_INVAL | lex.control | wrong
#pragma D nosuch
BEGIN { exit(0); }
--tag D_PRAGMA_INVAL

@@ error.PRAGMA_MALFORM | lex.control | wrong
#pragma D option
BEGIN { exit(0); }
--tag D_PRAGMA_MALFORM

@@ error.PRAGMA_OPTSET | pragma.option, opt.unknown | wrong
#pragma D option nosuch
BEGIN { exit(0); }
--tag D_PRAGMA_OPTSET

@@ error.PRAGMA_OPTSET.value | pragma.option, opt.unknown | wrong
#pragma D option bufpolicy=nosuch
BEGIN { exit(0); }
--tag D_PRAGMA_OPTSET

@@ error.PRAGMA_DEPEND | pragma.depends | wrong
#pragma D depends_on provider nosuch
BEGIN { exit(0); }
--tag D_PRAGMA_DEPEND

@@ error.MACRO_UNDEF | macro.default | wrong
BEGIN { trace($1); }
--tag D_MACRO_UNDEF

@@ error.MACRO_UNDEF.name | macro.default | wrong
BEGIN { trace($nosuch); }
--tag D_MACRO_UNDEF

@@ error.MACRO_UNUSED | macro.unused | wrong
--args -xerrtags -qs $D 42
BEGIN { exit(0); }
--out
--errhas [D_MACRO_UNUSED]
--status 1
--end

@@ error.INT_OFLOW | lex.integer | wrong
BEGIN { trace(99999999999999999999); }
--tag D_INT_OFLOW

@@ error.INT_OFLOW.decimal-64 | lex.integer-type | wrong
BEGIN { trace(9223372036854775808); }
--tag D_INT_OFLOW

@@ error.INT_DIGIT | lex.integer | wrong
BEGIN { trace(089); }
--tag D_INT_DIGIT

@@ error.STR_NL | lex.string | wrong
BEGIN { trace("abc
"); }
--tag D_STR_NL

@@ error.CHR_NL | lex.char | wrong
BEGIN { trace('
'); }
--tag D_CHR_NL

@@ error.CHR_NULL | lex.char | wrong
BEGIN { trace(''); }
--tag D_CHR_NULL

@@ error.CHR_OFLOW | lex.char | wrong
BEGIN { trace('abcdefghi'); }
--tag D_CHR_OFLOW

@@ error.IDENT_UNDEF.global | var.undefined | wrong
BEGIN { trace(nosuch); }
--tag D_IDENT_UNDEF

@@ error.VAR_UNDEF.self | var.undefined, var.self | wrong
BEGIN { trace(self->nosuch); }
--tag D_VAR_UNDEF

@@ error.VAR_UNDEF.this | var.undefined, var.this | wrong
BEGIN { trace(this->nosuch); }
--tag D_VAR_UNDEF

@@ error.PROTO_LEN | subr.call | wrong
BEGIN { trace(strlen()); }
--tag D_PROTO_LEN

@@ error.PROTO_LEN.many | subr.call | wrong
BEGIN { trace(strlen("a", "b")); }
--tag D_PROTO_LEN

@@ error.PROTO_ARG | subr.call | wrong
BEGIN { trace(strlen(1)); }
--tag D_PROTO_ARG

@@ error.PROTO_LEN.key | var.key | wrong
BEGIN { a[1] = 1; trace(a[1, 2]); }
--tag D_PROTO_LEN

@@ error.PROTO_ARG.key | var.key | wrong
BEGIN { a[1] = 1; trace(a["x"]); }
--tag D_PROTO_ARG

@@ error.KEY_TYPE | var.key, var.assoc | wrong
int a[struct nosuch];
BEGIN { exit(0); }
--tag D_KEY_TYPE

@@ error.PRINTF_ARG_FMT | printf.form | wrong
BEGIN { s = "x"; printf(s); }
--tag D_PRINTF_ARG_FMT

@@ error.PRINTF_ARG_PROTO | printf.form | wrong
BEGIN { printf("%d"); }
--tag D_PRINTF_ARG_PROTO

@@ error.PRINTF_ARG_TYPE | printf.s | wrong
BEGIN { printf("%s", 1); }
--tag D_PRINTF_ARG_TYPE

@@ error.PRINTF_ARG_TYPE.string | printf.d | wrong
BEGIN { printf("%d", "x"); }
--tag D_PRINTF_ARG_TYPE

@@ error.PRINTF_ARG_EXTRA | printf.form | wrong
BEGIN { printf("x", 1); }
--tag D_PRINTF_ARG_EXTRA

@@ error.PRINTF_FMT_EMPTY | printf.form | wrong
BEGIN { printf(""); }
--tag D_PRINTF_FMT_EMPTY

@@ error.PRINTF_DYN_PROTO | printf.star | wrong
BEGIN { printf("%*d"); }
--tag D_PRINTF_DYN_PROTO

@@ error.PRINTF_DYN_TYPE | printf.star | wrong
BEGIN { printf("%*d", "a", 1); }
--tag D_PRINTF_DYN_TYPE

@@ error.PRINTF_AGG_CONV | printf.aggregation | wrong
BEGIN { printf("%@d", 1); }
--tag D_PRINTF_AGG_CONV

@@ error.DECL_CHARATTR | type.integer | wrong
short char x;
BEGIN { exit(0); }
--tag D_DECL_CHARATTR

@@ error.DECL_VOIDATTR | type.integer | wrong
unsigned void *x;
BEGIN { exit(0); }
--tag D_DECL_VOIDATTR

@@ error.DECL_SIGNINT | type.integer | wrong
unsigned float x;
BEGIN { exit(0); }
--tag D_DECL_SIGNINT

@@ error.DECL_LONGINT | type.integer | wrong
long float x;
BEGIN { exit(0); }
--tag D_DECL_LONGINT

@@ error.DECL_BADCLASS | var.extern | wrong
static int x;
BEGIN { exit(0); }
--tag D_DECL_BADCLASS

@@ error.DECL_COMBO | type.integer | wrong
int char x;
BEGIN { exit(0); }
--tag D_DECL_COMBO

@@ error.DECL_IDRED | var.name | wrong
int pid;
BEGIN { exit(0); }
--tag D_DECL_IDRED

@@ error.DECL_IDRED.type | var.name | wrong
int x;
string x;
BEGIN { exit(0); }
--tag D_DECL_IDRED

@@ error.DECL_MNAME | type.struct | wrong
struct t { int a; char a; };
BEGIN { exit(0); }
--tag D_DECL_MNAME

@@ error.DECL_BFSIZE | type.bitfield | wrong
struct t { int a : 40; };
BEGIN { exit(0); }
--tag D_DECL_BFSIZE

@@ error.DECL_BFTYPE | type.bitfield | wrong
struct t { float a : 3; };
BEGIN { exit(0); }
--tag D_DECL_BFTYPE

@@ error.DECL_BFCONST | type.bitfield | wrong
struct t { int a : 0; };
BEGIN { exit(0); }
--tag D_DECL_BFCONST

@@ error.DECL_ENOFLOW | type.enum | wrong
enum e { A = 0x7fffffff, B };
BEGIN { exit(0); }
--tag D_DECL_ENOFLOW

@@ error.DECL_USELESS | type.typedef | wrong
int;
BEGIN { exit(0); }
--tag D_DECL_USELESS

@@ error.DECL_LOCASSC | var.this | wrong
this int a[int];
BEGIN { exit(0); }
--tag D_DECL_LOCASSC

@@ error.DECL_VOIDOBJ | var.global | wrong
void x;
BEGIN { exit(0); }
--tag D_DECL_VOIDOBJ

@@ error.DECL_INCOMPLETE | type.struct | wrong
struct nosuch x;
BEGIN { exit(0); }
--tag D_DECL_INCOMPLETE

@@ error.DECL_TYPERED | type.typedef | wrong
typedef int t;
typedef string t;
BEGIN { exit(0); }
--tag D_DECL_TYPERED

@@ error.DECL_ARRNULL | type.array | wrong
int x[];
BEGIN { exit(0); }
--tag D_DECL_ARRNULL

@@ error.COMM_DREC | act.commit, act.order | wrong
BEGIN { trace(1); commit(1); }
--tag D_COMM_DREC

@@ error.SPEC_SPEC | act.speculate, act.order | wrong
BEGIN { speculate(1); speculate(2); }
--tag D_SPEC_SPEC

@@ error.SPEC_COMM | act.speculate, act.order | wrong
BEGIN { commit(1); speculate(1); }
--tag D_SPEC_COMM

@@ error.SPEC_DREC | act.speculate, act.order | wrong
BEGIN { trace(1); speculate(1); }
--tag D_SPEC_DREC

@@ error.AGG_COMM | act.order | wrong
BEGIN { commit(1); @ = count(); }
--tag D_AGG_COMM

@@ error.AGG_SPEC | act.order | wrong
BEGIN { speculate(1); @ = count(); }
--tag D_AGG_SPEC

@@ error.ACT_SPEC | act.order | wrong
--args -w -xerrtags -qs $D
BEGIN { speculate(1); stop(); }
--out
--errhas [D_ACT_SPEC]
--status 1
--end

@@ error.EXIT_SPEC | act.order, act.exit | wrong
BEGIN { speculate(1); exit(0); }
--tag D_EXIT_SPEC

@@ error.DREC_COMM | act.order | wrong
BEGIN { commit(1); trace(1); }
--tag D_DREC_COMM

@@ error.PRINTA_PROTO | agg.printa | wrong
BEGIN { printa(); }
--tag D_PRINTA_PROTO

@@ error.PRINTA_AGGARG | agg.printa | wrong
BEGIN { printa("%d", 1); }
--tag D_PRINTA_AGGARG

@@ error.PRINTA_AGGBAD | agg.printa | wrong
BEGIN { printa(@nosuch); }
--tag D_PRINTA_AGGBAD

@@ error.PRINTA_AGGKEY | agg.printa | wrong
BEGIN { @a[1] = count(); @b[1, 2] = count(); printa(@a, @b); }
--tag D_PRINTA_AGGKEY

@@ error.PRINTA_AGGPROTO | agg.printa | wrong
BEGIN { @a[1] = count(); @b["x"] = count(); printa(@a, @b); }
--tag D_PRINTA_AGGPROTO

@@ error.TRACE_AGG | act.trace | wrong
BEGIN { @a = count(); trace(@a); }
--tag D_TRACE_AGG

@@ error.TRACE_VOID | act.trace | wrong
BEGIN { trace((void)1); }
--tag D_TRACE_VOID

@@ error.TRACEMEM_SIZE | act.tracemem | wrong
BEGIN { tracemem(0xffff, 0); }
--tag D_TRACEMEM_SIZE

@@ error.SPEC_DREC.system | act.order | wrong
BEGIN { s = speculation(); system("true"); speculate(s); }
--args -ws $D
--tag D_SPEC_DREC

@@ error.DREC_COMM.freopen | act.order | wrong
BEGIN { s = speculation(); commit(s); freopen("a"); }
--args -ws $D
--tag D_DREC_COMM

@@ error.TRACEMEM_SIZE.large | act.tracemem | wrong
BEGIN { tracemem(0xffff, 262145); }
--tag D_TRACEMEM_SIZE

@@ error.STACK_PROTO | act.stack | wrong
BEGIN { stack(1, 2); }
--tag D_STACK_PROTO

@@ error.STACK_SIZE | act.stack | wrong
BEGIN { stack(0); }
--tag D_STACK_SIZE

@@ error.USTACK_FRAMES | act.ustack | wrong
BEGIN { ustack("a"); }
--tag D_USTACK_FRAMES

@@ error.LQUANT_BASETYPE | agg.lquantize | wrong
BEGIN { @ = lquantize(1, "a", 10); }
--tag D_LQUANT_BASETYPE

@@ error.LQUANT_LIMTYPE | agg.lquantize | wrong
BEGIN { @ = lquantize(1, 0, "a"); }
--tag D_LQUANT_LIMTYPE

@@ error.LQUANT_MISMATCH | agg.lquantize | wrong
BEGIN { @ = lquantize(1, 10, 0); }
--tag D_LQUANT_MISMATCH

@@ error.LQUANT_STEPTYPE | agg.lquantize | wrong
BEGIN { @ = lquantize(1, 0, 10, "a"); }
--tag D_LQUANT_STEPTYPE

@@ error.LQUANT_STEPVAL | agg.lquantize | wrong
BEGIN { @ = lquantize(1, 0, 10, 0); }
--tag D_LQUANT_STEPVAL

@@ error.LQUANT_STEPLARGE | agg.lquantize | wrong
BEGIN { @ = lquantize(1, 0, 10, 11); }
--tag D_LQUANT_STEPLARGE

@@ error.LQUANT_STEPSMALL.by-one | agg.lquantize | wrong
BEGIN { @ = lquantize(1, 0, 65533); }
--tag D_LQUANT_STEPSMALL

@@ error.LLQUANT_NSTEPVAL.words | agg.llquantize | wrong
BEGIN { @ = llquantize(1, 2, 0, 61, 32768); }
--tag D_LLQUANT_NSTEPVAL

@@ error.LQUANT_STEPSMALL | agg.lquantize | wrong
BEGIN { @ = lquantize(1, 0, 1000000, 1); }
--tag D_LQUANT_STEPSMALL

@@ error.LQUANT_BASEVAL | agg.lquantize | wrong
BEGIN { @ = lquantize(1, -3000000000, 10); }
--tag D_LQUANT_BASEVAL

@@ error.LQUANT_LIMVAL | agg.lquantize | wrong
BEGIN { @ = lquantize(1, 0, 3000000000); }
--tag D_LQUANT_LIMVAL

@@ error.LQUANT_MATCHBASE | agg.lquantize | wrong
BEGIN { @ = lquantize(1, 0, 10); @ = lquantize(1, 1, 10); }
--tag D_LQUANT_MATCHBASE

@@ error.LQUANT_MATCHLIM | agg.lquantize | wrong
BEGIN { @ = lquantize(1, 0, 10); @ = lquantize(1, 0, 11); }
--tag D_LQUANT_MATCHLIM

@@ error.LQUANT_MATCHSTEP | agg.lquantize | wrong
BEGIN { @ = lquantize(1, 0, 10, 1); @ = lquantize(1, 0, 10, 2); }
--tag D_LQUANT_MATCHSTEP

@@ error.LLQUANT_FACTORTYPE | agg.llquantize | wrong
BEGIN { @ = llquantize(1, "a", 0, 2, 10); }
--tag D_LLQUANT_FACTORTYPE

@@ error.LLQUANT_FACTORVAL | agg.llquantize | wrong
BEGIN { @ = llquantize(1, 70000, 0, 2, 70000); }
--tag D_LLQUANT_FACTORVAL

@@ error.LLQUANT_FACTORSMALL | agg.llquantize | wrong
BEGIN { @ = llquantize(1, 1, 0, 2, 10); }
--tag D_LLQUANT_FACTORSMALL

@@ error.LLQUANT_LOWTYPE | agg.llquantize | wrong
BEGIN { @ = llquantize(1, 10, "a", 2, 10); }
--tag D_LLQUANT_LOWTYPE

@@ error.LLQUANT_LOWVAL | agg.llquantize | wrong
BEGIN { @ = llquantize(1, 10, 70000, 2, 10); }
--tag D_LLQUANT_LOWVAL

@@ error.LLQUANT_HIGHTYPE | agg.llquantize | wrong
BEGIN { @ = llquantize(1, 10, 0, "a", 10); }
--tag D_LLQUANT_HIGHTYPE

@@ error.LLQUANT_HIGHVAL | agg.llquantize | wrong
BEGIN { @ = llquantize(1, 10, 0, 70000, 10); }
--tag D_LLQUANT_HIGHVAL

@@ error.LLQUANT_MAGRANGE | agg.llquantize | wrong
BEGIN { @ = llquantize(1, 10, 2, 1, 10); }
--tag D_LLQUANT_MAGRANGE

@@ error.LLQUANT_MAGTOOBIG | agg.llquantize | wrong
BEGIN { @ = llquantize(1, 10, 0, 40, 10); }
--tag D_LLQUANT_MAGTOOBIG

@@ error.LLQUANT_NSTEPTYPE | agg.llquantize | wrong
BEGIN { @ = llquantize(1, 10, 0, 2, "a"); }
--tag D_LLQUANT_NSTEPTYPE

@@ error.LLQUANT_NSTEPVAL | agg.llquantize | wrong
BEGIN { @ = llquantize(1, 10, 0, 2, 70000); }
--tag D_LLQUANT_NSTEPVAL

@@ error.LLQUANT_FACTORNSTEPS | agg.llquantize | wrong
BEGIN { @ = llquantize(1, 10, 0, 2, 4); }
--tag D_LLQUANT_FACTORNSTEPS

@@ error.LLQUANT_FACTOREVEN | agg.llquantize | wrong
BEGIN { @ = llquantize(1, 10, 0, 2, 15); }
--tag D_LLQUANT_FACTOREVEN

@@ error.LLQUANT_FACTORMATCH | agg.llquantize | wrong
BEGIN { @ = llquantize(1, 10, 0, 2, 10); @ = llquantize(1, 2, 0, 2, 2); }
--tag D_LLQUANT_FACTORMATCH

@@ error.LLQUANT_LOWMATCH | agg.llquantize | wrong
BEGIN { @ = llquantize(1, 10, 0, 2, 10); @ = llquantize(1, 10, 1, 2, 10); }
--tag D_LLQUANT_LOWMATCH

@@ error.LLQUANT_HIGHMATCH | agg.llquantize | wrong
BEGIN { @ = llquantize(1, 10, 0, 2, 10); @ = llquantize(1, 10, 0, 3, 10); }
--tag D_LLQUANT_HIGHMATCH

@@ error.LLQUANT_NSTEPMATCH | agg.llquantize | wrong
BEGIN { @ = llquantize(1, 10, 0, 2, 10); @ = llquantize(1, 10, 0, 2, 20); }
--tag D_LLQUANT_NSTEPMATCH

@@ error.CLEAR_PROTO | agg.clear | wrong
BEGIN { clear(); }
--tag D_CLEAR_PROTO

@@ error.CLEAR_AGGARG | agg.clear | wrong
BEGIN { clear(1); }
--tag D_CLEAR_AGGARG

@@ error.CLEAR_AGGBAD | agg.clear | wrong
BEGIN { clear(@nosuch); }
--tag D_CLEAR_AGGBAD

@@ error.NORMALIZE_PROTO | agg.normalize | wrong
BEGIN { @a = count(); normalize(@a); }
--tag D_NORMALIZE_PROTO

@@ error.NORMALIZE_AGGARG | agg.normalize | wrong
BEGIN { normalize(1, 2); }
--tag D_NORMALIZE_AGGARG

@@ error.NORMALIZE_AGGBAD | agg.normalize | wrong
BEGIN { normalize(@nosuch, 2); }
--tag D_NORMALIZE_AGGBAD

@@ error.NORMALIZE_SCALAR | agg.normalize | wrong
struct s { int a; int b : 3; };
struct s v;
BEGIN { @a = count(); normalize(@a, v); }
--tag D_NORMALIZE_SCALAR

@@ error.TRUNC_PROTO | agg.trunc | wrong
BEGIN { trunc(); }
--tag D_TRUNC_PROTO

@@ error.TRUNC_AGGARG | agg.trunc | wrong
BEGIN { trunc(1); }
--tag D_TRUNC_AGGARG

@@ error.TRUNC_AGGBAD | agg.trunc | wrong
BEGIN { trunc(@nosuch); }
--tag D_TRUNC_AGGBAD

@@ error.TRUNC_SCALAR | agg.trunc | wrong
struct s { int a; int b : 3; };
struct s v;
BEGIN { @a = count(); trunc(@a, v); }
--tag D_TRUNC_SCALAR

@@ error.FREOPEN_INVALID | act.freopen | wrong
--args -w -xerrtags -qs $D
BEGIN { freopen("."); }
--out
--errhas [D_FREOPEN_INVALID]
--status 1
--end

@@ error.PROV_BADNAME | provider | wrong
provider foo1 { probe p(int); };
BEGIN { exit(0); }
--tag D_PROV_BADNAME

@@ error.ARGS_TYPE | builtin.args | wrong
BEGIN { trace(args["x"]); }
--tag D_ARGS_TYPE

@@ error.PRAGMA_SCOPE | pragma.attributes | wrong
#pragma D attributes Stable/Stable/Common execname
BEGIN { exit(0); }
--tag D_PRAGMA_SCOPE

@@ error.PRAGMA_UNUSED | pragma.attributes | wrong
#pragma D attributes Stable/Stable/Common nosuch
BEGIN { exit(0); }
--tag D_PRAGMA_UNUSED

@@ error.OP_IDENT | op.write | wrong
struct s { int a; };
struct s *p;
BEGIN { trace(p->1); }
--tag D_OP_IDENT

@@ error.OP_VFPTR | type.pointer | wrong
void *p;
BEGIN { p++; }
--tag D_OP_VFPTR

@@ error.IDENT_AMBIG | var.undefined | wrong
enum e { A, B };
int B;
BEGIN { trace(B); }
--tag D_IDENT_AMBIG

@@ error.SYM_NOTYPES | lex.scoped | wrong | kernel
BEGIN { trace(`panic_on_warn); }
--tag D_SYM_NOTYPES

@@ error.DECL_PROTO_TYPE | type.pointer | wrong
inline int f[void v] = 1;
BEGIN { exit(0); }
--tag D_DECL_PROTO_TYPE

@@ error.DECL_PROTO_FORM | type.pointer | wrong
inline int f[int] = 1;
BEGIN { exit(0); }
--tag D_DECL_PROTO_FORM

@@ error.DECL_DYNOBJ | agg.form | wrong
int @total;
BEGIN { exit(0); }
--tag D_DECL_DYNOBJ

@@ error.PROV_INCOMPAT | provider | wrong
provider foo { probe p(int); };
provider foo { probe p(int, int); };
BEGIN { exit(0); }
--tag D_PROV_INCOMPAT

@@ error.PROV_PRXLATOR | provider | wrong
struct o { int a; };
provider foo { probe p(int *x) : (struct o *x); };
BEGIN { exit(0); }
--tag D_PROV_PRXLATOR

@@ op.assign.key-once | op.assign | boundary
int k;
int a[int];
BEGIN
{
	a[3] = 5;
	k = 3;
	a[k++] += 10;
	printf("%d %d %d\n", k, a[3], a[4]);
	a[k++]++;
	++a[k++];
	printf("%d %d %d\n", k, a[4], a[5]);
	a[k] += k++;
	printf("%d %d %d\n", k, a[6], a[7]);
	self->s["x", k--] -= 1;
	printf("%d %d\n", k, self->s["x", 7]);
	exit(0);
}
--out
4 15 0
6 1 1
7 6 0
6 -1

--end

@@ op.assign.address-once | op.assign | boundary
BEGIN
{
	this->p = (int *)alloca(16);
	this->p[0] = 1;
	this->p[1] = 2;
	this->p[2] = 4;
	this->q = this->p;
	*this->q++ += 10;
	(*this->q++)++;
	printf("%d %d %d %d\n", this->p[0], this->p[1], this->p[2], (int)(this->q - this->p));
	exit(0);
}
--out
11 3 4 2

--end

@@ expression.deep | op.multiply, op.add | boundary
int a[int, int];
BEGIN
{
	x = 2;
	printf("%d\n", x*(x+(x*(x+(x*(x+(x*(x+(x*(x+(x*(x+x))))))))))));
	printf("%d\n", (x+1)*((x+2)-((x+3)*((x+4)-((x+5)*((x+6)-((x+7)*((x+8)-((x+9)-(x+10))))))))));
	printf("%d\n", (x+0) < ((x+1) < ((x+2) < ((x+3) < ((x+4) < ((x+5) < ((x+6) < ((x+7) < (x+8)))))))));
	a[x+1, x+2] = 7;
	printf("%d\n", (x+1)+((x+2)+((x+3)+((x+4)+((x+5)+((x+6)+((x+7)+((x+8)+a[x+1, x+2]))))))));
	a[x+1, (x+1)+((x+2)+((x+3)+((x+4)+((x+5)+((x+6)+((x+7)+(x+8)))))))] = (x+1)+((x+2)+((x+3)+((x+4)+((x+5)+((x+6)+((x+7)+(x+8)))))));
	printf("%d\n", a[3, 52]);
	printf("%s\n", strjoin(strjoin("a", strjoin("b", strjoin("c", strjoin("d", "e")))), strjoin(strjoin("f", strjoin("g", strjoin("h", "i"))), strjoin("j", substr("xyz", (x+4)-((x+2)-((x+3)-((x+4)-((x+5)-((x+6)-((x+7)-(x+6))))))))))));
	exit(0);
}
--out
380
-9633
0
59
52
abcdefghijyz

--end

@@ error.PROC_NODEV | probe.form | wrong
pid1:libc:malloc:entry { exit(0); }
--tag D_PROC_NODEV

@@ error.PROC_BADPROV | probe.form | wrong
pid1x:libc:malloc:entry { exit(0); }
--tag D_PROC_BADPROV

@@ error.PROC_BADPID | probe.form | wrong
pid0:libc:malloc:entry { exit(0); }
--tag D_PROC_BADPID

@@ error.PROC_OFF | probe.form | wrong
pid1:libc:malloc:begin { exit(0); }
--tag D_PROC_OFF

@@ error.PROV_PRARGLEN | provider | wrong
provider foo { probe p(
	int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int,
	int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int,
	int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int,
	int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int,
	int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int,
	int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int,
	int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int,
	int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int,
	int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int,
	int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int,
	int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int,
	int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int,
	int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int); };
BEGIN { exit(0); }
--tag D_PROV_PRARGLEN

@@ probe.host | probe.form | boundary
*:dtrace:::BEGIN { printf("any\n"); }
[0-9]*.*:dtrace:::BEGIN { printf("this release\n"); }
no.such.host:dtrace:::BEGIN { printf("elsewhere\n"); }
BEGIN { exit(0); }
--out
any
this release

--end

@@ error.TYPE_ERR | op.sizeof | wrong
BEGIN { x = sizeof (enum nosuch); }
--tag D_TYPE_ERR

@@ error.OP_INCOMPLETE | op.pointer | wrong
struct t;
BEGIN { x = (struct t *)arg0; y = x + 1; }
--tag D_OP_INCOMPLETE

@@ error.OP_DYN | xlate | wrong
struct o { int a; };
translator struct o < int i > { a = i; };
BEGIN { x = xlate <struct o>(1); }
--tag D_OP_DYN

@@ error.AGG_MDIM | agg.form | wrong
BEGIN { @a[1][2] = count(); }
--tag D_AGG_MDIM

@@ error.ARR_BADREF | var.assoc | wrong
BEGIN { x[1] = 2; trace(x); }
--tag D_ARR_BADREF

@@ error.ARR_LOCAL | var.this | wrong
BEGIN { this->x[1] = 2; }
--tag D_ARR_LOCAL

@@ error.ARR_BOUNDS | type.array | wrong
struct s { int a[3]; };
struct s v;
BEGIN { trace(v.a[3]); }
--tag D_ARR_BOUNDS

@@ error.DEREF_FUNC | op.load | wrong | kernel
BEGIN { x = *&`vfs_read; }
--tag D_DEREF_FUNC

@@ error.XLATE_INCOMPAT | translator | wrong
struct o { int a; };
translator struct o < int i > { a = "x"; };
BEGIN { trace(xlate <struct o>(1).a); }
--tag D_XLATE_INCOMPAT

@@ error.IDENT_BADREF | inline.plain | wrong
inline int loop = loop + 1;
BEGIN { trace(loop); }
--tag D_IDENT_BADREF

@@ error.SYM_BADREF | lex.scoped | wrong
BEGIN { trace(pid1`lib`sym); }
--tag D_SYM_BADREF

@@ error.DECL_IDENT | var.global | wrong
int *;
BEGIN { exit(0); }
--tag D_DECL_IDENT

@@ error.DECL_CLASS | var.extern | wrong
extern typedef int x;
BEGIN { exit(0); }
--tag D_DECL_CLASS

@@ error.DECL_PARMCLASS | type.pointer | wrong
extern int f(self int x);
BEGIN { exit(0); }
--tag D_DECL_PARMCLASS

@@ error.DECL_SCOPE | var.global | wrong
int vmlinux`x;
BEGIN { exit(0); }
--tag D_DECL_SCOPE

@@ error.DECL_PROTO_NAME | var.assoc | wrong
int x[int key];
BEGIN { exit(0); }
--tag D_DECL_PROTO_NAME

@@ error.NOREG | opt.compile | wrong
--args -x iregs=2 -xerrtags -qs $D
BEGIN { x = pid + uid; exit(0); }
--out
--errhas [D_NOREG]
--status 1
--end

@@ error.FUNC_IDENT | op.postfix | wrong
BEGIN { this->f = 1; this->f(1); }
--tag D_FUNC_IDENT

@@ error.OP_ARRFUN | op.pointer | wrong
typedef int f_t(int);
f_t *p;
BEGIN { x = p + 1; }
--tag D_OP_ARRFUN

@@ error.ARGS_XLATOR | probe.args | wrong | kernel
--args -x nolibs -xerrtags -qs $D
typedef struct psinfo { int pr_pid; } psinfo_t;
proc:::create { trace(args[0]->pr_pid); }
--out
--errhas [D_ARGS_XLATOR]
--status 1
--end

@@ cmd.anonymous.save | cmd.anonymous | normal
--args -A -o saved.dof -n 'BEGIN { trace(1); }' | cat; head -c 4 saved.dof | tail -c 3
--out!
DOF
--end

@@ cmd.anonymous.later | cmd.anonymous | boundary
--args -A -q -o later.dof -n 'nosuch:::later { @ = count(); }' | cat; head -c 4 later.dof | tail -c 3
--out!
DOF
--end

@@ error.ID_OFLOW | var.global | wrong | process
--args -V | cat >/dev/null; awk 'BEGIN { for (i = 0; i < 65536; i++) print "int v" i ";"; print "BEGIN { exit(0); }" }' >many.d; "$dtrace" -x engine=$engine -xerrtags -qs many.d
--out
--errhas [D_ID_OFLOW]
--status 1
--end

@@ again.PROTO_LEN.agg-keys | agg.form | wrong
BEGIN { @a[1] = count(); @a[1, 2] = count(); exit(0); }
--tag D_PROTO_LEN

@@ again.PROTO_LEN.agg-no-key | agg.form | wrong
BEGIN { @a = count(); @a["x"] = count(); exit(0); }
--tag D_PROTO_LEN

@@ again.PROTO_ARG.agg-key | agg.form | wrong
BEGIN { @a["x"] = sum(1); @a[1] = sum(1); exit(0); }
--tag D_PROTO_ARG

@@ again.SYNTAX.agg-no-keys | agg.form | wrong
BEGIN { @a[] = count(); exit(0); }
--tag D_SYNTAX

@@ again.SYNTAX.array-no-index | var.assoc | wrong
BEGIN { a[] = 1; exit(0); }
--tag D_SYNTAX

@@ again.printa.type-of-key | agg.printa | wrong
BEGIN { @a["x"] = count(); printa("%d %@d\n", @a); exit(0); }
--tag D_PRINTF_ARG_TYPE

@@ again.printa.type-of-second-key | agg.printa | wrong
BEGIN { @a[1, 2] = count(); printa("%d %s %@d\n", @a); exit(0); }
--tag D_PRINTF_ARG_TYPE

@@ again.printa.type-of-value | agg.printa, printf.aggregation | wrong
BEGIN { @a["x"] = count(); printa("%s %@s\n", @a); exit(0); }
--tag D_PRINTF_ARG_TYPE

@@ again.printa.star | agg.printa, printf.star | wrong
BEGIN { @a["x"] = count(); printa("%*s %@d\n", @a); exit(0); }
--tag D_PRINTF_DYN_TYPE

@@ again.PRINTF_ARG_TYPE.aggregation | printf.aggregation | wrong
BEGIN { @a = count(); printf("%d\n", @a); exit(0); }
--tag D_PRINTF_ARG_TYPE

@@ again.PRINTF_AGG_CONV.system | printf.aggregation, act.system | wrong
--args -wqs $D
BEGIN { system("echo %@d", 1); exit(0); }
--tag D_PRINTF_AGG_CONV

@@ again.SYNTAX.conversion | printf.form | wrong
BEGIN { printf("%q\n", 1); exit(0); }
--tag D_SYNTAX

@@ again.SYNTAX.conversion-ends | printf.form | wrong
BEGIN { printf("abc%", 1); exit(0); }
--tag D_SYNTAX

@@ again.SYNTAX.conversion-printa | agg.printa | wrong
BEGIN { @a = count(); printa("%@q\n", @a); exit(0); }
--tag D_SYNTAX

@@ again.DECL_MNAME.none | type.struct | wrong
struct s { int; };
BEGIN { exit(0); }
--tag D_DECL_MNAME

@@ again.DECL_MNAME.pointer | type.struct, type.pointer | wrong
struct s { int a; char *; };
BEGIN { exit(0); }
--tag D_DECL_MNAME

@@ again.DECL_VOIDOBJ.member | type.struct | wrong
struct s { void x; };
BEGIN { exit(0); }
--tag D_DECL_VOIDOBJ

@@ again.DECL_VOIDOBJ.function-member | type.struct | wrong
struct s { int f(int); };
BEGIN { exit(0); }
--tag D_DECL_VOIDOBJ

@@ again.DECL_INCOMPLETE.member | type.struct | wrong
struct s { struct later x; };
BEGIN { exit(0); }
--tag D_DECL_INCOMPLETE

@@ again.DECL_SIGNINT.string | type.string | wrong
unsigned string x;
BEGIN { exit(0); }
--tag D_DECL_SIGNINT

@@ again.DECL_SIGNINT.struct | type.struct | wrong
unsigned struct s { int a; } x;
BEGIN { exit(0); }
--tag D_DECL_SIGNINT

@@ again.DECL_LONGINT.string | type.string | wrong
long string x;
BEGIN { exit(0); }
--tag D_DECL_LONGINT

@@ again.DECL_ARRSUB.zero | type.array | wrong
int a[0];
BEGIN { exit(0); }
--tag D_DECL_ARRSUB

@@ again.DECL_IDRED.typedef | type.typedef | wrong
int x;
typedef int x;
BEGIN { exit(0); }
--tag D_DECL_IDRED

@@ again.DECL_TYPERED.variable | type.typedef | wrong
typedef int x;
int x;
BEGIN { exit(0); }
--tag D_DECL_TYPERED

@@ again.inline.unused-undefined | inline.plain | wrong
inline int x = nosuch;
BEGIN { exit(0); }
--tag D_IDENT_UNDEF

@@ again.inline.unused-type | inline.plain | wrong
inline int x = "a";
BEGIN { exit(0); }
--tag D_OP_INCOMPAT

@@ again.inline.unused-array | inline.parameters | wrong
inline string x[int a, string b] = strjoin(a, b);
BEGIN { exit(0); }
--tag D_PROTO_ARG

@@ again.XLATE_INCOMPAT.unused | translator | wrong
struct o { int a; };
translator struct o < int p > { a = "x"; };
BEGIN { exit(0); }
--tag D_XLATE_INCOMPAT

@@ again.translator.unused-member | translator | wrong
struct i { int q; };
struct o { int a; };
translator struct o < struct i *p > { a = p->nosuch; };
BEGIN { exit(0); }
--tag D_TYPE_MEMBER

@@ again.PRAGMA_MALFORM.two-words | pragma.option | wrong
#pragma D option bufsize=10k extra
BEGIN { exit(0); }
--tag D_PRAGMA_MALFORM

@@ again.PRAGMA_INVAL.version | pragma.binding | wrong
inline int x = 3;
#pragma D binding "abc" x
BEGIN { exit(0); }
--tag D_PRAGMA_INVAL

@@ again.nspec.negative | opt.nspec | wrong
#pragma D option nspec=-1
BEGIN { exit(0); }
--tag D_PRAGMA_OPTSET

@@ again.PDESC_INVAL.zero | probe.id | wrong
0 { exit(0); }
--tag D_PDESC_INVAL

@@ again.PDESC_INVAL.huge | probe.id | wrong
99999999999999999999 { exit(0); }
--tag D_PDESC_INVAL

@@ again.SPEC_DREC.aggregation | act.speculate | wrong
BEGIN { @a = count(); speculate(1); exit(0); }
--tag D_SPEC_DREC

@@ again.COMM_DREC.aggregation | act.commit | wrong
BEGIN { @a = count(); commit(1); }
--tag D_COMM_DREC

@@ again.OP_INCOMPLETE.dereference | op.load, type.struct | wrong
struct later;
BEGIN { x = *(struct later *)8; exit(0); }
--tag D_OP_INCOMPLETE

@@ again.SYNTAX.keyword-member | lex.keyword | wrong
struct s { int while; };
BEGIN { exit(0); }
--tag D_SYNTAX

@@ edge.integer.two-to-64 | lex.integer | wrong
BEGIN { x = 18446744073709551616; exit(0); }
--tag D_INT_OFLOW

@@ edge.llquantize.too-big | agg.llquantize | wrong
BEGIN { @ = llquantize(1, 16, 0, 15, 16); exit(0); }
--tag D_LLQUANT_MAGTOOBIG

@@ edge.lquantize.base-is-limit | agg.lquantize | wrong
BEGIN { @ = lquantize(1, 5, 5); exit(0); }
--tag D_LQUANT_MISMATCH

@@ edge.printf.time-of-int | printf.Y | wrong
BEGIN { printf("%Y\n", 5); exit(0); }
--tag D_PRINTF_ARG_TYPE

@@ habit.predicate.string | clause | wrong
BEGIN /execname/ { exit(0); }
--tag D_PRED_SCALAR

@@ habit.if.string | if-else | wrong
BEGIN { if ("a") exit(0); }
--tag D_PRED_SCALAR

@@ habit.not.string | op.unary | wrong
BEGIN { trace(!execname); }
--tag D_OP_SCALAR

@@ habit.and.string | op.logical | wrong
BEGIN { trace(1 && probename); }
--tag D_OP_SCALAR

@@ habit.choice.string | op.conditional | wrong
BEGIN { trace(execname ? 1 : 2); }
--tag D_OP_SCALAR

@@ habit.int-pointer.from-string | var.type, op.assign | wrong
int *s;
BEGIN { s = "abc"; exit(0); }
--tag D_OP_INCOMPAT

@@ habit.commit.then-trace | act.commit, act.order | wrong
BEGIN { commit(1); commit(2); trace(1); }
--tag D_DREC_COMM

@@ habit.commit.then-speculate | act.commit, act.order | wrong
BEGIN { commit(1); commit(2); speculate(3); }
--tag D_SPEC_COMM

@@ habit.llquantize.no-divisor | agg.llquantize | wrong
BEGIN { @ = llquantize(1, 10, 0, 2, 3); }
--tag D_LLQUANT_FACTORNSTEPS

@@ habit.llquantize.no-steps | agg.llquantize | wrong
BEGIN { @ = llquantize(1, 10, 0, 2, 0); }
--tag D_LLQUANT_FACTORNSTEPS

@@ habit.predicate.made-later | clause, var.undefined | wrong
BEGIN /x == 0/ { y = 1; }
BEGIN { x = 1; }
--tag D_IDENT_UNDEF

@@ habit.predicate.own-string | clause, op.string | wrong
BEGIN /x == 1/ { x = "a"; }
--tag D_OP_INCOMPAT

@@ habit.choice.value | action-place, op.conditional | wrong
BEGIN { x = 1 ? printf("a") : printf("b"); }
--tag D_OP_ACT

@@ habit.choice.string | if-else, op.conditional | wrong
BEGIN { execname ? printf("a") : printf("b"); }
--tag D_PRED_SCALAR

@@ habit.null.loaded | builtin.constants, op.address | wrong
BEGIN { trace(*NULL); }
--tag D_DEREF_NONPTR

@@ habit.char.nine | lex.char | wrong
BEGIN { trace('abcdefghi'); }
--tag D_CHR_OFLOW

@@ habit.key.other-struct | var.key | wrong
struct p { int x; };
struct q { int x; };
struct p v;
struct q w;
BEGIN { a[v] = 1; trace(a[w]); }
--tag D_PROTO_ARG

@@ habit.printa.star-no-key | printf.star, agg.printa | wrong
BEGIN { @a = count(); printa("%*d\n", @a); }
--tag D_PRINTF_DYN_PROTO

@@ habit.printa.star-last-key | printf.star, agg.printa | wrong
BEGIN { @a[1] = count(); printa("%*d %@d\n", @a); }
--tag D_PRINTF_ARG_PROTO

@@ habit.printa.other-keys | agg.printa | wrong
BEGIN { @c["a"] = count(); @q[1] = quantize(1); printa(@c, @q); }
--tag D_PRINTA_AGGPROTO

@@ habit.print.nothing | act.print | wrong
struct empty { };
struct empty *e;
BEGIN { print(*e); }
--tag D_PRINT_SIZE

@@ habit.print.void | act.print | wrong
BEGIN { print(bcopy(alloca(1), alloca(1), 1)); }
--tag D_PRINT_VOID
