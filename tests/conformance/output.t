@@ out.trace.int | out.header, out.trace, act.trace | normal | process
--args -s $D
BEGIN { trace(42); exit(0); }
--out
CPU     ID                    FUNCTION:NAME
  0      1                           :BEGIN        42

--end

@@ out.trace.sizes | act.trace, out.trace | boundary | process
--args -s $D
BEGIN { trace((char)1); trace((short)2); trace(3); trace((long)4); exit(0); }
--out
CPU     ID                    FUNCTION:NAME
  0      1                           :BEGIN    1     2        3                4

--end

@@ out.trace.string | act.trace, out.trace | normal | process
--args -s $D
BEGIN { trace("hello"); exit(0); }
--out
CPU     ID                    FUNCTION:NAME
  0      1                           :BEGIN   hello                            

--end

@@ out.trace.quiet | out.quiet, cmd.quiet, act.trace | boundary
--args -qs $D
BEGIN { trace(42); trace("x"); trace(-1); exit(0); }
--out
42x-1
--end

@@ out.default-action | default-action | normal | process
--args -s $D
BEGIN {}
BEGIN { exit(0); }
--out
CPU     ID                    FUNCTION:NAME
  0      1                           :BEGIN 
  0      1                           :BEGIN 

--end

@@ out.printf.prefix | out.record | normal | process
--args -s $D
BEGIN { printf("hi"); exit(0); }
--out
CPU     ID                    FUNCTION:NAME
  0      1                           :BEGIN hi

--end

@@ out.flowindent | out.flow, cmd.flow | normal | process
--args -F -s $D
BEGIN { trace("x"); exit(0); }
--out
CPU FUNCTION                                 
  0 | :BEGIN                                    x                                

--end

@@ out.err.matched | out.matched | normal
--args -s $D
BEGIN { exit(0); }
--err
dtrace: script '$D' matched 1 probe
--end

@@ out.err.description | out.matched, cmd.specifiers | normal
--args -n 'BEGIN{exit(0);}'

--err
dtrace: description 'BEGIN' matched 1 probe
--end

@@ out.err.fault | out.fault | normal
--args -qs $D
BEGIN { trace(*(int *)0); }
ERROR { exit(0); }
--err
dtrace: error on enabled probe ID 1 (ID 1: dtrace:::BEGIN): invalid address (0x0) in action #1 at DIF offset 4
dtrace: at $D:1:15
--end

@@ out.no-match | probe.none | wrong
--args -s $D
nosuch:::probe { exit(0); }
--out
--status 1
--end

@@ out.no-match.zdefs | probe.none, cmd.zdefs | boundary
--args -Z -qs $D
nosuch:::probe { trace(1); }
BEGIN { printf("ok\n"); exit(0); }
--out
ok

--end

@@ out.exit-only-e | cmd.compile-only | normal
--args -e -qs $D
BEGIN { printf("no\n"); exit(0); }
--out
--end

@@ out.syntax-error | out.compile | wrong
--args -qs $D
BEGIN { printf("x" }
--out
--status 1
--end

