#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
cat >analysis.d <<'END'
syscall::open*:entry { self->p = arg1; }
syscall::open*:return /self->p/ { @[copyinstr(self->p)] = count(); }
END
dfr record -o r.dfr --for analysis.d -- true 2>errors
echo "status $?"
cat errors
echo 'syscall::write:entry { @[curpsinfo->pr_psargs] = count(); }' >analysis.d
dfr record -o r.dfr --for analysis.d -- true 2>errors
echo "status of the second $?"
cat errors
[ -e r.dfr ] || echo 'no recording'
