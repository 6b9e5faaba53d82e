@@ mistake.copyin.string | subr.copyin | wrong
BEGIN { copyin("a", 4); }
--tag D_PROTO_ARG

@@ mistake.copyinstr.string | subr.copyinstr | wrong
BEGIN { trace(copyinstr(execname)); }
--tag D_PROTO_ARG

@@ mistake.copyinto.constant | subr.copyinto | wrong
BEGIN { copyinto(0, 4, 5); }
--tag D_PROTO_ARG

@@ mistake.copyinto.literal | subr.copyinto | wrong
BEGIN { copyinto(0, 4, "abcd"); }
--tag D_PROTO_ARG

@@ mistake.alloca.huge | subr.alloca | wrong
BEGIN { p = alloca(1 << 30); }
--tag D_ALLOCA_SIZE

@@ mistake.alloca.limit | subr.alloca | boundary
BEGIN { p = alloca(4194304); }
ERROR { printf("fault %d\n", arg4); exit(0); }
--out
fault 5

--errhas out of scratch space
--end

@@ mistake.alloca.above-limit | subr.alloca | wrong
BEGIN { p = alloca(4194305); }
--tag D_ALLOCA_SIZE

@@ mistake.alloca.negative | subr.alloca | wrong
BEGIN { p = alloca(-1); }
--tag D_ALLOCA_SIZE

@@ mistake.copyin.huge | subr.copyin | wrong
BEGIN { p = copyin(0, 1 << 30); }
--tag D_PROTO_ARG

@@ mistake.inet_ntoa6.string | subr.inet_ntoa6 | wrong
BEGIN { trace(inet_ntoa6("::1")); }
--tag D_PROTO_ARG

@@ mistake.inet_ntoa6.number | subr.inet_ntoa6 | wrong
BEGIN { trace(inet_ntoa6(1)); }
--tag D_PROTO_ARG

@@ mistake.copyout.speculating | subr.copyout, act.order | wrong
#pragma D option destructive
BEGIN { speculate(1); copyout(alloca(4), 0, 4); }
--tag D_ACT_SPEC
