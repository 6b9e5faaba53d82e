@@ out.header.columns | out.header | boundary | process
--args -n 'BEGIN { trace(1); }' -n 'END { trace(2); }' -n 'tick-1ms { exit(0); }' | sed 's/ *[0-9]* *:tick-1ms *$/ tick/'
--out
CPU     ID                    FUNCTION:NAME
  0      1                           :BEGIN         1
  0 tick
  0      2                             :END         2

--end

@@ out.quiet.option | out.quiet, cmd.quiet | normal
--args -q -n 'BEGIN { printf("a"); trace(5); printf("b\n"); exit(0); }'
--out
a5b

--end

@@ out.flow.other-probes | out.flow, cmd.flow | boundary | process
--args -F -n 'BEGIN { printf("one"); } BEGIN { printf("two"); exit(0); }'
--out
CPU FUNCTION                                 
  0 | :BEGIN                                  one
  0 | :BEGIN                                  two

--end

@@ out.trace.long-string | out.trace | boundary | process
--args -s $D
BEGIN { trace("0123456789012345678901234567890123456789"); trace((unsigned char)200); trace((short)-1); trace(-1); trace(-1ll); exit(0); }
--out
CPU     ID                    FUNCTION:NAME
  0      1                           :BEGIN   0123456789012345678901234567890123456789 200 65535       -1               -1

--end

@@ out.bytes.text | out.bytes | normal
struct s { char b[8]; };
struct s v;
BEGIN { v.b[0] = 'a'; v.b[1] = '\t'; v.b[2] = '\b'; v.b[3] = '\a'; trace(v); printf("|\n"); exit(0); }
--out
a	|

--end

@@ out.bytes.rawbytes | out.bytes, opt.rawbytes | boundary
--args -xrawbytes -qs $D
struct s { char b[4]; };
struct s v;
BEGIN { v.b[0] = 'a'; trace(v); exit(0); }
--out

             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef
         0: 61 00 00 00                                      a...

--end

@@ out.bytes.after-a-nul | out.bytes | boundary
struct s { char b[4]; };
struct s v;
BEGIN { v.b[0] = 'a'; v.b[2] = 'b'; trace(v); exit(0); }
--out

             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef
         0: 61 00 62 00                                      a.b.

--end

@@ out.record.exit-only | out.record, act.exit | boundary | process
--args -n 'BEGIN { exit(3); }'
--out
CPU     ID                    FUNCTION:NAME
  0      1                           :BEGIN 

--status 3
--end

@@ out.record.silent | out.record | boundary | process
--args -n 'BEGIN { x = 1; }' -n 'BEGIN { printf("p"); trace(2); exit(0); }'
--out
CPU     ID                    FUNCTION:NAME
  0      1                           :BEGIN p        2

--end

@@ out.matched.several | out.matched | boundary
--args -n 'BEGIN, END { x = 1; }' -n 'BEGIN { exit(0); }' -n 'END'
--err
dtrace: description 'BEGIN, END ' matched 2 probes
dtrace: description 'BEGIN ' matched 1 probe
dtrace: description 'END' matched 1 probe
--end

@@ out.matched.quiet | out.matched, cmd.quiet | boundary
--args -qn 'BEGIN { exit(0); }'
--out

--err
--end

@@ out.destructive.allowed | out.destructive | normal
--args -wn 'BEGIN { system("true"); exit(0); }'
--err
dtrace: description 'BEGIN ' matched 1 probe
dtrace: allowing destructive actions
--end

@@ out.destructive.pragma | out.destructive | boundary
#pragma D option destructive
BEGIN { system("echo ran"); exit(0); }
--out
ran

--end

@@ out.drops.tags | out.drops, out.tags | normal
--args -xdroptags -qs $D
BEGIN { a = speculation(); b = speculation(); c = speculation(); exit(0); }
--err
dtrace: [DTRACEDROP_SPECUNAVAIL] 2 failed speculations (no speculative buffer available)
--end

@@ out.drops.dynamic | out.drops | boundary
--args -xdynvarsize=1k -qs $D
BEGIN { a[1] = 1; a[2] = 1; a[3] = 1; a[4] = 1; a[5] = 1; a[6] = 1; a[7] = 1; a[8] = 1; a[9] = 1; }
BEGIN { exit(0); }
--errhas dynamic variable drop
--end

@@ out.fault.predicate | out.fault | wrong
BEGIN / *(int *)8 == 1/ { printf("no\n"); }
BEGIN { exit(0); }
--errhas invalid address (0x8) in predicate
--end

@@ out.fault.division | out.fault, out.record | wrong
BEGIN { x = 0; }
BEGIN { y = 1; z = y / x; }
BEGIN { exit(0); }
--errhas divide-by-zero in action #2
--end

@@ out.compile.caret | out.compile | wrong
BEGIN { trace(nosuch); }
--err
dtrace: failed to compile script $D: line 1: failed to resolve nosuch: Unknown variable name
$D:1:15: error: failed to resolve nosuch: Unknown variable name
    BEGIN { trace(nosuch); }
                  ^
    a variable is assigned or declared before it is read; a kernel symbol is written `nosuch
--status 1
--end

@@ out.compile.command-line | out.compile | wrong
--args -n 'BEGIN { trace( }'
--errhas invalid probe specifier BEGIN { trace( }
--status 1
--end

@@ out.tags.none | out.tags | boundary
--args -qs $D 2>&1 | grep -c 'D_SYNTAX'
BEGIN { trace( }
--out
0
--status 1
--end

@@ out.tags.shown | out.tags, opt.compile | wrong
BEGIN { trace( }
--tag D_SYNTAX

@@ out.interrupt.term | out.interrupt, out.status | normal
--args -wqn 'BEGIN { printf("begin\n"); @a["k"] = count(); system("sleep 0.2; kill -TERM %d", $pid); } END { printf("end\n"); }'
--out
begin

end

  k                                                                 1
--end

@@ out.interrupt.int | out.interrupt | boundary
--args -wqn 'BEGIN { @ = sum(7); system("(sleep 0.2; kill -INT %d) &", $pid); } END { printa("%@d\n", @); exit(4); }'
--out

7

--status 4
--end

@@ out.interrupt.command | out.interrupt | boundary
--args -wqn 'BEGIN { system("kill -INT %d", $pid); } tick-15s { printf("lost\n"); exit(1); } END { printf("end\n"); }'
--out

end

--end

@@ out.status.codes | out.status | boundary
--args -qn 'BEGIN { exit(255); }'
--status 255
--end

@@ out.status.usage | out.status | wrong
--args --nosuchoption
--errhas Usage
--status 2
--end

@@ out.list.widths | out.list, cmd.list | normal | process
--args -ln 'dtrace:::'
--out
   ID   PROVIDER            MODULE                          FUNCTION NAME
    1     dtrace                                                     BEGIN
    2     dtrace                                                     END
    3     dtrace                                                     ERROR
--end

@@ out.list.arguments | out.list, cmd.list, cmd.verbose | boundary | process
--args -lvn BEGIN | grep -c 'Argument Types\|Probe Description Attributes\|Identifier Names: Stable\|Data Semantics:  *Stable\|Dependency Class: Common\|None'
--out
9
--end

@@ out.list.none | out.list, cmd.list | wrong
--args -ln nosuch:::probe
--out
   ID   PROVIDER            MODULE                          FUNCTION NAME
--errhas nosuch:::probe
--status 1
--end

@@ out.stability.report | out.stability, cmd.verbose | normal
--args -evs $D | tr -s '\t\n ' '   ' | sed 's/^ //'
BEGIN { trace(pid); }
--status 0
--end

@@ out.testing.columns | out.testing | normal | process
--args -n 'BEGIN { exit(0); }' | cat; _DTRACE_TESTING=1 "$dtrace" -x engine=$engine -n 'BEGIN { trace(5); exit(0); }' 2>/dev/null
--out
CPU     ID                    FUNCTION:NAME
  0      1                           :BEGIN 

                   FUNCTION:NAME
                          :BEGIN         5

--end

@@ out.testing.options | out.testing | boundary
--args -n 'BEGIN { exit(0); }' >/dev/null | cat; DTRACE_OPT_STRSIZE=5 DTRACE_OPT_QUIET=1 "$dtrace" -x engine=$engine -n 'BEGIN { s = "abcdefgh"; printf("%s\n", s); exit(0); }'
--out
abcd

--end

@@ out.testing.bad-option | out.testing | wrong
--args -qn 'BEGIN { exit(0); }' | cat; DTRACE_OPT_STRSIZE=x "$dtrace" -x engine=$engine -qn 'BEGIN { exit(0); }'
--errhas strsize
--status 1
--end

@@ cmd.model.lp64 | cmd.model | normal
--args -64 -qn 'BEGIN { printf("%d\n", sizeof (long)); exit(0); }'
--out
8

--end

@@ cmd.model.given-twice | cmd.model | boundary
--args -64 -64 -qn 'BEGIN { printf("%d\n", sizeof (int *)); exit(0); }'
--out
8

--end

@@ cmd.model.ilp32 | cmd.model | wrong
--args -32 -qn 'BEGIN { exit(0); }'
--errhas 32-bit data model is not supported
--status 2
--end

@@ cmd.anonymous.none | cmd.anonymous | wrong
--args -a
--errhas anonymous
--status 1
--end

@@ cmd.bufsize.suffix | cmd.bufsize, opt.size | normal
--args -b 256k -qn 'BEGIN { printf("ok\n"); exit(0); }'
--out
ok

--end

@@ cmd.bufsize.small | cmd.bufsize, opt.size | boundary
--args -b 1k -qn 'BEGIN { printf("ok\n"); exit(0); }'
--out
ok

--end

@@ cmd.bufsize.bad | cmd.bufsize, opt.size | wrong
--args -b 4x -qn 'BEGIN { exit(0); }'
--errhas Invalid value for specified option
--status 1
--end

@@ cmd.command.ends | cmd.command | normal
--args -qn 'BEGIN { printf("begin %d\n", $target > 1); } END { printf("end\n"); }' -c 'true'
--out
begin 1
end

--end

@@ cmd.command.two | cmd.command | boundary
--args -qn 'END { printf("end\n"); }' -c 'true a b' -c 'sleep 0.1'
--out
end

--end

@@ cmd.command.exited | cmd.command | boundary
--args -n 'BEGIN { x = 1; }' -c true 2>&1 | grep -c '^dtrace: pid [0-9]* has exited$'
--out
1
--end

@@ cmd.command.pragma-in-script | cmd.command, pragma.option | boundary
--args -s $D -c true
#pragma D option quiet
BEGIN { printf("quiet\n"); }
--out
quiet

--err
--end

@@ cmd.command.missing | cmd.command | wrong
--args -qn 'BEGIN { exit(0); }' -c /nosuch/program
--errhas /nosuch/program
--status 1
--end

@@ cmd.cpp.define | cmd.cpp | normal | process
--args -C -D VALUE=7 -qs $D
#ifdef VALUE
BEGIN { printf("%d\n", VALUE); exit(0); }
#endif
--out
7

--end

@@ cmd.cpp.undefine-and-include | cmd.cpp | boundary | process
--args -C -D A=1 -U A -I . -qs $D
#ifndef A
#define TWICE(x) ((x) * 2)
BEGIN { printf("%d\n", TWICE(4)); exit(0); }
#endif
--out
8

--end

@@ cmd.cpp.error | cmd.cpp | wrong | process
--args -C -qs $D
#include "nosuch-file.h"
BEGIN { exit(0); }
--errhas nosuch-file.h
--status 1
--end

@@ cmd.compile-only.prints-nothing | cmd.compile-only | boundary
--args -e -n 'BEGIN { exit(9); }'
--out
--err
--end

@@ cmd.compile-only.error | cmd.compile-only | wrong
--args -e -n 'BEGIN { 1 = 2; }'
--out
--status 1
--end

@@ cmd.specifiers.each | cmd.specifiers | normal
--args -q -P 'dtrace /probename == "BEGIN"/ { printf("P"); }' -n 'BEGIN { printf("n"); }' -i '1 { printf("i"); }' -n ':::BEGIN { printf("\n"); exit(0); }'
--out
Pni

--end

@@ cmd.specifiers.two-in-one | cmd.specifiers | boundary
--args -q -n 'BEGIN /1/ { printf("a\n"); } END { printf("b\n"); }' -n 'BEGIN { exit(0); }'
--out
a
b

--end

@@ cmd.specifiers.no-module | cmd.specifiers | wrong
--args -q -m nosuchmodule
--errhas does not match any probes
--status 1
--end

@@ cmd.specifiers.bad-id | cmd.specifiers | wrong
--args -q -i abc
--status 1
--end

@@ cmd.link.not-here | cmd.link | wrong
--args -G -s $D
BEGIN { exit(0); }
--errhas static user probes
--status 1
--end

@@ cmd.library.folder | cmd.library, library | normal
--args -qn 'BEGIN { exit(0); }' | cat; mkdir lib1; echo 'inline int FROM_LIB = 42;' >lib1/one.d; "$dtrace" -x engine=$engine -L lib1 -qn 'BEGIN { printf("%d\n", FROM_LIB); exit(0); }'
--out

42

--end

@@ cmd.library.depends | cmd.library, library, pragma.depends | boundary
--args -qn 'BEGIN { exit(0); }' | cat; mkdir lib2; printf '#pragma D depends_on library b.d\ninline int TWO = ONE + 1;\n' >lib2/a.d; echo 'inline int ONE = 1;' >lib2/b.d; printf '#pragma D depends_on provider nosuch\ninline int NONE = 1;\n' >lib2/c.d; "$dtrace" -x engine=$engine -L lib2 -qn 'BEGIN { printf("%d\n", TWO); exit(0); }'
--out

2

--end

@@ cmd.library.clause | cmd.library, library | wrong
--args -qn 'BEGIN { exit(0); }' | cat; mkdir lib3; printf 'inline int X = 1;\nBEGIN { exit(0); }\n' >lib3/one.d; "$dtrace" -x engine=$engine -L lib3 -qn 'BEGIN { trace(X); exit(0); }'
--errhas lib3/one.d
--status 1
--end

@@ cmd.output.file | cmd.output | normal
--args -o out1 -qn 'BEGIN { printf("text\n"); exit(0); }' | cat; cat out1
--out
text

--end

@@ cmd.output.appends | cmd.output | boundary
--args -o out2 -qn 'BEGIN { printf("a\n"); exit(0); }' | cat; "$dtrace" -x engine=$engine -o out2 -qn 'BEGIN { printf("b\n"); exit(0); }'; cat out2
--out
a

b

--end

@@ cmd.output.no-folder | cmd.output | wrong
--args -o nosuch/folder -qn 'BEGIN { exit(0); }'
--errhas nosuch/folder
--status 1
--end

@@ cmd.process.ends | cmd.process | normal
--args -wqn 'BEGIN { printf("%d\n", $target == $1); system("kill %d", $target); } END { printf("end\n"); }' -p $(sleep 1000 >/dev/null & echo $!) 0 -x argref | sed 1d
--out
end

--end

@@ cmd.process.none | cmd.process | wrong
--args -qn 'BEGIN { exit(0); }' -p 0
--errhas invalid process id
--status 2
--end

@@ cmd.process.gone | cmd.process | boundary
--args -qn 'BEGIN { exit(0); }' -p 2147483647
--errhas 2147483647
--status 1
--end

@@ cmd.script.standard-input | cmd.script | boundary
--args -qs - <$D
BEGIN { printf("in\n"); exit(0); }
--out
in

--end

@@ cmd.script.missing | cmd.script | wrong
--args -s /nosuch.d
--errhas failed to open script '/nosuch.d'
--status 1
--end

@@ cmd.disassemble.listing | cmd.disassemble | normal
--args -eSn 'BEGIN { trace(pid); }' 2>&1 | sed 's/0x[0-9a-f]*/0x/'
--out

DIFO 0x returns D type (integer) (size 4)
OFF OPCODE      INSTRUCTION
00: 29011601    ldgs DT_VAR(278), %r1		! DT_VAR(278) = "pid"
01: 23000001    ret  %r1

NAME             ID   KND SCP FLAG TYPE
pid              116  scl glb r    D type (integer) (size 4)
--end

@@ cmd.disassemble.predicate-first | cmd.disassemble | boundary
--args -eSn 'BEGIN /pid/ { trace(1); trace("a"); }' 2>&1 | grep -c ^DIFO
--out
3
--end

@@ cmd.disassemble.error | cmd.disassemble | wrong
--args -eSn 'BEGIN { trace( }' 2>&1 | grep -c ^DIFO
--out
0
--status 1
--end

@@ cmd.verbose.version | cmd.verbose, cmd.one-mode | normal
--args -V | grep -c '^dtrace: '
--out
1
--end

@@ cmd.one-mode.two | cmd.one-mode | wrong
--args -lV
--errhas only one of
--status 2
--end

@@ cmd.verbose.letter | cmd.verbose | wrong
--args -y
--errhas illegal option -- y
--status 2
--end

@@ cmd.destructive.unneeded | cmd.destructive | boundary
--args -wqn 'BEGIN { printf("ok\n"); exit(0); }'
--out
ok

--end

@@ cmd.option.value | cmd.option | normal
--args -x strsize=4 -xquiet -n 'BEGIN { s = "abcdef"; printf("%s\n", s); exit(0); }'
--out
abc

--end

@@ cmd.option.last-wins | cmd.option | boundary
--args -x strsize=4 -x strsize=6 -qn 'BEGIN { s = "abcdefghi"; printf("%s\n", s); exit(0); }'
--out
abcde

--end

@@ cmd.option.unknown | cmd.option, opt.unknown | wrong
--args -x nosuchoption -n 'BEGIN { exit(0); }'
--errhas Invalid option name
--status 1
--end

@@ cmd.operands.mixed | cmd.operands | normal
--args first -qn 'BEGIN { printf("%s %s %d\n", $$1, $$2, $3); exit(0); }' second 3
--out
first second 3

--end

@@ cmd.operands.after-dashes | cmd.operands | boundary
--args -qn 'BEGIN { printf("%s %s\n", $$1, $$2); exit(0); }' -- -q -n
--out
-q -n

--end

@@ cmd.operands.no-program | cmd.operands | wrong
--args operand
--errhas no probes specified
--status 2
--end

@@ out.matched.none | out.matched | wrong
--args -n nosuch:::probe
--out
--errhas does not match any probes
--status 1
--end

@@ out.stability.lowest | out.stability | boundary
--args -ves $D | sed -n 's/^\t\tIdentifier Names: //p'
inline int K = 5;
#pragma D attributes Private/Private/Unknown K
BEGIN { trace(K); }
--out
Stable
Private
--end

@@ out.stability.not-met | out.stability | wrong
--args -xerrtags -xamin=Stable/Stable/Common -ves $D
inline int K = 5;
#pragma D attributes Evolving/Evolving/Common K
BEGIN { trace(K); }
--errhas [D_ATTR_MIN]
--status 1
--end

@@ cmd.zdefs.given-twice | cmd.zdefs | boundary
--args -Z -Z -qn 'BEGIN { printf("ok\n"); exit(0); }'
--out
ok

--end

@@ out.flow.system-calls | out.flow, cmd.flow | normal | kernel
--args -F -s $D -c 'sh -c umask' | awk '/[<=>] umask/ { print $2, $3 }'
syscall::umask:entry, syscall::umask:return /pid == $target/ {}
--out
=> umask
<= umask
=> umask
<= umask
--end

@@ out.flow.nested | out.flow, cmd.flow | boundary | kernel
--args -F -s $D -c 'cat /dev/null' | awk '/[-][>] |[<][-] / { at = match($0, "[-<]"); if (!first) first = at; print at - first, substr($0, at, 2), $3 }'
fbt::vfs_open:entry /pid == $target && stringof(args[0]->dentry->d_name.name) == "null"/ { self->in = 1; }
fbt::vfs_open:entry, fbt::vfs_open:return, fbt::do_dentry_open:entry, fbt::do_dentry_open:return /self->in/ {}
fbt::vfs_open:return /self->in/ { exit(0); }
--out
0 -> vfs_open
2 -> do_dentry_open
2 <- do_dentry_open
0 <- vfs_open
--end

@@ again.cpp.names | cmd.cpp | normal | process
--args -Cqs $D
#if defined(__linux) && defined(__unix) && defined(__SVR4) && defined(__amd64) && defined(__SUNW_D) && __SUNW_D_VERSION >= 0x01000000
BEGIN { printf("all\n"); exit(0); }
#endif
--out
all

--end

@@ habit.command.status | cmd.command | boundary | process
--args -n 'BEGIN { }' -c false
--out
CPU     ID                    FUNCTION:NAME
  0      1                           :BEGIN 

--errhas exited with status 1
--end

@@ habit.command.signal | cmd.command | boundary
--args -n 'BEGIN { }' -c "$(echo 'kill -KILL $$' >die.sh; echo sh die.sh)" >/dev/null
--errhas terminated by SIGKILL
--end

@@ habit.command.fine | cmd.command | normal
--args -n 'BEGIN { }' -c true >/dev/null
--errhas  has exited
--end

@@ habit.list.to-file | cmd.list, cmd.output | boundary
--args -o listed -ln 'dtrace:::END' | cat; cat listed
--out
   ID   PROVIDER            MODULE                          FUNCTION NAME
    2     dtrace                                                     END
--end
