// SPDX-License-Identifier: GPL-2.0
//
// What the fuzzers of recordings share: decisions taken from the input, a file
// in memory that readers open by path, and the reading of everything that a
// source has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include "formats/error.h"
#include "formats/trace/decode.h"

namespace dfr::fuzz {

// Spends the input byte by byte; zeros when it is used up.
class Decisions {
public:
	Decisions(const uint8_t* data, size_t size) : data_(data), left_(size) {}
	uint8_t byte() {
		if (!left_)
			return 0;
		left_--;
		return *data_++;
	}
	uint16_t half() { return static_cast<uint16_t>(byte() | byte() << 8); }
	uint32_t word() { return half() | static_cast<uint32_t>(half()) << 16; }
	uint64_t wide() { return word() | static_cast<uint64_t>(word()) << 32; }
	// Mostly small: what offsets and counts want to be.
	uint64_t number() {
		const uint8_t choice = byte();
		return choice < 0xe0 ? choice : choice < 0xf8 ? half() : wide();
	}
	std::vector<std::byte> rest() {
		const auto* bytes = reinterpret_cast<const std::byte*>(data_);
		return {bytes, bytes + left_};
	}
	size_t left() const { return left_; }

private:
	const uint8_t* data_;
	size_t left_;
};

class MemoryFile {
public:
	MemoryFile() : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
		if (fd_ < 0)
			std::abort();
	}
	~MemoryFile() { close(fd_); }
	const std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }
	void fill(const std::vector<std::byte>& bytes) const {
		if (ftruncate(fd_, 0) != 0 ||
		    pwrite(fd_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
			std::abort();
	}

private:
	int fd_;
};

// Reads all that there is; the views must be readable to their last byte.
inline uint64_t read_everything(trace::BlockSource& source) {
	uint64_t sum = 0;
	trace::Merger merger(source);
	merger.run([&](const trace::Event& event) {
		for (const trace::Value& value : event.fields) {
			sum += value.number;
			for (const std::byte byte : value.bytes)
				sum += static_cast<uint8_t>(byte);
		}
		for (const char c : event.context.execname)
			sum += static_cast<uint8_t>(c);
		return sum != 0x1234567812345678;
	});
	source.aggregations();
	const trace::Verdict verdict = trace::judge(source, merger);
	sum += trace::verdict_line(verdict, source.catalog()).size();
	while (source.next())
		sum++;
	for (const std::string& remark : source.remarks())
		sum += remark.size();
	return sum;
}

template <typename Work> void tolerate(const Work& work) {
	try {
		work();
	} catch (const Error&) {
	}
}

} // namespace dfr::fuzz
