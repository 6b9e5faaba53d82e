// SPDX-License-Identifier: GPL-2.0
//
// The skeleton of a .dfr file: header, segments, end mark. Only container.* knows
// these bytes; chunk.h and schema.h define what is in a segment.
//
//   [ FileHead 32 ][ SegmentHead 32 | payload, padded to 8 ] ... [ END ]
//
// A segment's head has its own checksum, so a reader finds the next segment even
// after a damaged payload. Heads start with a magic at multiples of 8, so a reader
// that scans for it finds segments even after a damaged head.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/trace/output_file.h"

namespace dfr::trace {

inline constexpr char kFileMagic[8] = {'\x89', 'd', 'f', 'r', '\r', '\n', '\x1a', '\n'};
inline constexpr uint32_t kFileVersion = 3; // 1 and 2: blocks of versions 1 and 2

struct FileHead {
	char magic[8];
	uint32_t version;
	uint32_t flags;   // 0
	uint64_t created; // ns since the epoch
	uint32_t reserved;
	uint32_t checksum; // of the bytes before
};
static_assert(sizeof(FileHead) == 32);

inline constexpr uint32_t kSegmentMagic = 0x47455344; // "DSEG"

enum class SegmentType : uint16_t {
	kCatalog = 1,
	kChunk,
	kAggregations,
	kLosses,
	kIndex,
	kEnd,            // payload: EndMark; the file is complete
	kAggregationsAt, // payload: u64 time (AggSnapshot), then as in kAggregations
	kNames,          // what addresses are called (names.h); all of them count together
	kTypes,          // the recorded kernel's types (recorded_types.h); the last one counts
	kKernelEvents,   // of the kernel's own tracer (kernel_events.h); the last one counts
};

inline constexpr uint16_t kSegmentZstd = 0x1;  // the payload is compressed as a whole
inline constexpr uint16_t kSegmentWhole = 0x2; // a whole catalog: those before it are not needed
// Who does not know the type must say so, and cannot answer completely. Segments without it are passed over.
inline constexpr uint16_t kSegmentNeeded = 0x4;

struct SegmentHead {
	uint32_t magic;
	uint16_t type;
	uint16_t flags;
	uint64_t stored;           // bytes of the payload in the file, without padding
	uint64_t raw;              // bytes when uncompressed
	uint32_t payload_checksum; // of the payload and its padding
	uint32_t checksum;         // of the head's bytes before this field
};
static_assert(sizeof(SegmentHead) == 32);

struct EndMark {
	uint64_t index; // offset of the INDEX segment's head
	uint64_t size;  // of the whole file
};
inline constexpr uint64_t kEndBytes = sizeof(SegmentHead) + sizeof(EndMark);
inline constexpr uint64_t kMaxRaw = 1ull << 31; // bytes of one segment: a head that says more is damaged
// How large a payload may become that is stored in so many bytes: a small file asks for little memory. A catalog's
// entries take some times more when they have been read; those that writers make become six to ten times as large.
inline constexpr uint64_t raw_most(uint16_t type, uint64_t stored) {
	const uint64_t times = type == static_cast<uint16_t>(SegmentType::kCatalog) ? 64 : 256;
	return std::min(kMaxRaw, std::max<uint64_t>(16 << 20, times * std::min(stored, kMaxRaw)));
}

// Of segments of one type that are kept in memory together: all of them may become as large as one of their size.
inline constexpr const char* kTooLarge =
    "unpack to more than any writer packs into so few bytes, together with those before";
class UnpackBudget {
public:
	// False: that is too much.
	bool take(const SegmentHead& head) {
		stored_ += std::min(head.stored, kMaxRaw);
		raw_ += std::min(head.flags & kSegmentZstd ? head.raw : head.stored, kMaxRaw);
		return raw_ <= raw_most(head.type, stored_);
	}

private:
	uint64_t stored_ = 0, raw_ = 0;
};

inline constexpr uint64_t padded(uint64_t size) {
	return (size + 7) & ~uint64_t{7};
}

// Writes a file from front to back. Throws dfr::Error on every failure. A segment that could not be
// written whole is taken back, so that the next one (a smaller one may find room) starts where a reader
// looks for it. After a failed sync every later one fails too, because the kernel may have dropped what
// it could not write, and would then report success.
class ContainerWriter {
public:
	ContainerWriter(const std::string& path, bool replace, std::unique_ptr<OutputFile> file);
	~ContainerWriter();
	ContainerWriter(const ContainerWriter&) = delete;
	ContainerWriter& operator=(const ContainerWriter&) = delete;

	// Returns the offset of the segment's head. `compress`: by zstd, if that makes it smaller.
	uint64_t append(SegmentType type, uint16_t flags, std::span<const std::byte> payload, bool compress);
	uint64_t size() const { return size_; }
	void require_there(); // ESTALE: somebody has removed the file; sync() asks, too
	void sync();
	void close();

private:
	void write(std::span<const std::byte> bytes);
	void write_segment(std::span<const std::byte> head, std::span<const std::byte> payload);
	std::string path_;
	std::unique_ptr<OutputFile> file_;
	uint64_t size_ = 0;
	int failed_ = 0; // errno of what makes writing on impossible
};

// A segment whose head is sound and whose payload lies inside the file.
struct Segment {
	uint64_t offset = 0; // of the head
	SegmentHead head{};
	uint64_t payload() const { return offset + sizeof(SegmentHead); }
	uint64_t end() const { return payload() + padded(head.stored); }
	SegmentType type() const { return static_cast<SegmentType>(head.type); }
};

// A file may hold several recordings, one behind the other, as `cat` puts them together. "both.dfr#2" is the second of
// those in both.dfr, wherever a file is named (if no file is called that). No more than kRecordingsMost.
inline constexpr size_t kRecordingsMost = 256;
// The names of the recordings in a file: its own name if there is one. Throws dfr::Error, as ContainerReader.
std::vector<std::string> recordings_of(const std::string& path);
// The file in which a recording of this name is: "both.dfr".
std::string file_of(const std::string& recording);

// Reads one recording; offsets are from where it begins. With pread(), because a mapped file that another process
// truncates raises SIGBUS.
class ContainerReader {
public:
	// Throws dfr::Error, also if the file holds several and none is named.
	explicit ContainerReader(const std::string& path);
	~ContainerReader();
	ContainerReader(const ContainerReader&) = delete;
	ContainerReader& operator=(const ContainerReader&) = delete;

	uint64_t size() const { return size_; }
	const std::string& path() const { return path_; }
	bool head_damaged() const { return head_damaged_; }
	bool head_cut() const { return size_ < sizeof(FileHead); }

	// The segment whose head is at `offset`; nullopt: no sound head there, or the segment is cut.
	std::optional<Segment> segment(uint64_t offset) const;
	// The first offset, not below `offset`, with a sound head; its payload may be cut.
	std::optional<uint64_t> find_head(uint64_t offset) const;
	// Every segment that has a sound head; what is damaged between them is passed over.
	void each_segment(const std::function<void(const Segment&)>& visit) const;
	// Fewer bytes than asked for only at the end of the file.
	size_t read(uint64_t offset, std::span<std::byte> into) const;
	// The payload as it is stored, checked; nullopt: damaged.
	std::optional<std::vector<std::byte>> stored(const Segment& segment) const;
	// The payload, checked and uncompressed; nullopt: damaged.
	std::optional<std::vector<std::byte>> payload(const Segment& segment) const;

private:
	friend std::vector<std::string> recordings_of(const std::string& path);
	ContainerReader() = default;
	void open(const std::string& file);
	void check_head();
	uint64_t find_file_head(uint64_t at) const;
	uint64_t next_recording() const;
	std::vector<uint64_t> find_recordings();
	bool is_file_head(uint64_t at) const;
	uint64_t ended_size(uint64_t end) const;

	std::string path_;
	int fd_ = -1;
	uint64_t begin_ = 0, size_ = 0; // of the recording, in the file
	bool head_damaged_ = false;
};

// "records", "catalog"; null: no type that this reader knows.
const char* name_of(SegmentType type);
// Of a segment whose type is not known.
inline constexpr const char* kNeedsNewer = "what they hold must be known to answer: read it with a newer dfr";

// Compresses with zstd; nullopt: that does not make it smaller.
std::optional<std::vector<std::byte>> compress(std::span<const std::byte> raw);
// Fills `raw`; false: `stored` is damaged, or does not give exactly raw.size() bytes.
bool uncompress(std::span<const std::byte> stored, std::span<std::byte> raw);

} // namespace dfr::trace
