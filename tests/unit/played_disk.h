// SPDX-License-Identifier: GPL-2.0
//
// A file in memory on a disk that the test plays: any of its calls can fail, write less
// than it was given, or be the last before the power goes. It keeps apart what was
// written and what was synced.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <vector>

#include "formats/trace/output_file.h"

namespace dfr::test {

struct PowerCut {};

// What remains of a file that its writer owns, and what is to happen to it.
struct Disk {
	std::vector<std::byte> written, synced; // written: as another process reads it now
	uint64_t calls = 0;
	uint64_t fails_at = 0; // this call fails with `error`; 0: none. 1 is the first.
	int error = ENOSPC;
	bool fails_on = false;  // and every later one does
	bool half = false;      // a write that fails writes a half instead; with fails_on the rest fails too
	uint64_t cut_at = 0;    // the power goes at this call
	size_t room = SIZE_MAX; // it is full when the file has so many bytes
};

class PlayedFile final : public trace::OutputFile {
public:
	explicit PlayedFile(Disk& disk) : disk_(disk) {}
	int create(const std::string&, bool) override { return fails() ? -disk_.error : 0; }
	long write(uint64_t offset, std::span<const std::byte> bytes) override {
		const bool failing = fails();
		if (failing && (!disk_.half || bytes.size() < 2))
			return -disk_.error;
		// A full disk first writes less than it was given; the next call, for the rest, fails.
		const size_t room = disk_.room - std::min<size_t>(disk_.room, offset);
		const size_t n = std::min(failing ? bytes.size() / 2 : bytes.size(), room);
		if (!n)
			return -ENOSPC;
		disk_.written.resize(std::max<size_t>(disk_.written.size(), offset + n));
		std::copy_n(bytes.begin(), n, disk_.written.begin() + static_cast<long>(offset));
		return static_cast<long>(n);
	}
	int truncate(uint64_t size) override {
		if (fails())
			return -disk_.error;
		disk_.written.resize(size);
		return 0;
	}
	int sync() override {
		if (fails())
			return -disk_.error;
		disk_.synced = disk_.written;
		return 0;
	}
	int close() override { return fails() ? -disk_.error : 0; }
	void remove() override { disk_.written.clear(); }

private:
	bool fails() {
		const uint64_t call = ++disk_.calls;
		if (call == disk_.cut_at)
			throw PowerCut{};
		return call == disk_.fails_at || (disk_.fails_on && disk_.fails_at && call > disk_.fails_at);
	}
	Disk& disk_;
};

} // namespace dfr::test
