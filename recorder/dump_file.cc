// SPDX-License-Identifier: GPL-2.0
//
// The flattened form: a head of 4096 bytes, then pieces, each with a head of two
// 64-bit numbers (big endian): the offset where it belongs, and its size; -1 at the
// end. A later piece replaces what an earlier one has said. makedumpfile leaves out the end of a
// page behind each map: holes of less than a page are zeros, unless the file was cut there. Longer
// ones cannot be read.
#include "recorder/dump_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <endian.h>
#include <fcntl.h>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/error.h"

namespace dfr::recorder {
namespace {

constexpr uint64_t kFlatHead = 4096;
constexpr uint64_t kHoleMost = 4096 - 1;
// The longest hole of a dump that is cut lacks 24 bytes for each page of memory, whose two maps it has.
constexpr uint64_t kHolesToBytes = 128, kHolesLeast = 1 << 20;
constexpr uint64_t kPieceLeast = 64; // bytes of the file for each piece: more pieces are not kept

} // namespace

DumpFile::DumpFile(const std::string& path) : path_(path) {
	// Of a pipe the open would wait for somebody who writes to it.
	fd_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd_ < 0)
		throw Error::from_errno("cannot open " + path);
	try {
		struct stat status;
		if (::fstat(fd_, &status) != 0)
			throw Error::from_errno("cannot read " + path);
		if (S_ISDIR(status.st_mode))
			throw Error("cannot read " + path + ": it is a folder");
		if (S_ISFIFO(status.st_mode))
			throw Error("cannot read " + path + ": it is a pipe");
		size_ = status.st_size;
		char magic[16] = {};
		read_raw(0, std::as_writable_bytes(std::span(magic)));
		flat_ = std::memcmp(magic, "makedumpfile", 13) == 0;
		if (flat_)
			find_pieces(status.st_size);
	} catch (...) {
		::close(fd_);
		throw;
	}
}

DumpFile::~DumpFile() {
	::close(fd_);
}

void DumpFile::find_pieces(uint64_t file_size) {
	std::map<uint64_t, FilePiece> pieces;
	// Takes [from, to) from the pieces that are there.
	const auto clear = [&pieces](uint64_t from, uint64_t to) {
		auto at = pieces.lower_bound(from);
		if (at != pieces.begin() && std::prev(at)->second.offset + std::prev(at)->second.size > from)
			--at;
		while (at != pieces.end() && at->second.offset < to) {
			const FilePiece old = at->second;
			at = pieces.erase(at);
			if (old.offset < from)
				pieces[old.offset] = {old.offset, from - old.offset, old.place};
			if (old.offset + old.size > to)
				pieces[to] = {to, old.offset + old.size - to, old.place + (to - old.offset)};
		}
	};
	const uint64_t most = file_size / kPieceLeast + 64;
	uint64_t place = kFlatHead;
	cut_ = true;
	for (uint64_t count = 0; count < most; count++) {
		uint64_t head[2];
		if (!read_raw(place, std::as_writable_bytes(std::span(head))))
			break;
		const uint64_t offset = be64toh(head[0]), size = be64toh(head[1]);
		place += sizeof(head);
		if (offset == UINT64_MAX) {
			cut_ = false;
			break;
		}
		if (offset > INT64_MAX || size > INT64_MAX || place >= file_size)
			break;
		const uint64_t there = std::min(size, file_size - place);
		clear(offset, offset + there);
		if (there)
			pieces[offset] = {offset, there, place};
		if (there < size) {
			lost_from_ = offset + there;
			lost_to_ = offset + size;
			break;
		}
		place += size;
	}
	uint64_t stored = 0;
	for (const auto& [offset, piece] : pieces) {
		pieces_.push_back(piece);
		stored += piece.size;
	}
	size_ = pieces_.empty() ? 0 : pieces_.back().offset + pieces_.back().size;
	if ((size_ - stored) / kHolesToBytes > stored + kHolesLeast / kHolesToBytes)
		throw Error("cannot read " + path_ + ": its pieces lie too far apart, so it is damaged");
}

bool DumpFile::read_raw(uint64_t place, std::span<std::byte> into) const {
	while (!into.empty()) {
		const ssize_t got = ::pread(fd_, into.data(), into.size(), static_cast<off_t>(place));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		into = into.subspan(got);
		place += got;
	}
	return true;
}

bool DumpFile::read(uint64_t offset, std::span<std::byte> into) const {
	if (!flat_)
		return read_raw(offset, into);
	while (!into.empty()) {
		const auto next =
		    std::upper_bound(pieces_.begin(), pieces_.end(), offset,
		                     [](uint64_t at, const FilePiece& p) { return at < p.offset; });
		const FilePiece before = next == pieces_.begin() ? FilePiece{} : *std::prev(next);
		size_t size = into.size();
		if (const uint64_t within = offset - before.offset; within < before.size) {
			size = std::min<uint64_t>(size, before.size - within);
			if (!read_raw(before.place + within, into.first(size)))
				return false;
		} else {
			const uint64_t hole = before.offset + before.size;
			if (next == pieces_.end() || next->offset - hole > kHoleMost ||
			    (lost_from_ < next->offset && lost_to_ > hole))
				return false;
			size = std::min<uint64_t>(size, next->offset - offset);
			std::fill_n(into.begin(), size, std::byte{0});
		}
		into = into.subspan(size);
		offset += size;
	}
	return true;
}

} // namespace dfr::recorder
