@wrong D_SYNTAX | error.SYNTAX | unit | BEGIN { printf( }
@wrong D_SYNTAX | error.SYNTAX.unclosed | unit | BEGIN { trace(1) 

@@ error.SYNTAX.nested-comment | lex.comment | wrong
/* /* nested */
BEGIN { exit(0); }
--tag D_SYNTAX

@wrong D_SYNTAX | error.SYNTAX.for | statements, lex.keyword | BEGIN { for (;;) ; }

@@ error.EMPTY | unit | wrong
--tag D_EMPTY

@wrong D_TYPE_MEMBER | error.TYPE_MEMBER | op.postfix, type.struct | struct s { int a; int b : 3; }; struct s v; BEGIN { trace(v.nosuch); }
@wrong D_PDESC_ZERO | error.PDESC_ZERO | probe.none | nosuch:::probe { trace(1); }
@wrong D_PDESC_INVAL | error.PDESC_INVAL | probe.form | a:b:c:d:e:f { trace(1); }
@wrong D_PRED_SCALAR | error.PRED_SCALAR | clause | struct s { int a; int b : 3; }; struct s v; BEGIN /v/ { trace(1); }
@wrong D_FUNC_UNDEF | error.FUNC_UNDEF | subr.call | BEGIN { nosuch(1); }
@wrong D_FUNC_IDKIND | error.FUNC_IDKIND | subr.call | BEGIN { pid(1); }
@wrong D_OFFSETOF_TYPE | error.OFFSETOF_TYPE | op.offsetof | BEGIN { trace(offsetof(int, x)); }

@@ error.OFFSETOF_BITFIELD | op.offsetof | wrong
struct s { int a; int b : 3; };
struct s v;
BEGIN { trace(offsetof(struct s, b)); }
--tag D_OFFSETOF_BITFIELD

@wrong D_SIZEOF_TYPE | error.SIZEOF_TYPE | op.sizeof | BEGIN { trace(sizeof (void)); }
@wrong D_SIZEOF_BITFIELD | error.SIZEOF_BITFIELD | op.sizeof | struct s { int a; int b : 3; }; struct s v; BEGIN { trace(sizeof (v.b)); }
@wrong D_STRINGOF_TYPE | error.STRINGOF_TYPE | op.stringof | struct s { int a; int b : 3; }; struct s v; BEGIN { trace(stringof(v)); }
@wrong D_OP_INT | error.OP_INT | op.bits | BEGIN { trace("a" & 1); }
@wrong D_OP_INT | error.OP_INT.not | op.bits | BEGIN { trace(~"a"); }
@wrong D_OP_ARITH | error.OP_ARITH | op.multiply | BEGIN { trace("a" * 2); }
@wrong D_OP_SCALAR | error.OP_SCALAR | op.unary | struct s { int a; int b : 3; }; struct s v; BEGIN { trace(!v); }
@wrong D_OP_LVAL | error.OP_LVAL | op.write | BEGIN { 1 = 2; }
@wrong D_OP_INCOMPAT | error.OP_INCOMPAT | var.type, op.assign | BEGIN { x = 1; x = "a"; }
@wrong D_OP_PTR | error.OP_PTR | op.postfix | BEGIN { x = 1; trace(x->y); }
@wrong D_OP_SOU | error.OP_SOU | op.postfix | BEGIN { trace(((int *)0)->y); }
@wrong D_AGG_REDEF | error.AGG_REDEF | agg.form | BEGIN { @a = count(); @a = sum(1); }
@wrong D_AGG_FUNC | error.AGG_FUNC | agg.form | BEGIN { @a = strlen("x"); }
@wrong D_AGG_NULL | error.AGG_NULL | agg.form | BEGIN { @a = count(); @a; }
@wrong D_AGG_SCALAR | error.AGG_SCALAR | agg.sum | struct s { int a; int b : 3; }; struct s v; BEGIN { @a = sum(v); }
@wrong D_DIV_ZERO | error.DIV_ZERO | op.zero | BEGIN { trace(1 / 0); }
@wrong D_DIV_ZERO | error.DIV_ZERO.modulo | op.zero | BEGIN { trace(1 % 0); }
@wrong D_DEREF_NONPTR | error.DEREF_NONPTR | op.load | BEGIN { trace(*1); }
@wrong D_DEREF_VOID | error.DEREF_VOID | op.load | BEGIN { trace(*(void *)0); }
@wrong D_ADDROF_LVAL | error.ADDROF_LVAL | op.address | BEGIN { trace(&1); }
@wrong D_ADDROF_VAR | error.ADDROF_VAR | op.address | BEGIN { x = 1; trace(&x); }

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

@wrong D_XLATE_SOU | error.XLATE_SOU | translator | translator int < int *I > { o = *I; }; BEGIN { exit(0); }

@@ error.XLATE_MEMB | translator | wrong
struct in { int i; };
struct out { int o; };
translator struct out < struct in *I > { nosuch = I->i; };
BEGIN { exit(0); }
--tag D_XLATE_MEMB

@wrong D_CAST_INVAL | error.CAST_INVAL | op.cast | struct s { int a; int b : 3; }; struct s v; BEGIN { trace((struct s)1); }

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

@wrong D_MACRO_UNDEF | error.MACRO_UNDEF | macro.default | BEGIN { trace($1); }
@wrong D_MACRO_UNDEF | error.MACRO_UNDEF.name | macro.default | BEGIN { trace($nosuch); }

@@ error.MACRO_UNUSED | macro.unused | wrong
--args -xerrtags -qs $D 42
BEGIN { exit(0); }
--out
--errhas [D_MACRO_UNUSED]
--status 1
--end

@wrong D_INT_OFLOW | error.INT_OFLOW | lex.integer | BEGIN { trace(99999999999999999999); }
@wrong D_INT_OFLOW | error.INT_OFLOW.decimal-64 | lex.integer-type | BEGIN { trace(9223372036854775808); }
@wrong D_INT_DIGIT | error.INT_DIGIT | lex.integer | BEGIN { trace(089); }

@@ error.STR_NL | lex.string | wrong
BEGIN { trace("abc
"); }
--tag D_STR_NL

@@ error.CHR_NL | lex.char | wrong
BEGIN { trace('
'); }
--tag D_CHR_NL

@wrong D_CHR_NULL | error.CHR_NULL | lex.char | BEGIN { trace(''); }
@wrong D_CHR_OFLOW | error.CHR_OFLOW | lex.char | BEGIN { trace('abcdefghi'); }
@wrong D_IDENT_UNDEF | error.IDENT_UNDEF.global | var.undefined | BEGIN { trace(nosuch); }
@wrong D_VAR_UNDEF | error.VAR_UNDEF.self | var.undefined, var.self | BEGIN { trace(self->nosuch); }
@wrong D_VAR_UNDEF | error.VAR_UNDEF.this | var.undefined, var.this | BEGIN { trace(this->nosuch); }
@wrong D_PROTO_LEN | error.PROTO_LEN | subr.call | BEGIN { trace(strlen()); }
@wrong D_PROTO_LEN | error.PROTO_LEN.many | subr.call | BEGIN { trace(strlen("a", "b")); }
@wrong D_PROTO_ARG | error.PROTO_ARG | subr.call | BEGIN { trace(strlen(1)); }
@wrong D_PROTO_LEN | error.PROTO_LEN.key | var.key | BEGIN { a[1] = 1; trace(a[1, 2]); }
@wrong D_PROTO_ARG | error.PROTO_ARG.key | var.key | BEGIN { a[1] = 1; trace(a["x"]); }
@wrong D_KEY_TYPE | error.KEY_TYPE | var.key, var.assoc | int a[struct nosuch]; BEGIN { exit(0); }
@wrong D_PRINTF_ARG_FMT | error.PRINTF_ARG_FMT | printf.form | BEGIN { s = "x"; printf(s); }
@wrong D_PRINTF_ARG_PROTO | error.PRINTF_ARG_PROTO | printf.form | BEGIN { printf("%d"); }
@wrong D_PRINTF_ARG_TYPE | error.PRINTF_ARG_TYPE | printf.s | BEGIN { printf("%s", 1); }
@wrong D_PRINTF_ARG_TYPE | error.PRINTF_ARG_TYPE.string | printf.d | BEGIN { printf("%d", "x"); }
@wrong D_PRINTF_ARG_EXTRA | error.PRINTF_ARG_EXTRA | printf.form | BEGIN { printf("x", 1); }
@wrong D_PRINTF_FMT_EMPTY | error.PRINTF_FMT_EMPTY | printf.form | BEGIN { printf(""); }
@wrong D_PRINTF_DYN_PROTO | error.PRINTF_DYN_PROTO | printf.star | BEGIN { printf("%*d"); }
@wrong D_PRINTF_DYN_TYPE | error.PRINTF_DYN_TYPE | printf.star | BEGIN { printf("%*d", "a", 1); }
@wrong D_PRINTF_AGG_CONV | error.PRINTF_AGG_CONV | printf.aggregation | BEGIN { printf("%@d", 1); }
@wrong D_DECL_CHARATTR | error.DECL_CHARATTR | type.integer | short char x; BEGIN { exit(0); }
@wrong D_DECL_VOIDATTR | error.DECL_VOIDATTR | type.integer | unsigned void *x; BEGIN { exit(0); }
@wrong D_DECL_SIGNINT | error.DECL_SIGNINT | type.integer | unsigned float x; BEGIN { exit(0); }
@wrong D_DECL_LONGINT | error.DECL_LONGINT | type.integer | long float x; BEGIN { exit(0); }
@wrong D_DECL_BADCLASS | error.DECL_BADCLASS | var.extern | static int x; BEGIN { exit(0); }
@wrong D_DECL_COMBO | error.DECL_COMBO | type.integer | int char x; BEGIN { exit(0); }
@wrong D_DECL_IDRED | error.DECL_IDRED | var.name | int pid; BEGIN { exit(0); }
@wrong D_DECL_IDRED | error.DECL_IDRED.type | var.name | int x; string x; BEGIN { exit(0); }
@wrong D_DECL_MNAME | error.DECL_MNAME | type.struct | struct t { int a; char a; }; BEGIN { exit(0); }
@wrong D_DECL_BFSIZE | error.DECL_BFSIZE | type.bitfield | struct t { int a : 40; }; BEGIN { exit(0); }
@wrong D_DECL_BFTYPE | error.DECL_BFTYPE | type.bitfield | struct t { float a : 3; }; BEGIN { exit(0); }
@wrong D_DECL_BFCONST | error.DECL_BFCONST | type.bitfield | struct t { int a : 0; }; BEGIN { exit(0); }
@wrong D_DECL_ENOFLOW | error.DECL_ENOFLOW | type.enum | enum e { A = 0x7fffffff, B }; BEGIN { exit(0); }
@wrong D_DECL_USELESS | error.DECL_USELESS | type.typedef | int; BEGIN { exit(0); }
@wrong D_DECL_LOCASSC | error.DECL_LOCASSC | var.this | this int a[int]; BEGIN { exit(0); }
@wrong D_DECL_VOIDOBJ | error.DECL_VOIDOBJ | var.global | void x; BEGIN { exit(0); }
@wrong D_DECL_INCOMPLETE | error.DECL_INCOMPLETE | type.struct | struct nosuch x; BEGIN { exit(0); }
@wrong D_DECL_TYPERED | error.DECL_TYPERED | type.typedef | typedef int t; typedef string t; BEGIN { exit(0); }
@wrong D_DECL_ARRNULL | error.DECL_ARRNULL | type.array | int x[]; BEGIN { exit(0); }
@wrong D_COMM_DREC | error.COMM_DREC | act.commit, act.order | BEGIN { trace(1); commit(1); }
@wrong D_SPEC_SPEC | error.SPEC_SPEC | act.speculate, act.order | BEGIN { speculate(1); speculate(2); }
@wrong D_SPEC_COMM | error.SPEC_COMM | act.speculate, act.order | BEGIN { commit(1); speculate(1); }
@wrong D_SPEC_DREC | error.SPEC_DREC | act.speculate, act.order | BEGIN { trace(1); speculate(1); }
@wrong D_AGG_COMM | error.AGG_COMM | act.order | BEGIN { commit(1); @ = count(); }
@wrong D_AGG_SPEC | error.AGG_SPEC | act.order | BEGIN { speculate(1); @ = count(); }

@@ error.ACT_SPEC | act.order | wrong
--args -w -xerrtags -qs $D
BEGIN { speculate(1); stop(); }
--out
--errhas [D_ACT_SPEC]
--status 1
--end

@wrong D_EXIT_SPEC | error.EXIT_SPEC | act.order, act.exit | BEGIN { speculate(1); exit(0); }
@wrong D_DREC_COMM | error.DREC_COMM | act.order | BEGIN { commit(1); trace(1); }
@wrong D_PRINTA_PROTO | error.PRINTA_PROTO | agg.printa | BEGIN { printa(); }
@wrong D_PRINTA_AGGARG | error.PRINTA_AGGARG | agg.printa | BEGIN { printa("%d", 1); }
@wrong D_PRINTA_AGGBAD | error.PRINTA_AGGBAD | agg.printa | BEGIN { printa(@nosuch); }
@wrong D_PRINTA_AGGKEY | error.PRINTA_AGGKEY | agg.printa | BEGIN { @a[1] = count(); @b[1, 2] = count(); printa(@a, @b); }
@wrong D_PRINTA_AGGPROTO | error.PRINTA_AGGPROTO | agg.printa | BEGIN { @a[1] = count(); @b["x"] = count(); printa(@a, @b); }
@wrong D_TRACE_AGG | error.TRACE_AGG | act.trace | BEGIN { @a = count(); trace(@a); }
@wrong D_TRACE_VOID | error.TRACE_VOID | act.trace | BEGIN { trace((void)1); }
@wrong D_TRACEMEM_SIZE | error.TRACEMEM_SIZE | act.tracemem | BEGIN { tracemem(0xffff, 0); }

@@ error.SPEC_DREC.system | act.order | wrong
BEGIN { s = speculation(); system("true"); speculate(s); }
--args -ws $D
--tag D_SPEC_DREC

@@ error.DREC_COMM.freopen | act.order | wrong
BEGIN { s = speculation(); commit(s); freopen("a"); }
--args -ws $D
--tag D_DREC_COMM

@wrong D_TRACEMEM_SIZE | error.TRACEMEM_SIZE.large | act.tracemem | BEGIN { tracemem(0xffff, 262145); }
@wrong D_TRACEMEM_SIZE | error.TRACEMEM_SIZE.limited | act.tracemem | BEGIN { tracemem(0xffff, 65536, 1); }
@wrong D_PRINTM_SIZE | error.PRINTM_SIZE.large | act.printm | BEGIN { printm(65536, memref(0, 4)); }
@wrong D_STACK_PROTO | error.STACK_PROTO | act.stack | BEGIN { stack(1, 2); }
@wrong D_STACK_SIZE | error.STACK_SIZE | act.stack | BEGIN { stack(0); }
@wrong D_USTACK_FRAMES | error.USTACK_FRAMES | act.ustack | BEGIN { ustack("a"); }
@wrong D_LQUANT_BASETYPE | error.LQUANT_BASETYPE | agg.lquantize | BEGIN { @ = lquantize(1, "a", 10); }
@wrong D_LQUANT_LIMTYPE | error.LQUANT_LIMTYPE | agg.lquantize | BEGIN { @ = lquantize(1, 0, "a"); }
@wrong D_LQUANT_MISMATCH | error.LQUANT_MISMATCH | agg.lquantize | BEGIN { @ = lquantize(1, 10, 0); }
@wrong D_LQUANT_STEPTYPE | error.LQUANT_STEPTYPE | agg.lquantize | BEGIN { @ = lquantize(1, 0, 10, "a"); }
@wrong D_LQUANT_STEPVAL | error.LQUANT_STEPVAL | agg.lquantize | BEGIN { @ = lquantize(1, 0, 10, 0); }
@wrong D_LQUANT_STEPLARGE | error.LQUANT_STEPLARGE | agg.lquantize | BEGIN { @ = lquantize(1, 0, 10, 11); }
@wrong D_LQUANT_STEPSMALL | error.LQUANT_STEPSMALL.by-one | agg.lquantize | BEGIN { @ = lquantize(1, 0, 65533); }
@wrong D_LLQUANT_NSTEPVAL | error.LLQUANT_NSTEPVAL.words | agg.llquantize | BEGIN { @ = llquantize(1, 2, 0, 61, 32768); }
@wrong D_LQUANT_STEPSMALL | error.LQUANT_STEPSMALL | agg.lquantize | BEGIN { @ = lquantize(1, 0, 1000000, 1); }
@wrong D_LQUANT_BASEVAL | error.LQUANT_BASEVAL | agg.lquantize | BEGIN { @ = lquantize(1, -3000000000, 10); }
@wrong D_LQUANT_LIMVAL | error.LQUANT_LIMVAL | agg.lquantize | BEGIN { @ = lquantize(1, 0, 3000000000); }
@wrong D_LQUANT_MATCHBASE | error.LQUANT_MATCHBASE | agg.lquantize | BEGIN { @ = lquantize(1, 0, 10); @ = lquantize(1, 1, 10); }
@wrong D_LQUANT_MATCHLIM | error.LQUANT_MATCHLIM | agg.lquantize | BEGIN { @ = lquantize(1, 0, 10); @ = lquantize(1, 0, 11); }
@wrong D_LQUANT_MATCHSTEP | error.LQUANT_MATCHSTEP | agg.lquantize | BEGIN { @ = lquantize(1, 0, 10, 1); @ = lquantize(1, 0, 10, 2); }
@wrong D_LLQUANT_FACTORTYPE | error.LLQUANT_FACTORTYPE | agg.llquantize | BEGIN { @ = llquantize(1, "a", 0, 2, 10); }
@wrong D_LLQUANT_FACTORVAL | error.LLQUANT_FACTORVAL | agg.llquantize | BEGIN { @ = llquantize(1, 70000, 0, 2, 70000); }
@wrong D_LLQUANT_FACTORSMALL | error.LLQUANT_FACTORSMALL | agg.llquantize | BEGIN { @ = llquantize(1, 1, 0, 2, 10); }
@wrong D_LLQUANT_LOWTYPE | error.LLQUANT_LOWTYPE | agg.llquantize | BEGIN { @ = llquantize(1, 10, "a", 2, 10); }
@wrong D_LLQUANT_LOWVAL | error.LLQUANT_LOWVAL | agg.llquantize | BEGIN { @ = llquantize(1, 10, 70000, 2, 10); }
@wrong D_LLQUANT_HIGHTYPE | error.LLQUANT_HIGHTYPE | agg.llquantize | BEGIN { @ = llquantize(1, 10, 0, "a", 10); }
@wrong D_LLQUANT_HIGHVAL | error.LLQUANT_HIGHVAL | agg.llquantize | BEGIN { @ = llquantize(1, 10, 0, 70000, 10); }
@wrong D_LLQUANT_MAGRANGE | error.LLQUANT_MAGRANGE | agg.llquantize | BEGIN { @ = llquantize(1, 10, 2, 1, 10); }
@wrong D_LLQUANT_MAGTOOBIG | error.LLQUANT_MAGTOOBIG | agg.llquantize | BEGIN { @ = llquantize(1, 10, 0, 40, 10); }
@wrong D_LLQUANT_NSTEPTYPE | error.LLQUANT_NSTEPTYPE | agg.llquantize | BEGIN { @ = llquantize(1, 10, 0, 2, "a"); }
@wrong D_LLQUANT_NSTEPVAL | error.LLQUANT_NSTEPVAL | agg.llquantize | BEGIN { @ = llquantize(1, 10, 0, 2, 70000); }
@wrong D_LLQUANT_FACTORNSTEPS | error.LLQUANT_FACTORNSTEPS | agg.llquantize | BEGIN { @ = llquantize(1, 10, 0, 2, 4); }
@wrong D_LLQUANT_FACTOREVEN | error.LLQUANT_FACTOREVEN | agg.llquantize | BEGIN { @ = llquantize(1, 10, 0, 2, 15); }
@wrong D_LLQUANT_FACTORMATCH | error.LLQUANT_FACTORMATCH | agg.llquantize | BEGIN { @ = llquantize(1, 10, 0, 2, 10); @ = llquantize(1, 2, 0, 2, 2); }
@wrong D_LLQUANT_LOWMATCH | error.LLQUANT_LOWMATCH | agg.llquantize | BEGIN { @ = llquantize(1, 10, 0, 2, 10); @ = llquantize(1, 10, 1, 2, 10); }
@wrong D_LLQUANT_HIGHMATCH | error.LLQUANT_HIGHMATCH | agg.llquantize | BEGIN { @ = llquantize(1, 10, 0, 2, 10); @ = llquantize(1, 10, 0, 3, 10); }
@wrong D_LLQUANT_NSTEPMATCH | error.LLQUANT_NSTEPMATCH | agg.llquantize | BEGIN { @ = llquantize(1, 10, 0, 2, 10); @ = llquantize(1, 10, 0, 2, 20); }
@wrong D_CLEAR_PROTO | error.CLEAR_PROTO | agg.clear | BEGIN { clear(); }
@wrong D_CLEAR_AGGARG | error.CLEAR_AGGARG | agg.clear | BEGIN { clear(1); }
@wrong D_CLEAR_AGGBAD | error.CLEAR_AGGBAD | agg.clear | BEGIN { clear(@nosuch); }
@wrong D_NORMALIZE_PROTO | error.NORMALIZE_PROTO | agg.normalize | BEGIN { @a = count(); normalize(@a); }
@wrong D_NORMALIZE_AGGARG | error.NORMALIZE_AGGARG | agg.normalize | BEGIN { normalize(1, 2); }
@wrong D_NORMALIZE_AGGBAD | error.NORMALIZE_AGGBAD | agg.normalize | BEGIN { normalize(@nosuch, 2); }

@@ error.NORMALIZE_SCALAR | agg.normalize | wrong
struct s { int a; int b : 3; };
struct s v;
BEGIN { @a = count(); normalize(@a, v); }
--tag D_NORMALIZE_SCALAR

@wrong D_TRUNC_PROTO | error.TRUNC_PROTO | agg.trunc | BEGIN { trunc(); }
@wrong D_TRUNC_AGGARG | error.TRUNC_AGGARG | agg.trunc | BEGIN { trunc(1); }
@wrong D_TRUNC_AGGBAD | error.TRUNC_AGGBAD | agg.trunc | BEGIN { trunc(@nosuch); }
@wrong D_TRUNC_SCALAR | error.TRUNC_SCALAR | agg.trunc | struct s { int a; int b : 3; }; struct s v; BEGIN { @a = count(); trunc(@a, v); }

@@ error.FREOPEN_INVALID | act.freopen | wrong
--args -w -xerrtags -qs $D
BEGIN { freopen("."); }
--out
--errhas [D_FREOPEN_INVALID]
--status 1
--end

@wrong D_PROV_BADNAME | error.PROV_BADNAME | provider | provider foo1 { probe p(int); }; BEGIN { exit(0); }
@wrong D_ARGS_TYPE | error.ARGS_TYPE | builtin.args | BEGIN { trace(args["x"]); }

@@ error.PRAGMA_SCOPE | pragma.attributes | wrong
#pragma D attributes Stable/Stable/Common execname
BEGIN { exit(0); }
--tag D_PRAGMA_SCOPE

@@ error.PRAGMA_UNUSED | pragma.attributes | wrong
#pragma D attributes Stable/Stable/Common nosuch
BEGIN { exit(0); }
--tag D_PRAGMA_UNUSED

@wrong D_OP_IDENT | error.OP_IDENT | op.write | struct s { int a; }; struct s *p; BEGIN { trace(p->1); }
@wrong D_OP_VFPTR | error.OP_VFPTR | type.pointer | void *p; BEGIN { p++; }
@wrong D_IDENT_AMBIG | error.IDENT_AMBIG | var.undefined | enum e { A, B }; int B; BEGIN { trace(B); }

@@ error.SYM_NOTYPES | lex.scoped | wrong | kernel
BEGIN { trace(`panic_on_warn); }
--tag D_SYM_NOTYPES

@wrong D_DECL_PROTO_TYPE | error.DECL_PROTO_TYPE | type.pointer | inline int f[void v] = 1; BEGIN { exit(0); }
@wrong D_DECL_PROTO_FORM | error.DECL_PROTO_FORM | type.pointer | inline int f[int] = 1; BEGIN { exit(0); }
@wrong D_DECL_DYNOBJ | error.DECL_DYNOBJ | agg.form | int @total; BEGIN { exit(0); }
@wrong D_PROV_INCOMPAT | error.PROV_INCOMPAT | provider | provider foo { probe p(int); }; provider foo { probe p(int, int); }; BEGIN { exit(0); }
@wrong D_PROV_PRXLATOR | error.PROV_PRXLATOR | provider | struct o { int a; }; provider foo { probe p(int *x) : (struct o *x); }; BEGIN { exit(0); }

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

@wrong D_PROC_NODEV | error.PROC_NODEV | probe.form | pid1:libc:malloc:entry { exit(0); }
@wrong D_PROC_BADPROV | error.PROC_BADPROV | probe.form | pid1x:libc:malloc:entry { exit(0); }
@wrong D_PROC_BADPID | error.PROC_BADPID | probe.form | pid0:libc:malloc:entry { exit(0); }
@wrong D_PROC_OFF | error.PROC_OFF | probe.form | pid1:libc:malloc:begin { exit(0); }

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

@wrong D_TYPE_ERR | error.TYPE_ERR | op.sizeof | BEGIN { x = sizeof (enum nosuch); }
@wrong D_OP_INCOMPLETE | error.OP_INCOMPLETE | op.pointer | struct t; BEGIN { x = (struct t *)arg0; y = x + 1; }
@wrong D_OP_DYN | error.OP_DYN | xlate | struct o { int a; }; translator struct o < int i > { a = i; }; BEGIN { x = xlate <struct o>(1); }
@wrong D_AGG_MDIM | error.AGG_MDIM | agg.form | BEGIN { @a[1][2] = count(); }
@wrong D_ARR_BADREF | error.ARR_BADREF | var.assoc | BEGIN { x[1] = 2; trace(x); }
@wrong D_ARR_LOCAL | error.ARR_LOCAL | var.this | BEGIN { this->x[1] = 2; }
@wrong D_ARR_BOUNDS | error.ARR_BOUNDS | type.array | struct s { int a[3]; }; struct s v; BEGIN { trace(v.a[3]); }

@@ error.DEREF_FUNC | op.load | wrong | kernel
BEGIN { x = *&`vfs_read; }
--tag D_DEREF_FUNC

@@ error.XLATE_INCOMPAT | translator | wrong
struct o { int a; };
translator struct o < int i > { a = "x"; };
BEGIN { trace(xlate <struct o>(1).a); }
--tag D_XLATE_INCOMPAT

@wrong D_IDENT_BADREF | error.IDENT_BADREF | inline.plain | inline int loop = loop + 1; BEGIN { trace(loop); }
@wrong D_SYM_BADREF | error.SYM_BADREF | lex.scoped | BEGIN { trace(pid1`lib`sym); }
@wrong D_DECL_IDENT | error.DECL_IDENT | var.global | int *; BEGIN { exit(0); }
@wrong D_DECL_CLASS | error.DECL_CLASS | var.extern | extern typedef int x; BEGIN { exit(0); }
@wrong D_DECL_PARMCLASS | error.DECL_PARMCLASS | type.pointer | extern int f(self int x); BEGIN { exit(0); }
@wrong D_DECL_SCOPE | error.DECL_SCOPE | var.global | int vmlinux`x; BEGIN { exit(0); }
@wrong D_DECL_PROTO_NAME | error.DECL_PROTO_NAME | var.assoc | int x[int key]; BEGIN { exit(0); }

@@ error.NOREG | opt.compile | wrong
--args -x iregs=2 -xerrtags -qs $D
BEGIN { x = pid + uid; exit(0); }
--out
--errhas [D_NOREG]
--status 1
--end

@wrong D_FUNC_IDENT | error.FUNC_IDENT | op.postfix | BEGIN { this->f = 1; this->f(1); }
@wrong D_OP_ARRFUN | error.OP_ARRFUN | op.pointer | typedef int f_t(int); f_t *p; BEGIN { x = p + 1; }

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

@wrong D_PROTO_LEN | again.PROTO_LEN.agg-keys | agg.form | BEGIN { @a[1] = count(); @a[1, 2] = count(); exit(0); }
@wrong D_PROTO_LEN | again.PROTO_LEN.agg-no-key | agg.form | BEGIN { @a = count(); @a["x"] = count(); exit(0); }
@wrong D_PROTO_ARG | again.PROTO_ARG.agg-key | agg.form | BEGIN { @a["x"] = sum(1); @a[1] = sum(1); exit(0); }
@wrong D_SYNTAX | again.SYNTAX.agg-no-keys | agg.form | BEGIN { @a[] = count(); exit(0); }
@wrong D_SYNTAX | again.SYNTAX.array-no-index | var.assoc | BEGIN { a[] = 1; exit(0); }
@wrong D_PRINTF_ARG_TYPE | again.printa.type-of-key | agg.printa | BEGIN { @a["x"] = count(); printa("%d %@d\n", @a); exit(0); }
@wrong D_PRINTF_ARG_TYPE | again.printa.type-of-second-key | agg.printa | BEGIN { @a[1, 2] = count(); printa("%d %s %@d\n", @a); exit(0); }
@wrong D_PRINTF_ARG_TYPE | again.printa.type-of-value | agg.printa, printf.aggregation | BEGIN { @a["x"] = count(); printa("%s %@s\n", @a); exit(0); }
@wrong D_PRINTF_DYN_TYPE | again.printa.star | agg.printa, printf.star | BEGIN { @a["x"] = count(); printa("%*s %@d\n", @a); exit(0); }
@wrong D_PRINTF_ARG_TYPE | again.PRINTF_ARG_TYPE.aggregation | printf.aggregation | BEGIN { @a = count(); printf("%d\n", @a); exit(0); }

@@ again.PRINTF_AGG_CONV.system | printf.aggregation, act.system | wrong
--args -wqs $D
BEGIN { system("echo %@d", 1); exit(0); }
--tag D_PRINTF_AGG_CONV

@wrong D_SYNTAX | again.SYNTAX.conversion | printf.form | BEGIN { printf("%q\n", 1); exit(0); }
@wrong D_SYNTAX | again.SYNTAX.conversion-ends | printf.form | BEGIN { printf("abc%", 1); exit(0); }
@wrong D_SYNTAX | again.SYNTAX.conversion-printa | agg.printa | BEGIN { @a = count(); printa("%@q\n", @a); exit(0); }
@wrong D_DECL_MNAME | again.DECL_MNAME.none | type.struct | struct s { int; }; BEGIN { exit(0); }
@wrong D_DECL_MNAME | again.DECL_MNAME.pointer | type.struct, type.pointer | struct s { int a; char *; }; BEGIN { exit(0); }
@wrong D_DECL_VOIDOBJ | again.DECL_VOIDOBJ.member | type.struct | struct s { void x; }; BEGIN { exit(0); }
@wrong D_DECL_VOIDOBJ | again.DECL_VOIDOBJ.function-member | type.struct | struct s { int f(int); }; BEGIN { exit(0); }
@wrong D_DECL_INCOMPLETE | again.DECL_INCOMPLETE.member | type.struct | struct s { struct later x; }; BEGIN { exit(0); }
@wrong D_DECL_SIGNINT | again.DECL_SIGNINT.string | type.string | unsigned string x; BEGIN { exit(0); }
@wrong D_DECL_SIGNINT | again.DECL_SIGNINT.struct | type.struct | unsigned struct s { int a; } x; BEGIN { exit(0); }
@wrong D_DECL_LONGINT | again.DECL_LONGINT.string | type.string | long string x; BEGIN { exit(0); }
@wrong D_DECL_ARRSUB | again.DECL_ARRSUB.zero | type.array | int a[0]; BEGIN { exit(0); }
@wrong D_DECL_IDRED | again.DECL_IDRED.typedef | type.typedef | int x; typedef int x; BEGIN { exit(0); }
@wrong D_DECL_TYPERED | again.DECL_TYPERED.variable | type.typedef | typedef int x; int x; BEGIN { exit(0); }
@wrong D_IDENT_UNDEF | again.inline.unused-undefined | inline.plain | inline int x = nosuch; BEGIN { exit(0); }
@wrong D_OP_INCOMPAT | again.inline.unused-type | inline.plain | inline int x = "a"; BEGIN { exit(0); }
@wrong D_PROTO_ARG | again.inline.unused-array | inline.parameters | inline string x[int a, string b] = strjoin(a, b); BEGIN { exit(0); }

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

@wrong D_PDESC_INVAL | again.PDESC_INVAL.zero | probe.id | 0 { exit(0); }
@wrong D_PDESC_INVAL | again.PDESC_INVAL.huge | probe.id | 99999999999999999999 { exit(0); }
@wrong D_SPEC_DREC | again.SPEC_DREC.aggregation | act.speculate | BEGIN { @a = count(); speculate(1); exit(0); }
@wrong D_COMM_DREC | again.COMM_DREC.aggregation | act.commit | BEGIN { @a = count(); commit(1); }
@wrong D_OP_INCOMPLETE | again.OP_INCOMPLETE.dereference | op.load, type.struct | struct later; BEGIN { x = *(struct later *)8; exit(0); }
@wrong D_SYNTAX | again.SYNTAX.keyword-member | lex.keyword | struct s { int while; }; BEGIN { exit(0); }
@wrong D_INT_OFLOW | edge.integer.two-to-64 | lex.integer | BEGIN { x = 18446744073709551616; exit(0); }
@wrong D_LLQUANT_MAGTOOBIG | edge.llquantize.too-big | agg.llquantize | BEGIN { @ = llquantize(1, 16, 0, 15, 16); exit(0); }
@wrong D_LQUANT_MISMATCH | edge.lquantize.base-is-limit | agg.lquantize | BEGIN { @ = lquantize(1, 5, 5); exit(0); }
@wrong D_PRINTF_ARG_TYPE | edge.printf.time-of-int | printf.Y | BEGIN { printf("%Y\n", 5); exit(0); }
@wrong D_PRED_SCALAR | habit.predicate.string | clause | BEGIN /execname/ { exit(0); }
@wrong D_PRED_SCALAR | habit.if.string | if-else | BEGIN { if ("a") exit(0); }
@wrong D_OP_SCALAR | habit.not.string | op.unary | BEGIN { trace(!execname); }
@wrong D_OP_SCALAR | habit.and.string | op.logical | BEGIN { trace(1 && probename); }
@wrong D_OP_SCALAR | habit.choice.string | op.conditional | BEGIN { trace(execname ? 1 : 2); }
@wrong D_OP_INCOMPAT | habit.int-pointer.from-string | var.type, op.assign | int *s; BEGIN { s = "abc"; exit(0); }
@wrong D_DREC_COMM | habit.commit.then-trace | act.commit, act.order | BEGIN { commit(1); commit(2); trace(1); }
@wrong D_SPEC_COMM | habit.commit.then-speculate | act.commit, act.order | BEGIN { commit(1); commit(2); speculate(3); }
@wrong D_LLQUANT_FACTORNSTEPS | habit.llquantize.no-divisor | agg.llquantize | BEGIN { @ = llquantize(1, 10, 0, 2, 3); }
@wrong D_LLQUANT_FACTORNSTEPS | habit.llquantize.no-steps | agg.llquantize | BEGIN { @ = llquantize(1, 10, 0, 2, 0); }
@wrong D_IDENT_UNDEF | habit.predicate.made-later | clause, var.undefined | BEGIN /x == 0/ { y = 1; } BEGIN { x = 1; }
@wrong D_OP_INCOMPAT | habit.predicate.own-string | clause, op.string | BEGIN /x == 1/ { x = "a"; }
@wrong D_OP_ACT | habit.choice.value | action-place, op.conditional | BEGIN { x = 1 ? printf("a") : printf("b"); }
@wrong D_PRED_SCALAR | habit.choice.string | if-else, op.conditional | BEGIN { execname ? printf("a") : printf("b"); }
@wrong D_DEREF_NONPTR | habit.null.loaded | builtin.constants, op.address | BEGIN { trace(*NULL); }
@wrong D_CHR_OFLOW | habit.char.nine | lex.char | BEGIN { trace('abcdefghi'); }

@@ habit.key.other-struct | var.key | wrong
struct p { int x; };
struct q { int x; };
struct p v;
struct q w;
BEGIN { a[v] = 1; trace(a[w]); }
--tag D_PROTO_ARG

@wrong D_PRINTF_DYN_PROTO | habit.printa.star-no-key | printf.star, agg.printa | BEGIN { @a = count(); printa("%*d\n", @a); }
@wrong D_PRINTF_ARG_PROTO | habit.printa.star-last-key | printf.star, agg.printa | BEGIN { @a[1] = count(); printa("%*d %@d\n", @a); }
@wrong D_PRINTA_AGGPROTO | habit.printa.other-keys | agg.printa | BEGIN { @c["a"] = count(); @q[1] = quantize(1); printa(@c, @q); }
@wrong D_PRINT_SIZE | habit.print.nothing | act.print | struct open { int n; char rest[]; }; struct open *e; BEGIN { print(e->rest); }
@wrong D_PRINT_VOID | habit.print.void | act.print | BEGIN { print(bcopy(alloca(1), alloca(1), 1)); }
