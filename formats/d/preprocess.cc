// SPDX-License-Identifier: GPL-2.0
//
// Runs cpp with the program on its standard input. The "#!" line is blanked
// first: cpp would take it for a directive.
#include "formats/d/preprocess.h"

#include <cstdio>
#include <cstdlib>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/error.h"
#include "formats/shown.h"

namespace dfr::d {
namespace {

struct TemporaryFile {
	std::FILE* stream = std::tmpfile();
	TemporaryFile() {
		if (!stream)
			throw Error::from_errno("cannot create a temporary file for the preprocessor",
			                        "check that the temporary directory can be written");
	}
	~TemporaryFile() { std::fclose(stream); }
	TemporaryFile(const TemporaryFile&) = delete;
	TemporaryFile& operator=(const TemporaryFile&) = delete;
};

std::string contents(std::FILE* stream) {
	std::string out;
	std::rewind(stream);
	char buffer[8192];
	while (const size_t got = std::fread(buffer, 1, sizeof buffer, stream))
		out.append(buffer, got);
	return out;
}

} // namespace

std::string preprocess(const std::string& source, const CompileOptions& options) {
	std::string text = source;
	if (text.starts_with("#!"))
		text.replace(0, std::min(text.find('\n'), text.size()), "");
	TemporaryFile input, output, errors;
	std::fwrite(text.data(), 1, text.size(), input.stream);
	std::rewind(input.stream);

	std::string program = "cpp";
	std::vector<std::string> words = {program,
	                                  "-D__SUNW_D=1",
	                                  "-D__SUNW_D_VERSION=0x01000d00",
	                                  "-D__dfr__=1",
	                                  "-D__linux=1",
	                                  "-D__Linux=1",
	                                  "-D__unix=1",
	                                  "-D__SVR4=1",
	                                  "-D__amd64=1",
	                                  "-D__x86_64=1",
	                                  "-Ulinux",
	                                  "-Uunix",
	                                  "-Wno-builtin-macro-redefined"};
	for (const std::string& one : options.cpp_arguments) {
		if (one.starts_with("--cpp="))
			words[0] = one.substr(6);
		else
			words.push_back(one);
	}
	words.emplace_back("-");
	std::vector<char*> arguments;
	for (std::string& one : words)
		arguments.push_back(one.data());
	arguments.push_back(nullptr);

	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fileno(input.stream), 0);
	posix_spawn_file_actions_adddup2(&actions, fileno(output.stream), 1);
	posix_spawn_file_actions_adddup2(&actions, fileno(errors.stream), 2);
	pid_t child = 0;
	std::fflush(input.stream);
	const int failed =
	    posix_spawnp(&child, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
	posix_spawn_file_actions_destroy(&actions);
	if (failed)
		throw Error("cannot run the C preprocessor " + words[0] + ": " + std::strerror(failed),
		            "install the package cpp, or name it with -x cpppath");
	int status = 0;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
	}
	// Errors, warnings, and what -H lists; not that -X gives __STDC__ another value.
	std::string said = contents(errors.stream);
	if (const size_t ours = said.find("<command-line>: warning: undefining \"__STDC__\"\n");
	    ours != std::string::npos)
		said.erase(ours, said.find('\n', ours) + 1 - ours);
	print_lines(stderr, said);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		throw Error("the C preprocessor failed on " + options.name,
		            "correct the directives it names");
	return contents(output.stream);
}

} // namespace dfr::d
