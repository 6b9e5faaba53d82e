@@ mistake.copyin.string | subr.copyin | wrong
BEGIN { copyin("a", 4); }
--tag D_PROTO_ARG

@@ mistake.copyinstr.string | subr.copyinstr | wrong
BEGIN { trace(copyinstr(execname)); }
--tag D_PROTO_ARG

@@ mistake.copyinto.constant | subr.copyinto | wrong
BEGIN { copyinto(0, 4, 5); }
--tag D_PROTO_ARG

@@ mistake.copyinto.literal | subr.copyinto | wrong
BEGIN { copyinto(0, 4, "abcd"); }
--tag D_PROTO_ARG

@@ mistake.alloca.huge | subr.alloca | wrong
BEGIN { p = alloca(1 << 30); }
--tag D_ALLOCA_SIZE

@@ mistake.alloca.limit | subr.alloca | boundary
BEGIN { p = alloca(4194304); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 5

--errhas out of scratch space
--end

@@ mistake.alloca.above-limit | subr.alloca | wrong
BEGIN { p = alloca(4194305); }
--tag D_ALLOCA_SIZE

@@ mistake.alloca.negative | subr.alloca | wrong
BEGIN { p = alloca(-1); }
--tag D_ALLOCA_SIZE

@@ mistake.copyin.huge | subr.copyin | wrong
BEGIN { p = copyin(0, 1 << 30); }
--tag D_PROTO_ARG

@@ mistake.inet_ntoa6.string | subr.inet_ntoa6 | wrong
BEGIN { trace(inet_ntoa6("::1")); }
--tag D_PROTO_ARG

@@ mistake.inet_ntoa6.number | subr.inet_ntoa6 | wrong
BEGIN { trace(inet_ntoa6(1)); }
--tag D_PROTO_ARG

@@ mistake.inet_ntoa6.ipv4 | subr.inet_ntoa6 | wrong
ipaddr_t *p;
BEGIN { p = alloca(16); trace(inet_ntoa6(p)); }
--tag D_PROTO_ARG

@@ mistake.inet_ntoa6.words | subr.inet_ntoa6 | wrong
uint64_t *p;
BEGIN { p = alloca(16); trace(inet_ntoa6(p)); }
--tag D_PROTO_ARG

@@ mistake.copyout.speculating | subr.copyout, act.order | wrong
#pragma D option destructive
BEGIN { speculate(1); copyout(alloca(4), 0, 4); }
--tag D_ACT_SPEC

@@ mistake.choice.scratch | op.conditional, subr.alloca | wrong
BEGIN { p = alloca(8); q = pid ? p : (void *)arg0; }
--tag D_ALLOCA_INCOMPAT

@@ mistake.choice.scratch-null | op.conditional, subr.alloca | boundary
BEGIN { p = (char *)alloca(8); q = pid >= 0 ? p : NULL; *q = 'a'; printf("%c\n", *p); exit(0); }
--out
a

--end

@@ mistake.dynamic.statement | xlate | wrong
struct s { int a; };
translator struct s < int i > { a = i; };
BEGIN { xlate <struct s *> (1); }
--tag D_CG_DYN

@@ mistake.dynamic.condition | xlate, op.conditional | wrong
struct s { int a; };
translator struct s < int i > { a = i; };
BEGIN { x = xlate <struct s *> (1) ? 1 : 2; }
--tag D_OP_DYN

@@ mistake.dynamic.element | xlate, op.postfix | wrong
struct s { int a; };
translator struct s < int i > { a = i; };
BEGIN { trace((xlate <struct s *> (1))[0]); }
--tag D_OP_DYN

@@ mistake.void-pointer.add | op.pointer | wrong
BEGIN { p = alloca(8); trace(p + 1); }
--tag D_OP_VFPTR

@@ mistake.void-pointer.cast | op.pointer | boundary
BEGIN { p = alloca(8); printf("%d\n", (char *)p + 1 == (char *)((uintptr_t)p + 1)); exit(0); }
--out
1

--end

@@ mistake.array.assigned | op.assign, type.array | wrong
int a[4];
int b[4];
BEGIN { a = b; }
--tag D_OP_ARRFUN

@@ mistake.translator.input-void | translator | wrong
struct s { int a; };
translator struct s < void v > { a = 1; };
BEGIN { exit(0); }
--tag D_XLATE_INCOMPAT

@@ mistake.translator.input-unknown | translator | wrong
struct s { int a; };
translator struct s < nosuch v > { a = 1; };
BEGIN { exit(0); }
--tag D_TYPE_ERR

@@ mistake.inline.twice | inline.plain | wrong
inline int A = 1;
inline int A = 2;
BEGIN { exit(0); }
--tag D_DECL_IDRED

@@ mistake.enum.empty | type.enum | wrong
enum e { };
BEGIN { exit(0); }
--tag D_SYNTAX

@@ mistake.enum.no-value | type.enum | wrong
enum e { A = , B };
BEGIN { exit(0); }
--tag D_SYNTAX

@@ mistake.enum.number | type.enum | wrong
enum e { 1 };
BEGIN { exit(0); }
--tag D_SYNTAX

@@ mistake.struct.no-type | type.struct | wrong
struct s { a; };
BEGIN { exit(0); }
--tag D_SYNTAX

@@ mistake.struct.open | type.struct | wrong
struct s { int a;
--tag D_SYNTAX

@@ mistake.empty | unit, cmd.script | wrong
--args -xerrtags -s /dev/null
--out
--errhas [D_EMPTY]
--status 1
--end

@@ mistake.pragma.cut | pragma.option, lex.control | wrong
--args -xerrtags -s "$(printf 'BEGIN { exit(0); }\n#pragma D option quiet' >cut.d; echo cut.d)"
--errhas [D_SYNTAX]
--status 1
--end

@@ mistake.depends.main | pragma.depends, library | wrong
#pragma D depends_on library procfs.d
BEGIN { exit(0); }
--tag D_PRAGMA_DEPEND

@@ mistake.pragma.early | pragma.option, opt.compile | wrong
#pragma D option cpp
BEGIN { exit(0); }
--tag D_PRAGMA_OPTSET

@@ mistake.bufsize.small | opt.size, cmd.bufsize | wrong
--args -xbufsize=511 -qn 'BEGIN { exit(0); }'
--out
--errhas Invalid value for specified option
--status 1
--end

@@ mistake.bufsize.least | opt.size | boundary
--args -xaggsize=512 -xspecsize=512 -qn 'BEGIN { printf("ran\n"); exit(0); }'
--out
ran

--end

@@ mistake.specsize.small | opt.size, pragma.option | wrong
#pragma D option specsize=100
BEGIN { exit(0); }
--tag D_PRAGMA_OPTSET

@@ mistake.version.ours | opt.compile | boundary
#pragma D option version=1.13
BEGIN { printf("ran\n"); exit(0); }
--out
ran

--end

@@ mistake.version.beyond | opt.compile, pragma.option | wrong
#pragma D option version=1.14
BEGIN { exit(0); }
--tag D_PRAGMA_OPTSET

@@ mistake.fields.from-right | probe.form, probe.none | wrong
--args -qn 'dtrace { exit(0); }'
--out
--errhas did you mean 'dtrace:::'?
--status 1
--end

@@ mistake.fields.syscall | probe.form, probe.none | wrong | kernel
--args -qn 'syscall::read* { exit(0); }'
--out
--errhas did you mean 'syscall::read*:'?
--status 1
--end

@@ mistake.empty.declaration | unit | wrong
--args -xerrtags -s $D
/* a comment */
  int x;
--out
--errhas :2:3: error: empty D program: there are declarations, but no clause [D_EMPTY]
--status 1
--end

@wrong D_EMPTY | mistake.empty.inline | unit, inline.plain | inline int one = 1;
@wrong D_EMPTY | mistake.empty.types | unit, type.struct | struct s { int a; }; translator struct s < int i > { a = i; };

@@ mistake.empty.pragma | unit, pragma.option | wrong
#pragma D option quiet
--tag D_EMPTY

@wrong D_EMPTY | mistake.empty.semicolon | unit | ;

@@ mistake.empty.one-of-two | unit, cmd.specifiers | boundary
--args -qn 'int x;' -n 'BEGIN { x = 3; printf("%d\n", x); exit(0); }'
--out
3

--end

@@ mistake.empty.all-of-two | unit, cmd.specifiers | wrong
--args -xerrtags -n 'int x;' -n 'int y;'
--out
--errhas [D_EMPTY]
--status 1
--end

@@ mistake.empty.later-error | unit, cmd.specifiers | wrong
--args -xerrtags -n 'int x;' -n 'BEGIN { y; }'
--out
--errhas invalid probe specifier BEGIN { y; }: [D_IDENT_UNDEF]
--status 1
--end

@@ mistake.empty.allowed | unit, inline.plain | boundary
--args -xempty -qe -s $D
inline int one = 1;
--out
--end

@@ mistake.empty.end-only | unit | normal
BEGIN { exit(0); }
END { printf("end\n"); }
--out
end

--end

@@ mistake.from-right.list | cmd.list, probe.none | wrong
--args -l -n 'dtrace::'
--out
   ID   PROVIDER            MODULE                          FUNCTION NAME
--errhas dtrace: fields are counted from the right; did you mean 'dtrace:::'?
--status 1
--end

@@ mistake.from-right.list-function | cmd.list, probe.none | wrong
--args -l -f dtrace
--out
   ID   PROVIDER            MODULE                          FUNCTION NAME
--errhas dtrace: fields are counted from the right; did you mean -n 'dtrace:::'?
--status 1
--end

@@ mistake.from-right.list-module | cmd.list, probe.none | wrong
--args -l -m dtrace
--out
   ID   PROVIDER            MODULE                          FUNCTION NAME
--errhas dtrace: fields are counted from the right; did you mean -n 'dtrace:::'?
--status 1
--end

@@ mistake.from-right.program | probe.none, probe.form | wrong
dtrace::: { exit(0); }
dtrace: { exit(0); }
--args -xerrtags -s $D
--out
--errhas     fields are counted from the right; did you mean 'dtrace:::'?
--status 1
--end

@@ mistake.from-right.function | probe.none, cmd.specifiers | wrong
--args -f dtrace
--out
--errhas     fields are counted from the right; did you mean -n 'dtrace:::'?
--status 1
--end

@wrong D_OP_ARRFUN | mistake.array.text-to-member | op.assign, type.array, type.struct | struct s { char m[8]; }; struct s v; BEGIN { v.m = "abc"; }
@wrong D_OP_ARRFUN | mistake.array.text-to-scratch | op.assign, type.array, subr.alloca | struct s { char m[8]; }; BEGIN { this->p = (struct s *)alloca(8); this->p->m = execname; }
@wrong D_OP_ARRFUN | mistake.array.text-to-declared | op.assign, type.array | char a[8]; BEGIN { a = "abc"; }
@wrong D_OP_ARRFUN | mistake.array.text-to-this | op.assign, type.array, var.this | this char a[8]; BEGIN { this->a = "abc"; }

@@ mistake.array.string-member | op.assign, type.string, type.struct | boundary
struct s { int a; string t; };
struct s v;
BEGIN { v.t = "abc"; this->p = (struct s *)alloca(sizeof (struct s)); this->p->t = v.t[1] == 'b' ? "de" : "f"; printf("%s %s\n", v.t, this->p->t); exit(0); }
--out
abc de

--end

@@ mistake.array.string-element | op.assign, type.string, type.array | boundary
string a[3];
BEGIN { a[1] = "abc"; a[2] = a[1][0] == 'a' ? "yes" : "no"; printf("%s %s\n", a[1], a[2]); exit(0); }
--out
abc yes

--end

@@ mistake.array.string-through-pointer | op.assign, type.string, subr.alloca | boundary
BEGIN { this->p = (string *)alloca(256); *this->p = "abc"; printf("%s\n", *this->p); exit(0); }
--out
abc

--end

@wrong D_KEY_TYPE | mistake.key.text-for-pointer | var.key, type.array | int k[char *]; char a[8]; BEGIN { k[a] = 1; }
@wrong D_KEY_TYPE | mistake.key.float-for-integer | var.key, type.float | BEGIN { a[1] = 1; a[2.5] = 1; }

@@ mistake.key.text-for-string | var.key, type.array | boundary
int k[string];
char a[8];
BEGIN { a[0] = 'h'; a[1] = 'i'; k[a] = 4; printf("%d\n", k["hi"]); exit(0); }
--out
4

--end

@@ mistake.inline.library | inline.plain, library | wrong
--args -xerrtags -s $D
BEGIN { exit(0); }
  inline int SIGINT = 5;
--out
--errhas :2:14: error: identifier redeclared: SIGINT [D_DECL_IDRED]
--status 1
--end

@@ mistake.inline.library-used | inline.plain, library | wrong
--args -xerrtags -s $D
inline int SIGINT = 5;
BEGIN { printf("%d\n", SIGTERM); exit(0); }
--out
--errhas :1:12: error: identifier redeclared: SIGINT [D_DECL_IDRED]
--status 1
--end

@@ mistake.inline.library-variable | var.type, library | wrong
--args -xerrtags -s $D
BEGIN { printf("%d\n", SIGTERM); exit(0); }
int SIGINT;
--out
--errhas :2:5: error: identifier redeclared: SIGINT [D_DECL_IDRED]
--status 1
--end

@@ mistake.inline.library-constant | type.enum, library | boundary
enum signals { SIGINT = 77 };
BEGIN { printf("%d %d %d\n", SIGINT, SIGTERM, SIGINT); exit(0); }
--out
77 15 77

--end

@wrong D_DECL_IDRED | mistake.inline.constant | inline.plain, type.enum | enum e { one }; inline int one = 1; BEGIN { exit(0); }
@wrong D_DECL_IDRED | mistake.inline.constant-behind | inline.plain, type.enum | inline int one = 1; enum e { one }; BEGIN { exit(0); }
@wrong D_DECL_IDRED | mistake.null.typedef | builtin.constants, type.typedef | typedef int NULL; BEGIN { exit(0); }

@@ mistake.null.constant | builtin.constants, type.enum | wrong
--args -xerrtags -s $D
enum e { A, NULL = 3 };
BEGIN { exit(0); }
--out
--errhas :1:13: error: identifier redeclared: NULL [D_DECL_IDRED]
--status 1
--end

@wrong D_DECL_IDRED | mistake.null.parameter | builtin.constants, inline.parameters | inline int f[int NULL] = 1; BEGIN { exit(0); }
@wrong D_DECL_IDRED | mistake.null.input | builtin.constants, translator | struct s { int a; }; translator struct s < int NULL > { a = 1; }; BEGIN { exit(0); }

@@ mistake.null.tag | builtin.constants, type.struct | boundary
struct NULL { int NULL; };
struct NULL v;
BEGIN { v.NULL = 3; printf("%d %d\n", v.NULL, NULL); exit(0); }
--out
3 0

--end

@@ mistake.struct.empty | type.struct | wrong
--args -xerrtags -s $D
struct s { };
BEGIN { exit(0); }
--out
--errhas :1:12: error: syntax error near "}" [D_SYNTAX]
--status 1
--end

@wrong D_SYNTAX | mistake.union.empty | type.union | union u { }; BEGIN { exit(0); }
@wrong D_SYNTAX | mistake.struct.empty-member | type.struct | struct s { struct { } a; int b; }; BEGIN { exit(0); }

@@ mistake.string.nul | op.sizeof, lex.string | boundary
BEGIN { x = "a\0b"; printf("%d %d %d %s\n", sizeof "a\0b", sizeof "\0", strlen(x), x); exit(0); }
--out
2 1 1 a

--end

@@ mistake.printf.width | printf.width | boundary
BEGIN { printf("%5000d", 1); printf("%.5000d", 1); printf("%*d\n", 5000, 1); exit(0); }
--args -qs $D | awk 'NR == 1 { print length($0) }'
--out
12288
--end

@@ mistake.speculating.copyoutstr | subr.copyout, act.order | wrong
#pragma D option destructive
BEGIN { speculate(1); copyoutstr("a", 0, 4); }
--args -xerrtags -s $D
--out
--errhas copyoutstr( ) may not be in a clause that speculates
--status 1
--end

@@ mistake.choice.condition | statements, op.conditional | wrong
--args -xerrtags -s $D
struct s { int a; };
struct s v;
BEGIN { v ? printf("a") : printf("b"); }
--out
--errhas :3:9: error: operator ?: expression must be of scalar type [D_PRED_SCALAR]
--status 1
--end

@@ mistake.llquantize.buckets | agg.llquantize | wrong
--args -xerrtags -s $D
BEGIN { @ = llquantize(1, 2, 0, 61, 32768); }
--out
--errhas llquantize( ) has 802817 buckets, and 65534 is the most [D_LLQUANT_NSTEPVAL]
--status 1
--end

@@ mistake.alloca.negative-size | subr.alloca | wrong
--args -xerrtags -s $D
BEGIN { p = alloca(-1); }
--out
--errhas     a size is 0 or more
--status 1
--end
