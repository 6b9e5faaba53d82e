#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
program='syscall::getpgid:entry { capture(arg0); }'
dfr record -o a.dfr --keep filled -x bufpolicy=switch -n "$program" -- true 2>/dev/null
dfrd --name filled --mode flight --output f.dfr 2>log; echo status $?
grep -o 'does not keep the newest records' log
guest-device states | grep -c '^filled.*active'
dfr stop filled >/dev/null
# What dfrd starts itself has the policy that it needs.
dfr compile -o p.dof -n "$program"
dfrd --name own --program p.dof --mode flight --output o.dfr --stop 2>log2 &
until grep -q 'is in flight' log2; do sleep 0.1; done
dfr snapshot --name own -o s.dfr 2>/dev/null
dfr info s.dfr 2>/dev/null | grep -ow ring | head -n 1
kill -TERM $!; wait $!
