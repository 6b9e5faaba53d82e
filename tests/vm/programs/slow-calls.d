/* Keeps system calls that took 50 ms and more, with their own times: 500 may be open at once. */
#pragma D option nspec=1024
#pragma D option dynvarsize=64m

syscall::read:entry, syscall::getppid:entry
/execname == "guest-blocked"/
{
	self->since = timestamp;
	self->spec = speculation();
}

syscall::read:entry, syscall::getppid:entry
/self->spec/
{
	speculate(self->spec);
	capture();
}

syscall::read:return, syscall::getppid:return
/self->spec && timestamp - self->since >= 50000000/
{
	commit(self->spec);
	self->spec = 0;
}

syscall::read:return, syscall::getppid:return
/self->since/
{
	discard(self->spec);
	self->spec = 0;
	self->since = 0;
}
