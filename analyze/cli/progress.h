// SPDX-License-Identifier: GPL-2.0
//
// How far a command is, on a terminal, once it has taken two seconds. Nothing is said elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace dfr::cli {

class Progress {
public:
	explicit Progress(std::string what) : what_(std::move(what)) {}
	~Progress(); // takes the line away
	Progress(const Progress&) = delete;
	Progress& operator=(const Progress&) = delete;
	// False: a signal has come, so the work is to end.
	bool at(uint64_t done, uint64_t all);

private:
	std::string what_;
	std::chrono::steady_clock::time_point next_ =
	    std::chrono::steady_clock::now() + std::chrono::seconds(2);
	bool shown_ = false;
};

} // namespace dfr::cli
