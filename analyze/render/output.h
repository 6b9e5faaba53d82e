// SPDX-License-Identifier: GPL-2.0
//
// Output: where rendered text goes. A buffer before a file descriptor, which
// freopen() and ftruncate() may turn elsewhere and back. Without a descriptor it
// only collects (tests, libdfr's callbacks).
#pragma once

#include <cstdio>
#include <string>

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
	// Throws dfr::Error if it cannot be written.
	void flush();
	// What was collected and not written; empty afterwards.
	std::string take();

	// freopen(): later text is appended to this file; "" is the original again. Why it could not be opened: then
	// nothing changes.
	std::string redirect(const std::string& path);
	void truncate(); // ftruncate(); nothing on what is no file

private:
	static constexpr size_t kRoom = 64 * 1024;
	int home_;
	int fd_;
	std::string text_;
};

} // namespace dfr::render
