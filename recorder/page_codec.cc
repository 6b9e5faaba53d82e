// SPDX-License-Identifier: GPL-2.0
//
// lzo1x and snappy are decoded here, because a page needs a decoder of a few lines and the
// libraries' would be two more dependencies (DECISIONS.md). lzo1x as the kernel's
// documents describe its stream (Documentation/staging/lzo.rst), snappy by its
// format_description.txt.
#include "recorder/page_codec.h"

#include <algorithm>
#include <zlib.h>
#include <zstd.h>

namespace dfr::recorder {
namespace {

// What both decoders do: take bytes, append literals, append what stands `distance` before.
class PackedPage {
public:
	PackedPage(std::span<const std::byte> from, std::span<std::byte> to) : from_(from), to_(to) {}
	bool failed() const { return failed_; }
	bool done() const { return failed_ || from_.empty(); }
	bool full() const { return !failed_ && at_ == to_.size(); }
	uint32_t byte() {
		if (from_.empty()) {
			failed_ = true;
			return 0;
		}
		const auto value = static_cast<uint32_t>(from_[0]);
		from_ = from_.subspan(1);
		return value;
	}
	uint32_t little(unsigned bytes) {
		uint32_t value = 0;
		for (unsigned i = 0; i < bytes; i++)
			value |= byte() << (8 * i);
		return value;
	}
	void literals(uint64_t count) {
		if (count > from_.size() || count > to_.size() - at_) {
			failed_ = true;
			return;
		}
		std::copy_n(from_.begin(), count, to_.begin() + at_);
		from_ = from_.subspan(count);
		at_ += count;
	}
	void repeat(uint64_t distance, uint64_t count) {
		if (!distance || distance > at_ || count > to_.size() - at_) {
			failed_ = true;
			return;
		}
		for (; count; count--, at_++)
			to_[at_] = to_[at_ - distance];
	}

private:
	std::span<const std::byte> from_;
	std::span<std::byte> to_;
	uint64_t at_ = 0;
	bool failed_ = false;
};

// A length whose field is 0: each zero byte adds 255, the first other one itself.
uint64_t long_length(PackedPage& window, uint64_t base) {
	uint32_t byte = window.byte();
	for (; !byte && !window.failed(); byte = window.byte())
		base += 255;
	return base + byte;
}

// One instruction of lzo1x. `state`: how many literals the one before it copied, 4: a run of them. False: the end.
bool lzo_step(PackedPage& window, uint32_t& state) {
	const uint32_t code = window.byte();
	uint64_t distance = 0, length = 0;
	uint32_t literals = code & 3;
	if (code >= 64) {
		length = code >= 128 ? 5 + (code >> 5 & 3) : 3 + (code >> 5 & 1);
		distance = (uint64_t{window.byte()} << 3) + (code >> 2 & 7) + 1;
	} else if (code >= 16) {
		const uint32_t mask = code >= 32 ? 31 : 7;
		length = 2 + (code & mask ? code & mask : long_length(window, mask));
		const uint32_t word = window.little(2);
		literals = word & 3;
		distance = (word >> 2) + (code >= 32 ? 1 : 16384 + ((code & 8) << 11));
		if (code < 32 && distance == 16384)
			return false;
	} else if (state == 0) {
		window.literals(3 + (code ? code : long_length(window, 15)));
		state = 4;
		return true;
	} else {
		length = state == 4 ? 3 : 2;
		distance = (uint64_t{window.byte()} << 2) + (code >> 2) + (state == 4 ? 2049 : 1);
	}
	window.repeat(distance, length);
	window.literals(literals);
	state = literals;
	return true;
}

bool unpack_lzo(std::span<const std::byte> packed, std::span<std::byte> page) {
	uint32_t state = 0;
	PackedPage window(packed, page);
	if (!packed.empty() && static_cast<uint32_t>(packed[0]) > 17) {
		const uint32_t count = window.byte() - 17;
		window.literals(count);
		state = std::min(count, 4u);
	}
	while (!window.done() && lzo_step(window, state)) {
	}
	return window.full();
}

bool unpack_snappy(std::span<const std::byte> packed, std::span<std::byte> page) {
	PackedPage window(packed, page);
	uint64_t size = 0;
	uint32_t byte = 0x80;
	for (unsigned shift = 0; byte & 0x80 && shift < 35; shift += 7) {
		byte = window.byte();
		size |= uint64_t{byte & 0x7f} << shift;
	}
	if (size != page.size())
		return false;
	while (!window.done()) {
		const uint32_t tag = window.byte(), rest = tag >> 2;
		if ((tag & 3) == 0)
			window.literals((rest < 60 ? rest : uint64_t{window.little(rest - 59)}) + 1);
		else if ((tag & 3) == 1)
			window.repeat((tag >> 5 << 8) + window.byte(), (rest & 7) + 4);
		else
			window.repeat(window.little((tag & 3) == 2 ? 2 : 4), rest + 1);
	}
	return window.full();
}

bool unpack_zlib(std::span<const std::byte> packed, std::span<std::byte> page) {
	uLongf size = page.size();
	return uncompress(reinterpret_cast<Bytef*>(page.data()), &size,
	                  reinterpret_cast<const Bytef*>(packed.data()), packed.size()) == Z_OK &&
	       size == page.size();
}

} // namespace

bool unpack_page(uint32_t codec, std::span<const std::byte> packed, std::span<std::byte> page) {
	switch (codec) {
	case kPlain:
		if (packed.size() != page.size())
			return false;
		std::copy(packed.begin(), packed.end(), page.begin());
		return true;
	case kZlib: return unpack_zlib(packed, page);
	case kLzo: return unpack_lzo(packed, page);
	case kSnappy: return unpack_snappy(packed, page);
	case kZstd:
		return ZSTD_decompress(page.data(), page.size(), packed.data(), packed.size()) == page.size();
	default: return false;
	}
}

} // namespace dfr::recorder
