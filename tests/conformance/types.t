@@ type.integer.sizes | type.integer | normal
BEGIN {
	printf("%d %d %d %d %d\n", sizeof (char), sizeof (short), sizeof (int), sizeof (long), sizeof (long long));
	printf("%d %d %d %d\n", sizeof (unsigned char), sizeof (unsigned short int), sizeof (unsigned), sizeof (long unsigned int));
	exit(0);
}
--out
1 2 4 8 8
1 2 4 8

--end

@@ type.integer.limits | type.integer | boundary
char c; unsigned char u; short s; unsigned short t; int i; unsigned v;
BEGIN { c = 128; u = 256; s = 32768; t = 65536; i = 2147483648; v = 4294967296; printf("%d %d %d %d %d %d\n", c, u, s, t, i, v); exit(0); }
--out
-128 0 -32768 0 -2147483648 0

--end

@@ type.typedef.predefined | type.typedef | normal
BEGIN {
	printf("%d %d %d %d\n", sizeof (int8_t), sizeof (uint16_t), sizeof (int32_t), sizeof (uint64_t));
	printf("%d %d %d %d\n", sizeof (intptr_t), sizeof (size_t), sizeof (ptrdiff_t), sizeof (u_longlong_t));
	printf("%d %d %d %d %d %d\n", sizeof (uchar_t), sizeof (ushort_t), sizeof (uint_t), sizeof (ulong_t), sizeof (id_t), sizeof (pid_t));
	exit(0);
}
--out
1 2 4 8
8 8 8 8
1 2 4 8 4 4

--end

@@ type.typedef.chain | type.typedef | boundary
typedef unsigned char byte_t;
typedef byte_t octets_t[5];
typedef octets_t *pointer_t;
octets_t v;
BEGIN { printf("%d %d %d\n", sizeof (octets_t), sizeof (pointer_t), sizeof (v)); exit(0); }
--out
5 8 5

--end

@@ type.float.arithmetic | type.float, subr.float | normal
double d;
BEGIN { d = 1; d = d / 4 + 2; printf("%f %f %f\n", d, d * 2, -d); exit(0); }
--out
2.250000 4.500000 -2.250000

--end

@@ type.float.casts | type.float, subr.float, op.cast | boundary
float f;
double d;
BEGIN { d = -2.75; f = 0.1; printf("%d %d %d %d %d\n", (int)d, (int)2.99, d < 0, (double)3 == 3.0, f == 0.1); exit(0); }
--out
-2 2 1 1 0

--end

@@ type.float.modulo | type.float, subr.float | wrong
double d;
BEGIN { d = 1; trace(d % 2); }
--tag D_OP_INT

@@ type.string.sizeof | type.string, op.sizeof | boundary
#pragma D option strsize=32
string s;
BEGIN { s = "0123456789012345678901234567890123456789"; printf("%d %d\n", sizeof (string), strlen(s)); exit(0); }
--out
32 31

--end

@@ type.string.arithmetic | type.string | wrong
BEGIN { trace("a" * 2); }
--tag D_OP_ARITH

@@ type.struct.padding | type.struct | boundary
struct s { char a; long b; char c; };
BEGIN { printf("%d\n", sizeof (struct s)); exit(0); }
--out
24

--end

@@ type.union.shared | type.union | normal
union u { int i; unsigned char b[4]; };
union u v;
BEGIN { v.i = 0x04030201; printf("%d %d %d\n", v.b[0], v.b[3], sizeof (union u)); exit(0); }
--out
1 4 4

--end

@@ type.union.largest-member | type.union | boundary
union u { char c; long l; char s[11]; };
BEGIN { printf("%d\n", sizeof (union u)); exit(0); }
--out
16

--end

@@ type.union.member | type.union | wrong
union u { int a; };
union u v;
BEGIN { trace(v.b); }
--tag D_TYPE_MEMBER

@@ type.enum.negative | type.enum | boundary
enum e { MINUS = -2, NEXT, ZERO, BIG = 2147483647 };
enum e v;
BEGIN { v = NEXT; printf("%d %d %d %d %d %d\n", MINUS, NEXT, ZERO, BIG, v, sizeof (enum e)); exit(0); }
--out
-2 -1 0 2147483647 -1 4

--end

@@ type.bitfield.plain | type.bitfield | normal
struct s { unsigned a : 3; unsigned b : 13; unsigned c : 16; };
struct s v;
BEGIN { v.a = 5; v.b = 8191; v.c = 65535; printf("%d %d %d %d\n", v.a, v.b, v.c, sizeof (struct s)); exit(0); }
--out
5 8191 65535 4

--end

@@ type.array.plain | type.array | normal
struct s { int v[4]; };
struct s a;
BEGIN { a.v[0] = 1; a.v[3] = 4; printf("%d %d %d %d\n", a.v[0], a.v[3], a.v[1], sizeof (a.v)); exit(0); }
--out
1 4 0 16

--end

@@ type.array.two-dimensions | type.array | boundary
struct s { char m[2][3]; };
struct s a;
BEGIN { a.m[1][2] = 7; printf("%d %d %d\n", a.m[1][2], sizeof (a.m), sizeof (a.m[0])); exit(0); }
--out
7 6 3

--end

@@ type.array.size-not-constant | type.array, type.constant | wrong
int n;
struct s { int v[n]; };
BEGIN { exit(0); }
--tag D_DECL_ARRSUB

@@ type.array.too-big | type.array | wrong
struct s { char v[0x100000000]; };
BEGIN { exit(0); }
--tag D_DECL_ARRBIG

@@ type.pointer.declarators | type.pointer | normal
int *p, **pp, *ap[3], (*pa)[3], (*f)(int, char *);
BEGIN { printf("%d %d %d %d %d\n", sizeof (p), sizeof (pp), sizeof (*pp), sizeof (*p), sizeof (f)); exit(0); }
--out
8 8 8 4 8

--end

@@ type.pointer.arrays | type.pointer | boundary
struct s { int *ap[3]; int (*pa)[3]; int (*(*g)(void))[5]; };
struct s v;
BEGIN { printf("%d %d %d %d\n", sizeof (v.ap), sizeof (v.pa), sizeof (*v.pa), sizeof (v.g)); exit(0); }
--out
24 8 12 8

--end

@@ type.pointer.void-parameter | type.pointer | wrong
int f(void, int);
BEGIN { exit(0); }
--tag D_DECL_PROTO_VOID

@@ type.pointer.dots-not-last | type.pointer | wrong
int f(int, ..., int);
BEGIN { exit(0); }
--tag D_DECL_PROTO_VARARGS

@@ type.kernel.by-name | type.kernel | normal | kernel
BEGIN { printf("%d %d\n", sizeof (struct list_head), offsetof(struct list_head, prev)); exit(0); }
--out
16 8

--end

@@ type.kernel.scoped | type.kernel | boundary | kernel
BEGIN { printf("%d %d\n", sizeof (struct vmlinux`list_head), sizeof (vmlinux`u64)); exit(0); }
--out
16 8

--end

@@ type.kernel.unknown-member | type.kernel | wrong | kernel
BEGIN { trace(curthread->nosuch_member); }
--tag D_TYPE_MEMBER

@@ type.constant.folded | type.constant | normal
struct s { int v[2 * 3 + sizeof (long)]; };
BEGIN { printf("%d\n", sizeof (struct s)); exit(0); }
--out
56

--end

@@ type.constant.enum | type.constant | boundary
enum d { WIDTH = 5 };
enum e { TWICE = WIDTH * 2 };
struct s { unsigned a : WIDTH; char v[TWICE > 9 ? TWICE : 1]; };
BEGIN { printf("%d %d\n", TWICE, sizeof (struct s)); exit(0); }
--out
10 12

--end

@@ type.constant.enum-earlier | type.constant, type.enum | boundary
enum e { ONE = 1, TWO = ONE + ONE, FOUR = TWO << ONE, FIVE, MINUS = -FIVE };
BEGIN { printf("%d %d %d %d %d\n", ONE, TWO, FOUR, FIVE, MINUS); exit(0); }
--out
1 2 4 5 -5

--end

@@ type.constant.enum-itself | type.constant, type.enum | wrong
enum e { A = A + 1 };
BEGIN { exit(0); }
--tag D_IDENT_UNDEF

@@ type.constant.enum-variable | type.constant, type.enum | wrong
int n;
enum e { A = n };
BEGIN { exit(0); }
--tag D_DECL_ENCONST

@@ type.userland.pointer | type.userland | normal | kernel
--args -qs $D -c 'cat /dev/null'
syscall::openat:entry /pid == $target && copyinstr(arg1) == "/dev/null"/ { printf("%c%c\n", *(userland char *)arg1, ((userland char *)arg1)[1]); exit(0); }
--out
/d

--end

@@ type.userland.sizeof | type.userland | boundary
userland char *p;
BEGIN { printf("%d %d\n", sizeof (userland int), sizeof (p)); exit(0); }
--out
4 8

--end

@@ type.userland.null | type.userland | wrong
BEGIN { trace(*(userland int *)0); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 1

--end

@@ edge.string.null-again | type.string | boundary
string s;
BEGIN { s = "abc"; s = NULL; printf("%d\n", s == NULL); exit(0); }
--out
1

--end
