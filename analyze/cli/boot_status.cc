// SPDX-License-Identifier: GPL-2.0
//
// dfr boot status: what is enabled, and whether this boot was traced, or why not. dfr boot doctor: what would keep the
// next one from it.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <thread>
#include <unistd.h>

#include "analyze/cli/arguments.h"
#include "analyze/cli/boot.h"
#include "analyze/cli/child.h"
#include "analyze/cli/dfr.h"
#include "analyze/cli/file.h"
#include "analyze/cli/findings.h"
#include "analyze/libdfr/boot_log.h"
#include "bootloader-hooks/boot/atomic_file.h"
#include "bootloader-hooks/boot/grub.h"
#include "bootloader-hooks/boot/initrd.h"
#include "bootloader-hooks/boot/install.h"
#include "bootloader-hooks/boot/kernel_files.h"
#include "bootloader-hooks/boot/sha256.h"
#include "formats/abi/control.h"
#include "formats/dof/image.h"
#include "formats/error.h"
#include "formats/shown.h"
#include "recorder/device.h"

namespace dfr::cli {
namespace {

// The kernel's log as far as it has it.
lib::BootLog read_log() {
	lib::BootLog found;
	const int log = ::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	found.error = log < 0 ? errno : 0;
	char record[8192];
	ssize_t n;
	while (log >= 0 && ((n = ::read(log, record, sizeof record)) > 0 || (n < 0 && errno == EPIPE)))
		if (n > 0)
			found.add({record, static_cast<size_t>(n)});
		else
			found.lost();
	if (log >= 0)
		::close(log);
	return found;
}

constexpr const char* kUntilRenewed =
    ": that was to be armed for a newer kernel, and could not be; dfr boot renew tries again";

std::string plan_text(const boot::BootPlan& plan) {
	const std::string what = plan.name + " for kernel " + plan.release;
	const std::string then =
	    plan.then.empty() ? "" : "; dfrd@" + plan.then + " records on with its state";
	if (plan.ending())
		return what + ", which a dfr boot disable was to end that did not end itself";
	if (plan.inside)
		return plan.name + ", in each initrd that is made, every boot" + then;
	if (plan.mode == "menu")
		return what + ", in the menu only" + then;
	if (plan.mode == "once")
		return what + ", once" + then;
	return what + (plan.runs ? ", " + std::to_string(plan.runs) + " boots yet" : ", every boot") + then;
}

// `inside`: it is not the command line that asks for a trace.
void print_this_boot(bool inside) {
	const std::string line = boot::read_text("/proc/cmdline").value_or("");
	const lib::BootLog log = read_log();
	const lib::BootVerdict verdict =
	    lib::judge_boot(log, line.find(boot::kFirstProcess) != std::string::npos, inside);
	say("this boot", verdict.text);
	for (const std::string& one : log.lines)
		say("  log", one);
	if (!verdict.known)
		say("", "next: journalctl -k -b | grep dfr:");
	if (const auto access = recorder::device_access(); !access.loaded && verdict.asked)
		say("  module", access.why);
}

void print_not_stored() {
	try {
		if (anonymous_state())
			say("", "this boot's is still in the kernel's memory: dfr boot store stores it; why "
			        "that has not been done: journalctl -b -u dfr-boot-store");
	} catch (const Error&) { // who may not ask for states
	}
}

// --- the doctor ---------------------------------------------------------------------------

// Of a trace inside the initrd, in place of the boot loader. `copy`: of what is in it, where the hook has left one.
void look_at_initrd(const std::string& root, const std::string& release, const std::string& copy,
                    Findings& found) {
	found.note("loader", "not asked: the trace is in the machine's own initrds");
	found.note("counting", "nobody counts boots that fail: dfr.off on the kernel's command line, or the "
	                       "menu's recovery mode, if it has one, boots without the trace");
	const boot::InitrdBuilder* const builder = boot::initrd_builder(root);
	if (!builder) {
		found.bad("hook", "nothing is known here that makes initrds", "dfr boot disable");
		return;
	}
	for (const boot::HookFile& hook : builder->hooks) {
		const std::string path = root + hook.path;
		if (boot::read_text(path).value_or("") != hook.text || ::access(path.c_str(), X_OK) != 0)
			found.bad("hook", path + " is not what was enabled", "dfr boot enable --inside");
		else
			found.good("hook", path);
	}
	const std::string that = "that of kernel " + release, initrd = root + builder->initrd + release;
	std::error_code no_initrd, no_copy;
	const auto made = std::filesystem::last_write_time(initrd, no_initrd);
	// The hook leaves its copy before there is an initrd.
	if (made < std::filesystem::last_write_time(copy, no_copy) && !no_initrd && !no_copy)
		found.bad("initrd", that + " was made before " + copy + ", and has something else",
		          "dfr boot enable --inside --kernel " + release);
	if (!root.empty())
		return;
	switch (boot::look_into(*builder, release, run_for_kernel)) {
	case boot::InitrdState::kTraced: found.good("initrd", that + " has the trace"); return;
	case boot::InitrdState::kPlain:
		found.bad("initrd", that + " has no trace", "dfr boot enable --inside --kernel " + release);
		return;
	case boot::InitrdState::kBroken:
		found.bad("initrd", that + " has no modprobe and may not boot", "dfr boot disable");
		return;
	case boot::InitrdState::kUnknown:
		found.bad("initrd", that + " cannot be looked into",
		          "dfr boot enable --inside --kernel " + release);
	}
}

void look_at_loader(const boot::Installation& installation, const std::string& release, Findings& found) {
	std::string hint;
	if (const std::string why = installation.obstacle(release, hint); !why.empty())
		return found.bad("loader", why, hint); // and counts nothing
	found.good("loader", "GRUB, with an entry for " + release + " to go by");
	if (const std::string why = installation.cannot_count(); !why.empty())
		found.note("counting",
		           why + ": the entry is only offered in the menu, never chosen by itself");
	else
		found.good("counting", "two boots that are chosen and do not report disarm the trace");
}

// Why this kernel loads only modules whose signature it trusts; empty: it loads all.
std::string signatures_wanted(const std::string& root) {
	const auto secure = boot::read_text(
	    root + "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c");
	if (secure && secure->size() >= 5 && (*secure)[4] == 1)
		return "Secure Boot is on";
	const std::string lockdown = boot::read_text(root + "/sys/kernel/security/lockdown").value_or("");
	if (lockdown.find("[none]") == std::string::npos && !lockdown.empty())
		return "the kernel is locked down";
	return boot::read_text(root + "/sys/module/module/parameters/sig_enforce")
	               .value_or("N")
	               .starts_with("Y")
	           ? "module.sig_enforce is set"
	           : "";
}

// Who will load the module, and why nobody before. `last`: who does if nobody before has.
void look_at_loading(const std::string& root, const std::string& release, const std::string& last,
                     bool helper, Findings& found) {
	const std::string why = boot::no_helper(root, release);
	if (helper) {
		found.note("loading",
		           "at the kernel's first request for a module, while drivers still initialize");
		found.note("", "if it makes none: " + last);
		if (const std::string signs = signatures_wanted(root); !signs.empty())
			found.note("", signs + ": " + last +
			                   ", because the kernel gets the keys of modules after its first "
			                   "request");
		if (!why.empty())
			found.bad("", "modules may be out of the kernel's reach then: " + why,
			          "dfr boot build --loading first-process");
		return;
	}
	found.note("loading", last);
	found.note("", "not earlier, at the kernel's first request for a module: " +
	                   (why.empty() ? "the archive was made without that: dfr boot build" : why));
}

// Whether the next boot will be what was asked for.
void look_at_plan(const boot::Installation& installation, const std::optional<boot::BootPlan>& plan,
                  Findings& found) {
	const std::string armed = installation.variable(boot::kArmedVariable);
	if (!plan)
		found.note("enabled", "no: dfr boot enable");
	else if (plan->ending())
		found.bad("enabled", plan_text(*plan), "dfr boot disable");
	else if (!plan->inside && armed == "failed")
		found.bad("enabled",
		          "GRUB has disarmed it after two boots that were chosen and did not report",
		          "dfr boot status, then dfr boot enable");
	else if (!plan->wanted.empty())
		found.bad("enabled", plan_text(*plan) + kUntilRenewed, "dfr boot renew");
	else if (!plan->inside && armed == "spent")
		found.note("enabled", plan_text(*plan) + ": that boot has been started; dfr boot enable arms "
		                                         "it again");
	else if (!plan->inside && plan->mode != "menu" && armed.empty())
		found.bad("enabled",
		          plan_text(*plan) + ", but grubenv does not say so: it is only offered in the menu",
		          "dfr boot enable");
	else if (!plan->inside && !installation.entry_is_current(*plan))
		found.bad("enabled",
		          plan_text(*plan) +
		              ", but custom.cfg does not have what grub.cfg has for that kernel "
		              "now",
		          "dfr boot renew");
	else
		found.good("enabled", plan_text(*plan));
}

void look_at_archive(const std::string& root, const std::string& path, const std::string& release,
                     bool inside, bool& is_signed, Findings& found) {
	const std::vector<uint8_t> bytes = read_file(path, "an archive");
	const auto files = boot::unpack_archive(bytes, path);
	for (const char* const name :
	     {boot::kShimFile, boot::kModuleFile, boot::kProgramFile, boot::kParametersFile})
		if (!files.contains(name))
			throw Error(path + " lacks " + name, "dfr boot build");
	const auto& parameters = files.at(boot::kParametersFile).bytes;
	const auto origin = boot::ProgramOrigin::parse({parameters.begin(), parameters.end()}, path);
	const auto& module = files.at(boot::kModuleFile).bytes;
	const auto& program = files.at(boot::kProgramFile).bytes;
	const auto same = [](const std::string& begin, const std::vector<uint8_t>& of) {
		return !begin.empty() && boot::sha256(of).starts_with(begin);
	};
	found.good("archive", path + ", " + trace::grouped(bytes.size()) + " bytes");
	look_at_loading(root, release,
	                inside ? "by the initrd's first script"
	                       : "by the first process (rdinit=/dfr-init), before any other process",
	                files.contains(boot::kHelperLink), found);
	if (!same(origin.module, module) || !same(origin.dof, program))
		found.bad("digests", "module or program are not those that the archive was made of",
		          "dfr boot build");
	else
		found.good("digests", origin.text());
	const types::Blob blob = types::Blob::from_bytes(module);
	is_signed = boot::is_signed(blob);
	if (const std::string of = boot::module_release(blob, path); of != release)
		found.bad("module", "it is of kernel " + of + ", not of " + release,
		          "dfr boot build --kernel " + release);
	else
		found.good("module", "of kernel " + of + (is_signed ? ", signed" : ", without a signature"));
	try {
		const std::string installed = boot::find_module(root, release);
		const types::Blob now = types::unpack(types::Blob::from_file(installed), installed);
		if (!same(origin.module, {now.bytes().begin(), now.bytes().end()}))
			found.note("", "another dfr.ko is installed since: dfr boot renew takes it");
	} catch (const Error& error) {
		found.note("", error.what());
	}
	const dof::Image image = dof::read(program);
	if (!image.btf_digest)
		found.good("types", "the program uses none of the kernel's");
	else
		found.good("types", "BTF " + origin.btf + " of kernel " + origin.release);
	const uint64_t cpus = std::max(1U, std::thread::hardware_concurrency());
	const auto rings = std::ranges::find(image.options, uint32_t{DFR_OPT_BUFSIZE}, &dof::Option::option);
	found.note("memory", trace::grouped(module.size() + program.size()) +
	                         " bytes for module and program, and rings of " +
	                         (rings == image.options.end() ? "the default size"
	                                                       : trace::grouped(rings->value) + " bytes") +
	                         " for each of " + std::to_string(cpus) + " CPUs");
}

// DKMS wants the module's version, builds for the running kernel unless it is told which, and neither builds nor installs a second
// time without being forced. (Installing dfr-dkms anew builds for the running kernel and the newest alone, and takes the others' away.)
std::string build_anew(const std::string& root, const std::string& release) {
	std::error_code error;
	for (const auto& entry : std::filesystem::directory_iterator(root + "/usr/src", error)) {
		const std::string folder = entry.path().filename().string();
		if (!folder.starts_with("dfr-") || ::access((entry.path() / "dkms.conf").c_str(), R_OK) != 0)
			continue;
		const std::string what = " --force dfr/" + folder.substr(4) + " -k " + release;
		return "dkms build" + what + " && dkms install" + what;
	}
	return "install dfr-dkms and linux-headers-" + release;
}

// `is_signed`: the archive's module, as far as that is known.
void look_at_signing(const std::string& root, const std::string& release, bool is_signed, Findings& found) {
	const std::string why = signatures_wanted(root);
	if (why.empty()) {
		if (root.empty())
			found.good("signing", "this kernel loads modules whoever signed them");
		return;
	}
	if (!is_signed)
		found.bad("signing", why + ", and the archive's module has no signature: it will be refused",
		          build_anew(root, release) + ", then dfr boot renew");
	if (::access((root + "/var/lib/dkms/mok.pub").c_str(), R_OK) == 0)
		found.note("signing",
		           why + ": the key that DKMS signs with must be enrolled: mokutil --test-key "
		                 "/var/lib/dkms/mok.pub, "
		                 "and if it is not: mokutil --import /var/lib/dkms/mok.pub, then reboot");
	else
		found.bad(
		    "signing", why + ", and there is no key that modules are signed with",
		    "dkms generate_mok, then " + build_anew(root, release) +
		        ", then mokutil --import /var/lib/dkms/mok.pub, then dfr boot renew, then reboot");
}

} // namespace

int run_boot_status(int argc, char** argv) {
	std::string root;
	const auto app =
	    make_app("boot status", "What is enabled, and whether this boot was traced, or why not.",
	             "  dfr boot status\n");
	add_root(*app, root, "a machine that is not running");
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	const boot::Installation installation(root);
	const auto plan = installation.plan();
	say("enabled", plan ? plan_text(*plan) + (plan->wanted.empty() ? "" : kUntilRenewed) : "no");
	const std::string armed = installation.variable(boot::kArmedVariable);
	const std::string tries = installation.variable(boot::kTriesVariable);
	if (armed == "failed")
		say("", "disarmed by GRUB: two boots with the trace were chosen and did not report that user "
		        "space was reached; dfr boot enable arms it again");
	else if (armed == "spent")
		say("", "its one boot has been started; the next one is as before");
	if (!tries.empty())
		say("", tries +
		            " boot(s) with the trace were chosen since one reported; after the second GRUB "
		            "disarms it");
	if (root.empty())
		print_this_boot(plan && plan->inside);
	const auto files = installation.recordings();
	say("stored", files.empty() ? "no recordings of boots"
	                            : std::to_string(files.size()) + ", the last: " + files.back());
	if (root.empty())
		print_not_stored();
	return 0;
}

int run_boot_doctor(int argc, char** argv) {
	std::string root, release, name;
	const auto app = make_app(
	    "boot doctor",
	    "Look for what would keep the next boot from being traced: boot loader, archive, digests,\n"
	    "signatures, memory. The exit status is 1 if something is wrong.",
	    "  dfr boot doctor\n");
	app->add_option("--name", name, "the boot program (default: what is enabled)");
	app->add_option("--kernel", release,
	                "release of the kernel (default: what is enabled, or the running one)");
	add_root(*app, root, "a machine that is not running");
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	const boot::Installation installation(root);
	const auto plan = installation.plan();
	if (name.empty())
		name = plan ? plan->name : kDefaultBootProgram;
	if (release.empty())
		release = plan ? plan->release : boot::running_release();
	Findings found;
	const bool inside = plan && plan->inside;
	const std::string path = installation.archive(name, release);
	if (inside)
		look_at_initrd(root, release, path, found);
	else
		look_at_loader(installation, release, found);
	bool is_signed = true; // else: no module is there
	try {
		look_at_archive(root, path, release, inside, is_signed, found);
	} catch (const Error& error) {
		found.bad("archive", error.what(), "dfr boot build --name " + name + " --kernel " + release);
	}
	look_at_signing(root, release, is_signed, found);
	look_at_plan(installation, plan, found);
	return found.wrong ? kStatusError : 0;
}

} // namespace dfr::cli
