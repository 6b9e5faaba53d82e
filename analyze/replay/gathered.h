// SPDX-License-Identifier: GPL-2.0
//
// Gathered: the records that an answer is made from: those that were asked for of
// each recording, of all of them in order of time, and the verdict over them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/replay/wanted.h"
#include "formats/trace/followed.h"
#include "formats/trace/united.h"

namespace dfr::replay {

class Gathered {
public:
	// Opens the recordings and selects; throws dfr::Error if nothing can be selected (select()).
	Gathered(const trace::United& all, const Wanted& wanted, bool windowed);

	// A record as it is in the answer, and of which boot it is (UnitedSource); false: no more are wanted.
	using Visit = std::function<bool(const trace::Record&, uint32_t boot)>;
	void run(const Visit& visit);

	// In place of run(), of the only recording, which is still being written: the records that are known to be
	// whole, and so on as it grows. await() comes whenever there are no more, with the time up to which all
	// were given; it waits a moment; false: no more is wanted.
	void follow(trace::FollowedSource& source, const Visit& visit,
	            const std::function<bool(uint64_t until)>& await);

	// In place of run(): Merger::scan(). start_over(): it was in vain, and run() will be called.
	bool can_scan() { return parts_.size() == 1 && parts_.front().merger->can_scan(); }
	// False: in vain, because records are not in order of time.
	bool scan(const std::function<bool(trace::RecordBatch&, uint32_t cpu)>& visit) {
		parts_.front().merger->scan(visit);
		return parts_.front().merger->in_order();
	}
	void start_over();

	// When what was selected begins, as far as go, window and --from say it; nullopt: with the first record.
	std::optional<uint64_t> start() const;
	// When the last of the selected recordings was stopped, or until when it is whole, if it was cut or goes on;
	// nullopt: none says it.
	std::optional<uint64_t> stop() const;
	// Whether everything that was selected of one recording lies in the time that another one of its boot has.
	bool covers(size_t other, size_t one) const;
	// Whether what was selected of two recordings has times in common, in the answer.
	bool overlap(size_t one, size_t other) const;

	// After run().
	// `asked`: what the question is about, by the recording's catalog; by default everything.
	trace::Verdict judge(const std::function<trace::Asked(const trace::Catalog&)>& asked = {});
	uint64_t left_out() const; // records from outside of the windows
	// Why the answer is less than whole, by what was asked for.
	std::vector<std::string> reasons() const;

private:
	struct GatheredPart {
		const trace::UnitedSource& member;
		std::unique_ptr<trace::Merger> merger;
		Selected selected = {};
	};
	const trace::Catalog& catalog(const GatheredPart& part) const {
		return part.member.source->catalog();
	}
	void find_holes(std::vector<std::string>& reasons) const;
	std::optional<uint64_t> start_of(const GatheredPart& part) const;
	// "a.dfr: ", if there are several.
	std::string prefix(const GatheredPart& part) const;
	void merge(const Visit& visit);

	const trace::United& all_;
	const bool passes_marks_; // what was asked for may reach behind a recording's last mark
	std::vector<GatheredPart> parts_;
};

} // namespace dfr::replay
