@@ error.SYNTAX | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { printf( }
--out
--errhas [D_SYNTAX]
--status 1
--end

@@ error.SYNTAX.unclosed | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace(1) 
--out
--errhas [D_SYNTAX]
--status 1
--end

@@ error.SYNTAX.nested-comment | error tags | wrong |
--args -xerrtags -qs $D
/* /* nested */
BEGIN { exit(0); }
--out
--errhas [D_SYNTAX]
--status 1
--end

@@ error.SYNTAX.for | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { for (;;) ; }
--out
--errhas [D_SYNTAX]
--status 1
--end

@@ error.EMPTY | error tags | wrong |
--args -xerrtags -qs $D
--out
--errhas [D_EMPTY]
--status 1
--end

@@ error.TYPE_MEMBER | error tags | wrong |
--args -xerrtags -qs $D
struct s { int a; int b : 3; };
struct s v;
BEGIN { trace(v.nosuch); }
--out
--errhas [D_TYPE_MEMBER]
--status 1
--end

@@ error.PDESC_ZERO | error tags | wrong |
--args -xerrtags -qs $D
nosuch:::probe { trace(1); }
--out
--errhas [D_PDESC_ZERO]
--status 1
--end

@@ error.PDESC_INVAL | error tags | wrong |
--args -xerrtags -qs $D
a:b:c:d:e:f { trace(1); }
--out
--errhas [D_PDESC_INVAL]
--status 1
--end

@@ error.PRED_SCALAR | error tags | wrong |
--args -xerrtags -qs $D
struct s { int a; int b : 3; };
struct s v;
BEGIN /v/ { trace(1); }
--out
--errhas [D_PRED_SCALAR]
--status 1
--end

@@ error.FUNC_UNDEF | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { nosuch(1); }
--out
--errhas [D_FUNC_UNDEF]
--status 1
--end

@@ error.FUNC_IDKIND | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { pid(1); }
--out
--errhas [D_FUNC_IDKIND]
--status 1
--end

@@ error.OFFSETOF_TYPE | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace(offsetof(int, x)); }
--out
--errhas [D_OFFSETOF_TYPE]
--status 1
--end

@@ error.OFFSETOF_BITFIELD | error tags | wrong |
--args -xerrtags -qs $D
struct s { int a; int b : 3; };
struct s v;
BEGIN { trace(offsetof(struct s, b)); }
--out
--errhas [D_OFFSETOF_BITFIELD]
--status 1
--end

@@ error.SIZEOF_TYPE | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace(sizeof (void)); }
--out
--errhas [D_SIZEOF_TYPE]
--status 1
--end

@@ error.SIZEOF_BITFIELD | error tags | wrong |
--args -xerrtags -qs $D
struct s { int a; int b : 3; };
struct s v;
BEGIN { trace(sizeof (v.b)); }
--out
--errhas [D_SIZEOF_BITFIELD]
--status 1
--end

@@ error.STRINGOF_TYPE | error tags | wrong |
--args -xerrtags -qs $D
struct s { int a; int b : 3; };
struct s v;
BEGIN { trace(stringof(v)); }
--out
--errhas [D_STRINGOF_TYPE]
--status 1
--end

@@ error.OP_INT | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace("a" & 1); }
--out
--errhas [D_OP_INT]
--status 1
--end

@@ error.OP_INT.not | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace(~"a"); }
--out
--errhas [D_OP_INT]
--status 1
--end

@@ error.OP_ARITH | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace("a" * 2); }
--out
--errhas [D_OP_ARITH]
--status 1
--end

@@ error.OP_SCALAR | error tags | wrong |
--args -xerrtags -qs $D
struct s { int a; int b : 3; };
struct s v;
BEGIN { trace(!v); }
--out
--errhas [D_OP_SCALAR]
--status 1
--end

@@ error.OP_LVAL | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { 1 = 2; }
--out
--errhas [D_OP_LVAL]
--status 1
--end

@@ error.OP_INCOMPAT | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { x = 1; x = "a"; }
--out
--errhas [D_OP_INCOMPAT]
--status 1
--end

@@ error.OP_PTR | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { x = 1; trace(x->y); }
--out
--errhas [D_OP_PTR]
--status 1
--end

@@ error.OP_SOU | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace(((int *)0)->y); }
--out
--errhas [D_OP_SOU]
--status 1
--end

@@ error.AGG_REDEF | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @a = count(); @a = sum(1); }
--out
--errhas [D_AGG_REDEF]
--status 1
--end

@@ error.AGG_FUNC | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @a = strlen("x"); }
--out
--errhas [D_AGG_FUNC]
--status 1
--end

@@ error.AGG_NULL | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @a = count(); @a; }
--out
--errhas [D_AGG_NULL]
--status 1
--end

@@ error.AGG_SCALAR | error tags | wrong |
--args -xerrtags -qs $D
struct s { int a; int b : 3; };
struct s v;
BEGIN { @a = sum(v); }
--out
--errhas [D_AGG_SCALAR]
--status 1
--end

@@ error.DIV_ZERO | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace(1 / 0); }
--out
--errhas [D_DIV_ZERO]
--status 1
--end

@@ error.DIV_ZERO.modulo | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace(1 % 0); }
--out
--errhas [D_DIV_ZERO]
--status 1
--end

@@ error.DEREF_NONPTR | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace(*1); }
--out
--errhas [D_DEREF_NONPTR]
--status 1
--end

@@ error.DEREF_VOID | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace(*(void *)0); }
--out
--errhas [D_DEREF_VOID]
--status 1
--end

@@ error.ADDROF_LVAL | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace(&1); }
--out
--errhas [D_ADDROF_LVAL]
--status 1
--end

@@ error.ADDROF_VAR | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { x = 1; trace(&x); }
--out
--errhas [D_ADDROF_VAR]
--status 1
--end

@@ error.ADDROF_BITFIELD | error tags | wrong |
--args -xerrtags -qs $D
struct s { int a; int b : 3; };
struct s v;
this struct s *p;
BEGIN { trace(&(this->p->b)); }
--out
--errhas [D_ADDROF_BITFIELD]
--status 1
--end

@@ error.XLATE_REDECL | error tags | wrong |
--args -xerrtags -qs $D
struct in { int i; };
struct out { int o; int q; };
translator struct out < struct in *I > { o = I->i; };
translator struct out < struct in *I > { o = I->i; };
BEGIN { exit(0); }
--out
--errhas [D_XLATE_REDECL]
--status 1
--end

@@ error.XLATE_NOCONV | error tags | wrong |
--args -xerrtags -qs $D
struct in { int i; };
struct out { int o; int q; };
translator struct out < struct in *I > { o = I->i; };
BEGIN { trace(xlate <struct out *>((struct in *)0)->q); }
--out
--errhas [D_XLATE_NOCONV]
--status 1
--end

@@ error.XLATE_NONE | error tags | wrong |
--args -xerrtags -qs $D
struct in { int i; };
struct out { int o; int q; };
translator struct out < struct in *I > { o = I->i; };
BEGIN { trace(xlate <struct in *>((struct out *)0)->i); }
--out
--errhas [D_XLATE_NONE]
--status 1
--end

@@ error.XLATE_SOU | error tags | wrong |
--args -xerrtags -qs $D
translator int < int *I > { o = *I; };
BEGIN { exit(0); }
--out
--errhas [D_XLATE_SOU]
--status 1
--end

@@ error.XLATE_MEMB | error tags | wrong |
--args -xerrtags -qs $D
struct in { int i; };
struct out { int o; };
translator struct out < struct in *I > { nosuch = I->i; };
BEGIN { exit(0); }
--out
--errhas [D_XLATE_MEMB]
--status 1
--end

@@ error.CAST_INVAL | error tags | wrong |
--args -xerrtags -qs $D
struct s { int a; int b : 3; };
struct s v;
BEGIN { trace((struct s)1); }
--out
--errhas [D_CAST_INVAL]
--status 1
--end

@@ error.PRAGERR | error tags | wrong |
--args -xerrtags -qs $D
#pragma error stop here
BEGIN { exit(0); }
--out
--errhas [D_PRAGERR]
--status 1
--end

@@ error.PRAGERR.directive | error tags | wrong |
--args -xerrtags -qs $D
#error stop here
BEGIN { exit(0); }
--out
--errhas [D_PRAGERR]
--status 1
--end

@@ error.PRAGMA_INVAL | error tags | wrong |
--args -xerrtags -qs $D
#pragma D nosuch
BEGIN { exit(0); }
--out
--errhas [D_PRAGMA_INVAL]
--status 1
--end

@@ error.PRAGMA_MALFORM | error tags | wrong |
--args -xerrtags -qs $D
#pragma D option
BEGIN { exit(0); }
--out
--errhas [D_PRAGMA_MALFORM]
--status 1
--end

@@ error.PRAGMA_OPTSET | error tags | wrong |
--args -xerrtags -qs $D
#pragma D option nosuch
BEGIN { exit(0); }
--out
--errhas [D_PRAGMA_OPTSET]
--status 1
--end

@@ error.PRAGMA_OPTSET.value | error tags | wrong |
--args -xerrtags -qs $D
#pragma D option bufpolicy=nosuch
BEGIN { exit(0); }
--out
--errhas [D_PRAGMA_OPTSET]
--status 1
--end

@@ error.PRAGMA_DEPEND | error tags | wrong |
--args -xerrtags -qs $D
#pragma D depends_on provider nosuch
BEGIN { exit(0); }
--out
--errhas [D_PRAGMA_DEPEND]
--status 1
--end

@@ error.MACRO_UNDEF | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace($1); }
--out
--errhas [D_MACRO_UNDEF]
--status 1
--end

@@ error.MACRO_UNDEF.name | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace($nosuch); }
--out
--errhas [D_MACRO_UNDEF]
--status 1
--end

@@ error.MACRO_UNUSED | error tags | wrong |
--args -xerrtags -qs $D 42
BEGIN { exit(0); }
--out
--errhas [D_MACRO_UNUSED]
--status 1
--end

@@ error.INT_OFLOW | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace(99999999999999999999); }
--out
--errhas [D_INT_OFLOW]
--status 1
--end

@@ error.INT_OFLOW.decimal-64 | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace(9223372036854775808); }
--out
--errhas [D_INT_OFLOW]
--status 1
--end

@@ error.INT_DIGIT | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace(089); }
--out
--errhas [D_INT_DIGIT]
--status 1
--end

@@ error.STR_NL | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace("abc
"); }
--out
--errhas [D_STR_NL]
--status 1
--end

@@ error.CHR_NL | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace('
'); }
--out
--errhas [D_CHR_NL]
--status 1
--end

@@ error.CHR_NULL | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace(''); }
--out
--errhas [D_CHR_NULL]
--status 1
--end

@@ error.CHR_OFLOW | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace('abcdefghi'); }
--out
--errhas [D_CHR_OFLOW]
--status 1
--end

@@ error.IDENT_UNDEF.global | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace(nosuch); }
--out
--errhas [D_IDENT_UNDEF]
--status 1
--end

@@ error.VAR_UNDEF.self | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace(self->nosuch); }
--out
--errhas [D_VAR_UNDEF]
--status 1
--end

@@ error.VAR_UNDEF.this | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace(this->nosuch); }
--out
--errhas [D_VAR_UNDEF]
--status 1
--end

@@ error.PROTO_LEN | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace(strlen()); }
--out
--errhas [D_PROTO_LEN]
--status 1
--end

@@ error.PROTO_LEN.many | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace(strlen("a", "b")); }
--out
--errhas [D_PROTO_LEN]
--status 1
--end

@@ error.PROTO_ARG | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace(strlen(1)); }
--out
--errhas [D_PROTO_ARG]
--status 1
--end

@@ error.PROTO_LEN.key | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { a[1] = 1; trace(a[1, 2]); }
--out
--errhas [D_PROTO_LEN]
--status 1
--end

@@ error.PROTO_ARG.key | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { a[1] = 1; trace(a["x"]); }
--out
--errhas [D_PROTO_ARG]
--status 1
--end

@@ error.KEY_TYPE | error tags | wrong |
--args -xerrtags -qs $D
struct s { int a; int b : 3; };
struct s v;
BEGIN { a[v] = 1; }
--out
--errhas [D_KEY_TYPE]
--status 1
--end

@@ error.PRINTF_ARG_FMT | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { s = "x"; printf(s); }
--out
--errhas [D_PRINTF_ARG_FMT]
--status 1
--end

@@ error.PRINTF_ARG_PROTO | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { printf("%d"); }
--out
--errhas [D_PRINTF_ARG_PROTO]
--status 1
--end

@@ error.PRINTF_ARG_TYPE | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { printf("%s", 1); }
--out
--errhas [D_PRINTF_ARG_TYPE]
--status 1
--end

@@ error.PRINTF_ARG_TYPE.string | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { printf("%d", "x"); }
--out
--errhas [D_PRINTF_ARG_TYPE]
--status 1
--end

@@ error.PRINTF_ARG_EXTRA | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { printf("x", 1); }
--out
--errhas [D_PRINTF_ARG_EXTRA]
--status 1
--end

@@ error.PRINTF_FMT_EMPTY | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { printf(""); }
--out
--errhas [D_PRINTF_FMT_EMPTY]
--status 1
--end

@@ error.PRINTF_DYN_PROTO | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { printf("%*d"); }
--out
--errhas [D_PRINTF_DYN_PROTO]
--status 1
--end

@@ error.PRINTF_DYN_TYPE | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { printf("%*d", "a", 1); }
--out
--errhas [D_PRINTF_DYN_TYPE]
--status 1
--end

@@ error.PRINTF_AGG_CONV | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { printf("%@d", 1); }
--out
--errhas [D_PRINTF_AGG_CONV]
--status 1
--end

@@ error.DECL_CHARATTR | error tags | wrong |
--args -xerrtags -qs $D
short char x;
BEGIN { exit(0); }
--out
--errhas [D_DECL_CHARATTR]
--status 1
--end

@@ error.DECL_VOIDATTR | error tags | wrong |
--args -xerrtags -qs $D
unsigned void *x;
BEGIN { exit(0); }
--out
--errhas [D_DECL_VOIDATTR]
--status 1
--end

@@ error.DECL_SIGNINT | error tags | wrong |
--args -xerrtags -qs $D
unsigned float x;
BEGIN { exit(0); }
--out
--errhas [D_DECL_SIGNINT]
--status 1
--end

@@ error.DECL_LONGINT | error tags | wrong |
--args -xerrtags -qs $D
long float x;
BEGIN { exit(0); }
--out
--errhas [D_DECL_LONGINT]
--status 1
--end

@@ error.DECL_BADCLASS | error tags | wrong |
--args -xerrtags -qs $D
static int x;
BEGIN { exit(0); }
--out
--errhas [D_DECL_BADCLASS]
--status 1
--end

@@ error.DECL_COMBO | error tags | wrong |
--args -xerrtags -qs $D
int char x;
BEGIN { exit(0); }
--out
--errhas [D_DECL_COMBO]
--status 1
--end

@@ error.DECL_IDRED | error tags | wrong |
--args -xerrtags -qs $D
int pid;
BEGIN { exit(0); }
--out
--errhas [D_DECL_IDRED]
--status 1
--end

@@ error.DECL_IDRED.type | error tags | wrong |
--args -xerrtags -qs $D
int x;
string x;
BEGIN { exit(0); }
--out
--errhas [D_DECL_IDRED]
--status 1
--end

@@ error.DECL_MNAME | error tags | wrong |
--args -xerrtags -qs $D
struct t { int a; char a; };
BEGIN { exit(0); }
--out
--errhas [D_DECL_MNAME]
--status 1
--end

@@ error.DECL_BFSIZE | error tags | wrong |
--args -xerrtags -qs $D
struct t { int a : 40; };
BEGIN { exit(0); }
--out
--errhas [D_DECL_BFSIZE]
--status 1
--end

@@ error.DECL_BFTYPE | error tags | wrong |
--args -xerrtags -qs $D
struct t { float a : 3; };
BEGIN { exit(0); }
--out
--errhas [D_DECL_BFTYPE]
--status 1
--end

@@ error.DECL_BFCONST | error tags | wrong |
--args -xerrtags -qs $D
struct t { int a : 0; };
BEGIN { exit(0); }
--out
--errhas [D_DECL_BFCONST]
--status 1
--end

@@ error.DECL_ENOFLOW | error tags | wrong |
--args -xerrtags -qs $D
enum e { A = 0x7fffffff, B };
BEGIN { exit(0); }
--out
--errhas [D_DECL_ENOFLOW]
--status 1
--end

@@ error.DECL_USELESS | error tags | wrong |
--args -xerrtags -qs $D
int;
BEGIN { exit(0); }
--out
--errhas [D_DECL_USELESS]
--status 1
--end

@@ error.DECL_LOCASSC | error tags | wrong |
--args -xerrtags -qs $D
this int a[int];
BEGIN { exit(0); }
--out
--errhas [D_DECL_LOCASSC]
--status 1
--end

@@ error.DECL_VOIDOBJ | error tags | wrong |
--args -xerrtags -qs $D
void x;
BEGIN { exit(0); }
--out
--errhas [D_DECL_VOIDOBJ]
--status 1
--end

@@ error.DECL_INCOMPLETE | error tags | wrong |
--args -xerrtags -qs $D
struct nosuch x;
BEGIN { exit(0); }
--out
--errhas [D_DECL_INCOMPLETE]
--status 1
--end

@@ error.DECL_TYPERED | error tags | wrong |
--args -xerrtags -qs $D
typedef int t;
typedef string t;
BEGIN { exit(0); }
--out
--errhas [D_DECL_TYPERED]
--status 1
--end

@@ error.DECL_ARRNULL | error tags | wrong |
--args -xerrtags -qs $D
int x[0];
BEGIN { exit(0); }
--out
--errhas [D_DECL_ARRNULL]
--status 1
--end

@@ error.COMM_COMM | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { commit(1); commit(2); }
--out
--errhas [D_COMM_COMM]
--status 1
--end

@@ error.COMM_DREC | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace(1); commit(1); }
--out
--errhas [D_COMM_DREC]
--status 1
--end

@@ error.SPEC_SPEC | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { speculate(1); speculate(2); }
--out
--errhas [D_SPEC_SPEC]
--status 1
--end

@@ error.SPEC_COMM | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { commit(1); speculate(1); }
--out
--errhas [D_SPEC_COMM]
--status 1
--end

@@ error.SPEC_DREC | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace(1); speculate(1); }
--out
--errhas [D_SPEC_DREC]
--status 1
--end

@@ error.AGG_COMM | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { commit(1); @ = count(); }
--out
--errhas [D_AGG_COMM]
--status 1
--end

@@ error.AGG_SPEC | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { speculate(1); @ = count(); }
--out
--errhas [D_AGG_SPEC]
--status 1
--end

@@ error.ACT_SPEC | error tags | wrong |
--args -w -xerrtags -qs $D
BEGIN { speculate(1); stop(); }
--out
--errhas [D_ACT_SPEC]
--status 1
--end

@@ error.EXIT_SPEC | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { speculate(1); exit(0); }
--out
--errhas [D_EXIT_SPEC]
--status 1
--end

@@ error.DREC_COMM | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { commit(1); trace(1); }
--out
--errhas [D_DREC_COMM]
--status 1
--end

@@ error.PRINTA_PROTO | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { printa(); }
--out
--errhas [D_PRINTA_PROTO]
--status 1
--end

@@ error.PRINTA_AGGARG | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { printa("%d", 1); }
--out
--errhas [D_PRINTA_AGGARG]
--status 1
--end

@@ error.PRINTA_AGGBAD | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { printa(@nosuch); }
--out
--errhas [D_PRINTA_AGGBAD]
--status 1
--end

@@ error.PRINTA_AGGKEY | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @a[1] = count(); @b[1, 2] = count(); printa(@a, @b); }
--out
--errhas [D_PRINTA_AGGKEY]
--status 1
--end

@@ error.PRINTA_AGGPROTO | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @a[1] = count(); @b["x"] = count(); printa(@a, @b); }
--out
--errhas [D_PRINTA_AGGPROTO]
--status 1
--end

@@ error.TRACE_AGG | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @a = count(); trace(@a); }
--out
--errhas [D_TRACE_AGG]
--status 1
--end

@@ error.TRACE_VOID | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace((void)1); }
--out
--errhas [D_TRACE_VOID]
--status 1
--end

@@ error.TRACEMEM_SIZE | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { tracemem(0xffff, 0); }
--out
--errhas [D_TRACEMEM_SIZE]
--status 1
--end

@@ error.STACK_PROTO | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { stack(1, 2); }
--out
--errhas [D_STACK_PROTO]
--status 1
--end

@@ error.STACK_SIZE | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { stack(0); }
--out
--errhas [D_STACK_SIZE]
--status 1
--end

@@ error.USTACK_FRAMES | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { ustack("a"); }
--out
--errhas [D_USTACK_FRAMES]
--status 1
--end

@@ error.LQUANT_BASETYPE | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = lquantize(1, "a", 10); }
--out
--errhas [D_LQUANT_BASETYPE]
--status 1
--end

@@ error.LQUANT_LIMTYPE | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = lquantize(1, 0, "a"); }
--out
--errhas [D_LQUANT_LIMTYPE]
--status 1
--end

@@ error.LQUANT_MISMATCH | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = lquantize(1, 10, 0); }
--out
--errhas [D_LQUANT_MISMATCH]
--status 1
--end

@@ error.LQUANT_STEPTYPE | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = lquantize(1, 0, 10, "a"); }
--out
--errhas [D_LQUANT_STEPTYPE]
--status 1
--end

@@ error.LQUANT_STEPVAL | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = lquantize(1, 0, 10, 0); }
--out
--errhas [D_LQUANT_STEPVAL]
--status 1
--end

@@ error.LQUANT_STEPLARGE | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = lquantize(1, 0, 10, 11); }
--out
--errhas [D_LQUANT_STEPLARGE]
--status 1
--end

@@ error.LQUANT_STEPSMALL | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = lquantize(1, 0, 1000000, 1); }
--out
--errhas [D_LQUANT_STEPSMALL]
--status 1
--end

@@ error.LQUANT_BASEVAL | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = lquantize(1, -3000000000, 10); }
--out
--errhas [D_LQUANT_BASEVAL]
--status 1
--end

@@ error.LQUANT_LIMVAL | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = lquantize(1, 0, 3000000000); }
--out
--errhas [D_LQUANT_LIMVAL]
--status 1
--end

@@ error.LQUANT_MATCHBASE | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = lquantize(1, 0, 10); @ = lquantize(1, 1, 10); }
--out
--errhas [D_LQUANT_MATCHBASE]
--status 1
--end

@@ error.LQUANT_MATCHLIM | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = lquantize(1, 0, 10); @ = lquantize(1, 0, 11); }
--out
--errhas [D_LQUANT_MATCHLIM]
--status 1
--end

@@ error.LQUANT_MATCHSTEP | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = lquantize(1, 0, 10, 1); @ = lquantize(1, 0, 10, 2); }
--out
--errhas [D_LQUANT_MATCHSTEP]
--status 1
--end

@@ error.LLQUANT_FACTORTYPE | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = llquantize(1, "a", 0, 2, 10); }
--out
--errhas [D_LLQUANT_FACTORTYPE]
--status 1
--end

@@ error.LLQUANT_FACTORVAL | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = llquantize(1, 70000, 0, 2, 70000); }
--out
--errhas [D_LLQUANT_FACTORVAL]
--status 1
--end

@@ error.LLQUANT_FACTORSMALL | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = llquantize(1, 1, 0, 2, 10); }
--out
--errhas [D_LLQUANT_FACTORSMALL]
--status 1
--end

@@ error.LLQUANT_LOWTYPE | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = llquantize(1, 10, "a", 2, 10); }
--out
--errhas [D_LLQUANT_LOWTYPE]
--status 1
--end

@@ error.LLQUANT_LOWVAL | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = llquantize(1, 10, 70000, 2, 10); }
--out
--errhas [D_LLQUANT_LOWVAL]
--status 1
--end

@@ error.LLQUANT_HIGHTYPE | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = llquantize(1, 10, 0, "a", 10); }
--out
--errhas [D_LLQUANT_HIGHTYPE]
--status 1
--end

@@ error.LLQUANT_HIGHVAL | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = llquantize(1, 10, 0, 70000, 10); }
--out
--errhas [D_LLQUANT_HIGHVAL]
--status 1
--end

@@ error.LLQUANT_MAGRANGE | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = llquantize(1, 10, 2, 1, 10); }
--out
--errhas [D_LLQUANT_MAGRANGE]
--status 1
--end

@@ error.LLQUANT_MAGTOOBIG | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = llquantize(1, 10, 0, 40, 10); }
--out
--errhas [D_LLQUANT_MAGTOOBIG]
--status 1
--end

@@ error.LLQUANT_NSTEPTYPE | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = llquantize(1, 10, 0, 2, "a"); }
--out
--errhas [D_LLQUANT_NSTEPTYPE]
--status 1
--end

@@ error.LLQUANT_NSTEPVAL | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = llquantize(1, 10, 0, 2, 70000); }
--out
--errhas [D_LLQUANT_NSTEPVAL]
--status 1
--end

@@ error.LLQUANT_FACTORNSTEPS | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = llquantize(1, 10, 0, 2, 5); }
--out
--errhas [D_LLQUANT_FACTORNSTEPS]
--status 1
--end

@@ error.LLQUANT_FACTOREVEN | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = llquantize(1, 10, 0, 2, 15); }
--out
--errhas [D_LLQUANT_FACTOREVEN]
--status 1
--end

@@ error.LLQUANT_FACTORMATCH | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = llquantize(1, 10, 0, 2, 10); @ = llquantize(1, 2, 0, 2, 2); }
--out
--errhas [D_LLQUANT_FACTORMATCH]
--status 1
--end

@@ error.LLQUANT_LOWMATCH | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = llquantize(1, 10, 0, 2, 10); @ = llquantize(1, 10, 1, 2, 10); }
--out
--errhas [D_LLQUANT_LOWMATCH]
--status 1
--end

@@ error.LLQUANT_HIGHMATCH | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = llquantize(1, 10, 0, 2, 10); @ = llquantize(1, 10, 0, 3, 10); }
--out
--errhas [D_LLQUANT_HIGHMATCH]
--status 1
--end

@@ error.LLQUANT_NSTEPMATCH | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @ = llquantize(1, 10, 0, 2, 10); @ = llquantize(1, 10, 0, 2, 20); }
--out
--errhas [D_LLQUANT_NSTEPMATCH]
--status 1
--end

@@ error.CLEAR_PROTO | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { clear(); }
--out
--errhas [D_CLEAR_PROTO]
--status 1
--end

@@ error.CLEAR_AGGARG | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { clear(1); }
--out
--errhas [D_CLEAR_AGGARG]
--status 1
--end

@@ error.CLEAR_AGGBAD | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { clear(@nosuch); }
--out
--errhas [D_CLEAR_AGGBAD]
--status 1
--end

@@ error.NORMALIZE_PROTO | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { @a = count(); normalize(@a); }
--out
--errhas [D_NORMALIZE_PROTO]
--status 1
--end

@@ error.NORMALIZE_AGGARG | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { normalize(1, 2); }
--out
--errhas [D_NORMALIZE_AGGARG]
--status 1
--end

@@ error.NORMALIZE_AGGBAD | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { normalize(@nosuch, 2); }
--out
--errhas [D_NORMALIZE_AGGBAD]
--status 1
--end

@@ error.NORMALIZE_SCALAR | error tags | wrong |
--args -xerrtags -qs $D
struct s { int a; int b : 3; };
struct s v;
BEGIN { @a = count(); normalize(@a, v); }
--out
--errhas [D_NORMALIZE_SCALAR]
--status 1
--end

@@ error.TRUNC_PROTO | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trunc(); }
--out
--errhas [D_TRUNC_PROTO]
--status 1
--end

@@ error.TRUNC_AGGARG | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trunc(1); }
--out
--errhas [D_TRUNC_AGGARG]
--status 1
--end

@@ error.TRUNC_AGGBAD | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trunc(@nosuch); }
--out
--errhas [D_TRUNC_AGGBAD]
--status 1
--end

@@ error.TRUNC_SCALAR | error tags | wrong |
--args -xerrtags -qs $D
struct s { int a; int b : 3; };
struct s v;
BEGIN { @a = count(); trunc(@a, v); }
--out
--errhas [D_TRUNC_SCALAR]
--status 1
--end

@@ error.FREOPEN_INVALID | error tags | wrong |
--args -w -xerrtags -qs $D
BEGIN { freopen("."); }
--out
--errhas [D_FREOPEN_INVALID]
--status 1
--end

@@ error.PROV_BADNAME | error tags | wrong |
--args -xerrtags -qs $D
provider foo1 { probe p(int); };
BEGIN { exit(0); }
--out
--errhas [D_PROV_BADNAME]
--status 1
--end

@@ error.ARGS_TYPE | error tags | wrong |
--args -xerrtags -qs $D
BEGIN { trace(args["x"]); }
--out
--errhas [D_ARGS_TYPE]
--status 1
--end

