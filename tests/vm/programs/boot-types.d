/* A clause that depends on the kernel's types, and one that does not: tests/stages/70-boot. */
#pragma D option bufpolicy=ring
#pragma D option bufsize=1m

syscall::execve:entry
{
	@plain[execname] = count();
}

syscall::exit_group:entry
/curthread->tgid == pid/
{
	@typed[execname] = count();
}
