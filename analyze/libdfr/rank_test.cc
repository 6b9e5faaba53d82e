// SPDX-License-Identifier: GPL-2.0
//
// See rank_test.h. Ranks are doubled, so that those of equal numbers, which share their mean, are whole.
#include "analyze/libdfr/rank_test.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace dfr::lib {
namespace {

// Doubled ranks of the numbers, in their order.
std::vector<size_t> doubled_ranks(const std::vector<double>& numbers) {
	std::vector<size_t> order(numbers.size()), ranks(numbers.size());
	std::iota(order.begin(), order.end(), 0);
	std::ranges::sort(order, [&numbers](size_t a, size_t b) { return numbers[a] < numbers[b]; });
	for (size_t first = 0; first < order.size();) {
		size_t past = first;
		while (past < order.size() && numbers[order[past]] == numbers[order[first]])
			past++;
		for (size_t i = first; i < past; i++)
			ranks[order[i]] = first + 1 + past; // first + 1 ... past: twice their mean
		first = past;
	}
	return ranks;
}

// For each sum of `count` of the ranks, in how many ways it comes about, as a share of all ways.
std::vector<double> shares_of_sums(const std::vector<size_t>& ranks, size_t count) {
	const size_t most = std::accumulate(ranks.begin(), ranks.end(), size_t{0});
	std::vector<std::vector<double>> ways(count + 1, std::vector<double>(most + 1));
	ways[0][0] = 1;
	for (const size_t rank : ranks)
		for (size_t taken = count; taken > 0; taken--)
			for (size_t sum = most; sum >= rank; sum--)
				ways[taken][sum] += ways[taken - 1][sum - rank];
	const double all = std::accumulate(ways[count].begin(), ways[count].end(), 0.0);
	for (double& share : ways[count])
		share /= all;
	return ways[count];
}

// As far from the middle as this sum, or further, on either side.
double chance_of(const std::vector<size_t>& ranks, size_t count) {
	const auto distance = [&](size_t sum) {
		return std::abs(static_cast<int64_t>(sum) - static_cast<int64_t>(count * (ranks.size() + 1)));
	};
	const size_t found =
	    std::accumulate(ranks.begin(), ranks.begin() + static_cast<ptrdiff_t>(count), size_t{0});
	const std::vector<double> shares = shares_of_sums(ranks, count);
	double chance = 0;
	for (size_t sum = 0; sum < shares.size(); sum++)
		if (distance(sum) >= distance(found))
			chance += shares[sum];
	return std::min(chance, 1.0);
}

// How many of the sorted differences lie outside an interval of this confidence, on each side. `has`: what it then has.
size_t outside(size_t before, size_t after, double wanted, double& has) {
	std::vector<size_t> ranks(before + after);
	for (size_t i = 0; i < ranks.size(); i++)
		ranks[i] = 2 * (i + 1);
	const std::vector<double> shares = shares_of_sums(ranks, before);
	// In this share of the ways `count` differences are of the other sign than the rest.
	const auto share = [&](size_t count) { return shares[before * (before + 1) + 2 * count]; };
	double missed = share(0);
	size_t cut = 0;
	while (2 * (cut + 1) < before * after && rare_enough(2 * (missed + share(cut + 1)), wanted))
		missed += share(++cut);
	has = std::max(0.0, 1 - 2 * missed);
	return cut;
}

} // namespace

double median(std::vector<double> numbers) {
	if (numbers.empty())
		return 0;
	std::ranges::sort(numbers);
	const size_t half = numbers.size() / 2;
	return numbers.size() % 2 ? numbers[half] : (numbers[half - 1] + numbers[half]) / 2;
}

RankTest rank_test(std::span<const double> before, std::span<const double> after, double confidence) {
	std::vector<double> all(before.begin(), before.end()), differences;
	all.insert(all.end(), after.begin(), after.end());
	for (const double one : before)
		for (const double other : after)
			differences.push_back(other - one);
	std::ranges::sort(differences);
	RankTest result;
	result.chance = chance_of(doubled_ranks(all), before.size());
	result.shift = median(differences);
	const size_t cut = outside(before.size(), after.size(), confidence, result.confidence);
	result.low = differences[cut];
	result.high = differences[differences.size() - 1 - cut];
	return result;
}

double least_chance(size_t before, size_t after) {
	double ways = 1;
	for (size_t i = 1; i <= before; i++)
		ways = ways * static_cast<double>(after + i) / static_cast<double>(i);
	return std::min(1.0, 2 / ways);
}

size_t boots_needed(size_t things, double confidence) {
	for (size_t each = 1; each <= kMostRanked; each++)
		if (rare_enough(least_chance(each, each) * static_cast<double>(things), confidence))
			return each;
	return 0;
}

std::vector<double> corrected(const std::vector<double>& chances) {
	std::vector<size_t> order(chances.size());
	std::iota(order.begin(), order.end(), 0);
	std::ranges::sort(order, [&chances](size_t a, size_t b) { return chances[a] < chances[b]; });
	std::vector<double> result(chances.size());
	double least = 0;
	for (size_t i = 0; i < order.size(); i++) {
		least =
		    std::max(least, std::min(1.0, chances[order[i]] * static_cast<double>(order.size() - i)));
		result[order[i]] = least;
	}
	return result;
}

} // namespace dfr::lib
