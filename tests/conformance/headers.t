@@ header.types | cmd.cpp, type.typedef | normal | process
--args -Cqs $D
#include <sys/types.h>
#include <stdint.h>
#include <stdbool.h>
#include <linux/types.h>
u_int32_t a; __u16 b; register_t c; mode_t m; bool flag;
BEGIN { printf("%d %d %d %d %d %d\n", sizeof(a), sizeof(b), sizeof(c), sizeof(m), sizeof(flag), sizeof(uintmax_t)); printf("%u\n", UINT32_MAX); exit(0); }
--out
4 2 8 4 1 8
4294967295

--end

@@ header.constants | cmd.cpp, type.enum | normal | process
--args -Cqs $D
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <limits.h>
#include <sys/socket.h>
#include <netinet/in.h>
BEGIN { printf("%d %d %d %d %d %d %d %d\n", ENOENT, O_CREAT, SIGKILL, INT_MAX, SOCK_DGRAM, AF_INET6, IPPROTO_TCP, MSG_PEEK); exit(0); }
--out
2 64 9 2147483647 2 10 6 2

--end

@@ header.structs | cmd.cpp, type.struct | normal | process
--args -Cqs $D
#include <sys/stat.h>
#include <sys/epoll.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <linux/if_ether.h>
#include <linux/perf_event.h>
struct sockaddr_in *to;
BEGIN {
	to = alloca(sizeof(struct sockaddr_in));
	to->sin_port = htons(53);
	to->sin_family = AF_INET;
	printf("%d %d\n", to->sin_family, ntohs(to->sin_port));
	printf("%d %d %d\n", sizeof(struct stat), offsetof(struct stat, st_size), sizeof(struct epoll_event));
	printf("%d %d %d\n", sizeof(struct ethhdr), sizeof(struct tcphdr), offsetof(struct perf_event_attr, config));
	exit(0);
}
--out
2 53
144 48 12
14 20 8

--end

@@ header.library-functions | cmd.cpp, subr.call | boundary | process
--args -Cqs $D
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <time.h>
BEGIN { printf("%d %s %s %d\n", strlen("four"), basename("/a/b"), strchr("abc", 'b'), index("xyz", "z")); timezone = 3; printf("%d\n", timezone); exit(0); }
--out
4 b bc 2
3

--end

@@ header.errno-is-d's | cmd.cpp, builtin.write | boundary | process
--args -Cqs $D
#include <errno.h>
BEGIN { printf("%d %d\n", errno, errno == EPERM); exit(0); }
--out
0 0

--end

@@ header.attributes | cmd.cpp, type.struct | boundary | process
--args -Cqs $D
struct packed { char a; long b; } __attribute__((packed));
struct __attribute__((__aligned__(32))) wide { char a; };
struct member { char a; int b __attribute__((aligned(16))); };
struct holder { char a; struct packed p; struct wide w; };
struct bits { char a; unsigned b : 5; unsigned c : 30; } __attribute__((packed));
#pragma pack(push, 2)
struct two { char a; int b; };
#pragma pack(pop)
struct after { char a; int b; };
typedef unsigned int word __attribute__((mode(DI)));
BEGIN {
	printf("%d %d %d %d\n", sizeof(struct packed), sizeof(struct wide), sizeof(struct member), sizeof(struct holder));
	printf("%d %d %d %d %d\n", offsetof(struct holder, p), offsetof(struct holder, w), sizeof(struct bits), sizeof(struct two), sizeof(struct after));
	printf("%d\n", sizeof(word));
	exit(0);
}
--out
9 32 32 64
1 32 6 6 8
8

--end

@@ header.gnu-words | cmd.cpp, type.integer | boundary | process
--args -Cqs $D
__extension__ typedef long long wide;
typedef __signed__ char tiny;
__const int *__restrict p;
int x __asm__("y");
BEGIN { x = (__volatile__ int)(tiny)255; printf("%d %d\n", x, sizeof(wide)); exit(0); }
--out
-1 8

--end

@@ header.gnu-words.elsewhere | lex.identifier | boundary
BEGIN { __inline = 4; __restrict = 5; printf("%d\n", __inline + __restrict); exit(0); }
--out
9

--end

@@ header.functions-of-own | cmd.cpp, unit | boundary | process
--args -C -qs $D
# 1 "own.h" 1
static inline int twice(int x) { return x * 2; /* } */ }
struct pair { int a, b; };
inline int SEVEN = 7;
# 5 "prog.d" 2
BEGIN { printf("%d %d\n", sizeof(struct pair), SEVEN); exit(0); }
--out
8 7

--end

@@ header.function-in-the-program | cmd.cpp, unit | wrong | process
--args -C -qs $D
static int twice(int x) { return x * 2; }
BEGIN { exit(0); }
--errhas not appropriate in D
--status 1
--end

@@ header.macro-in-description | cmd.cpp, probe.form | normal | process
--args -C -qs $D
#define WHERE BEGIN
#define RATE 10ms
WHERE { x = 1; }
tick-RATE /x/ { printf("%s\n", probename); exit(0); }
--out
tick-10ms

--end

@@ header.macro-in-text | cmd.cpp, lex.string | boundary | process
--args -C -qs $D
#define WORD other
BEGIN { printf("WORD %s\n", "/* kept */ // kept"); exit(0); }
--out
WORD /* kept */ // kept

--end

@@ header.traditional | cmd.cpp, lex.string | boundary | process
--args -C -Xs -qs $D
#define SHOW(x) printf("x=%d\n", x)
BEGIN { SHOW(7); exit(0); }
--out
7=7

--end

@@ header.error-names-it | out.compile | wrong | process
--args -C -xerrtags -qs $D
# 1 "own.h" 1
struct pair { int a, b };
# 2 "prog.d" 2
BEGIN { exit(0); }
--errhas failed to compile script $D: [D_SYNTAX] "own.h", line 1: syntax error near "}"
--status 1
--end

@@ header.error-in-the-program | out.compile | wrong | process
--args -C -xerrtags -qs $D
#include <sys/types.h>
BEGIN { nosuch(); exit(0); }
--errhas failed to compile script $D: [D_FUNC_UNDEF] line 2:
--status 1
--end

@@ header.layout.attributes | cmd.cpp, type.struct | boundary | process
--args -Cqs $D
typedef int aint __attribute__((aligned(16)));
typedef aint bint;
typedef long half __attribute__((aligned(4)));
struct n { char a, b __attribute__((aligned(8))), c; };
struct q { char a; int b __attribute__((packed)), c; };
struct k { char c; aint i; };
struct kp { char c; aint i; } __attribute__((packed));
struct kb { char c; const bint i; };
struct h { char c; half i; };
struct c { char c; int i; } __attribute__((deprecated("use the packed one")));
struct e { char c; int i __attribute__((aligned(8*2))); };
struct f { char c; int i __attribute__((aligned(1<<6))); };
struct g { char c; int i __attribute__((aligned(sizeof(long)))); };
struct w { char c; int i __attribute__((mode(DI))); };
enum small { A = 255 } __attribute__((packed));
typedef enum __attribute__((packed)) { B = -1, C = 128 } two;
#pragma pack(push, r1, 8)
struct p8 { char c; long l; };
#pragma pack(pop, r1)
#pragma pack(2)
struct k2 { char c; aint i; };
struct m2 { char c; int i __attribute__((aligned(8))); };
#pragma pack()
BEGIN {
	printf("%d %d %d %d %d %d\n", sizeof(struct n), sizeof(struct q), sizeof(struct k), sizeof(struct kp), sizeof(struct kb), sizeof(struct h));
	printf("%d %d %d %d %d\n", sizeof(struct c), sizeof(struct e), sizeof(struct f), sizeof(struct g), sizeof(struct w));
	printf("%d %d %d %d %d\n", sizeof(struct p8), sizeof(struct k2), sizeof(struct m2), sizeof(enum small), sizeof(two));
	exit(0);
}
--out
16 12 32 5 32 12
8 32 128 16 16
16 6 6 1 2

--end

@@ header.layout.packed-enums | cmd.cpp, type.enum | boundary | process
--args -C -qs $D
enum a { A0 = -128, A1 = 127 } __attribute__((packed));
enum b { B0 = -129 } __attribute__((packed));
enum c { C0 = 256 } __attribute__((packed));
enum d { D0 = 65535 } __attribute__((packed));
enum e { E0 = 65536 } __attribute__((packed));
enum f { F0 = -1, F1 = 32768 } __attribute__((packed));
BEGIN {
	printf("%d %d %d %d %d %d\n", sizeof(enum a), sizeof(enum b), sizeof(enum c), sizeof(enum d), sizeof(enum e), sizeof(enum f));
	exit(0);
}
--out
1 2 2 2 4 4

--end

@@ header.layout.unknown-alignment | cmd.cpp, type.struct | wrong | process
--args -C -xerrtags -qs $D
struct e { char c; int i __attribute__((aligned(8 ? 16 : 8))); };
BEGIN { exit(0); }
--errhas [D_SYNTAX] line 1: aligned( ) is not a power of two that can be computed here
--status 1
--end

@@ header.line-marker.without-cpp | unit | boundary | process
--args -qs $D
# 1 "x.h" 3
BEGIN { printf("seen\n"); exit(0); }
--out
seen

--end

@@ header.mark-of-utf8.several-scripts | cmd.script, unit | boundary | process
--args -qs $D -s $D
﻿#!/usr/sbin/dtrace -s
BEGIN { printf("%d\n", ++n); }
BEGIN /n == 2/ { exit(0); }
--out
1
2

--end

@@ header.several-texts | cmd.specifiers, unit | normal | process
--args -n 'int x;' -n '#pragma D option quiet' -n 'BEGIN { x = 4; printf("%d\n", x); exit(0); }' -n 'END /x == 4/' -n '/* ; */ END' -n 'END /probename == "/*"/ { trace(1); }'
--out
4

--end

@@ type.array.incomplete-element | type.array, type.struct | wrong
struct a { struct nosuch x[3]; };
BEGIN { exit(0); }
--tag D_DECL_INCOMPLETE
