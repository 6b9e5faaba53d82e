// SPDX-License-Identifier: GPL-2.0
//
// dfr boot enable, disable, and what their units run: reached, store.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <unistd.h>

#include "analyze/cli/arguments.h"
#include "analyze/cli/boot.h"
#include "analyze/cli/boot_events.h"
#include "analyze/cli/child.h"
#include "analyze/cli/dfr.h"
#include "analyze/cli/file.h"
#include "bootloader-hooks/boot/grub.h"
#include "bootloader-hooks/boot/initrd.h"
#include "bootloader-hooks/boot/install.h"
#include "bootloader-hooks/boot/kernel_files.h"
#include "bootloader-hooks/boot/lock.h"
#include "formats/abi/control.h"
#include "formats/error.h"
#include "formats/shown.h"
#include "formats/trace/parts.h"
#include "recorder/device.h"
#include "recorder/device_session.h"

namespace dfr::cli {
namespace {

constexpr size_t kBootsKept = 100; // what dfr boot diff may want, and some hundred megabytes at most

constexpr const char* kEnableExamples =
    "  dfr boot enable --once            only the next boot is traced\n"
    "  dfr boot enable --runs 5          five boots are\n"
    "  dfr boot enable --name disk-io    with another program\n"
    "  dfr boot enable --menu            the menu offers it, and nothing else changes\n"
    "  dfr boot enable --inside          in the machine's own initrd; GRUB is not told\n"
    "  dfr boot enable --name flight --then flight\n"
    "                                    and dfrd@flight records on with the same state\n";

bool has_state(const std::string& name) {
	if (!recorder::device_access().loaded)
		return false;
	for (const recorder::StateLine& state : recorder::Device().states())
		if (state.name == name)
			return true;
	return false;
}

// Why dfrd cannot record as this state; empty: it can. The unit needs a program for boots that are not traced.
std::string no_unit(const std::string& root, const std::string& name) {
	if (!boot::valid_name(name) || name == DFR_ANONYMOUS_NAME)
		return "it is no name of a state";
	const std::string program = "/etc/dfr/" + name + ".d";
	return boot::read_text(root + program) ? "" : "there is no " + program;
}

// The boot's state, if it can record on as `then`; null: it cannot, which is said.
std::unique_ptr<recorder::DeviceSession> going_on(const std::string& then) {
	auto session = std::make_unique<recorder::DeviceSession>();
	std::string why = no_unit("", then);
	if (why.empty() && has_state(then))
		why = "there is a state " + then + " already";
	if (why.empty()) {
		session->claim(DFR_ANONYMOUS_NAME);
		if (session->status().activity != DFR_ACTIVE)
			why = "it has ended";
		else if (session->catalog().policy != DFR_BUFPOLICY_RING)
			why = "it does not keep the newest records";
		else
			return session;
	}
	std::printf("the boot's state does not go on as %s: %s\n", shown(then), shown(why));
	return nullptr;
}

// Stores the boot's state in a file: all of it, and it ends; or if it goes on as `then`, a copy of what it has. It goes on
// also where the copy fails, because a copy can be taken again.
int store_state(const std::string& path, const std::string& then) {
	const auto stored = [&path](std::vector<std::string> command) {
		command.insert(command.begin(), "/proc/self/exe");
		if (asked_for_kernel_events())
			command.emplace_back("--kernel-events");
		command.insert(command.end(), {"-o", path});
		return run(command);
	};
	const auto session = then.empty() ? nullptr : going_on(then);
	if (!session)
		return stored({"record", "--claim", DFR_ANONYMOUS_NAME, "--stop", "-q"});
	const int status = stored({"snapshot", "--name", DFR_ANONYMOUS_NAME, "--reason", "the boot is over"});
	session->keep(then);
	std::printf("the boot's state goes on as %s\n", shown(then));
	return status;
}

// Starts dfrd@THEN when this ends, also where the boot was not traced (then it begins with its own program), and
// whatever has failed.
class StartedUnit {
public:
	explicit StartedUnit(std::string then) : then_(std::move(then)) {}
	~StartedUnit() {
		if (!then_.empty() && run({"systemctl", "--no-block", "start", "dfrd@" + then_}) != 0)
			print_error("dfrd@" + then_ + " could not be started",
			            "systemctl status dfrd@" + then_);
	}
	StartedUnit(const StartedUnit&) = delete;
	StartedUnit& operator=(const StartedUnit&) = delete;

private:
	std::string then_;
};

// The plan that had it has gone, or another one has come.
void say_not_started(const std::optional<boot::BootPlan>& before, const std::string& then) {
	if (before && !before->then.empty() && before->then != then)
		std::printf(
		    "dfrd@%s is started by no boot any more, unless you say: systemctl enable dfrd@%s\n",
		    shown(before->then), shown(before->then));
}

int enable_inside(BootBuild build) {
	build.inside = true;
	const boot::Installation installation(build.root);
	installation.check_inside();
	const boot::InitrdBuilder& builder = *boot::initrd_builder(build.root);
	// dracut has another name for it outside of Debian.
	if (const std::string initrd = builder.initrd + build.release;
	    build.root.empty() && ::access(initrd.c_str(), F_OK) != 0)
		throw Error("there is no " + initrd + ", which " + builder.name + " makes on Debian",
		            std::string("make it (") + builder.make_all +
		                "), or name a kernel that has one with --kernel");
	build_boot_archive(build);
	say_not_started(installation.plan(), build.then);
	installation.enable_inside(
	    {.name = build.name, .release = build.release, .loading = build.loading, .then = build.then});
	if (!build.root.empty()) {
		std::printf("enabled   in each initrd that is made from now on, by %s\n", builder.name);
		return 0;
	}
	std::fflush(stdout);
	const bool made = run_for_kernel(builder.make, build.release) == 0;
	const boot::InitrdState state = boot::look_into(builder, build.release, run_for_kernel);
	if (state == boot::InitrdState::kBroken)
		throw Error("the initrd of kernel " + build.release + " has no modprobe and may not boot",
		            "dfr boot disable, before this kernel is booted");
	if (!made || state != boot::InitrdState::kTraced)
		throw Error(std::string(builder.name) + " has not made an initrd of kernel " + build.release +
		                " with the trace",
		            "mend what it says above and enable it again, or dfr boot disable");
	std::printf(
	    "enabled   in each initrd that %s makes from now on, and in that of kernel %s: for every "
	    "boot,\n"
	    "          until dfr boot disable. No boot that fails is counted there: dfr.off on the\n"
	    "          kernel's command line, or the menu's recovery mode, if it has one, boots without it\n",
	    builder.name, shown(build.release));
	return 0;
}

// What is inside initrds goes out of them, before what was enabled is forgotten.
void leave_initrds(const boot::Installation& installation, const std::string& root) {
	std::vector<std::string> kernels = installation.kernels_inside();
	if (const auto plan = installation.plan(); root.empty() && plan && plan->inside) {
		// Somebody may have removed the copies, to make room.
		std::vector<std::string> others = boot::installed_kernels(root);
		std::erase_if(others, [&kernels](const std::string& release) {
			return std::ranges::find(kernels, release) != kernels.end();
		});
		for (const std::string& release : boot::traced_among(root, others, run_for_kernel))
			kernels.push_back(release);
	}
	installation.remove_hooks();
	if (root.empty())
		return boot::make_plain(root, kernels, run_for_kernel);
	for (const std::string& release : kernels)
		std::printf("initrd    of kernel %s: it has the trace until it is made anew\n",
		            shown(release));
}

// The archive of a kernel that goes on: of the module, the first process and the source that are installed now.
void renew_archive(const BootBuild& build, const boot::Installation& installation) {
	const std::string path = installation.archive(build.name, build.release);
	const auto before = boot::read_text(path);
	try {
		build_boot_archive(build);
		if (boot::read_text(path) != before)
			std::printf("renewed   the archive for kernel %s\n", shown(build.release));
	} catch (const Error& error) {
		print_error("boots of kernel " + build.release +
		                " are traced by the archive of before: " + error.what(),
		            error.hint());
	}
}

// The entry of GRUB's menu, where it is not that of its kernel any more.
void renew_entry(const boot::Installation& installation, const boot::BootPlan& plan) {
	if ((installation.entry_is_current(plan) && plan.older.empty()) ||
	    ::access(installation.archive(plan.name, plan.release).c_str(), R_OK) != 0)
		return;
	installation.enable(plan);
	std::printf("renewed   the entry in GRUB's menu, as grub.cfg has that of kernel %s\n",
	            shown(plan.release));
}

// Another kernel in place of the plan's; or the one for which this failed before.
void renew_kernel(const BootBuild& build, const boot::Installation& installation,
                  const boot::BootPlan& plan) {
	const std::string wanted = plan.wanted.empty() ? plan.mode : plan.wanted;
	try {
		build_boot_archive(build);
		boot::BootPlan next = plan;
		next.release = build.release;
		next.mode = wanted;
		next.wanted.clear();
		installation.enable(next);
		std::printf("renewed   for kernel %s in place of %s\n", shown(build.release),
		            shown(plan.release));
	} catch (const Error& error) {
		print_error("the boot of kernel " + build.release + " will not be traced: " + error.what(),
		            error.hint());
		boot::BootPlan offered = plan;
		offered.mode = "menu";
		offered.wanted = wanted;
		std::string hint;
		if (const std::string why = installation.obstacle(offered.release, hint); why.empty()) {
			installation.enable(offered);
			std::printf(
			    "enabled   only in the menu, \"with boot trace\", for kernel %s as before, "
			    "until dfr boot renew can go on\n",
			    shown(offered.release));
		} else {
			installation.disable(); // its kernel has gone, too
			say_not_started(plan, {});
			std::printf("disabled  %s\n", shown(why));
		}
	}
}

// A trace that GRUB has ended stays in the menu as long as its kernel does.
void end_with_kernel(const boot::Installation& installation, const boot::BootPlan& plan,
                     const std::vector<std::string>& kernels) {
	if (std::ranges::find(kernels, plan.release) != kernels.end())
		return;
	installation.disable();
	say_not_started(plan, {});
	std::printf("disabled  kernel %s has gone, and GRUB had ended its trace\n", shown(plan.release));
}

// The initrds that have the trace, with what is installed now. The status.
int renew_initrds(const boot::Installation& installation) {
	const boot::InitrdBuilder* const builder = boot::initrd_builder({});
	int status = 0;
	for (const std::string& release : installation.kernels_inside()) {
		if (builder && run_for_kernel(builder->make, release) == 0)
			continue;
		print_error("the initrd of kernel " + release + " was not made anew",
		            builder ? builder->make_all
		                    : "neither initramfs-tools nor dracut is here any more");
		status = kStatusError;
	}
	return status;
}

} // namespace

bool anonymous_state() {
	return has_state(DFR_ANONYMOUS_NAME);
}

int run_boot_enable(int argc, char** argv) {
	BootBuild build{.name = kDefaultBootProgram};
	bool once = false, menu = false, inside = false;
	unsigned runs = 0;
	const auto app = make_app(
	    "boot enable",
	    "Boot with the trace from now on, by an entry of GRUB's menu of our own. The kernel, its\n"
	    "initrd and grub.cfg are not written; dfr boot disable makes everything what it was.\n"
	    "With --inside it is in the machine's own initrd, and the boot loader is left alone.",
	    kEnableExamples);
	app->add_option("--name", build.name, "the boot program (default: default; dfr boot build --help)");
	app->add_option("--kernel", build.release, "release of the kernel (default: the running one)");
	auto* const once_flag = app->add_flag("--once", once, "only the next boot");
	auto* const menu_flag =
	    app->add_flag("--menu", menu, "only offer it in the menu")->excludes(once_flag);
	auto* const runs_option = app->add_option("--runs", runs, "so many boots (default: all)")
	                              ->excludes(once_flag)
	                              ->excludes(menu_flag);
	app->add_flag("--inside", inside,
	              "in the machine's own initrd, by a hook of initramfs-tools or dracut: for every boot,\n"
	              "where the boot loader takes no further initrd or the command line may not be changed")
	    ->excludes(once_flag)
	    ->excludes(menu_flag)
	    ->excludes(runs_option);
	// The hook looks for both, for each kernel.
	app->add_option("--module", build.module,
	                "dfr.ko of that kernel, if the archive has to be made (default: looked for)")
	    ->excludes("--inside");
	app->add_option("--btf", build.types, "its types, likewise")->excludes("--inside");
	add_root(*app, build.root, "the machine that will boot (default: this one)");
	add_loading(*app, build);
	app->add_option("--then", build.then,
	                "when the boot is over its state records on as this one, of dfrd@NAME, which\n"
	                "is started then");
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	if (*runs_option && runs == 0)
		throw UsageError("--runs takes a number of boots from 1 on", "leave it out for every boot");
	if (build.release.empty())
		build.release = boot::running_release();
	if (const std::string why = no_unit(build.root, build.then); !build.then.empty() && !why.empty())
		throw Error("dfrd@" + build.then + " cannot record on after the boot: " + why,
		            "boots that are not traced record with /etc/dfr/STATE.d: put the boot program "
		            "there, too");
	const boot::BootLock lock(build.root, tell_that_it_waits);
	if (inside)
		return enable_inside(build);
	const boot::Installation installation(build.root);
	std::string hint;
	if (const std::string why = installation.obstacle(build.release, hint); !why.empty())
		throw Error(why, hint);
	installation.refuse_other_way(false);
	build_boot_archive(build);
	const std::string cannot = installation.cannot_count();
	boot::BootPlan plan{.name = build.name,
	                    .release = build.release,
	                    .mode = menu   ? "menu"
	                            : once ? "once"
	                                   : "always",
	                    .runs = runs,
	                    .loading = build.loading,
	                    .then = build.then};
	say_not_started(installation.plan(), plan.then);
	installation.enable(plan);
	if (!cannot.empty() && !menu)
		std::printf("enabled   only in the menu, \"with boot trace\": %s, and could not count boots "
		            "that fail\n",
		            shown(cannot));
	else
		std::printf("enabled   %s\n", menu   ? "in the menu, \"with boot trace\""
		                              : once ? "for the next boot; then as before"
		                              : runs ? shown("for " + std::to_string(runs) + " boots")
		                                     : "for every boot, until dfr boot disable");
	return 0;
}

int run_boot_add(int argc, char** argv) {
	BootBuild build{.inside = true};
	const auto app = make_app(
	    "boot add",
	    "Put the trace into an initrd that is being made: compile what is enabled (else the default\n"
	    "program) for its kernel, and write module, program and what loads them into its folder.\n"
	    "All of it or nothing. The hook of dfr boot enable --inside runs it.",
	    "  dfr boot add --kernel 6.1.0-60-amd64 /tmp/initrd\n");
	app->add_option("folder", build.initrd, "the folder of the initrd's files")->required();
	app->add_option("--kernel", build.release, "release of its kernel (default: the running one)");
	app->add_option("--module", build.module, "its dfr.ko (default: looked for)");
	app->add_option("--btf", build.types, "its types, likewise");
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	const auto plan = boot::Installation("").plan();
	build.name = plan ? plan->name : kDefaultBootProgram;
	build.loading = plan ? plan->loading : "";
	if (build.release.empty())
		build.release = boot::running_release();
	const std::string archive = build_boot_archive(build);
	boot::add_to_initrd(boot::unpack_archive(read_file(archive, "an archive"), archive), build.initrd);
	return 0;
}

int run_boot_renew(int argc, char** argv) {
	BootBuild build;
	const auto app = make_app(
	    "boot renew",
	    "What is enabled, for another kernel: of the same source, armed as before. If that cannot be\n"
	    "done, the entry is only offered until it can, because it would keep the machine on the\n"
	    "kernel of before. For the same kernel the archive is made anew, of the module that is\n"
	    "installed now. The hooks in /etc/kernel run it when kernels come and go, and an upgrade of\n"
	    "the packages does. A trace that GRUB has ended stays so, and goes with its kernel; without\n"
	    "--kernel, one for a kernel that is still there stays with it where GRUB's default is not\n"
	    "the newest. Of initrds with the trace the copies go whose kernels have gone.",
	    "  dfr boot renew --kernel 6.1.0-60-amd64\n");
	bool initrds = false;
	app->add_option("--kernel", build.release, "its release (default: the newest that is installed)");
	app->add_option("--module", build.module, "its dfr.ko (default: looked for)");
	app->add_option("--btf", build.types, "its types, likewise");
	add_root(*app, build.root, "the machine that will boot (default: this one)");
	app->add_flag("--initrds", initrds, "make this machine's initrds that have the trace inside anew")
	    ->excludes("--root");
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	const boot::BootLock lock(build.root, tell_that_it_waits);
	const boot::Installation installation(build.root);
	const auto plan = installation.plan();
	const auto kernels = boot::installed_kernels(build.root);
	const std::string armed = installation.variable(boot::kArmedVariable);
	if (!plan)
		return 0;
	const bool over = !plan->inside && (armed == "failed" || armed == "spent");
	if (kernels.empty()) {
		if (!over)
			std::fprintf(
			    stderr,
			    "dfr: nothing is renewed: there is no kernel in %s/boot; is it mounted?\n",
			    shown(build.root));
		return 0;
	}
	if (plan->ending()) {
		installation.disable();
		say_not_started(*plan, {});
		std::printf("disabled  as it had been begun\n");
		return 0;
	}
	if (over) {
		end_with_kernel(installation, *plan, kernels);
		return 0;
	}
	if (plan->inside) {
		installation.keep_copies(kernels);
		return initrds ? renew_initrds(installation) : 0;
	}
	if (build.release.empty())
		build.release = installation.follows(*plan, kernels) ? kernels.front() : plan->release;
	build.name = plan->name;
	build.loading = plan->loading;
	build.then = plan->then;
	if (plan->release == build.release && plan->wanted.empty()) {
		renew_archive(build, installation);
		renew_entry(installation, *plan);
	} else {
		renew_kernel(build, installation, *plan);
	}
	return 0;
}

int run_boot_disable(int argc, char** argv) {
	std::string root;
	const auto app =
	    make_app("boot disable",
	             "Boot as before. Archives and all that enable wrote go; sources in /etc/dfr/boot and\n"
	             "recordings in /var/lib/dfr/boot stay.",
	             "  dfr boot disable\n");
	add_root(*app, root, "the machine (default: this one)");
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	const boot::BootLock lock(root, tell_that_it_waits);
	const boot::Installation installation(root);
	const auto plan = installation.plan();
	if (plan)
		installation.require_boot();
	leave_initrds(installation, root);
	const bool was_enabled = installation.disable();
	if (root.empty() && end_kernel_events() && !anonymous_state())
		release_kernel_events();
	std::printf("%s\n", was_enabled ? "disabled" : "nothing was enabled");
	say_not_started(plan, {});
	return 0;
}

int run_boot_reached(int argc, char** argv) {
	std::string root;
	const auto app =
	    make_app("boot reached",
	             "Note in grubenv that user space was reached. Two boots that did not run this\n"
	             "disarm the tracing. dfr-boot-reached.service runs it.",
	             "  dfr boot reached\n");
	add_root(*app, root, "the machine (default: this one)");
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	const boot::BootLock lock(root, tell_that_it_waits);
	boot::Installation(root).reached();
	return 0;
}

int run_boot_store(int argc, char** argv) {
	bool wait = false;
	const auto app =
	    make_app("boot store",
	             "Take over what the boot program recorded, end it, and store it in /var/lib/dfr/boot;\n"
	             "or with dfr boot enable --then, store a copy, and let dfrd record on with its state.\n"
	             "dfr-boot-store.service runs it when the boot is over.",
	             "  dfr boot store\n  dfr replay /var/lib/dfr/boot/*.dfr\n");
	app->add_flag("--wait", wait, "first wait until systemd says that the boot is over");
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	const boot::Installation installation("");
	const std::string then = installation.plan().value_or(boot::BootPlan{}).then;
	const StartedUnit unit(then);
	if (wait && anonymous_state() && run({"systemctl", "is-system-running", "--wait", "--quiet"}) < 0)
		std::fprintf(stderr, "dfr: systemctl cannot be asked whether the boot is over\n");
	if (!anonymous_state()) {
		if (end_kernel_events())
			release_kernel_events();
		std::printf("this boot was not traced, or is stored already; dfr boot status says more\n");
		return 0;
	}
	std::error_code error;
	std::filesystem::create_directories(installation.folder(), error);
	const std::string path = installation.folder() + "/boot-" + trace::time_stamp() + ".dfr";
	end_kernel_events();
	int status = store_state(path, then);
	// The status of a program that called exit() is its own. A state that could not be stored is still there.
	if (status != 0 && status != kStatusPartial && then.empty() && !anonymous_state()) {
		if (!std::filesystem::exists(path))
			throw Error("somebody else has claimed the boot's state, and stores it elsewhere",
			            "look for a dfr record --claim anonymous");
		std::printf("the boot program has called exit(%d)\n", status);
		status = trace::judge_whole(*trace::open_file(path)).complete ? 0 : kStatusPartial;
	}
	if (status != 0 && status != kStatusPartial)
		throw Error("the boot's recording could not be stored in " + path,
		            has_state(then) ? "make room, then dfr snapshot --name " + then + " -o FILE.dfr"
		                            : "dfr boot store tries again");
	release_kernel_events();
	const boot::BootLock lock("", tell_that_it_waits,
	                          std::chrono::hours(24)); // nobody waits for this one
	installation.traced();
	std::printf("%s\n", shown(path));
	const auto failed = [](const Error& why) { print_error(why.what(), why.hint()); };
	for (const std::string& old : installation.remove_old(kBootsKept, path, failed))
		std::printf("%s was removed: %zu boots are kept\n", shown(old), kBootsKept);
	return status;
}

} // namespace dfr::cli
