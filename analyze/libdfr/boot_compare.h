// SPDX-License-Identifier: GPL-2.0
//
// What became slower between two groups of boots, and how surely (rank_test.h). Three questions are asked: whether the
// boot as a whole became slower, which of its parts take longer, and what came later in its phase. Each has its own
// correction for how many things were looked at, so each errs as seldom as the confidence says, and that any of the three errs
// is up to three times as frequent.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyze/libdfr/boot_initcalls.h"
#include "analyze/libdfr/boot_timeline.h"
#include "analyze/libdfr/rank_test.h"

namespace dfr::lib {

enum class BootQuestionOf { kWhole, kParts, kMoments };

struct BootDifference {
	BootQuestionOf question = BootQuestionOf::kWhole;
	std::string kind;        // login, phase, service, process, initcall; of moments: start, module
	std::string phase, name; // in which phase; not of login and phases
	std::vector<double> before, after; // nanoseconds, in the order of the boots
	double times_before = 0,
	       times_after = 0; // medians of how often it ran; 1 of login, phases and moments
	RankTest test;
	double chance = 1; // corrected
	bool slower = false, faster = false;
};

// What does not occur in every boot. A part that does not occur takes no time, and is compared, too; a moment is not.
struct BootAbsence {
	std::string kind, phase, name;
	size_t before = 0, after = 0; // boots that have it
};

// What ends in some boots and had not ended in others when the recording did: it has no length there, so it is not compared.
// Also what had ended in none, and which no boot before has.
struct BootUnended {
	std::string kind, phase, name;
	size_t before = 0, after = 0; // boots in which it had ended
	bool only_after = true;       // in each boot before it had ended, or did not occur
};

struct BootComparison {
	double confidence = 0, least = 0;        // nanoseconds
	size_t before = 0, after = 0;            // boots
	std::vector<BootDifference> differences; // by question, kind and the size of the shift
	std::vector<BootAbsence> absences;
	size_t left_out = 0;              // no two boots differ in them by `least`
	std::vector<BootUnended> unended; // those first that are so only after
	bool slower() const;
	size_t compared(BootQuestionOf question) const;
	// Whether so few boots could have shown one thing of this question.
	bool could_show(BootQuestionOf question) const;
	// Neither that the boot nor that a part of it became slower could have been shown.
	bool in_vain() const;
	// Something had not ended in boots after alone: how much slower it became nobody knows. Not a service or a process
	// that ends in no boot: it may be meant to stay.
	bool hangs() const;
};

struct CompareOptions {
	double confidence = 0.95;
	double least = 0;     // nanoseconds; 0: a hundredth of a boot
	bool partial = false; // a boot's recording is: only the login prompt is compared
	// The kernel's own events of each boot, those of the first group first; empty: not all boots have them.
	std::vector<BootInitcalls> events;
};
// Each group has 1 to kMostRanked boots.
BootComparison compare_boots(std::span<const BootTimeline> before, std::span<const BootTimeline> after,
                             const CompareOptions& options);

// A program's path or name as it is the same in all boots: without what a boot makes up (numbers of four digits or
// more), whatever kernel it is, and wherever of / and /usr it was found.
std::string lasting_name(const std::string& name);

} // namespace dfr::lib
