@@ var.global.zero | global variables | normal | 
int x;
BEGIN { printf("%d\n", x); x = 4; }
BEGIN { printf("%d\n", x); exit(0); }
--out
0
4
--end

@@ var.global.truncates | global variables | boundary | 
char c;
BEGIN { c = 300; printf("%d\n", c); exit(0); }
--out
44
--end

@@ var.first-assignment-int | global variables | boundary | 
BEGIN { x = 0; x = 0x1ffffffff; printf("%d\n", x); exit(0); }
--out
-1
--end

@@ var.undefined | global variables | wrong | 
--args -xerrtags -qs $D
BEGIN { printf("%d\n", nosuch); exit(0); }
--out
--status 1
--end

@@ var.string | string variables | normal | 
BEGIN { s = "abc"; printf("%s\n", s); s = "de"; printf("%s\n", s); exit(0); }
--out
abc
de
--end

@@ var.string.empty | string variables | boundary | 
string s;
BEGIN { printf("[%s]\n", s); exit(0); }
--out
[]
--end

@@ var.string.strsize | string variables | boundary | 
#pragma D option strsize=8
string s;
BEGIN { s = "abcdefghijkl"; printf("%s\n", s); exit(0); }
--out
abcdefg
--end

@@ var.self | thread-local variables | normal | 
BEGIN { self->x = 7; }
BEGIN { printf("%d\n", self->x); self->x = 0; }
BEGIN { printf("%d\n", self->x); exit(0); }
--out
7
0
--end

@@ var.self.string | thread-local variables | normal | 
BEGIN { self->s = "hello"; }
BEGIN { printf("%s\n", self->s); exit(0); }
--out
hello
--end

@@ var.this | clause-local variables | normal | 
BEGIN { this->x = 3; }
BEGIN { printf("%d\n", this->x + 1); exit(0); }
--out
4
--end

@@ var.this.zero-at-first | clause-local variables | boundary | 
this int x;
BEGIN { printf("%d\n", this->x); this->x = 9; }
END { printf("%d\n", this->x); }
BEGIN { exit(0); }
--out
0
0
--end

@@ var.assoc | associative arrays | normal | 
BEGIN { a["x", 1] = 5; a["x", 2] = 6; printf("%d %d %d\n", a["x", 1], a["x", 2], a["y", 1]); exit(0); }
--out
5 6 0
--end

@@ var.assoc.delete | associative arrays | boundary | 
BEGIN { a[1] = 5; a[1] = 0; printf("%d\n", a[1]); a[1] += 2; printf("%d\n", a[1]); exit(0); }
--out
0
2
--end

@@ var.assoc.string-value | associative arrays | normal | 
BEGIN { a[1] = "one"; a[2] = "two"; printf("%s %s\n", a[1], a[2]); exit(0); }
--out
one two
--end

@@ var.self-assoc | thread-local arrays | normal | 
BEGIN { self->a[3] = 4; printf("%d %d\n", self->a[3], self->a[4]); exit(0); }
--out
4 0
--end

@@ var.assoc.key-mismatch | associative arrays | wrong | 
--args -xerrtags -qs $D
BEGIN { a[1] = 5; a["x"] = 6; exit(0); }
--out
--status 1
--end

@@ var.builtin.names | built-in variables | normal | 
BEGIN { printf("%s:%s:%s:%s %d\n", probeprov, probemod, probefunc, probename, id); exit(0); }
--out
dtrace:::BEGIN 1
--end

@@ var.builtin.read-only | built-in variables | wrong | 
--args -xerrtags -qs $D
BEGIN { pid = 1; exit(0); }
--out
--status 1
--end

@@ var.timestamp.constant-in-firing | built-in variables | boundary | 
BEGIN { x = timestamp; y = timestamp; printf("%d\n", x == y); }
BEGIN { printf("%d\n", x == timestamp); exit(0); }
--out
1
1
--end

@@ var.macro.args | macro arguments | normal | 
--args -qs $D 42 abc
BEGIN { printf("%d %s %s\n", $1, $$1, $$2); exit(0); }
--out
42 42 abc
--end

@@ var.macro.undefined | macro arguments | wrong | 
--args -xerrtags -qs $D
BEGIN { printf("%d\n", $1); exit(0); }
--out
--status 1
--end

@@ var.macro.defaultargs | macro arguments | boundary | 
#pragma D option defaultargs
BEGIN { printf("%d [%s]\n", $1, $$2); exit(0); }
--out
0 []
--end

@@ var.inline | inlines | normal | 
inline int K = 4 * 3;
BEGIN { printf("%d\n", K); exit(0); }
--out
12
--end

@@ var.enum | enumerations | normal | 
enum color { RED, GREEN = 5, BLUE };
BEGIN { printf("%d %d %d\n", RED, GREEN, BLUE); exit(0); }
--out
0 5 6
--end

@@ var.struct | structures | normal | 
struct point { int x; int y; };
struct point p;
BEGIN { p.x = 3; p.y = 4; printf("%d %d %d\n", p.x, p.y, sizeof (struct point)); exit(0); }
--out
3 4 8
--end

@@ var.if-else | if and else | normal | 
BEGIN { x = 5; if (x > 3) { printf("big\n"); } else { printf("small\n"); } if (x == 4) printf("four\n"); else printf("not four\n"); exit(0); }
--out
big
not four
--end

@@ clause.predicate | predicates | normal | 
BEGIN /1 == 2/ { printf("no\n"); }
BEGIN /1 == 1/ { printf("yes\n"); exit(0); }
--out
yes
--end

@@ clause.order | clause order | normal | 
BEGIN { printf("a\n"); }
BEGIN { printf("b\n"); exit(0); }
END { printf("c\n"); }
--out
a
b
c
--end

@@ clause.exit-status | exit | normal | 
BEGIN { exit(7); }
--out
--status 7
--end

@@ clause.exit-stops-later-begin | exit | boundary | 
BEGIN { exit(0); }
BEGIN { printf("no\n"); }
END { printf("end\n"); }
--out
end
--end

@@ clause.fault-abandons | faults | wrong | 
BEGIN { printf("a\n"); x = *(int *)0; printf("b\n"); }
BEGIN { printf("c\n"); exit(0); }
--out
c
--end

