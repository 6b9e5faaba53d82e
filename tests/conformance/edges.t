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

