@@ lex.space.between-tokens | lex.space | normal
BEGIN	{
	x
	=
	1 ; printf ( "%d\n" , x ) ; exit ( 0 ) ;
}
--out
1

--end

@@ lex.space.all-kinds | lex.space | boundary
--args -qn "$(printf 'BEGIN\f{\vprintf("ok\\n");\rexit(0);\t}\n')"
--out
ok

--end

@@ lex.comment.anywhere | lex.comment | normal
/* before */ BEGIN /* head */ { /* statement */ printf("%d\n", 1 /* operand */ + 2); exit(0); } /* behind */
--out
3

--end

@@ lex.comment.stars | lex.comment | boundary
/**/ /***/ /* ** */
BEGIN { printf("%s\n", "/* text */"); /* a
line * / more **/ exit(0); }
--out
/* text */

--end

@@ lex.comment.two-slashes | lex.comment | wrong
BEGIN { exit(0); // no comment
}
--tag D_SYNTAX

@@ lex.comment.open | lex.comment | wrong
BEGIN { exit(0); } /* never closed
--tag D_SYNTAX

@@ lex.script-line.first | lex.script-line, cmd.script | normal
#!/usr/sbin/dtrace -qs
BEGIN { printf("ok\n"); exit(0); }
--out
ok

--end

@@ lex.script-line.after-blanks | lex.script-line | boundary
   #!/usr/sbin/dtrace { not read
BEGIN { printf("ok\n"); exit(0); }
--out
ok

--end

@@ lex.control.pragma | lex.control, pragma.option | normal
--args -s $D
#pragma D option quiet
BEGIN { printf("ok\n"); exit(0); }
--out
ok

--end

@@ lex.control.blanks | lex.control | boundary
--args -s $D
  #  pragma   D   option	quiet
# 7 "other.d"
BEGIN { printf("ok\n"); exit(0); }
--out
ok

--end

@@ lex.control.include | lex.control | wrong
#include <stdio.h>
BEGIN { exit(0); }
--tag D_PRAGCTL_INVAL

@@ lex.identifier.letters | lex.identifier | normal
BEGIN { _aB9_ = 3; printf("%d\n", _aB9_); exit(0); }
--out
3

--end

@@ lex.identifier.case | lex.identifier | boundary
BEGIN { _ = 1; __ = 2; a = 3; A = 4; printf("%d%d%d%d\n", _, __, a, A); exit(0); }
--out
1234

--end

@@ lex.identifier.hash | lex.identifier | wrong
BEGIN { a#b = 1; }
--tag D_SYNTAX

@@ lex.scoped.any-module | lex.scoped, var.extern | normal | kernel
extern int panic_timeout;
BEGIN { printf("%d\n", `panic_timeout); exit(0); }
--out
-1

--end

@@ lex.scoped.named-module | lex.scoped | boundary | kernel
BEGIN { printf("%d %d\n", &vmlinux`vfs_read == &`vfs_read, &vmlinux`panic_timeout != NULL); exit(0); }
--out
1 1

--end

@@ lex.scoped.no-type | lex.scoped | wrong | kernel
BEGIN { trace(`panic_on_oops); }
--tag D_SYM_NOTYPES

@@ lex.scoped.unknown | lex.scoped | wrong | kernel
BEGIN { trace(`nosuch_symbol); }
--tag D_IDENT_UNDEF

@@ lex.integer.suffixes | lex.integer | normal
BEGIN { printf("%d %d %d %d %d %d\n", 5u, 5U, 5l, 5L, 5ll, 5ULL); exit(0); }
--out
5 5 5 5 5 5

--end

@@ lex.integer.zero | lex.integer | boundary
BEGIN { printf("%d %d %d %d\n", 0, 00, 0x0, 0xFfFf); exit(0); }
--out
0 0 0 65535

--end

@@ lex.integer-type.sizes | lex.integer-type, op.sizeof | normal
BEGIN { printf("%d %d %d %d %d\n", sizeof (1), sizeof (1u), sizeof (1l), sizeof (1ull), sizeof (0x1)); exit(0); }
--out
4 4 8 8 4

--end

@@ lex.integer-type.first-that-fits | lex.integer-type | boundary
BEGIN { printf("%d %d %d %d\n", sizeof (2147483647), sizeof (2147483648), sizeof (0x80000000), sizeof (0x100000000)); exit(0); }
--out
4 8 4 8

--end

@@ lex.integer-type.decimal-keeps-sign | lex.integer-type | boundary
BEGIN { printf("%d %d\n", 2147483648 - 2147483649 < 0, 0x80000000 - 0x80000001 < 0); exit(0); }
--out
1 0

--end

@@ lex.float.constants | lex.float, type.float, printf.e | normal
BEGIN { printf("%f %f\n", 1.5, 1.5 + 2.25); exit(0); }
--out
1.500000 3.750000

--end

@@ lex.float.forms | lex.float | boundary
BEGIN { printf("%g %g %g %g\n", 1e3, 2.5e-1, .5, 1.0E+2); exit(0); }
--out
1000 0.25 0.5 100

--end

@@ lex.float.bits | lex.float, type.float | wrong
BEGIN { trace(1.5 & 1); }
--tag D_OP_INT

@@ lex.char.several | lex.char | boundary
BEGIN { printf("%x %x %d %x\n", 'ab', 'abcd', '\0', 'abcdefgh'); exit(0); }
--out
6162 61626364 0 6162636465666768

--end

@@ lex.char.escapes | lex.char | normal
BEGIN { printf("%d %d %d %d %d\n", '\n', '\t', '\\', '\'', '\x41'); exit(0); }
--out
10 9 92 39 65

--end

@@ lex.string.plain | lex.string | normal
BEGIN { printf("%s|%s\n", "it's", "a 'b' c"); exit(0); }
--out
it's|a 'b' c

--end

@@ lex.string.empty | lex.string | boundary
BEGIN { printf("[%s]%d\n", "", strlen("")); exit(0); }
--out
[]0

--end

@@ lex.string.adjacent | lex.string | wrong
BEGIN { printf("a" "b"); }
--tag D_SYNTAX

@@ lex.escape.octal-three-digits | lex.escape | boundary
BEGIN { printf("\1018 \x41g \60\n"); exit(0); }
--out
A8 Ag 0

--end

@@ lex.escape.unknown | lex.escape | boundary
BEGIN { printf("\q\n"); exit(0); }
--out
\q

--end

@@ lex.aggregation.named | lex.aggregation | normal
BEGIN { @a_1 = sum(3); printa("%@d\n", @a_1); exit(0); }
--out
3

--end

@@ lex.aggregation.unnamed | lex.aggregation | boundary
BEGIN { @ = sum(3); printa("%@d\n", @_); exit(0); }
--out
3

--end

@@ lex.aggregation.digit | lex.aggregation | wrong
BEGIN { @1a = count(); }
--tag D_INT_DIGIT

@@ lex.continuation.expression | lex.continuation | normal
BEGIN { printf("%d\n", 1 + \
2); exit(0); }
--out
3

--end

@@ lex.continuation.string | lex.continuation | boundary
BEGIN { printf("a\
b\n"); exit(0); }
--out
ab

--end

@@ lex.keyword.member | lex.keyword | normal | kernel
BEGIN { printf("%d\n", ((struct bus_type *)&`pci_bus_type)->probe != NULL); exit(0); }
--out
1

--end

@@ lex.keyword.prefix | lex.keyword, lex.identifier | boundary
BEGIN { forx = 1; iff = 2; strings = 3; autos = 4; printf("%d%d%d%d\n", forx, iff, strings, autos); exit(0); }
--out
1234

--end

@@ lex.keyword.goto | lex.keyword | wrong
BEGIN { goto = 1; }
--tag D_SYNTAX

@@ lex.keyword.while | lex.keyword, statements | wrong
BEGIN { while (1) exit(0); }
--tag D_SYNTAX

@@ lex.slash.division-in-predicate | lex.slash | normal
BEGIN /4 / 2 == 2/ { printf("yes\n"); exit(0); }
--out
yes

--end

@@ lex.slash.brackets | lex.slash | boundary
BEGIN /(8 / 4 / 1) == 2 && 9 / 3/
{ printf("%d\n", 9 / 3 / 3); exit(0); }
--out
1

--end

@@ lex.slash.unbalanced | lex.slash | wrong
BEGIN /(1/ { exit(0); }
--tag D_SYNTAX

@@ unit.all-kinds | unit | normal
#pragma D option quiet
inline int TWO = 2;
typedef int number_t;
number_t five;
struct out { int a; };
translator struct out < int i > { a = i + TWO; };
BEGIN { five = 5; printf("%d %d\n", five * TWO, xlate <struct out> (five).a); exit(0); }
--out
10 7

--end

@@ unit.empty-allowed | unit | boundary
--args -xempty -qe -s $D
/* nothing */
--out
--end

@@ clause.several-descriptions | clause, probe.list | normal
BEGIN, END { printf("%s\n", probename); }
BEGIN { exit(0); }
--out
BEGIN
END

--end

@@ clause.predicate-sees-earlier | clause, new.order | boundary
BEGIN { x = 1; }
BEGIN /x == 1/ { printf("second\n"); x = 2; }
BEGIN /x == 1/ { printf("no\n"); }
BEGIN /x == 2/ { printf("third\n"); exit(0); }
--out
second
third

--end

@@ clause.braces-missing | clause | wrong
BEGIN
END { exit(0); }
--tag D_SYNTAX

@@ clause.no-braces-in-file | clause, default-action | wrong
BEGIN
--tag D_SYNTAX

@@ default-action.command-line | default-action, cmd.specifiers | boundary | process
--args -n 'dtrace:::BEGIN' -n 'BEGIN { exit(0); }'
--out
CPU     ID                    FUNCTION:NAME
  0      1                           :BEGIN 
  0      1                           :BEGIN 

--end

@@ statements.last-semicolon | statements | normal
BEGIN { printf("a\n"); printf("b\n"); exit(0) }
--out
a
b

--end

@@ statements.empty-and-blocks | statements | boundary
BEGIN { ; ; { printf("a\n"); { printf("b\n"); } } ; exit(0); }
--out
a
b

--end

@@ statements.missing-semicolon | statements | wrong
BEGIN { printf("a") printf("b"); }
--tag D_SYNTAX

@@ if-else.chain | if-else | boundary
BEGIN { x = 2; if (x == 1) printf("one\n"); else if (x == 2) { printf("two\n"); if (x > 5) printf("no\n"); } else printf("other\n"); exit(0); }
--out
two

--end

@@ if-else.assignment-inside | if-else | normal
BEGIN { x = 1; if (x) { x = 0; y = 5; } else { y = 6; } if (x) printf("no\n"); printf("%d %d\n", x, y); exit(0); }
--out
0 5

--end

@@ if-else.fault-skips-rest | if-else, out.fault | wrong
BEGIN { if (1) { printf("a\n"); x = *(int *)0; printf("b\n"); } printf("c\n"); }
BEGIN { printf("d\n"); exit(0); }
--out
d

--errhas invalid address (0x0)
--end

@@ if-else.one-line-of-output | if-else, out.header | boundary | process
--args -s $D
BEGIN { x = 1; if (x) trace(7); else trace(8); trace(9); exit(0); }
--out
CPU     ID                    FUNCTION:NAME
  0      1                           :BEGIN         7        9

--end

@@ if-else.matched-once | if-else, out.matched | boundary
--args -s $D
#pragma D option quiet
BEGIN { x = 1; if (x) printf("a\n"); else printf("b\n"); exit(0); }
--out
a

--err
--end

@@ if-else.matched-once-loud | if-else, out.matched | boundary
--args -s $D
BEGIN { x = 1; if (x) x = 2; else x = 3; exit(0); }
--err
dtrace: script '$D' matched 1 probe
--end

@@ if-else.string-condition | if-else | wrong
struct s { int a; };
struct s v;
BEGIN { if (v) exit(0); }
--tag D_PRED_SCALAR

@@ action-place.statement | action-place | normal
BEGIN { trace("a"); exit(0); }
--out
a
--end

@@ action-place.after-comma-free | action-place | boundary
BEGIN { (x = 1); x ? y = 2 : 0; printf("%d %d\n", x, y); exit(0); }
--out
1 2

--end

@@ action-place.expression | action-place | wrong
BEGIN { x = exit(0); }
--tag D_OP_ACT

@@ action-place.conditional | action-place, op.conditional | wrong
BEGIN { x = 1 ? exit(0) : exit(1); }
--tag D_OP_ACT

@@ edge.char.signed | lex.char | boundary
BEGIN { printf("%d\n", '\377'); exit(0); }
--out
-1

--end

@@ edge.if.inner-else | if-else | boundary
int x;
BEGIN { if (x) { if (x) { printf("a"); } else { printf("b"); } } printf("c\n"); exit(0); }
--out
c

--end

@@ habit.if.empty-statement | if-else | boundary
BEGIN { if (0) ; else printf("else\n"); if (1) ; printf("on\n"); exit(0); }
--out
else
on

--end

@@ habit.predicate.own-variable | clause, var.undefined | normal
BEGIN /x == 0/ { x++; printf("ran %d\n", x); exit(0); }
--out
ran 1

--end

@@ habit.predicate.own-kinds | clause, var.undefined, var.assoc, var.self | boundary
BEGIN /s != "b" && a[1] == 0 && self->t == 0 && this->u == 0/ { s = "b"; a[1] = 2; self->t = 3; this->u = 4; }
BEGIN /s == "b"/ { printf("%s %d %d %d\n", s, a[1], self->t, this->u); exit(0); }
--out
b 2 3 4

--end

@@ habit.predicate.until | clause | boundary
BEGIN /i < 2/ { i++; }
BEGIN /i < 2/ { i++; }
BEGIN /i < 2/ { i++; }
BEGIN { printf("%d\n", i); exit(0); }
--out
2

--end

@@ habit.predicate.makes | clause, op.assign | boundary
BEGIN /x = 5/ { printf("%d\n", x); exit(0); }
--out
5

--end

@@ habit.choice.actions | if-else, action-place, op.conditional | normal
BEGIN { x = 1; x ? printf("yes\n") : trace("no"); x == 2 ? printf("two\n") : printf("not two\n"); exit(0); }
--out
yes
not two

--end

@@ habit.choice.nested | if-else, action-place, op.conditional | boundary
BEGIN { x = 2; x == 1 ? printf("one\n") : x == 2 ? printf("two\n") : exit(5); x > 5 ? printf("no\n") : exit(3); }
--out
two

--status 3
--end

@@ habit.choice.one-line | if-else, out.record | boundary
--args -n 'BEGIN { x = 1; x ? printf("a") : printf("b"); x ? printf("c") : exit(9); exit(0); }' 2>/dev/null | awk '{ print $NF }'
--out
FUNCTION:NAME
ac

--end

@@ habit.char.several | lex.char, lex.integer-type | normal
BEGIN { printf("%x %x %d %d\n", 'ab', 'abcdefgh', sizeof ('ab'), sizeof ('abcdefgh')); exit(0); }
--out
6162 6162636465666768 4 8

--end

@@ habit.char.five | lex.char | boundary
BEGIN { x = 'abcde'; printf("%x %d\n", x, 'abcde' > 'abcd'); exit(0); }
--out
6162636465 1

--end

@@ habit.char.high | lex.char, lex.integer-type | boundary
BEGIN { printf("%d %d %d\n", sizeof ('abcd'), sizeof ('\377abc'), '\377abc' == 0xff616263); exit(0); }
--out
4 8 1

--end
