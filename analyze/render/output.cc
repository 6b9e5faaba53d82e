// SPDX-License-Identifier: GPL-2.0
//
// Output: buffered writes, freopen and ftruncate.
#include "analyze/render/output.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/error.h"

namespace dfr::render {

Output::~Output() {
	try {
		flush();
	} catch (const Error&) {
		// Whoever cares has flushed before and seen it.
	}
	if (fd_ != home_)
		::close(fd_);
}

void Output::flush() {
	if (fd_ < 0)
		return;
	size_t done = 0;
	while (done < text_.size()) {
		const ssize_t wrote = ::write(fd_, text_.data() + done, text_.size() - done);
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0) {
			text_.clear();
			throw Error::from_errno("cannot write the output", "see that there is room and somebody reads");
		}
		done += static_cast<size_t>(wrote);
	}
	text_.clear();
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
	return {};
}

void Output::truncate() {
	flush();
	struct stat about {};
	if (fd_ >= 0 && ::fstat(fd_, &about) == 0 && S_ISREG(about.st_mode) && ::ftruncate(fd_, 0) == 0)
		(void)::lseek(fd_, 0, SEEK_SET);
}

} // namespace dfr::render
