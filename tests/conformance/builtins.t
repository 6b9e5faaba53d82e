@@ builtin.arg.begin | builtin.arg | boundary
BEGIN { printf("%d %d\n", sizeof (arg0), sizeof (arg9)); exit(0); }
--out
8 8

--end

@@ builtin.arg.error | builtin.arg | normal
BEGIN { x = *(int *)0x10; }
ERROR { printf("%d %d %d %x\n", arg1 == 1, arg2, arg4, arg5); exit(0); }
--out
1 1 1 10

--errhas invalid address (0x10)
--end

@@ builtin.arg.error-outside-of-dif | builtin.arg | boundary
BEGIN { trace(stringof(0x10)); }
ERROR { printf("%d %d\n", arg3, arg4); exit(0); }
--out
-1 1

--errhas invalid address (0x10) in action #1
--end

@@ builtin.arg.ten | builtin.arg | wrong
BEGIN { trace(arg10); }
--tag D_IDENT_UNDEF

@@ builtin.args.typed | builtin.args | normal | kernel
--args -qs $D -c 'cat /dev/null'
fbt::vfs_open:entry /pid == $target && stringof(args[0]->dentry->d_name.name) == "null"/ { printf("%d %d\n", (uintptr_t)args[0] == arg0, (uintptr_t)args[1] == arg1); exit(0); }
--out
1 1

--end

@@ builtin.args.return | builtin.args | boundary | kernel
--args -qs $D -c 'cat /dev/null'
fbt::vfs_open:return /pid == $target/ { printf("%d %d\n", args[1] == arg1, (int)args[1]); exit(0); }
--out
1 0

--end

@@ builtin.caller.kernel | builtin.caller | normal | kernel
--args -qs $D -c 'cat /dev/null' | grep -c '^vmlinux.[a-z]'
fbt::vfs_open:entry /pid == $target/ { printf("%a\n", caller); exit(0); }
--out
1
--end

@@ builtin.caller.user | builtin.caller, act.usym | boundary | kernel
--args -qs $D -c 'cat /dev/null'
syscall::openat:entry /pid == $target/ { printf("%d\n", ucaller < 0x800000000000); exit(0); }
--out
1

--end

@@ builtin.caller.assigned | builtin.caller, builtin.write | wrong | kernel
BEGIN { caller = 0; }
--tag D_OP_WRITE

@@ builtin.cpu.here | builtin.cpu | normal
BEGIN { printf("%d\n", cpu >= 0 && cpu < 64); exit(0); }
--out
1

--end

@@ builtin.cpu.info | builtin.cpu | boundary | kernel
BEGIN { printf("%d %d %d %d %d\n", curcpu->cpu_id == cpu, curcpu->cpu_pset, pset, chip, lgrp); exit(0); }
--out
1 0 0 0 0

--end

@@ builtin.cpu.unknown-member | builtin.cpu | wrong | kernel
BEGIN { trace(curcpu->cpu_nosuch); }
--tag D_TYPE_MEMBER

@@ builtin.curthread.ids | builtin.curthread | normal | kernel
BEGIN { printf("%d %d %d\n", curthread->pid == tid, curthread->tgid == pid, stringof(curthread->comm) == execname); exit(0); }
--out
1 1 1

--end

@@ builtin.curthread.deep | builtin.curthread | boundary | kernel
BEGIN { printf("%d %d\n", curthread->real_parent->tgid == ppid, curthread->cred->uid.val == uid); exit(0); }
--out
1 1

--end

@@ builtin.curthread.missing | builtin.curthread | wrong | kernel
BEGIN { trace(curthread->nosuch); }
--tag D_TYPE_MEMBER

@@ builtin.psinfo.ids | builtin.psinfo | normal | kernel
BEGIN { printf("%d %d %d %s\n", curpsinfo->pr_pid == pid, curpsinfo->pr_ppid == ppid, curlwpsinfo->pr_lwpid == tid, curpsinfo->pr_fname); exit(0); }
--out
1 1 1 dtrace

--end

@@ builtin.psinfo.arguments | builtin.psinfo | boundary | kernel
--args -qs $D -c 'cat /dev/null'
syscall::openat:entry /pid == $target/ { printf("%s\n", curpsinfo->pr_psargs); exit(0); }
--out
cat /dev/null

--end

@@ builtin.psinfo.unknown-member | builtin.psinfo | wrong | kernel
BEGIN { trace(curpsinfo->pr_nosuch); }
--tag D_TYPE_MEMBER

@@ builtin.cwd.of-this | builtin.cwd | normal | kernel
--args -qs $D -c 'cat /dev/null'
syscall::openat:entry /pid == $target/ { printf("%d %s\n", strlen(cwd) > 0, root); exit(0); }
--out
1 /

--end

@@ builtin.cwd.type | builtin.cwd | boundary | kernel
BEGIN { printf("%d %d\n", sizeof (cwd), cwd == cwd); exit(0); }
--out
256 1

--end

@@ builtin.cwd.assigned | builtin.cwd | wrong | kernel
BEGIN { cwd = "x"; }
--tag D_OP_LVAL

@@ builtin.epid.counts | builtin.epid | boundary
BEGIN { a = epid; }
BEGIN { printf("%d %d %d\n", a, epid, id); exit(0); }
END { printf("%d %d\n", epid, id); }
--out
1 2 1
3 2

--end

@@ builtin.epid.assigned | builtin.epid, builtin.write | wrong
BEGIN { epid = 1; }
--tag D_OP_WRITE

@@ builtin.errno.of-a-call | builtin.errno, builtin.constants | normal | kernel
--args -qs $D -c 'cat /nosuch' 2>&1 | grep -v cat:
syscall::open*:return /pid == $target && errno/ { printf("%d %d %d\n", errno == ENOENT, errno, (int)arg0); exit(0); }
--out
1 2 -1

--end

@@ builtin.errno.type | builtin.errno | boundary
BEGIN { printf("%d\n", sizeof (errno)); exit(0); }
--out
4

--end

@@ builtin.errno.assigned | builtin.errno, builtin.write | wrong
BEGIN { errno = 1; }
--tag D_OP_WRITE

@@ builtin.execname.dtrace | builtin.execname | normal
BEGIN { printf("%s %d\n", execname, execname == "dtrace"); exit(0); }
--out
dtrace 1

--end

@@ builtin.execname.arguments | builtin.execname | boundary | kernel
--args -qs $D -c 'cat /dev/null'
syscall::openat:entry /pid == $target/ { printf("%s|%s|%d\n", execname, execargs, sizeof (execname)); exit(0); }
--out
cat|cat /dev/null|256

--end

@@ builtin.execname.assigned | builtin.execname, builtin.write | wrong
BEGIN { execname = "x"; }
--tag D_OP_WRITE

@@ builtin.ids.this-process | builtin.ids | normal
BEGIN { printf("%d %d %d %d\n", pid == $pid, ppid == $ppid, uid == $uid, gid == $gid); exit(0); }
--out
1 1 1 1

--end

@@ builtin.ids.thread | builtin.ids | boundary
BEGIN { printf("%d %d %d %d %d\n", tid == pid, sizeof (pid), sizeof (tid), sizeof (uid), sizeof (gid)); exit(0); }
--out
1 4 4 4 4

--end

@@ builtin.ids.assigned | builtin.ids, builtin.write | wrong
BEGIN { tid = 1; }
--tag D_OP_WRITE

@@ builtin.ipl.process | builtin.ipl | normal
BEGIN { printf("%d %d\n", ipl, sizeof (ipl)); exit(0); }
--out
0 4

--end

@@ builtin.ipl.interrupt | builtin.ipl | boundary | kernel
profile-199 { @[ipl > 0] = count(); n++; }
tick-10ms /n > 3/ { exit(0); }
END { printa("%d\n", @); }
--out
1

--end

@@ builtin.ipl.assigned | builtin.ipl, builtin.write | wrong
BEGIN { ipl = 1; }
--tag D_OP_WRITE

@@ builtin.probe.timer | builtin.probe | boundary
tick-20ms { printf("%s:%s:%s:%s\n", probeprov, probemod, probefunc, probename); exit(0); }
--out
profile:::tick-20ms

--end

@@ builtin.probe.assigned | builtin.probe, builtin.write | wrong
BEGIN { probename = "x"; }
--tag D_OP_WRITE

@@ builtin.depth.kernel | builtin.depth | normal | kernel
--args -qs $D -c 'cat /dev/null'
fbt::vfs_open:entry /pid == $target/ { printf("%d %d\n", stackdepth > 3 && stackdepth < 100, ustackdepth > 0); exit(0); }
--out
1 1

--end

@@ builtin.depth.types | builtin.depth | boundary
BEGIN { printf("%d\n", sizeof (ustackdepth)); exit(0); }
--out
4

--end

@@ builtin.depth.assigned | builtin.depth, builtin.write | wrong
BEGIN { ustackdepth = 1; }
--tag D_OP_WRITE

@@ builtin.time.forward | builtin.time | normal
BEGIN { t = timestamp; w = walltimestamp; }
tick-20ms { v = vtimestamp; printf("%d %d %d %d\n", timestamp > t, walltimestamp > w, vtimestamp >= v, walltimestamp > 1577836800000000000); exit(0); }
--out
1 1 1 1

--end

@@ builtin.time.types | builtin.time | boundary
BEGIN { printf("%d %d %d %d\n", sizeof (timestamp), sizeof (vtimestamp), sizeof (walltimestamp), timestamp - timestamp); exit(0); }
--out
8 8 8 0

--end

@@ builtin.cgroup.same | builtin.cgroup | normal
BEGIN { printf("%d\n", nspid == pid); exit(0); }
--out
1

--end

@@ builtin.cgroup.types | builtin.cgroup | boundary
BEGIN { printf("%d %d %d\n", sizeof (nspid), sizeof (cgroup), cgroup == cgroup); exit(0); }
--out
4 8 1

--end

@@ builtin.cgroup.assigned | builtin.cgroup, builtin.write | wrong
BEGIN { cgroup = 1; }
--tag D_OP_WRITE

@@ builtin.time.assigned | builtin.time, builtin.write | wrong
BEGIN { timestamp = 1; }
--tag D_OP_WRITE

@@ builtin.uregs.pc | builtin.uregs | normal | kernel
--args -qs $D -c 'cat /dev/null'
syscall::openat:entry /pid == $target/ { printf("%d %d %d %d\n", uregs[R_RDI] == (uint64_t)arg0, uregs[R_RSI] == arg1, uregs[R_PC] == uregs[R_RIP], uregs[R_SP] > 0x7f0000000000); exit(0); }
--out
1 1 1 1

--end

@@ builtin.uregs.segments | builtin.uregs | boundary | kernel
--args -qs $D -c 'cat /dev/null'
syscall::openat:entry /pid == $target/ { printf("%x %x\n", uregs[R_CS], uregs[R_SS]); exit(0); }
--out
33 2b

--end

@@ builtin.uregs.index | builtin.uregs | wrong | kernel
BEGIN { trace(uregs["a"]); }
--tag D_REGS_IDX

@@ builtin.constants.values | builtin.constants | normal
BEGIN { printf("%d %d %d %d %d %d\n", NULL == 0, ENOENT, SIGKILL, DTRACEFLT_DIVZERO, O_CREAT, B_WRITE); exit(0); }
--out
1 2 9 4 64 256

--end

@@ builtin.constants.last-ones | builtin.constants | boundary
BEGIN { printf("%d %d %d %d %d %d\n", ERFKILL, SIGRTMAX, DTRACEFLT_LIBRARY, AF_INET6, CLD_CONTINUED, EWOULDBLOCK == EAGAIN); exit(0); }
--out
132 64 1000 10 6 1

--end

@@ builtin.constants.assigned | builtin.constants | wrong
BEGIN { ENOENT = 3; }
--tag D_OP_LVAL

@@ builtin.zonename | builtin.execname | wrong
BEGIN { zonename = "a"; exit(0); }
--tag D_OP_LVAL

@@ edge.suggest.short | builtin.ids | wrong
BEGIN { trace(pidd); exit(0); }
--status 1
--errhas did you mean pid?
--end

@@ habit.walltimestamp.constant | builtin.time | boundary
BEGIN { this->a = walltimestamp; printf("%d %d\n", walltimestamp - walltimestamp, walltimestamp == this->a); exit(0); }
BEGIN { printf("%d\n", walltimestamp == this->a); }
--out
0 1

--end

@@ habit.walltimestamp.one-firing | builtin.time | boundary
BEGIN { this->a = walltimestamp; }
BEGIN { printf("%d\n", walltimestamp == this->a); exit(0); }
--out
1

--end

@@ habit.vtimestamp.runs | builtin.time | normal | kernel
--args -qs $D -c 'dd if=/dev/zero of=/dev/null bs=1000000 count=30' 2>/dev/null
fbt::vfs_read:entry /pid == $target/ { self->v = vtimestamp; }
fbt::vfs_read:return /self->v/ { ran += (int64_t)(vtimestamp - self->v); self->v = 0; }
/* All reads together: one alone may see no time pass, where the scheduler's clock waits for a tick that is late. */
END { printf("%d\n", ran > 0); }
--out
1

--end

@@ habit.vtimestamp.sleeps | builtin.time | boundary | kernel
--args -qs $D -c 'sleep 0.3'
syscall::nanosleep:entry,syscall::clock_nanosleep:entry /pid == $target/ { self->t = timestamp; self->v = vtimestamp; }
sched:::off-cpu /self->t/ { self->off = timestamp; }
sched:::on-cpu /self->off/ { self->slept += timestamp - self->off; self->off = 0; }
/* The guest's CPU itself may stand still in the call: only what passed off the CPU must not count. */
syscall::nanosleep:return,syscall::clock_nanosleep:return /self->t/ {
	printf("%d %d\n", self->slept > 200000000, vtimestamp - self->v < timestamp - self->t - self->slept / 2);
	self->t = 0;
}
--out
1 1

--end

@@ habit.null.integer | builtin.constants, op.sizeof | normal
BEGIN { x = NULL; x = 5; printf("%d %d %d\n", x, sizeof (NULL), NULL + 1); exit(0); }
--out
5 4 1

--end

@@ habit.null.pointer | builtin.constants, op.equality, var.type | boundary
char *c;
int i;
BEGIN { p = alloca(8); i = 7; i = NULL; printf("%d %d %d", p == NULL, NULL != p, i); p = NULL; c = NULL; printf(" %d %d %d\n", p == NULL, c == NULL, NULL == 0); exit(0); }
--out
0 1 0 1 1 1

--end

@@ habit.zonename | builtin.execname | normal
BEGIN { printf("%s %d\n", zonename, zonename == "global"); exit(0); }
--out
global 1

--end

@@ habit.zonename.other | builtin.execname | boundary | kernel
--args -qs $D -c "$(echo 'hostname zed; exec /bin/dd if=/dev/zero of=/dev/null bs=1 count=1' >zone.sh; echo unshare -u sh zone.sh)" 2>/dev/null
syscall::read:entry /execname == "dd"/ { printf("%s\n", zonename); exit(0); }
--out
zed

--end

@@ habit.zonename.process | builtin.execname | boundary | process
--args -V >/dev/null | unshare -u$([ "$(id -u)" = 0 ] || echo r) sh -c 'hostname zed; exec "$0" -qs "$1"' "$dtrace" "$D"
BEGIN { printf("%s %d\n", zonename, zonename == "global"); exit(0); }
--out
zed 0

--end

@@ habit.cpu-info | builtin.cpu | normal | kernel
BEGIN { printf("%d %d %s\n", curcpu->cpu_info.pi_clock == `cpu_khz / 1000, curcpu->cpu_info.pi_state == P_ONLINE, curcpu->cpu_info.pi_processor_type); exit(0); }
--out
1 1 x86_64

--end

@@ habit.clname | builtin.psinfo | normal | kernel
--args -qs $D -c true
BEGIN { printf("%s\n", curlwpsinfo->pr_clname); exit(0); }
--out
OTHER

--end
