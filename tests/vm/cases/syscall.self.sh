#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -x engine=kernel -qn '
	syscall::nanosleep:entry, syscall::clock_nanosleep:entry /execname == "sleep"/ {
		self->t = timestamp;
	}
	syscall::nanosleep:return, syscall::clock_nanosleep:return /self->t/ {
		printf("%s\n", timestamp - self->t >= 200000000 ? "slept" : "did not");
		self->t = 0;
	}
' -c 'sleep 0.2'
