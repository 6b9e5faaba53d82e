// SPDX-License-Identifier: GPL-2.0
//
// Loads the kernel that starts when this one dies, as `kexec -p -s` does, into the memory that crashkernel= has kept for it.
//
//   guest-kexec KERNEL INITRD COMMAND_LINE
#include <fcntl.h>
#include <linux/kexec.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char** argv) {
	if (argc != 4) {
		fprintf(stderr, "usage: guest-kexec KERNEL INITRD COMMAND_LINE\n");
		return 2;
	}
	const int kernel = open(argv[1], O_RDONLY | O_CLOEXEC), initrd = open(argv[2], O_RDONLY | O_CLOEXEC);
	if (kernel < 0 || initrd < 0 ||
	    syscall(SYS_kexec_file_load, kernel, initrd, strlen(argv[3]) + 1, argv[3], KEXEC_FILE_ON_CRASH)) {
		perror("guest-kexec");
		return 1;
	}
	return 0;
}
