#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr compile --profile flight -o p.dof
dfrd --check --program p.dof --mode flight 2>&1 | grep -o 'the options are right'
dfr compile -o q.dof -n 'sched:::wakeup { trace(args[0]->pr_lwpid + `jiffies); }'
dfr disasm q.dof | grep -o 'jiffies' | head -n 1
