@@ op.add | op.add | normal
BEGIN { printf("%d\n", 1 + 2); exit(0); }
--out
3

--end

@@ op.precedence | op.precedence | normal
BEGIN { printf("%d %d\n", 1 + 2 * 3, (1 + 2) * 3); exit(0); }
--out
7 9

--end

@@ op.div.truncates | op.multiply | boundary
BEGIN { printf("%d %d\n", 7 / 2, -7 / 2); exit(0); }
--out
3 -3

--end

@@ op.mod.sign | op.multiply | boundary
BEGIN { printf("%d %d\n", 7 % 3, -7 % 3); exit(0); }
--out
1 -1

--end

@@ op.min-by-minus-one | op.multiply | boundary
int64_t x;
BEGIN { x = 1; x = x << 63; }
BEGIN { printf("%d\n", x / -1); exit(0); }
--out
-9223372036854775808

--end

@@ op.conditional.other-sign | op.conditional | boundary
int i; unsigned int u, r; int a[unsigned int];
BEGIN { i = -1; u = 5; r = i < 0 ? i : u; a[4294967295] = 7; }
BEGIN { printf("%d %d %d\n", r == 4294967295, r / 2, a[r]); }
BEGIN { printf("%d\n", (uint32_t)(i < 0 ? i : u) == 4294967295); exit(0); }
--out
1 2147483647 7
1

--end

@@ op.write.bit-field-value | op.write, type.bitfield | boundary
struct s { unsigned int f:3; int g:3; };
this struct s v;
BEGIN { this->v.f = 7; this->v.g = 3; printf("%d %d %d\n", ++this->v.f, (this->v.f = 9), (this->v.f += 8)); }
BEGIN { this->v.g = 3; printf("%d %d %d\n", ++this->v.g, this->v.g--, this->v.g); exit(0); }
--out
0 1 1
-4 -4 3

--end

@@ op.write.float-compound | op.write, type.float | boundary
float f; double d; _Bool b; uint32_t u;
BEGIN { f = 1.5; f += 1.5; printf("%f ", f); f *= 2; printf("%f ", f); d = 0.5; b = d; printf("%d %d %d\n", b, (_Bool)0.5, !d); }
BEGIN { u = 0; d = u - 1; printf("%u %f\n", u - 1, d); x = 100000; d = x * x; printf("%f ", d); }
BEGIN { b = 1; d = b + b; printf("%f %f\n", d, 1.0 * (1 << 40)); }
BEGIN { u = 2000000; printf("%f %f %f\n", 1.0 * (u * 4096), 1.0 * (0U - 1), (60U * 1000000000) / 1.0); exit(0); }
--out
3.000000 6.000000 1 1 0
4294967295 -1.000000
10000000000.000000 2.000000 1099511627776.000000
8192000000.000000 -1.000000 60000000000.000000

--end

@@ op.write.bool-value | op.write, type.integer | boundary
_Bool a, b, c;
BEGIN { a = 1; b = 1; c = a + b; printf("%d %d ", c, c == a); a++; printf("%d ", a); a--; printf("%d ", a); a--; }
BEGIN { printf("%d %d\n", a, (_Bool)(b + b)); exit(0); }
--out
1 1 1 0 1 1

--end

@@ op.shift | op.shift | normal
BEGIN { printf("%d %d %x\n", 1 << 4, 256 >> 3, 0xf0 >> 4); exit(0); }
--out
16 32 f

--end

@@ op.shift.signed-right | op.shift | boundary
BEGIN { printf("%d\n", -16 >> 2); exit(0); }
--out
-4

--end

@@ op.bits | op.bits | normal
BEGIN { printf("%x %x %x %d\n", 0xf0 & 0x3c, 0xf0 | 0xf, 0xff ^ 0xf, ~0); exit(0); }
--out
30 ff f0 -1

--end

@@ op.logic | op.logical | normal
BEGIN { printf("%d %d %d %d\n", 1 && 0, 1 || 0, 1 ^^ 1, !5); exit(0); }
--out
0 1 0 0

--end

@@ op.logxor | op.xor | boundary
BEGIN { printf("%d %d %d\n", 5 ^^ 0, 0 ^^ 0, 2 ^^ 7); exit(0); }
--out
1 0 0

--end

@@ op.compare | op.relational | normal
BEGIN { printf("%d %d %d %d\n", 1 < 2, 2 <= 2, 3 > 4, 4 >= 5); exit(0); }
--out
1 1 0 0

--end

@@ op.compare.signed | op.relational | boundary
BEGIN { printf("%d\n", -1 < 1); exit(0); }
--out
1

--end

@@ op.compare.signed-overflow | op.relational | boundary
int64_t x;
BEGIN { x = 1; x = x << 63; }
BEGIN { printf("%d\n", x < 1); exit(0); }
--out
1

--end

@@ op.compare.unsigned | op.relational, op.promotion | boundary
BEGIN { printf("%d\n", (unsigned long)-1 > 1); exit(0); }
--out
1

--end

@@ op.ternary | op.conditional | normal
BEGIN { printf("%s %d\n", 1 ? "yes" : "no", 0 ? 1 : 2); exit(0); }
--out
yes 2

--end

@@ op.ternary.nested | op.conditional | boundary
BEGIN { printf("%d\n", 0 ? 1 : 0 ? 2 : 3); exit(0); }
--out
3

--end

@@ op.string.equal | op.string | normal
BEGIN { printf("%d %d\n", "abc" == "abc", "abc" == "abd"); exit(0); }
--out
1 0

--end

@@ op.string.order | op.string | boundary
BEGIN { printf("%d %d %d\n", "a" < "b", "ab" > "a", "" < "a"); exit(0); }
--out
1 1 1

--end

@@ op.sizeof | op.sizeof | normal
BEGIN { printf("%d %d %d %d\n", sizeof (int), sizeof (char), sizeof (long), sizeof (int *)); exit(0); }
--out
4 1 8 8

--end

@@ op.sizeof.string | op.sizeof | boundary
BEGIN { printf("%d\n", sizeof (string)); exit(0); }
--out
256

--end

@@ op.cast.narrow | op.cast | normal
BEGIN { printf("%d %d\n", (char)0x1ff, (short)0x18000); exit(0); }
--out
-1 -32768

--end

@@ op.cast.unsigned | op.cast | boundary
BEGIN { printf("%d %d\n", (unsigned char)0x1ff, (uint32_t)-1); exit(0); }
--out
255 4294967295

--end

@@ op.comma | op.comma | normal
BEGIN { printf("%d\n", (1, 2, 3)); exit(0); }
--out
3

--end

@@ op.char | lex.char | normal
BEGIN { printf("%d %c\n", 'a', 'b'); exit(0); }
--out
97 b

--end

@@ op.integers | lex.integer | normal
BEGIN { printf("%d %d %d\n", 0x10, 010, 10); exit(0); }
--out
16 8 10

--end

@@ op.integers.64 | lex.integer, lex.integer-type | boundary
BEGIN { printf("%d %u\n", 9223372036854775807, 0xffffffffffffffff); exit(0); }
--out
9223372036854775807 18446744073709551615

--end

@@ op.assign | op.assign | normal
BEGIN { x = 10; x += 5; x -= 3; x *= 4; x /= 6; x %= 5; printf("%d\n", x); x = 6; x <<= 2; x >>= 1; x |= 1; x &= 0xd; x ^= 0xf; printf("%d\n", x); exit(0); }
--out
3
2

--end

@@ op.increment | op.increment | normal
BEGIN { x = 5; printf("%d ", x++); printf("%d ", ++x); printf("%d ", x--); printf("%d\n", --x); exit(0); }
--out
5 7 7 5

--end

@@ op.div-by-zero.constant | op.zero | wrong
BEGIN { x = 1 / 0; exit(0); }
--tag D_DIV_ZERO

@@ op.div-by-zero.run-time | op.zero | wrong
BEGIN { x = 0; printf("%d\n", 1 / x); }
ERROR { printf("fault %d\n", arg4); exit(3); }
--out
fault 4

--status 3
--end

@@ op.null-load | op.load | wrong
BEGIN { printf("%d\n", *(int *)0); }
ERROR { printf("fault %d at %x\n", arg4, arg5); exit(0); }
--out
fault 1 at 0

--end

@@ op.run.add-sub | op.add | normal
int64_t a, b;
BEGIN { a = 7; b = 3; printf("%d %d %d\n", a + b, a - b, b - a); exit(0); }
--out
10 4 -4

--end

@@ op.run.mul-div-mod | op.multiply | normal
int64_t a, b;
BEGIN { a = 7; b = 3; printf("%d %d %d\n", a * b, a / b, a % b); exit(0); }
--out
21 2 1

--end

@@ op.run.div-mod-negative | op.multiply | boundary
int64_t a, b;
BEGIN { a = -7; b = 3; printf("%d %d\n", a / b, a % b); exit(0); }
--out
-2 -1

--end

@@ op.run.div-unsigned | op.multiply | boundary
uint64_t a, b;
BEGIN { a = 0xfffffffffffffff9; b = 3; printf("%u %u\n", a / b, a % b); exit(0); }
--out
6148914691236517203 0

--end

@@ op.run.min-div-minus-one | op.multiply | boundary
int64_t a, b;
BEGIN { a = 1; b = -1; printf("%d\n", (a << 63) / b); exit(0); }
--out
-9223372036854775808

--end

@@ op.run.shifts | op.shift | normal
int64_t a, b;
BEGIN { a = -16; b = 2; printf("%d %d\n", a << b, a >> b); exit(0); }
--out
-64 -4

--end

@@ op.run.shift-unsigned | op.shift | boundary
uint64_t a, b;
BEGIN { a = 0xf000000000000000; b = 4; printf("%x %x\n", a >> b, a << b); exit(0); }
--out
f00000000000000 0

--end

@@ op.run.bits | op.bits | normal
int64_t a, b;
BEGIN { a = 0xf0; b = 0x3c; printf("%x %x %x %d\n", a & b, a | b, a ^ b, ~a); exit(0); }
--out
30 fc cc -241

--end

@@ op.run.compare | op.relational, op.equality | normal
int64_t a, b;
BEGIN { a = 2; b = 3; printf("%d%d%d%d%d%d\n", a < b, a <= b, a > b, a >= b, a == b, a != b); exit(0); }
--out
110001

--end

@@ op.run.compare-equal | op.relational, op.equality | boundary
int64_t a, b;
BEGIN { a = 3; b = 3; printf("%d%d%d%d%d%d\n", a < b, a <= b, a > b, a >= b, a == b, a != b); exit(0); }
--out
010110

--end

@@ op.run.compare-signed | op.relational | boundary
int64_t a, b;
BEGIN { a = -1; b = 1; printf("%d%d%d%d\n", a < b, a <= b, a > b, a >= b); exit(0); }
--out
1100

--end

@@ op.run.compare-unsigned | op.relational, op.promotion | boundary
uint64_t a, b;
BEGIN { a = -1; b = 1; printf("%d%d%d%d\n", a < b, a <= b, a > b, a >= b); exit(0); }
--out
0011

--end

@@ op.run.compare-overflow | op.relational | boundary
int64_t a, b;
BEGIN { a = 1; b = 1; printf("%d %d\n", (a << 63) < b, (a << 63) > b); exit(0); }
--out
1 0

--end

@@ op.run.logic | op.logical | normal
int64_t a, b;
BEGIN { a = 2; b = 0; printf("%d%d%d%d%d\n", a && b, a || b, a ^^ b, !a, !b); exit(0); }
--out
01101

--end

@@ op.run.logic-both | op.logical | boundary
int64_t a, b;
BEGIN { a = 2; b = 5; printf("%d%d%d\n", a && b, a || b, a ^^ b); exit(0); }
--out
110

--end

@@ op.run.ternary | op.conditional | normal
int64_t a, b;
BEGIN { a = 2; b = 5; printf("%d %d\n", a > b ? a : b, a < b ? a : b); exit(0); }
--out
5 2

--end

@@ op.run.negate | op.unary | boundary
int64_t a, b;
BEGIN { a = 5; b = 0; printf("%d %d %d\n", -a, +a, -b); exit(0); }
--out
-5 5 0

--end

@@ op.run.narrow | op.cast | boundary
int64_t a, b;
BEGIN { a = 0x1ff; b = 0; printf("%d %d %d\n", (char)a, (unsigned char)a, (short)(a << 7)); exit(0); }
--out
-1 255 -128

--end

@@ op.run.bit-fields | type.bitfield | boundary
struct f { int a : 3; unsigned int b : 5; int c : 8; };
struct f v;
BEGIN { v.a = 7; v.b = 31; v.c = 200; printf("%d %d %d\n", v.a, v.b, v.c); exit(0); }
--out
-1 31 -56

--end

@@ op.run.loads | op.load | normal
this char *p;
BEGIN { this->p = alloca(8); *(int *)(this->p) = -2; printf("%d %u %d %d\n", *(int *)(this->p), *(unsigned int *)(this->p), *(short *)(this->p), *(this->p)); exit(0); }
--out
-2 4294967294 -2 -2

--end

@@ op.fold.compare-unsigned | op.relational | boundary
BEGIN { printf("%d\n", 0xffffffffffffffff > 1); exit(0); }
--out
1

--end


@@ op.postfix.members | op.postfix, type.struct | normal
struct in { int a; int b; };
struct out { struct in i; int c; };
struct out v;
BEGIN { v.i.b = 3; v.c = 4; printf("%d %d\n", v.i.b, v.c); exit(0); }
--out
3 4

--end

@@ op.postfix.arrow-and-index | op.postfix, type.array | boundary
struct in { int v[3]; };
this struct in *p;
BEGIN { this->p = alloca(2 * sizeof (struct in)); this->p[1].v[2] = 7; printf("%d %d\n", (this->p + 1)->v[2], *(*(this->p + 1)).v + 0); exit(0); }
--out
7 0

--end

@@ op.unary.all | op.unary | normal
BEGIN { printf("%d %d %d %d %d\n", !0, !7, ~5, -5, +5); exit(0); }
--out
1 0 -6 -5 5

--end

@@ op.increment.wraps | op.increment | boundary
char c; int *p;
BEGIN { c = 127; c++; a["x"]++; ++a["x"]; p++; printf("%d %d %d\n", c, a["x"], (int)p); exit(0); }
--out
-128 2 4

--end

@@ op.increment.constant | op.increment, op.write | wrong
BEGIN { 5++; }
--tag D_OP_LVAL

@@ op.increment.builtin | op.increment, builtin.write | wrong
BEGIN { pid++; }
--tag D_OP_WRITE

@@ op.add.wraps | op.add | boundary
int64_t a;
BEGIN { a = 0x7fffffffffffffff; printf("%d %d\n", a + 1, -a - 2); exit(0); }
--out
-9223372036854775808 9223372036854775807

--end

@@ op.add.structs | op.add | wrong
struct s { int a; };
struct s v;
BEGIN { trace(v + 1); }
--tag D_OP_INT

@@ op.multiply.wraps | op.multiply | boundary
int64_t a;
BEGIN { a = 0x4000000000000000; printf("%d %d\n", a * 2, a * 4); exit(0); }
--out
-9223372036854775808 0

--end

@@ op.multiply.plain | op.multiply | normal
BEGIN { x = 7; y = 3; printf("%d %d %d\n", x * y, x / y, x % y); exit(0); }
--out
21 2 1

--end

@@ op.shift.string | op.shift | wrong
BEGIN { trace(1 << "a"); }
--tag D_OP_INT

@@ op.relational.structs | op.relational, op.struct | wrong
struct s { int a; };
struct s v, w;
BEGIN { trace(v < w); }
--tag D_OP_SOU

@@ op.equality.structs | op.equality | wrong
struct s { int a; };
struct s v, w;
BEGIN { trace(v == w); }
--tag D_OP_SOU

@@ op.equality.plain | op.equality | normal
BEGIN { x = 5; printf("%d%d%d%d\n", x == 5, x == 6, x != 5, x != 6); exit(0); }
--out
1001

--end

@@ op.bits.high-words | op.bits | boundary
int64_t a;
BEGIN { a = -1; printf("%x %x %x %x\n", a & 0x8000000000000000, (a << 32) | 1, a ^ (a << 63), ~a); exit(0); }
--out
8000000000000000 ffffffff00000001 7fffffffffffffff 0

--end

@@ op.logical.short-circuit | op.logical | boundary
BEGIN { x = 0; y = 1; printf("%d %d\n", x && *(int *)0, y || *(int *)0); exit(0); }
--out
0 1

--end

@@ op.logical.struct | op.logical | wrong
struct s { int a; };
struct s v;
BEGIN { trace(v && 1); }
--tag D_OP_SCALAR

@@ op.xor.plain | op.xor | normal
BEGIN { x = 3; y = 0; printf("%d%d%d%d\n", x ^^ y, y ^^ x, x ^^ x, y ^^ y); exit(0); }
--out
1100

--end

@@ op.xor.both-sides | op.xor | boundary
BEGIN { r = (x = 1) ^^ (y = 2); printf("%d %d %d\n", r, x, y); exit(0); }
--out
0 1 2

--end

@@ op.xor.struct | op.xor | wrong
struct s { int a; };
struct s v;
BEGIN { trace(1 ^^ v); }
--tag D_OP_SCALAR

@@ op.conditional.types | op.conditional | wrong
BEGIN { trace(1 ? "a" : 2); }
--tag D_OP_INCOMPAT

@@ op.assign.right-to-left | op.assign | boundary
BEGIN { x = y = z = 3; x += y -= 1; printf("%d %d %d\n", x, y, z); exit(0); }
--out
5 2 3

--end

@@ op.assign.conditional | op.assign | wrong
BEGIN { x = 1; (x + 1) = 2; }
--tag D_OP_LVAL

@@ op.comma.order | op.comma | boundary
BEGIN { x = (y = 2, y *= 5, y + 1); printf("%d %d\n", x, y); exit(0); }
--out
11 10

--end

@@ op.precedence.levels | op.precedence | boundary
BEGIN {
	printf("%d %d %d %d\n", 1 << 2 + 3, 5 & 3 == 3, 1 | 2 ^ 3 & 1, 1 ^^ 1 && 0);
	printf("%d %d %d %d\n", 1 || 0 ^^ 1, 10 - 4 - 3, 2 * 3 % 4, 64 >> 2 >> 1);
	printf("%d %d %d %d\n", !1 + 1, 1 < 2 == 1, -2 * -3, 3 > 2 > 1);
	exit(0);
}
--out
32 1 3 1
1 3 2 8
1 1 6 0

--end

@@ op.string.null | op.string | boundary
string s;
BEGIN { printf("%d ", s == NULL); s = "a"; printf("%d %d\n", s == NULL, s != NULL); exit(0); }
--out
1 0 1

--end

@@ op.string.all-six | op.string | normal
BEGIN { x = "b"; printf("%d%d%d%d%d%d\n", x < "c", x <= "b", x > "a", x >= "c", x == "b", x != "b"); exit(0); }
--out
111010

--end

@@ op.string.integer | op.string | wrong
BEGIN { trace("a" == 1); }
--tag D_OP_INCOMPAT

@@ op.address.member | op.address | normal
struct s { int a; int b; };
this struct s *p;
BEGIN { this->p = alloca(sizeof (struct s)); this->p->b = 9; printf("%d %d\n", (uintptr_t)&this->p->b - (uintptr_t)this->p, *&this->p->b); exit(0); }
--out
4 9

--end

@@ op.address.element | op.address | boundary
this int *p;
BEGIN { this->p = alloca(16); printf("%d %d\n", &this->p[3] - this->p, &this->p[0] == this->p); exit(0); }
--out
3 1

--end

@@ op.write.alloca | op.write, subr.alloca | normal
this int *p;
BEGIN { this->p = alloca(8); *this->p = 5; this->p[1] = *this->p + 1; printf("%d %d\n", this->p[0], this->p[1]); exit(0); }
--out
5 6

--end

@@ op.write.bit-field | op.write, type.bitfield | boundary
struct s { unsigned a : 4; unsigned b : 4; };
struct s v;
BEGIN { v.a = 15; v.b = 0; v.b = 9; v.a = 17; printf("%d %d\n", v.a, v.b); exit(0); }
--out
1 9

--end

@@ op.pointer.scales | op.pointer | normal
int *p; long *q;
BEGIN { printf("%d %d %d\n", (long)(p + 3), (long)(q + 3), (long)(2 + p)); exit(0); }
--out
12 24 8

--end

@@ op.pointer.difference | op.pointer | boundary
this int *p;
BEGIN { this->p = alloca(64); printf("%d %d %d\n", (this->p + 5) - this->p, this->p - (this->p + 5), (this->p + 5) - 5 == this->p); exit(0); }
--out
5 -5 1

--end

@@ op.pointer.sum | op.pointer | wrong
int *p;
BEGIN { trace(p + p); }
--tag D_OP_INCOMPAT

@@ op.zero.divided | op.zero | normal
BEGIN { x = 0; printf("%d %d %d\n", 0 / 5, x / 5, x % 5); exit(0); }
--out
0 0 0

--end

@@ op.zero.modulo-at-run-time | op.zero | boundary
BEGIN { x = 0; printf("%d\n", 7 % x); }
ERROR { printf("fault %d\n", arg4 == DTRACEFLT_DIVZERO); exit(0); }
--out
fault 1

--errhas divide-by-zero
--end

@@ op.offsetof.plain | op.offsetof | normal
struct s { char a; int b; char c; long d; };
BEGIN { printf("%d %d %d %d\n", offsetof(struct s, a), offsetof(struct s, b), offsetof(struct s, c), offsetof(struct s, d)); exit(0); }
--out
0 4 8 16

--end

@@ op.offsetof.union-and-typedef | op.offsetof | boundary
typedef union u { char a[3]; int b; } u_t;
struct s { char c; u_t u; };
BEGIN { printf("%d %d\n", offsetof(u_t, b), offsetof(struct s, u)); exit(0); }
--out
0 4

--end

@@ op.stringof.array | op.stringof | normal
this char *p;
BEGIN { this->p = alloca(4); this->p[0] = 'a'; this->p[1] = 'b'; this->p[2] = 0; printf("%s %d\n", stringof(this->p), stringof(this->p) == "ab"); exit(0); }
--out
ab 1

--end

@@ op.stringof.cast | op.stringof, op.cast | boundary
this char *p;
BEGIN { this->p = alloca(4); this->p[0] = 'x'; this->p[1] = 0; printf("%s%s\n", (string)this->p, stringof("y")); exit(0); }
--out
xy

--end

@@ op.struct.copy | op.struct | normal
struct s { int a; long b; };
struct s v, w;
BEGIN { v.a = 1; v.b = 2; w = v; v.a = 9; printf("%d %d %d\n", w.a, w.b, v.a); exit(0); }
--out
1 2 9

--end

@@ op.struct.through-pointer | op.struct | boundary
struct s { int a; long b; };
struct s v;
this struct s *p;
BEGIN { this->p = alloca(sizeof (struct s)); this->p->a = 3; this->p->b = 4; v = *this->p; printf("%d %d\n", v.a, v.b); exit(0); }
--out
3 4

--end

@@ op.struct.other-type | op.struct | wrong
struct s { int a; };
struct t { int a; };
struct s v;
struct t w;
BEGIN { v = w; }
--tag D_OP_INCOMPAT

@@ op.promotion.ranks | op.promotion | normal
BEGIN { printf("%d %d %d %d\n", sizeof ((char)1 + 2), sizeof ((char)1 + (long)2), sizeof (1u + 2), sizeof ((short)1 + (char)1)); exit(0); }
--out
4 8 4 2

--end

@@ op.promotion.long-beats-unsigned | op.promotion | boundary
BEGIN { printf("%d %d %d\n", (unsigned)1 - (long)2 < 0, (unsigned long)1 - 2 < 0, sizeof ((char)1 + (char)1)); exit(0); }
--out
1 0 1

--end

@@ op.load.widths | op.load | boundary
this char *p;
BEGIN { this->p = alloca(16); *(long *)this->p = 0x8877665544332211; printf("%x %x %x %x %x\n", *(unsigned char *)(this->p + 7), *(unsigned short *)(this->p + 5), *(unsigned int *)(this->p + 3), *(unsigned long *)this->p, *(unsigned int *)(this->p + 1)); exit(0); }
--out
88 7766 77665544 8877665544332211 55443322

--end

@@ op.load.unaligned-store | op.load, op.write | wrong
this char *p;
BEGIN { this->p = alloca(16); *(int *)(this->p + 1) = 1; }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 2

--errhas invalid alignment
--end

@@ edge.cast.narrow-in-expression | op.cast | boundary
int64_t x;
BEGIN { x = 0x3f5; printf("%d %d\n", (uint8_t)x == 0xf5, (char)x + 1000); exit(0); }
--out
1 989

--end

@@ edge.cast.float-to-narrow | op.cast, type.float | boundary
double f;
BEGIN { f = 300.0; printf("%d %d %d %d\n", (char)300.0 == 44, (char)f == 44, (uint8_t)-1.0, (short)40000.5); exit(0); }
--out
1 1 255 -25536

--end

@@ edge.load.int-negative | op.load | boundary
int *p;
BEGIN { p = (int *)alloca(8); *p = -5; printf("%d %d\n", *p < 0, *p + 1000000000000); exit(0); }
--out
1 999999999995

--end

@@ edge.shift.constant-64 | op.shift | boundary
BEGIN { printf("%d %x\n", -16LL >> 2, 0xf000000000000000 >> 60); exit(0); }
--out
-4 f

--end

@@ edge.promote.unsigned-wins | op.promotion | boundary
unsigned int u;
BEGIN { u = 1; printf("%d %d\n", -1 < u, u > -1); exit(0); }
--out
0 0

--end

@@ edge.shift-below-plus | op.precedence | boundary
BEGIN { printf("%d %d\n", 1 << 2 + 1, 64 >> 2 - 1); exit(0); }
--out
8 32

--end

@@ edge.increment.wraps | op.increment | boundary
char c;
BEGIN { c = 127; printf("%d\n", ++c < 0); exit(0); }
--out
1

--end

@@ edge.pointer.steps | op.pointer | boundary
int *p, *q;
BEGIN { p = (int *)alloca(16); q = p; p++; printf("%d %d\n", (char *)p - (char *)q, p + 2 - q); exit(0); }
--out
4 3

--end

@@ edge.shift.run-40 | op.shift | boundary
int64_t x;
BEGIN { x = 1; printf("%d\n", x << 40); exit(0); }
--out
1099511627776

--end

@@ edge.load.short-negative | op.load | boundary
short *p;
BEGIN { p = (short *)alloca(8); *p = -2; printf("%d %d\n", *p < 0, *p + 100000); exit(0); }
--out
1 99998

--end

@@ edge.modulo.constant-unsigned | op.multiply | boundary
BEGIN { printf("%d %d\n", 0xffffffffffffffff % 10, -1 % 10); exit(0); }
--out
5 -1

--end

@@ edge.cast.constant | op.cast | boundary
BEGIN { printf("%d %d\n", (uint8_t)300 == 44, (unsigned short)65537 == 1); exit(0); }
--out
1 1

--end

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
