@@ habit.scratch.if | if-else, subr.alloca | normal
BEGIN { p = (char *)alloca(8); *p = 5; if (1) printf("%d\n", *p); exit(0); }
--out
5

--end

@@ habit.scratch.else | if-else, subr.alloca | boundary
struct s { int a; char t[8]; };
BEGIN {
	this->s = (struct s *)alloca(sizeof (struct s));
	if (arg0) { this->s->a = 1; } else { this->q = (int *)alloca(4); *this->q = 7; this->s->a = 2; }
	this->t = strjoin("a", "b");
	if (this->s->a == 2) { if (*this->q == 7) { this->s->t[0] = 'x'; } }
	printf("%d %d %s %s\n", this->s->a, *this->q, stringof(this->s->t), this->t);
	exit(0);
}
--out
2 7 x ab

--end

@@ habit.scratch.choice | if-else, op.conditional, subr.alloca | boundary
BEGIN { p = (int *)alloca(8); p[1] = 3; p[1] == 3 ? printf("yes %d\n", p[1]) : printf("no\n"); p[0] = 1; p[0] ? exit(0) : exit(1); }
--out
yes 3

--end

@@ habit.scratch.tokens | if-else, subr.strtok | boundary
BEGIN { this->a = strtok(strjoin("a,", "b"), ","); if (1) { printf("%s %s\n", this->a, strtok(NULL, ",")); } exit(0); }
--out
a b

--end

@@ habit.scratch.two-clauses | if-else, subr.alloca | boundary
--args -xscratchsize=64 -qs $D
BEGIN { p = (char *)alloca(40); if (1) { *p = 1; } printf("%d", *p); }
BEGIN { p = (char *)alloca(40); if (1) { *p = 2; } printf("%d", *p); }
BEGIN { p = (char *)alloca(40); *p = 3; printf("%d\n", *p); exit(0); }
--out
123

--end

@@ habit.scratch.if-limit | if-else, subr.alloca, out.fault | boundary
--args -xscratchsize=64 -qs $D
BEGIN { p = (char *)alloca(40); if (1) { q = alloca(40); } printf("not reached"); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 5

--errhas out of scratch space
--end

@@ habit.scratch.next-clause | if-else, subr.alloca, out.fault | wrong
BEGIN { p = (char *)alloca(8); if (1) { *p = 1; } }
BEGIN { *p = 2; printf("stored"); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 1

--errhas invalid address
--end

@@ habit.scratch.next-if | if-else, subr.alloca, out.fault | wrong
BEGIN { p = (char *)alloca(8); if (1) { *p = 1; } }
BEGIN { if (1) { *p = 2; printf("stored"); } }
ERROR { printf("fault %d\n", arg4); if (arg4) { p = (char *)alloca(1); *p = 2; } if (*p == 2) exit(0); }
--out
fault 1

--errhas invalid address
--end

@@ habit.scratch.results | if-else, subr.substr, subr.case, opt.size | normal
--args -xstrsize=4096 -qs $D
BEGIN {
	printf("%s%s%s%s%s", substr("abc", 1), substr("abc", 0, 1), toupper("d"), tolower("E"), strtok("f g", " "));
	if (1) { printf("%s%s%s%s%s", basename("/a/h"), dirname("i/j"), cleanpath("j//k"), json("{\"a\":2}", "a"), toupper("l")); }
	printf("%s%s%s\n", substr("mno", 2), toupper("p"), lltostr(16));
	exit(0);
}
--out
bcaDefhij/k2LoP16

--end

@@ habit.scratch.results-full | subr.case, subr.substr, out.fault | boundary
--args -xstrsize=64 -xscratchsize=128 -qs $D
BEGIN { printf("%s%s%s%s%s%s%s%s%s\n", toupper("a"), toupper("b"), toupper("c"), toupper("d"), toupper("e"), toupper("f"), toupper("g"), toupper("h"), substr("abcdefgh", 1)); }
BEGIN { printf("%s%s%s%s%s%s%s%s%s%s\n", toupper("a"), toupper("b"), toupper("c"), toupper("d"), toupper("e"), toupper("f"), toupper("g"), toupper("h"), toupper("i"), toupper("j")); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
ABCDEFGHbcdefgh
fault 5

--errhas out of scratch space
--end

@@ habit.scratch.results-long | subr.case, out.fault | boundary
--args -xstrsize=64 -xscratchsize=128 -qs $D
BEGIN { s = "0123456789012345678901234567890123456789012345678901234567890ab"; }
BEGIN { printf("%s %s\n", toupper(s), toupper(s)); }
BEGIN { printf("%s %s %s\n", toupper(s), toupper(s), toupper("c")); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
0123456789012345678901234567890123456789012345678901234567890AB 0123456789012345678901234567890123456789012345678901234567890AB
fault 5

--errhas out of scratch space
--end

@@ habit.scratch.behind | subr.case, subr.bcopy, subr.alloca | boundary
--args -xstrsize=64 -qs $D
BEGIN {
	this->a = (char *)alloca(64);
	this->b = (char *)alloca(64);
	this->s = (char *)toupper("ab");
	bcopy(this->s, this->a, 64);
	this->t = (char *)toupper("cd");
	bcopy(this->s, this->b, 64);
	printf("%s %d %d %s %s\n", stringof(this->a), this->a[8], this->a[63], stringof(this->b), stringof(this->b + 8));
	exit(0);
}
--out
AB 0 0 AB CD

--end

@@ habit.scratch.behind-tokens | subr.strtok, subr.strjoin, subr.case | boundary
BEGIN { this->a = strtok(strjoin("a,b", ",c"), ","); printf("%s %s", toupper(this->a), toupper(strtok(NULL, ","))); printf(" %s %d\n", strtok(NULL, ","), strtok(NULL, ",") == NULL); exit(0); }
--out
A B c 1

--end

@@ habit.scratch.behind-stored | subr.case, out.fault | wrong
--args -xstrsize=64 -qs $D
BEGIN { p = (char *)toupper("ab"); p[1] = 'x'; printf("%s\n", stringof(p)); p[8] = 'y'; printf("not reached"); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 1

--errhas invalid address
--end

@@ habit.copyinto.member | subr.copyinto, type.struct, subr.alloca | normal
--args -qs $D -w
struct s { int n; char b[8]; int w[2]; };
BEGIN { self->s = (struct s *)alloca(sizeof (struct s)); copyinto(0, 0, self->s->b); copyinto(0, 0, self->s->w); printf("%d\n", self->s->w[1]); exit(0); }
--out
0

--end

@@ habit.copyinto.own-array | subr.copyinto, type.array | wrong
char b[8];
BEGIN { copyinto(0, 4, b); }
--tag D_PROTO_ARG

@@ habit.choice.both-kinds | op.conditional, subr.alloca | boundary
BEGIN { p = alloca(8); p = (void *)arg0; q = arg0 ? p : NULL; r = arg0 ? p : (void *)arg1; printf("%d %d\n", q == NULL, r == NULL); exit(0); }
--out
1 1

--end

@@ habit.choice.nested-kinds | op.conditional, subr.alloca | wrong
BEGIN { p = alloca(8); q = arg0 ? (arg1 ? p : NULL) : (void *)arg2; }
--tag D_ALLOCA_INCOMPAT

@@ habit.null.declared | builtin.constants, var.type | wrong
int NULL;
BEGIN { exit(0); }
--tag D_DECL_IDRED

@@ habit.null.assigned | builtin.constants, op.assign | wrong
BEGIN { NULL = 3; exit(NULL); }
--tag D_OP_LVAL

@@ habit.null.element | builtin.constants, var.assoc | wrong
BEGIN { NULL[1] = 3; }
--tag D_OP_PTR

@@ habit.null.inline | builtin.constants, inline.plain | wrong
inline int NULL = 3;
BEGIN { exit(NULL); }
--tag D_DECL_IDRED

@@ habit.null.extern | builtin.constants, var.extern | wrong
extern int NULL;
BEGIN { exit(0); }
--tag D_DECL_IDRED

@@ habit.null.self | builtin.constants, var.self | boundary
BEGIN { self->NULL = 3; printf("%d %d\n", self->NULL, NULL); exit(0); }
--out
3 0

--end

@@ habit.array.member-assigned | op.assign, type.array, type.struct | wrong
struct s { int m[4]; };
struct s v;
BEGIN { x = v.m; }
--tag D_OP_ARRFUN

@@ habit.array.declared-assigned | op.assign, type.array | wrong
int a[4];
BEGIN { self->x = a; }
--tag D_OP_ARRFUN

@@ habit.array.sum-assigned | op.assign, type.array | wrong
int a[3];
BEGIN { a += 1; }
--tag D_OP_ARRFUN

@@ habit.array.member-sum-assigned | op.assign, type.array, type.struct | wrong
struct s { int a[1]; int b; };
struct s v;
BEGIN { v.a -= 1; }
--tag D_OP_ARRFUN

@@ habit.array.text-sum-assigned | op.assign, type.array | wrong
BEGIN { this->a = (char *)alloca(8); this->b = execname; this->a += 1; exit(0); }
char c[3];
BEGIN { c += 1; }
--tag D_OP_ARRFUN

@@ habit.array.to-element | op.assign, type.array, var.assoc | wrong
int a[4];
BEGIN { x[1] = a; }
--tag D_OP_ARRFUN

@@ habit.array.text | op.assign, type.array, op.string | boundary
struct s { char m[4]; };
struct s v;
BEGIN { v.m[0] = 'h'; v.m[1] = 'i'; x = v.m; v.m[0] = 'y'; v.m[1] = 'o'; y = x; x = v.m; printf("%s %s\n", stringof(x), stringof(y)); k[v.m] = 7; printf("%d %d\n", k["yo"], k["hi"]); exit(0); }
--out
yo hi
7 0

--end

@@ habit.array.pointer | op.assign, type.array, type.pointer | boundary
struct s { int m[4]; };
int *p;
BEGIN { this->s = (struct s *)alloca(sizeof (struct s)); this->s->m[2] = 5; p = this->s->m; printf("%d\n", p[2]); exit(0); }
--out
5

--end

@@ habit.key.array | var.key, type.array | wrong
int a[4];
BEGIN { k[a] = 1; }
--tag D_KEY_TYPE

@@ habit.key.array-member | var.key, type.array, type.struct | wrong
struct s { int m[4]; };
struct s v;
BEGIN { k[v.m] = 1; }
--tag D_KEY_TYPE

@@ habit.key.array-to-pointer | var.key, type.array | wrong
int a[4];
int k[int *];
BEGIN { k[a] = 1; }
--tag D_KEY_TYPE

@@ habit.key.array-declared | var.key, type.array | wrong
int k[int[4]];
BEGIN { exit(0); }
--tag D_KEY_TYPE

@@ habit.key.text-array-full | var.key, type.array | boundary
char c[8];
BEGIN { c[0] = c[1] = c[2] = c[3] = c[4] = c[5] = c[6] = c[7] = 65; k[c] = 1; printf("%d %d %d\n", k["AAAAAAAA"], k["AAAAAAA"], k[c]); exit(0); }
--out
1 0 1

--end

@@ habit.key.text-scratch-full | var.key, subr.alloca | boundary
BEGIN { this->p = (char *)alloca(8); bcopy("AAAAAAAA", this->p, 8); k[stringof(this->p)] = 1; printf("%d\n", k["AAAAAAAA"]); exit(0); }
--out
1

--end

@@ habit.key.text-long | var.key, type.string | boundary
--args -xstrsize=16 -qs $D
BEGIN { x = "AAAAAAAAAAAAAAAAAAAAAAAAAA"; k["AAAAAAAAAAAAAAAAAAAAAAAAAA"] = 1; printf("%d %d %d\n", k[x], k["AAAAAAAAAAAAAAA"], k["AAAAAAAAAAAAAA"]); exit(0); }
--out
1 1 0

--end

@@ habit.key.text-member | var.key, type.struct, type.array | boundary
struct q { char c[4]; char d[8]; };
struct q v;
BEGIN { v.d[0] = 66; v.c[0] = v.c[1] = v.c[2] = v.c[3] = 65; k[v.c] = 1; printf("%d %d\n", k["AAAA"], k["AAAAB"]); exit(0); }
--out
1 0

--end

@@ habit.key.largest | var.key, type.struct | boundary
--args -xscratchsize=64k -xdynvarsize=4m -qs $D
struct s { char c[16384]; };
BEGIN { this->s = (struct s *)alloca(16384); this->s->c[16383] = 1; k[*this->s] = 3; printf("%d", k[*this->s]); this->s->c[16383] = 2; printf(" %d\n", k[*this->s]); exit(0); }
--out
3 0

--end

@@ habit.key.too-large | var.key, type.struct | wrong
--args -xerrtags -qs $D
struct s { char c[16385]; };
BEGIN { this->s = (struct s *)alloca(8); k[*this->s] = 3; }
--out
--errhas $D:2:44: error: type struct s cannot be a key [D_KEY_TYPE]
--status 1
--end

@@ habit.key.too-large-declared | var.key, type.struct | wrong
struct s { char c[16385]; };
int k[struct s];
BEGIN { exit(0); }
--tag D_KEY_TYPE

@@ habit.variable.largest | var.type, type.struct | boundary
struct s { char c[16384]; };
struct s v;
BEGIN { v.c[16383] = 1; printf("%d\n", v.c[16383]); exit(0); }
--out
1

--end

@@ habit.variable.too-large | var.type, type.struct | wrong
struct s { char c[16385]; };
struct s v;
BEGIN { exit(0); }
--tag D_DECL_ARRBIG

@@ habit.variable.too-large-made | var.type, type.struct | wrong
struct s { char c[16385]; };
BEGIN { x = *(struct s *)alloca(8); }
--tag D_DECL_ARRBIG

@@ habit.copyout.before | subr.copyout, act.order | wrong
#pragma D option destructive
BEGIN { copyout(alloca(4), 0, 4); speculate(1); }
--tag D_ACT_SPEC

@@ habit.copyout.text-before | subr.copyout, act.order | wrong
#pragma D option destructive
BEGIN { if (arg0) copyoutstr("a", 0, 1); x = 1; speculate(1); }
--tag D_ACT_SPEC

@@ habit.copyout.predicate | subr.copyout, act.order, clause | wrong
#pragma D option destructive
BEGIN /(copyout(alloca(4), 0, 4), 1)/ { speculate(1); }
--tag D_ACT_SPEC

@@ habit.copyout.condition | subr.copyout, act.order, if-else | wrong
#pragma D option destructive
BEGIN { speculate(1); if ((copyout(alloca(4), 0, 4), 1)) x = 1; }
--tag D_ACT_SPEC

@@ habit.copyout.branches | subr.copyout, act.order, if-else | boundary
--args -wqs $D
BEGIN { if (arg0) { copyout(alloca(4), 0, 4); } else { speculate(speculation()); printf("speculated\n"); } }
BEGIN { commit(1); }
BEGIN { exit(0); }
--out
speculated

--end

@@ habit.copyout.own-clause | subr.copyout, act.order | boundary
--args -wqs $D
BEGIN { if (arg0) copyout(alloca(4), 0, 4); }
BEGIN { speculate(speculation()); printf("speculated\n"); }
BEGIN { commit(1); }
BEGIN { exit(0); }
--out
speculated

--end

@@ habit.print.null-no-scratch | act.print, subr.alloca | boundary
--args -xscratchsize=16 -qs $D
struct in { char c[600]; };
struct in *p;
BEGIN { print(p); this->p = p; print(this->p); printf("\n"); exit(0); }
--out
struct in * 0struct in * 0

--end

@@ habit.print.global | act.print, type.pointer | boundary
--args -qs $D | sed 's/ 0x[0-9a-f]* = \*/ ADDRESS = */'
struct in { int a; int b; };
struct in *p;
struct in *q[int];
BEGIN { p = (struct in *)alloca(sizeof (struct in)); p->b = 3; q[1] = p; print(p); print(q[1]); if (1) print(p); exit(0); }
--out
struct in * ADDRESS = *
struct in {
    int b = 0x3
}struct in * ADDRESS = *
struct in {
    int b = 0x3
}struct in * ADDRESS = *
struct in {
    int b = 0x3
}
--end

@@ habit.print.once | act.print | boundary
--args -Seqs $D 2>&1 | grep -c 'ldgs.*"p"'
struct in { int a; };
struct in *p;
BEGIN { print(p); }
--out
1
--end

@@ habit.member.anonymous | type.struct, type.union | boundary
struct s { int a; struct { int b; union { int c; char d; }; }; struct { int a; } e; };
struct s v;
BEGIN { v.a = 1; v.c = 0x4142; v.e.a = 3; printf("%d %c %d %d\n", v.a, v.d, v.b, v.e.a); exit(0); }
--out
1 B 0 3

--end

@@ habit.member.anonymous-twice | type.struct | wrong
struct s { int a; struct { int b; int a; }; };
BEGIN { exit(0); }
--tag D_DECL_MNAME

@@ habit.member.anonymous-before | type.struct | wrong
struct s { struct { int b; union { int a; }; }; int a; };
BEGIN { exit(0); }
--tag D_DECL_MNAME

@@ habit.member.anonymous-both | type.struct, type.union | wrong
struct s { struct { int a; }; union { struct { int a; }; }; };
BEGIN { exit(0); }
--tag D_DECL_MNAME

@@ habit.sizeof.choice | op.sizeof, op.conditional, lex.string | boundary
inline string S = "hi";
BEGIN { printf("%d %d %d %d %d\n", sizeof (1 ? "a" : "bcd"), sizeof (0 ? "a" : "bcd"), sizeof (stringof("a")), sizeof (S), sizeof ("a")); exit(0); }
--out
256 256 256 256 2

--end

@@ habit.print.no-size | act.print, type.struct, type.array | boundary
--args -qs $D | sed 's/ 0x[0-9a-f]* = \*/ ADDRESS = */'
struct f { int n; char d[]; };
struct g { int n; int d[]; };
struct h { int d[0]; int n; short e[0]; };
struct f *p;
struct g *q;
struct h *r;
BEGIN { p = alloca(4); p->n = 3; print(p); q = alloca(4); q->n = 4; print(q); r = alloca(4); r->n = 5; print(r); exit(0); }
--out
struct f * ADDRESS = *
struct f {
    int n = 0x3
}struct g * ADDRESS = *
struct g {
    int n = 0x4
}struct h * ADDRESS = *
struct h {
    int n = 0x5
}
--end

@@ habit.predicate.from-action | clause, op.assign, var.type | boundary
tick-10ms /(x = y) >= 0/ { y = 0x100000005; n++; if (n == 3) { printf("%x %x\n", x, y); exit(0); } }
--out
100000005 100000005

--end

@@ habit.predicate.from-action-string | clause, op.assign, var.type | boundary
BEGIN { s = "a"; }
tick-10ms /(x = y) != s/ { y = "abc"; n++; if (n == 3) { printf("%s %s\n", x, y); exit(0); } }
--out
abc abc

--end

@@ habit.predicate.from-action-early | clause, op.assign | wrong
--args -xerrtags -s $D
BEGIN /(x = y) == 0/ { trace(x); y = 1; }
--out
--errhas :1:30: error: failed to resolve x: Unknown variable name [D_IDENT_UNDEF]
--status 1
--end

@@ habit.predicate.from-nothing | clause, op.assign | wrong
--args -xerrtags -s $D 2>&1 | grep -o ':1:[0-9]*: error: .*'
BEGIN /(x = y) == 0/ { trace(x); }
--out
:1:13: error: failed to resolve y: Unknown variable name [D_IDENT_UNDEF]
--end

@@ habit.copyinto.sum | subr.copyinto, subr.alloca, op.cast | boundary
BEGIN { this->a = (uintptr_t)alloca(16); copyinto(0, 0, (void *)(this->a + 4)); copyinto(0, 0, (char *)(8 + this->a)); printf("taken\n"); exit(0); }
--out
taken

--end

@@ habit.copyinto.own-memory | subr.copyinto, subr.alloca, op.cast | boundary | process
BEGIN { this->a = (uintptr_t)alloca(16); this->s = (char *)alloca(4); this->s[0] = 'a'; this->s[1] = 'b'; copyinto((uintptr_t)this->s, 4, (void *)(this->a + 4)); printf("%s\n", stringof((char *)(this->a + 4))); exit(0); }
--out
ab

--end

@wrong D_PROTO_ARG | habit.copyinto.known-sum | subr.copyinto, op.cast | BEGIN { copyinto(0, 4, (void *)(arg0 + 4)); }
@wrong D_PROTO_ARG | habit.copyinto.null | subr.copyinto | BEGIN { copyinto(0, 4, (void *)0); }
@wrong D_PROTO_ARG | habit.copyinto.userland | subr.copyinto | userland char *u; BEGIN { copyinto(0, 4, u); }

@@ habit.string-member.takes | op.assign, type.string, type.struct, type.array | boundary
struct s { string z; char n[8]; };
struct s v, w;
BEGIN {
	w.z = "abc"; v.z = w.z; printf("%s ", v.z);
	v.n[0] = 'd'; v.n[1] = 'e'; v.z = v.n; printf("%s ", v.z);
	v.z = NULL; printf("<%s> ", v.z);
	p = (struct s *)alloca(sizeof (struct s)); p->z = w.z; v.z = p->z; printf("%s ", v.z);
	x = (v.z = w.z = "f"); printf("%s %s %s %s\n", v.z, w.z, x, v.z = "gh");
	exit(0);
}
--out
abc de <> abc f f f gh

--end

@@ habit.member.anonymous-place | type.struct, type.union | wrong
--args -xerrtags -s $D
struct e { int a; struct { int b; union { int : 3; int a; }; }; };
BEGIN { exit(0); }
--out
--errhas :1:56: error: member name redeclared: a [D_DECL_MNAME]
--status 1
--end

@@ habit.full-array.text | op.stringof, op.assign, op.string, type.array, type.string | boundary
struct s { char a[4]; char b[4]; };
struct s v;
string t;
string self u;
string k[int];
inline string i = v.a;
BEGIN {
	v.a[0] = 'a'; v.a[1] = 'b'; v.a[2] = 'c'; v.a[3] = 'd'; v.b[0] = 'x'; v.b[1] = 'y';
	t = v.a; self->u = v.a; k[1] = v.a;
	printf("%s %s %s %s %s %s\n", t, self->u, k[1], stringof(v.a), (string)v.a, i);
	printf("%d %d %d %d\n", v.a == "abcd", v.a == "abcdxy", "abcd" >= v.a, t == v.a);
	printf("%s %s\n", t == t ? v.a : "n", t == t ? "n" : v.a);
	exit(0);
}
--out
abcd abcd abcd abcd abcd abcd
1 0 1 1
abcd n

--end

@@ habit.full-array.subroutines | subr.strlen, subr.strjoin, subr.strtok, subr.index, subr.strstr, subr.substr, type.array | boundary
struct s { char a[4]; char b[4]; };
struct s v;
BEGIN {
	v.a[0] = 'a'; v.a[1] = 'b'; v.a[2] = 'c'; v.a[3] = 'd'; v.b[0] = 'x'; v.b[1] = 'y';
	printf("%d %s %s %s %d\n", strlen(v.a), strjoin(v.a, "-"), strtok(v.a, "c"), toupper(v.a), index(v.a, "x"));
	printf("%d %d %s %s\n", strstr(v.a, "y") == NULL, strchr(v.a, 'x') == NULL, substr(v.a, 2), substr(v.a, 1, -1));
	printf("%s %s\n", basename(v.a), strtok(NULL, "c"));
	exit(0);
}
--out
4 abcd- ab ABCD -1
1 1 cd bc
abcd d

--end

@@ habit.full-array.user | op.stringof, op.assign, op.string, type.array, subr.copyinstr | boundary | process
struct s { char a[4]; char b[4]; };
string t;
int k[string];
BEGIN {
	this->p = (struct s *)alloca(16);
	this->p->a[0] = 'a'; this->p->a[1] = 'b'; this->p->a[2] = 'c'; this->p->a[3] = 'd'; this->p->b[0] = 'x';
	this->u = (userland struct s *)this->p; this->c = (userland char *)this->p;
	t = this->u->a; k[this->u->a] = 5; k[this->c] = 6;
	printf("%s %d %d %d %d\n", t, strlen(this->u->a), this->u->a == "abcd", this->c == "abcdx", k["abcd"]);
	t = this->c;
	printf("%s %d %s\n", t, k["abcdx"], t == "" ? "n" : this->c);
	exit(0);
}
--out
abcd 4 1 1 5
abcdx 6 abcdx

--end

@@ habit.full-array.variable | op.assign, var.type, type.array | boundary
struct s { char a[4]; char b[8]; };
struct s v;
BEGIN {
	v.a[0] = 'a'; v.a[1] = 'b'; v.a[2] = 'c'; v.a[3] = 'd'; v.b[0] = 'x'; v.b[1] = 'y';
	x = v.a; y = v.b;
	y = v.a; printf("%s ", y);
	y = "q"; printf("%s%d%d ", y, y[2], y[7]);
	x = "wxyz12"; printf("%s ", x);
	x = (char *)"m"; printf("%s%d\n", x, x[3]);
	exit(0);
}
--out
abcd q00 wxyz m0

--end

@@ habit.string-member.size | op.assign, type.string, type.array, new.strsize | boundary
--args -qs $D -x strsize=64
struct s { string z; char n[256]; };
struct s v;
BEGIN { v.n[0] = 'a'; v.z = v.n; x = v.z; y = v.n; x = "bc"; printf("%s %s %s %d %d %d\n", v.z, x, y, sizeof (v), sizeof (x), sizeof (y)); exit(0); }
--out
a bc a 320 64 256

--end

@wrong D_OP_ARRFUN | habit.string-member.as-many-chars | op.assign, type.string, type.array | struct s { char z[256]; }; struct s v; BEGIN { v.z = "abc"; }

@@ habit.string-member.to-null | op.assign, type.string, subr.alloca | boundary
BEGIN { this->p = (string *)alloca(256); *this->p = "ab"; *this->p = NULL; printf("<%s>\n", *this->p); exit(0); }
--out
<>

--end

@@ habit.null-string.compares | op.string, type.string, var.global | normal
string s;
string self t;
string k[int];
BEGIN {
	printf("%d %d %d %d %d\n", s == NULL, s == "", self->t == NULL, k[1] == "", s == "a");
	s = "a"; self->t = "a"; k[1] = "a"; s = NULL; self->t = NULL; k[1] = NULL;
	printf("%d %d %d %s\n", s == NULL, self->t == NULL, k[1] == NULL, s != NULL ? s : "none");
	exit(0);
}
--out
1 1 1 1 0
1 1 1 none

--end

@@ habit.null-string.faults | type.string, printf.s, act.trace, subr.strlen, var.key, agg.form | wrong
string s;
string k[int];
string self t;
this string u;
ERROR { printf("%d %x\n", arg4, arg5); }
BEGIN { printf("<%s%s>%d\n", s, this->u, strlen(s)); s = NULL; this->u = NULL; }
BEGIN { printf("%s", s); }
BEGIN { trace(this->u); }
BEGIN { trace(self->t); }
BEGIN { trace(strlen(k[1])); }
BEGIN { x[s] = 1; }
BEGIN { @[s] = count(); }
BEGIN { trace(strtok("", " ")); }
BEGIN { exit(0); }
--out
<>0
1 0
1 0
1 0
1 0
1 0
1 0
1 0

--end

@@ habit.syntax.predicate-once | clause, out.compile | wrong
--args -xerrtags -s $D 2>&1 | grep -o ':[0-9]*:[0-9]*: error: .*'
BEGIN /x == 0/ { x = ; }
BEGIN /this->y = / { z = 1; @b = count(); }
END /x == 1/ { trace(z); printa(@b); trace(zz); }
--out
:1:22: error: syntax error near ";" [D_SYNTAX]
:2:18: error: syntax error near "/" [D_SYNTAX]
:3:44: error: failed to resolve zz: Unknown variable name [D_IDENT_UNDEF]
--end

@@ habit.format.columns | out.compile, printf.form, printf.star, printf.aggregation, agg.printa | wrong
--args -xerrtags -s $D 2>&1 | grep -o ':[0-9]*:[0-9]*: error: [^:]*'
BEGIN { printf("\x41\n\101 %d %q", 1); }
BEGIN { printf("%d, %s and %s", 1, "a"); }
BEGIN { printf("%d%*d", 1); }
BEGIN { printf("a \"%@d", 1); }
BEGIN { printf("%d %", 1); }
BEGIN { printf("%d %2$d", 1); }
BEGIN { @a[1] = count(); printa("%d %@d %d", @a); printa("%d %@z", @a); printa("%d %@s", @a); }
--out
:1:31: error: failed to create format
:2:28: error: printf( ) prototype mismatch
:3:19: error: printf( ) prototype mismatch
:4:21: error: printf( ) may not use %@
:5:20: error: failed to create format
:6:20: error: failed to create format
:7:41: error: printa( ) prototype mismatch
:7:62: error: printa( ) format conversion #2 (%z) is undefined [D_SYNTAX]
:7:84: error: printa( ) @a is incompatible with conversion #2 prototype
--end

@@ habit.columns.characters | out.compile, lex.string | wrong
--args -xerrtags -s $D
BEGIN { /* é€😀 */ trace("日本é	x"); trace(x); }
--out
--err
dtrace: failed to compile script $D: [D_IDENT_UNDEF] line 1: failed to resolve x: Unknown variable name
$D:1:41: error: failed to resolve x: Unknown variable name [D_IDENT_UNDEF]
    BEGIN { /* é€😀 */ trace("日本é	x"); trace(x); }
                                   	           ^
    a variable is assigned or declared before it is read; a kernel symbol is written `x
--status 1
--end

@@ habit.empty.beside | unit, cmd.specifiers | wrong
--args -xerrtags -n 'BEGIN { exit(0); }' -P ' /* no name */ '
--out
--err
dtrace: invalid probe specifier  /* no name */ : [D_EMPTY] empty D program translation unit
-P:1:1: error: empty D program translation unit [D_EMPTY]
     /* no name */ 
    ^
    a program has at least one clause: probe { actions }; -x empty accepts none
--status 1
--end

@@ habit.empty.beside-accepted | unit, cmd.specifiers | boundary
--args -qxempty -n '' -n 'BEGIN { printf("%d\n", $1); exit(0); }' 5
--out
5

--end

@@ habit.empty.says-so | unit | boundary
--args -xempty -n '' -c true
--out

--errhas dtrace: the program has no clause: it does nothing until it is interrupted
--end

@@ habit.host.other | probe.none, probe.form | boundary
--args -qs $D
BEGIN { printf("here\n"); exit(0); }
no.such.host:dtrace:::BEGIN { printf("there\n"); }
--out
here

--end

@@ habit.host.other-alone | probe.none, probe.form | wrong
--args -xerrtags -s $D
no.such.host:dtrace:::BEGIN { exit(1); }
--out
--errhas :1:1: error: probe description no.such.host:dtrace:::BEGIN does not match any probes [D_PDESC_ZERO]
--errhas the host field no.such.host means another host
--status 1
--end

@@ habit.host.nothing | probe.none, probe.form | wrong
--args -xerrtags -s $D
*:dtrace:::BEGN { exit(1); }
--out
--errhas :1:1: error: probe description *:dtrace:::BEGN does not match any probes [D_PDESC_ZERO]
--errhas did you mean BEGIN?
--status 1
--end

@@ habit.host.listed | probe.none, cmd.list | wrong
--args -ln no.such.host:dtrace:::BEGIN
--out
   ID   PROVIDER            MODULE                          FUNCTION NAME
--errhas failed to match no.such.host:dtrace:::BEGIN: No probe matches description
--errhas the host field no.such.host means another host
--status 1
--end

@@ habit.choice.assignments | statements, op.conditional, agg.form | boundary
BEGIN {
	c = 1; c ? @a = count() : @b = sum(2); !c ? @a = count() : @b = sum(3);
	c ? printf("p ") : x = 2; !c ? printf("q ") : x = 5;
	!c ? y = 1 : z += 2; y = c ? 7 : 8;
	!c ? printf("n") : !c ? printf("m") : w = 9;
	printf("%d %d %d %d", x, y, z, w); printa(" %@d", @a); printa(" %@d\n", @b); exit(0);
}
--out
p 5 7 2 9 1 3

--end

@wrong D_OP_LVAL | habit.choice.no-place | op.conditional, op.assign | int x, y; BEGIN { (x ? x : y) = 2; }

@@ habit.texts | out.compile, subr.alloca, lex.comment, clause | wrong
--args -xerrtags -s $D
BEGIN { alloca(~0); }
BEGIN { alloca(~0UL); }
BEGIN // { }
BEGIN { trace(1); // one
}
BEGIN { trace(y); }
END { y = 2; }
BEGIN { trace(self->y);
	self->y++; }
struct o { int a; };
translator struct o < int i > { a = i; };
BEGIN { @[xlate <struct o>(1)] = count(); }
BEGIN { printf("%d", xlate <struct o *>(1)); }
BEGIN { @s = sum(xlate <struct o *>(1)); }
--out
--errhas :1:16: error: alloca( ) argument #1 is negative: -1 [D_ALLOCA_SIZE]
--errhas :2:16: error: alloca( ) argument #1 is too large: 18446744073709551615 [D_ALLOCA_SIZE]
--errhas :3:7: error: the predicate is empty [D_SYNTAX]
--errhas :4:19: error: syntax error near "/" [D_SYNTAX]
--errhas     // is no comment in D: write /* ... */
--errhas :6:15: error: failed to resolve y: Unknown variable name [D_IDENT_UNDEF]
--errhas     it is assigned only below, in line 7, where it gets its type: declare it in front of the clauses, as in int y;
--errhas :8:19: error: y has not yet been declared or assigned [D_VAR_UNDEF]
--errhas     it is assigned only below, in line 9, where it gets its type: declare it in front of the clauses, as in self int y;
--errhas :12:11: error: type translated struct o cannot be a key [D_KEY_TYPE]
--errhas     use one of its members
--errhas :13:22: error: printf( ) argument #2 has no value [D_PRINTF_ARG_TYPE]
--errhas     it is a translated value: print its members
--errhas :14:18: error: sum( ) argument #1 must be of scalar type [D_AGG_SCALAR]
--errhas     it has type translated struct o *
--status 1
--end

@@ habit.texts.library-place | out.compile, builtin.curthread | wrong | process
--args -xerrtags -s $D
BEGIN { trace(curcpu->cpu_id); }
--out
--errhas :1:15: error: curcpu: built-in variable curthread is not supported by the in-process engine [D_VAR_UNSUP]
--status 1
--end
