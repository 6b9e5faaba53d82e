// SPDX-License-Identifier: GPL-2.0
//
// Processes that tracing goes along with: a command that starts when tracing
// does (-c, `record -- COMMAND`) and processes that were there before (-p).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/libdfr/follower.h"
#include "analyze/render/datum.h"

namespace dfr::lib {

// system(): the shell runs it; false: it could not. A terminal's Ctrl-C reaches it and us. `alive` is called once a
// second meanwhile.
bool run_command(const std::string& line, const std::function<void()>& alive);

class Children {
public:
	Children() = default;
	~Children();
	Children(const Children&) = delete;
	Children& operator=(const Children&) = delete;
	// Forks; the command itself starts with release(). Returns its pid.
	int hold(const std::vector<std::string>& command);
	// A process that is there already. Throws dfr::Error if it is not.
	void watch(int pid);
	// For who may trace his own processes only: throws dfr::Error if one of these is none, because the answer
	// would lack it without a word. What they start later is not asked about.
	void must_be_ours() const;
	// follow: what they have mapped is read before they end, which needs ptrace(2). That shows: a signal
	// that they ignore is not discarded where it is sent. So only who needs it asks for it. Done for root
	// alone: a command that gains privileges when it starts does not if whoever traces it has none.
	void release(bool follow);
	// What has been mapped since, for the names of their addresses.
	void remember_in(render::Symboliser& symbols);

	bool empty() const { return children_.empty(); }
	// Those that have ended since the last call: "pid 5 exited with status 1".
	std::vector<std::string> ended();
	bool all_ended() const;
	// The command, if it was started and had not ended when ended() looked last: "sleep (pid 5)"; else empty.
	std::string running() const;
	// Exit status of the first command, as a shell gives it; -1: not ended.
	int status() const;

private:
	struct Child;
	static std::optional<int> wait_status(Child& child);

	struct Child {
		int pid = 0;
		int go = -1;   // socket: a byte starts it
		int life = -1; // pidfd of a process that is not ours: readable when it has ended
		bool own = false;
		bool over = false;
		int status = -1;
		std::string command = {};
		std::string path = {};              // of its file
		std::unique_ptr<Follower> follower; // who waits for it; null: we
	};
	std::vector<Child> children_;
};

} // namespace dfr::lib
