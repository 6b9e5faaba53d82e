// SPDX-License-Identifier: GPL-2.0
/*
 * The program that loads /dfr.ko at boot. It is called in three ways, and the call that comes first loads:
 *
 * - As the kernel's helper, while drivers still initialize. The archive has /sbin/modprobe as a symbolic
 *   link to this file, and the kernel executes that when it wants a module for the first time. The helper
 *   lets the link lead to the real modprobe, loads dfr.ko, and becomes the real modprobe with the arguments
 *   that it got: whoever wants a module gets what he gets without us.
 * - As the first process, with rdinit=/dfr-init (or init=) on the kernel's command line. It becomes the real
 *   init with the arguments and the environment that the kernel gave it.
 * - By a script or a generator of the initrd's own /init, where a hook has put this into that initrd (initrd.h). It
 *   ends then.
 *
 * If something fails, it writes that to the kernel's log and goes on, so that it never stops the boot. A child
 * loads, and nobody waits for it longer than kPatience: not who wants the module, which is the kernel's own
 * initialization, and not the first process, which waits as long for a load that the helper has begun. After
 * the load the first process makes no system call but the execve of the real init, so that with a boot
 * program this is the first one that begins in it.
 *
 * Where modules must be signed, the kernel has its keys only after its first request for a module. A helper whose
 * module is not trusted leaves it to the first process, or to that script, to try again.
 *
 * The module gets the parameters in /dfr.parameters, which name the boot program, and after them those on the
 * kernel's command line: dfr.x=y gets to a module by modprobe, not by the kernel, so /proc/cmdline is read
 * before. In front of them stands async_probe: without it a load ends by waiting for all drivers that still
 * look for their devices, and one of these may be waiting for this modprobe.
 *
 * A kernel that runs to save the memory of another one that died (elfcorehdr=) loads nothing: its few
 * megabytes are for that. Nor does one whose command line has a word of kOff: that is how to boot without us
 * where nobody counts boots that fail.
 *
 * The program is static, without a C library or its start-up code, and has a few kilobytes. It runs with
 * nothing mounted and perhaps nothing in /dev.
 */
#include <asm/unistd.h>
#include <stddef.h>

#define AT_FDCWD -100
#define EPERM 1
#define ENOENT 2
#define ENOEXEC 8
#define ENOMEM 12
#define EEXIST 17
#define EBADMSG 74
#define ENOKEY 126
#define EKEYREJECTED 129
#define O_RDONLY 0
#define O_WRONLY 1
#define O_CREAT 0100
#define O_EXCL 0200
#define O_CLOEXEC 02000000
#define X_OK 1
#define AT_REMOVEDIR 0x200
#define SIGCHLD 17
#define POLLIN 1
#define S_IFCHR 0020000
#define KMSG_DEVICE ((1 << 8) | 11)

static const char kModule[] = "/dfr.ko";
static const char kParameters[] = "/dfr.parameters";
static const char kSelf[] = "/dfr-init";
static const char kHelper[] = "/usr/sbin/modprobe"; /* the archive's; /sbin leads there */
static const char kNewHelper[] = "/usr/sbin/.dfr-modprobe";
static const char kTurn[] = "/.dfr-turn"; /* made by who loads, if there is a helper */
static const char kDone[] = "/.dfr-done"; /* and this when the helper has loaded, or has given up */
/* And this when a script has: a generator of systemd can write here, whose root may be read-only for it. */
static const char kScriptDone[] = "/run/.dfr-done";
static const char kProc[] = "/.dfr-proc"; /* not /proc: the real init may mount that while the helper reads */
enum { kPatience = 10 };                  /* seconds */
static const char kAsync[] = "async_probe ";
static const char kPrefix[] = "dfr.";
static const char kCrashKernel[] = "elfcorehdr=";
/* Ours is the first, and may have a value. */
static const char* const kOff[] = {"dfr.off", "single", "recovery", "rescue", "emergency"};
/* Who answers to the name modprobe in an initramfs: kmod, else busybox. */
static const char* const kModprobes[] = {"/bin/kmod",      "/usr/bin/kmod", "/sbin/kmod",
                                         "/usr/sbin/kmod", "/bin/busybox",  "/usr/bin/busybox"};
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
static char parameters[4096 + sizeof(command_line)]; /* kAsync, of the file, and of the command line */
static int crash_kernel;
static const char* off; /* the word of kOff that is on the command line */

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

static int ends_with(const char* text, const char* end) {
	size_t n = length(text), m = length(end);

	return n >= m && starts_with(text + n - m, end);
}

static char* append(char* to, const char* text) {
	while (*text)
		*to++ = *text++;
	*to = 0;
	return to;
}

/* At most `most` bytes of a text of others, as far as they can be printed. */
static char* append_shown(char* to, const char* text, size_t most) {
	for (; *text && most > 0; text++, most--)
		*to++ = *text > ' ' && *text < 127 ? *text : '?';
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

static int exists(const char* path) {
	return CALL(faccessat, AT_FDCWD, path, 0, 0, 0) == 0;
}

/* The command line, and whether another kernel's memory is there to be saved. 0: there is no proc at `proc`. */
static int read_proc(const char* proc) {
	char path[32];
	char* end = append(path, proc);
	long fd, n;

	append(end, "/cmdline");
	fd = open_file(path, O_RDONLY);
	if (fd < 0)
		return 0;
	n = CALL(read, fd, command_line, sizeof(command_line) - 1, 0, 0);
	command_line[n > 0 ? n : 0] = 0;
	CALL(close, fd, 0, 0, 0, 0);
	append(end, "/vmcore");
	crash_kernel |= exists(path);
	return n > 0;
}

/* 0: it cannot be read. On a root that cannot be written the first process mounts /proc itself for a moment. */
static int read_command_line(void) {
	const char* place = kProc;
	long made;
	int done = read_proc("/proc");

	if (done)
		return 1;
	made = CALL(mkdirat, AT_FDCWD, kProc, 0555, 0, 0);
	if (made < 0 && made != -EEXIST)
		place = "/proc";
	if (CALL(mount, "proc", place, "proc", 0, 0) == 0) {
		done = read_proc(place);
		CALL(umount2, place, 0, 0, 0, 0);
	}
	CALL(unlinkat, AT_FDCWD, kProc, AT_REMOVEDIR, 0, 0);
	return done;
}

/* Ours, those of the file /dfr.parameters, and where the next one goes. */
static char* read_parameters(void) {
	char* to = append(parameters, kAsync);
	long fd = open_file(kParameters, O_RDONLY);
	long n;

	if (fd < 0)
		return to;
	n = CALL(read, fd, to, sizeof(parameters) - sizeof(command_line) - sizeof(kAsync), 0, 0);
	CALL(close, fd, 0, 0, 0, 0);
	return append(to + (n > 0 ? n : 0), " ");
}

/* Does the kernel read it as no (kstrtobool())? */
static int is_no(const char* value) {
	const char first = value[0] | 0x20, second = value[1] | 0x20;

	return value[0] == '0' || first == 'n' || first == 'f' || (first == 'o' && second == 'f');
}

/* The word of kOff that `from` begins with, if it is a whole one; ours with any value but those that the kernel reads as no. */
static const char* word_off(const char* from) {
	for (size_t i = 0; i < sizeof(kOff) / sizeof(kOff[0]); i++) {
		const char* end = from + length(kOff[i]);

		if (!starts_with(from, kOff[i]))
			continue;
		if ((unsigned char)*end <= ' ' || (i == 0 && *end == '=' && !is_no(end + 1)))
			return kOff[i];
	}
	return 0;
}

/*
 * Copies to `to` what follows "dfr." in each word of the command line that begins so,
 * separated by spaces. That is never longer than the line. Quotes are kept, because the
 * kernel's parser of module parameters understands them. Sets crash_kernel and off.
 */
static void collect_parameters(char* to) {
	const char* from = command_line;

	while (*from) {
		const char* word = word_off(from);
		int quoted = 0, ours = !word && starts_with(from, kPrefix);

		off = word ? word : off;
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
	case ENOKEY:
	case EKEYREJECTED: return " (this kernel does not trust its signature)";
	case EPERM: return " (this kernel is locked down and does not trust its signature)";
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

/* Not trusted now, but perhaps when the kernel has all of its keys. */
static int may_be_trusted_later(long error) {
	return error == -EPERM || error == -ENOKEY || error == -EKEYREJECTED;
}

/* `last`: nobody tries after this. True: somebody may. */
static char load_module(int last) {
	long fd = open_file(kModule, O_RDONLY);
	long error;

	if (fd < 0) {
		report_failure("cannot open", fd);
		return 0;
	}
	error = CALL(finit_module, fd, parameters, 0, 0, 0);
	if (error < 0 && error != -EEXIST) {
		if (!last && may_be_trusted_later(error))
			return 1;
		report_failure("cannot load", error);
	}
	return 0;
}

/*
 * Waits for a child that loads, as long as kPatience; one that takes longer is left to itself. What it has to
 * say comes through a pipe, and its end is the pipe's: the first process then makes no further call for it.
 */
static char load_in_child(int last, int first_process) {
	const long patience[] = {kPatience, 0};
	struct {
		int fd;
		short events, came;
	} wait = {.events = POLLIN};
	int pipe[2];
	char again = 0;
	long child, error;

	error = CALL(pipe2, pipe, O_CLOEXEC, 0, 0, 0);
	child = error < 0 ? error : CALL(clone, SIGCHLD, 0, 0, 0, 0);
	if (child < 0) {
		report_failure("no process can be started to load", child);
		return 0;
	}
	if (child == 0) {
		again = load_module(last);
		if (again)
			CALL(write, pipe[1], &again, 1, 0, 0);
		for (;;)
			CALL(exit_group, 0, 0, 0, 0, 0);
	}
	CALL(close, pipe[1], 0, 0, 0, 0);
	wait.fd = pipe[0];
	if (CALL(ppoll, &wait, 1, patience, 0, 0) == 0)
		complain("<4>dfr: /dfr.ko is not loaded after 10 s; the boot goes on\n");
	else if (!first_process) {
		CALL(read, pipe[0], &again, 1, 0, 0);
		CALL(wait4, child, 0, 0, 0, 0); /* the first process's is the real init's to wait for */
	}
	return again;
}

static const char* real_modprobe(void) {
	for (size_t i = 0; i < sizeof(kModprobes) / sizeof(kModprobes[0]); i++)
		if (CALL(faccessat, AT_FDCWD, kModprobes[i], X_OK, 0, 0) == 0)
			return kModprobes[i];
	return 0;
}

/*
 * Is the kernel's helper this program? Not where the archive has no such link, nor when it was put back. An archive's
 * link leads to /dfr-init, one in the machine's own initrd to ../../dfr-init (initrd.h).
 */
static int is_helper(void) {
	char target[32];
	long n = CALL(readlinkat, AT_FDCWD, kHelper, target, sizeof(target), 0);

	if (n < 0 || n == (long)sizeof(target))
		return 0;
	target[n] = 0;
	return ends_with(target, kSelf);
}

/* By a rename, because others may want modules at this moment; they may do the same. */
static void put_modprobe_back(void) {
	const char* real = real_modprobe();

	if (real) {
		CALL(symlinkat, real, AT_FDCWD, kNewHelper, 0, 0);
		CALL(renameat, AT_FDCWD, kNewHelper, AT_FDCWD, kHelper, 0);
	}
	if (is_helper())
		complain(real ? "<3>dfr: /usr/sbin/modprobe could not be put back; it leads to modprobe all "
		                "the same\n"
		              : "<3>dfr: there is no kmod and no busybox to be modprobe: modules cannot be "
		                "loaded\n");
}

static long make(const char* path, int flags) {
	long fd = open_file(path, O_WRONLY | O_CREAT | flags);

	if (fd >= 0)
		CALL(close, fd, 0, 0, 0, 0);
	return fd;
}

/*
 * Does this call load? Two may come at the same moment: who makes kTurn does. Afterwards the real modprobe is
 * in its place. Where the archive brings no helper nothing is made, because with init= this is the machine's own
 * root, on which it would stay.
 */
static int takes_turn(void) {
	long turn;

	if (!is_helper()) /* it is put back after kTurn is made: so kTurn is looked for after this */
		return !exists(kTurn);
	turn = make(kTurn, O_EXCL);
	put_modprobe_back();
	return turn != -EEXIST;
}

/* Who comes after the helper waits for one that is loading, so that the trace begins before what follows all the same. */
static int takes_last_turn(void) {
	const long tenth[] = {0, 100000000};

	for (int tenths = 0; tenths < 10 * kPatience; tenths++) {
		int done = exists(kDone); /* the helper may give its turn back before that */

		if (takes_turn())
			return 1;
		if (done)
			return 0;
		CALL(nanosleep, tenth, 0, 0, 0, 0);
	}
	return 0;
}

/* Two texts as a line of the log; of the second one 56 bytes at most. */
static void tell(const char* what, const char* of) {
	char line[128];
	char* to = append(append(line, "<6>dfr: "), what);

	to = append_shown(to, of, 56);
	append(to, "\n");
	complain(line);
}

/* Sets parameters. Is this a boot that is to be traced? */
static int is_traced(void) {
	if (!read_command_line()) {
		complain("<4>dfr: the kernel's command line cannot be read, so this may be a crash kernel: "
		         "not traced\n");
		return 0;
	}
	collect_parameters(read_parameters());
	if (crash_kernel)
		complain("<6>dfr: a crash kernel is not traced\n");
	else if (off)
		tell("not traced, because the kernel's command line has ", off);
	return !crash_kernel && !off;
}

__attribute__((noreturn)) static void help(long argc, char** argv, char** envp) {
	const char* real;

	if (takes_turn()) {
		if (is_traced()) {
			/* The kernel's arguments are modprobe -q -- MODULE. */
			tell("loading, because the kernel wants module ", argv[argc - 1]);
			if (load_in_child(0, 0)) {
				complain("<6>dfr: this kernel does not trust /dfr.ko yet: the load is tried "
				         "again later\n");
				CALL(unlinkat, AT_FDCWD, kTurn, 0, 0, 0);
			}
		}
		make(kDone, 0);
	}
	real = real_modprobe();
	if (real)
		CALL(execve, real, argv, envp, 0, 0);
	for (;;)
		CALL(exit_group, 1, 0, 0, 0, 0);
}

static void become_init(char** argv, char** envp) {
	for (size_t i = 0; i < sizeof(kInits) / sizeof(kInits[0]); i++) {
		argv[0] = (char*)kInits[i];
		CALL(execve, kInits[i], argv, envp, 0, 0);
	}
}

/*
 * Called by the initrd's /init, which goes on when this ends. systemd calls its generators again whenever it reads its
 * units anew, so what comes after the first call finds that it has loaded, or has given up.
 */
__attribute__((noreturn)) static void serve_script(void) {
	if (!exists(kScriptDone) && takes_last_turn() && is_traced()) {
		complain("<6>dfr: loading by a script of the initrd\n");
		load_in_child(1, 0);
	}
	make(kScriptDone, 0);
	for (;;)
		CALL(exit_group, 0, 0, 0, 0, 0);
}

__attribute__((used, noreturn)) void shim_main(long* stack) {
	long argc = stack[0];
	char** argv = (char**)(stack + 1);
	char** envp = argv + argc + 1;
	int unused;

	if (argc > 0 && ends_with(argv[0], "modprobe"))
		help(argc, argv, envp);
	if (CALL(getpid, 0, 0, 0, 0, 0) != 1)
		serve_script();
	unused = is_helper();
	if (takes_last_turn() && is_traced()) {
		complain(unused ? "<6>dfr: loading as the first process: the kernel wanted no module before\n"
		                : "<6>dfr: loading as the first process\n");
		load_in_child(1, 1);
	}
	become_init(argv, envp);
	complain(
	    "<0>dfr: there is no init to become: tried /init, /sbin/init, /etc/init, /bin/init, /bin/sh\n");
	for (;;)
		CALL(exit_group, 1, 0, 0, 0, 0);
}
