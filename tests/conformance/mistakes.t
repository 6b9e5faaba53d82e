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
--errhas did you mean dtrace:::?
--status 1
--end

@@ mistake.fields.syscall | probe.form, probe.none | wrong | kernel
--args -qn 'syscall::read* { exit(0); }'
--out
--errhas did you mean syscall::read*:?
--status 1
--end
