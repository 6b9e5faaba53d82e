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

@@ again.agg-keys-widen | agg.form, agg.layout.key | boundary
BEGIN { @a[(char)-2] = sum(3); @a[7] = sum(2); @a[0x100000007] = sum(1); exit(0); }
--out

       4294967303                1
                7                2
               -2                3
--end

@@ again.agg-keys-widen.unsigned | agg.form, agg.layout.key | boundary
BEGIN { @a[(unsigned char)200] = sum(1); @a[200LL] = sum(1); @b[(char)-1, (short)-1] = count(); exit(0); }
--out

              200                2
 255 65535                1
--end

@@ again.assoc-keys-of-sizes | var.assoc, var.key | boundary
BEGIN { a[1] = 1; a[0x100000001] = 2; printf("%d %d\n", a[1], a[0x100000001]); exit(0); }
--out
1 2

--end

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

@@ again.printa.types | agg.printa | normal
BEGIN { @a["k", 65, (void *)31, 'z'] = sum(9); printa("%s %c %p %C %@05d %@x\n", @a); exit(0); }
--out
k A 1f z 00009 9

--end

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

@@ again.inline.divides | inline.parameters | normal
inline int half[int n] = 1000 / n;
BEGIN { trace(half[2]); exit(0); }
--out
500
--end

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

@@ again.pragma.comment | pragma.option, lex.comment | normal
#pragma D option quiet /* no columns */
BEGIN { printf("x\n"); exit(0); }
--out
x

--end

@@ again.PRAGMA_INVAL.version | pragma.binding | wrong
inline int x = 3;
#pragma D binding "abc" x
BEGIN { exit(0); }
--tag D_PRAGMA_INVAL

@@ again.speculate-commit | act.speculate, act.commit | boundary | process
--args -s $D
BEGIN { s = speculation(); speculate(s); commit(s); }
BEGIN { printf("x"); exit(0); }
--out
CPU     ID                    FUNCTION:NAME
  0      1                           :BEGIN 
  0      1                           :BEGIN x

--end

@@ again.speculate.branches | act.speculate | boundary
--args -qs $D
BEGIN { self->s = speculation(); n = 1; }
BEGIN { if (n == 2) { @c = count(); } else { speculate(self->s); printf("kept\n"); } }
BEGIN { @c = count(); if (n == 2) { speculate(self->s); printf("not run\n"); } }
BEGIN { commit(self->s); }
BEGIN { exit(0); }
--out
kept

                1
--end

@@ again.nspec.none | opt.nspec | boundary
--args -qxnspec=0 -s $D
BEGIN { printf("%d\n", speculation()); exit(0); }
--out
0

--end
--err
dtrace: 1 failed speculation (no speculative buffer available)
--end

@@ again.nspec.negative | opt.nspec | wrong
#pragma D option nspec=-1
BEGIN { exit(0); }
--tag D_PRAGMA_OPTSET

@@ again.two-programs.second-is-wrong | out.compile | wrong
--args -qn 'BEGIN { exit(0); }' -n 'BEGIN { x = ; }'
--errhas invalid probe specifier BEGIN { x = ; }: syntax error
--status 1
--end

@@ again.region.action-list | out.compile | wrong
--args -qn 'BEGIN { trace(nosuch); }'
--errhas invalid probe specifier BEGIN { trace(nosuch); }: in action list: failed to resolve nosuch: Unknown variable name
--status 1
--end

@@ again.region.predicate | out.compile | wrong
--args -xerrtags -qn 'BEGIN /nosuch/ { exit(0); }'
--errhas invalid probe specifier BEGIN /nosuch/ { exit(0); }: [D_IDENT_UNDEF] in predicate: failed to resolve nosuch: Unknown variable name
--status 1
--end

@@ again.freopen.no-folder | act.freopen | wrong
--args -wqs $D
BEGIN { printf("a\n"); freopen("no/such/folder"); printf("b\n"); exit(3); }
--out
a
b

--end
--err
dtrace: freopen: cannot open no/such/folder: No such file or directory; the output goes on where it was
--end
--status 3

@@ again.cpp.names | cmd.cpp | normal | process
--args -Cqs $D
#if defined(__linux) && defined(__unix) && defined(__SVR4) && defined(__amd64) && defined(__SUNW_D) && __SUNW_D_VERSION >= 0x01000000
BEGIN { printf("all\n"); exit(0); }
#endif
--out
all

--end

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

@@ again.speculate-record-commit | act.speculate, act.commit | boundary
BEGIN { s = speculation(); speculate(s); printf("whole\n"); commit(s); }
BEGIN { printf("then\n"); exit(0); }
--out
whole
then

--end

@@ again.OP_INCOMPLETE.dereference | op.load, type.struct | wrong
struct later;
BEGIN { x = *(struct later *)8; exit(0); }
--tag D_OP_INCOMPLETE

@@ again.SYNTAX.keyword-member | lex.keyword | wrong
struct s { int while; };
BEGIN { exit(0); }
--tag D_SYNTAX
