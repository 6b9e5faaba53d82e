#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
cat >w.sh <<'END'
sh -c "true & exec sleep 100" & a=$!
sleep 100 & b=$!; kill -STOP $b
is() { grep -q "^State:.$1" "$2"; }
child_of() { grep -l "^PPid:.$1\$" /proc/[0-9]*/status 2>/dev/null; }
ready() { is S /proc/$a/status && is T /proc/$b/status && is Z "$(child_of $a)"; }
until [ "$(cat /proc/$a/comm)" = sleep ] && ready; do sleep 0.1; done
umask >/dev/null
kill -9 $a $b
END
cat >p.d <<'END'
inline struct task_struct *NEXT[struct list_head *l] =
    (struct task_struct *)((char *)l->next - offsetof(struct task_struct, sibling));
syscall::umask:entry /pid == $target/ {
	this->s = NEXT[&curthread->children];
	this->z = NEXT[&this->s->children];
	this->t = NEXT[&this->s->sibling];
	printf("%c%d ", xlate <lwpsinfo_t *> (this->s)->pr_sname, xlate <lwpsinfo_t *> (this->s)->pr_state);
	printf("%c%d ", xlate <lwpsinfo_t *> (this->z)->pr_sname, xlate <lwpsinfo_t *> (this->z)->pr_state);
	printf("%c%d\n", xlate <lwpsinfo_t *> (this->t)->pr_sname, xlate <lwpsinfo_t *> (this->t)->pr_state);
	printf("%d %d\n", xlate <lwpsinfo_t *> (this->t)->pr_flag & PR_STOPPED,
	    xlate <lwpsinfo_t *> (this->s)->pr_flag);
	exit(0);
}
END
dtrace -qs p.d -c 'sh w.sh'
