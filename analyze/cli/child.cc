// SPDX-License-Identifier: GPL-2.0
//
// See child.h.
#include "analyze/cli/child.h"

#include <cerrno>
#include <csignal>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dfr::cli {

int run(const std::vector<std::string>& command) {
	std::vector<char*> argv;
	for (const std::string& word : command)
		argv.push_back(const_cast<char*>(word.c_str()));
	argv.push_back(nullptr);
	pid_t child = 0, ended = 0;
	int status = 0;
	if (::posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ) != 0)
		return -1;
	while ((ended = ::waitpid(child, &status, 0)) < 0 && errno == EINTR)
		::kill(child, SIGTERM); // a signal that the caller has caught
	if (ended != child)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int run_for_kernel(const char* command, const std::string& release) {
	return run({"sh", "-c", command, "sh", release});
}

} // namespace dfr::cli
