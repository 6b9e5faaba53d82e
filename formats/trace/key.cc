// SPDX-License-Identifier: GPL-2.0
//
// Elements of keys.
#include "formats/trace/key.h"

#include <algorithm>
#include <cstring>

namespace dfr::trace {
namespace {

size_t padded_to_word(size_t size) {
	return (size + 7) & ~size_t{7};
}

// Takes `size` bytes and their padding off the front; false if they are not there.
bool take(std::span<const std::byte>& rest, size_t size, std::span<const std::byte>& taken) {
	if (size > rest.size())
		return false;
	taken = rest.first(size);
	rest = rest.subspan(std::min(padded_to_word(size), rest.size()));
	return true;
}

bool take64(std::span<const std::byte>& rest, uint64_t& value) {
	std::span<const std::byte> taken;
	if (!take(rest, 8, taken))
		return false;
	std::memcpy(&value, taken.data(), sizeof value);
	return true;
}

bool take_string(std::span<const std::byte>& rest, std::span<const std::byte>& taken) {
	const auto nul = std::find(rest.begin(), rest.end(), std::byte{0});
	if (nul == rest.end())
		return false;
	const auto length = static_cast<size_t>(nul - rest.begin());
	std::span<const std::byte> with_nul;
	take(rest, length + 1, with_nul);
	taken = with_nul.first(length);
	return true;
}

bool take_frames(std::span<const std::byte>& rest, std::span<const std::byte>& taken) {
	uint64_t frames = 0;
	return take64(rest, frames) && frames <= rest.size() / 8 && take(rest, frames * 8, taken);
}

} // namespace

bool take_key_element(const dfr_field& field, std::span<const std::byte>& rest, KeyElement& element) {
	switch (field.kind) {
	case DFR_FIELD_INT:
	case DFR_FIELD_PROBETEXT: return take64(rest, element.number);
	case DFR_FIELD_STRING: return take_string(rest, element.bytes);
	case DFR_FIELD_BYTES: return take(rest, field.size, element.bytes);
	case DFR_FIELD_STACK: return take_frames(rest, element.bytes);
	case DFR_FIELD_USTACK: return take64(rest, element.number) && take_frames(rest, element.bytes);
	case DFR_FIELD_USYM: return take(rest, 16, element.bytes);
	default: return false;
	}
}

} // namespace dfr::trace
