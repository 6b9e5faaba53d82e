// SPDX-License-Identifier: GPL-2.0
//
// dfr boot: finds the command of its own.
#include "analyze/cli/boot.h"

#include <cstdio>
#include <cstring>
#include <filesystem>

#include "analyze/cli/dfr.h"

namespace dfr::cli {
namespace {

constexpr Command kCommands[] = {
    {"build", "compile a boot program, and make the archive that a boot loads", run_boot_build},
    {"enable", "boot with the trace: once, always, or for some boots", run_boot_enable},
    {"disable", "boot as before; everything that enable wrote goes", run_boot_disable},
    {"status", "what is enabled, and whether this boot was traced, or why not", run_boot_status},
    {"doctor", "look for what would keep the next boot from being traced", run_boot_doctor},
    {"report", "one time axis from the kernel's entry to the login prompt", run_boot_report},
    {"diff", "compare two groups of boots: what became slower, and how surely", run_boot_diff},
    {"renew", "the same for a kernel that has come (what the kernel's hook does)", run_boot_renew},
    {"add", "put the trace into an initrd that is being made (what its hook does)", run_boot_add},
    {"store", "store what this boot recorded (what the unit does)", run_boot_store},
    {"reached", "note that user space was reached (what the unit does)", run_boot_reached},
};

void print_help() {
	std::puts("dfr boot: trace a boot from before the machine's first process.\n\n"
	          "usage: dfr boot COMMAND [options]     (dfr boot COMMAND --help: options and examples)\n");
	for (const Command& command : kCommands)
		std::printf("  %-9s %s\n", command.name, command.summary);
	std::puts("\n  --help    this text\n\n"
	          "examples\n"
	          "  dfr boot enable --once && reboot          then: dfr boot report\n"
	          "  dfr boot enable --inside                  in the machine's own initrd, without GRUB\n"
	          "  dfr boot build -s opens.d && dfr boot enable --name opens --runs 5\n"
	          "  dfr boot diff old/*.dfr -- new/*.dfr\n"
	          "  dfr boot doctor\n"
	          "  dfr boot disable");
}

} // namespace

void add_root(CLI::App& app, std::string& root, const char* of) {
	app.add_option("--root", root, std::string("the root of ") + of)
	    ->check([](const std::string& folder) {
		    std::error_code error;
		    return std::filesystem::is_directory(folder, error)
		               ? ""
		               : "there is no folder '" + folder + "'";
	    });
}

int run_boot(int argc, char** argv) {
	const bool help =
	    argc >= 2 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0);
	if (help) {
		print_help();
		return 0;
	}
	for (const Command& command : kCommands)
		if (argc >= 2 && std::strcmp(command.name, argv[1]) == 0)
			return command.run(argc - 1, argv + 1);
	throw no_such_command("dfr boot", argc < 2 ? nullptr : argv[1]);
}

} // namespace dfr::cli
