// SPDX-License-Identifier: GPL-2.0
/*
 * What another boot has left in reserved memory, as a file that can only be read (DFR_RESERVED_DEVICE): an ELF core
 * with one segment, which says where in physical memory the area is. This boot never writes there. None of what is
 * in the area is looked at here. Process context.
 */
#include "kmod/linux/reserved.h"

#include "formats/abi/reserved.h"

#include <linux/elf.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uaccess.h>

static const void *old;
static size_t old_bytes;
static bool registered;

/* The file's first page; the area begins behind it. */
static struct {
	struct elf64_hdr head;
	struct elf64_phdr segment;
	u8 rest[4096 - sizeof(struct elf64_hdr) - sizeof(struct elf64_phdr)];
} first;

/* It has what the kernel's memory had, so it is for whom a program may show that. */
static int old_open(struct inode *inode, struct file *filp)
{
	struct dfr_rights rights = {};
	int error = dfr_rights_of_current(&rights);

	return error ?: rights.rt_confined || !rights.rt_kernel_reads ? -EPERM : 0;
}

static loff_t old_seek(struct file *filp, loff_t offset, int whence)
{
	return fixed_size_llseek(filp, offset, whence, sizeof(first) + old_bytes);
}

static ssize_t old_read(struct file *filp, char __user *to, size_t count, loff_t *at)
{
	loff_t within = *at - sizeof(first);
	ssize_t n;

	if (within < 0)
		return simple_read_from_buffer(to, count, at, &first, sizeof(first));
	n = simple_read_from_buffer(to, count, &within, old, old_bytes);
	*at = within + sizeof(first);
	return n;
}

static const struct file_operations old_operations = {
	.owner = THIS_MODULE,
	.open = old_open,
	.llseek = old_seek,
	.read = old_read,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "dfr-reserved",
	.fops = &old_operations,
	.mode = 0400,
};

void dfr_reserved_old_is(const void *area, u64 address, size_t bytes)
{
	old = area;
	old_bytes = bytes;
	memcpy(first.head.e_ident, ELFMAG, SELFMAG);
	first.head.e_ident[EI_CLASS] = ELFCLASS64;
	first.head.e_ident[EI_DATA] = ELFDATA2LSB;
	first.head.e_ident[EI_VERSION] = EV_CURRENT;
	first.head.e_type = ET_CORE;
	first.head.e_machine = ELF_ARCH;
	first.head.e_version = EV_CURRENT;
	first.head.e_phoff = sizeof(first.head);
	first.head.e_ehsize = sizeof(first.head);
	first.head.e_phentsize = sizeof(first.segment);
	first.head.e_phnum = 1;
	first.segment.p_type = PT_LOAD;
	first.segment.p_offset = sizeof(first);
	first.segment.p_paddr = address;
	first.segment.p_filesz = bytes;
	first.segment.p_memsz = bytes;
}

int dfr_reserved_old_init(void)
{
	int error;

	if (!old)
		return 0;
	error = misc_register(&device);
	registered = !error;
	if (error)
		pr_warn("dfr: what the last boot has recorded in reserved memory cannot be read (error %d)\n",
			error);
	return 0;
}

void dfr_reserved_old_exit(void)
{
	if (registered)
		misc_deregister(&device);
	registered = false;
}
