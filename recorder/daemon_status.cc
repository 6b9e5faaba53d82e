// SPDX-License-Identifier: GPL-2.0
//
// Lines to a structure and back.
#include "recorder/daemon_status.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace dfr::recorder {
namespace {

constexpr const char* kFolder = "/run/dfr";
constexpr size_t kMost = 64 << 10; // nothing that dfrd writes is as long

// One value of a line.
void put(std::string& out, const char* key, const std::string& value) {
	std::string line = value;
	std::replace(line.begin(), line.end(), '\n', ' ');
	if (!line.empty())
		out += std::string(key) + " " + line + "\n";
}
void put(std::string& out, const char* key, uint64_t value) {
	put(out, key, std::to_string(value));
}
void put(std::string& out, const char* key, int64_t value) {
	put(out, key, std::to_string(value));
}

void put(std::string& out, const char* key, const std::vector<SnapshotUnderWay>& snapshots) {
	for (const SnapshotUnderWay& one : snapshots)
		put(out, key,
		    std::to_string(one.number) + " " + std::to_string(one.time) + " " +
		        std::to_string(one.held_back) + (one.own ? " own " : " program ") + one.reason);
}

void put(std::string& out, const char* key, const std::vector<AskedTriggers>& triggers) {
	for (const AskedTriggers& one : triggers)
		put(out, key, std::to_string(one.count) + (one.oops ? " oops " : " program ") + one.reason);
}

struct Lines {
	std::string text;
	std::string find(const std::string& key) const {
		const std::string start = "\n" + key + " ";
		const size_t at = text.find(start);
		if (at == std::string::npos)
			return {};
		const size_t begin = at + start.size();
		return text.substr(begin, text.find('\n', begin) - begin);
	}
	template <typename T> void get(const char* key, T& into) const {
		const std::string value = find(key);
		std::from_chars(value.data(), value.data() + value.size(), into);
	}
	void get(const char* key, std::string& into) const { into = find(key); }
	void get(const char* key, std::vector<SnapshotUnderWay>& into) const {
		for (std::istringstream& line : all(key)) {
			SnapshotUnderWay one;
			std::string whose;
			if (line >> one.number >> one.time >> one.held_back >> whose &&
			    std::getline(line.ignore(1), one.reason)) {
				one.own = whose == "own";
				into.push_back(std::move(one));
			}
		}
	}
	void get(const char* key, std::vector<AskedTriggers>& into) const {
		for (std::istringstream& line : all(key)) {
			AskedTriggers one;
			std::string whose;
			if (line >> one.count >> whose && std::getline(line.ignore(1), one.reason)) {
				one.oops = whose == "oops";
				into.push_back(std::move(one));
			}
		}
	}
	// The values of a key that may have several.
	std::vector<std::istringstream> all(const char* key) const {
		std::vector<std::istringstream> lines;
		const std::string start = std::string("\n") + key + " ";
		for (size_t at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) {
			const size_t begin = at + start.size();
			lines.emplace_back(text.substr(begin, text.find('\n', begin) - begin));
		}
		return lines;
	}
};

// Both directions by one list, so that none of them forgets a member.
template <typename Status, typename Each> void each(Status& status, Each&& with) {
	with("mode", status.mode);
	with("pid", status.pid);
	with("state", status.state);
	with("program", status.program);
	with("output", status.output);
	with("files", status.files);
	with("bytes", status.bytes);
	with("free", status.free);
	with("snapshots", status.snapshots);
	with("failed", status.failed);
	with("held-back", status.held_back);
	with("last", status.last);
	with("last-reason", status.last_reason);
	with("last-verdict", status.last_verdict);
	with("last-time", status.last_time);
	with("under-way", status.under_way);
	with("asked", status.asked);
	with("trigger", status.triggers);
}

} // namespace

std::string daemon_status_path(const std::string& state) {
	return std::string(kFolder) + "/" + state + ".status";
}

void write_daemon_status(const std::string& path, const DaemonStatus& status) {
	std::string text;
	each(status, [&](const char* key, const auto& value) { put(text, key, value); });
	const std::string temporary = path + ".new";
	::mkdir(kFolder, 0755);
	{
		std::ofstream out(temporary, std::ios::trunc);
		out << text;
		if (!out.flush())
			return;
	}
	std::rename(temporary.c_str(), path.c_str());
}

std::optional<DaemonStatus> read_daemon_status(const std::string& path) {
	std::ifstream in(path);
	if (!in)
		return std::nullopt;
	Lines lines;
	lines.text.resize(kMost);
	in.read(lines.text.data(), static_cast<std::streamsize>(kMost));
	lines.text.resize(static_cast<size_t>(in.gcount()));
	lines.text.insert(0, "\n");
	DaemonStatus status;
	each(status, [&](const char* key, auto& value) { lines.get(key, value); });
	return status;
}

} // namespace dfr::recorder
