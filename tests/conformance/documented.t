@@ doc.assign.part-found-once | op.assign, var.self, type.struct | boundary
struct in { int x; int y[3]; };
struct t { int a; int b[4]; struct in c[3]; };
self struct t t;
self struct t u;
struct t arr[int];
self struct t w[int];
int i, j, k;
BEGIN { self->t.b[i++] += 5; printf("%d %d\n", self->t.b[0], i); }
BEGIN { self->u.c[i++].x++; printf("%d %d\n", self->u.c[1].x, i); }
BEGIN { arr[j++].a += 7; printf("%d %d\n", arr[0].a, j); }
BEGIN { self->w[j++].c[k++].y[k] -= 7; printf("%d %d %d\n", self->w[1].c[0].y[1], j, k); }
BEGIN { self->w[9].b[1] += j++; printf("%d %d\n", self->w[9].b[1], j); exit(0); }
--out
5 1
1 2
7 1
-7 2 1
2 3

--end

@@ doc.option.cpu-offline | opt.cpu, out.compile | wrong
--args -xcpu=4000 -qs $D
BEGIN { exit(0); }
--errhas option cpu names no CPU that is online
--errhas correct the option that is named
--status 1
--end

@@ doc.list.foreign-provider | out.list, cmd.list | wrong
--args -l -P lockstat
--errhas failed to match lockstat:::: No probe matches description
--errhas fbt::__mutex_lock*:entry
--status 1
--end

@@ doc.ustack.too-many | act.ustack | wrong
BEGIN { ustack(4097); exit(0); }
--tag D_USTACK_FRAMES

@@ doc.ustack.too-long | act.ustack | wrong
BEGIN { ustack(1, 65537); exit(0); }
--tag D_USTACK_STRSIZE

@@ doc.stack.too-many | act.stack | wrong | kernel
BEGIN { stack(4097); exit(0); }
--tag D_STACK_SIZE

@@ doc.symbol.usual-types | lex.scoped, type.kernel | normal | kernel
BEGIN { printf("%d %s %d %d\n", `init_task.pid, stringof(`init_task.comm), `init_pid_ns.level, `nr_cpu_ids > 0); exit(0); }
--out
0 swapper/0 0 1

--end

@@ doc.jail | var.undefined | wrong
--args -xerrtags -qs $D
BEGIN { trace(jid); exit(0); }
--errhas [D_IDENT_UNDEF]
--errhas Linux has no jails
--status 1
--end

@@ doc.substr.table | subr.substr | boundary
BEGIN {
	printf("[%s][%s][%s][%s]\n", substr("abcdef", 2), substr("abcdef", 2, 2), substr("abcdef", 0, 0), substr("abcdef", 6));
	printf("[%s][%s][%s][%s]\n", substr("abcdef", 7), substr("abcdef", -2), substr("abcdef", -2, 1), substr("abcdef", 1, -2));
	printf("[%s][%s][%s]\n", substr("abcdef", -4, -1), substr("abcdef", 0, 100), substr("abcdef", -100, 3));
	exit(0);
}
--out
[cdef][cd][][]
[][ef][e][bcd]
[cde][abcdef][]

--end

@@ doc.index.table | subr.index, subr.rindex | boundary
BEGIN {
	printf("%d %d %d %d %d\n", index("foobarbaz", "bar"), index("foobarbaz", "ba", 4), index("foobarbaz", "o", -5), index("foo", "x"), index("foo", ""));
	printf("%d %d %d %d\n", rindex("foobarbaz", "ba"), rindex("foobarbaz", "ba", 5), rindex("foo", "x"), rindex("foo", "o", 0));
	exit(0);
}
--out
3 6 1 -1 0
6 3 -1 -1

--end

@@ doc.strtok.walk | subr.strtok | normal
BEGIN {
	this->s = "//usr/local//bin/";
	this->a = strtok(this->s, "/");
	this->b = strtok(NULL, "/");
	this->c = strtok(NULL, "/");
	this->d = strtok(NULL, "/");
	printf("%s %s %s %d\n", this->a, this->b, this->c, this->d == NULL);
	exit(0);
}
--out
usr local bin 1

--end

@@ doc.cleanpath.table | subr.cleanpath | boundary
BEGIN {
	printf("%s|%s|%s|%s\n", cleanpath("/foo/./bar"), cleanpath("/foo/../bar"), cleanpath("/../../x"), cleanpath("//a//b/"));
	exit(0);
}
--out
/foo/bar|/bar|/x|/a/b/

--end

@@ doc.basename.table | subr.basename, subr.dirname | boundary
BEGIN {
	printf("%s|%s|%s|%s|%s\n", basename("/usr/lib/"), basename("/"), basename(""), basename("foo"), basename("//foo//"));
	printf("%s|%s|%s|%s|%s|%s\n", dirname("/usr/lib/"), dirname("/"), dirname(""), dirname("foo"), dirname("/foo"), dirname("a/b"));
	exit(0);
}
--out
lib|/|.|foo|foo
/usr|/|.|.|/|a

--end

@@ doc.lltostr.bases | subr.lltostr | boundary
BEGIN {
	printf("%s %s %s %s %s\n", lltostr(-1), lltostr(255, 16), lltostr(8, 8), lltostr(35, 36), lltostr(5, 2));
	printf("%s %s\n", lltostr(0x7fffffffffffffff), lltostr(0));
	exit(0);
}
--out
-1 0xff 010 z 101
9223372036854775807 0

--end

@@ doc.strtoll.bases | subr.strtoll | boundary
BEGIN {
	printf("%d %d %d %d %d %d\n", strtoll("0x1f", 16), strtoll("077", 8), strtoll("-12"), strtoll("z", 36), strtoll("12abc"), strtoll("101", 2));
	exit(0);
}
--out
31 63 -12 35 12 5

--end

@@ doc.hton.values | subr.hton | normal
BEGIN {
	printf("%x %x %x %x %x %x\n", htons(0x1234), htonl(0x12345678), htonll(0x123456789abcdef0), ntohs(0x1234), ntohl(0x12345678), ntohll(0x123456789abcdef0));
	exit(0);
}
--out
3412 78563412 f0debc9a78563412 3412 78563412 f0debc9a78563412

--end

@@ doc.getmajor.linux | subr.getmajor | normal
BEGIN { printf("%d %d %d %d\n", getmajor(8388609), getminor(8388609), getmajor(0), getminor(1048575)); exit(0); }
--out
8 1 0 1048575

--end

@@ doc.inet.forms | subr.inet_ntoa, subr.inet_ntoa6, subr.inet_ntop | boundary
BEGIN {
	this->a = (uint32_t *)alloca(4);
	*this->a = htonl(0x7f000001);
	printf("%s %s\n", inet_ntoa(this->a), inet_ntop(2, this->a));
	this->b = (uint8_t *)alloca(16);
	this->b[15] = 1;
	printf("%s\n", inet_ntop(10, this->b));
	this->b[0] = 0x20; this->b[1] = 0x01; this->b[2] = 0x0d; this->b[3] = 0xb8;
	printf("%s\n", inet_ntop(10, this->b));
	exit(0);
}
--out
127.0.0.1 127.0.0.1
::1
2001:db8::1

--end

@@ doc.strings.search | subr.strstr, subr.strchr, subr.strrchr, subr.case, subr.strlen | normal
BEGIN {
	printf("%s|%s|%s|%s|%s|%d\n", strstr("foobar", "ob"), strchr("foobar", 'o'), strrchr("foobar", 'o'), toupper("aBc1"), tolower("ABc1"), strlen(""));
	printf("%d %d\n", strstr("foo", "x") == NULL, strchr("foo", 'x') == NULL);
	exit(0);
}
--out
obar|oobar|obar|ABC1|abc1|0
1 1

--end

@@ doc.json.paths | subr.json | normal
BEGIN {
	this->j = "{\"a\":{\"b\":[1,{\"c\":\"x\"}]},\"d\":null,\"e\":true}";
	printf("%s %s %s %s\n", json(this->j, "a.b[0]"), json(this->j, "a.b[1].c"), json(this->j, "d"), json(this->j, "e"));
	printf("%d\n", json(this->j, "nosuch") == NULL);
	exit(0);
}
--out
1 x null true
1

--end

@@ doc.printf.integers | printf.d, printf.x, printf.o, printf.u, printf.flags | boundary
BEGIN {
	printf("[%5d][%-5d][%05d][%+d][% d][%.3d]\n", 42, 42, 42, 42, 42, 7);
	printf("[%x][%X][%#x][%#X][%o][%#o][%#x]\n", 255, 255, 255, 255, 8, 8, 0);
	printf("[%u][%d][%i]\n", -1, (unsigned int)-1, (unsigned int)-1);
	printf("[%hhd][%hd][%ld][%lld]\n", (char)-1, (short)-2, -3L, -4LL);
	printf("[%*d][%-*d][%.*d]\n", 6, 42, 6, 42, 4, 42);
	exit(0);
}
--out
[   42][42   ][00042][+42][ 42][007]
[ff][FF][0xff][0XFF][10][010][0]
[4294967295][4294967295][-1]
[-1][-2][-3][-4]
[    42][42    ][0042]

--end

@@ doc.printf.text | printf.s, printf.c, printf.S, printf.C, printf.percent | boundary
BEGIN {
	printf("[%s][%10s][%-10s][%.2s][%10.2s]\n", "hello", "hello", "hello", "hello", "hello");
	printf("[%c][%5c][%-5c][%%][%wc]\n", 'a', 'b', 'c', 'd');
	printf("[%S][%C][%C]\n", "a\tb\n", '\n', 'x');
	exit(0);
}
--out
[hello][     hello][hello     ][he][        he]
[a][    b][c    ][%][d]
[a\tb\n][\n][x]

--end

@@ doc.printf.time | printf.Y, printf.T | normal
BEGIN {
	printf("%Y\n", 0LL);
	printf("%Y|%T\n", 1177423200000000000, 1177423200000000000);
	printf("[%25Y]\n", 1177423200000000000);
	exit(0);
}
--out
1970 Jan  1 00:00:00
2007 Apr 24 14:00:00|Tue, 24 Apr 2007 14:00:00 UTC
[     2007 Apr 24 14:00:00]

--end

@@ doc.printf.pointer | printf.p, printf.pointer-width | normal
BEGIN { printf("[%p][%?p][%?x]\n", (void *)0x1234, (void *)0x1234, 255); exit(0); }
--out
[1234][            1234][              ff]

--end

@@ doc.printa.several-with-format | agg.printa | normal
--args -qs $D
BEGIN {
	@a["x", 1] = count(); @a["y", 2] = count(); @b["x", 1] = sum(10); @b["y", 2] = sum(5); @b["y", 2] = sum(6);
	printa("%s/%d: %@d of %@d\n", @a, @b);
	clear(@a); clear(@b);
	exit(0);
}
--out
x/1: 1 of 10
y/2: 1 of 11

--end

@@ doc.normalize.all | agg.normalize | boundary
BEGIN {
	@a = sum(1000); @b["k"] = count(); @c = avg(100); @c = avg(300);
	normalize(@a, 10); normalize(@b, 2); normalize(@c, 10);
	printa("%@d\n", @a); printa("%@d\n", @b); printa("%@d\n", @c);
	denormalize(@a);
	printa("%@d\n", @a);
	normalize(@a, 100); normalize(@a, 10);
	printa("%@d\n", @a);
	exit(0);
}
--out
100
0
20
1000
100

--end

@@ doc.trunc.signs | agg.trunc | boundary
BEGIN {
	@a["a"] = sum(1); @a["b"] = sum(2); @a["c"] = sum(3); @a["d"] = sum(4);
	@b["a"] = sum(1); @b["b"] = sum(2); @b["c"] = sum(3);
	@c["z"] = sum(1); @d["z"] = sum(1);
	trunc(@a, 2); printa("%s %@d\n", @a);
	trunc(@b, -1); printa("%s %@d\n", @b);
	trunc(@c, 0); printa("%s %@d\n", @c);
	trunc(@d); printa("%s %@d\n", @d);
	exit(0);
}
--out
c 3
d 4
a 1

--end

@@ doc.lquantize.edges | agg.lquantize | boundary
BEGIN { @ = lquantize(-1, 0, 10, 5); @ = lquantize(0, 0, 10, 5); @ = lquantize(9, 0, 10, 5); @ = lquantize(10, 0, 10, 5); exit(0); }
--out


           value  ------------- Distribution ------------- count    
             < 0 |@@@@@@@@@@                               1        
               0 |@@@@@@@@@@                               1        
               5 |@@@@@@@@@@                               1        
           >= 10 |@@@@@@@@@@                               1        

--end

@@ doc.quantize.zero-and-minus | agg.quantize | boundary
BEGIN { @ = quantize(0); @ = quantize(-1); @ = quantize(1); @ = quantize(1); exit(0); }
--out


           value  ------------- Distribution ------------- count    
              -2 |                                         0        
              -1 |@@@@@@@@@@                               1        
               0 |@@@@@@@@@@                               1        
               1 |@@@@@@@@@@@@@@@@@@@@                     2        
               2 |                                         0        

--end

@@ doc.min-max-none | agg.min, agg.max, agg.avg, agg.stddev | boundary
BEGIN {
	@a = min(-5); @a = min(3); @b = max(-5); @b = max(-7); @c = avg(-3); @c = avg(-4); @d = stddev(2); @d = stddev(4); @d = stddev(4); @d = stddev(4); @d = stddev(5); @d = stddev(5); @d = stddev(7); @d = stddev(9);
	printa("%@d ", @a); printa("%@d ", @b); printa("%@d ", @c); printa("%@d\n", @d);
	exit(0);
}
--out
-5 -5 -3 2

--end

@@ doc.bitfields | type.bitfield, op.assign | boundary
struct b { int a : 3; unsigned c : 5; int d : 1; unsigned long e : 40; };
struct b s;
BEGIN {
	s.a = 3; s.a++; s.c = 33; s.d = 1; s.e = -1;
	printf("%d %d %d %x %d\n", s.a, s.c, s.d, s.e, sizeof(struct b));
	exit(0);
}
--out
-4 1 -1 ffffffffff 8

--end

@@ doc.union | type.union | normal
union u { int i; char c[4]; short s[2]; };
union u x;
BEGIN { x.i = 0x04030201; printf("%d %d %d %x %d\n", x.c[0], x.c[3], sizeof(x), x.s[1], offsetof(union u, s)); exit(0); }
--out
1 4 4 403 0

--end

@@ doc.enum | type.enum | normal
enum colour { RED, GREEN = 5, BLUE, LAST = BLUE + 4 };
enum colour c;
BEGIN { c = BLUE; printf("%d %d %d %d\n", RED, c, LAST, sizeof(enum colour)); printf("%d\n", c == BLUE ? 1 : 2); exit(0); }
--out
0 6 10 4
1

--end

@@ doc.typedef-chain | type.typedef, type.pointer | normal
typedef int a_t;
typedef a_t b_t;
typedef b_t *c_t;
typedef int (*fn_t)(int, char *);
struct ops { fn_t open; int (*close)(void); };
c_t p;
BEGIN { p = alloca(sizeof(b_t)); *p = 9; printf("%d %d %d %d\n", *p, sizeof(c_t), sizeof(struct ops), offsetof(struct ops, close)); exit(0); }
--out
9 8 16 8

--end

@@ doc.comma | op.comma | boundary
BEGIN { x = (y = 3, y + 4); printf("%d %d\n", x, y); this->z = 1, this->z = 2; printf("%d\n", this->z); exit(0); }
--out
7 3
2

--end

@@ doc.ternary-strings | op.conditional | normal
BEGIN { x = 1; s = x ? "yes" : "no"; t = !x ? "yes" : "no"; printf("%s %s %s\n", s, t, x == 1 ? "one" : x == 2 ? "two" : "many"); exit(0); }
--out
yes no one

--end

@@ doc.string-order | op.string | boundary
BEGIN {
	printf("%d%d%d%d%d%d\n", "a" < "b", "b" > "a", "a" <= "a", "a" == "a", "a" != "b", "" < "a");
	printf("%d%d%d\n", "abc" < "abd", "ab" < "abc", "A" < "a");
	s = "x"; printf("%d %d\n", s == "x", s != NULL);
	exit(0);
}
--out
111111
111
1 1

--end

@@ doc.promotion | op.promotion, op.cast | boundary
BEGIN {
	printf("%d %d %d\n", (char)200, (unsigned char)200, (short)40000);
	printf("%d %d\n", -1 < 1u, -1L < 1u);
	printf("%d %d %d %d\n", 7 / -2, -7 % 3, -7 >> 1, 7u / 2);
	printf("%d %d\n", sizeof(1), sizeof(1LL));
	x = 0; x = 4294967296; printf("%d\n", x);
	exit(0);
}
--out
-56 200 -25536
0 1
-3 -1 -4 3
4 8
0

--end

@@ doc.xor-and-shortcut | op.xor, op.logical | boundary
BEGIN { x = 0; y = 0 && x++; y = 1 || x++; printf("%d %d %d %d\n", x, 1 ^^ 1, 1 ^^ 0, 0 ^^ 0); y = x++ ^^ x++; printf("%d\n", x); exit(0); }
--out
0 0 1 0
2

--end

@@ doc.assoc.many-types | var.assoc, var.key | normal
BEGIN {
	a["x", 1, (char)2] = 5; a["x", 1, (char)3] = 6; b[(void *)8] = "s"; c[-1] = 3; c[1] = 4;
	printf("%d %d %s %d %d %d\n", a["x", 1, (char)2], a["x", 1, (char)3], b[(void *)8], c[-1], c[1], c[2]);
	a["x", 1, (char)2] = 0; c[1]++; c[7] += 2;
	printf("%d %d %d\n", a["x", 1, (char)2], c[1], c[7]);
	exit(0);
}
--out
5 6 s 3 4 0
0 5 2

--end

@@ doc.arrays-of-scopes | type.array, var.self, var.this | normal
self int a[4];
this int b[4];
int c[2][3];
BEGIN { self->a[2] = 7; this->b[1] = 8; c[1][2] = 9; printf("%d %d %d %d\n", self->a[2], this->b[1], c[1][2], c[0][2]); printf("%d %d\n", sizeof(c), sizeof(c[0])); exit(0); }
--out
7 8 9 0
24 12

--end

@@ doc.inline-arrays | unit, type.array | normal
inline int add[int a, int b] = a + b;
inline string name[int n] = n == 1 ? "one" : "other";
inline int DEBUG = 0;
BEGIN /!DEBUG/ { printf("%d %s %s\n", add[2, add[3, 4]], name[1], name[2]); exit(0); }
--out
9 one other

--end

@@ doc.translator | unit, type.struct | normal
struct raw { int a; int b; };
struct shown { int sum; string text; int *p; };
translator struct shown < struct raw *r > { sum = r->a + r->b; text = r->a ? "some" : "none"; p = &r->b; };
BEGIN {
	this->r = (struct raw *)alloca(sizeof(struct raw));
	this->r->a = 2; this->r->b = 5;
	printf("%d %s %d\n", xlate <struct shown> (this->r).sum, xlate <struct shown *> (this->r)->text, *(xlate <struct shown *> (this->r)->p));
	exit(0);
}
--out
7 some 5

--end

@@ doc.macros.kinds | macro.argument, macro.text | normal
--args -qs $D -- 12 word '"quoted text"' -7
BEGIN { printf("%d %s %s %s %d %s\n", $1, $$1, $$2, $3, $4, $$4); exit(0); }
--out
12 12 word quoted text -7 -7

--end

@@ doc.macros.default | macro.default | boundary
--args -xdefaultargs -qs $D one
BEGIN { printf("[%s][%d][%s][%d]\n", $$1, $2, $$3, $2 + 1); exit(0); }
--out
[one][0][][1]

--end

@@ doc.macros.identifier-as-provider | macro.argument, probe.macro | normal
--args -qs $D dtrace BEGIN
$1:::$2 { printf("%s\n", probename); exit(0); }
--out
BEGIN

--end

@@ doc.pragma.in-script | pragma.option, out.quiet | normal
--args -s $D
#pragma D option quiet
#pragma D option strsize=8
BEGIN { s = "0123456789"; printf("%s %d\n", s, strlen(s)); exit(3); }
--out
0123456 7

--err
--status 3
--end

@@ doc.exit.end-runs | act.exit, probe.alias | normal
BEGIN { exit(7); }
END { printf("end\n"); }
--out
end

--status 7
--end

@@ doc.error.probe | out.fault | boundary
ERROR { printf("%s %d %d %d\n", probename, arg2, arg4, arg5 == 0x10); exit(1); }
BEGIN { x = *(int *)0x10; }
--out
ERROR 1 1 1

--status 1
--end

@@ doc.error.division | out.fault, op.zero | wrong
BEGIN { x = 0; y = 5 / x; printf("never\n"); }
BEGIN { exit(2); }
--out

--errhas divide-by-zero in action #2
--status 2
--end

@@ doc.trace.forms | act.trace, out.trace | normal
--args -s $D
#pragma D option quiet
BEGIN { trace(1); trace("-"); trace((char)'x'); trace("-"); trace(-1LL); exit(0); }
--out
1-120--1
--end

@@ doc.tracemem | act.tracemem, out.bytes | normal
BEGIN { this->p = (char *)alloca(20); this->p[0] = 'A'; this->p[1] = 1; this->p[19] = 'Z'; tracemem(this->p, 20); exit(0); }
--out

             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef
         0: 41 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00  A...............
        10: 00 00 00 5a                                      ...Z

--end

@@ doc.if-else.nested | if-else | boundary
BEGIN { x = 3; if (x == 1) printf("one\n"); else if (x == 2) { printf("two\n"); } else { if (x > 2) { printf("many\n"); x = 9; } else printf("few\n"); } printf("%d\n", x); exit(0); }
--out
many
9

--end

@@ doc.self.free | var.self | boundary
BEGIN { self->x = 5; self->s = "text"; self->x = 0; self->s = 0; printf("%d %d\n", self->x, self->s == NULL); exit(0); }
--out
0 1

--end

@@ doc.character.values | lex.char, lex.escape | boundary
BEGIN { printf("%d %d %d %d %x %s\n", 'a', '\n', '\0', '\377', 'ab', "q\"\x41\101\\"); exit(0); }
--out
97 10 0 -1 6162 q"AA\

--end

@@ doc.constants | lex.integer, lex.integer-type | boundary
BEGIN { printf("%d %d %d %d\n", 0777, 0xFf, 1u, 10L); printf("%d %d %d %d %d\n", sizeof(2147483647), sizeof(2147483648), sizeof(0xffffffff), sizeof(1u), sizeof('a')); exit(0); }
--out
511 255 1 10
4 8 4 4 4

--end

@@ doc.stringof | op.stringof | normal
BEGIN { this->p = (char *)alloca(4); this->p[0] = 'h'; this->p[1] = 'i'; printf("%s %s %d\n", stringof(this->p), (string)this->p, stringof(this->p) == "hi"); exit(0); }
--out
hi hi 1

--end

@@ doc.strjoin.keys | subr.strjoin, agg.form | normal
BEGIN { @[strjoin("a", strjoin("-", lltostr(5)))] = count(); printa("%s %@d\n", @); exit(0); }
--out
a-5 1

--end

@@ doc.mod-and-compound | op.assign, op.shift | boundary
BEGIN { x = 100; x += 5; x -= 3; x *= 2; x /= 4; x %= 40; x <<= 3; x >>= 1; x |= 1; x &= 0xfd; x ^= 0xff; printf("%d\n", x); exit(0); }
--out
210

--end

@@ doc.probe.list-and-order | probe.list, clause | normal
BEGIN, END { printf("%s ", probename); }
BEGIN { printf("second "); exit(0); }
END { printf("last\n"); }
--out
BEGIN second END last

--end

@@ doc.predicate.forms | clause | boundary
BEGIN /1 && (2 > 1) || 0/ { printf("a"); }
BEGIN /0/ { printf("b"); }
BEGIN /pid == $pid/ { printf("c"); }
BEGIN /"x" == "x"/ { printf("d"); }
BEGIN / 6/2 == 3 / { printf("e"); exit(0); }
--out
acde
--end

@@ doc.assoc.eight-keys | var.assoc, var.self-assoc | boundary
BEGIN { a[1, 2, 3, 4, 5, 6, 7, 8] = 5; self->b[1, 2, 3, 4, 5, 6, 7, 8] = 6; printf("%d %d\n", a[1, 2, 3, 4, 5, 6, 7, 8], self->b[1, 2, 3, 4, 5, 6, 7, 8]); exit(0); }
--out
5 6

--end

@@ doc.assoc.nine-keys | var.assoc, var.key | wrong
BEGIN { a[1, 2, 3, 4, 5, 6, 7, 8, 9] = 5; exit(0); }
--tag D_NOREG

@@ doc.declaration-in-clause | clause, out.compile | wrong
--args -xerrtags -qs $D
BEGIN { int x = 5; exit(0); }
--errhas [D_SYNTAX] line 1: syntax error near "int"
--errhas variables are declared outside of clauses
--status 1
--end
