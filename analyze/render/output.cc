// SPDX-License-Identifier: GPL-2.0
//
// Output: buffered writes, freopen and ftruncate.
#include "analyze/render/output.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/error.h"

namespace dfr::render {
namespace {

constexpr int kAliveMs = 1000; // far below the engine's patience

} // namespace

Output::~Output() {
	try {
		flush();
	} catch (const Error&) {
		// Whoever cares has flushed before and seen it.
	}
	if (fd_ != home_)
		::close(fd_);
}

// Until the descriptor takes something. A reader may pause for as long as it likes, which must not look as if we
// had died: whoever has to be told that we live is told while we wait.
void Output::wait_for_room() {
	pollfd poller{.fd = fd_, .events = POLLOUT, .revents = 0};
	for (int ready = 0; ready == 0 || (ready < 0 && errno == EINTR);) {
		ready = ::poll(&poller, 1, kAliveMs);
		if (ready == 0 && waiting_)
			waiting_();
	}
}

void Output::flush() {
	if (fd_ < 0)
		return;
	struct stat about {};
	// What a pipe promises to take at once when it has room at all; files always have it.
	const size_t most = ::fstat(fd_, &about) == 0 && S_ISREG(about.st_mode) ? SSIZE_MAX : PIPE_BUF;
	for (size_t done = 0; done < text_.size() && !lost_;) {
		if (most == PIPE_BUF)
			wait_for_room();
		const ssize_t wrote = ::write(fd_, text_.data() + done, std::min(text_.size() - done, most));
		if (wrote >= 0)
			done += static_cast<size_t>(wrote);
		else if (errno != EINTR && errno != EAGAIN)
			fail();
	}
	text_.clear();
}

void Output::fail() {
	const Error error =
	    Error::from_errno("cannot write the output",
	                      "check that there is room, and that the reader of the pipe has not ended");
	text_.clear();
	if (!failed_)
		throw error;
	lost_ = true;
	failed_(error);
}

std::string Output::take() {
	std::string text;
	text.swap(text_);
	return text;
}

std::string Output::redirect(const std::string& path) {
	flush();
	int fd = home_;
	if (!path.empty()) {
		fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
		if (fd < 0)
			return std::strerror(errno);
	}
	if (fd_ != home_)
		::close(fd_);
	fd_ = fd;
	lost_ = false;
	return {};
}

void Output::truncate() {
	flush();
	struct stat about {};
	if (fd_ >= 0 && ::fstat(fd_, &about) == 0 && S_ISREG(about.st_mode) && ::ftruncate(fd_, 0) == 0)
		(void)::lseek(fd_, 0, SEEK_SET);
}

} // namespace dfr::render
