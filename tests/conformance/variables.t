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

