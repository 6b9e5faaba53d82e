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

