@@ subr.strlen | subr.strlen | normal
BEGIN { printf("%d %d\n", strlen("hello"), strlen("")); exit(0); }
--out
5 0

--end

@@ subr.strjoin | subr.strjoin | normal
BEGIN { printf("%s\n", strjoin("ab", "cd")); exit(0); }
--out
abcd

--end

@@ subr.strjoin.empty | subr.strjoin | boundary
BEGIN { printf("[%s]\n", strjoin("", "")); exit(0); }
--out
[]

--end

@@ subr.substr | subr.substr | normal
BEGIN { printf("%s %s\n", substr("abcdef", 2), substr("abcdef", 1, 3)); exit(0); }
--out
cdef bcd

--end

@@ subr.substr.negative | subr.substr | boundary
BEGIN { printf("%s %s\n", substr("abcdef", -2), substr("abcdef", 1, -2)); exit(0); }
--out
ef bcd

--end

@@ subr.substr.beyond | subr.substr | boundary
BEGIN { printf("[%s]\n", substr("abc", 9)); exit(0); }
--out
[]

--end

@@ subr.index | subr.index | normal
BEGIN { printf("%d %d\n", index("hello", "l"), index("hello", "z")); exit(0); }
--out
2 -1

--end

@@ subr.index.pos | subr.index | boundary
BEGIN { printf("%d %d\n", index("hello", "l", 3), index("hello", "h", -4)); exit(0); }
--out
3 0

--end

@@ subr.index.empty-needle | subr.index | boundary
BEGIN { printf("%d\n", index("abc", "", 7)); exit(0); }
--out
3

--end

@@ subr.rindex | subr.rindex | normal
BEGIN { printf("%d\n", rindex("hello", "l")); exit(0); }
--out
3

--end

@@ subr.rindex.negative-pos | subr.rindex | boundary
BEGIN { printf("%d %d\n", rindex("hello", "l", -1), rindex("hello", "", -1)); exit(0); }
--out
-1 0

--end

@@ subr.strchr | subr.strchr | normal
BEGIN { printf("%s\n", strchr("hello", 'l')); exit(0); }
--out
llo

--end

@@ subr.strrchr | subr.strrchr | normal
BEGIN { printf("%s\n", strrchr("hello", 'l')); exit(0); }
--out
lo

--end

@@ subr.strstr | subr.strstr | normal
BEGIN { printf("%s\n", strstr("hello", "el")); exit(0); }
--out
ello

--end

@@ subr.basename | subr.basename | normal
BEGIN { printf("%s\n", basename("/a/b/c")); exit(0); }
--out
c

--end

@@ subr.basename.slashes | subr.basename | boundary
BEGIN { printf("%s %s %s\n", basename("/a/b//"), basename("///"), basename("")); exit(0); }
--out
b / .

--end

@@ subr.dirname | subr.dirname | normal
BEGIN { printf("%s\n", dirname("/a/b/c")); exit(0); }
--out
/a/b

--end

@@ subr.dirname.edge | subr.dirname | boundary
BEGIN { printf("%s %s %s\n", dirname("c"), dirname("/c"), dirname("")); exit(0); }
--out
. / .

--end

@@ subr.cleanpath | subr.cleanpath | normal
BEGIN { printf("%s\n", cleanpath("/a/./b//../c")); exit(0); }
--out
/a/c

--end

@@ subr.toupper | subr.case | normal
BEGIN { printf("%s\n", toupper("aBc1")); exit(0); }
--out
ABC1

--end

@@ subr.tolower | subr.case | normal
BEGIN { printf("%s\n", tolower("aBc1")); exit(0); }
--out
abc1

--end

@@ subr.lltostr | subr.lltostr | normal
BEGIN { printf("%s %s\n", lltostr(1234), lltostr(-5)); exit(0); }
--out
1234 -5

--end

@@ subr.lltostr.base | subr.lltostr | boundary
BEGIN { printf("%s %s %s\n", lltostr(255, 16), lltostr(8, 8), lltostr(5, 2)); exit(0); }
--out
0xff 010 101

--end

@@ subr.strtoll | subr.strtoll | normal
BEGIN { printf("%d %d\n", strtoll("1234"), strtoll("-7")); exit(0); }
--out
1234 -7

--end

@@ subr.strtoll.base | subr.strtoll | boundary
BEGIN { printf("%d %d\n", strtoll("ff", 16), strtoll("zz")); exit(0); }
--out
255 0

--end

@@ subr.htons | subr.hton | normal
BEGIN { printf("%x %x\n", htons(0x1234), ntohs(0x1234)); exit(0); }
--out
3412 3412

--end

@@ subr.htonl | subr.hton | normal
BEGIN { printf("%x %x\n", htonl(0x12345678), ntohl(0x12345678)); exit(0); }
--out
78563412 78563412

--end

@@ subr.htonll | subr.hton | normal
BEGIN { printf("%x\n", htonll(0x0102030405060708)); exit(0); }
--out
807060504030201

--end

@@ subr.json | subr.json | normal
BEGIN { printf("%s %s\n", json("{\"a\":{\"b\":[1,\"two\",3]}}", "a.b[1]"), json("{\"a\":7}", "a")); exit(0); }
--out
two 7

--end

@@ subr.inet_ntoa | subr.inet_ntoa | normal
this uint32_t *a;
BEGIN { this->a = alloca(4); *(this->a) = htonl(0x7f000001); printf("%s\n", inet_ntoa(this->a)); exit(0); }
--out
127.0.0.1

--end

@@ subr.strtok | subr.strtok | normal
BEGIN { printf("%s ", strtok("a,b;c", ",;")); printf("%s ", strtok(NULL, ",;")); printf("%s\n", strtok(NULL, ",;")); exit(0); }
--out
a b c

--end

@@ subr.copyinstr.bad | subr.copyinstr | wrong
BEGIN { printf("%s\n", copyinstr(0)); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 1

--end

@@ subr.alloca | subr.alloca | normal
this char *p;
BEGIN { this->p = alloca(4); this->p[0] = 'h'; this->p[1] = 'i'; this->p[2] = 0; printf("%s\n", stringof(this->p)); exit(0); }
--out
hi

--end

@@ subr.unknown | subr.call | wrong
BEGIN { nosuchfunc(1); exit(0); }
--tag D_FUNC_UNDEF

@@ subr.wrong-count | subr.call | wrong
BEGIN { x = strlen(); exit(0); }
--tag D_PROTO_LEN

@@ subr.strjoin.too-long | subr.strjoin | wrong
#pragma D option strsize=8
BEGIN { printf("%s\n", strjoin("abcdef", "ghijkl")); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 5

--end


@@ subr.alloca.zero-and-aligned | subr.alloca | boundary
this char *p;
this char *q;
BEGIN { this->p = alloca(1); this->q = alloca(1); printf("%d %d %d\n", (uintptr_t)this->p % 8, (uintptr_t)this->q % 8, this->q - this->p >= 1); exit(0); }
--out
0 0 1

--end

@@ subr.alloca.too-much | subr.alloca | wrong
BEGIN { i = 1 << 30; x = (uintptr_t)alloca(i); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 5

--errhas out of scratch space
--end

@@ subr.alloca.string | subr.alloca, subr.call | wrong
BEGIN { x = alloca("a"); }
--tag D_PROTO_ARG

@@ subr.basename.forms | subr.basename | boundary
BEGIN { printf("[%s][%s][%s][%s]\n", basename("/"), basename("x"), basename("/usr/"), basename("a//b")); exit(0); }
--out
[/][x][usr][b]

--end

@@ subr.basename.integer | subr.basename | wrong
BEGIN { trace(basename(5)); }
--tag D_PROTO_ARG

@@ subr.bcopy.plain | subr.bcopy | normal
this char *p;
this char *q;
BEGIN { this->p = alloca(4); this->q = alloca(4); this->p[0] = 'o'; this->p[1] = 'k'; this->p[2] = 0; bcopy(this->p, this->q, 3); printf("%s\n", stringof(this->q)); exit(0); }
--out
ok

--end

@@ subr.bcopy.nothing | subr.bcopy | boundary
this char *p;
BEGIN { this->p = alloca(4); this->p[0] = 'a'; this->p[1] = 0; bcopy(this->p + 1, this->p, 0); printf("%s\n", stringof(this->p)); exit(0); }
--out
a

--end

@@ subr.bcopy.outside-scratch | subr.bcopy | wrong
this char *p;
BEGIN { this->p = alloca(4); bcopy(this->p, 0, 4); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 1

--errhas invalid address
--end

@@ subr.cleanpath.forms | subr.cleanpath | boundary
BEGIN { printf("%s %s %s %s\n", cleanpath("//"), cleanpath("/a/../../b"), cleanpath("a/./b"), cleanpath("/.../x")); exit(0); }
--out
/ /b a/b /.../x

--end

@@ subr.cleanpath.integer | subr.cleanpath | wrong
BEGIN { trace(cleanpath(5)); }
--tag D_PROTO_ARG

@@ subr.copyin.plain | subr.copyin, subr.copyinto | normal | kernel
--args -qs $D -c 'cat /dev/null'
this char *p;
this char *q;
syscall::openat:entry /pid == $target && copyinstr(arg1) == "/dev/null"/ { this->p = copyin(arg1, 5); this->q = alloca(8); copyinto(arg1 + 5, 5, this->q); printf("%c%c %s\n", this->p[0], this->p[4], stringof(this->q)); exit(0); }
--out
// null

--end

@@ subr.copyin.nothing | subr.copyin | boundary | kernel
--args -qs $D -c 'cat /dev/null'
syscall::openat:entry /pid == $target/ { x = (uintptr_t)copyin(arg1, 0); printf("ok\n"); exit(0); }
--out
ok

--end

@@ subr.copyin.bad-address | subr.copyin | wrong
BEGIN { x = *(char *)copyin(16, 4); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 1

--errhas invalid address
--end

@@ subr.copyinstr.plain | subr.copyinstr | normal | kernel
--args -qs $D -c 'cat /dev/null'
syscall::openat:entry /pid == $target && copyinstr(arg1) == "/dev/null"/ { printf("%s\n", copyinstr(arg1)); exit(0); }
--out
/dev/null

--end

@@ subr.copyinstr.limited | subr.copyinstr | boundary | kernel
--args -qs $D -c 'cat /dev/null'
syscall::openat:entry /pid == $target && copyinstr(arg1) == "/dev/null"/ { printf("%s|%s|%d\n", copyinstr(arg1, 4), copyinstr(arg1, 100), strlen(copyinstr(arg1, 1))); exit(0); }
--out
/dev|/dev/null|1

--end

@@ subr.copyinto.nothing | subr.copyinto | boundary
this char *p;
BEGIN { this->p = alloca(4); this->p[0] = 'a'; this->p[1] = 0; copyinto(0, 0, this->p); printf("%s\n", stringof(this->p)); exit(0); }
--out
a

--end

@@ subr.copyinto.outside-scratch | subr.copyinto | wrong
BEGIN { i = 0; copyinto(0, 4, i); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 1

--errhas invalid address
--end

@@ subr.copyout.written | subr.copyout | normal | kernel
--args -wqs $D -c 'cat /dev/null'
this char *p;
syscall::openat:entry /pid == $target && copyinstr(arg1) == "/dev/null"/ { self->a = arg1; }
syscall::openat:return /self->a/ { this->p = alloca(2); this->p[0] = 'D'; this->p[1] = 0; copyout(this->p, self->a + 1, 1); copyoutstr("Zz", self->a + 5, 2); printf("%s\n", copyinstr(self->a)); exit(0); }
--out
/Dev/Zzll

--end

@@ subr.copyout.bad-address | subr.copyout | boundary
--args -wqs $D
this char *p;
BEGIN { this->p = alloca(4); copyout(this->p, 16, 4); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 1

--errhas invalid address
--end

@@ subr.copyout.refused | subr.copyout, out.destructive | wrong
BEGIN { copyoutstr("a", 0, 1); }
--out
--errhas estructive actions not allowed
--status 1
--end

@@ subr.d_path.null | subr.d_path | normal | kernel
--args -qs $D -c 'cat /dev/null'
fbt::vfs_open:entry /pid == $target && stringof(args[0]->dentry->d_name.name) == "null"/ { printf("%s\n", d_path((struct path *)arg0)); exit(0); }
--out
/dev/null

--end

@@ subr.d_path.root | subr.d_path | boundary | kernel
BEGIN { printf("%s\n", d_path(&curthread->fs->root)); exit(0); }
--out
/

--end

@@ subr.d_path.string | subr.d_path | wrong | kernel
BEGIN { trace(d_path("a")); }
--tag D_PROTO_ARG

@@ subr.dirname.forms | subr.dirname | boundary
BEGIN { printf("[%s][%s][%s][%s]\n", dirname("/a/b/"), dirname("/"), dirname("a/b"), dirname("//x")); exit(0); }
--out
[/a][/][a][/]

--end

@@ subr.dirname.integer | subr.dirname | wrong
BEGIN { trace(dirname(5)); }
--tag D_PROTO_ARG

@@ subr.getf.standard-input | subr.getf, builtin.fds | normal | kernel
--args -qs $D -c 'sleep 1' </dev/null
syscall::*nanosleep:entry /pid == $target/ { printf("%s %s\n", stringof(getf(0)->f_path.dentry->d_name.name), fds[0].fi_pathname); exit(0); }
--out
null /dev/null

--end

@@ subr.getf.not-open | subr.getf, builtin.fds | boundary | kernel
BEGIN { printf("%d %s %s\n", getf(5000) == NULL, fds[5000].fi_name, fds[-1].fi_pathname); exit(0); }
--out
1 <none> <none>

--end

@@ subr.getf.string | subr.getf, builtin.fds | wrong | kernel
BEGIN { trace((uintptr_t)getf("a")); }
--tag D_PROTO_ARG

@@ subr.getmajor.plain | subr.getmajor | normal
BEGIN { printf("%d %d\n", getmajor((8 << 20) | 3), getminor((8 << 20) | 3)); exit(0); }
--out
8 3

--end

@@ subr.getmajor.largest | subr.getmajor | boundary
BEGIN { printf("%d %d %d\n", getmajor(0xffffffff), getminor(0xffffffff), getmajor(0)); exit(0); }
--out
4095 1048575 0

--end

@@ subr.getmajor.string | subr.getmajor | wrong
BEGIN { trace(getmajor("a")); }
--tag D_PROTO_ARG

@@ subr.hton.there-and-back | subr.hton | boundary
BEGIN { printf("%x %x %x %x %d\n", ntohs(htons(0x1234)), ntohl(htonl(0x12345678)), ntohll(htonll(0x123456789abcdef0)), htons(0xff), sizeof (htons(1))); exit(0); }
--out
1234 12345678 123456789abcdef0 ff00 2

--end

@@ subr.hton.string | subr.hton | wrong
BEGIN { trace(htonl("a")); }
--tag D_PROTO_ARG

@@ subr.index.positions | subr.index | boundary
BEGIN { printf("%d %d %d %d %d\n", index("abab", "b", 1), index("abab", "b", 2), index("abab", "b", 9), index("", ""), index("abc", "abcd")); exit(0); }
--out
1 3 -1 0 -1

--end

@@ subr.index.integer | subr.index | wrong
BEGIN { trace(index("a", 5)); }
--tag D_PROTO_ARG

@@ subr.inet_ntoa.limits | subr.inet_ntoa | boundary
this uint32_t *a;
BEGIN { this->a = alloca(8); this->a[0] = 0; this->a[1] = 0xffffffff; printf("%s %s\n", inet_ntoa(this->a), inet_ntoa(this->a + 1)); exit(0); }
--out
0.0.0.0 255.255.255.255

--end

@@ subr.inet_ntoa.null | subr.inet_ntoa | wrong
BEGIN { trace(inet_ntoa((uint32_t *)0)); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 1

--errhas invalid address
--end

@@ subr.inet_ntoa6.plain | subr.inet_ntoa6 | normal
this uint16_t *a;
BEGIN {
	this->a = alloca(16);
	this->a[0] = htons(0x2001); this->a[1] = htons(0xdb8); this->a[2] = 0; this->a[3] = 0;
	this->a[4] = 0; this->a[5] = 0; this->a[6] = 0; this->a[7] = htons(0x1f);
	printf("%s\n", inet_ntoa6((in6_addr_t *)this->a));
	exit(0);
}
--out
2001:db8::1f

--end

@@ subr.inet_ntoa6.special | subr.inet_ntoa6 | boundary
this uint16_t *a;
BEGIN {
	this->a = alloca(16);
	this->a[0] = 0; this->a[1] = 0; this->a[2] = 0; this->a[3] = 0;
	this->a[4] = 0; this->a[5] = 0; this->a[6] = 0; this->a[7] = 0;
	printf("%s ", inet_ntoa6((in6_addr_t *)this->a));
	this->a[7] = htons(1);
	printf("%s ", inet_ntoa6((in6_addr_t *)this->a));
	this->a[5] = 0xffff; this->a[6] = htons(0xc000); this->a[7] = htons(0x0201);
	printf("%s ", inet_ntoa6((in6_addr_t *)this->a));
	this->a[0] = htons(0xfe80); this->a[4] = htons(0x1); this->a[5] = htons(2); this->a[6] = htons(3); this->a[7] = htons(4);
	printf("%s\n", inet_ntoa6((in6_addr_t *)this->a));
	exit(0);
}
--out
:: ::1 192.0.2.1 fe80::1:2:3:4

--end

@@ subr.inet_ntoa6.null | subr.inet_ntoa6 | wrong
BEGIN { trace(inet_ntoa6((void *)0)); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 1

--errhas invalid address
--end

@@ subr.inet_ntop.both | subr.inet_ntop | normal
this uint32_t *a;
BEGIN { this->a = alloca(16); this->a[0] = htonl(0x20010db8); this->a[1] = 0; this->a[2] = 0; this->a[3] = htonl(1); printf("%s %s\n", inet_ntop(AF_INET, this->a), inet_ntop(AF_INET6, this->a)); exit(0); }
--out
32.1.13.184 2001:db8::1

--end

@@ subr.inet_ntop.mapped | subr.inet_ntop | boundary
this uint32_t *a;
BEGIN { this->a = alloca(16); this->a[0] = 0; this->a[1] = 0; this->a[2] = htonl(0xffff); this->a[3] = htonl(0xc0000201); printf("%s\n", inet_ntop(AF_INET6, this->a)); exit(0); }
--out
::ffff:192.0.2.1

--end

@@ subr.inet_ntop.family | subr.inet_ntop | wrong
this uint32_t *a;
BEGIN { this->a = alloca(16); printf("%s\n", inet_ntop(99, this->a)); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 3

--errhas illegal operation
--end

@@ subr.json.kinds | subr.json | boundary
BEGIN {
	j = "{\"n\": -1.5e3, \"t\": true, \"z\": null, \"s\": \"a b\", \"e\": [], \"o\": {\"k\": [10, {\"d\": 1}]}}";
	printf("%s %s %s %s %s %s\n", json(j, "n"), json(j, "t"), json(j, "z"), json(j, "s"), json(j, "o.k[0]"), json(j, "o.k[1].d"));
	printf("%d %d %d\n", json(j, "q") == NULL, json(j, "o.k[2]") == NULL, json(j, "e[0]") == NULL);
	exit(0);
}
--out
-1.5e3 true null a b 10 1
1 1 1

--end

@@ subr.json.nested | subr.json | normal
BEGIN { printf("%s %s\n", json("{\"o\": {\"k\": [1, {}]}}", "o"), json("{\"o\": {\"k\": [1, {}]}}", "o.k")); exit(0); }
--out
{"k": [1, {}]} [1, {}]

--end

@@ subr.json.integer | subr.json | wrong
BEGIN { trace(json(5, "a")); }
--tag D_PROTO_ARG

@@ subr.link_ntop.ethernet | subr.link_ntop | normal
this char *p;
BEGIN { this->p = alloca(8); this->p[0] = 0; this->p[1] = 0x1a; this->p[2] = 0x2b; this->p[3] = 0x3c; this->p[4] = 0x4d; this->p[5] = 0xff; printf("%s\n", link_ntop(1, this->p)); exit(0); }
--out
00:1a:2b:3c:4d:ff

--end

@@ subr.link_ntop.infiniband | subr.link_ntop | boundary
this char *p;
BEGIN { this->p = alloca(24); this->p[0] = 1; this->p[19] = 2; printf("%s\n", link_ntop(32, this->p)); exit(0); }
--out
01:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:02

--end

@@ subr.link_ntop.type | subr.link_ntop | wrong
this char *p;
BEGIN { this->p = alloca(24); printf("%s\n", link_ntop(9999, this->p)); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 3

--errhas illegal operation
--end

@@ subr.lltostr.zero | subr.lltostr | boundary
BEGIN { printf("%s %s %s\n", lltostr(0, 8), lltostr(0, 16), lltostr(0)); exit(0); }
--out
0 0x0 0

--end

@@ subr.lltostr.limits | subr.lltostr | boundary
int64_t x;
BEGIN { x = 1; x = x << 63; printf("%s %s %s %s\n", lltostr(x), lltostr(0x7fffffffffffffff), lltostr(35, 36), lltostr(-1, 16)); exit(0); }
--out
-9223372036854775808 9223372036854775807 z 0xffffffffffffffff

--end

@@ subr.lltostr.base-out-of-range | subr.lltostr | wrong
BEGIN { x = 37; printf("%s\n", lltostr(5, x)); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 3

--errhas illegal operation
--end

@@ subr.memstr.separator | subr.memstr | boundary
this char *p;
BEGIN { this->p = alloca(8); this->p[0] = 'a'; this->p[1] = 0; this->p[2] = 'b'; this->p[3] = 'c'; this->p[4] = 0; printf("%s\n", memstr(this->p, ' ', 4)); exit(0); }
--out
a bc

--end

@@ subr.memstr.count | subr.memstr | wrong
BEGIN { trace(memstr(0, ' ')); }
--tag D_PROTO_LEN

@@ subr.mutex.free | subr.mutex | normal | kernel
BEGIN { printf("%d %d %d %d\n", mutex_owned((struct mutex *)&`module_mutex), mutex_owner((struct mutex *)&`module_mutex) == NULL, mutex_type_adaptive((struct mutex *)&`module_mutex), mutex_type_spin((struct mutex *)&`module_mutex)); exit(0); }
--out
0 1 1 0

--end

@@ subr.mutex.null | subr.mutex | boundary | kernel
BEGIN { printf("%d\n", mutex_owned((struct mutex *)0)); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 1

--errhas invalid address
--end

@@ subr.mutex.arguments | subr.mutex | wrong | kernel
BEGIN { trace(mutex_owned()); }
--tag D_PROTO_LEN

@@ subr.progenyof.parents | subr.progenyof | normal
BEGIN { printf("%d %d %d\n", progenyof(pid), progenyof(ppid), progenyof($ppid)); exit(0); }
--out
1 1 1

--end

@@ subr.progenyof.others | subr.progenyof | boundary
BEGIN { printf("%d %d\n", progenyof(-1), progenyof(2147483647)); exit(0); }
--out
0 0

--end

@@ subr.progenyof.string | subr.progenyof | wrong
BEGIN { trace(progenyof("a")); }
--tag D_PROTO_ARG

@@ subr.rand.differs | subr.rand | normal
BEGIN { a = rand(); b = rand(); c = rand(); d = random(); e = random(); printf("%d %d %d\n", a == b && b == c, d == e, sizeof (rand())); exit(0); }
--out
0 0 4

--end

@@ subr.rand.modulo | subr.rand | boundary
BEGIN { x = (unsigned)rand() % 10; printf("%d %d\n", x >= 0 && x < 10, sizeof (random())); exit(0); }
--out
1 8

--end

@@ subr.rand.sign | subr.rand | boundary
BEGIN { a = rand(); b = rand(); c = rand(); d = rand(); e = rand(); f = rand(); }
BEGIN { printf("%d %d\n", a >= 0 && b >= 0 && c >= 0 && d >= 0 && e >= 0 && f >= 0, (a | b | c | d | e | f) > 0x100000); exit(0); }
--out
1 1

--end

@@ subr.rand.argument | subr.rand | wrong
BEGIN { trace(rand(1)); }
--tag D_PROTO_LEN

@@ subr.rindex.positions | subr.rindex | boundary
BEGIN { printf("%d %d %d %d\n", rindex("abab", "a", 1), rindex("abab", "b", 99), rindex("abc", ""), rindex("abc", "z")); exit(0); }
--out
0 3 3 -1

--end

@@ subr.rindex.integer | subr.rindex | wrong
BEGIN { trace(rindex(5, "a")); }
--tag D_PROTO_ARG

@@ subr.rw.free | subr.rw | normal | kernel
BEGIN { printf("%d %d %d\n", rw_read_held((rwlock_t *)&`tasklist_lock) >= 0, rw_write_held((rwlock_t *)&`tasklist_lock), rw_iswriter((rwlock_t *)&`tasklist_lock)); exit(0); }
--out
1 0 0

--end

@@ subr.rw.null | subr.rw | boundary | kernel
BEGIN { printf("%d\n", rw_write_held((rwlock_t *)0)); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 1

--errhas invalid address
--end

@@ subr.rw.arguments | subr.rw | wrong | kernel
BEGIN { trace(rw_iswriter()); }
--tag D_PROTO_LEN

@@ subr.strchr.edges | subr.strchr | boundary
BEGIN { printf("%d %s %d\n", strchr("hello", 'z') == NULL, strchr("hello", 'h'), strchr("", 'a') == NULL); exit(0); }
--out
1 hello 1

--end

@@ subr.strchr.string | subr.strchr | wrong
BEGIN { trace(strchr("a", "b")); }
--tag D_PROTO_ARG

@@ subr.strjoin.exactly-strsize | subr.strjoin | boundary
#pragma D option strsize=8
BEGIN { printf("%s\n", strjoin("abcd", "efg")); exit(0); }
--out
abcdefg

--end

@@ subr.strlen.strsize | subr.strlen | boundary
#pragma D option strsize=8
this char *p;
BEGIN { this->p = alloca(16); this->p[0] = 'a'; this->p[1] = 'b'; this->p[2] = 'c'; this->p[3] = 'd'; this->p[4] = 'e'; this->p[5] = 'f'; this->p[6] = 'g'; this->p[7] = 'h'; this->p[8] = 'i'; this->p[9] = 0; printf("%d %d\n", strlen(this->p), strlen("a\0b")); exit(0); }
--out
8 1

--end

@@ subr.strlen.integer | subr.strlen | wrong
BEGIN { trace(strlen(5)); }
--tag D_PROTO_ARG

@@ subr.strrchr.edges | subr.strrchr | boundary
BEGIN { printf("%d %s %s\n", strrchr("hello", 'z') == NULL, strrchr("hello", 'h'), strrchr("a/b/c", '/')); exit(0); }
--out
1 hello /c

--end

@@ subr.strrchr.string | subr.strrchr | wrong
BEGIN { trace(strrchr("a", "b")); }
--tag D_PROTO_ARG

@@ subr.strstr.edges | subr.strstr | boundary
BEGIN { printf("%d [%s] %s %d\n", strstr("abc", "z") == NULL, strstr("", ""), strstr("aaab", "aab"), strstr("ab", "abc") == NULL); exit(0); }
--out
1 [] aab 1

--end

@@ subr.strstr.integer | subr.strstr | wrong
BEGIN { trace(strstr("a", 5)); }
--tag D_PROTO_ARG

@@ subr.strtok.exhausted | subr.strtok | boundary
BEGIN { printf("%s ", strtok("  a ", " ")); printf("%d %d\n", strtok(NULL, " ") == NULL, strtok("", " ") == NULL); exit(0); }
--out
a 1 1

--end

@@ subr.strtok.next-firing | subr.strtok | boundary
BEGIN { printf("%s ", strtok("a b c", " ")); }
BEGIN { printf("%s\n", strtok(NULL, " ")); }
tick-1ms { x = strtok(NULL, " ") == NULL; printf("%d\n", x); exit(0); }
ERROR { printf("1\n"); exit(0); }
--out
a b
1

--end

@@ subr.strtok.integer | subr.strtok | wrong
BEGIN { trace(strtok("a", 5)); }
--tag D_PROTO_ARG

@@ subr.strtoll.limits | subr.strtoll | boundary
BEGIN { printf("%d %d %d %d %d\n", strtoll("9223372036854775807"), strtoll("-9223372036854775808"), strtoll("z", 36), strtoll(""), strtoll("  12")); exit(0); }
--out
9223372036854775807 -9223372036854775808 35 0 12

--end

@@ subr.strtoll.base-of-one | subr.strtoll | wrong
BEGIN { x = 1; printf("%d\n", strtoll("5", x)); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 3

--errhas illegal operation
--end

@@ subr.substr.forms | subr.substr | boundary
BEGIN { printf("[%s][%s][%s][%s][%s]\n", substr("abc", 0, 0), substr("abc", 3), substr("abc", -9), substr("abc", 1, 99), substr("abc", 0, -3)); exit(0); }
--out
[][][abc][bc][]

--end

@@ subr.substr.string | subr.substr | wrong
BEGIN { trace(substr("abc", "a")); }
--tag D_PROTO_ARG

@@ subr.case.others-stay | subr.case | boundary
BEGIN { printf("%s %s [%s]\n", toupper("a-z{9"), tolower("A_Z@9"), toupper("")); exit(0); }
--out
A-Z{9 a_z@9 []

--end

@@ subr.case.integer | subr.case | wrong
BEGIN { trace(toupper(5)); }
--tag D_PROTO_ARG

@@ subr.absent.here | subr.absent | wrong
BEGIN { trace(msgsize(0)); }
--tag D_VAR_UNSUP

@@ subr.absent.every | subr.absent | wrong
BEGIN { trace(ddi_pathname(0, 0)); trace(msgdsize(0)); trace(msgsize(0)); }
BEGIN { trace(sx_shared_held(0)); trace(sx_exclusive_held(0)); trace(sx_isexclusive(0)); }
--tag D_VAR_UNSUP
--errhas :1:15: error: subroutine ddi_pathname( ) does not exist on Linux [D_VAR_UNSUP]
--errhas :1:42: error: subroutine msgdsize( ) does not exist on Linux [D_VAR_UNSUP]
--errhas :1:62: error: subroutine msgsize( ) does not exist on Linux [D_VAR_UNSUP]
--errhas :2:15: error: subroutine sx_shared_held( ) does not exist on Linux [D_VAR_UNSUP]
--errhas :2:41: error: subroutine sx_exclusive_held( ) does not exist on Linux [D_VAR_UNSUP]
--errhas :2:70: error: subroutine sx_isexclusive( ) does not exist on Linux [D_VAR_UNSUP]

@@ subr.call.nested | subr.call | normal
BEGIN { printf("%s %d\n", toupper(strjoin(substr("hello", 0, 2), basename("/x/y"))), strlen(lltostr(strtoll("12345")))); exit(0); }
--out
HEY 5

--end

@@ subr.call.optional-arguments | subr.call | boundary
BEGIN { printf("%d %d %s %s\n", index("aXbX", "X"), index("aXbX", "X", 2), substr("abc", 1), substr("abc", 1, 1)); exit(0); }
--out
1 3 bc b

--end

@@ edge.inet6.first-of-equal-runs | subr.inet_ntop | boundary
uint64_t *q;
BEGIN { q = (uint64_t *)alloca(16); q[0] = htonll(0x0001000000000002); q[1] = htonll(0x0000000000030004); printf("%s\n", inet_ntop(10, q)); exit(0); }
--out
1::2:0:0:3:4

--end

@@ edge.inet6.not-mapped | subr.inet_ntoa6 | boundary
uint64_t *q;
BEGIN { q = (uint64_t *)alloca(16); q[0] = 0; q[1] = htonll(0x0000ff0000010002); printf("%s\n", inet_ntoa6((in6_addr_t *)q)); exit(0); }
--out
::ff00:1:2

--end

@@ edge.json.escaped-quote | subr.json | boundary
BEGIN { printf("%s\n", json("{\"a\":\"x\\\"y\",\"b\":7}", "b")); exit(0); }
--out
7

--end

@@ edge.json.second-element | subr.json | boundary
BEGIN { printf("%s\n", json("[5,6,7]", "[1]")); exit(0); }
--out
6

--end

@@ edge.json.longer-name | subr.json | boundary
BEGIN { printf("%s\n", json("{\"a\":1,\"ab\":2}", "ab")); exit(0); }
--out
2

--end

@@ edge.float.tie-to-even | subr.float | boundary
double f, g;
BEGIN { f = 1.0; g = 1.1102230246251565e-16; printf("%d\n", f + g == 1.0); exit(0); }
--out
1

--end

@@ edge.float.negative-order | subr.float | boundary
double f, g;
BEGIN { f = -2.0; g = -1.0; printf("%d %d\n", f < g, g < f); exit(0); }
--out
1 0

--end

@@ edge.float.to-integer | subr.float | boundary
double f;
BEGIN { f = 2.0; printf("%d\n", (int)f); f = -2.5; printf("%d\n", (int)f); exit(0); }
--out
2
-2

--end

@@ edge.memstr.inner-nul | subr.memstr | boundary
char *p;
BEGIN { p = (char *)alloca(8); p[0] = 'a'; p[1] = 0; p[2] = 'b'; printf("%s\n", memstr(p, ',', 3)); exit(0); }
--out
a,b

--end

@@ edge.float.subtract | subr.float | boundary
double f;
BEGIN { f = 2.5; printf("%d %d\n", (int)(f - 1.0), (int)(2.5 - 1.0)); exit(0); }
--out
1 1

--end

@@ habit.in6_addr_t | subr.inet_ntoa6 | boundary
in6_addr_t *p;
BEGIN { p = (in6_addr_t *)alloca(16); printf("%s\n", inet_ntoa6(p)); exit(0); }
--out
::

--end
