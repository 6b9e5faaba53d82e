@@ opt.size.suffixes | opt.size | normal
--args -xbufsize=1m -xaggsize=64K -xdynvarsize=1m -xspecsize=32k -xstrsize=64 -qn 'BEGIN { printf("%d\n", sizeof (string)); exit(0); }'
--out
64

--end

@@ opt.size.hexadecimal-and-large | opt.size | boundary
--args -xstrsize=0x10 -xdynvarsize=16777216 -qn 'BEGIN { printf("%d\n", sizeof (string)); exit(0); }'
--out
16

--end

@@ opt.size.negative | opt.size | wrong
--args -xbufsize=-1 -qn 'BEGIN { exit(0); }'
--errhas Invalid value for specified option
--status 1
--end

@@ opt.rate.units | opt.rate | normal
--args -xswitchrate=10hz -xaggrate=100ms -xstatusrate=1sec -xcleanrate=50hz -qn 'BEGIN { printf("ok\n"); exit(0); }'
--out
ok

--end

@@ opt.rate.long-forms | opt.rate | boundary
--args -xswitchrate=1MIN -xaggrate=1000000000 -xstatusrate=500msec -xcleanrate=0hz -qn 'BEGIN { printf("ok\n"); exit(0); }'
--out
ok

--end

@@ opt.rate.unit | opt.rate | wrong
--args -xswitchrate=5fortnights -qn 'BEGIN { exit(0); }'
--errhas Invalid value for specified option
--status 1
--end

@@ opt.flag.words | opt.flag | normal
--args -xquiet=yes -xflowindent=no -xrawbytes=off -n 'BEGIN { printf("ok\n"); exit(0); }'
--out
ok

--end

@@ opt.flag.numbers-and-case | opt.flag | boundary
--args -xquiet=0 -xrawbytes=unset -n 'BEGIN { printf("ok\n"); exit(0); }'
--out
ok

--end

@@ opt.flag.value | opt.flag, opt.unknown | wrong
--args -xquiet=perhaps -n 'BEGIN { exit(0); }'
--errhas Invalid value for specified option
--status 1
--end

@@ opt.policy.fill | opt.policy | normal
--args -xbufpolicy=fill -qn 'BEGIN { printf("a\n"); } END { printf("b\n"); } BEGIN { exit(0); }'
--out
a
b

--end

@@ opt.policy.ring | opt.policy | boundary
--args -xbufpolicy=ring -b 64k -qn 'BEGIN { printf("a\n"); } BEGIN { exit(0); } END { printf("b\n"); }'
--out
a
b

--end

@@ opt.policy.unknown | opt.policy | wrong
--args -xbufpolicy=spiral -qn 'BEGIN { exit(0); }'
--errhas Invalid value for specified option
--status 1
--end

@@ opt.resize.auto | opt.resize | normal
--args -xbufresize=auto -qn 'BEGIN { printf("ok\n"); exit(0); }'
--out
ok

--end

@@ opt.resize.manual | opt.resize | boundary
--args -xbufresize=manual -b 64k -qn 'BEGIN { printf("ok\n"); exit(0); }'
--out
ok

--end

@@ opt.resize.unknown | opt.resize | wrong
--args -xbufresize=sometimes -qn 'BEGIN { exit(0); }'
--errhas Invalid value for specified option
--status 1
--end

@@ opt.nspec.several | opt.nspec | normal
--args -xnspec=3 -qn 'BEGIN { a = speculation(); b = speculation(); c = speculation(); printf("%d\n", a != b && b != c && a != c && a && b && c); exit(0); }'
--out
1

--end

@@ opt.nspec.bad | opt.nspec | wrong
--args -xnspec=many -qn 'BEGIN { exit(0); }'
--errhas Invalid value for specified option
--status 1
--end

@@ opt.frames.bad | opt.frames | wrong
--args -xstackframes=few -qn 'BEGIN { exit(0); }'
--errhas Invalid value for specified option
--status 1
--end

@@ opt.cpu.all | opt.cpu | normal
--args -xcpu=all -qn 'BEGIN { printf("ok\n"); exit(0); }'
--out
ok

--end

@@ opt.cpu.first | opt.cpu | boundary
--args -xcpu=0 -qn 'BEGIN { printf("%d\n", cpu); exit(0); }'
--out
0

--end

@@ opt.cpu.not-there | opt.cpu | wrong
--args -xcpu=60000 -qn 'BEGIN { exit(0); }'
--errhas names no CPU that is online
--status 1
--end

@@ opt.temporal.on | opt.temporal | normal
--args -xtemporal -qn 'BEGIN { printf("a\n"); } BEGIN { exit(0); } END { printf("b\n"); }'
--out
a
b

--end

@@ opt.temporal.off | opt.temporal | boundary
--args -xtemporal=no -qn 'BEGIN { printf("a\n"); exit(0); }'
--out
a

--end

@@ opt.temporal.bad | opt.temporal | wrong
--args -xtemporal=sometimes -qn 'BEGIN { exit(0); }'
--errhas Invalid value for specified option
--status 1
--end

@@ opt.stackindent.key | opt.stackindent | normal | kernel
--args -xstackindent=4 -qs $D -c 'cat /dev/null' | grep -c '^    vmlinux.[a-z_0-9]*[+]0x[0-9a-f]*$'
fbt::vfs_open:entry /pid == $target/ { stack(2); exit(0); }
--out
2
--end

@@ opt.stackindent.zero | opt.stackindent | boundary | kernel
--args -xstackindent=0 -qs $D -c 'cat /dev/null' | grep -c '^vmlinux.[a-z_0-9]*[+]0x[0-9a-f]*$'
fbt::vfs_open:entry /pid == $target/ { stack(2); exit(0); }
--out
2
--end

@@ opt.stackindent.bad | opt.stackindent | wrong
--args -xstackindent=deep -qn 'BEGIN { exit(0); }'
--errhas Invalid value for specified option
--status 1
--end

@@ opt.rawbytes.keys | opt.rawbytes | normal
--args -xrawbytes -qs $D
this char *p;
BEGIN { this->p = alloca(2); this->p[0] = 'a'; tracemem(this->p, 2); exit(0); }
--out

             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef
         0: 61 00                                            a.

--end

@@ opt.rawbytes.strings | opt.rawbytes | normal
--args -xrawbytes -qn 'BEGIN { trace("ab"); @["c"] = count(); exit(0); }'
--out

             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef
         0: 61 62 00                                         ab.


             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef
         0: 63 00                                            c.
                1
--end

@@ opt.rawbytes.bad | opt.rawbytes | wrong
--args -xrawbytes=perhaps -qn 'BEGIN { exit(0); }'
--errhas Invalid value for specified option
--status 1
--end

@@ opt.compile.several | opt.compile | normal | process
--args -xdefine=SEVEN=7 -xcpp -qs $D
BEGIN { printf("%d\n", SEVEN); exit(0); }
--out
7

--end

@@ opt.compile.nolibs | opt.compile | boundary
--args -xnolibs -xerrtags -qs $D
BEGIN { printf("%d\n", SIGKILL); exit(0); }
--errhas [D_IDENT_UNDEF]
--status 1
--end

@@ opt.compile.version | opt.compile | wrong
--args -xversion=old -qn 'BEGIN { exit(0); }'
--errhas version
--status 1
--end

@@ opt.dynamic.rates | opt.dynamic | boundary
BEGIN { setopt("switchrate", "20ms"); setopt("aggrate", "20ms"); printf("ok\n"); exit(0); }
--out
ok

--err
--end

@@ opt.unknown.near | opt.unknown, out.compile | wrong
--args -xbufsise=1m -qn 'BEGIN { exit(0); }'
--errhas bufsize
--status 1
--end

@@ opt.ours.engine | opt.ours | normal
--args -xblocksize=16k -xscratchsize=64k -qn 'BEGIN { printf("ok\n"); exit(0); }'
--out
ok

--end

@@ opt.ours.scratch-largest | opt.ours, subr.alloca | boundary
--args -xscratchsize=4m -qn 'BEGIN { p = (char *)alloca(4194304); p[4194303] = 7; printf("%d\n", p[4194303]); exit(0); }'
--out
7

--end

@@ opt.ours.scratch-too-large | opt.ours, out.compile | wrong
--args -xscratchsize=4194305 -qn 'BEGIN { exit(0); }'
--errhas scratchsize is at most 4m
--status 1
--end

@@ opt.ours.scratch-pragma | opt.ours | wrong
#pragma D option scratchsize=1g
BEGIN { exit(0); }
--tag D_PRAGMA_OPTSET

@@ opt.ours.specpool | opt.ours | boundary
--args -xspecpool=64k -xnspec=100 -qn 'BEGIN { s = speculation(); } BEGIN { speculate(s); printf("ok\n"); } BEGIN { commit(s); } BEGIN { exit(0); }'
--out
ok

--end

@@ opt.ours.unknown-engine | opt.ours | wrong
--args -xengine=steam -qn 'BEGIN { exit(0); }'
--errhas engine
--status 1
--end

@@ new.integers.negative | new.integers | boundary
BEGIN { printf("%d %d\n", -7 / 2, -7 % 2); exit(0); }
--out
-3 -1

--end

@@ new.zero.arrays | new.zero | boundary
BEGIN { a["x"] = 1; self->b[1] = 2; printf("%d %d\n", a["y"], self->b[7]); exit(0); }
--out
0 0

--end

@@ new.free.value-zero | new.free | normal
BEGIN { self->ts = 5; }
BEGIN /self->ts/ { printf("set\n"); self->ts = 0; }
BEGIN /!self->ts/ { printf("free\n"); exit(0); }
--out
set
free

--end

@@ new.begin-end.exit-in-begin | new.begin-end | boundary
BEGIN { printf("begin\n"); exit(0); }
tick-1ms { printf("no\n"); }
END { printf("end\n"); }
--out
begin
end

--end

@@ new.order.predicate-at-its-turn | new.order | boundary
int x;
BEGIN /x == 0/ { x = 1; printf("first\n"); }
BEGIN /x == 0/ { printf("no\n"); }
BEGIN /x == 1/ { printf("second\n"); exit(0); }
--out
first
second

--end

@@ new.error-probe.both | new.error-probe, out.fault | wrong
BEGIN { x = *(int *)0; }
ERROR { printf("seen\n"); exit(0); }
--out
seen

--errhas error on enabled probe ID 1
--end

@@ new.tick.late | new.tick | boundary | process
--args -wqs $D
int n;
tick-10ms /!n/ { chill(300000000); }
tick-10ms /n++/ { printf("done\n"); exit(0); }
--out
done

--errhas hits that their providers missed
--end

@@ new.tick.one-cpu | new.tick | normal
tick-10ms { n++; }
tick-10ms /n == 5/ { exit(0); }
END { printf("%d\n", n); }
--out
5

--end

@@ new.tick.units | new.tick | boundary
tick-5000us { a++; }
tick-10msec { b++; }
tick-1000000ns { c++; }
tick-50hz /a && b && c/ { printf("ok\n"); exit(0); }
--out
ok

--end

@@ new.tick.no-unit-known | new.tick | wrong
tick-10parsecs { exit(0); }
--tag D_PDESC_ZERO

@@ new.printed.only-the-rest | new.printed | normal
BEGIN { @a = sum(1); @b = sum(2); exit(0); }
END { printa("a %@d\n", @a); }
--out
a 1

                2
--end

@@ again.nspec.none | opt.nspec | boundary
--args -qxnspec=0 -s $D
BEGIN { printf("%d\n", speculation()); exit(0); }
--out
0

--end
--err
dtrace: 1 failed speculation (no speculative buffer available)
--end
