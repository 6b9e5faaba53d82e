/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The boot program: the DOF of the anonymous enabling, linked into the module.
 * Only bytes; boot_dof.h declares them. The build names the file
 * (packaging/build-boot-module); without one the two symbols are equal and the
 * module starts with nothing enabled.
 */
	.section .rodata, "a", @progbits
	.balign 8
	.globl dfr_boot_dof
	.globl dfr_boot_dof_end
dfr_boot_dof:
#ifdef DFR_HAVE_BOOT_DOF
	.incbin DFR_BOOT_DOF
#endif
dfr_boot_dof_end:
	.balign 8
	.section .note.GNU-stack, "", @progbits
