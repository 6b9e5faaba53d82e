@@ agg.count.no-key | agg.count, agg.form | normal
BEGIN { @ = count(); @ = count(); exit(0); }
--out

                2
--end

@@ agg.count.int-key | agg.count | normal
BEGIN { @[4] = count(); @[4] = count(); @[4] = count(); exit(0); }
--out

        4                3
--end

@@ agg.sum.string-key | agg.sum, agg.layout.value, agg.layout.key | normal
BEGIN { @["ab"] = sum(70); exit(0); }
--out

  ab                                                               70
--end

@@ agg.sum.negative | agg.sum, agg.layout.value | boundary
BEGIN { @["n"] = sum(-5); @["n"] = sum(2); exit(0); }
--out

  n                                                                -3
--end

@@ agg.min | agg.min | normal
BEGIN { @ = min(5); @ = min(-7); @ = min(3); exit(0); }
--out

               -7
--end

@@ agg.max | agg.max | normal
BEGIN { @ = max(5); @ = max(-7); @ = max(9); exit(0); }
--out

                9
--end

@@ agg.max.only-negative | agg.max | boundary
BEGIN { @ = max(-9); @ = max(-3); exit(0); }
--out

               -3
--end

@@ agg.avg.truncates | agg.avg, new.integers | boundary
BEGIN { @ = avg(1); @ = avg(2); @ = avg(2); exit(0); }
--out

                1
--end

@@ agg.avg.negative-truncates-to-zero | agg.avg | boundary
BEGIN { @ = avg(-1); @ = avg(-2); exit(0); }
--out

               -1
--end

@@ agg.stddev | agg.stddev | normal
BEGIN { @ = stddev(2); @ = stddev(4); @ = stddev(4); @ = stddev(4); @ = stddev(5); @ = stddev(5); @ = stddev(7); @ = stddev(9); exit(0); }
--out

                2
--end

@@ agg.stddev.one-value | agg.stddev | boundary
BEGIN { @ = stddev(12345); exit(0); }
--out

                0
--end

@@ agg.key.char-short-long | agg.layout.key | normal
BEGIN { @[(char)7, (short)300, 5000000000] = count(); exit(0); }
--out

   7   300       5000000000                1
--end

@@ agg.key.int-negative | agg.layout.key | boundary
BEGIN { @[-4] = count(); exit(0); }
--out

       -4                1
--end

@@ agg.key.string-longer-than-50 | agg.layout.key | boundary
BEGIN { @["xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"] = count(); exit(0); }
--out

  xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx                1
--end

@@ agg.key.mixed | agg.layout.key | normal
BEGIN { @["a", 1] = count(); @["a", 2] = count(); @["a", 2] = count(); exit(0); }
--out

  a                                                         1                1
  a                                                         2                2
--end

@@ agg.sort.by-value | agg.sort.value | normal
BEGIN { @["c"] = sum(3); @["a"] = sum(9); @["b"] = sum(-1); exit(0); }
--out

  b                                                                -1
  c                                                                 3
  a                                                                 9
--end

@@ agg.sort.ties-by-key | agg.sort.value | boundary
BEGIN { @["b"] = count(); @["a"] = count(); @["c"] = count(); exit(0); }
--out

  a                                                                 1
  b                                                                 1
  c                                                                 1
--end

@@ agg.sort.key | agg.sort.key | normal
#pragma D option aggsortkey
BEGIN { @["b"] = sum(1); @["a"] = sum(9); exit(0); }
--out

  a                                                                 9
  b                                                                 1
--end

@@ agg.sort.rev | agg.sort.rev | normal
#pragma D option aggsortrev
BEGIN { @["b"] = sum(1); @["a"] = sum(9); @["c"] = sum(4); exit(0); }
--out

  a                                                                 9
  c                                                                 4
  b                                                                 1
--end

@@ agg.sort.keypos | agg.sort.keypos | boundary
#pragma D option aggsortkey
#pragma D option aggsortkeypos=1
BEGIN { @["a", 2] = sum(1); @["b", 1] = sum(9); exit(0); }
--out

  b                                                         1                9
  a                                                         2                1
--end

@@ agg.sort.pos | agg.sort.pos | boundary
#pragma D option aggsortpos=1
BEGIN { @x["a"] = sum(1); @y["a"] = sum(9); @x["b"] = sum(2); @y["b"] = sum(4); printa("%s %@d %@d\n", @x, @y); exit(0); }
--out
b 2 4
a 1 9

--end

@@ agg.several.by-variable | agg.layout.several | normal
BEGIN { @b["x"] = sum(5); @a["y"] = sum(1); exit(0); }
--out

  x                                                                 5
  y                                                                 1
--end

@@ agg.percpu | agg.percpu | normal | process
#pragma D option aggpercpu
BEGIN { @["a"] = sum(5); @["a"] = sum(6); @["b"] = sum(-2); exit(0); }
--out

  b                                                                -2
    [CPU 0]               -2
  a                                                                11
    [CPU 0]               11
--end

@@ agg.percpu.format | agg.percpu, agg.printa | boundary
#pragma D option aggpercpu
BEGIN { @["a", 3] = sum(5); @["b", 4] = sum(6); @m = min(7); printa("%s %d %@d\n", @); printa("%@d\n", @m); trunc(@, 1); clear(@m); printa("%s %d %@d\n", @); exit(0); }
--out
a 3 5
b 4 6
7
b 4 6

--end

@@ agg.percpu.histogram | agg.percpu, agg.quantize | boundary | process
#pragma D option aggpercpu
BEGIN { @ = lquantize(1, 0, 2); normalize(@, 1); exit(0); }
--out


           value  ------------- Distribution ------------- count    
               0 |                                         0        
               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        
            >= 2 |                                         0        

    [CPU 0]
           value  ------------- Distribution ------------- count    
               0 |                                         0        
               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        
            >= 2 |                                         0        

--end

@@ agg.percpu.wrong | agg.percpu | wrong
#pragma D option aggpercpu=fish
BEGIN { exit(0); }
--tag D_PRAGMA_OPTSET

@@ agg.quantize.small | agg.quantize, agg.layout.bar, agg.layout.rows | normal
BEGIN { @ = quantize(0); @ = quantize(1); @ = quantize(2); @ = quantize(3); @ = quantize(4); exit(0); }
--out


           value  ------------- Distribution ------------- count    
              -1 |                                         0        
               0 |@@@@@@@@                                 1        
               1 |@@@@@@@@                                 1        
               2 |@@@@@@@@@@@@@@@@                         2        
               4 |@@@@@@@@                                 1        
               8 |                                         0        

--end

@@ agg.quantize.negative | agg.quantize | boundary
BEGIN { @ = quantize(-3); @ = quantize(-1); @ = quantize(5); exit(0); }
--out


           value  ------------- Distribution ------------- count    
              -4 |                                         0        
              -2 |@@@@@@@@@@@@@                            1        
              -1 |@@@@@@@@@@@@@                            1        
               0 |                                         0        
               1 |                                         0        
               2 |                                         0        
               4 |@@@@@@@@@@@@@                            1        
               8 |                                         0        

--end

@@ agg.quantize.limits | agg.quantize, agg.layout.rows | boundary
BEGIN { @ = quantize(0x7fffffffffffffff); exit(0); }
--out


           value  ------------- Distribution ------------- count    
2305843009213693952 |                                         0        
4611686018427387904 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        

--end

@@ agg.quantize.weight | agg.quantize | normal
BEGIN { @ = quantize(10, 3); @ = quantize(100, 1); exit(0); }
--out


           value  ------------- Distribution ------------- count    
               4 |                                         0        
               8 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           3        
              16 |                                         0        
              32 |                                         0        
              64 |@@@@@@@@@@                               1        
             128 |                                         0        

--end

@@ agg.quantize.negative-weight | agg.quantize, agg.layout.bar | boundary
BEGIN { @ = quantize(10, -3); exit(0); }
--out


           value  ------------- Distribution ------------- count    
               4                                         | 0        
               8 @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@| -3       
              16                                         | 0        

--end

@@ agg.quantize.mixed-weights | agg.quantize, agg.layout.bar | boundary
BEGIN { @ = quantize(10, -3); @ = quantize(100, 5); exit(0); }
--out


           value  ------------- Distribution ------------- count    
               4                     |                     0        
               8             @@@@@@@@|                     -3       
              16                     |                     0        
              32                     |                     0        
              64                     |@@@@@@@@@@@@@        5        
             128                     |                     0        

--end

@@ agg.quantize.zero-sum | agg.quantize, agg.layout.rows | boundary
BEGIN { @ = quantize(10, 0); exit(0); }
--out


           value  ------------- Distribution ------------- count    
              -1 |                                         0        
               0 |                                         0        
               1 |                                         0        

--end

@@ agg.quantize.key | agg.quantize | normal
BEGIN { @["read"] = quantize(8); @["read"] = quantize(9); exit(0); }
--out

  read                                              
           value  ------------- Distribution ------------- count    
               4 |                                         0        
               8 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 2        
              16 |                                         0        

--end

@@ agg.lquantize | agg.lquantize | normal
BEGIN { @ = lquantize(5, 0, 10, 2); @ = lquantize(6, 0, 10, 2); @ = lquantize(7, 0, 10, 2); exit(0); }
--out


           value  ------------- Distribution ------------- count    
               2 |                                         0        
               4 |@@@@@@@@@@@@@                            1        
               6 |@@@@@@@@@@@@@@@@@@@@@@@@@@@              2        
               8 |                                         0        

--end

@@ agg.lquantize.under-over | agg.lquantize | boundary
BEGIN { @ = lquantize(-1, 0, 10, 5); @ = lquantize(10, 0, 10, 5); @ = lquantize(9, 0, 10, 5); exit(0); }
--out


           value  ------------- Distribution ------------- count    
             < 0 |@@@@@@@@@@@@@                            1        
               0 |                                         0        
               5 |@@@@@@@@@@@@@                            1        
           >= 10 |@@@@@@@@@@@@@                            1        

--end

@@ agg.lquantize.default-step | agg.lquantize | normal
BEGIN { @ = lquantize(2, 1, 4); exit(0); }
--out


           value  ------------- Distribution ------------- count    
               1 |                                         0        
               2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        
               3 |                                         0        

--end

@@ agg.lquantize.64bit | agg.lquantize | boundary
BEGIN { @ = lquantize(0x100000005, 0, 10, 1); exit(0); }
--out


           value  ------------- Distribution ------------- count    
               9 |                                         0        
           >= 10 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        

--end

@@ agg.llquantize | agg.llquantize | normal
BEGIN { @ = llquantize(5, 10, 0, 2, 10); @ = llquantize(57, 10, 0, 2, 10); @ = llquantize(571, 10, 0, 2, 10); exit(0); }
--out


           value  ------------- Distribution ------------- count    
               4 |                                         0        
               5 |@@@@@@@@@@@@@                            1        
               6 |                                         0        
               7 |                                         0        
               8 |                                         0        
               9 |                                         0        
              10 |                                         0        
              20 |                                         0        
              30 |                                         0        
              40 |                                         0        
              50 |@@@@@@@@@@@@@                            1        
              60 |                                         0        
              70 |                                         0        
              80 |                                         0        
              90 |                                         0        
             100 |                                         0        
             200 |                                         0        
             300 |                                         0        
             400 |                                         0        
             500 |@@@@@@@@@@@@@                            1        
             600 |                                         0        

--end

@@ agg.llquantize.outside | agg.llquantize | boundary
BEGIN { @ = llquantize(-1, 10, 1, 2, 10); @ = llquantize(9, 10, 1, 2, 10); @ = llquantize(1000, 10, 1, 2, 10); exit(0); }
--out


           value  ------------- Distribution ------------- count    
            < 10 |@@@@@@@@@@@@@@@@@@@@@@@@@@@              2        
              10 |                                         0        
              20 |                                         0        
              30 |                                         0        
              40 |                                         0        
              50 |                                         0        
              60 |                                         0        
              70 |                                         0        
              80 |                                         0        
              90 |                                         0        
             100 |                                         0        
             200 |                                         0        
             300 |                                         0        
             400 |                                         0        
             500 |                                         0        
             600 |                                         0        
             700 |                                         0        
             800 |                                         0        
             900 |                                         0        
         >= 1000 |@@@@@@@@@@@@@                            1        

--end

@@ agg.printa.default | agg.printa | normal
BEGIN { @a["k"] = sum(3); printa(@a); exit(0); }
--out

  k                                                                 3

--end

@@ agg.printa.format | agg.printa | normal
BEGIN { @a["k", 2] = sum(3); printa("%s/%d=%@d\n", @a); exit(0); }
--out
k/2=3

--end

@@ agg.printa.width | agg.printa | boundary
BEGIN { @a["k"] = sum(3); printa("%-5s|%@5d|\n", @a); exit(0); }
--out
k    |    3|

--end

@@ agg.printa.two | agg.printa, agg.layout.several | normal
BEGIN { @a["k"] = sum(3); @b["k"] = sum(4); @b["l"] = sum(5); printa("%s %@d %@d\n", @a, @b); exit(0); }
--out
l 0 5
k 3 4

--end

@@ agg.sum.computed | agg.sum, agg.max | boundary
BEGIN { x = 100000; @ = sum(x * x); @m = max(0 - x * x); printa("%@d ", @); printa("%@d\n", @m); exit(0); }
--out
10000000000 -10000000000

--end

@@ agg.key.signs | agg.layout.key | boundary
BEGIN { x = -1; @[x] = count(); @[0xffffffff] = count(); printa("%d %@d\n", @); exit(0); }
--out
-1 2

--end

@@ agg.printa.probe-name-and-text | agg.printa, agg.layout.several | boundary
BEGIN { x = probename; @a[probename] = sum(3); @b[x] = sum(4); printa("%s %@d %@d\n", @a, @b); exit(0); }
--out
BEGIN 3 4

--end

@@ agg.printa.marks-printed | agg.printa, new.printed | boundary
BEGIN { @a = count(); printa("%@d\n", @a); @b = sum(2); exit(0); }
--out
1

                2
--end

@@ agg.clear | agg.clear | normal
BEGIN { @a["k"] = sum(3); clear(@a); printa("%s %@d\n", @a); exit(0); }
--out
k 0

--end

@@ agg.trunc.all | agg.trunc | normal
BEGIN { @a["k"] = sum(3); trunc(@a); printa("%s %@d\n", @a); exit(0); }
--out

--end

@@ agg.trunc.top | agg.trunc | normal
BEGIN { @a["k"] = sum(3); @a["l"] = sum(4); @a["m"] = sum(5); trunc(@a, 2); printa("%s %@d\n", @a); exit(0); }
--out
l 4
m 5

--end

@@ agg.trunc.bottom | agg.trunc | boundary
BEGIN { @a["k"] = sum(3); @a["l"] = sum(4); @a["m"] = sum(5); trunc(@a, -2); printa("%s %@d\n", @a); exit(0); }
--out
k 3
l 4

--end

@@ agg.normalize | agg.normalize | normal
BEGIN { @a["k"] = sum(30); normalize(@a, 10); printa("%@d\n", @a); denormalize(@a); printa("%@d\n", @a); exit(0); }
--out
3
30

--end

@@ agg.normalize.truncates | agg.normalize | boundary
BEGIN { @a = sum(39); normalize(@a, 10); printa("%@d\n", @a); exit(0); }
--out
3

--end

@@ agg.error.redefined | agg.form | wrong
BEGIN { @a = count(); @a = sum(1); exit(0); }
--tag D_AGG_REDEF

@@ agg.error.null | agg.form | wrong
BEGIN { @a = count(); @a; exit(0); }
--tag D_AGG_NULL

@@ agg.error.lquantize-step-zero | agg.lquantize | wrong
BEGIN { @a = lquantize(1, 0, 10, 0); exit(0); }
--tag D_LQUANT_STEPVAL

@@ agg.error.lquantize-limits | agg.lquantize | wrong
BEGIN { @a = lquantize(1, 10, 0, 1); exit(0); }
--tag D_LQUANT_MISMATCH

@@ agg.layout.key.sizes | agg.layout.key | boundary
BEGIN { @[(char)-1, (unsigned short)65535, -1, -1ll] = count(); exit(0); }
--out

 255 65535       -1               -1                1
--end

@@ agg.layout.key.struct-bytes | agg.layout.key | boundary
struct s { char a; char b; char c; char d; };
struct s v;
BEGIN { v.a = 'a'; v.b = 'b'; v.c = 'c'; @[v] = count(); exit(0); }
--out

  abc                                                               1
--end

@@ agg.layout.value.negative-average | agg.layout.value | boundary
BEGIN { @a = avg(-7); @a = avg(-8); @b = stddev(-7); @b = stddev(-9); @c = max(-5000000000); exit(0); }
--out

               -7
                1
      -5000000000
--end

@@ agg.layout.bar.rounding | agg.layout.bar | boundary
BEGIN { @ = quantize(1, 1); @ = quantize(2, 79); exit(0); }
--out


           value  ------------- Distribution ------------- count    
               0 |                                         0        
               1 |@                                        1        
               2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 79       
               4 |                                         0        

--end

@@ agg.layout.rows.gap | agg.layout.rows | normal
BEGIN { @ = lquantize(1, 0, 100, 10); @ = lquantize(35, 0, 100, 10); exit(0); }
--out


           value  ------------- Distribution ------------- count    
             < 0 |                                         0        
               0 |@@@@@@@@@@@@@@@@@@@@                     1        
              10 |                                         0        
              20 |                                         0        
              30 |@@@@@@@@@@@@@@@@@@@@                     1        
              40 |                                         0        

--end

@@ agg.layout.rows.empty-lquantize | agg.layout.rows | boundary
BEGIN { @ = lquantize(1, 0, 100, 10, 0); exit(0); }
--out


           value  ------------- Distribution ------------- count    
             < 0 |                                         0        
               0 |                                         0        
              10 |                                         0        

--end

@@ agg.layout.rows.empty-llquantize | agg.layout.rows | boundary
BEGIN { @ = llquantize(1, 10, 0, 3, 10, 0); exit(0); }
--out


           value  ------------- Distribution ------------- count    
             < 1 |                                         0        
               1 |                                         0        

--end

@@ agg.layout.several.keyed | agg.layout.several | boundary
BEGIN { @b["x", 1] = sum(5); @a["x", 1] = sum(7); @a["y", 2] = sum(1); printa(@b, @a); exit(0); }
--out

  y                                                         2                0                1
  x                                                         1                5                7

--end

@@ agg.layout.normal.bars-stay | agg.layout.normal | normal
BEGIN { @ = quantize(1, 30); @ = quantize(2, 10); normalize(@, 10); exit(0); }
--out


           value  ------------- Distribution ------------- count    
               0 |                                         0        
               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           3        
               2 |@@@@@@@@@@                               1        
               4 |                                         0        

--end

@@ agg.layout.normal.to-zero | agg.layout.normal | boundary
BEGIN { @ = quantize(1, 3); @ = quantize(2, 9); normalize(@, 10); exit(0); }
--out


           value  ------------- Distribution ------------- count    
               0 |                                         0        
               1 |@@@@@@@@@@                               0        
               2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           0        
               4 |                                         0        

--end

@@ agg.utf8.eighths | agg.utf8 | normal
#pragma D option encoding=utf8
BEGIN { @ = quantize(1, 1); @ = quantize(2, 2); exit(0); }
--out


           value  ------------- Distribution ------------- count    
               0 |                                         0        
               1 |█████████████▎                           1        
               2 |██████████████████████████▋              2        
               4 |                                         0        

--end

@@ agg.utf8.negative-falls-back | agg.utf8 | boundary
#pragma D option encoding=utf8
BEGIN { @ = quantize(1, -1); exit(0); }
--out


           value  ------------- Distribution ------------- count    
               0                                         | 0        
               1 @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@| -1       
               2                                         | 0        

--end

@@ agg.zoom.quantize | agg.zoom | normal
#pragma D option aggzoom
BEGIN { @ = quantize(1, 10); @ = quantize(2, 30); @ = quantize(8, 20); exit(0); }
--out


           value  ------------- Distribution ------------- count    
               0 |                                         0        
               1 |@@@@@@@@@@@@@                            10       
               2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@   30       
               4 |                                         0        
               8 |@@@@@@@@@@@@@@@@@@@@@@@@@                20       
              16 |                                         0        

--end

@@ agg.zoom.one-bucket | agg.zoom | boundary
#pragma D option aggzoom
BEGIN { @ = lquantize(5, 0, 10, 5); exit(0); }
--out


           value  ------------- Distribution ------------- count    
               0 |                                         0        
               5 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@   1        
           >= 10 |                                         0        

--end

@@ agg.sum.wraps | agg.sum | boundary
BEGIN { @ = sum(0x7fffffffffffffff); @ = sum(1); exit(0); }
--out

 -9223372036854775808
--end

@@ agg.min.lowest | agg.min | boundary
int64_t x;
BEGIN { x = 1; @ = min(x << 63); @ = min(5); exit(0); }
--out

 -9223372036854775808
--end

@@ agg.avg.plain | agg.avg | normal
BEGIN { @["k"] = avg(10); @["k"] = avg(20); @["k"] = avg(33); exit(0); }
--out

  k                                                                21
--end

@@ agg.stddev.plain | agg.stddev | normal
BEGIN { @ = stddev(100); @ = stddev(200); @ = stddev(300); exit(0); }
--out

               81
--end

@@ agg.stddev.large | agg.stddev | boundary
BEGIN { @ = stddev(4000000000000); @ = stddev(-4000000000000); exit(0); }
--out

    4000000000000
--end

@@ agg.count.clauses | agg.count | boundary
BEGIN, BEGIN { @ = count(); @ = count(); }
BEGIN { @ = count(); exit(0); }
--out

                5
--end

@@ agg.lquantize.negative-base | agg.lquantize | boundary
BEGIN { @ = lquantize(-25, -30, 0, 10); @ = lquantize(-21, -30, 0, 10); @ = lquantize(-20, -30, 0, 10); exit(0); }
--out


           value  ------------- Distribution ------------- count    
           < -30 |                                         0        
             -30 |@@@@@@@@@@@@@@@@@@@@@@@@@@@              2        
             -20 |@@@@@@@@@@@@@                            1        
             -10 |                                         0        

--end

@@ agg.llquantize.two-orders | agg.llquantize | boundary
BEGIN { @ = llquantize(2, 2, 1, 3, 2); @ = llquantize(3, 2, 1, 3, 2); @ = llquantize(15, 2, 1, 3, 2); @ = llquantize(16, 2, 1, 3, 2); exit(0); }
--out


           value  ------------- Distribution ------------- count    
             < 2 |                                         0        
               2 |@@@@@@@@@@@@@@@@@@@@                     2        
               4 |                                         0        
               8 |@@@@@@@@@@                               1        
           >= 16 |@@@@@@@@@@                               1        

--end


@@ agg.hist.strings | agg.hist | normal
#pragma D option agghist
BEGIN { @["a"] = sum(3); @["bb"] = sum(1); exit(0); }
--out


              key  ------------- Distribution ------------- count    
               bb |@@@@@@@@@@                               1        
                a |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           3        
--end

@@ agg.hist.negative | agg.hist | boundary
#pragma D option agghist
BEGIN { @[1] = sum(-1); @[2] = sum(3); exit(0); }
--out


      key  ------------- Distribution ------------- count    
        1                @@@@@|                     -1       
        2                     |@@@@@@@@@@@@@@@      3        
--end

@@ agg.hist.not-for-averages | agg.hist | wrong
#pragma D option agghist
BEGIN { @["a"] = avg(3); exit(0); }
--out

  a                                                                 3
--end

@@ agg.pack.ascii | agg.pack | normal
#pragma D option aggpack
#pragma D option encoding=ascii
BEGIN { @["a"] = quantize(1); @["a"] = quantize(2, 3); exit(0); }
--out


              key min .----. max | count
                a   0 : _x : 4   | 4
--end

@@ agg.pack.utf8 | agg.pack | normal
--args -xsetenv=TERM=xterm -xaggpack -qs $D
BEGIN { @["a"] = quantize(1); @["a"] = quantize(2, 3); exit(0); }
--out


              key min .----. max | count
                a   0 : ▂▆ : 4   | 4
--end

@@ agg.pack.dumb | agg.pack | boundary
--args -xsetenv=TERM=dumb -xaggpack -qs $D
BEGIN { @["a"] = quantize(1); @["a"] = quantize(2, 3); exit(0); }
--out


              key min .----. max | count
                a   0 : _x : 4   | 4
--end

@@ agg.pack.lquantize | agg.pack | boundary
#pragma D option aggpack
#pragma D option encoding=ascii
BEGIN { @[7] = lquantize(5, 0, 10, 5); @[8] = lquantize(-1, 0, 10, 5); exit(0); }
--out


      key min .----. max   | count
        8 < 0 :X   : >= 10 | 1
        7 < 0 :  X : >= 10 | 1
--end

@@ agg.pack.sums-as-ever | agg.pack | wrong
#pragma D option aggpack
BEGIN { @["a"] = sum(3); exit(0); }
--out

  a                                                                 3
--end

@@ agg.zoom.bad-value | agg.zoom, agg.utf8 | wrong
--args -xaggzoom=perhaps -qn 'BEGIN { exit(0); }'
--errhas Invalid value for specified option
--status 1
--end

@@ agg.utf8.bad-value | agg.utf8 | wrong
--args -xencoding=latin1 -qn 'BEGIN { exit(0); }'
--errhas Invalid value for specified option
--status 1
--end

@@ agg.count.argument | agg.count | wrong
BEGIN { @ = count(1); }
--tag D_PROTO_LEN

@@ agg.avg.arguments | agg.avg | wrong
BEGIN { @ = avg(); }
--tag D_PROTO_LEN

@@ agg.min.string | agg.min | wrong
BEGIN { @ = min("a"); }
--tag D_AGG_SCALAR

@@ agg.max.arguments | agg.max | wrong
BEGIN { @ = max(1, 2); }
--tag D_PROTO_LEN

@@ agg.stddev.string | agg.stddev | wrong
BEGIN { @ = stddev("a"); }
--tag D_AGG_SCALAR

@@ agg.quantize.arguments | agg.quantize | wrong
BEGIN { @ = quantize(); }
--tag D_QUANT_PROTO

@@ agg.form.keys-and-reuse | agg.form | boundary
BEGIN { @["a", 1, pid == pid] = sum(1); }
BEGIN { @["a", 1, 1] = sum(2); exit(0); }
END { printa("%s %d %d %@d\n", @); }
--out
a 1 1 3

--end

@@ agg.layout.value.zero-average | agg.layout.value | boundary
BEGIN { @["k"] = avg(5); clear(@); exit(0); }
--out

  k                                                                 0
--end

@@ agg.sort.rev.ties | agg.sort.rev | boundary
#pragma D option aggsortrev
BEGIN { @["a"] = count(); @["b"] = count(); exit(0); }
END { printa("%s", @); printf("\n"); }
--out
ba

--end

@@ agg.sort.rev.bad-value | agg.sort.rev | wrong
--args -xaggsortrev=maybe -qn 'BEGIN { exit(0); }'
--errhas Invalid value for specified option
--status 1
--end

@@ agg.sort.key.unsigned | agg.sort.key | boundary
#pragma D option aggsortkey
BEGIN { @[-1] = sum(1); @[5] = sum(3); @[0] = sum(2); exit(0); }
END { printa("%d ", @); printf("\n"); }
--out
0 5 -1 

--end

@@ agg.sort.key.bad-value | agg.sort.key | wrong
--args -xaggsortkey=maybe -qn 'BEGIN { exit(0); }'
--errhas Invalid value for specified option
--status 1
--end

@@ agg.sort.pos.first | agg.sort.pos | normal
#pragma D option aggsortpos=0
BEGIN { @x["a"] = sum(1); @y["a"] = sum(9); @x["b"] = sum(2); @y["b"] = sum(4); printa("%s %@d %@d\n", @x, @y); exit(0); }
--out
a 1 9
b 2 4

--end

@@ agg.sort.pos.bad-value | agg.sort.pos | wrong
--args -xaggsortpos=-1 -qn 'BEGIN { exit(0); }'
--errhas Invalid value for specified option
--status 1
--end

@@ agg.sort.keypos.second | agg.sort.keypos | normal
#pragma D option aggsortkey
#pragma D option aggsortkeypos=1
BEGIN { @["x", 3] = sum(1); @["y", 1] = sum(1); @["z", 2] = sum(1); exit(0); }
END { printa("%s", @); printf("\n"); }
--out
yzx

--end

@@ agg.sort.keypos.bad-value | agg.sort.keypos | wrong
--args -xaggsortkeypos=x -qn 'BEGIN { exit(0); }'
--errhas Invalid value for specified option
--status 1
--end

@@ agg.clear.keeps-keys | agg.clear | boundary
BEGIN { @["k"] = max(7); @["l"] = max(9); clear(@); exit(0); }
END { printa("%s ", @); printf("\n"); }
--out
k l 

--end

@@ agg.trunc.zero-and-more | agg.trunc | boundary
BEGIN { @["k"] = sum(3); @["l"] = sum(4); trunc(@, 9); printa("%s ", @); trunc(@, 0); printa("%s ", @); printf("|\n"); exit(0); }
--out
k l |

--end

@@ agg.normalize.one-value | agg.normalize | boundary
BEGIN { @["a"] = sum(30); @["b"] = sum(7); normalize(@, 10); printa("%s%@d ", @); denormalize(@); printa("%s%@d ", @); printf("\n"); exit(0); }
--out
b0 a3 b7 a30 

--end

@@ agg.trunc.of-cleared | agg.trunc, agg.clear | boundary
BEGIN { @["k"] = min(7); @["l"] = min(9); @["m"] = min(8); clear(@); trunc(@, 1); exit(0); }
END { printa("%s ", @); printf("\n"); }
--out
m 

--end

@@ again.agg-keys-widen | agg.form, agg.layout.key | boundary
BEGIN { @a[(char)-2] = sum(3); @a[7] = sum(2); @a[0x100000007] = sum(1); exit(0); }
--out

       4294967303                1
                7                2
               -2                3
--end

@@ again.agg-keys-widen.unsigned | agg.form, agg.layout.key | boundary
BEGIN { @a[(unsigned char)200] = sum(1); @a[200LL] = sum(1); @b[(char)-1, (short)-1] = count(); exit(0); }
--out

              200                2
 255 65535                1
--end

@@ again.printa.types | agg.printa | normal
BEGIN { @a["k", 65, (void *)31, 'z'] = sum(9); printa("%s %c %p %C %@05d %@x\n", @a); exit(0); }
--out
k A 1f z 00009 9

--end

@@ agg.lquantize.most-levels | agg.lquantize | boundary
BEGIN { @ = lquantize(65531, 0, 65532); exit(0); }
--out


           value  ------------- Distribution ------------- count    
           65530 |                                         0        
           65531 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        
        >= 65532 |                                         0        

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

@@ edge.llquantize.below-many-steps | agg.llquantize | boundary
BEGIN { @ = llquantize(3, 10, 1, 2, 20); exit(0); }
--out


           value  ------------- Distribution ------------- count    
            < 10 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        
              10 |                                         0        

--end

@@ edge.llquantize.more-steps-than-values | agg.llquantize | boundary
BEGIN { @ = llquantize(5, 10, 0, 2, 100); exit(0); }
--out


           value  ------------- Distribution ------------- count    
               4 |                                         0        
               5 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        
               6 |                                         0        

--end

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
