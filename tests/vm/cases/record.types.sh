#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What a program of the kernel's types says live is what another boot says from the file, without this
# kernel's types: members, sizes, structs as values, names of enums, curthread.
program='
	fbt::vfs_write:entry /execname == "guest-workload"/ {
		@names[stringof(args[0]->f_path.dentry->d_name.name), (uint64_t)args[2]] = count();
		@threads[curthread->tgid == pid, sizeof (*curthread) > 1000] = count();
	}
	fbt::vfs_write:entry /execname == "guest-workload" && PIDTYPE_TGID == 1/ { @tgid = count(); }'
captures='
	fbt::vfs_write:entry /execname == "guest-workload"/ {
		capture(stringof(args[0]->f_path.dentry->d_name.name)); capture(args[2]);
		capture(curthread->tgid); capture(args[0]->f_path); capture(args[0]->f_pos);
	}'
dfr record -o r.dfr -n "$program" -n "$captures" \
	-- sh -c 'exec guest-workload spin 1 >/dev/null' >live 2>log || cat log
dfr record -o raw.dfr -n 'fbt::vfs_write:entry /execname == "guest-workload"/ { capture(arg0); }' \
	-- sh -c 'exec guest-workload spin 1 >/dev/null' >/dev/null 2>&1
echo 01234567-89ab-cdef-0123-456789abcdef >boot
mkdir -p nothing
dfr replay -n "$program" r.dfr >here 2>/dev/null
cmp live here && echo 'here as it was live'
# What hides the kernel's types is seen here alone, and goes with this process, if it is killed too.
export program
unshare -m sh <<'END'
mount -o bind boot /proc/sys/kernel/random/boot_id
mount -o bind nothing /sys/kernel/btf
dfr replay -n "$program" r.dfr >there 2>log || cat log
cmp live there && echo 'elsewhere as it was live'
dfr replay -n 'fbt::vfs_write:entry { print(args[0]->f_path); exit(0); }' r.dfr 2>/dev/null >path
grep -q 'struct dentry \*dentry = 0x[0-9a-f]' path && echo 'a struct has its members' || cat path
dfr replay -n 'fbt::vfs_write:entry { @ = max(args[0]->f_flags); }' r.dfr >unrecorded 2>&1
grep -q 'not recorded: args\[0\]->f_flags' unrecorded && echo 'what was not recorded is named by its member'
dfr replay -n 'fbt::vfs_write:entry { printf("%d", args[0] != 0); exit(0); }' raw.dfr >typed 2>&1
grep -q 'vfs_write:entry 1$' typed && echo 'arguments have their types' || cat typed
dfr info r.dfr | grep ' types '
dfr info raw.dfr | grep ' types '
ls -l r.dfr raw.dfr | awk '{ print $5, $9 }'
dfr verify r.dfr >verified 2>&1 || cat verified
END
cat live
