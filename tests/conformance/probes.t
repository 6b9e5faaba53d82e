@@ probe.form.short | probe.form | normal
dtrace:::BEGIN { printf("4 "); }
::BEGIN { printf("3 "); }
:BEGIN { printf("2 "); }
BEGIN { printf("1\n"); exit(0); }
--out
4 3 2 1

--end

@@ probe.form.empty-fields | probe.form | boundary
:::BEGIN { printf("a\n"); }
:dtrace:::BEGIN { printf("b\n"); }
dtrace::: /probename == "BEGIN"/ { printf("c\n"); exit(0); }
--out
a
b
c

--end

@@ probe.form.five-colons | probe.form | wrong
a:dtrace::::BEGIN { exit(0); }
--tag D_PDESC_INVAL

@@ probe.glob.each-kind | probe.glob | normal
BEG* { printf("star\n"); }
B?GIN { printf("question\n"); }
[AB]EGIN { printf("class\n"); }
dtr*:::BEGIN { printf("provider\n"); exit(0); }
--out
star
question
class
provider

--end

@@ probe.glob.range-negation-escape | probe.glob | boundary
[A-C]EGI[M-O] { printf("range\n"); }
[!X]EGIN { printf("negated\n"); }
BEG\IN { printf("escaped\n"); }
*B*E*G*I*N* { printf("stars\n"); exit(0); }
--out
range
negated
escaped
stars

--end

@@ probe.glob.none | probe.glob | wrong
[!B]EGIN { exit(0); }
--tag D_PDESC_ZERO

@@ probe.id.script | probe.id | normal
1 { printf("%s\n", probename); exit(0); }
--out
BEGIN

--end

@@ probe.id.option | probe.id, cmd.specifiers | boundary
--args -q -i '1 /probename == "BEGIN"/ { printf("one\n"); exit(0); }' -i '2 { printf("two\n"); }'
--out
one
two

--end

@@ probe.id.none | probe.id | wrong
4000000000 { exit(0); }
--tag D_PDESC_INVAL

@@ probe.list.twice | probe.list | boundary
BEGIN, BEGIN { printf("x"); }
BEGIN { printf("\n"); exit(0); }
--out
xx

--end

@@ probe.list.one-of-two | probe.list | wrong
BEGIN, nosuch:::probe { exit(0); }
--tag D_PDESC_ZERO

@@ probe.list.comma-at-end | probe.list | wrong
BEGIN, { exit(0); }
--tag D_SYNTAX

@@ probe.macro.operand | probe.macro | normal
--args -qs $D dtrace BEGIN
$1:::$2 { printf("%s\n", probename); exit(0); }
--out
BEGIN

--end

@@ probe.macro.inside-a-field | probe.macro | boundary
--args -qs $D 20 EG
tick-$1ms { printf("tick\n"); exit(0); }
B$2IN { printf("begin\n"); }
--out
begin
tick

--end

@@ probe.macro.undefined | probe.macro | wrong
tick-$3ms { exit(0); }
--tag D_MACRO_UNDEF

@@ probe.alias.all-three | probe.alias | normal
BEGIN { x = *(int *)0; }
ERROR { printf("%s\n", probename); exit(0); }
END { printf("%s\n", probename); }
--out
ERROR
END

--errhas invalid address
--end

@@ probe.alias.provider-given | probe.alias | boundary
dtrace:::END { printf("end\n"); }
dtrace:::BEGIN { exit(0); }
--out
end

--end

@@ probe.alias.case | probe.alias | wrong
begin { exit(0); }
--tag D_PDESC_ZERO

@@ probe.none.pragma | probe.none, cmd.zdefs | normal
#pragma D option zdefs
nosuch:::probe { printf("no\n"); }
BEGIN { printf("ok\n"); exit(0); }
--out
ok

--end

@@ probe.none.text | probe.none, out.compile, cmd.zdefs | wrong
nosuch:mod:func:name { exit(0); }
--errhas probe description nosuch:mod:func:name does not match any probes
--status 1
--end

@@ probe.args.same-types | probe.args, builtin.args | normal | kernel
--args -qs $D -c 'cat /dev/null'
syscall::close:entry, syscall::dup:entry /pid == $target/ { printf("%d\n", args[0] == arg0); exit(0); }
--out
1

--end

@@ probe.args.raw-in-all | probe.args, builtin.arg | boundary | kernel
--args -qs $D -c 'cat /dev/null'
syscall::read:entry, syscall::openat:entry, syscall::close:entry /pid == $target && arg0 >= -100/ { printf("ok\n"); exit(0); }
--out
ok

--end

@@ probe.args.different | probe.args, builtin.args | wrong | kernel
fbt::vfs_read:entry, fbt::vfs_fsync:entry { trace(args[1]); }
--tag D_ARGS_MULTI

@@ probe.args.none | builtin.args, probe.args | wrong
BEGIN { trace(args[0]); }
--tag D_ARGS_NONE

@@ probe.args.not-constant | builtin.args | wrong | kernel
fbt::vfs_read:entry { trace(args[pid]); }
--tag D_ARGS_TYPE

@@ probe.args.index | builtin.args | wrong | kernel
fbt::vfs_read:entry { trace(args[9]); }
--tag D_ARGS_IDX

@@ pragma.option.value | pragma.option | boundary
#pragma D option strsize=6
#pragma D option quiet
#pragma D option bufsize=64k
BEGIN { s = "abcdefgh"; printf("%s\n", s); exit(0); }
--out
abcde

--end

@@ pragma.attributes.identifier | pragma.attributes, pragma.stability | normal
--args -xamin=Evolving/Evolving/Common -qs $D
inline int GOOD = 5;
#pragma D attributes Stable/Stable/Common GOOD
BEGIN { printf("%d\n", GOOD); exit(0); }
--out
5

--end

@@ pragma.attributes.provider | pragma.attributes | boundary
provider p_a { probe one(int); };
#pragma D attributes Evolving/Private/ISA provider p_a provider
#pragma D attributes Private/Private/Unknown provider p_a module
#pragma D attributes Private/Private/Unknown provider p_a function
#pragma D attributes Evolving/Evolving/ISA provider p_a name
#pragma D attributes Evolving/Evolving/ISA provider p_a args
BEGIN { printf("ok\n"); exit(0); }
--out
ok

--end

@@ pragma.attributes.unknown-name | pragma.attributes | wrong
inline int K = 5;
#pragma D attributes Solid/Stable/Common K
BEGIN { exit(0); }
--tag D_PRAGMA_MALFORM

@@ pragma.binding.visible | pragma.binding | normal
--args -xversion=1.5 -qs $D
inline int K = 5;
#pragma D binding "1.2" K
BEGIN { printf("%d\n", K); exit(0); }
--out
5

--end

@@ pragma.binding.equal | pragma.binding | boundary
--args -xversion=1.2 -qs $D
inline int K = 5;
#pragma D binding "1.2" K
BEGIN { printf("%d\n", K); exit(0); }
--out
5

--end

@@ pragma.binding.hidden | pragma.binding | wrong
--args -xerrtags -xversion=1.1 -qs $D
inline int K = 5;
#pragma D binding "1.2" K
BEGIN { trace(K); }
--errhas [D_IDENT_UNDEF]
--status 1
--end

@@ pragma.depends.provider | pragma.depends | normal
#pragma D depends_on provider dtrace
BEGIN { printf("ok\n"); exit(0); }
--out
ok

--end

@@ pragma.depends.library | pragma.depends | boundary
--args -L "$(mkdir deps; printf '#pragma D depends_on library b.d\ninline int A = B + 1;\n' >deps/a.d; printf 'inline int B = 4;\n' >deps/b.d; echo deps)" -qn 'BEGIN { printf("%d\n", A); exit(0); }'
--out
5

--end

@@ pragma.ident.ignored | pragma.ident | normal
#pragma ident "@(#)script.d 1.1"
BEGIN { printf("ok\n"); exit(0); }
--out
ok

--end

@@ pragma.line.named | pragma.line, out.fault | normal
#line 100 "other.d"
BEGIN { trace(*(int *)0); }
ERROR { exit(0); }
--errhas other.d:100:15
--end

@@ pragma.line.short-form | pragma.line | boundary
# 7
BEGIN { trace(*(int *)0); }
ERROR { exit(0); }
--errhas :7:15
--end

@@ pragma.line.in-errors | pragma.line, out.compile | wrong
#line 41 "other.d"
BEGIN { 1 = 2; }
--errhas other.d
--errhas line 41
--status 1
--end

@@ pragma.stability.at-the-bound | pragma.stability | boundary
--args -xamin=Stable/Stable/Common -qs $D
BEGIN { printf("ok\n"); exit(0); }
--out
ok

--end

@@ pragma.stability.below | pragma.stability | wrong
--args -xerrtags -xamin=Stable/Stable/Common -qs $D
inline int K = 5;
#pragma D attributes Private/Private/Unknown K
BEGIN { trace(K); }
--errhas [D_ATTR_MIN]
--status 1
--end

@@ again.pragma.comment | pragma.option, lex.comment | normal
#pragma D option quiet /* no columns */
BEGIN { printf("x\n"); exit(0); }
--out
x

--end
