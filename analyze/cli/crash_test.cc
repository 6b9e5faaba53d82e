// SPDX-License-Identifier: GPL-2.0
//
// See crash_test.h. Calls with numbers are recorded in a state for each tier that there is, and the kernel panics. A tier
// has survived if its recording is whole and has as many records as there were calls.
#include "analyze/cli/crash_test.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <sched.h>
#include <sstream>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>
#include <vector>

#include "analyze/cli/arguments.h"
#include "analyze/cli/child.h"
#include "analyze/cli/crash_setup.h"
#include "analyze/cli/dfr.h"
#include "analyze/cli/file.h"
#include "analyze/cli/findings.h"
#include "analyze/cli/image.h"
#include "analyze/cli/signals.h"
#include "bootloader-hooks/boot/archive.h"
#include "bootloader-hooks/boot/atomic_file.h"
#include "bootloader-hooks/boot/kernel_files.h"
#include "formats/abi/reserved.h"
#include "formats/amounts.h"
#include "formats/dof/image.h"
#include "formats/error.h"
#include "formats/trace/file.h"
#include "recorder/device.h"
#include "recorder/device_session.h"
#include "recorder/device_target.h"

namespace dfr::cli {
namespace {

constexpr const char* kPlan = "/var/lib/dfr/crash/test";
constexpr unsigned kCalls = 2000; // on each CPU
constexpr const char* kCrashKernel = "kdump";
constexpr const char* kReserved = "reserved";
constexpr const char* kMemory = "memory"; // of the virtual machine

std::string state_of(const std::string& tier) {
	return "crash-test-" + tier;
}

// --- the plan, which outlives the panic -----------------------------------------------------

struct Tier {
	std::string name, result; // result: empty until it was looked for
};

struct Plan {
	std::string boot;
	uint64_t records = 0; // in each tier's recording
	std::vector<Tier> tiers;

	std::string text() const {
		std::string out = "boot=" + boot + "\nrecords=" + std::to_string(records) + "\n";
		for (const Tier& tier : tiers)
			out += tier.name + "=" + tier.result + "\n";
		return out;
	}
};

std::optional<Plan> read_plan() {
	const auto text = boot::read_text(kPlan);
	if (!text)
		return std::nullopt;
	Plan plan;
	std::istringstream stream(*text);
	for (std::string line; std::getline(stream, line);) {
		const size_t equals = line.find('=');
		if (equals == std::string::npos)
			continue;
		const std::string key = line.substr(0, equals), value = line.substr(equals + 1);
		if (key == "boot")
			plan.boot = value;
		else if (key == "records")
			plan.records = std::strtoull(value.c_str(), nullptr, 10);
		else
			plan.tiers.push_back({key, value});
	}
	return plan;
}

std::string this_boot() {
	std::string id = boot::read_text("/proc/sys/kernel/random/boot_id").value_or("");
	std::erase(id, '\n');
	return id;
}

// --- before the panic --------------------------------------------------------------------

// Throws dfr::Error: this tier cannot have a state.
void start_state(const std::string& tier) {
	lib::ProgramPart part;
	part.name = "crash-test";
	part.text = "syscall::getpgid:entry /pid == " + std::to_string(::getpid()) + "/ { capture(arg0); }";
	std::vector<lib::ProgramPart> parts{part};
	d::CompileOptions options;
	options.options = {"bufpolicy=ring", "bufsize=256k", "cpubudget=100"};
	if (tier == kReserved)
		options.options.emplace_back("memory=reserved");
	recorder::DeviceSession session;
	recorder::DeviceTarget target(session.device());
	const std::vector<uint8_t> dof = dof::write(compile_or_throw(parts, options, target).image);
	session.enable(std::as_bytes(std::span(dof)), true);
	session.go();
	session.keep(state_of(tier));
}

// On each CPU in turn. Returns how many.
uint64_t make_calls() {
	uint64_t made = 0;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		cpu_set_t one;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (::sched_setaffinity(0, sizeof one, &one) != 0)
			continue; // there is no such CPU
		for (unsigned i = 0; i < kCalls; i++)
			::syscall(SYS_getpgid, static_cast<pid_t>(++made));
	}
	return made;
}

[[noreturn]] void panic_now() {
	const int file = ::open("/proc/sysrq-trigger", O_WRONLY | O_CLOEXEC);
	if (file < 0 || ::write(file, "c", 1) != 1)
		throw Error::from_errno("cannot write to /proc/sysrq-trigger", "run this as root");
	throw Error("the kernel did not panic", "its log may say why: dmesg");
}

// --- after it ----------------------------------------------------------------------------

std::string result(const trace::Verdict& verdict, uint64_t records, bool panicked) {
	std::string why = verdict.complete ? "" : ", and the recording is partial";
	for (const std::string& reason : verdict.reasons)
		why += (&reason == &verdict.reasons.front() ? ": " : "; ") + reason;
	return (verdict.complete && verdict.records == records && panicked ? "ok: " : "WRONG: ") +
	       trace::grouped(verdict.records) + " of " + trace::grouped(records) + " records" + why +
	       (panicked ? "" : ", and nothing of a panic: the machine may have been restarted otherwise");
}

bool is_of(const trace::Catalog& catalog, const std::string& tier) {
	return catalog.state_name == state_of(tier);
}

// In the memory of a kernel that died. Throws dfr::Error: it cannot be read.
std::string look_into(const std::string& image, const std::string& tier, const Plan& plan) {
	for (const auto& source : open_image(image, {}))
		if (is_of(source->catalog(), tier) && (plan.boot.empty() || source->boot() == plan.boot))
			return result(trace::judge_whole(*source), plan.records, source->panic().has_value());
	return "WRONG: the recording is not in it";
}

std::string look_for(const std::string& tier, const Plan& plan) {
	if (tier == kReserved) {
		if (!recorder::device_access().loaded)
			throw Error("the module is not loaded, which reads reserved memory", "modprobe dfr");
		return ::access(DFR_RESERVED_DEVICE, F_OK) == 0
		           ? look_into(DFR_RESERVED_DEVICE, tier, plan)
		           : "WRONG: reserved memory has nothing of the boot before this one";
	}
	for (const std::string& path : stored_recordings()) {
		try {
			const auto file = trace::open_file(path);
			const trace::Catalog& catalog = file->catalog();
			if (is_of(catalog, tier) && recorder::boot_text(catalog.boot_id) == plan.boot)
				return result(trace::judge_whole(*file), plan.records,
				              catalog.machine.contains("panic")) +
				       ", in " + path;
		} catch (const Error& error) { // of another crash, perhaps
			print_error(error.what(), error.hint());
		}
	}
	return std::string("WRONG: it is not in ") + kCrashFolder;
}

// Reserved memory first, because only this boot has it.
void look_for_all(Plan& plan) {
	std::ranges::sort(plan.tiers, std::ranges::greater(), &Tier::name);
	for (Tier& tier : plan.tiers)
		if (tier.result.empty()) {
			tier.result = look_for(tier.name, plan);
			boot::write_atomically(kPlan, plan.text(), 0600);
		}
}

int print(const Plan& plan) {
	bool wrong = false;
	for (const Tier& tier : plan.tiers) {
		say(tier.name.c_str(), tier.result);
		wrong = wrong || !tier.result.starts_with("ok: ");
	}
	return wrong ? kStatusError : 0;
}

// --- here --------------------------------------------------------------------------------

void end_states() {
	for (const recorder::StateLine& state : recorder::Device().states())
		if (state.name.starts_with(state_of("")))
			run({"/proc/self/exe", "stop", state.name});
}

// The tiers that there are, each with a state that records. What is said of the others is why not.
std::vector<Tier> start_tiers() {
	std::vector<Tier> tiers;
	const auto given = boot::read_text("/sys/module/dfr/parameters/reserved").value_or("");
	const std::string no_reserved = given.empty() || given.starts_with("(null)")
	                                    ? "the module was loaded without reserved= (dfr(1), memory)"
	                                    : "";
	for (const auto& [tier, why] :
	     {std::pair(kCrashKernel, no_crash_kernel()), {kReserved, no_reserved}}) {
		std::string reason = why;
		try {
			if (reason.empty())
				start_state(tier);
		} catch (const Error& error) {
			reason = error.what();
		}
		if (reason.empty())
			tiers.push_back({.name = tier, .result = {}});
		else
			say(tier, "not tried: " + reason);
	}
	return tiers;
}

std::string host_name() {
	char name[256] = {};
	::gethostname(name, sizeof name - 1);
	return name;
}

[[noreturn]] void panic_here(const std::string& host) {
	if (host != host_name())
		throw Error("this machine is " + host_name() + ", not " + host, "nothing was done");
	if (::geteuid() != 0)
		throw Error("only root may let the machine panic", "sudo dfr crash test --panic " + host);
	catch_signals(); // it is not ended halfway
	end_states();
	try {
		Plan plan{.boot = this_boot()};
		plan.tiers = start_tiers();
		if (plan.tiers.empty())
			throw Error("nothing that is recorded here would survive a panic",
			            "dfr crash doctor");
		if (plan.tiers.front().name != kCrashKernel &&
		    boot::read_text("/proc/sys/kernel/panic").value_or("0\n") == "0\n")
			throw Error("the machine would stand still after the panic",
			            "sysctl kernel.panic=10 lets it restart after 10 s");
		plan.records = make_calls();
		std::error_code error;
		std::filesystem::create_directories(kCrashFolder, error);
		boot::write_atomically(kPlan, plan.text(), 0600);
		std::printf("%s panics now; after its restart, dfr crash test says what has come back\n",
		            shown(host));
		std::fflush(stdout);
		::sync();
		panic_now();
	} catch (...) {
		forget_crash_test();
		end_states();
		throw;
	}
}

int tell() {
	auto plan = read_plan();
	if (!plan) {
		std::printf("no test was made here\n");
		say("next", "dfr crash test --vm             in a virtual machine, which takes a minute");
		say("", "dfr crash test --panic " + host_name() +
		            "   THIS MACHINE PANICS at once: stop its services first");
		return 0;
	}
	if (plan->boot == this_boot())
		throw Error("the machine went on after the test's beginning", "dfr crash doctor");
	look_for_all(*plan);
	return print(*plan);
}

// --- in a virtual machine ------------------------------------------------------------------

class Folder {
public:
	Folder() {
		if (!::mkdtemp(path_))
			throw Error::from_errno("cannot make a folder in /var/tmp", "make room there");
	}
	~Folder() {
		std::error_code error;
		std::filesystem::remove_all(path_, error);
	}
	Folder(const Folder&) = delete;
	Folder& operator=(const Folder&) = delete;
	std::string operator/(const char* name) const { return std::string(path_) + "/" + name; }

private:
	char path_[32] = "/var/tmp/dfr-crash-test-XXXXXX";
};

int in_virtual_machine(const CrashTest& asked) {
	const std::string release = asked.release.empty() ? boot::running_release() : asked.release;
	const std::string kernel = asked.kernel.empty() ? "/boot/vmlinuz-" + release : asked.kernel;
	const std::string module = asked.module.empty() ? boot::find_module("", release) : asked.module;
	const Folder folder;
	catch_signals(); // so that the folder goes; the virtual machine ends by them
	const types::Blob unpacked = types::unpack(types::Blob::from_file(module), module);
	const std::vector<uint8_t> archive =
	    boot::pack_archive({boot::archive_file("dfr", 0755, read_file("/proc/self/exe", "dfr")),
	                        boot::archive_file(boot::kModuleFile, 0644, unpacked.bytes())});
	boot::write_atomically(folder / "initrd", archive, 0600);
	say("kernel", kernel);
	say("module", module);
	const bool kvm = !asked.emulated && ::access("/dev/kvm", R_OK | W_OK) == 0;
	say("machine", kvm ? "by KVM; --emulated does without it" : "emulated, which takes a minute or two");
	const std::string ram = "memory-backend-file,id=ram,share=on,size=512M,mem-path=" + folder / "ram";
	std::vector<std::string> command{"timeout", "--foreground",     "300", "qemu-system-x86_64",
	                                 "-accel",  kvm ? "kvm" : "tcg"};
	for (const char* const word : {"-m", "512", "-smp", "2", "-display", "none", "-monitor", "none",
	                               "-nic", "none", "-no-reboot", "-machine", "memory-backend=ram",
	                               "-append", "console=ttyS0 panic=-1 rdinit=/dfr -- crash test --guest"})
		command.emplace_back(word);
	for (const auto& [option, value] : {std::pair("-serial", "file:" + folder / "log"),
	                                    {"-object", ram},
	                                    {"-kernel", kernel},
	                                    {"-initrd", folder / "initrd"}}) {
		command.emplace_back(option);
		command.push_back(value);
	}
	const int status = run(command);
	std::string log = boot::read_text(folder / "log").value_or("");
	std::erase(log, '\r');
	const std::string mark = state_of(kMemory) + " ";
	const size_t told = log.rfind(mark);
	if (signals_caught())
		throw Error("ended before the virtual machine was", "");
	if (status < 0 || status == 127)
		throw Error("qemu-system-x86_64 cannot be run", "apt install qemu-system-x86");
	if (status != 0 || told == std::string::npos) {
		print_lines(stderr, log.substr(log.size() > 2000 ? log.size() - 2000 : 0));
		throw Error(status == 124 ? "the virtual machine did not end in 300 s"
		                          : "the virtual machine did not come to the panic",
		            "the end of its log stands above");
	}
	Plan plan{.records = std::strtoull(log.c_str() + told + mark.size(), nullptr, 10)};
	plan.tiers.push_back({.name = kMemory, .result = look_into(folder / "ram", kMemory, plan)});
	return print(plan);
}

// As the first process there.
[[noreturn]] void record_and_panic() {
	for (const auto& [type, at] : {std::pair("proc", "/proc"), {"sysfs", "/sys"}, {"devtmpfs", "/dev"}})
		if ((::mkdir(at, 0755) != 0 && errno != EEXIST) ||
		    (::mount(type, at, type, 0, nullptr) != 0 && errno != EBUSY))
			throw Error::from_errno("cannot mount " + std::string(at), "");
	const int module = ::open("/dfr.ko", O_RDONLY | O_CLOEXEC);
	if (module < 0 || ::syscall(SYS_finit_module, module, "", 0) != 0)
		throw Error::from_errno("cannot load /dfr.ko", "");
	start_state(kMemory);
	const uint64_t made = make_calls();
	std::printf("%s %llu calls\n", shown(state_of(kMemory)), static_cast<unsigned long long>(made));
	std::fflush(stdout);
	::tcdrain(STDOUT_FILENO);
	panic_now();
}

} // namespace

int crash_test(const CrashTest& asked) {
	if (asked.vm)
		return in_virtual_machine(asked);
	if (!asked.host.empty())
		panic_here(asked.host);
	return tell();
}

int crash_test_guest() {
	if (::getpid() != 1)
		throw Error("this is for the virtual machine of dfr crash test --vm", "");
	try {
		record_and_panic();
	} catch (const Error& error) { // the kernel's complaint about a first process that ends would hide it
		print_error(error.what(), error.hint());
		::tcdrain(STDERR_FILENO);
		::reboot(RB_AUTOBOOT);
		throw;
	}
}

std::string crash_test_result() {
	const auto plan = read_plan();
	std::string out;
	for (const Tier& tier : plan ? plan->tiers : std::vector<Tier>{})
		if (!tier.result.empty())
			out += (out.empty() ? "" : "; ") + tier.name + " " + tier.result;
	return out;
}

void forget_crash_test() {
	::unlink(kPlan);
}

} // namespace dfr::cli
