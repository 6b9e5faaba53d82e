// SPDX-License-Identifier: GPL-2.0
//
// See sha256.h. The constants are the fractional parts of roots of the first primes, as FIPS 180-4 lists them.
#include "bootloader-hooks/boot/sha256.h"

#include <array>
#include <bit>
#include <cstring>
#include <vector>

namespace dfr::boot {
namespace {

constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using HashState = std::array<uint32_t, 8>;

uint32_t big_endian(const uint8_t* at) {
	return uint32_t(at[0]) << 24 | uint32_t(at[1]) << 16 | uint32_t(at[2]) << 8 | at[3];
}

void add_chunk(HashState& state, const uint8_t* chunk) {
	uint32_t word[64];
	for (size_t i = 0; i < 16; i++)
		word[i] = big_endian(chunk + 4 * i);
	for (size_t i = 16; i < 64; i++) {
		const uint32_t a = word[i - 15], b = word[i - 2];
		word[i] = word[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + word[i - 7] +
		          (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
	}
	HashState s = state;
	for (size_t i = 0; i < 64; i++) {
		const uint32_t first = s[7] +
		                       (std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25)) +
		                       ((s[4] & s[5]) ^ (~s[4] & s[6])) + kRound[i] + word[i];
		const uint32_t second = (std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22)) +
		                        ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
		s = {first + second, s[0], s[1], s[2], s[3] + first, s[4], s[5], s[6]};
	}
	for (size_t i = 0; i < 8; i++)
		state[i] += s[i];
}

} // namespace

std::string sha256(std::span<const uint8_t> bytes) {
	HashState state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
	                0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
	const size_t whole = bytes.size() / 64 * 64;
	for (size_t at = 0; at < whole; at += 64)
		add_chunk(state, bytes.data() + at);
	std::vector<uint8_t> rest(bytes.begin() + static_cast<std::ptrdiff_t>(whole), bytes.end());
	rest.push_back(0x80);
	while (rest.size() % 64 != 56)
		rest.push_back(0);
	for (int shift = 56; shift >= 0; shift -= 8)
		rest.push_back(static_cast<uint8_t>(uint64_t(bytes.size()) * 8 >> shift));
	for (size_t at = 0; at < rest.size(); at += 64)
		add_chunk(state, rest.data() + at);
	std::string text;
	for (const uint32_t part : state)
		for (int shift = 28; shift >= 0; shift -= 4)
			text += "0123456789abcdef"[part >> shift & 15];
	return text;
}

} // namespace dfr::boot
