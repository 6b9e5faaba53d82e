// SPDX-License-Identifier: GPL-2.0
//
// See boot_path.h.
#include "analyze/libdfr/boot_path.h"

#include <algorithm>

namespace dfr::lib {
namespace {

constexpr int kMostDeep = 32; // processes of processes; deeper ones count for these

class PathFinder {
public:
	explicit PathFinder(const BootTimeline& boot);
	std::vector<BootStep> find();

private:
	void follow(std::optional<size_t> parent, uint64_t from, uint64_t to, int deep);
	void step(std::optional<size_t> process, uint64_t from, uint64_t to);

	const BootTimeline& boot_;
	std::vector<size_t> of_first_;              // children that ended, the last to end first
	std::vector<std::vector<size_t>> children_; // the same of each process
	std::vector<BootStep> path_;                // backwards
};

PathFinder::PathFinder(const BootTimeline& boot) : boot_(boot), children_(boot.processes.size()) {
	std::map<uint32_t, size_t> alive; // the latest process with this pid
	for (size_t i = 0; i < boot.processes.size(); i++) {
		const BootProcess& one = boot.processes[i];
		const auto parent = alive.find(one.parent);
		if (one.exited && one.parent == kFirstPid)
			of_first_.push_back(i);
		else if (one.exited && parent != alive.end())
			children_[parent->second].push_back(i);
		alive[one.pid] = i;
	}
	const auto by_end = [&boot](size_t a, size_t b) {
		return boot.processes[a].end > boot.processes[b].end;
	};
	std::ranges::stable_sort(of_first_, by_end);
	for (auto& list : children_)
		std::ranges::stable_sort(list, by_end);
}

void PathFinder::step(std::optional<size_t> process, uint64_t from, uint64_t to) {
	if (to > from)
		path_.push_back({from, to, process});
}

// From the end backwards: the child that ended last before, what that waited for, and so on before its beginning.
void PathFinder::follow(std::optional<size_t> parent, uint64_t from, uint64_t to, int deep) {
	if (deep < kMostDeep) {
		for (const size_t i : parent ? children_[*parent] : of_first_) {
			const BootProcess& child = boot_.processes[i];
			if (child.end > to || child.start < from)
				continue;
			step(parent, child.end, to);
			follow(i, child.start, child.end, deep + 1);
			to = child.start;
		}
	}
	step(parent, from, to);
}

std::vector<BootStep> PathFinder::find() {
	follow(std::nullopt, boot_.begin, boot_.login.value_or(boot_.end), 0);
	std::ranges::reverse(path_);
	return std::move(path_);
}

} // namespace

std::vector<BootStep> boot_path(const BootTimeline& boot) {
	return PathFinder(boot).find();
}

} // namespace dfr::lib
