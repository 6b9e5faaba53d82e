/* What tests/bench/compile-cost compiles: 50 lines with kernel types and translators. */
#pragma D option quiet
#pragma D option strsize=128

inline int SLOW = 1000000;

BEGIN
{
	printf("tracing %s since %Y\n", $$1, walltimestamp);
}

syscall::openat:entry, syscall::read:entry, syscall::write:entry
/execname == $$1 || progenyof(curpsinfo->pr_ppid)/
{
	self->start = timestamp;
	self->path = probefunc == "openat" ? copyinstr(arg1) : fds[arg0].fi_pathname;
}

syscall::openat:return, syscall::read:return, syscall::write:return
/self->start/
{
	this->took = timestamp - self->start;
	@calls[probefunc, execname] = count();
	@times[probefunc, self->path] = quantize(this->took);
	@bytes[basename(self->path)] = sum(arg1 > 0 ? arg1 : 0);
	@failed[probefunc, errno == ENOENT ? "ENOENT" : "other"] = sum(arg1 < 0 ? 1 : 0);
}

syscall::openat:return, syscall::read:return, syscall::write:return
/self->start && this->took > SLOW/
{
	printf("%5d/%-5d %-16s %s %d us, state %d on cpu %d\n", pid, curlwpsinfo->pr_lwpid, curpsinfo->pr_psargs,
	    self->path, this->took / 1000, curlwpsinfo->pr_state, curcpu->cpu_id);
}

syscall::openat:return, syscall::read:return, syscall::write:return
{
	self->start = 0;
	self->path = 0;
}

fbt::vfs_read:entry
/((struct file *)arg0)->f_flags & 0x800/
{
	this->dentry = ((struct file *)arg0)->f_path.dentry;
	@waits[stringof(this->dentry->d_name.name), curthread->comm, curthread->mm->total_vm] = count();
	@parents[stringof(this->dentry->d_parent->d_name.name)] = lquantize(arg2, 0, 65536, 4096);
}

tick-10s { printa("%-16s %-16s %@d\n", @calls); trunc(@times, 10); printa(@times); exit(0); }
