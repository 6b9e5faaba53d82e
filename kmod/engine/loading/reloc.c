// SPDX-License-Identifier: GPL-2.0
/*
 * Loading a DOF: relocations. A relocation adds the address of a kernel symbol to a
 * constant in an integer table. It writes only where no second payload lies: if, say,
 * a name lay there too, a refusal that quotes the name would show the address. Users
 * without privilege may have no relocations. Process context.
 */
#include "kmod/engine/loading/load.h"

/* A bound, because before 6.2 the kernel's symbols are not sorted and each look-up walks them all. */
#define SYMBOLS_MAX  4096
#define SYMBOL_SLOTS (2 * SYMBOLS_MAX) /* a power of two */

/* The symbols that this load has looked up: an open-addressed hash table by name. */
struct dfr_symbols {
	u32 sb_count;
	struct {
		const char *name; /* NULL: free */
		u64 address;
	} sb_slots[SYMBOL_SLOTS];
};

static u32 slot_of(const struct dfr_symbols *symbols, const char *name)
{
	const char *p = name;
	u32 slot = 0x811c9dc5;

	for (; *p; p++)
		slot = (slot ^ (u8)*p) * 0x01000193;
	for (slot &= SYMBOL_SLOTS - 1; symbols->sb_slots[slot].name; slot = (slot + 1) & (SYMBOL_SLOTS - 1))
		if (!strcmp(symbols->sb_slots[slot].name, name))
			break;
	return slot;
}

static int look_up(struct dfr_loader *ld, u32 relsec, u64 at, const char *name, u64 *address)
{
	struct dfr_symbols *symbols = ld->ld_symbols;
	u32 slot = slot_of(symbols, name);

	if (!symbols->sb_slots[slot].name) {
		if (symbols->sb_count == SYMBOLS_MAX)
			return dfr_refuse(ld, relsec, at, "more than 4096 symbols of the kernel");
		if (dfr_plat_symbol(name, &symbols->sb_slots[slot].address)) {
			dfr_refuse_name(ld, relsec, at, "this kernel has no symbol ", name);
			return -ENOENT;
		}
		symbols->sb_slots[slot].name = name; /* in the copy, where no relocation writes */
		symbols->sb_count++;
	}
	*address = symbols->sb_slots[slot].address;
	return 0;
}

/*
 * Counts for each eight bytes of the image how many loadable payloads reach there: +1 where one starts, -1
 * behind its end, then a running sum. Comparing each relocation's target with each section would take time
 * that grows with their product.
 */
static int count_owners(struct dfr_loader *ld)
{
	u64 words = (ld->ld_size + 7) / 8, n;
	const struct dof_sec *sec;
	u32 i;

	ld->ld_owners = dfr_plat_alloc((words + 1) * sizeof(*ld->ld_owners));
	ld->ld_symbols = dfr_plat_alloc(sizeof(*ld->ld_symbols));
	if (!ld->ld_owners || !ld->ld_symbols)
		return -ENOMEM;
	for (i = 0; i < ld->ld_nsecs; i++) {
		sec = dfr_dof_sec(ld, i);
		if (!(sec->flags & DOF_SECF_LOAD) || !sec->size)
			continue;
		ld->ld_owners[sec->offset / 8]++;
		ld->ld_owners[(sec->offset + sec->size + 7) / 8]--;
	}
	for (n = 1; n < words; n++)
		ld->ld_owners[n] += ld->ld_owners[n - 1];
	return 0;
}

/* Adds the address of the entry's symbol to its slot. User relocations (URELHDR) are for DOFs in a process's
 * image; here they are checked and add nothing. */
static int relocate_entry(struct dfr_loader *ld, const struct dof_relohdr *rh, u64 at, bool kernel)
{
	const struct dof_relodesc *entry = (const struct dof_relodesc *)(ld->ld_dof + at);
	const struct dof_sec *target = dfr_dof_sec(ld, rh->tgtsec);
	const char *name;
	u64 address = 0, slot;
	int err;

	if (entry->type == DOF_RELO_NONE)
		return 0;
	if (entry->type != DOF_RELO_SETX)
		return dfr_refuse(ld, rh->relsec, at + 4, "unknown relocation type");
	if (entry->offset & 7)
		return dfr_refuse(ld, rh->relsec, at + 8, "relocation is misaligned");
	if (target->size < 8 || entry->offset > target->size - 8)
		return dfr_refuse(ld, rh->relsec, at + 8, "relocation is outside its target");
	name = dfr_dof_string(ld, rh->strtab, entry->name, rh->relsec, at);
	if (!name)
		return -EINVAL;
	if (!kernel)
		return 0;
	slot = target->offset + entry->offset;
	if (ld->ld_owners[slot / 8] != 1)
		return dfr_refuse(ld, rh->relsec, at + 8,
				  "relocation of a table that another section shares");
	err = look_up(ld, rh->relsec, at, name, &address);
	if (!err)
		*(u64 *)(ld->ld_dof + slot) += address + entry->data;
	return err;
}

static int relocate(struct dfr_loader *ld, u32 index, bool kernel, u64 *budget)
{
	const struct dof_sec *sec = dfr_dof_sec(ld, index), *rel, *target;
	const struct dof_relohdr *rh = dfr_dof_payload(ld, sec);
	u64 at = sec->offset, n;
	int err = 0;

	if (sec->size < sizeof(*rh))
		return dfr_refuse(ld, index, at, "relocation header is cut off");
	if (sec->align < 4)
		return dfr_refuse(ld, index, at, "relocation header is misaligned");
	rel = dfr_dof_ref(ld, rh->relsec, DOF_SECT_RELTAB, 8, index, at + 4);
	if (!rel || !dfr_dof_ref(ld, rh->strtab, DOF_SECT_STRTAB, 1, index, at))
		return -EINVAL;
	target = dfr_dof_ref(ld, rh->tgtsec, DOF_SECT_INTTAB, 8, index, at + 8);
	if (!target)
		return -EINVAL;
	if (rel->entsize < sizeof(struct dof_relodesc) || rel->entsize & 7)
		return dfr_refuse(ld, rh->relsec, dfr_dof_sec_offset(ld, rh->relsec) + 12,
				  "bad entry size of relocations");
	for (n = 0; n + rel->entsize <= rel->size && !err; n += rel->entsize) {
		if ((*budget)-- == 0)
			return dfr_refuse(ld, rh->relsec, rel->offset + n, "too many relocations");
		err = relocate_entry(ld, rh, rel->offset + n, kernel);
		if (!err)
			err = dfr_plat_proceed();
	}
	return err;
}

int dfr_dof_relocate(struct dfr_loader *ld)
{
	u64 budget = DFR_LOAD_RELOCS_MAX;
	u32 i, type;
	int err = 0;

	for (i = 0; i < ld->ld_nsecs && !err; i++) {
		type = dfr_dof_sec(ld, i)->type;
		if (type != DOF_SECT_URELHDR && type != DOF_SECT_KRELHDR)
			continue;
		/* Before any look-up, because even a load's success could reveal bits of an address. */
		if (ld->ld_limits->ll_confined) {
			dfr_refuse(ld, i, dfr_dof_sec_offset(ld, i),
				   "unprivileged users may not use variables and functions of the kernel: "
				   "they show its addresses");
			return -EPERM;
		}
		err = ld->ld_owners ? 0 : count_owners(ld);
		if (!err)
			err = relocate(ld, i, type == DOF_SECT_KRELHDR, &budget);
	}
	return err;
}
