// SPDX-License-Identifier: GPL-2.0
//
// CRC32C by the processor's own instruction where there is one, else by a table
// that is built on first use. Any thread.
#include "formats/trace/crc32c.h"

#include <array>
#include <cstring>

namespace dfr::trace {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;

std::array<uint32_t, 256> make_table() {
	std::array<uint32_t, 256> table{};
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ kPolynomial : crc >> 1;
		table[i] = crc;
	}
	return table;
}

uint32_t by_table(std::span<const std::byte> bytes, uint32_t crc) {
	static const std::array<uint32_t, 256> table = make_table();
	for (const std::byte byte : bytes)
		crc = crc >> 8 ^ table[(crc ^ static_cast<uint32_t>(byte)) & 0xff];
	return crc;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) uint32_t by_instruction(std::span<const std::byte> bytes, uint32_t crc) {
	const std::byte* at = bytes.data();
	size_t left = bytes.size();
	uint64_t wide = crc;
	for (; left >= 8; left -= 8, at += 8) {
		uint64_t word;
		std::memcpy(&word, at, 8);
		wide = __builtin_ia32_crc32di(wide, word);
	}
	crc = static_cast<uint32_t>(wide);
	for (; left; left--, at++)
		crc = __builtin_ia32_crc32qi(crc, static_cast<uint8_t>(*at));
	return crc;
}
#endif

} // namespace

uint32_t crc32c(std::span<const std::byte> bytes, uint32_t before) {
#ifdef __x86_64__
	static const bool fast = __builtin_cpu_supports("sse4.2");
	if (fast)
		return ~by_instruction(bytes, ~before);
#endif
	return ~by_table(bytes, ~before);
}

} // namespace dfr::trace
