// SPDX-License-Identifier: GPL-2.0
//
// Output: where rendered text goes. A buffer before a file descriptor, which
// freopen() and ftruncate() may turn elsewhere and back. Without a descriptor it
// only collects (tests, libdfr's callbacks).
#pragma once

#include <cstdio>
#include <functional>
#include <string>

#include "formats/error.h"

namespace dfr::render {

class Output {
public:
	explicit Output(int fd) : home_(fd), fd_(fd) {}
	~Output();
	Output(const Output&) = delete;
	Output& operator=(const Output&) = delete;

	// Append here.
	std::string& text() { return text_; }
	// Hands the text to the descriptor when there is much of it.
	void settle() {
		if (text_.size() >= kRoom)
			flush();
	}
	// Throws dfr::Error if it cannot be written, unless on_failure() is set.
	void flush();
	// Called once a second while the descriptor takes nothing.
	void on_waiting(std::function<void()> waiting) { waiting_ = std::move(waiting); }
	// Called with the first failure; text for that descriptor is dropped from then on.
	void on_failure(std::function<void(const Error&)> failed) { failed_ = std::move(failed); }
	// What was collected and not written; empty afterwards.
	std::string take();

	// freopen(): later text is appended to this file; "" is the original again. Why it could not be opened: then
	// nothing changes.
	std::string redirect(const std::string& path);
	void truncate(); // ftruncate(); nothing on what is no file

private:
	static constexpr size_t kRoom = 64 * 1024;
	void wait_for_room();
	void fail();

	int home_;
	int fd_;
	std::string text_;
	bool lost_ = false; // fd_ takes no more
	std::function<void()> waiting_;
	std::function<void(const Error&)> failed_;
};

} // namespace dfr::render
