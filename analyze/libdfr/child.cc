// SPDX-License-Identifier: GPL-2.0
//
// Commands and processes that tracing goes along with.
#include "analyze/libdfr/child.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <poll.h>
#include <spawn.h>
#include <sstream>
extern "C" {
#include <sys/pidfd.h> // without it in glibc 2.36
}
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "formats/error.h"

namespace dfr::lib {
namespace {

// "exited with status 3", "terminated by SIGKILL", "has exited": how is known of our own children only.
std::string end_of(const std::optional<int>& wait_status) {
	if (!wait_status || *wait_status == 0)
		return "has exited";
	if (WIFEXITED(*wait_status))
		return "exited with status " + std::to_string(WEXITSTATUS(*wait_status));
	const char* const name = ::sigabbrev_np(WTERMSIG(*wait_status));
	return "terminated by " +
	       (name ? std::string("SIG") + name : "signal " + std::to_string(WTERMSIG(*wait_status)));
}

// In the child: waits for its byte, then becomes the command. All else comes before, so that execve() is the first
// of its system calls that is traced.
[[noreturn]] void become(int go, const std::vector<std::string>& command) {
	signal(SIGPIPE, SIG_DFL);
	char byte;
	ssize_t got;
	std::vector<char*> words;
	for (const std::string& word : command)
		words.push_back(const_cast<char*>(word.c_str()));
	words.push_back(nullptr);
	while ((got = ::read(go, &byte, 1)) < 0 && errno == EINTR) {
	}
	if (got != 1) // whoever traces is gone
		::_exit(127);
	::execvp(words[0], words.data());
	const std::string text = "failed to execute " + command[0] + ": " + std::strerror(errno) + "\n";
	(void)!::write(STDERR_FILENO, text.data(), text.size());
	::_exit(127);
}

// Why this file is no program: 0, or an errno.
int refusal(const std::string& path) {
	struct stat found {};
	if (::stat(path.c_str(), &found) != 0)
		return errno;
	return S_ISREG(found.st_mode) && ::access(path.c_str(), X_OK) == 0 ? 0 : EACCES;
}

struct Program {
	std::string path;
	int why = 0; // an errno: there is none
};

// What execvp() will take or say, before anything is traced.
Program program_of(const std::string& command) {
	if (command.find('/') != std::string::npos)
		return {command, refusal(command)};
	const char* const path = std::getenv("PATH");
	const std::string list = path ? path : "/bin:/usr/bin";
	Program program{{}, ENOENT};
	for (size_t at = 0; at <= list.size();) {
		const size_t colon = std::min(list.find(':', at), list.size());
		const std::string file = (colon == at ? "." : list.substr(at, colon - at)) + "/" + command;
		const int here = refusal(file);
		if (here == 0)
			return {file, 0};
		if (here == EACCES)
			program.why = EACCES;
		at = colon + 1;
	}
	return program;
}

// The program that the kernel starts for this file: a script's interpreter, whose rights are those of the process.
std::string started_for(std::string path) {
	for (int depth = 0; depth < 4; depth++) {
		std::ifstream file(path);
		std::string line, interpreter;
		if (!std::getline(file, line) || !line.starts_with("#!") ||
		    !(std::istringstream(line.substr(2)) >> interpreter))
			break;
		path = interpreter;
	}
	return path;
}

// Will the process that runs this file be another user's for the kernel, or have more rights than we?
bool changes_rights(const std::string& command) {
	const std::string path = started_for(command);
	struct stat file {};
	if (::stat(path.c_str(), &file) != 0 || ::access(path.c_str(), R_OK) != 0)
		return true;
	return ((file.st_mode & S_ISUID) && file.st_uid != ::geteuid()) ||
	       ((file.st_mode & S_ISGID) && (file.st_mode & S_IXGRP) && file.st_gid != ::getegid()) ||
	       ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

std::string user_namespace(const std::string& process) {
	char name[64];
	const ssize_t n = ::readlink(("/proc/" + process + "/ns/user").c_str(), name, sizeof(name));
	return n > 0 ? std::string(name, static_cast<size_t>(n)) : std::string();
}

// The kernel shows a process's namespaces to who may look at the process: all its ids are his, and it has no more
// rights. `life`: its pidfd; one that has ended is nobody's.
bool is_ours(int pid, int life) {
	const std::string own = user_namespace("self"), its = user_namespace(std::to_string(pid));
	pollfd end = {life, POLLIN, 0};
	return (!its.empty() && its == own) || ::poll(&end, 1, 0) == 1;
}

} // namespace

bool run_command(const std::string& line, const std::function<void()>& alive) {
	const char* const words[] = {"sh", "-c", line.c_str(), nullptr};
	pid_t pid = 0;
	if (::posix_spawn(&pid, "/bin/sh", nullptr, nullptr, const_cast<char* const*>(words), environ) != 0)
		return false;
	const int life = ::pidfd_open(pid, 0);
	pollfd end = {life, POLLIN, 0};
	while (life >= 0 && ::poll(&end, 1, 1000) != 1)
		alive();
	if (life >= 0)
		::close(life);
	while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
	}
	return true;
}

Children::~Children() {
	for (Child& child : children_) {
		if (child.go >= 0) { // it never started: it must not start now
			::kill(child.pid, SIGKILL);
			::close(child.go);
			::waitpid(child.pid, nullptr, 0);
		}
		if (child.life >= 0)
			::close(child.life);
	}
}

int Children::hold(const std::vector<std::string>& command) {
	if (command.empty())
		throw Error("no command was given", "write it after --, or with -c 'COMMAND'");
	const Program program = program_of(command[0]);
	if (program.why)
		throw Error("failed to execute " + command[0] + ": " + std::strerror(program.why),
		            "give the path of a program, or its name on PATH");
	int ends[2]; // sockets, since writing to one whose other end has gone need not be a signal
	if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		throw Error::from_errno("cannot start " + command[0]);
	const pid_t pid = ::fork();
	if (pid < 0)
		throw Error::from_errno("cannot start " + command[0]);
	if (pid == 0) {
		::close(ends[1]);
		become(ends[0], command);
	}
	::close(ends[0]);
	children_.push_back(
	    {.pid = pid, .go = ends[1], .own = true, .command = command[0], .path = program.path});
	return pid;
}

// A descriptor of the process, since its number may become another's, and since it is there as long as nobody
// waits for it: which may be us, where a shell that started it became dtrace.
void Children::watch(int pid) {
	const int life = ::pidfd_open(pid, 0);
	if (life < 0 && errno == ESRCH)
		throw Error("failed to grab pid " + std::to_string(pid) + ": no such process",
		            "look for it with ps");
	if (life < 0)
		throw Error::from_errno("failed to grab pid " + std::to_string(pid));
	children_.push_back({.pid = pid, .life = life});
}

void Children::must_be_ours() const {
	for (const Child& child : children_) {
		if (child.own && changes_rights(child.path))
			throw Error(child.command +
			                " runs with other rights than yours (set-user-id, capabilities, "
			                "or not readable), so nothing of it would be seen",
			            "trace it as root, or with CAP_PERFMON and CAP_BPF");
		if (!child.own && !is_ours(child.pid, child.life))
			throw Error("failed to grab pid " + std::to_string(child.pid) +
			                ": it is another user's, or has more rights",
			            "trace it as root, or with CAP_PERFMON and CAP_BPF");
	}
}

void Children::release(bool follow) {
	follow &= ::geteuid() == 0;
	for (Child& child : children_) {
		if (child.go < 0)
			continue;
		if (follow)
			child.follower = Follower::start(child.pid);
		(void)!::send(child.go, "g", 1, MSG_NOSIGNAL);
		::close(child.go);
		child.go = -1;
	}
}

void Children::remember_in(render::Symboliser& symbols) {
	for (Child& child : children_) {
		const auto pid = static_cast<uint32_t>(child.pid);
		if (!child.over)
			symbols.remember(pid);
		if (!child.follower)
			continue;
		const std::string maps = child.follower->take_maps();
		if (!maps.empty())
			symbols.remember(pid, maps);
	}
}

// How a child of ours has ended, if it has.
std::optional<int> Children::wait_status(Child& child) {
	int status = 0;
	if (child.follower)
		return child.follower->ended();
	return ::waitpid(child.pid, &status, WNOHANG) == child.pid ? std::optional<int>(status)
	                                                           : std::nullopt;
}

std::vector<std::string> Children::ended() {
	std::vector<std::string> ends;
	for (Child& child : children_) {
		if (child.over)
			continue;
		std::optional<int> known;
		if (child.own) {
			known = wait_status(child);
			child.over = known.has_value();
			if (known)
				child.status =
				    WIFEXITED(*known) ? WEXITSTATUS(*known) : 128 + WTERMSIG(*known);
		} else {
			pollfd end = {child.life, POLLIN, 0};
			child.over = ::poll(&end, 1, 0) == 1;
		}
		if (child.over)
			ends.push_back("pid " + std::to_string(child.pid) + ' ' + end_of(known));
	}
	return ends;
}

bool Children::all_ended() const {
	return std::all_of(children_.begin(), children_.end(), [](const Child& child) { return child.over; });
}

std::string Children::running() const {
	for (const Child& child : children_)
		if (child.own && child.go < 0 && !child.over)
			return child.command + " (pid " + std::to_string(child.pid) + ")";
	return {};
}

int Children::status() const {
	return children_.empty() ? -1 : children_[0].status;
}

} // namespace dfr::lib
