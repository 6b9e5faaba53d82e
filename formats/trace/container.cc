// SPDX-License-Identifier: GPL-2.0
//
// Writing and reading the skeleton of a .dfr file. The reader's input is hostile:
// it compares every length with the file's size before it uses it.
#include "formats/trace/container.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <memory>
#include <new>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <zstd.h>

#include "formats/error.h"
#include "formats/trace/crc32c.h"

namespace dfr::trace {
namespace {

constexpr int kLevel = 3;

template <typename T> std::span<const std::byte> bytes_of(const T& value) {
	return std::as_bytes(std::span(&value, 1));
}

// The checksum of a structure without its last field, which holds it.
template <typename T> uint32_t head_checksum(const T& head) {
	return crc32c(bytes_of(head).first(sizeof(T) - sizeof(uint32_t)));
}

uint64_t now() {
	timespec time;
	clock_gettime(CLOCK_REALTIME, &time);
	return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

Error failure(const std::string& what, int code, const std::string& hint = {}) {
	return Error(what + ": " + std::strerror(code), hint, code);
}

bool head_is_sound(const SegmentHead& head) {
	return head.magic == kSegmentMagic && head.checksum == head_checksum(head) &&
	       head.stored <= kMaxRaw && head.raw <= raw_most(head.type, head.stored);
}

bool head_is_sound(const FileHead& head) {
	return std::memcmp(head.magic, kFileMagic, sizeof(kFileMagic)) == 0 &&
	       head.checksum == head_checksum(head);
}

} // namespace

// zstd's context is created once in each thread, because that takes longer than compressing a small segment.
std::optional<std::vector<std::byte>> compress(std::span<const std::byte> raw) {
	thread_local const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
	                                                                              ZSTD_freeCCtx);
	if (!context)
		throw std::bad_alloc();
	std::vector<std::byte> stored(ZSTD_compressBound(raw.size()));
	const size_t size =
	    ZSTD_compressCCtx(context.get(), stored.data(), stored.size(), raw.data(), raw.size(), kLevel);
	if (ZSTD_isError(size) || size >= raw.size())
		return std::nullopt;
	stored.resize(size);
	return stored;
}

bool uncompress(std::span<const std::byte> stored, std::span<std::byte> raw) {
	thread_local const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
	                                                                              ZSTD_freeDCtx);
	if (!context)
		throw std::bad_alloc();
	const size_t size =
	    ZSTD_decompressDCtx(context.get(), raw.data(), raw.size(), stored.data(), stored.size());
	return !ZSTD_isError(size) && size == raw.size();
}

const char* name_of(SegmentType type) {
	switch (type) {
	case SegmentType::kCatalog: return "catalog";
	case SegmentType::kChunk: return "records";
	case SegmentType::kAggregations:
	case SegmentType::kAggregationsAt: return "aggregations";
	case SegmentType::kLosses: return "ledger";
	case SegmentType::kIndex: return "index";
	case SegmentType::kEnd: return "end mark";
	case SegmentType::kNames: return "names";
	case SegmentType::kTypes: return "types";
	case SegmentType::kKernelEvents: return "the kernel's own events";
	}
	return nullptr;
}

ContainerWriter::ContainerWriter(const std::string& path, bool replace, std::unique_ptr<OutputFile> file)
    : path_(path), file_(std::move(file)) {
	const int code = -file_->create(path, replace);
	if (code == EEXIST)
		require_free(path, replace);
	if (code)
		throw failure("cannot create " + path, code);
	FileHead head{.version = kFileVersion, .flags = 0, .created = now(), .reserved = 0, .checksum = 0};
	std::memcpy(head.magic, kFileMagic, sizeof(kFileMagic));
	head.checksum = head_checksum(head);
	try {
		write(bytes_of(head));
	} catch (const Error&) {
		file_->remove();
		throw;
	}
}

// Removes a file without segments, because its name would only make the next attempt fail.
ContainerWriter::~ContainerWriter() {
	if (file_ && size_ <= sizeof(FileHead))
		file_->remove();
}

void ContainerWriter::write(std::span<const std::byte> bytes) {
	while (!bytes.empty()) {
		const long written = file_->write(size_, bytes);
		if (written == -EINTR)
			continue;
		if (written < 0)
			throw failure("cannot write " + path_, static_cast<int>(-written),
			              "free some space or choose another place");
		bytes = bytes.subspan(written);
		size_ += written;
	}
}

void ContainerWriter::write_segment(std::span<const std::byte> head, std::span<const std::byte> payload) {
	const std::byte zeros[8] = {};
	const uint64_t start = size_;
	if (failed_)
		throw failure("cannot write " + path_, failed_);
	try {
		write(head);
		write(payload);
		write(std::span(zeros).first(padded(payload.size()) - payload.size()));
	} catch (const Error& error) {
		if (file_->truncate(start) != 0)
			failed_ = error.code();
		size_ = start;
		throw;
	}
}

uint64_t ContainerWriter::append(SegmentType type, uint16_t flags, std::span<const std::byte> payload,
                                 bool compressed) {
	const uint64_t offset = size_;
	std::optional<std::vector<std::byte>> small;
	if (compressed)
		small = compress(payload);
	if (small && payload.size() > raw_most(static_cast<uint16_t>(type), small->size()))
		small.reset(); // no reader would unpack it
	const std::span<const std::byte> stored = small ? std::span<const std::byte>(*small) : payload;
	if (payload.size() > kMaxRaw)
		throw Error("cannot write " + path_ + ": a segment of " + std::to_string(payload.size()) +
		            " bytes");
	const std::byte zeros[8] = {};
	const auto padding = std::span(zeros).first(padded(stored.size()) - stored.size());
	SegmentHead head{.magic = kSegmentMagic,
	                 .type = static_cast<uint16_t>(type),
	                 .flags = static_cast<uint16_t>(flags | (small ? kSegmentZstd : 0)),
	                 .stored = stored.size(),
	                 .raw = payload.size(),
	                 .payload_checksum = crc32c(padding, crc32c(stored)),
	                 .checksum = 0};
	head.checksum = head_checksum(head);
	write_segment(bytes_of(head), stored);
	return offset;
}

void ContainerWriter::require_there() {
	if (file_->there() == 0)
		return;
	failed_ = ESTALE; // the rest of it would be lost as well
	throw Error(path_ + " was removed while it was being written", "what was in it is lost", ESTALE);
}

void ContainerWriter::sync() {
	require_there();
	if (!failed_)
		failed_ = -file_->sync();
	if (failed_)
		throw failure("cannot write " + path_ + " to the disk", failed_);
}

void ContainerWriter::close() {
	failed_ = -file_->close();
	file_.reset();
	if (failed_)
		throw failure("cannot close " + path_, failed_);
}

namespace {

// The number behind the last '#' of "both.dfr#2"; 0: it has none, or a file is called that.
size_t number_in(const std::string& path) {
	const size_t mark = path.rfind('#');
	const std::string_view digits = mark == path.npos || mark == 0 || path[mark - 1] == '/'
	                                    ? std::string_view()
	                                    : std::string_view(path).substr(mark + 1);
	size_t number = 0;
	const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
	if (digits.empty() || error != std::errc() || end != digits.end() ||
	    ::access(path.c_str(), F_OK) == 0)
		return 0;
	return number;
}

} // namespace

std::string file_of(const std::string& recording) {
	return number_in(recording) ? recording.substr(0, recording.rfind('#')) : recording;
}

std::vector<std::string> recordings_of(const std::string& path) {
	if (number_in(path))
		return {path};
	ContainerReader whole;
	whole.open(path);
	const size_t count = whole.find_recordings().size();
	std::vector<std::string> names;
	for (size_t i = 1; i <= count; i++)
		names.push_back(count == 1 ? path : path + "#" + std::to_string(i));
	return names;
}

ContainerReader::ContainerReader(const std::string& path) {
	const size_t number = number_in(path);
	open(file_of(path));
	path_ = path;
	try {
		std::vector<uint64_t> begins = find_recordings();
		if (begins.size() > 1 && !number)
			throw Error(path + " holds " + std::to_string(begins.size()) +
			                " recordings, and one is wanted",
			            "name one of them: " + path + "#1");
		if (number > begins.size())
			throw Error(file_of(path) + " holds " + std::to_string(begins.size()) +
			                (begins.size() == 1 ? " recording" : " recordings") +
			                ", and no number " + std::to_string(number),
			            "dfr info " + file_of(path) + " shows what is there");
		begins.push_back(size_);
		const size_t which = number ? number - 1 : 0;
		begin_ = begins[which];
		size_ = begins[which + 1] - begin_;
		check_head();
	} catch (...) {
		::close(fd_);
		throw;
	}
}

void ContainerReader::open(const std::string& file) {
	path_ = file;
	// Of a pipe the open would wait for somebody who writes to it.
	fd_ = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd_ < 0)
		throw Error::from_errno("cannot open " + file, errno == EACCES
		                                                   ? "recordings belong to whoever made them "
		                                                     "(mode 0600): read it as that user"
		                                                   : "");
	struct stat status;
	if (::fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode)) {
		::close(std::exchange(fd_, -1));
		throw Error("cannot read " + file + ": it is not a regular file");
	}
	size_ = status.st_size;
}

void ContainerReader::check_head() {
	FileHead head{};
	const size_t got = read(0, std::as_writable_bytes(std::span(&head, 1)));
	const bool magic = std::memcmp(head.magic, kFileMagic, std::min(got, sizeof(kFileMagic))) == 0;
	const bool sound = got == sizeof(head) && magic && head.checksum == head_checksum(head);
	if (sound && head.version != kFileVersion)
		throw Error("cannot read " + path_ + ": version " + std::to_string(head.version) +
		                " of the format is not known",
		            head.version < kFileVersion ? "read it with the dfr that recorded it"
		                                        : "read it with a newer dfr");
	// A file with a damaged head is still accepted if its magic is right or a segment follows.
	if (!sound && got == sizeof(head))
		head_damaged_ = true;
	if (!magic && !(head_damaged_ && find_head(sizeof(head))))
		throw Error("cannot read " + path_ + ": it is not a .dfr file",
		            "to read a memory image or a crash dump, use dfr harvest");
}

bool ContainerReader::is_file_head(uint64_t at) const {
	FileHead head{};
	return read(at, std::as_writable_bytes(std::span(&head, 1))) == sizeof(head) && head_is_sound(head);
}

// How large the finished recording is that ends there; 0: none does. It may begin anywhere, behind one that was cut.
uint64_t ContainerReader::ended_size(uint64_t end) const {
	struct {
		SegmentHead head;
		EndMark mark;
	} last{};
	static_assert(sizeof(last) == kEndBytes);
	if (end < sizeof(last) ||
	    read(end - sizeof(last), std::as_writable_bytes(std::span(&last, 1))) != sizeof(last) ||
	    !head_is_sound(last.head) || last.head.type != static_cast<uint16_t>(SegmentType::kEnd) ||
	    crc32c(bytes_of(last.mark)) != last.head.payload_checksum)
		return 0;
	return last.mark.size <= end && is_file_head(end - last.mark.size) ? last.mark.size : 0;
}

// The first head of a file, not below `at`, at any byte; size_: there is none.
uint64_t ContainerReader::find_file_head(uint64_t at) const {
	std::vector<std::byte> window(1 << 16);
	while (at < size_) {
		const size_t got = read(at, window);
		if (got < sizeof(FileHead))
			break;
		const auto last = window.begin() + static_cast<std::ptrdiff_t>(got - sizeof(FileHead) + 1);
		const auto magic = std::as_bytes(std::span(kFileMagic));
		for (auto found = window.begin(); found != last; ++found) {
			found = std::find(found, last, magic[0]);
			if (found == last)
				break;
			FileHead head;
			std::memcpy(&head, &*found, sizeof(head));
			if (head_is_sound(head))
				return at + static_cast<uint64_t>(found - window.begin());
		}
		at += got - sizeof(FileHead) + 1; // heads may straddle two windows
	}
	return size_;
}

// Where the next one begins, of several that were not ended; size_: this is the last. One that was cut may end at any
// byte, and within a segment that then seems to go on into the next recording.
uint64_t ContainerReader::next_recording() const {
	uint64_t head = 0; // the next one, once it was looked for
	const auto head_behind = [&](uint64_t at) {
		if (head < at || !head)
			head = find_file_head(std::max<uint64_t>(at, 1));
		return head;
	};
	for (uint64_t at = is_file_head(0) ? sizeof(FileHead) : 0; at < size_;) {
		const std::optional<Segment> found = segment(at);
		if (!found && at && is_file_head(at))
			return at;
		if (found) {
			const uint64_t end = found->end();
			const bool holds_head = end - at >= sizeof(SegmentHead) + sizeof(FileHead) &&
			                        is_file_head(end - sizeof(FileHead));
			const bool goes_on = end == size_ || segment(end) || is_file_head(end);
			if ((goes_on && !holds_head) || head_behind(at) >= end) {
				at = end;
				continue;
			}
		}
		const uint64_t next = find_head(at + 8).value_or(size_);
		if (head_behind(at) < next)
			return head;
		at = next;
	}
	return size_;
}

// Where recordings begin. Finished ones are found from the file's end; where one that is not finished ends is told by the
// head of the next one.
std::vector<uint64_t> ContainerReader::find_recordings() {
	std::vector<uint64_t> finished, begins;
	uint64_t end = size_;
	const auto one_more = [this](size_t count) {
		if (count > kRecordingsMost)
			throw Error("cannot read " + path_ + ": it holds more than " +
			            std::to_string(kRecordingsMost) + " recordings");
	};
	while (const uint64_t size = end ? ended_size(end) : 0) {
		finished.push_back(end -= size);
		one_more(finished.size());
	}
	const uint64_t whole = size_;
	for (size_ = end; size_;) {
		begins.push_back(begin_);
		one_more(finished.size() + begins.size());
		const uint64_t next = next_recording();
		begin_ += next;
		size_ -= next;
	}
	begin_ = 0;
	size_ = whole;
	if (begins.empty() && finished.empty())
		begins.push_back(0);
	begins.insert(begins.end(), finished.rbegin(), finished.rend());
	return begins;
}

ContainerReader::~ContainerReader() {
	if (fd_ >= 0)
		::close(fd_);
}

size_t ContainerReader::read(uint64_t offset, std::span<std::byte> into) const {
	into = into.first(std::min<uint64_t>(into.size(), size_ - std::min(size_, offset)));
	size_t done = 0;
	while (done < into.size()) {
		const ssize_t got =
		    ::pread(fd_, into.data() + done, into.size() - done, begin_ + offset + done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			throw Error::from_errno("cannot read " + path_);
		if (got == 0)
			break;
		done += got;
	}
	return done;
}

std::optional<Segment> ContainerReader::segment(uint64_t offset) const {
	Segment result{.offset = offset};
	if (offset % 8 || offset > size_ || size_ - offset < sizeof(SegmentHead))
		return std::nullopt;
	if (read(offset, std::as_writable_bytes(std::span(&result.head, 1))) != sizeof(SegmentHead) ||
	    !head_is_sound(result.head) || result.end() > size_)
		return std::nullopt;
	return result;
}

std::optional<uint64_t> ContainerReader::find_head(uint64_t offset) const {
	std::vector<std::byte> window;
	for (uint64_t at = padded(offset); at < size_;) {
		// The next one is mostly near, and a crafted file may have very many.
		window.resize(std::clamp<size_t>(4 * window.size(), 1 << 10, 1 << 16));
		const size_t got = read(at, window);
		if (got < sizeof(SegmentHead))
			return std::nullopt;
		for (size_t i = 0; i + sizeof(SegmentHead) <= got; i += 8) {
			SegmentHead head;
			std::memcpy(&head.magic, window.data() + i, sizeof(head.magic));
			if (head.magic != kSegmentMagic)
				continue;
			std::memcpy(&head, window.data() + i, sizeof(head));
			if (head_is_sound(head))
				return at + i;
		}
		at += padded(got - sizeof(SegmentHead) + 1); // heads may straddle two windows
	}
	return std::nullopt;
}

void ContainerReader::each_segment(const std::function<void(const Segment&)>& visit) const {
	for (uint64_t at = sizeof(FileHead); at < size_;) {
		const std::optional<Segment> found = segment(at);
		if (found)
			visit(*found);
		at = found ? found->end() : find_head(at + 8).value_or(size_);
	}
}

std::optional<std::vector<std::byte>> ContainerReader::stored(const Segment& segment) const {
	std::vector<std::byte> stored(padded(segment.head.stored));
	if (read(segment.payload(), stored) != stored.size() ||
	    crc32c(stored) != segment.head.payload_checksum)
		return std::nullopt;
	stored.resize(segment.head.stored);
	return stored;
}

std::optional<std::vector<std::byte>> ContainerReader::payload(const Segment& segment) const {
	std::optional<std::vector<std::byte>> packed = stored(segment);
	if (!packed || !(segment.head.flags & kSegmentZstd))
		return packed;
	std::vector<std::byte> raw(segment.head.raw);
	if (!uncompress(*packed, raw))
		return std::nullopt;
	return raw;
}

} // namespace dfr::trace
