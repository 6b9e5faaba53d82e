/* As boot.d, with a ring that a boot overwrites many times. */
#pragma D option bufpolicy=ring
#pragma D option bufsize=32k

syscall:::entry
{
	@counts[execname] = count();
	capture();
}
