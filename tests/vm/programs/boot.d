/* The boot program of tests/stages/70-boot and 75-crash: counts and captures. */
#pragma D option bufpolicy=ring
#pragma D option bufsize=4m

syscall:::entry
{
	@counts[execname] = count();
	capture();
}
