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
BEGIN { printf("%d", *p); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 1

--errhas invalid address
--end

@@ habit.scratch.next-if | if-else, subr.alloca, out.fault | wrong
BEGIN { p = (char *)alloca(8); if (1) { *p = 1; } }
BEGIN { if (1) printf("%d", *p); }
ERROR { printf("fault %d\n", arg4); if (arg4) { p = (char *)alloca(1); *p = 2; } if (*p == 2) exit(0); }
--out
fault 1

--errhas invalid address
--end

