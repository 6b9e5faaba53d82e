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
--out!
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
--tag D_UNKNOWN

@@ printf.error.format-not-constant | printf.form | wrong
BEGIN { x = "a"; printf(x); exit(0); }
--tag D_PRINTF_ARG_FMT

