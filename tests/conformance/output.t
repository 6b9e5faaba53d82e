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

@@ again.two-programs.second-is-wrong | out.compile | wrong
--args -qn 'BEGIN { exit(0); }' -n 'BEGIN { x = ; }'
--errhas invalid probe specifier BEGIN { x = ; }: syntax error
--status 1
--end

@@ again.region.action-list | out.compile | wrong
--args -qn 'BEGIN { trace(nosuch); }'
--errhas invalid probe specifier BEGIN { trace(nosuch); }: in action list: failed to resolve nosuch: Unknown variable name
--status 1
--end

@@ again.region.predicate | out.compile | wrong
--args -xerrtags -qn 'BEGIN /nosuch/ { exit(0); }'
--errhas invalid probe specifier BEGIN /nosuch/ { exit(0); }: [D_IDENT_UNDEF] in predicate: failed to resolve nosuch: Unknown variable name
--status 1
--end

@@ edge.fault.first-of-two-lines | out.fault | wrong
BEGIN { trace(*(int *)0 +
 *(int *)8); }
ERROR { exit(0); }
--errhas at $D:1:
--end

@@ habit.end.empty-line | out.record | boundary
--args -qn 'BEGIN { @a[1] = count(); trunc(@a); exit(0); }' | od -c | head -1
--out
0000000  \n
--end

@@ habit.drops.tag | out.drops, out.tags | boundary
--args -xdroptags -b 16k -qs $D >/dev/null
BEGIN { tracemem(alloca(15000), 15000); }
BEGIN { tracemem(alloca(15000), 15000); }
BEGIN { tracemem(alloca(15000), 15000); exit(0); }
--errhas [DTRACEDROP_PRINCIPAL] 1 drop on CPU
--end

@@ habit.environment.unknown | out.testing, opt.unknown | boundary
--args -qn 'BEGIN { exit(0); }' >/dev/null | cat; DTRACE_OPT_NOSUCHOPTION=5 DTRACE_OPT_= DTRACE_OPT_QUIET=1 "$dtrace" -x engine=$engine -n 'BEGIN { printf("ran\n"); exit(0); }'
--out
ran

--err
--end
