// SPDX-License-Identifier: GPL-2.0
//
// `dfr`: finds the subcommand, prints help, turns dfr::Error into three parts and
// a status. A subcommand's options are parsed in its own file.
#include "analyze/cli/dfr.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>

#include "analyze/cli/file.h"
#include "formats/error.h"
#include "formats/shown.h"

namespace dfr::cli {
namespace {

constexpr Command kCommands[] = {
    {"demo", "three questions to a recording that comes with dfr: no root, no module", run_demo},
    {"record", "record while a command runs (or until Ctrl-C) and leave a .dfr file", run_record},
    {"replay", "run a D program over recordings, or print what they said", run_replay},
    {"info", "what a recording holds, its window, and questions to ask it", run_info},
    {"verify", "whether all of a recording is there and sound", run_verify},
    {"cut", "a new recording of a part of another: a time, CPUs, probes, processes", run_cut},
    {"redact", "a new recording that holds only what is allowed, for somebody else", run_redact},
    {"status", "what records on this machine, and how far back its memory goes", run_status},
    {"snapshot", "copy the last seconds of a state that records on", run_snapshot},
    {"mark", "write a remark into everything that records now", run_mark},
    {"boot", "trace this machine's boot, from before its first process", run_boot},
    {"harvest", "recover recordings from the memory of a dead machine", run_harvest},
    {"crash", "what the memory of a dead machine holds", run_crash},
    {"trace", "run a D program live and print what it says", run_trace},
    {"probes", "list the probes of this machine", run_probes},
    {"compile", "compile D into a DOF, for the boot or for another machine", run_compile},
    {"disasm", "show what a DOF holds, instruction by instruction", run_disasm},
    {"asm", "assemble what disasm printed into a DOF again", run_asm},
    {"stop", "end a kept recording by its name", run_stop},
};

void print_help() {
	std::puts("dfr, the D flight recorder: trace with D, record, and ask again later.\n\n"
	          "usage: dfr COMMAND [options]     (dfr COMMAND --help: options and examples)\n");
	for (const Command& command : kCommands)
		std::printf("  %-9s %s\n", command.name, command.summary);
	std::puts("\n`dfr` alone prints the state of this machine. Called as `dtrace` it is dtrace(1).\n\n"
	          "examples\n"
	          "  dfr demo\n"
	          "  dfr record -o ls.dfr -- ls -l\n"
	          "  dfr replay -n 'syscall:::entry { @[probefunc] = count(); }' ls.dfr");
}

// The command that `word` is nearest to, for "did you mean".
const Command* nearest(const char* word) {
	const Command* best = nullptr;
	size_t most = 1; // letters that both begin with
	for (const Command& command : kCommands) {
		const std::string_view name = command.name;
		const auto end =
		    std::mismatch(name.begin(), name.end(), word, word + std::strlen(word)).first;
		const auto same = static_cast<size_t>(end - name.begin());
		if (same > most) {
			most = same;
			best = &command;
		}
	}
	return best;
}

int run_command(int argc, char** argv) {
	for (const Command& command : kCommands)
		if (std::strcmp(command.name, argv[0]) == 0)
			return command.run(argc, argv);
	const Command* const near = nearest(argv[0]);
	print_error(std::string("there is no command ") + argv[0],
	            near ? std::string("did you mean dfr ") + near->name + "?"
	                 : "dfr --help lists the commands");
	return kStatusUsage;
}

} // namespace

void print_error(const std::string& what, const std::string& hint) {
	// A subcommand's usage error begins with its name, "dfr cut".
	std::fprintf(stderr, "%s%s\n", what.starts_with("dfr ") ? "" : "dfr: ", shown(what));
	if (!hint.empty())
		std::fprintf(stderr, "dfr: %s\n", shown(hint));
}

UsageError no_such_command(const std::string& of, const char* name) {
	return UsageError(name ? of + ": there is no command " + name : of + ": which command?",
	                  of + " --help lists the commands");
}

int dfr_main(int argc, char** argv) {
	try {
		if (argc < 2)
			return print_state();
		if (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0 ||
		    std::strcmp(argv[1], "help") == 0) {
			print_help();
			return 0;
		}
		if (std::strcmp(argv[1], "--version") == 0) {
			std::puts("dfr " DFR_VERSION);
			return 0;
		}
		const int status = run_command(argc - 1, argv + 1);
		flush_stdout();
		return status;
	} catch (const UsageError& error) {
		print_error(error.what(), error.hint());
		return kStatusUsage;
	} catch (const Error& error) {
		print_error(error.what(), error.hint());
		return kStatusError;
	} catch (const std::bad_alloc&) {
		print_error("there is not enough memory", "free some, or raise the limit (ulimit -v)");
		return kStatusError;
	} catch (const std::exception& error) { // nothing throws one: a defect
		print_error(std::string("this should not happen: ") + error.what(), {});
		return kStatusError;
	}
}

} // namespace dfr::cli
