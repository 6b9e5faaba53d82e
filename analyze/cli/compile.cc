// SPDX-License-Identifier: GPL-2.0
//
// dfr compile: D to DOF, for a boot or another machine. dfr disasm: that as text; dfr asm: and back, to the
// same bytes.
#include <cstdio>
#include <memory>

#include "analyze/cli/arguments.h"
#include "analyze/cli/dfr.h"
#include "analyze/cli/file.h"
#include "analyze/libdfr/offline_target.h"
#include "analyze/replay/conditions.h"
#include "formats/dof/text.h"
#include "formats/error.h"
#include "formats/shown.h"
#include "recorder/device.h"
#include "recorder/device_target.h"

namespace dfr::cli {
namespace {

constexpr const char* kCompileExamples =
    "  dfr compile -o boot.dof boot.d\n"
    "  dfr compile -o count.dof -n 'syscall:::entry { @[execname] = count(); }'\n";

// The running kernel: its module knows which probes there are and what their arguments are. Addresses stay
// relocations, because the DOF may be loaded in another boot.
class RunningTarget : public lib::OfflineTarget {
public:
	RunningTarget() : OfflineTarget({}, {}) {}
	std::string description() const override { return machine_.description(); }
	void match(const d::ProbePattern& pattern,
	           const std::function<bool(const d::ProbeInfo&)>& visit) override {
		machine_.match(pattern, visit);
	}
	std::vector<d::ProbeArg> args(const d::ProbeInfo& probe) override { return machine_.args(probe); }
	std::string why_untyped(const d::ProbeInfo& probe) override { return machine_.why_untyped(probe); }
	std::string kernel_release() const override { return machine_.kernel_release(); }

private:
	recorder::Device device_;
	recorder::DeviceTarget machine_{device_};
};

// The kernel that the options name, or this one: with its probes if the module is loaded and may be asked.
std::unique_ptr<lib::OfflineTarget> choose_target(const std::string& kernel, const std::string& release) {
	if (kernel.empty() && release.empty()) {
		try {
			return std::make_unique<RunningTarget>();
		} catch (
		    const Error&) { // then nothing is known of its probes, which the compiler's messages say
		}
	}
	return std::make_unique<lib::OfflineTarget>(kernel, release);
}

} // namespace

int run_compile(int argc, char** argv) {
	ProgramArguments program;
	std::string output, kernel, release, file;
	bool listing = false;
	const auto app = make_app("compile", "Compile D into a DOF; probes are matched where it is loaded.",
	                          kCompileExamples);
	program.add_to(*app);
	program.add_profile_to(*app);
	app->add_option("file", file, "a D script");
	app->add_option("-o,--output", output, "the DOF to write");
	app->add_option("--kernel", kernel,
	                "vmlinux, vmlinuz or BTF of the kernel it is for (default: this one)");
	app->add_option("--release", release, "that kernel's release, for the library's conditions");
	app->add_flag("-S", listing, "show the compiled code on stderr");
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	if (!file.empty())
		program.scripts.push_back(file);
	auto parts = program.parts_or_profile();
	if (parts.empty()) {
		print_error("no program was given", "write -n 'probe { actions }' or the path of a D script");
		return kStatusUsage;
	}
	program.zdefs = true; // which probes there will be where it is loaded is not known here
	const auto target = choose_target(kernel, release);
	d::Compiled compiled = compile_or_throw(parts, program.compile_options(0), *target);
	lib::identify_types(compiled.image, *target);
	if (listing)
		print_lines(stderr, dof::disassemble_listing(compiled.image));
	if (output.empty() && !listing) {
		print_error("the program compiles; no output was given",
		            "write -o FILE.dof to keep it, -S to see it");
		return 0;
	}
	if (!output.empty()) {
		replay::tell_faults(compiled.image);
		write_dof(output, dof::write(compiled.image));
	}
	return 0;
}

int run_disasm(int argc, char** argv) {
	std::string file, function;
	const auto app =
	    make_app("disasm", "Show what a DOF holds, or where a kernel function's instructions begin.",
	             "  dfr disasm boot.dof\n  dfr disasm --function vfs_read\n");
	app->add_option("file", file, "a DOF");
	app->add_option("--function", function,
	                "a function of the running kernel: its probes of kinst, with their bytes");
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	if (file.empty() == function.empty()) {
		print_error("disasm shows one thing: a DOF or a function",
		            "write dfr disasm FILE.dof, or dfr disasm --function NAME");
		return kStatusUsage;
	}
	if (!function.empty())
		return show_function(function);
	print_lines(stdout,
	            dof::disassemble_file(dof::read(read_file(file, "a DOF that dfr compile wrote"))));
	return 0;
}

int run_asm(int argc, char** argv) {
	std::string file, output;
	const auto app = make_app("asm", "Assemble what dfr disasm printed into a DOF.",
	                          "  dfr asm -o boot.dof boot.txt\n");
	app->add_option("file", file, "text as dfr disasm prints it")->required();
	app->add_option("-o,--output", output, "the DOF to write")->required();
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	const auto bytes = read_file(file, "what dfr disasm printed");
	write_dof(output,
	          dof::write(dof::assemble({reinterpret_cast<const char*>(bytes.data()), bytes.size()})));
	return 0;
}

} // namespace dfr::cli
