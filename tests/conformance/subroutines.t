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

