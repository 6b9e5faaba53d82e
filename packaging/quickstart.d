/*
 * The boot program of packaging/quickstart: linked into the module, it is
 * enabled from the module's first millisecond. It counts every system call in
 * the kernel and keeps a record of each, so that other questions can be asked
 * afterwards.
 */
#pragma D option bufpolicy=ring
#pragma D option bufsize=4m

syscall:::entry
{
	@calls[execname, probefunc] = count();
	capture();
}
