/* A program that is dear on purpose: each firing copies 640 KiB. */
#pragma D option quiet
#pragma D option strsize=8k

syscall::getppid:entry
/execname == "guest-device"/
{
	this->p = alloca(8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	bcopy(&`init_task, this->p, 8192); bcopy(&`init_task, this->p, 8192);
	trace(arg0);
	@ = count();
}
