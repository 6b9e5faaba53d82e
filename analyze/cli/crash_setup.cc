// SPDX-License-Identifier: GPL-2.0
//
// dfr crash enable, disable, doctor, store: recordings that are stored by the kernel that runs after a panic. Debian's
// kdump-tools load that kernel and start kdump-tools-dump.service in it, which writes the whole memory; our unit runs
// before it, because it takes some seconds for each 10 GB of memory and may be all that there is room for.
#include "analyze/cli/crash_setup.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "analyze/cli/child.h"
#include "analyze/cli/crash_test.h"
#include "analyze/cli/dfr.h"
#include "analyze/cli/findings.h"
#include "analyze/cli/image.h"
#include "bootloader-hooks/boot/archive.h"
#include "bootloader-hooks/boot/atomic_file.h"
#include "formats/amounts.h"
#include "formats/error.h"
#include "formats/trace/parts.h"
#include "recorder/device.h"
#include "recorder/retention.h"
#include "recorder/state_overview.h"

namespace dfr::cli {
namespace {

constexpr const char* kUnit = "dfr-crash.service";
constexpr const char* kDumpUnit = "kdump-tools-dump.service";
constexpr const char* kLink = "/etc/systemd/system/kdump-tools-dump.service.wants/dfr-crash.service";

constexpr size_t kKeep = 10; // crashes; the oldest go

enum class UnitFile { absent, masked, there };

UnitFile look_at_unit(const std::string& name) {
	for (const char* const folder :
	     {"/etc/systemd/system/", "/run/systemd/system/", "/lib/systemd/system/"}) {
		std::error_code error;
		const auto target = std::filesystem::read_symlink(folder + name, error);
		if (!error && target == "/dev/null")
			return UnitFile::masked;
		if (::access((folder + name).c_str(), R_OK) == 0)
			return UnitFile::there;
	}
	return UnitFile::absent;
}

bool is_enabled() {
	std::error_code error;
	return std::filesystem::is_symlink(kLink, error);
}

uint64_t kernel_number(const char* path) {
	return std::strtoull(boot::read_text(path).value_or("0").c_str(), nullptr, 10);
}

void systemctl(const char* what) {
	const int status = run({"systemctl", "--quiet", what, kUnit});
	if (status != 0)
		throw Error(
		    std::string("systemctl ") + what + " " + kUnit +
		        (status < 0 ? " could not be run" : " failed, status " + std::to_string(status)),
		    ::geteuid() != 0 ? "sudo dfr crash " + std::string(what) : "");
}

void look_at_crash_kernel(Findings& found) {
	const UnitFile dump = look_at_unit(kDumpUnit);
	if (dump != UnitFile::there)
		found.bad("kdump",
		          dump == UnitFile::masked
		              ? std::string(kDumpUnit) + " is masked"
		              : "Debian's kdump-tools are not installed; dfr goes by no others",
		          dump == UnitFile::masked ? "systemctl unmask " + std::string(kDumpUnit)
		                                   : "apt install kdump-tools");
	const std::string settings = boot::read_text("/etc/default/kdump-tools").value_or("");
	if (("\n" + settings).find("\nUSE_KDUMP=0") != std::string::npos)
		found.bad("kdump", "USE_KDUMP=0 in /etc/default/kdump-tools: they do nothing",
		          "set it to 1, then reboot");
	const auto command = boot::read_text("/var/crash/kexec_cmd"); // by which the crash kernel was loaded
	if (command && command->find("systemd.unit=" + std::string(kDumpUnit)) == std::string::npos)
		found.bad(
		    "kdump", "the crash kernel's command line does not start " + std::string(kDumpUnit),
		    "KDUMP_CMDLINE_APPEND in /etc/default/kdump-tools, then systemctl restart kdump-tools");
	if (command && command->find(boot::kFirstProcess) != std::string::npos)
		found.bad("kdump",
		          "the crash kernel has the command line of this traced boot, and would not start",
		          "systemctl restart kdump-tools");
	if (command && command->find("reserve_mem=") != std::string::npos)
		found.bad("kdump",
		          "the crash kernel has reserve_mem= on its command line, and would give its own "
		          "memory away",
		          "systemctl restart kdump-tools");
	const uint64_t reserved = kernel_number("/sys/kernel/kexec_crash_size");
	const std::string line = boot::read_text("/proc/cmdline").value_or("");
	if (reserved)
		found.good("memory", bytes_text(reserved) + " are reserved for the crash kernel");
	else
		found.bad("memory",
		          line.find("crashkernel=") == std::string::npos
		              ? "this kernel was started without crashkernel="
		              : "this kernel could not reserve what crashkernel= asks for: dmesg | grep "
		                "crashkernel",
		          "kdump-tools put crashkernel=384M-:128M into /etc/default/grub.d/kdump-tools.cfg: "
		          "update-grub, "
		          "then reboot");
	if (kernel_number("/sys/kernel/kexec_crash_loaded"))
		found.good("kernel", "a crash kernel is loaded");
	else
		found.bad("kernel", "no crash kernel is loaded",
		          "systemctl restart kdump-tools; journalctl -u kdump-tools says why");
}

void look_at_room(Findings& found, uint64_t rings) {
	std::string folder = kCrashFolder;
	while (folder != "/" && ::access(folder.c_str(), F_OK) != 0)
		folder = std::filesystem::path(folder).parent_path();
	const auto free = recorder::free_space(folder);
	if (!free)
		return found.note("room", "how much the disk of " + folder + " has left is not known");
	const std::string is = folder + " has " + bytes_text(*free) + " left";
	switch (ring_room(*free, rings)) {
	case RingRoom::enough: return found.good("room", is + " for rings of " + bytes_text(rings));
	case RingRoom::if_packed:
		return found.note("room", is + ", of which recordings take " +
		                              bytes_text(room_for_recordings(*free)) +
		                              " at most, and the rings have " + bytes_text(rings) +
		                              ": they come there if they are packed into that");
	case RingRoom::none:
		return found.bad("room", is + ", and the rings have " + bytes_text(rings), "make room there");
	}
}

// The bytes of all rings.
uint64_t look_at_states(Findings& found) {
	const auto access = recorder::device_access();
	if (!access.loaded || !access.permitted) {
		found.bad("recording", access.why, access.loaded ? "sudo dfr crash doctor" : "modprobe dfr");
		return 0;
	}
	uint64_t rings = 0;
	unsigned states = 0;
	for (const recorder::StateLine& state : recorder::Device().states()) {
		if (state.name == "-" || state.activity != "active")
			continue;
		try {
			const uint64_t room = recorder::look_at_state(state.name).room;
			rings += room;
			states++;
			found.good("recording", state.name + ", " + bytes_text(room) + " of rings");
		} catch (const Error& error) { // it may have ended by now
			found.note("recording", state.name + ": " + error.what());
		}
	}
	if (!states)
		found.bad("recording", "nothing records that a crash would leave",
		          "dfrd(8): systemctl enable --now dfrd@flight, or dfr record --keep NAME");
	return rings;
}

void look_at_panics(Findings& found) {
	const std::pair<const char*, const char*> wishes[] = {
	    {"panic_on_oops", "an oops kills what ran into it and leaves no dump"},
	    {"hardlockup_panic", "a CPU that hangs with interrupts off leaves no dump"},
	    {"hung_task_panic", "tasks that hang leave no dump"}};
	for (const auto& [name, why] : wishes)
		if (boot::read_text(std::string("/proc/sys/kernel/") + name).value_or("1").starts_with("0"))
			found.note("panics",
			           std::string(why) + "; sysctl kernel." + name + "=1 makes it panic");
}

constexpr const char* kFirst = "/crash.dfr"; // the likeliest; others stand beside it

struct Crash {
	unsigned number;
	std::string folder;
};

// "0012-20261121-150233": 12; 0: a folder that somebody has called otherwise, to keep it, or made himself.
unsigned crash_number(const std::filesystem::directory_entry& folder) {
	const std::string name = folder.path().filename().string();
	const size_t dash = name.find('-');
	std::error_code error;
	unsigned number = 0;
	const auto read = std::from_chars(name.data(), name.data() + std::min(dash, name.size()), number);
	const bool ours = dash != std::string::npos && read.ec == std::errc{} && read.ptr == &name[dash] &&
	                  trace::is_time_stamp(std::string_view(name).substr(dash + 1)) &&
	                  folder.symlink_status(error).type() == std::filesystem::file_type::directory;
	return ours && number < UINT32_MAX ? number : 0;
}

// What is stored: a folder for each crash, by number.
std::vector<Crash> crashes(const std::string& folder = kCrashFolder) {
	std::vector<Crash> found;
	std::error_code error;
	const std::filesystem::directory_iterator end;
	for (std::filesystem::directory_iterator at(folder, error); !error && at != end; at.increment(error))
		if (const unsigned number = crash_number(*at))
			found.push_back({number, at->path().string()});
	if (error && error != std::errc::no_such_file_or_directory)
		throw Error("cannot read " + folder + ": " + error.message(),
		            ::geteuid() != 0 ? "sudo dfr crash report" : "");
	std::ranges::sort(found, {}, &Crash::number);
	return found;
}

// For one more, before it is written, because the disk may be full. If that one cannot be stored, nine are left. What a
// store has left that was killed pushes no crash out.
void make_room(std::vector<Crash> before) {
	std::error_code error;
	std::erase_if(before, [&error](const Crash& crash) {
		const bool was_empty = std::filesystem::remove(crash.folder, error);
		if (was_empty)
			std::printf("%s was removed: nothing is in it\n", shown(crash.folder));
		return was_empty;
	});
	for (size_t i = 0; i + kKeep <= before.size(); i++) {
		std::filesystem::remove_all(before[i].folder, error);
		if (error)
			print_error("cannot remove " + before[i].folder + ": " + error.message(), "");
		else
			std::printf("%s was removed: %zu crashes are kept\n", shown(before[i].folder), kKeep);
	}
}

} // namespace

int crash_enable() {
	if (look_at_unit(kUnit) != UnitFile::there)
		throw Error(std::string(kUnit) + " is not installed",
		            "install dfr's package: packaging/README.md");
	if (look_at_unit(kDumpUnit) != UnitFile::there)
		throw Error("kdump-tools are not installed, so no kernel would run after a panic",
		            "apt install kdump-tools, then reboot, then this again");
	systemctl("enable");
	std::printf(
	    "enabled: after a panic the crash kernel stores what was recorded in %s, before the full dump\n",
	    kCrashFolder);
	std::printf("dfr crash doctor says whether it would work now\n");
	return 0;
}

int crash_disable() {
	const bool was = is_enabled();
	if (was)
		systemctl("disable");
	forget_crash_test();
	std::printf("%s\n", was ? "disabled" : "was not enabled");
	return 0;
}

int crash_doctor() {
	Findings found;
	look_at_crash_kernel(found);
	if (is_enabled())
		found.good("enabled",
		           "the crash kernel will store recordings in " + std::string(kCrashFolder));
	else
		found.bad("enabled", "no", "dfr crash enable");
	if (const uint64_t rings = look_at_states(found))
		look_at_room(found, rings);
	look_at_panics(found);
	if (const std::string tested = crash_test_result(); tested.empty())
		found.note("not known",
		           "whether the crash kernel has the driver of that disk, and whether "
		           "firmware clears reserved memory, until a test has shown it: dfr crash test");
	else if (tested.find("WRONG") != std::string::npos)
		found.bad("tested", tested, "dfr crash test --panic tries it again");
	else
		found.good("tested", tested);
	return found.wrong ? kStatusError : 0;
}

int crash_store(const std::string& memory, const std::string& folder) {
	if (::access(memory.c_str(), F_OK) != 0)
		throw Error(
		    "there is no " + memory,
		    memory == "/proc/vmcore"
		        ? "only a kernel that runs after a panic has it; dfr harvest IMAGE takes other images"
		        : "");
	::umask(077);
	std::error_code error;
	std::filesystem::create_directories(folder, error);
	if (error)
		throw Error("cannot make " + folder + ": " + error.message());
	const std::vector<Crash> before = crashes(folder);
	make_room(before);
	// By numbers, because the clock of a machine that has none of its own begins anew.
	char number[32];
	std::snprintf(number, sizeof number, "%04u-", before.empty() ? 1U : before.back().number + 1);
	const std::string crash = folder + "/" + number + trace::time_stamp();
	if (!std::filesystem::create_directory(crash, error))
		throw Error("cannot make " + crash + ": " + error.message());
	std::vector<std::string> words{"harvest", "--speculations", "--panicked", memory,
	                               "-o",      crash + kFirst};
	if (const auto left = recorder::free_space(crash)) {
		words.emplace_back("--room");
		words.push_back(std::to_string(room_for_recordings(*left)));
	}
	std::vector<char*> argv;
	for (std::string& word : words)
		argv.push_back(word.data());
	argv.push_back(nullptr);
	int status = kStatusError;
	try {
		status = run_harvest(static_cast<int>(words.size()), argv.data());
	} catch (...) {
		std::filesystem::remove(crash, error); // if nothing stands in it
		throw;
	}
	::sync(); // kdump-tools restart the machine
	if (trace::recordings_in(crash).empty()) {
		std::filesystem::remove(crash, error);
		return kStatusError;
	}
	rusage used{};
	::getrusage(RUSAGE_SELF, &used);
	std::printf("%s (with at most %s of memory)\n", shown(crash),
	            shown(bytes_text(static_cast<uint64_t>(used.ru_maxrss) << 10)));
	return status;
}

std::vector<std::string> stored_recordings() {
	std::vector<std::string> all;
	for (const Crash& crash : crashes())
		for (const std::string& path : trace::recordings_in(crash.folder))
			all.push_back(path);
	return all;
}

std::string no_crash_kernel() {
	if (!is_enabled())
		return "it is not enabled (dfr crash enable)";
	return kernel_number("/sys/kernel/kexec_crash_loaded") ? "" : "no crash kernel is loaded";
}

std::string last_crash() {
	std::vector<Crash> found = crashes();
	for (; !found.empty(); found.pop_back()) {
		const std::string& folder = found.back().folder;
		std::vector<std::string> files = trace::recordings_in(folder);
		std::erase_if(files, is_beside);
		if (files.empty())
			continue; // the crash kernel ended before one was written
		if (files.size() > 1)
			std::fprintf(stderr, "dfr: this is the likeliest of %zu recordings in %s\n",
			             files.size(), shown(folder));
		const bool first = std::ranges::find(files, folder + kFirst) != files.end();
		return first ? folder + kFirst : files.front();
	}
	throw Error(
	    std::string("no crash is stored in ") + kCrashFolder,
	    "name a memory image or a recording; dfr crash doctor says whether a crash would be stored");
}

} // namespace dfr::cli
