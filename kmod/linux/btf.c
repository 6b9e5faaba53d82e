// SPDX-License-Identifier: GPL-2.0
/*
 * The digest of the kernel's BTF, which identifies its types. Reading types is left to user space.
 * Process context.
 */
#include "kmod/linux/btf.h"

#include <asm/barrier.h>
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "formats/abi/dof.h"
#include "kmod/linux/assume.h"

static u64 digest(void)
{
	const u8 *p = (const u8 *)dfr_kernel(__start_BTF);
	const u8 *stop = (const u8 *)dfr_kernel(__stop_BTF);
	u64 hash = DOF_BTF_DIGEST_START, word;
	u64 size = stop - p;

	if (!p || !stop || p >= stop)
		return 0;
	for (; p < stop; p += 8) {
		word = 0;
		memcpy(&word, p, min_t(size_t, 8, stop - p));
		hash = (hash ^ word) * DOF_BTF_DIGEST_PRIME;
	}
	return (hash ^ size) * DOF_BTF_DIGEST_PRIME;
}

/*
 * Computed once, because it reads megabytes and does not change while the kernel runs. If two tasks
 * compute it at the same time, both find the same value.
 */
u64 dfr_btf_digest(void)
{
	static u64 found;
	static bool known;

	if (!smp_load_acquire(&known)) {
		WRITE_ONCE(found, digest());
		smp_store_release(&known, true);
	}
	return READ_ONCE(found);
}
