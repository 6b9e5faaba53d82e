// SPDX-License-Identifier: GPL-2.0
//
// Follower: stands by a command of ours until it has ended, to see what it has
// mapped before that is gone: a command may live for less than a pass of work. A
// thread of its own has it traced (ptrace), so that it waits for nobody else: not at
// its end, nor when signals come for it. Its threads and children are left alone, and
// so is a command that is stopped, from there on.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace dfr::lib {

class Follower {
public:
	// From here on the process is waited for by nobody else. Null: it cannot be traced.
	static std::unique_ptr<Follower> start(int pid);
	// It is followed to its end, though nobody asks any more.
	~Follower();
	Follower(const Follower&) = delete;
	Follower& operator=(const Follower&) = delete;

	// How it has ended, as waitpid(2) says; nullopt: it has not.
	std::optional<int> ended();
	// What it had mapped at its end, or when it was stopped, as /proc/PID/maps says: once; then,
	// and before, empty.
	std::string take_maps();

private:
	struct Shared;
	explicit Follower(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
	static void follow(const std::shared_ptr<Shared>& shared);

	std::shared_ptr<Shared> shared_;
};

} // namespace dfr::lib
