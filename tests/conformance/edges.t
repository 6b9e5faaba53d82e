@@ edge.cast.narrow-in-expression | op.cast | boundary
int64_t x;
BEGIN { x = 0x3f5; printf("%d %d\n", (uint8_t)x == 0xf5, (char)x + 1000); exit(0); }
--out
1 989

--end

@@ edge.load.int-negative | op.load | boundary
int *p;
BEGIN { p = (int *)alloca(8); *p = -5; printf("%d %d\n", *p < 0, *p + 1000000000000); exit(0); }
--out
1 999999999995

--end

@@ edge.lquantize.no-counts | agg.lquantize, agg.layout.rows | boundary
BEGIN { @ = lquantize(5, 0, 10, 1, 0); exit(0); }
--out


           value  ------------- Distribution ------------- count    
             < 0 |                                         0        
               0 |                                         0        
               1 |                                         0        

--end

@@ edge.llquantize.no-counts | agg.llquantize, agg.layout.rows | boundary
BEGIN { @ = llquantize(500, 10, 1, 2, 10, 0); exit(0); }
--out


           value  ------------- Distribution ------------- count    
            < 10 |                                         0        
              10 |                                         0        

--end

@@ edge.printa.avg-stddev | agg.printa, agg.avg, agg.stddev | boundary
BEGIN { @a = avg(0); @a = avg(6); @s = stddev(0); @s = stddev(6); printa("%@d\n", @a); printa("%@u\n", @s); exit(0); }
--out
3
3

--end

@@ edge.shift.constant-64 | op.shift | boundary
BEGIN { printf("%d %x\n", -16LL >> 2, 0xf000000000000000 >> 60); exit(0); }
--out
-4 f

--end

@@ edge.macro.negative | macro.argument | boundary
--args -qs $D -- -5
BEGIN { printf("%d\n", $1); exit(0); }
--out
-5

--end

@@ edge.integer.two-to-64 | lex.integer | wrong
BEGIN { x = 18446744073709551616; exit(0); }
--tag D_INT_OFLOW

@@ edge.char.signed | lex.char | boundary
BEGIN { printf("%d\n", '\377'); exit(0); }
--out
-1

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

@@ edge.llquantize.below-many-steps | agg.llquantize | boundary
BEGIN { @ = llquantize(3, 10, 1, 2, 20); exit(0); }
--out


           value  ------------- Distribution ------------- count    
            < 10 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        
              10 |                                         0        

--end

@@ edge.llquantize.too-big | agg.llquantize | wrong
BEGIN { @ = llquantize(1, 16, 0, 15, 16); exit(0); }
--tag D_LLQUANT_MAGTOOBIG

@@ edge.lquantize.base-is-limit | agg.lquantize | wrong
BEGIN { @ = lquantize(1, 5, 5); exit(0); }
--tag D_LQUANT_MISMATCH

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

@@ edge.printf.time-of-int | printf.Y | wrong
BEGIN { printf("%Y\n", 5); exit(0); }
--tag D_PRINTF_ARG_TYPE

@@ edge.suggest.short | builtin.ids | wrong
BEGIN { trace(pidd); exit(0); }
--status 1
--errhas did you mean pid?
--end

@@ edge.if.inner-else | if-else | boundary
int x;
BEGIN { if (x) { if (x) { printf("a"); } else { printf("b"); } } printf("c\n"); exit(0); }
--out
c

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

@@ edge.string.null-again | type.string | boundary
string s;
BEGIN { s = "abc"; s = NULL; printf("%d\n", s == NULL); exit(0); }
--out
1

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

@@ edge.llquantize.more-steps-than-values | agg.llquantize | boundary
BEGIN { @ = llquantize(5, 10, 0, 2, 100); exit(0); }
--out


           value  ------------- Distribution ------------- count    
               4 |                                         0        
               5 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        
               6 |                                         0        

--end

@@ edge.inet6.first-of-equal-runs | subr.inet_ntop | boundary
uint64_t *q;
BEGIN { q = (uint64_t *)alloca(16); q[0] = htonll(0x0001000000000002); q[1] = htonll(0x0000000000030004); printf("%s\n", inet_ntop(10, q)); exit(0); }
--out
1::2:0:0:3:4

--end

@@ edge.inet6.not-mapped | subr.inet_ntoa6 | boundary
uint64_t *q;
BEGIN { q = (uint64_t *)alloca(16); q[0] = 0; q[1] = htonll(0x0000ff0000010002); printf("%s\n", inet_ntoa6(q)); exit(0); }
--out
::ff00:1:2

--end

@@ edge.json.escaped-quote | subr.json | boundary
BEGIN { printf("%s\n", json("{\"a\":\"x\\\"y\",\"b\":7}", "b")); exit(0); }
--out
7

--end

@@ edge.json.second-element | subr.json | boundary
BEGIN { printf("%s\n", json("[5,6,7]", "[1]")); exit(0); }
--out
6

--end

@@ edge.json.longer-name | subr.json | boundary
BEGIN { printf("%s\n", json("{\"a\":1,\"ab\":2}", "ab")); exit(0); }
--out
2

--end

@@ edge.float.tie-to-even | subr.float | boundary
double f, g;
BEGIN { f = 1.0; g = 1.1102230246251565e-16; printf("%d\n", f + g == 1.0); exit(0); }
--out
1

--end

@@ edge.float.negative-order | subr.float | boundary
double f, g;
BEGIN { f = -2.0; g = -1.0; printf("%d %d\n", f < g, g < f); exit(0); }
--out
1 0

--end

@@ edge.float.to-integer | subr.float | boundary
double f;
BEGIN { f = 2.0; printf("%d\n", (int)f); f = -2.5; printf("%d\n", (int)f); exit(0); }
--out
2
-2

--end

@@ edge.memstr.inner-nul | subr.memstr | boundary
char *p;
BEGIN { p = (char *)alloca(8); p[0] = 'a'; p[1] = 0; p[2] = 'b'; printf("%s\n", memstr(p, ',', 3)); exit(0); }
--out
a,b

--end

@@ edge.fault.first-of-two-lines | out.fault | wrong
BEGIN { trace(*(int *)0 +
 *(int *)8); }
ERROR { exit(0); }
--errhas at $D:1:
--end

@@ edge.escape.octal | printf.C | boundary
BEGIN { printf("[%C] [%S]\n", 0x11, "a\x11"); exit(0); }
--out
[\021] [a\021]

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

@@ edge.modulo.constant-unsigned | op.multiply | boundary
BEGIN { printf("%d %d\n", 0xffffffffffffffff % 10, -1 % 10); exit(0); }
--out
5 -1

--end

@@ edge.float.subtract | subr.float | boundary
double f;
BEGIN { f = 2.5; printf("%d %d\n", (int)(f - 1.0), (int)(2.5 - 1.0)); exit(0); }
--out
1 1

--end

@@ edge.cast.constant | op.cast | boundary
BEGIN { printf("%d %d\n", (uint8_t)300 == 44, (unsigned short)65537 == 1); exit(0); }
--out
1 1

--end

