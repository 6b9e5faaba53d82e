// SPDX-License-Identifier: GPL-2.0
//
// Whether the numbers of one group tend to be greater than those of another, for groups of a few: the exact test of
// Mann and Whitney. It counts in how many of all ways to deal the numbers into two groups these are as far apart as
// they are, or further; so it assumes nothing of how they are distributed, only that nothing but the group made a
// difference.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace dfr::lib {

inline constexpr size_t kMostRanked = 40; // numbers of a group

struct RankTest {
	double chance = 1;        // share of the ways, of either sign
	double shift = 0;         // by how much the second group is greater: the median of all differences
	double low = 0, high = 0; // an interval of the shift
	double confidence = 0;    // which it really has: as wanted or more, or what so few can have
};
// Neither group is empty, or has more than kMostRanked.
RankTest rank_test(std::span<const double> before, std::span<const double> after, double confidence);

double median(std::vector<double> numbers); // 0 of none

// Whether so small a chance is what a confidence leaves, with what sums of halves and tenths are off by.
inline bool rare_enough(double chance, double confidence) {
	return chance <= 1 - confidence + 1e-9;
}

// The least chance that groups of these sizes can come to.
double least_chance(size_t before, size_t after);
// How many of each group it takes for one of `things` to be shown; 0: more than kMostRanked.
size_t boots_needed(size_t things, double confidence);

// What each chance is worth where all of these were looked at (Holm): that any is below x by mere chance is at most x.
std::vector<double> corrected(const std::vector<double>& chances);

} // namespace dfr::lib
