// SPDX-License-Identifier: GPL-2.0
/*
 * With rdinit=/dfr-init (or init=) on its command line the kernel runs this as
 * the first process. It loads /dfr.ko, then executes the real init with the
 * arguments and the environment that the kernel gave it. It starts no process and
 * waits for nothing. If something fails, it writes that to the kernel's log and
 * goes on, so that it never stops the boot.
 *
 * No system call comes between a finit_module that succeeds and the execve: with a
 * boot program in the module, the first system call of the recording is the execve
 * of the real init.
 *
 * The module gets the parameters in /dfr.parameters, which name the boot program, and
 * after them those on the kernel's command line: dfr.x=y gets to a module by modprobe,
 * not by the kernel, so the shim reads /proc/cmdline before it loads dfr.ko.
 *
 * A kernel that runs to save the memory of another one that died (elfcorehdr=) loads
 * nothing: its few megabytes are for that.
 *
 * The program is static, without a C library or its start-up code, and has a few
 * kilobytes. It runs as PID 1, with nothing mounted and perhaps nothing in /dev.
 */
#include <asm/unistd.h>
#include <stddef.h>

#define AT_FDCWD -100
#define ENOENT 2
#define ENOEXEC 8
#define ENOMEM 12
#define EEXIST 17
#define EBADMSG 74
#define EKEYREJECTED 129
#define O_RDONLY 0
#define O_WRONLY 1
#define O_CLOEXEC 02000000
#define S_IFCHR 0020000
#define KMSG_DEVICE ((1 << 8) | 11)

static const char kModule[] = "/dfr.ko";
static const char kParameters[] = "/dfr.parameters";
static const char kPrefix[] = "dfr.";
static const char kCrashKernel[] = "elfcorehdr=";
static const char* const kInits[] = {"/init", "/sbin/init", "/etc/init", "/bin/init", "/bin/sh"};

#if defined(__x86_64__)
static long syscall5(long number, long a, long b, long c, long d, long e) {
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	long result;

	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
	                 : "rcx", "r11", "memory");
	return result;
}

/* The kernel leaves argc, argv, 0, envp, 0 on the stack. */
__asm__(".globl _start\n"
        "_start:\n"
        "	xor %ebp, %ebp\n"
        "	mov %rsp, %rdi\n"
        "	and $-16, %rsp\n"
        "	call shim_main\n"
        "	ud2\n");
#elif defined(__aarch64__)
static long syscall5(long number, long a, long b, long c, long d, long e) {
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
	return x0;
}

__asm__(".globl _start\n"
        "_start:\n"
        "	mov x29, #0\n"
        "	mov x0, sp\n"
        "	bl shim_main\n"
        "	brk #0\n");
#else
#error "shim.c: write syscall5 and _start for this processor"
#endif

#define CALL(name, a, b, c, d, e) syscall5(__NR_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e))

static char command_line[8192];
static char parameters[4096 + sizeof(command_line)]; /* of the file, and of the command line */
static int crash_kernel;

static size_t length(const char* text) {
	size_t n = 0;

	while (text[n])
		n++;
	return n;
}

static int starts_with(const char* text, const char* prefix) {
	while (*prefix)
		if (*text++ != *prefix++)
			return 0;
	return 1;
}

static char* append(char* to, const char* text) {
	while (*text)
		*to++ = *text++;
	*to = 0;
	return to;
}

static char* append_number(char* to, long value) {
	char digits[24];
	int n = 0;

	do
		digits[n++] = '0' + (char)(value % 10);
	while (value /= 10);
	while (n > 0)
		*to++ = digits[--n];
	*to = 0;
	return to;
}

static long open_file(const char* path, int flags) {
	return CALL(openat, AT_FDCWD, path, flags | O_CLOEXEC, 0, 0);
}

/* Writes one line to the kernel's log, through a device file of its own if /dev/kmsg cannot be opened. */
static void complain(const char* line) {
	static const char own[] = "/.dfr-kmsg";
	long fd = open_file("/dev/kmsg", O_WRONLY);

	if (fd < 0) {
		CALL(mknodat, AT_FDCWD, own, S_IFCHR | 0600, KMSG_DEVICE, 0);
		fd = open_file(own, O_WRONLY);
		CALL(unlinkat, AT_FDCWD, own, 0, 0, 0);
	}
	if (fd >= 0)
		CALL(write, fd, line, length(line), 0, 0);
}

/* Fills command_line, which stays empty if /proc/cmdline cannot be read. */
static void read_command_line(void) {
	long mounted = -1;
	long fd = open_file("/proc/cmdline", O_RDONLY);

	if (fd < 0) {
		CALL(mkdirat, AT_FDCWD, "/proc", 0555, 0, 0);
		mounted = CALL(mount, "proc", "/proc", "proc", 0, 0);
		fd = open_file("/proc/cmdline", O_RDONLY);
	}
	if (fd >= 0) {
		long n = CALL(read, fd, command_line, sizeof(command_line) - 1, 0, 0);

		command_line[n > 0 ? n : 0] = 0;
		CALL(close, fd, 0, 0, 0, 0);
	}
	if (mounted == 0)
		CALL(umount2, "/proc", 0, 0, 0, 0);
}

/* The parameters of the file /dfr.parameters, and where the next one goes. */
static char* read_parameters(void) {
	long fd = open_file(kParameters, O_RDONLY);
	long n;

	if (fd < 0)
		return parameters;
	n = CALL(read, fd, parameters, sizeof(parameters) - sizeof(command_line) - 1, 0, 0);
	CALL(close, fd, 0, 0, 0, 0);
	return append(parameters + (n > 0 ? n : 0), " ");
}

/*
 * Copies to `to` what follows "dfr." in each word of the command line that begins so,
 * separated by spaces. That is never longer than the line. Quotes are kept, because the
 * kernel's parser of module parameters understands them. Sets crash_kernel.
 */
static void collect_parameters(char* to) {
	const char* from = command_line;

	while (*from) {
		int quoted = 0, ours = starts_with(from, kPrefix);

		crash_kernel |= starts_with(from, kCrashKernel);
		if (ours)
			from += length(kPrefix);
		for (; *from && *from != '\n' && (quoted || *from != ' '); from++) {
			if (*from == '"')
				quoted = !quoted;
			if (ours)
				*to++ = *from;
		}
		if (ours)
			*to++ = ' ';
		while (*from == ' ' || *from == '\n')
			from++;
	}
	*to = 0;
}

static const char* meaning(long error) {
	switch (-error) {
	case ENOENT: return " (it is not in the archive)";
	case ENOEXEC: return " (it is damaged, or of another kernel)";
	case ENOMEM: return " (too little memory)";
	case EBADMSG:
	case EKEYREJECTED: return " (this kernel does not trust its signature)";
	default: return "";
	}
}

static void report_failure(const char* what, long error) {
	char line[256];
	char* to = append(line, "<4>dfr: ");

	to = append(to, what);
	to = append(to, " ");
	to = append(to, kModule);
	to = append(to, ": error ");
	to = append_number(to, -error);
	to = append(to, meaning(error));
	append(to, "; the boot goes on without it\n");
	complain(line);
}

static void load_module(void) {
	long fd = open_file(kModule, O_RDONLY);
	long error;

	if (fd < 0) {
		report_failure("cannot open", fd);
		return;
	}
	error = CALL(finit_module, fd, parameters, 0, 0, 0);
	if (error < 0 && error != -EEXIST)
		report_failure("cannot load", error);
}

static void become_init(char** argv, char** envp) {
	for (size_t i = 0; i < sizeof(kInits) / sizeof(kInits[0]); i++) {
		argv[0] = (char*)kInits[i];
		CALL(execve, kInits[i], argv, envp, 0, 0);
	}
}

__attribute__((used, noreturn)) void shim_main(long* stack) {
	long argc = stack[0];
	char** argv = (char**)(stack + 1);
	char** envp = argv + argc + 1;

	read_command_line();
	collect_parameters(read_parameters());
	if (crash_kernel)
		complain("<6>dfr: a crash kernel is not traced\n");
	else
		load_module();
	become_init(argv, envp);
	complain(
	    "<0>dfr: there is no init to become: tried /init, /sbin/init, /etc/init, /bin/init, /bin/sh\n");
	for (;;)
		CALL(exit_group, 1, 0, 0, 0, 0);
}
