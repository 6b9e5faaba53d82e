// SPDX-License-Identifier: GPL-2.0
//
// D programs from decisions. The grammar is a text: a line is a name, the
// indented lines below it are what it may become, <name> is replaced in turn.
// The first line of each is the shortest: it is taken when the input is used up
// or the nesting is deep, so that every program ends. Names stand for typed
// values (<i> an integer, <s> a string, <p> a pointer to a struct, <f> a float),
// so that most programs compile; what a program may have wrong is in <wrong>.
// <befores> and <afters> are one <before> or <after>, up to thousands of times:
// depth is where recursion ends badly. The file is long because the grammar is
// one text, most of which is lists of what the language has.
#pragma once

#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/decisions.h"

namespace dfr::fuzz {

inline constexpr std::string_view kGrammar = R"GRAMMAR(
program
	<unit>
	<prelude><unit>
	<prelude><unit>
	<prelude><unit><unit>
	<prelude><unit><unit><unit><unit>
	<prelude><clause>
	<prelude><clause>
	<prelude><clause><clause><clause>
	<prelude><unit><wrong><unit>
	<unit><unit><unit>
prelude
	struct s { int a; int b:3; unsigned int c:7; char n[8]; struct s *next; long l; uint64_t h:40; }; typedef struct s s_t; union u { int i; char c[4]; double d; }; enum e { A, B = 5, C = -1 }; int x, y; long l; string t; struct s *p; struct s v; char c; double f; float g; unsigned int w; uint64_t q; int ar[string, int]; string st[int]; self int si; this int ti; this string ts; self string ss; self struct s *sp; self int sa[int]; union u un; enum e en; struct o { int m; string r; struct s *k; }; translator struct o < struct s *z > { m = z->a; r = stringof(z->n); k = z->next; }; inline int il = x + 1; inline string is = "is"; inline int ia[int ip, string iq] = ip + strlen(iq); 
unit
	<clause>
	<clause>
	<clause>
	<clause>
	<clause>
	<decl>
	<decl>
	inline <type> <name>1 = <e>;
	inline int im = <i>; inline string in = <s>;
	inline int ih = 1<afters>; BEGIN { x = ih; }
	inline int io[int ip, string iq] = <i> + ip + strlen(iq); BEGIN { x = io[<i>, <s>]; }
	translator struct o < <type> z > { m = <i>; r = <s>; };
	<control>
	<control><clause>
	provider pv<name> { probe pr<n>(<type>, int); probe pq__r(int x, string y) : (int, string); };
clause
	BEGIN { <st> }
	<probe> { <st> }
	<probe> { <st><st><st> }
	<probe> / <i> / { <st> }
	<probe> / <i> > <i> && <s> == <s> / { <st><st> }
	<probe>, <probe> { <st><st><st><st> }
	<probe> { if (<i>) { <st> } else { <st> } }
	fbt::vfs_read:entry { trace(args[0]->a); x = args[1]; print(*args[0]); <st> }
	<probe> { if (<i>) <st> <st> if (<i>) { <st> if (<i>) { <st> } else { <st><st> } } else if (<i>) { <st> } <st> }
	<probe> / <s> / { }
	BEGIN { x = <i>; y = <i>; p = <p>; t = <s>; } <probe> { <st><st> }
	syscall::read:entry { self->si = timestamp; } syscall::read:return / self->si / { @ = quantize(timestamp - self->si); self->si = 0; }
probe
	BEGIN
	END
	ERROR
	syscall::read:entry
	syscall:::
	fbt::vfs_read:entry
	fbt:vmlinux:vfs_*:
	tick-1s
	profile:::tick-1s
	dtrace:::BEGIN
	6
	*:*:[a-v]*:entry
	::r?ad:
	web*:syscall::read:entry
	pid$target::malloc:entry
	$1:::
	syscall::\*:entry
control

#pragma D option quiet

#pragma D option <opt>

#pragma D attributes <stab>/<stab>/<class> <name>1

#pragma D attributes Stable/Evolving/ISA provider pv1 <part>

#pragma D binding "1.<n>" <name>1

#pragma D depends_on <dep> <name>

#pragma ident "x"

#line <n> "file.d"

# <n> "other.d" 1
#! script

opt
	strsize=64
	zone=<name>
	bufsize=1.5m
	bufsize=8t
	bufsize=
	quiet=yes
	quiet=unset
	quiet=0x10
	cleanrate=99999999d
	aggrate=1min
	statusrate=2s
	statusrate=5
	bufpolicy=fill
	bufpolicy=switch
	bufresize=auto
	bufresize=<name>
	cpu=<name>
	encoding=utf8
	bufsize=4m
	bufpolicy=ring
	bufpolicy=<name>
	cleanrate=100hz
	aggrate=5msec
	switchrate=2hours
	switchrate=10<name>
	cpu=all
	cpu=<n>
	flowindent
	quiet=off
	nspec=<n>
	bufresize=manual
	amin=Stable/Stable/Common
	amin=<name>
	version=1.2
	defaultargs
	destructive
	stackframes=5
	dynvarsize=<n>g
	aggsortkeypos=0x1f
	aggsize=99999999999999g
	errtags
	zdefs=true
	jstackstrsize=512
	stdc=a
	strsize=
stab
	Stable
	Evolving
	Internal
	Private
	Obsolete
	External
	Unstable
	Standard
	<name>
class
	Common
	ISA
	Group
	Platform
	CPU
	Unknown
	<name>
part
	args
	provider
	module
	function
	name
	<name>
dep
	library
	module
	provider
	<name>
decl
	int <name>2;
	<type> <name>3;
	<type> <name>4, *<name>5, <name>6[<n>];
	self <type> <name>7;
	this <type> <name>8;
	<type> <name>9[<type>, <type>];
	self int <name>a[string];
	typedef <type> <name>_t;
	typedef <type> (*<name>_f)(<type>, <type> <name>, ...);
	extern int <name>b;
	extern int fu(int, char *, struct s *);
	struct r { <mem> };
	struct <tag> { <mem><mem> } <name>c;
	union <tag> { <mem><mem> };
	enum <tag> { K<n>, K1<n> = <i>, K2<n> };
	struct <tag>;
	const volatile unsigned long long int <name>d;
	int (*<name>e)(int), (*<name>f[3])(void);
	char **<name>g, (*<name>h)[4];
	int <name>i[2][3];
	signed char <name>j; unsigned short <name>k; long double <name>l; _Bool <name>m;
mem
	int a;
	int b:3;
	<type> *<name>;
	char n[8];
	struct s *next;
	long l;
	struct { int i; int :0; int j:5; };
	union { int i; char k; } w;
	enum { M<n>, M1 = 4 } z;
	int m[2][3], *o;
	string r;
	int (*fp)(int);
xm
	a = <i>;
	m = <i>; r = <s>;
	a = <i>; b = <i>; n = <s>; next = <p>;
	<name> = <e>;
type
	int
	char
	uint64_t
	string
	struct s
	struct s *
	char *
	void *
	unsigned short
	int8_t
	double
	float
	enum e
	union u
	s_t *
	userland int *
	struct task_struct *
	void
	struct <tag>
	const char *
	struct vmlinux`task_struct *
	size_t
	long
	unsigned long long
tag
	s
	o
	u
	e
	<name>
name
	x
	y
	z
	v
	p
	q
after
	+1
	->next
	[1]
	?1:1
	&&x
	.a
	,1
	)
	}
	++
before
	-
	!
	*
	(
	(int)
	x=
	1?1:
	1?
	sizeof 
	strlen(
	struct {
	if (1) 
	{
	else 
n
	0
	1
	3
	8
	31
	255
num
	0
	1
	7
	8
	255
	65536
	4294967296
	0x7fffffffffffffff
	0xffffffffffffffffull
	2147483648
	-1
	017
	0x10L
	12u
	'a'
	'ab\n'
	'\377'
	'\x41'
	64
	63
i
	1
	<num>
	x
	y
	w
	c
	q
	self->si
	this->ti
	v.a
	v.b
	v.l
	v.h
	p->c
	p->a
	p->b
	p->next->l
	p->h
	un.i
	en
	C
	v.n[<i>]
	ar[<s>, <i>]
	self->sa[<i>]
	arg0
	arg9
	pid
	tid
	uid
	cpu
	errno
	id
	epid
	ipl
	timestamp
	walltimestamp
	vtimestamp
	stackdepth
	ustackdepth
	caller
	ucaller
	uregs[R_RIP]
	uregs[<i>]
	curthread->pid
	`jiffies
	vmlinux`jiffies
	&`jiffies
	(int)`do_it
	(uint64_t)&`do_it
	il
	ia[<i>, <s>]
	A
	B
	$pid
	$target
	$1
	$2
	$uid
	(<i> <bin> <i>)
	<i> <bin> <i>
	(<i> <bin> <num>)
	(<num> / <num>)
	(<num> % <num>)
	<i> <cmp> <i>
	(<i> <cmp> <i>)
	(<f> <cmp> <f>)
	(<s> <cmp> <s>)
	(<p> == <p>)
	(<p> - <p>)
	(<i> ? <i> : <i>)
	(<i>, <i>)
	-<i>
	~<i>
	!<i>
	!<p>
	+<i>
	(int)<i>
	(char)<i>
	(<type>)<i>
	(uint8_t)<i>
	(unsigned short)<i>
	(_Bool)<i>
	(int)<f>
	(uint64_t)<f>
	sizeof(<type>)
	sizeof <e>
	sizeof (<e>)
	offsetof(struct s, <mn>)
	*(int *)<p>
	*(uint16_t *)(<i>)
	*(userland int *)arg1
	((struct s *)arg0)->a
	((struct s *)copyin(arg0, sizeof (struct s)))->b
	(*p).a
	p[<i>].a
	x++
	--y
	self->si++
	ar[<s>, <i>]++
	(x = <i>)
	(<lv> <as> <i>)
	xlate < struct o >(p).m
	xlate < struct o * >(p)->m
	strlen(<s>)
	index(<s>, <s>)
	rindex(<s>, <s>, <i>)
	strtoll(<s>)
	strtoll(<s>, <n>)
	rand()
	random()
	speculation()
	progenyof(<i>)
	getmajor(<i>)
	getminor(<i>)
	htons(<i>)
	htonl(<i>)
	ntohll(<i>)
	ntohs(<i>)
	mutex_owned((struct mutex *)<p>)
	mutex_type_adaptive(<p>)
	rw_read_held(<p>)
	msgsize(<p>)
	progenyof($target)
f
	1.5
	f
	g
	0.0
	1e300
	2.5f
	.5e-3
	3.L
	(double)<i>
	(float)<i>
	(float)<f>
	(<f> <fbin> <f>)
	-<f>
	+<f>
	(<i> ? <f> : <f>)
	(f += <f>)
	un.d
fbin
	+
	-
	*
	/
s
	""
	"a"
	"ab\n\t\"\\ \101\x41\q"
	"%d %s"
	t
	self->ss
	this->ts
	st[<i>]
	execname
	probefunc
	probename
	probemod
	probeprov
	zonename
	execargs
	v.n
	is
	stringof(<p>)
	stringof(v.n)
	stringof <i>
	(string)<p>
	$$1
	$$pid
	$3
	(<i> ? <s> : <s>)
	strjoin(<s>, <s>)
	substr(<s>, <i>)
	substr(<s>, <i>, <i>)
	strtok(<s>, <s>)
	strtok(NULL, <s>)
	strchr(<s>, <i>)
	strrchr(<s>, 'a')
	strstr(<s>, <s>)
	basename(<s>)
	dirname(<s>)
	cleanpath(<s>)
	toupper(<s>)
	tolower(<s>)
	lltostr(<i>)
	lltostr(<i>, <n>)
	json(<s>, <s>)
	copyinstr(<i>)
	copyinstr(<i>, <i>)
	inet_ntoa((ipaddr_t *)<p>)
	inet_ntop(2, <p>)
	inet_ntoa6((in6_addr_t *)<p>)
	link_ntop(1, <p>)
	memstr(<p>, ',', <i>)
	d_path((struct path *)<p>)
	xlate < struct o >(p).r
	(t = <s>)
p
	p
	(struct s *)NULL
	v.next
	p->next
	self->sp
	(struct s *)<i>
	(struct s *)alloca(sizeof (struct s))
	(struct s *)copyin(<i>, 40)
	(userland struct s *)arg1
	p + <i>
	p - 1
	&p[<i>]
	(struct s *)&p->next->a
	(struct s *)curthread
	(struct s *)(void *)<i>
	(<i> ? <p> : <p>)
	(<i> ? <p> : NULL)
	(struct s *)getf(<i>)
	(struct s *)mutex_owner((struct mutex *)<p>)
	(struct s *)memref(<p>, <i>)
	(struct s *)(char *)<p>
	(p = <p>)
	p++
e
	<i>
	<s>
	<p>
	<f>
	v
	*p
	un
	probefunc == <s>
args
	<e>
	<e>, <e>
	<i>, <s>
	<e>, <e>, <e>

fn
	strlen
	count
	printf
	nosuch
	strlem
	bcopy
	copyout
	copyoutstr
	copyinto
	stack
	sx_shared_held
	ddi_pathname
	msgdsize
	exit
bin
	+
	-
	*
	/
	%
	<<
	>>
	&
	|
	^
cmp
	==
	!=
	 < 
	 > 
	<=
	>=
	&&
	||
	^^
as
	=
	+=
	-=
	*=
	/=
	%=
	<<=
	>>=
	&=
	|=
	^=
mn
	a
	n
	next
	b
	<name>
lv
	x
	y
	l
	c
	w
	q
	f
	self->si
	this->ti
	ar[<s>, <i>]
	self->sa[<i>]
	v.a
	v.b
	p->a
	p->c
	un.i
	*(int *)alloca(8)
	((struct s *)alloca(80))->h
	((struct s *)alloca(80))->n[<i>]
	self-><name>9
	this-><name>9
st
	x = <i>;
	x = <i><afters>;
	x = <befores>1;
	<lv> <as> <i>;
	<lv> <as> <i>;
	<lv> <as> <num>;
	t = <s>;
	self->ss = <s>;
	this->ts = <s>;
	st[<i>] = <s>;
	p = <p>;
	self->sp = <p>;
	f = <f>;
	g <as> <f>;
	v = *p;
	*p = v;
	v.n = <s>;
	((struct s *)alloca(80))->n = <s>;
	*(struct s *)alloca(80) = v;
	x++;
	<e>;
	<name>1 = <e>;
	self-><name> = <e>;
	this-><name> = <e>;
	<name>2[<e>, <e>] = <e>;
	trace(<i>);
	trace(<s>);
	trace(<e>);
	print(<i>);
	print(v);
	print(*p);
	print(<e>);
	printf("x");
	printf("%d %s\n", <i>, <s>);
	printf("%5.3d %-*s %c %C %x %p %S", <i>, <i>, <s>, 'a', 'b', <i>, <p>, <s>);
	printf("%f %e %g", <f>, <f>, <f>);
	printf("%a %A %k %Y %T %P %I %u %o %X", <i>, <i>, stack(), walltimestamp, walltimestamp, (uint16_t)<i>, <s>, <i>, <i>, <i>);
	printf("%s %A %k", sym(<i>), uaddr(<i>), ustack(3));
	printf("%hd %hhd %ld %lld %'d %+d %#x %?p %@d %08d %%", (short)<i>, (char)<i>, (long)<i>, (long)<i>, <i>, <i>, <i>, <p>, <i>, <i>);
	system("echo %d", <i>);
	freopen("/tmp/%d", <i>);
	freopen("");
	ftruncate();
	setopt("quiet");
	setopt("strsize", "8");
	setopt("aggrate", <s>);
	tracemem(<p>, 16);
	tracemem(<p>, 16, <i>);
	tracemem(<p>, <num>);
	printm(8, memref(<p>, 8));
	stack();
	stack(5);
	stack(<num>);
	ustack();
	ustack(5, 512);
	jstack(<num>, <num>);
	sym(<i>);
	func(`do_it);
	mod(<p>);
	usym(<i>);
	umod(<i>);
	uaddr(<i>);
	exit(<i>);
	speculate(<i>);
	speculate(self->si); printf("a");
	commit(self->si);
	discard(<i>);
	stop();
	raise(<i>);
	panic();
	breakpoint();
	chill(<i>);
	capture(<i>);
	capture();
	snapshot("slow read");
	snapshot(<s>);
	capture(<e>, <s>);
	bcopy(<p>, alloca(16), <i>);
	copyinto(<i>, <i>, alloca(16));
	copyout(<p>, <i>, <i>);
	copyoutstr(<s>, <i>, <i>);
	@ = count();
	@a = count();
	@b[<i>] = sum(<i>);
	@c[<s>, <i>] = avg(<i>);
	@d[<p>] = min(<i>);
	@max = max(<i>);
	@m[stack(), sym(<i>)] = stddev(<i>);
	@q = quantize(<i>);
	@r[execname] = quantize(<i>, <i>);
	@lq = lquantize(<i>, 0, 100, 10);
	@lr = lquantize(<i>, <num>, <num>, <num>, <i>);
	@ll = llquantize(<i>, 10, 0, 6, 20);
	@lm = llquantize(<i>, <n>, <n>, <n>, <num>, <i>);
	@lq = lquantize(<i>, <n>, <num>);
	@b[<i>] = count(); printa(@b); clear(@b); trunc(@b, 5); normalize(@b, 1000); denormalize(@b); trunc(@b);
	@b[<i>] = sum(<i>); @e[<i>] = sum(<i>); printa("%d %@d %@8u\n", @b, @e);
	@m[stack(), sym(<i>)] = stddev(<i>); printa("%k %a %@d", @m);
	@a = count(); normalize(@a, <i>); trunc(@a, <i>); printa(@a, @a);
	if (<i>) { <st> } else { <st> }
	if (<i>) <st>
	;
	<wrong>
pf
	d
	s
	-5.2d
	%d %s
	%*d
	%.*s
	%k
	%z
	%1$d
	%Lf
	%wc
	%lx
	%
	%5
	%Y
	%@d
wrong
	x = ;
	<e>
	<name>1 = <e>;
	<name>2[<e>, <e>] = <e>;
	self-><name> = <e>;
	trace(<fn>(<args>));
	<fn>(<args>);
	x = <e> <bin> <e>;
	x = <e> <cmp> <e>;
	x = <type>;
	x = (<type>)<e>;
	static int z;
	@<name> = <fn>(<args>);
	@<name>[<args>] = <fn>();
	printa("%k %@d", @<name>);
	printa(@<name>, @a);
	printa(<s>, @a);
	clear(@<name>);
	normalize(@a, <e>);
	trunc(@b, <e>);
	printf(<s>, <i>);
	printf("%<pf>", <e>);
	printf("<pf>", <e>, <e>);
	setopt(<s>, <s>);
	tracemem(<e>, <i>);
	printm(<i>, <e>);
	stack(<e>);
	jstack(<i>, <i>);
	mod(<e>);
	@d[<e>] = min(<e>);
	xlate <struct o>(<e>).<mn>;
	(&v)->a;
	&v;
	@<name>;
	`nosuch;
	args[<n>];
	arg31;
	curthread-><name>;
	{ <st> <st> }
	struct s { <mem><mem><mem> };
	provider pv<n> { probe q(); };
	translator struct <tag> < <type> z > { <xm> };
	!a:b:c:d { }
	x = <num><num>;

#error bad

#pragma D <name> <name>

#include <n>

#pragma error <name>

#pragma D option nosuch=1
	"abc
	'a
	/* never ends
	/* a /* b */ */
	08;
	0x;
	1.5q;
	99999999999999999999;
	''
	'abcdefghi';
	$nosuch;
	$9;
	$
	for (;;) { }
	return 1;
	x = (((((((((((((((((((((((((((((((((<i>)))))))))))))))))))))))))))))))));
	int <befores>x<afters>;
	struct s { <befores>int a; };
	BEGIN { <befores> }
	((
	@a;
	@a[1][2] = count();
	struct { int a; } ;
	int int x;
	unsigned float y;
	long char z;
	signed void z;
	long long long z;
	int b:70;
	a ? b;
	.;
	#pragma D option
	BEGIN
	BEGIN / 1
	a:b:c:d:e:f { }
	{ }
	translator struct s < int i > { zz = 1; };
	xlate < int >(1);
	self;
	this;
	offsetof(int, a);
	sizeof (void);
	stringof(v);
	`
	vmlinux`
	\
	inline int il = il + 1;
	inline int im = in; inline int in = im; BEGIN { x = im; }
	inline int ir = ir + <i>; BEGIN { x = ir; }
	x = x = x = x;
	1 = 2;
	pid = 3;
	execname = "a";
	p->zz;
	&pid;
	&v.b;
	*x;
	*(void *)x;
	v.a.b;
	x->a;
	x[1];
	x();
	1 / 0;
	x % 0;
	t + 1;
	t == 1;
	~t;
	!v;
	-p;
	v == v;
	p * 2;
	p + p;
	(struct s)1;
	(int)t;
	ar[1];
	ar["a", 1, 2];
	x = <i><i><i><i>;
)GRAMMAR";

class DGrammar {
public:
	explicit DGrammar(Decisions& in) : in_(in) {}

	std::string program() { return text("program"); }
	std::string text(std::string_view name) {
		std::string out;
		expand(name, 0, out);
		return out;
	}

private:
	using Alternatives = std::vector<std::string_view>;
	static constexpr unsigned kDeep = 14;
	static constexpr size_t kLong = 6000;
	static constexpr size_t kHuge = 60000;

	static std::map<std::string_view, Alternatives> read() {
		std::map<std::string_view, Alternatives> rules;
		Alternatives* current = nullptr;
		for (size_t at = 1; at < kGrammar.size();) {
			const size_t end = kGrammar.find('\n', at);
			const std::string_view line = kGrammar.substr(at, end - at);
			at = end + 1;
			// A line of its own, newline and all: what starts with # does.
			if (!line.empty() && line[0] == '#')
				current->push_back(kGrammar.substr(at - line.size() - 2, line.size() + 2));
			else if (!line.empty() && line[0] == '\t')
				current->push_back(line.substr(1));
			else if (!line.empty())
				current = &rules[line];
		}
		return rules;
	}

	void chain(std::string_view name, std::string& out) {
		std::string link;
		expand(name, 0, link);
		for (unsigned left = 1u << in_.byte() % 14; left && out.size() < kHuge; left--)
			out += link;
	}

	void expand(std::string_view name, unsigned depth, std::string& out) {
		if (name == "afters" || name == "befores")
			return chain(name.substr(0, name.size() - 1), out);
		static const std::map<std::string_view, Alternatives> rules = read();
		const auto found = rules.find(name);
		if (found == rules.end())
			std::abort();
		const Alternatives& all = found->second;
		const bool enough = depth > kDeep || out.size() > kLong || !in_.left();
		std::string_view text = all[enough ? 0 : in_.byte() % all.size()];
		while (!text.empty()) {
			const size_t open = text.find('<');
			const size_t close =
			    open == text.npos
			        ? text.npos
			        : text.find_first_not_of("abcdefghijklmnopqrstuvwxyz", open + 1);
			if (close == text.npos || text[close] != '>' || close == open + 1) {
				// No name: the text up to here stands for itself.
				const size_t literal = open == text.npos ? text.size() : open + 1;
				out += text.substr(0, literal);
				text.remove_prefix(literal);
				continue;
			}
			out += text.substr(0, open);
			expand(text.substr(open + 1, close - open - 1), depth + 1, out);
			text.remove_prefix(close + 1);
		}
	}

	Decisions& in_;
};

} // namespace dfr::fuzz
