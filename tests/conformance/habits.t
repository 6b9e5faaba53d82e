@@ habit.walltimestamp.constant | builtin.time | boundary
BEGIN { this->a = walltimestamp; printf("%d %d\n", walltimestamp - walltimestamp, walltimestamp == this->a); exit(0); }
BEGIN { printf("%d\n", walltimestamp == this->a); }
--out
0 1

--end

@@ habit.walltimestamp.one-firing | builtin.time | boundary
BEGIN { this->a = walltimestamp; }
BEGIN { printf("%d\n", walltimestamp == this->a); exit(0); }
--out
1

--end

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

@@ habit.end.empty-line | out.record | boundary
--args -qn 'BEGIN { @a[1] = count(); trunc(@a); exit(0); }' | od -c | head -1
--out
0000000  \n
--end

@@ habit.vtimestamp.runs | builtin.time | normal | kernel
--args -qs $D -c 'dd if=/dev/zero of=/dev/null bs=1000000 count=3' 2>/dev/null
fbt::vfs_read:entry /pid == $target/ { self->v = vtimestamp; }
fbt::vfs_read:return /self->v/ { printf("%d\n", vtimestamp - self->v > 0); self->v = 0; }
--out
1
1
1

--end

@@ habit.vtimestamp.sleeps | builtin.time | boundary | kernel
--args -qs $D -c 'sleep 0.3'
syscall::nanosleep:entry,syscall::clock_nanosleep:entry /pid == $target/ { self->t = timestamp; self->v = vtimestamp; }
syscall::nanosleep:return,syscall::clock_nanosleep:return /self->t/ { printf("%d\n", vtimestamp - self->v < (timestamp - self->t) / 2); }
--out
1

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

@@ habit.command.status | cmd.command | boundary | process
--args -n 'BEGIN { }' -c false
--out
CPU     ID                    FUNCTION:NAME
  0      1                           :BEGIN 

--errhas exited with status 1
--end

@@ habit.command.signal | cmd.command | boundary
--args -n 'BEGIN { }' -c "$(echo 'kill -KILL $$' >die.sh; echo sh die.sh)" >/dev/null
--errhas terminated by SIGKILL
--end

@@ habit.command.fine | cmd.command | normal
--args -n 'BEGIN { }' -c true >/dev/null
--errhas  has exited
--end

@@ habit.if.empty-statement | if-else | boundary
BEGIN { if (0) ; else printf("else\n"); if (1) ; printf("on\n"); exit(0); }
--out
else
on

--end

@@ habit.char-pointer.from-string | var.type, op.assign | boundary
const char *s;
string t;
BEGIN { s = "abc"; t = s; printf("%c %s %s\n", s[1], stringof(s), t); exit(0); }
--out
b abc abc

--end

@@ habit.int-pointer.from-string | var.type, op.assign | wrong
int *s;
BEGIN { s = "abc"; exit(0); }
--tag D_OP_INCOMPAT

@@ habit.in6_addr_t | subr.inet_ntoa6 | boundary
in6_addr_t *p;
BEGIN { p = (in6_addr_t *)alloca(16); printf("%s\n", inet_ntoa6(p)); exit(0); }
--out
::

--end

@@ habit.assoc.struct-member | var.assoc, type.struct | boundary
struct p { int x; int y; };
struct p a;
struct p b[int];
BEGIN { a.x = 1; a.y = 2; b[5] = a; b[5].x = 9; printf("%d %d %d\n", b[5].x, b[5].y, a.x); exit(0); }
--out
9 2 1

--end

@@ habit.errno-table | inline.parameters, op.conditional | boundary
--args -qn "inline string NAME[int e] = $(i=0; while [ $i -lt 134 ]; do printf 'e == %d ? "E%d" : ' $i $i; i=$((i + 1)); done) \"none\"; BEGIN { printf(\"%s %s\\n\", NAME[133], NAME[pid > 0 ? 500 : 1]); exit(0); }"
--out
E133 none

--end

@@ habit.list.to-file | cmd.list, cmd.output | boundary
--args -o listed -ln 'dtrace:::END' | cat; cat listed
--out
   ID   PROVIDER            MODULE                          FUNCTION NAME
    2     dtrace                                                     END
--end

@@ habit.exit.no-room | act.exit, out.drops | boundary
--args -b 16k -qs $D >/dev/null
BEGIN { tracemem(alloca(15000), 15000); }
BEGIN { tracemem(alloca(15000), 15000); }
BEGIN { tracemem(alloca(15000), 15000); x = 1; }
BEGIN { tracemem(alloca(15000), 15000); x = 2; exit(7 + x); }
BEGIN { x = 3; }
END /x/ { exit(1); }
--status 7
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

@@ habit.commit.then-trace | act.commit, act.order | wrong
BEGIN { commit(1); commit(2); trace(1); }
--tag D_DREC_COMM

@@ habit.commit.then-speculate | act.commit, act.order | wrong
BEGIN { commit(1); commit(2); speculate(3); }
--tag D_SPEC_COMM

@@ habit.llquantize.few-steps | agg.llquantize | normal
BEGIN { @ = llquantize(1, 10, 0, 1, 5); @ = llquantize(3, 10, 0, 1, 5); @ = llquantize(45, 10, 0, 1, 5); exit(0); }
--out


           value  ------------- Distribution ------------- count    
             < 1 |                                         0        
               1 |@@@@@@@@@@@@@                            1        
               2 |@@@@@@@@@@@@@                            1        
               4 |                                         0        
               6 |                                         0        
               8 |                                         0        
              10 |                                         0        
              20 |                                         0        
              40 |@@@@@@@@@@@@@                            1        
              60 |                                         0        

--end

@@ habit.llquantize.one-step | agg.llquantize | boundary
BEGIN { @ = llquantize(1, 10, 0, 1, 1); @ = llquantize(9, 10, 0, 1, 1); @ = llquantize(10, 10, 0, 1, 1); @ = llquantize(100, 10, 0, 1, 1); exit(0); }
--out


           value  ------------- Distribution ------------- count    
             < 1 |                                         0        
               1 |@@@@@@@@@@@@@@@@@@@@                     2        
              10 |@@@@@@@@@@                               1        
          >= 100 |@@@@@@@@@@                               1        

--end

@@ habit.llquantize.no-divisor | agg.llquantize | wrong
BEGIN { @ = llquantize(1, 10, 0, 2, 3); }
--tag D_LLQUANT_FACTORNSTEPS

@@ habit.llquantize.no-steps | agg.llquantize | wrong
BEGIN { @ = llquantize(1, 10, 0, 2, 0); }
--tag D_LLQUANT_FACTORNSTEPS

@@ habit.predicate.own-variable | clause, var.undefined | normal
BEGIN /x == 0/ { x++; printf("ran %d\n", x); exit(0); }
--out
ran 1

--end

@@ habit.predicate.own-kinds | clause, var.undefined, var.assoc, var.self | boundary
BEGIN /s != "b" && a[1] == 0 && self->t == 0 && this->u == 0/ { s = "b"; a[1] = 2; self->t = 3; this->u = 4; }
BEGIN /s == "b"/ { printf("%s %d %d %d\n", s, a[1], self->t, this->u); exit(0); }
--out
b 2 3 4

--end

@@ habit.predicate.until | clause | boundary
BEGIN /i < 2/ { i++; }
BEGIN /i < 2/ { i++; }
BEGIN /i < 2/ { i++; }
BEGIN { printf("%d\n", i); exit(0); }
--out
2

--end

@@ habit.predicate.makes | clause, op.assign | boundary
BEGIN /x = 5/ { printf("%d\n", x); exit(0); }
--out
5

--end

@@ habit.predicate.made-later | clause, var.undefined | wrong
BEGIN /x == 0/ { y = 1; }
BEGIN { x = 1; }
--tag D_IDENT_UNDEF

@@ habit.predicate.own-string | clause, op.string | wrong
BEGIN /x == 1/ { x = "a"; }
--tag D_OP_INCOMPAT

@@ habit.choice.actions | if-else, action-place, op.conditional | normal
BEGIN { x = 1; x ? printf("yes\n") : trace("no"); x == 2 ? printf("two\n") : printf("not two\n"); exit(0); }
--out
yes
not two

--end

@@ habit.choice.nested | if-else, action-place, op.conditional | boundary
BEGIN { x = 2; x == 1 ? printf("one\n") : x == 2 ? printf("two\n") : exit(5); x > 5 ? printf("no\n") : exit(3); }
--out
two

--status 3
--end

@@ habit.choice.one-line | if-else, out.record | boundary
--args -n 'BEGIN { x = 1; x ? printf("a") : printf("b"); x ? printf("c") : exit(9); exit(0); }' 2>/dev/null
--out
CPU     ID                    FUNCTION:NAME
  0      1                           :BEGIN ac

--end

@@ habit.choice.value | action-place, op.conditional | wrong
BEGIN { x = 1 ? printf("a") : printf("b"); }
--tag D_OP_ACT

@@ habit.choice.string | if-else, op.conditional | wrong
BEGIN { execname ? printf("a") : printf("b"); }
--tag D_PRED_SCALAR

@@ habit.null.integer | builtin.constants, op.sizeof | normal
BEGIN { x = NULL; x = 5; printf("%d %d %d\n", x, sizeof (NULL), NULL + 1); exit(0); }
--out
5 4 1

--end

@@ habit.null.pointer | builtin.constants, op.equality, var.type | boundary
char *c;
int i;
BEGIN { p = alloca(8); i = 7; i = NULL; printf("%d %d %d", p == NULL, NULL != p, i); p = NULL; c = NULL; printf(" %d %d %d\n", p == NULL, c == NULL, NULL == 0); exit(0); }
--out
0 1 0 1 1 1

--end

@@ habit.null.loaded | builtin.constants, op.address | wrong
BEGIN { trace(*NULL); }
--tag D_DEREF_NONPTR

@@ habit.sizeof.literal | op.sizeof, lex.string | normal
BEGIN { s = "hi"; printf("%d %d\n", sizeof ("hi"), sizeof (s)); exit(0); }
--out
3 256

--end

@@ habit.sizeof.literal-edges | op.sizeof, lex.string | boundary
--args -xstrsize=3 -qs $D
BEGIN { printf("%d %d %d\n", sizeof (""), sizeof "hello", sizeof (string)); exit(0); }
--out
1 6 3

--end

@@ habit.char.several | lex.char, lex.integer-type | normal
BEGIN { printf("%x %x %d %d\n", 'ab', 'abcdefgh', sizeof ('ab'), sizeof ('abcdefgh')); exit(0); }
--out
6162 6162636465666768 4 8

--end

@@ habit.char.five | lex.char | boundary
BEGIN { x = 'abcde'; printf("%x %d\n", x, 'abcde' > 'abcd'); exit(0); }
--out
6162636465 1

--end

@@ habit.char.nine | lex.char | wrong
BEGIN { trace('abcdefghi'); }
--tag D_CHR_OFLOW

@@ habit.key.struct | var.key, var.assoc, type.struct | normal
struct p { int x; int y; };
struct p v;
BEGIN { v.x = 1; v.y = 2; a[v] = 5; v.y = 3; printf("%d", a[v]); v.y = 2; printf(" %d\n", a[v]); exit(0); }
--out
0 5

--end

@@ habit.key.union | var.key, var.self-assoc, type.union | boundary
union u { int i; char c[4]; };
self union u w;
BEGIN { self->w.i = 0x62; self->a[1, self->w, "k"] = 7; }
BEGIN { self->w.i = 0; self->w.c[0] = 'b'; printf("%d", self->a[1, self->w, "k"]); self->w.c[3] = 1; printf(" %d\n", self->a[1, self->w, "k"]); exit(0); }
--out
7 0

--end

@@ habit.key.declared | var.key, var.assoc | boundary
struct p { char x; long y; };
struct p v;
int a[struct p, int];
BEGIN { v.y = -1; a[v, 3] = 4; a[v, 3]++; printf("%d", a[v, 3]); a[v, 3] = 0; printf(" %d\n", a[v, 3]); exit(0); }
--out
5 0

--end

@@ habit.key.other-struct | var.key | wrong
struct p { int x; };
struct q { int x; };
struct p v;
struct q w;
BEGIN { a[v] = 1; trace(a[w]); }
--tag D_PROTO_ARG

@@ habit.printa.star | printf.star, agg.printa | normal
BEGIN { @a[5, 42] = count(); printa("[%*d] %@d\n", @a); exit(0); }
--out
[   42] 1

--end

@@ habit.printa.star-both | printf.star, agg.printa | boundary
BEGIN { @a[-6, 2, "abcd", 0, "xyz"] = count(); printa("[%*.*s][%.*s] %@d\n", @a); exit(0); }
--out
[ab    ][xyz] 1

--end

@@ habit.printa.star-no-key | printf.star, agg.printa | wrong
BEGIN { @a = count(); printa("%*d\n", @a); }
--tag D_PRINTF_DYN_PROTO

@@ habit.printa.star-last-key | printf.star, agg.printa | wrong
BEGIN { @a[1] = count(); printa("%*d %@d\n", @a); }
--tag D_PRINTF_ARG_PROTO

@@ habit.precision.zero | printf.width, printf.s | boundary
BEGIN { printf("[%.0s][%4.0s][%.*s][%.1s]\n", "abc", "ab", 0, "xyz", "abc"); exit(0); }
--out
[abc][  ab][xyz][a]

--end

@@ habit.printa.lacks-quantize | agg.printa, agg.quantize | normal
BEGIN { @c["a"] = count(); @c["a"] = count(); @q["a"] = quantize(1); @c["b"] = count(); printa("%s %@d%@d", @c, @q); exit(0); }
--out
b 1
           value  ------------- Distribution ------------- count    
              -1 |                                         0        
               0 |                                         0        
               1 |                                         0        
a 2
           value  ------------- Distribution ------------- count    
               0 |                                         0        
               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        
               2 |                                         0        

--end

@@ habit.printa.lacks-all | agg.printa, agg.lquantize | boundary
BEGIN { @c["a"] = count(); }
BEGIN /0/ { @l["b"] = lquantize(1, 0, 10, 5); @m["b"] = max(1); }
BEGIN { printa("%s %@d %@d%@d", @c, @m, @l); exit(0); }
--out
a 1 0
           value  ------------- Distribution ------------- count    
             < 0 |                                         0        
               0 |                                         0        
               5 |                                         0        

--end

@@ habit.printa.other-keys | agg.printa | wrong
BEGIN { @c["a"] = count(); @q[1] = quantize(1); printa(@c, @q); }
--tag D_PRINTA_AGGPROTO

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

@@ habit.print.nothing | act.print | wrong
struct empty { };
struct empty *e;
BEGIN { print(*e); }
--tag D_PRINT_SIZE

@@ habit.print.void | act.print | wrong
BEGIN { print(bcopy(alloca(1), alloca(1), 1)); }
--tag D_PRINT_VOID

@@ habit.print.nothing | act.print | wrong
struct empty { };
struct empty *e;
BEGIN { print(*e); }
--tag D_PRINT_SIZE

@@ habit.print.void | act.print | wrong
BEGIN { print(bcopy(alloca(1), alloca(1), 1)); }
--tag D_PRINT_VOID

@@ habit.drops.tag | out.drops, out.tags | boundary
--args -xdroptags -b 16k -qs $D >/dev/null
BEGIN { tracemem(alloca(15000), 15000); }
BEGIN { tracemem(alloca(15000), 15000); }
BEGIN { tracemem(alloca(15000), 15000); exit(0); }
--errhas [DTRACEDROP_PRINCIPAL] 1 drop on CPU
--end

@@ habit.environment.unknown | out.testing, opt.unknown | boundary
--args -qn 'BEGIN { exit(0); }' >/dev/null | cat; DTRACE_OPT_NOSUCHOPTION=5 DTRACE_OPT_= DTRACE_OPT_QUIET=1 "$dtrace" -x engine=$engine -n 'BEGIN { printf("ran\n"); exit(0); }'
--out
ran

--err
--end

@@ habit.zonename | builtin.execname | normal
BEGIN { printf("%s %d\n", zonename, zonename == "global"); exit(0); }
--out
global 1

--end

@@ habit.zonename.other | builtin.execname | boundary | kernel
--args -qs $D -c "$(echo 'hostname zed; exec /bin/dd if=/dev/zero of=/dev/null bs=1 count=1' >zone.sh; echo unshare -u sh zone.sh)" 2>/dev/null
syscall::read:entry /execname == "dd"/ { printf("%s\n", zonename); exit(0); }
--out
zed

--end

@@ habit.cpu-info | builtin.cpu | normal | kernel
BEGIN { printf("%d %d %s\n", curcpu->cpu_info.pi_clock == `cpu_khz / 1000, curcpu->cpu_info.pi_state == P_ONLINE, curcpu->cpu_info.pi_processor_type); exit(0); }
--out
1 1 x86_64

--end

@@ habit.clname | builtin.psinfo | normal | kernel
--args -qs $D -c true
BEGIN { printf("%s\n", curlwpsinfo->pr_clname); exit(0); }
--out
OTHER

--end
