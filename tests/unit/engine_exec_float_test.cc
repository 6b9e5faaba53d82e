// SPDX-License-Identifier: GPL-2.0
//
// Floating point by integers against the host's own: special values against each
// other, and random ones of all magnitudes. Any NaN equals any other.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <random>

#include "tests/unit/engine_exec_rig.h"

namespace engine_exec_float_test {

namespace {

double number(uint64_t bits) {
	double value;
	std::memcpy(&value, &bits, sizeof(value));
	return value;
}

uint64_t bits(double value) {
	uint64_t result;
	std::memcpy(&result, &value, sizeof(result));
	return result;
}

uint32_t bits(float value) {
	uint32_t result;
	std::memcpy(&result, &value, sizeof(result));
	return result;
}

uint64_t soft(uint32_t subr, uint64_t a, uint64_t b = 0) {
	return dfr_softfloat(subr, a, b);
}

bool same(uint64_t got, double want) {
	return got == bits(want) || (std::isnan(want) && std::isnan(number(got)));
}

bool arithmetic_agrees(uint64_t a, uint64_t b) {
	double x = number(a), y = number(b);
	int64_t order = std::isnan(x) || std::isnan(y) ? 2 : x < y ? -1 : x > y;
	return same(soft(DIF_SUBR_F_ADD, a, b), x + y) && same(soft(DIF_SUBR_F_SUB, a, b), x - y) &&
	       same(soft(DIF_SUBR_F_MUL, a, b), x * y) && same(soft(DIF_SUBR_F_DIV, a, b), x / y) &&
	       static_cast<int64_t>(soft(DIF_SUBR_F_CMP, a, b)) == order;
}

bool conversions_agree(uint64_t a) {
	double x = number(a);
	auto narrow = static_cast<float>(x);
	uint32_t low = static_cast<uint32_t>(a);
	float wide;
	std::memcpy(&wide, &low, sizeof(wide));
	if (soft(DIF_SUBR_F_NEG, a) != (a ^ 1ull << 63) ||
	    !same(soft(DIF_SUBR_F_FROM_I64, a), static_cast<double>(static_cast<int64_t>(a))) ||
	    !same(soft(DIF_SUBR_F_FROM_U64, a), static_cast<double>(a)) ||
	    !same(soft(DIF_SUBR_F_FROM_F32, low), wide))
		return false;
	if (!std::isnan(narrow) && soft(DIF_SUBR_F_TO_F32, a) != bits(narrow))
		return false;
	if (std::fabs(x) < 9.2e18 &&
	    static_cast<int64_t>(soft(DIF_SUBR_F_TO_I64, a)) != static_cast<int64_t>(x))
		return false;
	return !(x >= 0 && x < 1.8e19) || soft(DIF_SUBR_F_TO_U64, a) == static_cast<uint64_t>(x);
}

} // namespace

TEST_CASE("special values", "[exec][float]") {
	std::vector<uint64_t> values;
	for (uint64_t exponent : {0, 1, 2, 896, 897, 1022, 1023, 1024, 1075, 1076, 1085, 1086, 1087, 1150,
	                          1151, 2045, 2046, 2047})
		for (uint64_t fraction :
		     {0ull, 1ull, 2ull, 0xfffffffffffffull, 0x8000000000000ull, 0x8000000000001ull})
			for (uint64_t sign : {0, 1})
				values.push_back(sign << 63 | exponent << 52 | fraction);
	size_t wrong = 0;
	for (uint64_t a : values) {
		wrong += !conversions_agree(a);
		for (uint64_t b : values)
			wrong += !arithmetic_agrees(a, b);
	}
	CHECK(wrong == 0);
}

TEST_CASE("two million random pairs", "[exec][float]") {
	std::mt19937_64 random(20240607);
	size_t wrong = 0;
	for (int i = 0; i < 2000000; i++) {
		uint64_t a = random(), b = random();
		if (i & 1) // magnitudes close to each other, where cancellation and rounding happen
			b = (b & ~(0x7ffull << 52)) | ((a & 0x7ffull << 52) + ((random() % 121 - 60) << 52));
		if (i % 7 == 0) // subnormals and small integers
			a >>= random() % 64;
		if (i % 5 == 0)
			a = bits(static_cast<double>(static_cast<int64_t>(a >> random() % 64)));
		wrong += !arithmetic_agrees(a, b) || !conversions_agree(a);
	}
	CHECK(wrong == 0);
}

TEST_CASE("where C leaves a conversion undefined, ours is not", "[exec][float]") {
	CHECK(soft(DIF_SUBR_F_TO_I64, bits(1e30)) == static_cast<uint64_t>(INT64_MAX));
	CHECK(soft(DIF_SUBR_F_TO_I64, bits(-1e30)) == static_cast<uint64_t>(INT64_MIN));
	CHECK(soft(DIF_SUBR_F_TO_I64, bits(-9223372036854775808.0)) == static_cast<uint64_t>(INT64_MIN));
	CHECK(soft(DIF_SUBR_F_TO_I64, bits(9223372036854775808.0)) == static_cast<uint64_t>(INT64_MAX));
	CHECK(soft(DIF_SUBR_F_TO_I64, bits(double{NAN})) == 0);
	CHECK(soft(DIF_SUBR_F_TO_I64, bits(-double{INFINITY})) == static_cast<uint64_t>(INT64_MIN));
	CHECK(soft(DIF_SUBR_F_TO_U64, bits(-1.5)) == 0);
	CHECK(soft(DIF_SUBR_F_TO_U64, bits(double{INFINITY})) == UINT64_MAX);
	CHECK(soft(DIF_SUBR_F_TO_U64, bits(18446744073709551616.0)) == UINT64_MAX);
	CHECK(soft(DIF_SUBR_F_TO_U64, bits(9223372036854777856.0)) == 9223372036854777856ull);
	CHECK(soft(0x4600, 1, 2) == 0);
}

TEST_CASE("floating point is called like any subroutine", "[exec][float]") {
	using namespace dfr::test;
	Rig rig;
	Code code;
	code.setx(bits(1.5), 1).setx(bits(2.25), 2).flush().pushv(1).pushv(2).call(DIF_SUBR_F_MUL, 3);
	code.flush().pushv(3).call(DIF_SUBR_F_TO_I64, 4).ret(4);
	CHECK(rig.run(code) == 3); // 3.375
}

} // namespace engine_exec_float_test
