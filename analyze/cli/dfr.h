// SPDX-License-Identifier: GPL-2.0
//
// `dfr` and its subcommands: the table of them, and what they share that needs no
// option library (that is in arguments.h).
#pragma once

#include <string>

#include "formats/error.h"
#include "formats/trace/catalog.h"
#include "formats/trace/counted.h"
#include "formats/trace/decode.h"

namespace dfr::cli {

// argv[0] is the subcommand's name. Returns the exit status; throws dfr::Error.
struct Command {
	const char* name;
	const char* summary;
	int (*run)(int argc, char** argv);
};

int run_asm(int argc, char** argv);
int run_boot(int argc, char** argv);
int run_compile(int argc, char** argv);
int run_crash(int argc, char** argv);
int run_cut(int argc, char** argv);
int run_demo(int argc, char** argv);
int run_disasm(int argc, char** argv);
int run_harvest(int argc, char** argv);
int run_info(int argc, char** argv);
int run_mark(int argc, char** argv);
int run_probes(int argc, char** argv);
int run_record(int argc, char** argv);
int run_redact(int argc, char** argv);
int run_replay(int argc, char** argv);
int run_snapshot(int argc, char** argv);
int run_status(int argc, char** argv);
int run_stop(int argc, char** argv);
int run_trace(int argc, char** argv);
int run_verify(int argc, char** argv);

int dfr_main(int argc, char** argv);

// `dfr` alone: the state of this machine, and what to do next.
int print_state();

inline constexpr int kStatusError = 1;
inline constexpr int kStatusUsage = 2;
inline constexpr int kStatusPartial = 3;
inline constexpr int kStatusSlower = 4; // of dfr boot diff

// The command was called wrongly: status kStatusUsage.
class UsageError : public Error {
	using Error::Error;
};

// `of`, such as "dfr boot", has no command `name`; null: none was given.
UsageError no_such_command(const std::string& of, const char* name);

// The line that goes with every answer, on stderr; as JSON if asked. Returns 0 or kStatusPartial.
int print_verdict(const trace::Verdict& verdict, const trace::Catalog& catalog, bool json,
                  const std::string& of = {});
// A program's own exit status, if it is not 0, wins over the verdict's.
inline int final_status(int program, int verdict) {
	return (program & 0xff) != 0 ? program : verdict; // of which a process has 8 bits
}

// function.cc: disasm --function. Returns 0; throws dfr::Error.
int show_function(const std::string& function);
// "dfr: what", and a second line with the hint.
void print_error(const std::string& what, const std::string& hint);

} // namespace dfr::cli
