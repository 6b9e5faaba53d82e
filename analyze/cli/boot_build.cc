// SPDX-License-Identifier: GPL-2.0
//
// dfr boot build: a boot program in D becomes the archive that a boot loads (bootloader-hooks/boot/archive.h), for
// one kernel. The D source is what stays installed: the archive of another kernel is made from it.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include "analyze/cli/arguments.h"
#include "analyze/cli/boot.h"
#include "analyze/cli/dfr.h"
#include "analyze/cli/file.h"
#include "analyze/libdfr/boot_target.h"
#include "analyze/replay/conditions.h"
#include "bootloader-hooks/boot/archive.h"
#include "bootloader-hooks/boot/atomic_file.h"
#include "bootloader-hooks/boot/install.h"
#include "bootloader-hooks/boot/kernel_files.h"
#include "bootloader-hooks/boot/lock.h"
#include "bootloader-hooks/boot/sha256.h"
#include "formats/d/library.h"
#include "formats/error.h"
#include "formats/shown.h"

namespace dfr::cli {
namespace {

constexpr const char* kBootBuildExamples =
    "  dfr boot build                                   the default program, for this kernel\n"
    "  dfr boot build -s boot.d --name opens            a program of one's own\n"
    "  dfr boot build --name disk-io                    one that comes with dfr\n"
    "  dfr boot build -s boot.d --kernel 6.1.0-56-amd64 -o boot.img\n";
constexpr size_t kGoal = 1 << 20; // bytes of an archive

void say(const char* what, const std::string& text) {
	std::printf("%-9s %s\n", what, shown(text));
}

// The source of a program: a file, what is installed under its name, or what comes with dfr.
// It is called by its name alone, because what it is called stands in the DOF, and the same source makes the same.
lib::ProgramPart read_source(const BootBuild& build) {
	const std::string installed = boot_source_path(build.root, build.name);
	const std::string& path = build.source.empty() ? installed : build.source;
	if (!build.source.empty() || ::access(installed.c_str(), R_OK) == 0) {
		lib::ProgramPart part = lib::read_script(path);
		part.name = build.name + ".d";
		return part;
	}
	std::string known;
	for (const d::LibraryText* one = d::kBootTexts; one->name; one++) {
		known += (known.empty() ? "" : ", ") + std::string(one->name);
		if (build.name != one->name)
			continue;
		lib::ProgramPart part;
		part.script = true;
		part.name = build.name + ".d";
		part.text = one->text;
		return part;
	}
	throw Error("there is no boot program " + build.name + "; with dfr come " + known,
	            "give one of your own with -s FILE");
}

// Each description once, with what it will match.
void print_forecast(const dof::Image& image, lib::BootTarget& target) {
	std::vector<dof::ProbeDesc> seen;
	for (const dof::EcbDesc& ecb : image.ecbs) {
		if (std::ranges::find(seen, ecb.probe) != seen.end())
			continue;
		seen.push_back(ecb.probe);
		const d::ProbePattern pattern = d::pattern_of(ecb.probe);
		const lib::BootTarget::Forecast forecast = target.forecast(pattern);
		std::printf("  %s %-34s %s\n", forecast.matches ? " " : "!", shown(pattern.text()),
		            shown(forecast.text));
	}
}

dof::Image compile_program(const BootBuild& build, lib::ProgramPart source, lib::BootTarget& target) {
	std::vector<lib::ProgramPart> parts{std::move(source)};
	d::CompileOptions options;
	options.zdefs = true; // modules that are not loaded yet
	options.program = build.name;
	d::Compiled compiled = compile_or_throw(parts, options, target);
	if (compiled.destructive)
		throw Error("the program has destructive actions, which no boot program may have",
		            "take stop(), raise(), system(), panic() and the like out of it");
	lib::identify_types(compiled.image, target);
	return std::move(compiled.image);
}

// A production recording has to keep what came last, and to cost little; who does not stop at the end of a boot has one.
void check_goes_on(const dof::Image& image) {
	bool ring = false, budget = false;
	for (const dof::Option& option : image.options) {
		ring = ring || (option.option == DFR_OPT_BUFPOLICY && option.value == DFR_BUFPOLICY_RING);
		budget = budget || option.option == DFR_OPT_CPUBUDGET;
	}
	if (!ring)
		throw Error("the program does not keep the newest records when its memory is full, so it "
		            "cannot record on after the boot",
		            "write into it: #pragma D option bufpolicy=ring");
	if (!budget)
		throw Error("the program does not say what it may cost when it records on after the boot",
		            "write into it how many percent of each CPU: #pragma D option cpubudget=1");
}

types::Blob read_module(const std::string& path, const std::string& release) {
	types::Blob module = types::unpack(types::Blob::from_file(path), path);
	const std::string of = boot::module_release(module, path);
	if (of != release)
		throw Error(path + " is of kernel " + (of.empty() ? "(it does not say which)" : of) +
		                ", not of " + release,
		            "install dfr-dkms and linux-headers-" + release +
		                ", or name another with --module FILE");
	return module;
}

// What the kernel executes when it wants a module is the program that is the first process, too.
boot::ArchiveFile helper_link() {
	const std::string target = std::string("/") + boot::kShimFile;
	return {
	    .name = boot::kHelperLink, .mode = 0777, .bytes = {target.begin(), target.end()}, .link = true};
}

// Whether the archive brings the helper.
bool choose_helper(const BootBuild& build) {
	std::string why = boot::no_helper(build.root, build.release);
	if (why.empty() && !build.initrd.empty())
		why = boot::no_helper(build.initrd, build.release);
	const bool helper = boot::brings_helper(build.loading, why, !build.initrd.empty());
	const std::string last = build.inside ? "by a script of the initrd" : "by the first process";
	say("loading", helper ? "at the kernel's first request for a module, else " + last
	                      : last + (why.empty() ? "" : "; not earlier: " + why));
	if (helper && !why.empty())
		std::printf("  ! modules may be out of the kernel's reach in that boot: %s\n", shown(why));
	return helper;
}

std::string hexadecimal(uint64_t number) {
	char text[20];
	std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
	return text;
}

// The program that starts as the first process: beside this command's build, or installed.
std::string find_shim(const BootBuild& build) {
	if (!build.shim.empty())
		return build.shim;
	std::error_code error;
	const auto self = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
	for (const std::filesystem::path& path : {self / "dfr-init", self / "../lib/dfr/dfr-init"})
		if (!error && ::access(path.c_str(), R_OK) == 0)
			return path.lexically_normal().string();
	return "/usr/lib/dfr/dfr-init";
}

} // namespace

std::string boot_source_path(const std::string& root, const std::string& name) {
	return boot::resolve_folder(root, root + "/etc/dfr/boot/" + name + ".d");
}

std::string build_boot_archive(const BootBuild& build) {
	if (!boot::valid_name(build.name))
		throw Error(build.name + " is no name of a boot program",
		            "use letters, digits, - and _, 40 at most");
	std::string hint;
	if (const std::string why = boot::cannot_unpack(build.root, build.release, hint); !why.empty())
		throw Error(why, hint);
	const lib::ProgramPart source = read_source(build);
	const std::string types =
	    build.types.empty() ? boot::find_types(build.root, build.release) : build.types;
	const std::string module_path =
	    build.module.empty() ? boot::find_module(build.root, build.release) : build.module;
	say("program", build.name + (build.source.empty() ? "" : ", of " + build.source));
	say("kernel", build.release);
	say("types", types);
	lib::BootTarget target(types, build.release, build.root + "/lib/modules/" + build.release);
	dof::Image image = compile_program(build, source, target);
	if (!build.then.empty())
		check_goes_on(image);
	say("probes", "what each description will match there:");
	print_forecast(image, target);
	replay::tell_faults(image);

	const types::Blob module = read_module(module_path, build.release);
	say("module", module_path + (boot::is_signed(module) ? ", signed" : ", without a signature"));
	if (boot::has_debug_information(module, module_path))
		say("", "it has debug information: strip --strip-debug makes it a tenth of its size");
	const std::vector<uint8_t> dof = dof::write(image);
	const auto* const text = reinterpret_cast<const uint8_t*>(source.text.data());
	const boot::ProgramOrigin origin{.name = build.name,
	                                 .release = build.release,
	                                 .source = boot::sha256({text, source.text.size()}),
	                                 .dof = boot::sha256(dof),
	                                 .module = boot::sha256(module.bytes()),
	                                 .btf = image.btf_digest ? hexadecimal(*image.btf_digest) : ""};
	const std::string parameters = origin.parameters();
	std::vector<boot::ArchiveFile> files{
	    boot::archive_file(boot::kShimFile, 0755,
	                       read_file(find_shim(build), "the first-process shim, dfr-init")),
	    boot::archive_file(boot::kModuleFile, 0644, module.bytes()),
	    boot::archive_file(boot::kProgramFile, 0600, dof),
	    boot::archive_file(boot::kParametersFile, 0600,
	                       {reinterpret_cast<const uint8_t*>(parameters.data()), parameters.size()})};
	if (choose_helper(build))
		files.push_back(helper_link());
	const std::vector<uint8_t> archive = boot::pack_archive(files);
	std::string output = build.output.empty()
	                         ? boot::Installation(build.root).archive(build.name, build.release)
	                         : build.output;
	if (build.output.empty() && !build.source.empty()) {
		boot::write_atomically(boot_source_path(build.root, build.name), {text, source.text.size()},
		                       0644);
		say("source", boot_source_path(build.root, build.name));
	}
	// One that is the same keeps its time: an initrd that is older than its copy has something else (dfr boot doctor).
	if (boot::read_text(output) != std::string(archive.begin(), archive.end()))
		boot::write_atomically(output, archive, 0600);
	say("digests", origin.text());
	say("archive", output + ", " + trace::grouped(archive.size()) + " bytes" +
	                   (archive.size() > kGoal ? ", which is more than 1 MB" : ""));
	return output;
}

void tell_that_it_waits() {
	std::fprintf(stderr, "dfr: waits until another dfr boot has ended\n");
}

void add_loading(CLI::App& app, BootBuild& build) {
	app.add_option("--loading", build.loading,
	               "helper: at the kernel's first request for a module, while drivers still initialize;\n"
	               "first-process: not before that (default: helper, where the machine's files allow it)")
	    ->option_text(std::string(boot::kByHelper) + "|" + boot::kByFirstProcess)
	    ->check(CLI::IsMember({boot::kByHelper, boot::kByFirstProcess}));
}

int run_boot_build(int argc, char** argv) {
	BootBuild build;
	const auto app =
	    make_app("boot build",
	             "Compile a boot program for one kernel, say what its probes will match there, and\n"
	             "make the archive that a boot loader gives to that kernel as one more initrd.",
	             kBootBuildExamples);
	app->add_option("-s,--script", build.source, "the program, in D (default: the one of --name)");
	app->add_option("--name", build.name, "what it is called (default: the script's name, or default)");
	app->add_option("--kernel", build.release,
	                "release of the kernel that will boot (default: the running one)");
	app->add_option("-o,--output", build.output,
	                "where to write the archive (default: /boot/dfr, and the source to /etc/dfr/boot)");
	app->add_option("--btf", build.types, "vmlinuz, vmlinux or BTF of that kernel (default: looked for)");
	app->add_option("--module", build.module, "dfr.ko of that kernel (default: looked for)");
	app->add_option("--shim", build.shim, "the first process (default: the dfr-init that came with dfr)");
	add_root(*app, build.root, "the machine that will boot (default: this one)");
	add_loading(*app, build);
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	if (build.release.empty())
		build.release = boot::running_release();
	if (build.name.empty())
		build.name = build.source.empty() ? kDefaultBootProgram
		                                  : std::filesystem::path(build.source).stem().string();
	const boot::BootLock lock(build.root, tell_that_it_waits);
	build_boot_archive(build);
	return 0;
}

} // namespace dfr::cli
