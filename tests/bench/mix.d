/* SPDX-License-Identifier: GPL-2.0 */
/* What tests/bench/format records: system calls with two arguments and their results, and sched_switch. */
syscall:::entry
{
	capture(arg0, arg1);
}

syscall:::return
{
	capture(arg1, errno);
}

sdt:sched::sched_switch
{
	capture(((struct task_struct *)arg1)->pid, ((struct task_struct *)arg2)->pid,
	    stringof(((struct task_struct *)arg2)->comm), arg3);
}
