// SPDX-License-Identifier: GPL-2.0
//
// dfr::Error, the one exception of the product. It is thrown where a fault is
// seen and caught in main, in the daemon's loop and at thread boundaries. A
// message has three parts: what failed, why, and what to do next. Outcomes that
// are expected (end of data, no such probe) are values, not exceptions.
#pragma once

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace dfr {

class Error : public std::runtime_error {
public:
	// hint, "what to do next", may be empty. code is an errno value or 0.
	explicit Error(const std::string& message, std::string hint = {}, int code = 0)
	    : std::runtime_error(message), hint_(std::move(hint)), code_(code) {}

	const std::string& hint() const noexcept { return hint_; }
	int code() const noexcept { return code_; }

	// what + ": " + the text of errno.
	static Error from_errno(const std::string& what, std::string hint = {}) {
		const int code = errno;
		return Error(what + ": " + std::strerror(code), std::move(hint), code);
	}

private:
	std::string hint_;
	int code_;
};

} // namespace dfr
