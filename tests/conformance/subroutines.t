@@ subr.strlen | subroutine strlen | normal | 
BEGIN { printf("%d %d\n", strlen("hello"), strlen("")); exit(0); }
--out
5 0
--end

@@ subr.strjoin | subroutine strjoin | normal | 
BEGIN { printf("%s\n", strjoin("ab", "cd")); exit(0); }
--out
abcd
--end

@@ subr.strjoin.empty | subroutine strjoin | boundary | 
BEGIN { printf("[%s]\n", strjoin("", "")); exit(0); }
--out
[]
--end

@@ subr.substr | subroutine substr | normal | 
BEGIN { printf("%s %s\n", substr("abcdef", 2), substr("abcdef", 1, 3)); exit(0); }
--out
cdef bcd
--end

@@ subr.substr.negative | subroutine substr | boundary | 
BEGIN { printf("%s %s\n", substr("abcdef", -2), substr("abcdef", 1, -2)); exit(0); }
--out
ef bcd
--end

@@ subr.substr.beyond | subroutine substr | boundary | 
BEGIN { printf("[%s]\n", substr("abc", 9)); exit(0); }
--out
[]
--end

@@ subr.index | subroutine index | normal | 
BEGIN { printf("%d %d\n", index("hello", "l"), index("hello", "z")); exit(0); }
--out
2 -1
--end

@@ subr.index.pos | subroutine index | boundary | 
BEGIN { printf("%d %d\n", index("hello", "l", 3), index("hello", "h", -4)); exit(0); }
--out
3 0
--end

@@ subr.index.empty-needle | subroutine index | boundary | 
BEGIN { printf("%d\n", index("abc", "", 7)); exit(0); }
--out
3
--end

@@ subr.rindex | subroutine rindex | normal | 
BEGIN { printf("%d\n", rindex("hello", "l")); exit(0); }
--out
3
--end

@@ subr.rindex.negative-pos | subroutine rindex | boundary | 
BEGIN { printf("%d %d\n", rindex("hello", "l", -1), rindex("hello", "", -1)); exit(0); }
--out
-1 0
--end

@@ subr.strchr | subroutine strchr | normal | 
BEGIN { printf("%s\n", strchr("hello", 'l')); exit(0); }
--out
llo
--end

@@ subr.strrchr | subroutine strrchr | normal | 
BEGIN { printf("%s\n", strrchr("hello", 'l')); exit(0); }
--out
lo
--end

@@ subr.strstr | subroutine strstr | normal | 
BEGIN { printf("%s\n", strstr("hello", "el")); exit(0); }
--out
ello
--end

@@ subr.basename | subroutine basename | normal | 
BEGIN { printf("%s\n", basename("/a/b/c")); exit(0); }
--out
c
--end

@@ subr.basename.slashes | subroutine basename | boundary | 
BEGIN { printf("%s %s %s\n", basename("/a/b//"), basename("///"), basename("")); exit(0); }
--out
b / .
--end

@@ subr.dirname | subroutine dirname | normal | 
BEGIN { printf("%s\n", dirname("/a/b/c")); exit(0); }
--out
/a/b
--end

@@ subr.dirname.edge | subroutine dirname | boundary | 
BEGIN { printf("%s %s %s\n", dirname("c"), dirname("/c"), dirname("")); exit(0); }
--out
. / .
--end

@@ subr.cleanpath | subroutine cleanpath | normal | 
BEGIN { printf("%s\n", cleanpath("/a/./b//../c")); exit(0); }
--out
/a/c
--end

@@ subr.toupper | subroutine toupper | normal | 
BEGIN { printf("%s\n", toupper("aBc1")); exit(0); }
--out
ABC1
--end

@@ subr.tolower | subroutine tolower | normal | 
BEGIN { printf("%s\n", tolower("aBc1")); exit(0); }
--out
abc1
--end

@@ subr.lltostr | subroutine lltostr | normal | 
BEGIN { printf("%s %s\n", lltostr(1234), lltostr(-5)); exit(0); }
--out
1234 -5
--end

@@ subr.lltostr.base | subroutine lltostr | boundary | 
BEGIN { printf("%s %s %s\n", lltostr(255, 16), lltostr(8, 8), lltostr(5, 2)); exit(0); }
--out
0xff 010 101
--end

@@ subr.strtoll | subroutine strtoll | normal | 
BEGIN { printf("%d %d\n", strtoll("1234"), strtoll("-7")); exit(0); }
--out
1234 -7
--end

@@ subr.strtoll.base | subroutine strtoll | boundary | 
BEGIN { printf("%d %d\n", strtoll("ff", 16), strtoll("zz")); exit(0); }
--out
255 0
--end

@@ subr.htons | subroutine htons | normal | 
BEGIN { printf("%x %x\n", htons(0x1234), ntohs(0x1234)); exit(0); }
--out
3412 3412
--end

@@ subr.htonl | subroutine htonl | normal | 
BEGIN { printf("%x %x\n", htonl(0x12345678), ntohl(0x12345678)); exit(0); }
--out
78563412 78563412
--end

@@ subr.htonll | subroutine htonll | normal | 
BEGIN { printf("%x\n", htonll(0x0102030405060708)); exit(0); }
--out
807060504030201
--end

@@ subr.json | subroutine json | normal | 
BEGIN { printf("%s %s\n", json("{\"a\":{\"b\":[1,\"two\",3]}}", "a.b[1]"), json("{\"a\":7}", "a")); exit(0); }
--out
two 7
--end

@@ subr.inet_ntoa | subroutine inet_ntoa | normal | 
this uint32_t *a;
BEGIN { this->a = alloca(4); *(this->a) = htonl(0x7f000001); printf("%s\n", inet_ntoa(this->a)); exit(0); }
--out
127.0.0.1
--end

@@ subr.strtok | subroutine strtok | normal | 
BEGIN { printf("%s ", strtok("a,b;c", ",;")); printf("%s ", strtok(NULL, ",;")); printf("%s\n", strtok(NULL, ",;")); exit(0); }
--out
a b c
--end

@@ subr.copyinstr.bad | subroutine copyinstr | wrong | 
BEGIN { printf("%s\n", copyinstr(0)); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 1
--end

@@ subr.alloca | subroutine alloca | normal | 
this char *p;
BEGIN { this->p = alloca(4); this->p[0] = 'h'; this->p[1] = 'i'; this->p[2] = 0; printf("%s\n", stringof(this->p)); exit(0); }
--out
hi
--end

@@ subr.unknown | subroutine errors | wrong | 
--args -xerrtags -qs $D
BEGIN { nosuchfunc(1); exit(0); }
--out
--status 1
--end

@@ subr.wrong-count | subroutine errors | wrong | 
--args -xerrtags -qs $D
BEGIN { x = strlen(); exit(0); }
--out
--status 1
--end

@@ subr.strjoin.too-long | subroutine strjoin | wrong | 
#pragma D option strsize=8
BEGIN { printf("%s\n", strjoin("abcdef", "ghijkl")); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 5
--end

