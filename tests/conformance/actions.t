@@ act.trace.struct | act.trace, out.bytes | boundary
struct s { char a; char b; };
struct s v;
BEGIN { v.a = 'h'; v.b = 'i'; trace(v); exit(0); }
--out
hi
--end

@@ act.tracemem.dump | act.tracemem | normal
this char *p;
BEGIN { this->p = alloca(18); this->p[0] = 1; this->p[1] = 'A'; this->p[17] = 0xff; tracemem(this->p, 18); exit(0); }
--out

             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef
         0: 01 41 00 00 00 00 00 00 00 00 00 00 00 00 00 00  .A..............
        10: 00 ff                                            ..

--end

@@ act.tracemem.limited | act.tracemem | boundary
this char *p;
BEGIN { this->p = alloca(16); this->p[0] = 'a'; this->p[1] = 'b'; this->p[2] = 'c'; x = 2; tracemem(this->p, 16, x); exit(0); }
--out

             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef
         0: 61 62                                            ab

--end

@@ act.tracemem.arguments | act.tracemem | wrong
BEGIN { tracemem(0); }
--tag D_TRACEMEM_ARGS

@@ act.tracemem.address | act.tracemem | wrong
struct s { int a; };
struct s v;
BEGIN { tracemem(v, 4); }
--tag D_TRACEMEM_ADDR

@@ act.tracemem.limit-type | act.tracemem | wrong
BEGIN { tracemem(0, 4, "a"); }
--tag D_TRACEMEM_DYNSIZE

@@ act.print.struct | act.print | normal
struct in { short x; };
struct s { int a; char b[4]; unsigned c : 3; struct in i; };
struct s v;
BEGIN { v.a = -5; v.b[0] = 'A'; v.c = 5; v.i.x = 7; print(v); exit(0); }
--out
struct s {
    int a = 0xfffffffb
    char [4] b = [ "A" ]
    unsigned int c :3 = 0x5
    struct in i = {
        short x = 0x7
    }
}
--end

@@ act.print.scalars | act.print | boundary
enum e { ZERO, ONE };
enum e v;
BEGIN { v = ONE; print(5); printf("\n"); print("abc"); printf("\n"); print(v); printf("\n"); exit(0); }
--out
int 0x5
string "abc"
enum e ONE

--end

@@ act.print.void | act.print | wrong
BEGIN { print((void)1); }
--tag D_PRINT_VOID

@@ act.print.aggregation | act.print | wrong
BEGIN { @a = count(); print(@a); }
--tag D_PRINT_AGG

@@ act.printm.plain | act.printm, subr.memstr | normal
this char *p;
BEGIN { this->p = alloca(4); this->p[0] = 'a'; this->p[1] = 'b'; this->p[2] = 'c'; this->p[3] = 'd'; printm(4, memref(this->p, 4)); exit(0); }
--out

             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef
         0: 61 62 63 64                                      abcd

--end

@@ act.printm.shorter | act.printm | boundary
this char *p;
BEGIN { this->p = alloca(4); this->p[0] = 1; this->p[1] = 2; printm(4, memref(this->p, 2)); exit(0); }
--out

             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef
         0: 01 02                                            ..

--end

@@ act.printm.longer | act.printm, out.drops | boundary
--args -qs $D >/dev/null
this char *p;
BEGIN { this->p = alloca(8); printm(4, memref(this->p, 5)); exit(1); }
BEGIN { exit(2); }
--status 2
--errhas 1 drop on CPU
--end

@@ act.printm.size | act.printm | wrong
BEGIN { printm(0, memref(0, 4)); }
--tag D_PRINTM_SIZE

@@ act.printm.address | act.printm | wrong
BEGIN { printm(4, 5); }
--tag D_PRINTM_ADDR

@@ act.stack.frames | act.stack, opt.frames | boundary | kernel
--args -xstackframes=3 -qs $D -c 'cat /dev/null' | grep -c '^              vmlinux.'
fbt::vfs_open:entry /pid == $target/ { stack(); stack(1); exit(0); }
--out
4
--end

@@ act.ustack.frames | act.ustack, opt.frames | normal | kernel
--args -qs $D -c 'cat /dev/null' | grep -c '^              .*0x\|^              .*`'
syscall::openat:entry /pid == $target/ { ustack(1); exit(0); }
--out
1
--end

@@ act.ustack.option | act.ustack, opt.frames | boundary | kernel
--args -xustackframes=1 -qs $D -c 'cat /dev/null' | grep -c '^              .'
syscall::openat:entry /pid == $target/ { ustack(); exit(0); }
--out
1
--end

@@ act.ustack.strings-size | act.ustack | wrong
BEGIN { ustack(5, 0); }
--tag D_USTACK_STRSIZE

@@ act.ustack.arguments | act.ustack | wrong
BEGIN { ustack(1, 2, 3); }
--tag D_USTACK_PROTO

@@ act.jstack.plain | act.jstack | normal | kernel
--args -qs $D -c 'cat /dev/null' | grep -c '^              .'
syscall::openat:entry /pid == $target/ { jstack(1); exit(0); }
--out
1
--end

@@ act.jstack.option | act.jstack, opt.frames | boundary | kernel
--args -xjstackframes=1 -qs $D -c 'cat /dev/null' | grep -c '^              .'
syscall::openat:entry /pid == $target/ { jstack(); exit(0); }
--out
1
--end

@@ act.jstack.zero | act.jstack | wrong
BEGIN { jstack(0); }
--tag D_USTACK_FRAMES

@@ act.sym.padded | act.sym | normal | kernel
BEGIN { sym((uintptr_t)&`vfs_read); printf("|\n"); func((uintptr_t)&`vfs_read + 3); printf("|\n"); mod((uintptr_t)&`vfs_read); printf("|\n"); exit(0); }
--out
vmlinux`vfs_read|
vmlinux`vfs_read|
vmlinux|

--end

@@ act.sym.key | act.sym, agg.layout.key | boundary | kernel
BEGIN { @[func((uintptr_t)&`vfs_read)] = count(); @[func((uintptr_t)&`vfs_read + 1)] = count(); @[func(1)] = count(); exit(0); }
--out

  0x1                                                               1
  vmlinux`vfs_read                                                  2
--end

@@ act.sym.string | act.sym | wrong | kernel
BEGIN { sym("a"); }
--tag D_PROTO_ARG

@@ act.usym.not-mapped | act.usym | boundary
BEGIN { usym(1); printf("|"); ufunc(2); printf("|"); umod(3); printf("|"); uaddr(4); printf("|\n"); exit(0); }
--out
0x1|0x2|0x3|0x4|

--end

@@ act.usym.string | act.usym | wrong
BEGIN { uaddr("a"); }
--tag D_PROTO_ARG

@@ act.usym.this-program | act.usym | normal | kernel
--args -qs $D -c 'sleep 2'
syscall::*nanosleep:entry /pid == $target/ { umod(uregs[R_PC]); printf("|\n"); exit(0); }
--out
busybox|

--end

@@ act.exit.expression | act.exit, out.status | boundary
BEGIN { x = 3; exit(x * 2 + 1); }
--out

--status 7
--end

@@ act.exit.string | act.exit | wrong
BEGIN { exit("a"); }
--tag D_PROTO_ARG

@@ act.speculate.committed | act.speculate, act.commit, subr.speculation | normal
BEGIN { s = speculation(); }
BEGIN { speculate(s); printf("kept %d\n", s); }
BEGIN { printf("now\n"); }
BEGIN { commit(s); }
BEGIN { exit(0); }
--out
now
kept 1

--end

@@ act.speculate.zero | act.speculate | boundary
BEGIN { speculate(0); printf("no\n"); }
BEGIN { s = speculation(); t = speculation(); }
BEGIN { speculate(t); printf("no\n"); }
BEGIN { printf("%d %d\n", s, t); exit(0); }
--out
1 0

--errhas no speculative buffer available
--end

@@ act.speculate.too-large | act.speculate, act.commit, act.discard | wrong
BEGIN { speculate(77); printf("no\n"); }
ERROR { printf("fault %d\n", arg4); }
BEGIN { commit(78); }
BEGIN { discard(79); }
BEGIN { exit(0); }
--out
fault 3
fault 3
fault 3

--errhas illegal operation
--end

@@ act.commit.unused | act.commit | boundary
BEGIN { commit(0); }
BEGIN { s = speculation(); }
BEGIN { commit(s); }
BEGIN { t = speculation(); }
BEGIN { printf("%d %d\n", s, t); exit(0); }
--out
1 1

--end

@@ act.discard.gone | act.discard | normal
BEGIN { s = speculation(); }
BEGIN { speculate(s); printf("no\n"); }
BEGIN { discard(s); }
BEGIN { commit(s); }
BEGIN { printf("ok\n"); exit(0); }
--out
ok

--end

@@ act.discard.in-its-clause | act.discard | boundary
BEGIN { this->s = speculation(); speculate(this->s); printf("no\n"); discard(this->s); }
BEGIN { s = speculation(); speculate(s); printf("no\n"); }
BEGIN { speculate(s); printf("no\n"); discard(s); x = 3; printf("no\n"); t = speculation(); }
BEGIN { commit(s); }
BEGIN { printf("%d %d\n", x, t > 0); exit(0); }
--out
3 1

--end

@@ act.discard.in-a-part | act.discard, if-else | boundary
BEGIN { s = speculation(); speculate(s); printf("no\n"); if (s > 0) { printf("no\n"); discard(s); } else { x = 1; } x += 2; printf("no\n"); }
BEGIN { s = speculation(); speculate(s); if (s > 0) { discard(s); } t = speculation(); printf("no\n"); }
BEGIN { commit(t); }
BEGIN { printf("%d\n", x); exit(0); }
--out
2

--end

@@ act.discard.then-commit | act.discard, act.commit | boundary
BEGIN { s = speculation(); speculate(s); printf("no\n"); discard(s); commit(s); discard(s); }
BEGIN { s = speculation(); speculate(s); printf("yes\n"); commit(s); discard(s); }
BEGIN { exit(0); }
--out
yes

--end

@@ act.discard.then-fault | act.discard, new.error-probe | boundary
BEGIN { s = speculation(); speculate(s); printf("no\n"); discard(s); x = *(int *)0; }
ERROR { speculate(s); printf("no\n"); discard(s); }
ERROR { speculate(s); printf("no\n"); commit(s); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 1

--errhas invalid address
--end

@@ act.discard.in-error | act.discard, new.error-probe | boundary
BEGIN { s = speculation(); speculate(s); printf("no\n"); x = *(int *)0; }
ERROR { discard(s); }
ERROR { commit(s); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 1

--errhas invalid address
--end

@@ act.commit.fault-locals | act.commit, new.error-probe | boundary
int first, last;
this int y;
BEGIN { this->x = 42; first = strtok("a b", " ") == "a"; exit(0); }
END { commit(99); }
END { printf("then %d\n", this->y); }
ERROR { last = strtok(NULL, " ") == NULL; printf("x %d first %d none left %d\n", this->x, first, last); this->y = 5; }
--out
x 0 first 1 none left 1
then 5

--errhas illegal operation
--end

@@ act.discard.zero | act.discard | boundary
BEGIN { discard(0); discard(0); printf("ok\n"); exit(0); }
--out
ok

--end

@@ act.discard.string | act.discard | wrong
BEGIN { discard("a"); }
--tag D_PROTO_ARG

@@ act.speculation.none-left | subr.speculation, opt.nspec, out.drops | boundary
--args -xnspec=2 -qs $D
BEGIN { a = speculation(); b = speculation(); c = speculation(); printf("%d %d %d\n", a > 0, b > 0, c); exit(0); }
--out
1 1 0

--err
dtrace: 1 failed speculation (no speculative buffer available)
--end

@@ act.speculation.argument | subr.speculation | wrong
BEGIN { x = speculation(1); }
--tag D_PROTO_LEN

@@ act.stop.refused | act.stop, out.destructive | wrong
BEGIN { stop(); }
--out
--errhas estructive actions not allowed
--status 1
--end

@@ act.stop.arguments | act.stop | wrong
BEGIN { stop(1); }
--tag D_PROTO_LEN

@@ act.stop.stops | act.stop | normal | kernel
--args -wqs $D -c 'sh /conformance/stopped'
syscall::umask:entry /pid == $target/ { stop(); printf("stopped\n"); }
proc:::signal-send, proc:::signal-discard /args[2] == SIGCONT/ { printf("continued\n"); exit(0); }
--out
stopped
continued

--end

@@ act.raise.sends | act.raise | normal | kernel
--args -wqs $D -c 'sh -c umask'
syscall::umask:entry /pid == $target/ { raise(SIGUSR1); }
proc:::exit /pid == $target/ { printf("%d\n", args[0] == CLD_KILLED); exit(0); }
--out
1

--end

@@ act.raise.refused | act.raise | wrong
BEGIN { raise(0); }
--out
--errhas estructive actions not allowed
--status 1
--end

@@ act.raise.string | act.raise | wrong
BEGIN { raise("a"); }
--tag D_PROTO_ARG

@@ act.system.runs | act.system, out.destructive, cmd.destructive | normal
--args -wqs $D
BEGIN { printf("before\n"); system("echo %s %d", "ran", 5); printf("after\n"); exit(0); }
--out
before
ran 5
after

--end

@@ act.system.ordered | act.system | boundary
--args -wqs $D
BEGIN { x = 1; system("echo %d; echo %%", x); x = 2; system("echo %d", x); exit(0); }
--out
1
%
2

--end

@@ act.system.refused | act.system, cmd.destructive | wrong
BEGIN { system("true"); }
--out
--errhas estructive actions not allowed
--status 1
--end

@@ act.system.format | act.system | wrong
BEGIN { system("echo %d"); }
--tag D_PRINTF_ARG_PROTO

@@ act.freopen.file | act.freopen | normal
--args -wqs $D | cat; echo --; cat freopened
BEGIN { printf("output\n"); freopen("%s%s", "freo", "pened"); printf("file\n"); freopen(""); printf("again\n"); exit(0); }
--out
output
again

--
file
--end

@@ act.freopen.appends | act.freopen | boundary
--args -wqs $D | cat; cat freopened2
BEGIN { freopen("freopened2"); printf("a\n"); freopen(""); freopen("freopened2"); printf("b\n"); exit(0); }
--out
a
b

--end

@@ act.freopen.refused | act.freopen | wrong
BEGIN { freopen("x"); }
--out
--errhas estructive actions not allowed
--status 1
--end

@@ act.freopen.dot | act.freopen | wrong
--args -xerrtags -wqs $D
BEGIN { freopen("."); }
--out
--errhas [D_FREOPEN_INVALID]
--status 1
--end

@@ act.ftruncate.file | act.ftruncate, cmd.output | normal
--args -o truncated -qs $D | cat; cat truncated
BEGIN { printf("a\n"); ftruncate(); printf("b\n"); exit(0); }
--out
b

--end

@@ act.ftruncate.pipe | act.ftruncate | boundary
--args -qs $D | cat
BEGIN { printf("a\n"); ftruncate(); printf("b\n"); exit(0); }
--out
a
b

--end

@@ act.ftruncate.argument | act.ftruncate | wrong
BEGIN { ftruncate(1); }
--tag D_PROTO_LEN

@@ act.setopt.quiet | act.setopt, opt.dynamic | normal | process
--args -s $D
BEGIN { trace(1); }
BEGIN { setopt("quiet"); }
BEGIN { printf("quiet\n"); }
BEGIN { setopt("quiet", "no"); }
BEGIN { trace(2); exit(0); }
--out
CPU     ID                    FUNCTION:NAME
  0      1                           :BEGIN         1
  0      1                           :BEGIN 
quiet
  0      1                           :BEGIN         2

--end

@@ act.setopt.sorting | act.setopt, opt.dynamic | boundary
BEGIN { @["a"] = sum(1); @["b"] = sum(2); printa("%s", @); setopt("aggsortrev"); printa("%s", @); printf("\n"); exit(0); }
--out
abba

--end

@@ act.setopt.unknown | act.setopt, opt.unknown | wrong
BEGIN { setopt("nosuch"); exit(0); }
--errhas could not set option nosuch: Invalid option name
--end

@@ act.setopt.while-tracing | act.setopt, opt.dynamic | wrong
BEGIN { setopt("bufsize", "1m"); exit(0); }
--errhas could not set option bufsize: Operation illegal when tracing is active
--end

@@ act.chill.refused | act.chill | wrong
BEGIN { chill(1); }
--out
--errhas estructive actions not allowed
--status 1
--end

@@ act.chill.short | act.chill | normal | kernel
--args -wqs $D
BEGIN { chill(1000); printf("ok\n"); exit(0); }
--out
ok

--end

@@ act.chill.too-long | act.chill | boundary | kernel
--args -wqs $D
BEGIN { chill(600000000); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 3

--errhas illegal operation
--end

@@ act.panic.refused | act.panic | wrong
BEGIN { panic(); }
--out
--errhas estructive actions not allowed
--status 1
--end

@@ act.panic.arguments | act.panic | wrong
BEGIN { breakpoint(1); }
--tag D_PROTO_LEN

@@ act.capture.prints-nothing | act.capture | normal
BEGIN { capture(pid, execname); printf("ok\n"); exit(0); }
--out
ok

--end

@@ act.capture.no-arguments | act.capture | boundary
BEGIN { capture(); }
BEGIN { capture(arg0); exit(0); }
--out

--end

@@ act.capture.variable | act.capture | wrong
BEGIN { x = 1; capture(x); }
--tag D_CAPTURE_INPUT

@@ act.snapshot.prints-nothing | act.snapshot | normal
BEGIN { snapshot("slow"); }
BEGIN { printf("ok"); snapshot("slow"); printf("\n"); exit(0); }
--out
ok

--end

@@ act.snapshot.longest | act.snapshot | boundary
BEGIN { snapshot("123456789 123456789 123456789 123456789 123456789 123456789 123"); }
BEGIN { printf("ok\n"); exit(0); }
--out
ok

--end

@wrong D_SNAP_REASON | act.snapshot.too-long | act.snapshot | BEGIN { snapshot("123456789 123456789 123456789 123456789 123456789 123456789 1234"); }
@wrong D_SNAP_SPEC | act.snapshot.speculate | act.snapshot, act.order | BEGIN { speculate(1); snapshot("slow"); }

@@ act.order.all-allowed | act.order | normal
BEGIN { s = speculation(); }
BEGIN { speculate(s); printf("a"); trace("b"); }
BEGIN { x = 5; commit(s); }
BEGIN { printf("\n"); exit(0); }
--out
ab

--end

@@ act.order.discard-anywhere | act.order | boundary
BEGIN { discard(0); printf("a\n"); discard(0); @ = count(); discard(0); exit(0); }
END { printa("%@d\n", @); }
--out
a
1

--end

@@ act.stop.false-predicate | act.stop | boundary
--args -wqs $D
BEGIN /pid == 0/ { stop(); }
BEGIN { printf("ok\n"); exit(0); }
--out
ok

--end

@@ act.raise.zero | act.raise | boundary
--args -wqs $D
BEGIN { raise(0); printf("ok\n"); exit(0); }
--out
ok

--end

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

@@ again.speculate-record-commit | act.speculate, act.commit | boundary
BEGIN { s = speculation(); speculate(s); printf("whole\n"); commit(s); }
BEGIN { printf("then\n"); exit(0); }
--out
whole
then

--end

@@ edge.tracemem.one-into-the-second-row | act.tracemem | boundary
char *p;
BEGIN { p = (char *)alloca(17); p[0] = 'a'; p[16] = 'z'; tracemem(p, 17); exit(0); }
--out

             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef
         0: 61 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00  a...............
        10: 7a                                               z

--end

@@ edge.print.negative-bit-field | act.print | boundary
struct n { int a:3; int b; };
struct n v;
BEGIN { v.a = -1; v.b = 2; print(v); exit(0); }
--out
struct n {
    int a :3 = 0x7
    int b = 0x2
}
--end

@@ habit.print.kinds | act.print | boundary
struct in { char c; char z; char *p; unsigned char u; float f; int n[2]; };
struct in v;
BEGIN { v.c = 2; v.p = (char *)0x10; v.u = 65; v.n[1] = 10; print(v); printf("\n"); print('A'); print((char)65); print((void *)0); exit(0); }
--out
struct in {
    char c = '\002'
    char z = '\0'
    char *p = 0x10
    unsigned char u = 0x41
    float f = 0.000000
    int [2] n = [ 0, 0xa ]
}
int 0x41char 'A'void * 0
--end

@@ habit.exit.no-room | act.exit, out.drops | boundary
--args -b 16k -qs $D >/dev/null
BEGIN { tracemem(alloca(15000), 15000); }
BEGIN { tracemem(alloca(15000), 15000); }
BEGIN { tracemem(alloca(15000), 15000); x = 1; }
BEGIN { tracemem(alloca(15000), 15000); y = 2; exit(7 + x + y); }
BEGIN { x = 3; }
END /x/ { exit(1); }
--status 9
--errhas 2 drops on CPU
--end

@@ habit.exit.no-room-fault | act.exit | wrong
--args -b 16k -qs $D >/dev/null
BEGIN { tracemem(alloca(15000), 15000); }
BEGIN { tracemem(alloca(15000), 15000); }
BEGIN { tracemem(alloca(15000), 15000); exit(*(int *)8); }
BEGIN { x = 1; }
BEGIN /x/ { exit(9); }
--status 9
--errhas drops on CPU
--end

@@ habit.exit.no-room-copyout | act.exit, subr.copyout | boundary
--args -w -b 16k -qs $D >/dev/null
BEGIN { tracemem(alloca(15000), 15000); }
BEGIN { tracemem(alloca(15000), 15000); }
BEGIN { tracemem(alloca(15000), 15000); this->p = alloca(8); copyout(this->p, 8, 4); exit(2); }
ERROR { exit(6); }
--status 2
--errhas 1 drop on CPU
--end

@@ habit.exit.no-room-copyout-value | act.exit, subr.copyout | boundary
--args -w -b 16k -qs $D >/dev/null
BEGIN { tracemem(alloca(15000), 15000); }
BEGIN { tracemem(alloca(15000), 15000); }
BEGIN { tracemem(alloca(15000), 15000); v = 1; if ((copyout(alloca(8), 8, 4), 1)) { exit(3); } else { exit(4); } }
--status 3
--errhas 1 drop on CPU
--end

@@ habit.exit.no-room-copyout-argument | act.exit, subr.copyout | boundary
--args -w -b 16k -qs $D >/dev/null
BEGIN { tracemem(alloca(15000), 15000); }
BEGIN { tracemem(alloca(15000), 15000); }
BEGIN { tracemem(alloca(15000), 15000); v = 7, copyout(alloca(8), 8, 4); exit((copyout(alloca(8), 8, 4), v)); }
ERROR { exit(6); }
--status 7
--errhas 1 drop on CPU
--end

@@ habit.exit.goes-on | act.exit, if-else | normal
BEGIN { printf("a"); if (1) { exit(3); } else { printf("not"); } printf("b"); x = 1; if (x) { printf("c"); } else { printf("not"); } }
BEGIN { printf("not"); }
BEGIN { if (1) { printf("not"); } }
END { printf("%d\n", x); }
--out
abc1

--status 3
--end

@@ habit.exit.goes-on-tick | act.exit, if-else | normal
tick-1ms { if (n++) exit(4); else { printf("a"); } printf("%d", n); if (n == 2) printf("b\n"); }
tick-1ms /n == 2/ { printf("not"); }
--out
a12b

--status 4
--end

@@ habit.exit.twice | act.exit, if-else | boundary
BEGIN { printf("a"); if (1) exit(1); printf("b"); if (1) { printf("not"); exit(2); } printf("not"); }
--out
ab
--status 1
--end

@@ habit.exit.faults-behind | act.exit, if-else, out.fault | wrong
BEGIN { if (1) exit(2); printf("a"); x = *(int *)8; printf("not"); if (1) printf("not"); }
ERROR { printf("fault %d\n", arg4); }
--out
fault 1

--errhas invalid address
--status 2
--end

@@ habit.exit.end-no-room | act.exit, out.drops | boundary
--args -b 16k -qs $D >/dev/null
BEGIN { exit(3); }
END { tracemem(alloca(15000), 15000); }
END { tracemem(alloca(15000), 15000); }
END { tracemem(alloca(15000), 15000); exit(5); }
--status 5
--errhas 1 drop on CPU
--end

@@ habit.exit.end-last | act.exit | boundary
BEGIN { exit(3); }
END { exit(5); }
END { exit(6); }
END { x = 1; }
--out

--status 6
--end

@@ habit.if.no-room | if-else, act.exit | boundary
--args -b 16k -qs $D >/dev/null
BEGIN { tracemem(alloca(15000), 15000); }
BEGIN { tracemem(alloca(15000), 15000); }
BEGIN { tracemem(alloca(15000), 15000); if (1) { exit(3); } else { exit(4); } }
BEGIN { exit(5); }
--status 3
--errhas drop on CPU
--end

@@ habit.if.no-room-later | if-else, act.exit | boundary
--args -b 16k -qs $D >/dev/null
BEGIN { tracemem(alloca(15000), 15000); }
BEGIN { tracemem(alloca(15000), 15000); }
BEGIN { x = 5; if (x == 5) { self->x = 1; tracemem(alloca(15000), 15000); x = 6; } if (x == 6 && self->x) exit(x); else exit(8); }
--status 6
--errhas drop on CPU
--end

@@ habit.if.no-room-nothing | if-else, act.exit | boundary
--args -b 16k -qs $D >/dev/null
BEGIN { tracemem(alloca(15000), 15000); }
BEGIN { tracemem(alloca(15000), 15000); }
BEGIN { tracemem(alloca(15000), 15000); if (1) { x = 1; } y = 1; }
BEGIN { exit(5 + x + y); }
--status 5
--errhas drops on CPU
--end

@@ habit.if.no-room-silent | if-else, act.exit | boundary
--args -b 16k -qs $D | grep -a '^ *[a-z][a-z][a-z]'
BEGIN { tracemem(alloca(15000), 15000); }
BEGIN { tracemem(alloca(15000), 15000); }
BEGIN { tracemem(alloca(15000), 15000); @a["agg"] = count(); if (1) { printf("late\n"); @a["agg"] = count(); x = 1; exit(0); } }
BEGIN { printf("next\n"); }
END { printf("end %d\n", x); }
--out
end 1
--errhas drop on CPU
--end

@@ habit.if.no-room-fault | if-else, act.exit | wrong
--args -b 16k -qs $D >/dev/null
BEGIN { tracemem(alloca(15000), 15000); }
BEGIN { tracemem(alloca(15000), 15000); }
BEGIN { tracemem(alloca(15000), 15000); x = *(int *)8; if (1) { exit(3); } }
BEGIN { exit(5); }
--status 5
--errhas drops on CPU
--end

@@ habit.commit.several | act.commit, act.order | normal
--args -xnspec=3 -qs $D
BEGIN { a = speculation(); b = speculation(); }
BEGIN { speculate(a); printf("a\n"); }
BEGIN { speculate(b); printf("b\n"); }
BEGIN { commit(a); commit(b); }
BEGIN { exit(0); }
--out
a
b

--end

@@ habit.commit.twice-the-same | act.commit, act.order | boundary
BEGIN { a = speculation(); speculate(a); printf("a\n"); }
BEGIN { commit(a); commit(a); commit(0); }
BEGIN { exit(0); }
--out
a

--end

@@ habit.print.pointer | act.print, type.pointer | normal
--args -qs $D | sed 's/ 0x[0-9a-f]* = \*/ ADDRESS = */'
struct in { int a; int z; char *p; };
BEGIN { this->s = (struct in *)alloca(sizeof (struct in)); this->s->a = 5; this->s->p = (char *)0x10; print(this->s); exit(0); }
--out
struct in * ADDRESS = *
struct in {
    int a = 0x5
    char *p = 0x10
}
--end

@@ habit.print.pointer-cut | act.print, opt.ours | boundary
--args -xprintsize=8 -qs $D | sed 's/ 0x[0-9a-f]* = \*/ ADDRESS = */'
struct in { int a; int z; char *p; };
BEGIN { this->s = (struct in *)alloca(sizeof (struct in)); this->s->a = 5; this->s->p = (char *)0x10; print(this->s); exit(0); }
--out
struct in * ADDRESS = *
struct in {
    int a = 0x5
    ...
}
--end

@@ habit.print.once-memory | act.print | boundary
--args -Seqs $D 2>&1 | grep -c 'ldx'
struct in { int a; };
struct out { struct in *p; };
BEGIN { print(((struct out *)arg0)->p); }
--out
1
--end

@@ habit.print.memory | act.print, type.pointer | boundary
--args -qs $D | sed 's/ 0x[0-9a-f]* = \*/ ADDRESS = */'
struct in { int a; int b; };
struct out { struct in *p; struct in *none; };
BEGIN { this->o = (struct out *)alloca(sizeof (struct out)); this->o->p = (struct in *)alloca(sizeof (struct in)); this->o->p->b = 3; print(this->o->p); print(this->o->none); exit(0); }
--out
struct in * ADDRESS = *
struct in {
    int b = 0x3
}struct in * 0
--end

@@ habit.print.cut-text | act.print, opt.ours | boundary
--args -xprintsize=4 -qs $D | sed 's/ 0x[0-9a-f]* = \*/ ADDRESS = */'
struct in { char c[8]; int z; };
struct last { char c[8]; };
BEGIN {
	this->s = (struct in *)alloca(16); this->t = (char *)this->s;
	this->t[0] = 'a'; this->t[1] = 'b'; this->t[2] = 'c'; this->t[3] = 'd'; this->t[4] = 'e';
	print(this->s); print((struct last *)this->s); this->t[2] = 0; print(this->s); this->t[0] = 0; this->t[1] = 0; this->t[3] = 0; print((struct last *)this->s);
	exit(0);
}
--out
struct in * ADDRESS = *
struct in {
    char [8] c = [ "abcd", ... ]
    ...
}struct last * ADDRESS = *
struct last {
    char [8] c = [ "abcd", ... ]
}struct in * ADDRESS = *
struct in {
    char [8] c = [ "ab" ]
    ...
}struct last * ADDRESS = *
struct last {
    ...
}
--end

@@ habit.print.cut-elements | act.print, opt.ours | boundary
--args -xprintsize=10 -qs $D | sed 's/ 0x[0-9a-f]* = \*/ ADDRESS = */'
struct one { int n; int m; };
struct in { int w[4]; };
struct rows { int w[2][2]; };
struct ones { struct one o[3]; };
struct zeros { struct one o; struct one p; };
BEGIN {
	this->w = (int *)alloca(32); this->w[0] = 1; this->w[1] = 2; this->w[2] = 3;
	print((struct in *)this->w); print((struct rows *)this->w); print((struct ones *)this->w);
	this->w[0] = 0; this->w[1] = 0; this->w[2] = 0; this->w[3] = 1; print((struct zeros *)this->w);
	exit(0);
}
--out
struct in * ADDRESS = *
struct in {
    int [4] w = [ 0x1, 0x2, ... ]
}struct rows * ADDRESS = *
struct rows {
    int [2][2] w = [ [ 0x1, 0x2 ], ... ]
}struct ones * ADDRESS = *
struct ones {
    struct one [3] o = [ {
            int n = 0x1
            int m = 0x2
        }, {
            ...
        }, ... ]
}struct zeros * ADDRESS = *
struct zeros {
    ...
}
--end

@@ habit.print.cut-first | act.print, opt.ours | boundary
--args -xprintsize=2 -qs $D | sed 's/ 0x[0-9a-f]* = \*/ ADDRESS = */'
struct one { int n; };
struct in { struct one o; };
BEGIN { this->s = (struct in *)alloca(4); this->s->o.n = 1; print(this->s); exit(0); }
--out
struct in * ADDRESS = *
struct in {
    struct one o = {
        ...
    }
}
--end

@@ habit.print.pointer-members | act.print | boundary
--args -qs $D | sed 's/ 0x[0-9a-f]* = \*/ ADDRESS = */'
struct one { int n; struct one *next; };
struct in { int f : 3; int g : 5; struct one o; struct one none; char c[4]; };
BEGIN { this->s = (struct in *)alloca(sizeof (struct in)); this->s->g = 2; this->s->o.next = (struct one *)0x20; this->s->c[0] = 'h'; print(this->s); exit(0); }
--out
struct in * ADDRESS = *
struct in {
    int g :5 = 0x2
    struct one o = {
        struct one *next = 0x20
    }
    char [4] c = [ "h" ]
}
--end

@@ habit.print.pointer-null | act.print | boundary
struct in { int a; };
struct nosuch;
BEGIN { print((struct in *)0); printf("\n"); print((struct nosuch *)0x10); printf("\n"); print((int *)0x18); exit(0); }
--out
struct in * 0
struct nosuch * 0x10
int * 0x18
--end

@@ habit.print.pointer-bad | act.print, out.fault | wrong
struct in { int a; };
BEGIN { print((struct in *)8); }
ERROR { printf("fault %d %x\n", arg4, arg5); exit(0); }
--out
fault 1 8

--errhas invalid address (0x8)
--end
