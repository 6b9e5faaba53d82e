@@ printf.d | printf.d, printf.form | normal
BEGIN { printf("%d %d\n", 5, -5); exit(0); }
--out
5 -5

--end

@@ printf.d.unsigned | printf.d | boundary
BEGIN { printf("%d\n", (unsigned int)-1); exit(0); }
--out
4294967295

--end

@@ printf.i | printf.i | boundary
BEGIN { printf("%i\n", (unsigned int)-1); exit(0); }
--out
-1

--end

@@ printf.d.char | printf.d | boundary
BEGIN { printf("%d\n", (char)-1); exit(0); }
--out
-1

--end

@@ printf.u | printf.u | normal
BEGIN { printf("%u\n", 7); exit(0); }
--out
7

--end

@@ printf.o | printf.o | normal
BEGIN { printf("%o\n", 8); exit(0); }
--out
10

--end

@@ printf.x | printf.x | normal
BEGIN { printf("%x %X\n", 255, 255); exit(0); }
--out
ff FF

--end

@@ printf.x.negative-int | printf.x | boundary
BEGIN { printf("%x\n", -1); exit(0); }
--out
ffffffff

--end

@@ printf.x.alt | printf.x | boundary
BEGIN { printf("%#x %#o\n", 255, 8); exit(0); }
--out
0xff 010

--end

@@ printf.c | printf.c | normal
BEGIN { printf("%c%c\n", 'o', 'k'); exit(0); }
--out
ok

--end

@@ printf.C.escape | printf.C | boundary
BEGIN { printf("%C\n", '\n'); exit(0); }
--out
\n

--end

@@ printf.s | printf.s | normal
BEGIN { printf("%s\n", "text"); exit(0); }
--out
text

--end

@@ printf.s.width | printf.s | boundary
BEGIN { printf("[%8s][%-8s]\n", "ab", "cd"); exit(0); }
--out
[      ab][cd      ]

--end

@@ printf.s.precision | printf.s | boundary
BEGIN { printf("[%.2s]\n", "abcd"); exit(0); }
--out
[ab]

--end

@@ printf.S | printf.S | boundary
BEGIN { printf("%S\n", "a\tb"); exit(0); }
--out
a\tb

--end

@@ printf.width | printf.width | normal
BEGIN { printf("[%5d][%-5d][%05d]\n", 42, 42, 42); exit(0); }
--out
[   42][42   ][00042]

--end

@@ printf.flags | printf.flags | boundary
BEGIN { printf("[%+d][% d]\n", 42, 42); exit(0); }
--out
[+42][ 42]

--end

@@ printf.star | printf.star | normal
BEGIN { printf("[%*d]\n", 6, 42); exit(0); }
--out
[    42]

--end

@@ printf.star.precision | printf.star | boundary
BEGIN { printf("[%.*s]\n", 2, "abc"); exit(0); }
--out
[ab]

--end

@@ printf.p | printf.p | normal
BEGIN { printf("%p\n", 0x1234); exit(0); }
--out
1234

--end

@@ printf.percent | printf.percent | normal
BEGIN { printf("100%%\n"); exit(0); }
--out
100%

--end

@@ printf.ld | printf.size | normal
BEGIN { printf("%ld %lld %hd\n", (long)5, (long long)6, (short)7); exit(0); }
--out
5 6 7

--end

@@ printf.Y | printf.Y | normal
BEGIN { printf("%Y\n", 1177423200000000000); exit(0); }
--out
2007 Apr 24 14:00:00

--end

@@ printf.T | printf.T | normal
BEGIN { printf("%T\n", 1177423200000000000); exit(0); }
--out
Tue, 24 Apr 2007 14:00:00 UTC

--end

@@ printf.no-newline | printf.form | boundary
BEGIN { printf("a"); printf("b"); exit(0); }
--out
ab
--end

@@ printf.string-escapes | lex.escape | normal
BEGIN { printf("a\tb\x41\101\\\"\n"); exit(0); }
--out
a	bAA\"

--end

@@ printf.error.missing-arg | printf.form | wrong
BEGIN { printf("%d\n"); exit(0); }
--tag D_PRINTF_ARG_PROTO

@@ printf.error.extra-arg | printf.form | wrong
BEGIN { printf("x\n", 1); exit(0); }
--tag D_PRINTF_ARG_EXTRA

@@ printf.error.wrong-type | printf.form | wrong
BEGIN { printf("%s\n", 1); exit(0); }
--tag D_PRINTF_ARG_TYPE

@@ printf.error.empty | printf.form | wrong
BEGIN { printf(""); exit(0); }
--tag D_PRINTF_FMT_EMPTY

@@ printf.error.bad-conversion | printf.form | wrong
BEGIN { printf("%z\n", 1); exit(0); }
--tag D_SYNTAX

@@ printf.error.format-not-constant | printf.form | wrong
BEGIN { x = "a"; printf(x); exit(0); }
--tag D_PRINTF_ARG_FMT


@@ printf.form.several | printf.form | normal
BEGIN { printf("%s=%d (%x) %c%%\n", "k", 10, 255, 'z'); exit(0); }
--out
k=10 (ff) z%

--end

@@ printf.form.positional | printf.form | wrong
BEGIN { printf("%1$d\n", 1); }
--tag D_SYNTAX

@@ printf.flags.each | printf.flags | normal
BEGIN { printf("[%-6d][%06d][%+d][% d][%#x][%#o]\n", 42, 42, 42, 42, 42, 8); exit(0); }
--out
[42    ][000042][+42][ 42][0x2a][010]

--end

@@ printf.flags.together | printf.flags | boundary
BEGIN { printf("[%-+6d][%+06d][%#06x][%-#6x][%+d]\n", 42, 42, 42, 42, -42); exit(0); }
--out
[+42   ][+00042][0x002a][0x2a  ][-42]

--end

@@ printf.flags.group | printf.flags | boundary
BEGIN { printf("[%'d]\n", 1234567); exit(0); }
--out
[1,234,567]

--end

@@ printf.flags.unknown | printf.flags | wrong
BEGIN { printf("%!d\n", 1); }
--tag D_SYNTAX

@@ printf.width.precision | printf.width | boundary
BEGIN { printf("[%8.3d][%.0s][%5.1s][%-5.3s][%3s][%.5d]\n", 42, "abc", "abc", "abcdef", "abcdef", 42); exit(0); }
--out
[     042][abc][    a][abc  ][abcdef][00042]

--end

@@ printf.star.negative | printf.star | boundary
BEGIN { x = -6; printf("[%*d][%-*d][%*.*s]\n", x, 42, 5, 42, 6, 2, "abc"); exit(0); }
--out
[42    ][42   ][    ab]

--end

@@ printf.pointer-width.plain | printf.pointer-width | normal
BEGIN { printf("[%?x]\n", 0x1234); exit(0); }
--out
[            1234]

--end

@@ printf.pointer-width.left | printf.pointer-width | boundary
BEGIN { printf("[%-?p][%0?x]\n", 0x12, 0x34); exit(0); }
--out
[12              ][0000000000000034]

--end

@@ printf.aggregation.value | printf.aggregation, agg.printa | normal
BEGIN { @["k", 7] = sum(255); printa("%s %d %@d %@x %@o\n", @); exit(0); }
--out
k 7 255 ff 377

--end

@@ printf.aggregation.before-keys | printf.aggregation | boundary
BEGIN { @a["k"] = sum(5); @b["k"] = sum(6); printa("[%@4d][%-4s][%@-4d][%@d]\n", @a, @b); exit(0); }
--out
[   5][k   ][6   ][6]

--end

@@ printf.size.each | printf.size | boundary
BEGIN { printf("%hd %hx %ld %lu %lx %lld %llu %llx\n", (short)-2, (unsigned short)65535, -3l, 4ul, 5ul, -6ll, 7ull, 8ull); exit(0); }
--out
-2 ffff -3 4 5 -6 7 8

--end

@@ printf.size.mismatch | printf.size | wrong
BEGIN { printf("%s %ld\n", "a", "b"); }
--tag D_PRINTF_ARG_TYPE

@@ printf.a.kernel | printf.a | normal | kernel
BEGIN { printf("%a\n", (uintptr_t)&`vfs_read); exit(0); }
--out
vmlinux`vfs_read

--end

@@ printf.a.offset | printf.a | boundary | kernel
BEGIN { printf("%a %a\n", (uintptr_t)&`vfs_read + 5, 0); exit(0); }
--out
vmlinux`vfs_read+0x5 0x0

--end

@@ printf.a.string | printf.a | wrong
BEGIN { printf("%a\n", "text"); }
--tag D_PRINTF_ARG_TYPE

@@ printf.A.not-mapped | printf.A | boundary
BEGIN { printf("%A\n", 0); exit(0); }
--out
0x0

--end

@@ printf.A.string | printf.A | wrong
BEGIN { printf("%A\n", "text"); }
--tag D_PRINTF_ARG_TYPE

@@ printf.c.widths | printf.c | boundary
BEGIN { printf("[%3c][%-3c][%c][%c]\n", 'a', 'b', (char)99, (short)100); exit(0); }
--out
[  a][b  ][c][d]

--end

@@ printf.c.string | printf.c | wrong
BEGIN { printf("%c\n", "a"); }
--tag D_PRINTF_ARG_TYPE

@@ printf.C.printable | printf.C | normal
BEGIN { printf("%C%C %C%C\n", 'o', 'k', '\t', '\0'); exit(0); }
--out
ok \t\0

--end

@@ printf.C.octal | printf.C | boundary
BEGIN { printf("%C %C\n", 1, 127); exit(0); }
--out
\001 \177

--end

@@ printf.C.string | printf.C | wrong
BEGIN { printf("%C\n", "a"); }
--tag D_PRINTF_ARG_TYPE

@@ printf.d.limits | printf.d | boundary
int64_t x;
BEGIN { x = 1; printf("%d %d %d %d\n", x << 63, 0x7fffffffffffffff, (unsigned char)255, (uint64_t)-1); exit(0); }
--out
-9223372036854775808 9223372036854775807 255 18446744073709551615

--end

@@ printf.i.signed | printf.i | normal
BEGIN { printf("%i %i\n", 5, -5); exit(0); }
--out
5 -5

--end

@@ printf.i.string | printf.i | wrong
BEGIN { printf("%i\n", "a"); }
--tag D_PRINTF_ARG_TYPE

@@ printf.e.forms | printf.e | boundary
double d;
BEGIN { d = 12345.678; printf("%e|%E|%.2f|%10.1f|%g|%G\n", d, d, d, d, 0.0001, 1e20); exit(0); }
--out
1.234568e+04|1.234568E+04|12345.68|   12345.7|0.0001|1E+20

--end

@@ printf.e.integer | printf.e | wrong
BEGIN { printf("%f\n", 1); }
--tag D_PRINTF_ARG_TYPE

@@ printf.k.stack | printf.k, act.stack | normal | kernel
--args -qs $D -c 'cat /dev/null' | grep -c '^              vmlinux.[a-z_0-9]*[+]0x[0-9a-f]*$'
fbt::vfs_open:entry /pid == $target/ { printf("%k", stack(2)); exit(0); }
--out
2
--end

@@ printf.k.indent | printf.k | boundary | kernel
--args -qs $D -c 'cat /dev/null' | grep -c '^   vmlinux.[a-z_0-9]*[+]0x[0-9a-f]*$'
fbt::vfs_open:entry /pid == $target/ { printf("%-3k", stack(2)); exit(0); }
--out
2
--end

@@ printf.k.integer | printf.k | wrong
BEGIN { printf("%k\n", 1); }
--tag D_PRINTF_ARG_TYPE

@@ printf.o.limits | printf.o | boundary
BEGIN { printf("%o %o %#o %05o\n", -1, (uint64_t)-1, 0, 8); exit(0); }
--out
37777777777 1777777777777777777777 0 00010

--end

@@ printf.o.string | printf.o | wrong
BEGIN { printf("%o\n", "a"); }
--tag D_PRINTF_ARG_TYPE

@@ printf.u.negative | printf.u | boundary
BEGIN { printf("%u %u %u\n", -1, (char)-1, -1ll); exit(0); }
--out
4294967295 255 18446744073709551615

--end

@@ printf.u.string | printf.u | wrong
BEGIN { printf("%u\n", "a"); }
--tag D_PRINTF_ARG_TYPE

@@ printf.x.widths | printf.x | boundary
BEGIN { printf("%x %x %x %X %#X\n", (char)-1, (short)-1, -1ll, 0xabc, 0xabc); exit(0); }
--out
ff ffff ffffffffffffffff ABC 0XABC

--end

@@ printf.x.string | printf.x | wrong
BEGIN { printf("%x\n", "a"); }
--tag D_PRINTF_ARG_TYPE

@@ printf.p.pointer | printf.p | boundary
int *p;
BEGIN { p = (int *)0xffffffff81000000; printf("%p %p\n", p, 0); exit(0); }
--out
ffffffff81000000 0

--end

@@ printf.p.string | printf.p | wrong
BEGIN { printf("%p\n", "a"); }
--tag D_PRINTF_ARG_TYPE

@@ printf.I.text-itself | printf.I | boundary
BEGIN { printf("%I\n", "no address"); exit(0); }
--out
no address

--end

@@ printf.I.integer | printf.I | wrong
BEGIN { printf("%I\n", 5); }
--tag D_PRINTF_ARG_TYPE

@@ printf.P.number | printf.P | boundary
BEGIN { printf("%P\n", 65533); exit(0); }
--out
65533

--end

@@ printf.P.string | printf.P | wrong
BEGIN { printf("%P\n", "a"); }
--tag D_PRINTF_ARG_TYPE

@@ printf.s.arrays | printf.s | boundary
struct s { char name[8]; };
struct s v;
BEGIN { v.name[0] = 'a'; v.name[1] = 'b'; printf("[%s][%5s]\n", v.name, ""); exit(0); }
--out
[ab][     ]

--end

@@ printf.S.plain | printf.S | normal
BEGIN { printf("%S|%S\n", "plain", "a\nb\\c\"d"); exit(0); }
--out
plain|a\nb\\c\"d

--end

@@ printf.S.integer | printf.S | wrong
BEGIN { printf("%S\n", 1); }
--tag D_PRINTF_ARG_TYPE

@@ printf.T.epoch | printf.T | boundary
BEGIN { printf("%T\n", 0ll); exit(0); }
--out
Thu, 01 Jan 1970 00:00:00 UTC

--end

@@ printf.T.string | printf.T | wrong
BEGIN { printf("%T\n", "a"); }
--tag D_PRINTF_ARG_TYPE

@@ printf.Y.epoch | printf.Y | boundary
BEGIN { printf("%Y|%Y\n", 0ll, 951782399999999999); exit(0); }
--out
1970 Jan  1 00:00:00|2000 Feb 28 23:59:59

--end

@@ printf.Y.string | printf.Y | wrong
BEGIN { printf("%Y\n", "a"); }
--tag D_PRINTF_ARG_TYPE

@@ printf.percent.with-width | printf.percent | boundary
BEGIN { printf("%%d%%\n"); exit(0); }
--out
%d%

--end

@@ printf.A.this-program | printf.A | normal | kernel
--args -qs $D -c 'sleep 2' | grep -c '^busybox'
syscall::*nanosleep:entry /pid == $target/ { printf("%A\n", uregs[R_PC]); exit(0); }
--out
1
--end

@@ printf.P.service | printf.P | normal | process
BEGIN { printf("%P\n", 65000); exit(0); }
--out
65000

--end

@@ printf.I.address | printf.I | normal
BEGIN { printf("%I\n", "192.0.2.77"); exit(0); }
--out
192.0.2.77

--end

@@ edge.escape.octal | printf.C | boundary
BEGIN { printf("[%C] [%S]\n", 0x11, "a\x11"); exit(0); }
--out
[\021] [a\021]

--end

@@ habit.printa.star | printf.star, agg.printa | normal
BEGIN { @a[5, 42] = count(); printa("[%*d] %@d\n", @a); exit(0); }
--out
[   42] 1

--end

@@ habit.printa.star-both | printf.star, agg.printa | boundary
BEGIN { @a[-6, 2, "abcd", 0, "xyz"] = count(); printa("[%*.*s][%.*s] %@d\n", @a); exit(0); }
--out
[ab    ][xyz] 1

--end

@@ habit.precision.zero | printf.width, printf.s | boundary
BEGIN { printf("[%.0s][%4.0s][%.*s][%.1s]\n", "abc", "ab", 0, "xyz", "abc"); exit(0); }
--out
[abc][  ab][xyz][a]

--end
