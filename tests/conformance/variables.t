@@ var.global.zero | var.global, new.zero | normal
int x;
BEGIN { printf("%d\n", x); x = 4; }
BEGIN { printf("%d\n", x); exit(0); }
--out
0
4

--end

@@ var.global.truncates | var.type | boundary
char c;
BEGIN { c = 300; printf("%d\n", c); exit(0); }
--out
44

--end

@@ var.first-assignment-int | var.type | boundary
BEGIN { x = 0; x = 0x1ffffffff; printf("%d\n", x); exit(0); }
--out
-1

--end

@@ var.undefined | var.undefined | wrong
BEGIN { printf("%d\n", nosuch); exit(0); }
--tag D_IDENT_UNDEF

@@ var.self.member | var.self, type.struct | boundary
struct s { int x; int y; char c[8]; int b : 3; };
self struct s v;
BEGIN {
	self->v.x = 5; self->v.x += 2; self->v.c[2] = 'z'; self->v.b = 2;
	printf("%d %d %c %d %d\n", self->v.x, self->v.y, self->v.c[2], self->v.b, self->v.c[0]);
	exit(0);
}
--out
7 0 z 2 0

--end

@@ var.self.member-unset | var.self, type.struct | wrong
struct s { int x; };
self struct s v;
BEGIN { trace(self->v.x); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 1

--errhas invalid address (0x0)
--end

@@ var.self-assoc.member | var.self-assoc, type.struct | boundary
struct s { int x; int y; };
self struct s a[int, int];
struct s g[string];
BEGIN {
	self->a[1, 2].y = 9; self->a[2, 1].y++; g["k"].x += 6;
	printf("%d %d %d %d %d\n", self->a[1, 2].y, self->a[2, 1].y, self->a[1, 2].x, g["k"].x, g["k"].y);
	exit(0);
}
--out
9 1 0 6 0

--end

@@ var.string | type.string, var.string | normal
BEGIN { s = "abc"; printf("%s\n", s); s = "de"; printf("%s\n", s); exit(0); }
--out
abc
de

--end

@@ var.string.empty | var.string | boundary
string s;
BEGIN { printf("[%s]\n", s); exit(0); }
--out
[]

--end

@@ var.string.strsize | var.string, new.strsize | boundary
#pragma D option strsize=8
string s;
BEGIN { s = "abcdefghijkl"; printf("%s\n", s); exit(0); }
--out
abcdefg

--end

@@ var.self | var.self | normal
BEGIN { self->x = 7; }
BEGIN { printf("%d\n", self->x); self->x = 0; }
BEGIN { printf("%d\n", self->x); exit(0); }
--out
7
0

--end

@@ var.self.string | var.self | normal
BEGIN { self->s = "hello"; }
BEGIN { printf("%s\n", self->s); exit(0); }
--out
hello

--end

@@ var.this | var.this | normal
BEGIN { this->x = 3; }
BEGIN { printf("%d\n", this->x + 1); exit(0); }
--out
4

--end

@@ var.this.zero-at-first | var.this, new.zero | boundary
this int x;
BEGIN { printf("%d\n", this->x); this->x = 9; }
END { printf("%d\n", this->x); }
BEGIN { exit(0); }
--out
0
0

--end

@@ var.assoc | var.assoc | normal
BEGIN { a["x", 1] = 5; a["x", 2] = 6; printf("%d %d %d\n", a["x", 1], a["x", 2], a["y", 1]); exit(0); }
--out
5 6 0

--end

@@ var.assoc.delete | var.assoc, new.free | boundary
BEGIN { a[1] = 5; a[1] = 0; printf("%d\n", a[1]); a[1] += 2; printf("%d\n", a[1]); exit(0); }
--out
0
2

--end

@@ var.assoc.string-value | var.assoc | normal
BEGIN { a[1] = "one"; a[2] = "two"; printf("%s %s\n", a[1], a[2]); exit(0); }
--out
one two

--end

@@ var.self-assoc | var.self-assoc | normal
BEGIN { self->a[3] = 4; printf("%d %d\n", self->a[3], self->a[4]); exit(0); }
--out
4 0

--end

@@ var.assoc.key-mismatch | var.key | wrong
BEGIN { a[1] = 5; a["x"] = 6; exit(0); }
--tag D_PROTO_ARG

@@ var.builtin.names | builtin.probe, builtin.epid | normal
BEGIN { printf("%s:%s:%s:%s %d\n", probeprov, probemod, probefunc, probename, id); exit(0); }
--out
dtrace:::BEGIN 1

--end

@@ var.builtin.read-only | builtin.write | wrong
BEGIN { pid = 1; exit(0); }
--tag D_OP_WRITE

@@ var.timestamp.constant-in-firing | builtin.time | boundary
BEGIN { x = timestamp; y = timestamp; printf("%d\n", x == y); }
BEGIN { printf("%d\n", x == timestamp); exit(0); }
--out
1
1

--end

@@ var.macro.args | macro.argument, macro.text | normal
--args -qs $D 42 abc
BEGIN { printf("%d %s %s\n", $1, $$1, $$2); exit(0); }
--out
42 42 abc

--end

@@ var.macro.undefined | macro.default | wrong
BEGIN { printf("%d\n", $1); exit(0); }
--tag D_MACRO_UNDEF

@@ var.macro.defaultargs | macro.default, macro.text | boundary
#pragma D option defaultargs
BEGIN { printf("%d [%s]\n", $1, $$2); exit(0); }
--out
0 []

--end

@@ var.inline | inline.plain | normal
inline int K = 4 * 3;
BEGIN { printf("%d\n", K); exit(0); }
--out
12

--end

@@ var.enum | type.enum | normal
enum color { RED, GREEN = 5, BLUE };
BEGIN { printf("%d %d %d\n", RED, GREEN, BLUE); exit(0); }
--out
0 5 6

--end

@@ var.struct | type.struct | normal
struct point { int x; int y; };
struct point p;
BEGIN { p.x = 3; p.y = 4; printf("%d %d %d\n", p.x, p.y, sizeof (struct point)); exit(0); }
--out
3 4 8

--end

@@ var.if-else | if-else | normal
BEGIN { x = 5; if (x > 3) { printf("big\n"); } else { printf("small\n"); } if (x == 4) printf("four\n"); else printf("not four\n"); exit(0); }
--out
big
not four

--end

@@ clause.predicate | clause | normal
BEGIN /1 == 2/ { printf("no\n"); }
BEGIN /1 == 1/ { printf("yes\n"); exit(0); }
--out
yes

--end

@@ clause.order | clause, new.order, new.begin-end | normal
BEGIN { printf("a\n"); }
BEGIN { printf("b\n"); exit(0); }
END { printf("c\n"); }
--out
a
b
c

--end

@@ clause.exit-status | act.exit, out.status | normal
BEGIN { exit(7); }
--out

--status 7
--end

@@ clause.exit-stops-later-begin | act.exit, new.begin-end | boundary
BEGIN { exit(0); }
BEGIN { printf("no\n"); }
END { printf("end\n"); }
--out
end

--end

@@ clause.fault-abandons | out.fault | wrong
BEGIN { printf("a\n"); x = *(int *)0; printf("b\n"); }
BEGIN { printf("c\n"); exit(0); }
--out
c

--end


@@ var.global.shared-by-probes | var.global | boundary
int n;
BEGIN { n++; total += 10; }
BEGIN { n++; total += 5; exit(0); }
END { printf("%d %d\n", n, total); }
--out
2 15

--end

@@ var.self.freed | var.self, new.free | boundary
BEGIN { self->x = 5; self->s = "t"; self->x = 0; self->s = 0; }
BEGIN { printf("%d %d\n", self->x, self->s == NULL); self->x += 3; printf("%d\n", self->x); exit(0); }
--out
0 1
3

--end

@@ var.self.struct | var.self | boundary
struct s { int a; int b; };
struct s g;
self struct s v;
BEGIN { g.a = 3; self->v = g; self->v.b = 4; g.a = 9; }
BEGIN { printf("%d %d\n", self->v.a, self->v.b); exit(0); }
--out
3 4

--end

@@ var.self.unset-string | var.self | wrong
self string s;
BEGIN { printf("%s\n", self->s); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 1

--errhas invalid address (0x0)
--end

@@ var.this.string-and-struct | var.this | normal
struct s { int a; };
this struct s v;
this string t;
BEGIN { this->v.a = 3; this->t = "abc"; printf("%d %s\n", this->v.a, this->t); exit(0); }
--out
3 abc

--end

@@ var.assoc.mixed-keys | var.assoc, var.key | normal
BEGIN { a[1, "x", (char)2] = 7; a[1, "x", (char)3] = 8; printf("%d %d %d\n", a[1, "x", (char)2], a[1, "x", (char)3], a[2, "x", (char)2]); exit(0); }
--out
7 8 0

--end

@@ var.key.empty-and-prefix-strings | var.key | boundary
BEGIN { a[""] = 1; a["a"] = 2; a["ab"] = 3; b[0] = 4; b[-1] = 5; printf("%d%d%d%d%d\n", a[""], a["a"], a["ab"], b[0], b[-1]); exit(0); }
--out
12345

--end

@@ var.key.translated | var.key, var.self-assoc | wrong
struct s { int a; };
translator struct s < int i > { a = i; };
BEGIN { self->a[xlate <struct s> (1)] = 1; }
--tag D_KEY_TYPE

@@ var.key.too-few | var.key | wrong
BEGIN { a[1, 2] = 3; trace(a[1]); }
--tag D_PROTO_LEN

@@ var.self-assoc.deleted | var.self-assoc, new.free | boundary
BEGIN { self->a["x", 1] = 4; self->a["x", 1] = 0; self->a["y", 2] = 5; self->b[1] = "s"; printf("%d %d %s\n", self->a["x", 1], self->a["y", 2], self->b[1]); exit(0); }
--out
0 5 s

--end

@@ var.type.first-assignment | var.type | normal
BEGIN { c = (char)1; l = 1ll; s = "a"; printf("%d %d %d\n", sizeof (c), sizeof (l), sizeof (s)); c = 257; printf("%d\n", c); exit(0); }
--out
1 8 256
1

--end

@@ var.undefined.assigned-before | var.undefined | normal
BEGIN { x = 4; }
BEGIN { printf("%d\n", x); exit(0); }
--out
4

--end

@@ var.undefined.only-declared | var.undefined, new.zero | boundary
int x; string s; self int y; this int z;
BEGIN { printf("%d [%s] %d %d\n", x, s, self->y, this->z); exit(0); }
--out
0 [] 0 0

--end

@@ var.undefined.later-in-text | var.undefined | wrong
BEGIN { printf("%d\n", x); }
BEGIN { x = 4; }
--tag D_IDENT_UNDEF

@@ var.string.integer | var.string, type.string | wrong
BEGIN { s = "a"; s = 5; }
--tag D_OP_INCOMPAT

@@ var.string.exactly-strsize | var.string, new.strsize | boundary
#pragma D option strsize=5
BEGIN { s = "1234"; t = "12345"; printf("%s %s %d\n", s, t, strlen(t)); exit(0); }
--out
1234 1234 4

--end

@@ new.strsize.default | new.strsize | normal
BEGIN { s = "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"; printf("%d\n", strlen(s)); exit(0); }
--out
255

--end

@@ var.name.spaces | var.name | normal
BEGIN { a = 1; self->a = 2; this->a = 3; @a = sum(4); printf("%d %d %d ", a, self->a, this->a); printa("%@d\n", @a); exit(0); }
--out
1 2 3 4

--end

@@ var.name.array-and-member | var.name | boundary
struct a { int a; };
struct a a;
BEGIN { a.a = 5; printf("%d\n", a.a); exit(0); }
--out
5

--end

@@ var.name.builtin | var.name, builtin.write | wrong
int pid;
BEGIN { exit(0); }
--tag D_DECL_IDRED

@@ var.extern.twice | var.extern | boundary | kernel
extern int panic_timeout;
extern int panic_timeout;
BEGIN { printf("%d\n", `panic_timeout); exit(0); }
--out
-1

--end

@@ var.extern.register | var.extern, lex.keyword | wrong
register int x;
BEGIN { exit(0); }
--tag D_DECL_BADCLASS

@@ macro.variable.pid | macro.variable | normal
BEGIN { printf("%d %d %d %d\n", $pid == pid, $ppid == ppid, $uid == uid, $gid == gid); exit(0); }
--out
1 1 1 1

--end

@@ macro.variable.text | macro.variable, macro.text | boundary
BEGIN { printf("%d %d %d %d %d\n", $$pid == lltostr(pid), $euid == $uid, $egid == $gid, $sid >= 0, $pgid >= 0); exit(0); }
--out
1 1 1 1 1

--end

@@ macro.variable.unknown | macro.variable | wrong
BEGIN { trace($nosuchmacro); }
--tag D_MACRO_UNDEF

@@ macro.argument.kinds | macro.argument | boundary
--args -qs $D -- -5 execname 'two words' 0x1f '"quoted"'
BEGIN { printf("%d %d %s %d %s\n", $1, $2 == execname, $3, $4, $5); exit(0); }
--out
-5 1 two words 31 quoted

--end

@@ macro.argument.script-name | macro.argument | normal
--args -qn 'BEGIN { printf("%s|%s\n", $$0, $1); exit(0); }' '"x y"'
--out
dtrace|x y

--end

@@ macro.argument.too-large | macro.argument | wrong
--args -xerrtags -qs $D 99999999999999999999
BEGIN { trace($1); }
--out
--errhas [D_MACRO_OFLOW]
--status 1
--end

@@ macro.text.kept | macro.text | normal
--args -qs $D -- 007 -1 abc
BEGIN { printf("%s %s %s\n", $$1, $$2, $$3); exit(0); }
--out
007 -1 abc

--end

@@ macro.text.undefined | macro.text, macro.default | wrong
BEGIN { trace($$1); }
--tag D_MACRO_UNDEF

@@ macro.default.given | macro.default | normal
--args -xdefaultargs -qs $D 7
BEGIN { printf("%d %d [%s]\n", $1, $2, $$3); exit(0); }
--out
7 0 []

--end

@@ macro.unused.used | macro.unused | normal
--args -qs $D 1 2
BEGIN { printf("%d\n", $1 + $2); exit(0); }
--out
3

--end

@@ macro.unused.argref | macro.unused | boundary
--args -xargref -qs $D 1 2 3
BEGIN { printf("%d\n", $1); exit(0); }
--out
1

--end

@@ inline.plain.expression | inline.plain | boundary
inline int64_t AGE = timestamp - 1;
inline string WHO = "me";
inline int TWICE = 2 * 3 + 1;
BEGIN { printf("%d %s %d\n", timestamp - AGE, WHO, TWICE * 2); exit(0); }
--out
1 me 14

--end

@@ inline.plain.assigned | inline.plain | wrong
inline int K = 4;
BEGIN { K = 5; }
--tag D_OP_LVAL

@@ inline.parameters.plain | inline.parameters | normal
inline int SUM[int a, int b] = a + b;
inline string GREET[string s] = strjoin("hello ", s);
BEGIN { printf("%d %s\n", SUM[2, 3] * 2, GREET["you"]); exit(0); }
--out
10 hello you

--end

@@ var.assoc.computed-key | var.assoc, var.key | boundary
int a[uint32_t]; uint32_t u, v;
BEGIN { u = 0; a[u - 1] = 7; v = u - 1; printf("%d %d\n", a[v], a[u - 1]); exit(0); }
--out
7 7

--end

@@ var.assoc.computed-wide-key | var.assoc, var.key | boundary
int64_t k; int a[int64_t]; uint32_t u; int n; _Bool t; int b[int];
BEGIN { u = 0; k = u - 1; a[k] = 7; t = 1; n = t + t; b[n] = 8; printf("%d %d\n", a[u - 1], b[t + t]); }
BEGIN { x = 1; c[x << 32 | 5] = 1; c[x << 33 | 5] = 2; printf("%d %d\n", c[x << 32 | 5], c[x << 33 | 5]); }
int e[int];
BEGIN { k = 0x100000005; e[k] = 1; n = 1; e[k] += n++; printf("%d %d\n", e[k], e[5]); d[0x80045430] = 7; printf("%d\n", d[(int)0x80045430]); exit(0); }
--out
7 8
1 2
2 0
7

--end

@@ inline.parameters.float | inline.parameters, type.float | boundary
inline int TWICE[int a] = a * 2;
inline double HALF[double a] = a / 2;
BEGIN { printf("%d %f\n", TWICE[2.5], HALF[5]); exit(0); }
--out
4 2.500000

--end

@@ inline.parameters.nested | inline.parameters | boundary
inline int TWICE[int a] = a * 2;
inline int FOUR[int a] = TWICE[TWICE[a]];
BEGIN { x = 3; printf("%d\n", FOUR[x + 1]); exit(0); }
--out
16

--end

@@ inline.parameters.count | inline.parameters | wrong
inline int SUM[int a, int b] = a + b;
BEGIN { trace(SUM[1]); }
--tag D_PROTO_LEN

@@ translator.members | translator, xlate | normal
struct in { int x; int y; };
struct out { int sum; string text; int unused; };
translator struct out < struct in *p > { sum = p->x + p->y; text = "t"; unused = *(int *)0; };
this struct in *i;
BEGIN { this->i = alloca(sizeof (struct in)); this->i->x = 3; this->i->y = 4; printf("%d %s\n", xlate <struct out *> (this->i)->sum, xlate <struct out> (this->i).text); exit(0); }
--out
7 t

--end

@@ translator.by-value | translator, xlate | boundary
struct out { int twice; };
translator struct out < int i > { twice = i * 2; };
inline struct out double_of[int i] = xlate <struct out> (i);
BEGIN { x = 21; printf("%d %d\n", xlate <struct out> (x).twice, double_of[x + 1].twice); exit(0); }
--out
42 44

--end

@@ xlate.traced | xlate, act.trace | wrong
struct out { int twice; };
translator struct out < int i > { twice = i * 2; };
BEGIN { trace(xlate <struct out *> (1)); }
--tag D_TRACE_DYN

@@ xlate.printed | xlate, act.print | wrong
struct out { int twice; };
translator struct out < int i > { twice = i * 2; };
BEGIN { print(xlate <struct out *> (1)); }
--tag D_PRINT_DYN

@@ provider.defined | provider | normal
provider myprov { probe start(int, char *); probe done__now(int x) : (int y); };
BEGIN { printf("ok\n"); exit(0); }
--out
ok

--end

@@ provider.no-arguments | provider | boundary
provider p_a { probe none(); probe empty(void); };
#pragma D attributes Stable/Stable/Common provider p_a provider
BEGIN { printf("ok\n"); exit(0); }
--out
ok

--end

@@ provider.probe-twice | provider | wrong
provider myprov { probe start(int); probe start(int); };
BEGIN { exit(0); }
--tag D_PROV_PRDUP

@@ new.integers.truncate | new.integers | normal
BEGIN { x = 7; printf("%d.%d\n", x / 2, (x % 2) * 10 / 2); exit(0); }
--out
3.5

--end

@@ again.assoc-keys-of-sizes | var.assoc, var.key | boundary
BEGIN { a[1] = 1; a[0x100000001] = 2; printf("%d %d\n", a[1], a[0x100000001]); exit(0); }
--out
1 2

--end

@@ again.inline.divides | inline.parameters | normal
inline int half[int n] = 1000 / n;
BEGIN { trace(half[2]); exit(0); }
--out
500
--end

@@ edge.macro.negative | macro.argument | boundary
--args -qs $D -- -5
BEGIN { printf("%d\n", $1); exit(0); }
--out
-5

--end

@@ edge.this.next-firing | var.this | boundary
BEGIN { this->x = 5; exit(0); }
END { printf("%d\n", this->x); }
--out
0

--end

@@ edge.assoc.string-key-tails | var.assoc | boundary
BEGIN { a["abcdefg"] = 1; a["xy"] = 2; a["qqqqqqq"] = 3; printf("%d %d %d\n", a["xy"], a["abcdefg"], a["qqqqqqq"]); exit(0); }
--out
2 1 3

--end

@@ edge.assoc.two-of-one-key | var.assoc | boundary
int a[int], b[int];
BEGIN { a[1] = 5; printf("%d %d\n", a[1], b[1]); exit(0); }
--out
5 0

--end

@@ habit.char-pointer.from-string | var.type, op.assign | boundary
const char *s;
string t;
BEGIN { s = "abc"; t = s; printf("%c %s %s\n", s[1], stringof(s), t); exit(0); }
--out
b abc abc

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
