// SPDX-License-Identifier: GPL-2.0
//
// What the fuzzers of recordings share: a file in memory that readers open by
// path, and the reading of everything that a source has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include "formats/error.h"
#include "formats/trace/container.h"
#include "formats/trace/decode.h"
#include "formats/trace/file.h"
#include "formats/trace/verify.h"
#include "formats/types/kernel_types.h"
#include "tests/fuzz/decisions.h"
#include "tests/fuzz/types_exercise.h"

namespace dfr::fuzz {

class MemoryFile {
public:
	MemoryFile() : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
		if (fd_ < 0)
			std::abort();
	}
	~MemoryFile() { close(fd_); }
	MemoryFile(const MemoryFile&) = delete;
	MemoryFile& operator=(const MemoryFile&) = delete;
	std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }
	void fill(const std::vector<std::byte>& bytes) const {
		if (ftruncate(fd_, 0) != 0 ||
		    pwrite(fd_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
			std::abort();
	}

private:
	int fd_;
};

// As the compiler reads them: types in a file are as hostile as the rest.
inline void read_types(const trace::RecordedTypes& recorded) {
	tolerate([&] {
		const auto kernel = types::KernelTypes::from_bytes(recorded.btf, "the file");
		for (const std::string& name : kernel->names()) {
			const types::Btf* const btf = kernel->container(name);
			exercise(*btf, btf->first_id(), btf->end_id());
		}
	});
}

// As who makes a part of them, and who asks what they say.
inline uint64_t read_kernel_events(const trace::KernelEvents& events) {
	uint64_t sum = events.remarks.size();
	for (const trace::KernelEvents::Event& event :
	     events.only([](const auto& one) { return one.time; }).events)
		sum += event.name + event.text;
	for (const trace::KernelEvents::Event& event : events.events)
		sum += events.texts[event.name].size() + events.texts[event.text].size();
	return sum;
}

// Reads all that there is; the views must be readable to their last byte.
inline uint64_t read_everything(trace::BlockSource& source) {
	uint64_t sum = 0;
	trace::Merger merger(source);
	merger.run([&](const trace::Record& record) {
		for (const trace::Value& value : record.fields) {
			sum += value.number;
			for (const std::byte byte : value.bytes)
				sum += static_cast<uint8_t>(byte);
		}
		for (const char c : record.context.execname)
			sum += static_cast<uint8_t>(c);
		return sum != 0x1234567812345678;
	});
	source.aggregations();
	trace::KnownNames names;
	source.names(names);
	sum += names.size() + names.kernel(sum, sum).has_value() + names.user(1, sum, sum).has_value();
	read_types(source.types());
	sum += read_kernel_events(source.kernel_events());
	const trace::Verdict verdict = trace::judge(source, merger);
	sum += trace::verdict_line(verdict, source.catalog()).size();
	while (source.next())
		sum++;
	for (const std::string& remark : source.remarks())
		sum += remark.size();
	return sum;
}

// A file's recordings: as replay reads them, and as dfr verify does, whose sums must be sums.
inline void read_file(const std::string& path) {
	for (const std::string& recording : trace::recordings_of(path)) {
		const trace::Inspection found = trace::verify_file(recording);
		for (const trace::CpuSum& sum : found.cpus)
			if (sum.committed !=
			    sum.in_file + sum.earlier + sum.overwritten + sum.lost + sum.cut + sum.missing)
				std::abort();
		for (const trace::Finding& one : found.findings)
			if (one.text().size() < one.what.size())
				std::abort();
		trace::ContainerReader(recording).each_segment([](const trace::Segment&) {});
		read_everything(*trace::open_file(recording));
	}
}

} // namespace dfr::fuzz
