#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What the command prints live is what another boot prints from its file: the replay believes in another boot.
program='
	syscall::getppid:entry /execname == "guest-workload"/ {
		@stacks[stack(), ustack()] = count();
		@places[usym(ucaller), umod(ucaller)] = count();
	}
	fbt::vfs_write:entry /execname == "guest-workload"/ { @callers[sym(caller), mod(caller)] = count(); }'
captures='
	syscall::getppid:entry /execname == "guest-workload"/ {
		capture(stack()); capture(ustack()); capture(ucaller);
	}
	fbt::vfs_write:entry /execname == "guest-workload"/ { capture(caller); }'
dfr record -o r.dfr -n "$program" -n "$captures" \
	-- sh -c 'exec guest-workload spin 1 >/dev/null' >live 2>log || cat log
echo 01234567-89ab-cdef-0123-456789abcdef >boot
export program
unshare -m sh <<'END' # seen here alone, and gone with this process
mount -o bind boot /proc/sys/kernel/random/boot_id
dfr replay r.dfr >replay 2>/dev/null
cmp live replay && echo 'as it was printed live'
dfr replay -n "$program" r.dfr >again 2>/dev/null
cmp live again && echo 'and as a program prints it'
dfr info r.dfr >info
grep -q ' names  *[1-9].* of the kernel, [1-9].* of [1-9][0-9]* files' info && echo 'names are counted'
END
cat live
