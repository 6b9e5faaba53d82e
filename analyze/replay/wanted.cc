// SPDX-License-Identifier: GPL-2.0
//
// From what a person asks to a selection of records.
#include "analyze/replay/wanted.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <ctime>

#include "analyze/engine/tick.h"
#include "analyze/libdfr/option_value.h"
#include "formats/error.h"

namespace dfr::replay {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr uint32_t kCpusMost = 65536; // a block's CPU has 16 bits

template <typename T> bool whole_number(std::string_view text, T& value) {
	const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
	return failed == std::errc{} && end == text.data() + text.size();
}

// ".120" behind the seconds as ns, or nothing there; false: anything else.
bool fraction(std::string_view text, int64_t& ns) {
	ns = 0;
	if (text.empty())
		return true;
	if (text[0] != '.' || text.size() < 2 || text.size() > 10)
		return false;
	std::string digits(text.substr(1));
	digits.resize(9, '0');
	return whole_number(digits, ns);
}

// "5s", "0.5s"; a bare number is none.
std::optional<int64_t> span_of(std::string_view text) {
	const size_t named = std::min(text.find_first_not_of("0123456789."), text.size());
	const size_t point = std::min(text.find('.'), named);
	if (named == text.size())
		return std::nullopt;
	if (point == named) {
		const auto span = lib::parse_rate(text);
		return span && *span <= INT64_MAX ? std::optional(static_cast<int64_t>(*span)) : std::nullopt;
	}
	const auto unit = static_cast<int64_t>(engine::time_unit(text.substr(named)).value_or(0));
	int64_t whole = 0, parts = 0; // parts: of kSecond in a unit
	if (unit == 0 || !whole_number(text.substr(0, point), whole) || whole >= INT64_MAX / unit ||
	    !fraction(text.substr(point, named - point), parts))
		return std::nullopt;
	return whole * unit + (unit < kSecond ? parts * unit / kSecond : parts * (unit / kSecond));
}

// A time of day: ns since midnight.
bool time_of_day(const char* text, std::tm& at, int64_t& ns) {
	const char* const rest = strptime(text, "%H:%M:%S", &at);
	return rest && fraction(rest, ns);
}

// A time that ns since the epoch have no room for (before 1678, behind 2262) is the first or the last that they have.
int64_t wall_ns(std::time_t seconds, int64_t ns) {
	int64_t all = 0;
	if (__builtin_mul_overflow(int64_t{seconds}, kSecond, &all) || __builtin_add_overflow(all, ns, &all))
		return seconds < 0 ? INT64_MIN : INT64_MAX;
	return all;
}

// Not February 31, which mktime() takes for a day of March.
bool is_a_day(std::tm date) {
	const int day = date.tm_mday;
	date.tm_hour = 12;
	(void)std::mktime(&date);
	return date.tm_mday == day;
}

std::tm local_time(int64_t wall) {
	const std::time_t seconds = wall / kSecond;
	std::tm local{};
	localtime_r(&seconds, &local);
	return local;
}

// The moment with this time of day, so many days after the day of `wall`; both are ns since the epoch.
int64_t moment_with(int64_t ns_of_day, int64_t wall, int days) {
	std::tm day = local_time(wall);
	day.tm_hour = day.tm_min = day.tm_sec = 0;
	day.tm_mday += days;
	day.tm_isdst = -1;
	return wall_ns(std::mktime(&day), ns_of_day);
}

// The last one between the two times; if there is none, the one of their day; if they are of two, the nearest.
int64_t moment_in(int64_t ns_of_day, int64_t begin, int64_t end) {
	const int64_t today = moment_with(ns_of_day, end, 0);
	const int64_t before = today <= end ? today : moment_with(ns_of_day, end, -1);
	const int64_t after = today <= end ? moment_with(ns_of_day, end, 1) : today;
	if (before >= begin)
		return before;
	if (moment_with(0, begin, 0) == moment_with(0, end, 0))
		return today;
	return begin - before <= after - end ? before : after;
}

// The end of a span that begins at `from`: before it only where it seems to be a mistake, since the recording has
// nothing of the next day.
int64_t moment_after(int64_t from, int64_t ns_of_day, int64_t end) {
	const int64_t same_day = moment_with(ns_of_day, from, 0), next_day = moment_with(ns_of_day, from, 1);
	if (same_day >= from)
		return same_day;
	return next_day <= end || next_day - end <= from - same_day ? next_day : same_day;
}

Extent extent_of(const trace::Merger& merger, trace::BlockSource& source) {
	const trace::Catalog& catalog = source.catalog();
	Extent extent;
	uint64_t go = 0;
	for (const trace::Merger::CpuSpan& span : merger.cpus()) {
		if (!span.latest)
			continue;
		extent.earliest = std::min(extent.earliest, span.earliest);
		extent.to = std::max(extent.to, span.latest);
	}
	extent.until = extent.to;
	for (const trace::EventMark& mark : catalog.events) {
		if (mark.event == DFR_EVENT_GO)
			extent.earliest = std::min(extent.earliest, go = mark.time);
		extent.to = std::max(extent.to, mark.time);
		// These two come whether or not anything is recorded.
		if (mark.event != DFR_EVENT_MARK && mark.event != DFR_EVENT_SNAPSHOT)
			extent.until = std::max(extent.until, mark.time);
	}
	extent.earliest = std::min(extent.earliest, extent.to);
	extent.from = std::min(std::max({extent.earliest, go, merger.horizon()}), extent.to);
	extent.until = std::min(extent.until, catalog.recording_end());
	if (const auto cut = source.cut())
		extent.until = std::min(extent.until, cut->whole_until - 1);
	extent.until = std::max(extent.until, extent.from);
	return extent;
}

// The clock's time for a wall time: the inverse of Catalog::walltime(), whose clocks may have been set. `ends`: as of
// trace::time_by_piece().
uint64_t clock_time(const trace::Catalog& catalog, int64_t wall, bool ends) {
	size_t best = 0;
	const std::vector<trace::Clock>& clocks = catalog.clocks;
	for (size_t i = 1; i < clocks.size(); i++)
		if (static_cast<int64_t>(clocks[i].real) <= wall)
			best = i;
	if (clocks.empty())
		return wall < 0 ? 0 : static_cast<uint64_t>(wall);
	const auto zero = static_cast<__int128>(static_cast<int64_t>(clocks[best].real)) - clocks[best].mono;
	const __int128 mono = wall - zero;
	const auto next = best + 1 < clocks.size() ? std::optional(clocks[best + 1].mono) : std::nullopt;
	return mono < 0 ? 0
	                : trace::time_by_piece(static_cast<uint64_t>(std::min<__int128>(mono, UINT64_MAX)),
	                                       next, ends);
}

// What all recordings have: on the answer's clock, and as wall time.
struct Whole {
	Extent extent;
	int64_t begin = INT64_MAX, end = INT64_MIN;
};

// Which moment a time of day is; `from`: where the span begins that it ends.
int64_t moment_of(const When& when, const Whole& whole, const std::optional<When>& from) {
	if (from && from->base == When::TimeBase::kTimeOfDay)
		return moment_after(moment_in(from->ns, whole.begin, whole.end), when.ns, whole.end);
	return moment_in(when.ns, whole.begin, whole.end);
}

// A moment on one recording's own clock. `ends` a span, which begins at `span_from`.
uint64_t clock_time(const When& when, const Whole& whole, const trace::UnitedSource& of, bool ends,
                    const std::optional<When>& span_from = std::nullopt) {
	const auto ns = static_cast<uint64_t>(when.ns);
	const uint64_t from = whole.extent.from, to = whole.extent.to;
	trace::Catalog const& catalog = of.source->catalog();
	const bool wall = when.base == When::TimeBase::kTimeOfDay || when.base == When::TimeBase::kWallTime;
	if (wall && catalog.clocks.empty())
		throw Error(of.source->name() + " does not say what time it was, so it has no " + when.text,
		            "+5s is after its start, -10s before its end, @NS on its own clock");
	switch (when.base) {
	case When::TimeBase::kAfterStart:
		return of.own_time(from > UINT64_MAX - ns ? UINT64_MAX : from + ns, ends);
	case When::TimeBase::kBeforeEnd: return of.own_time(to - std::min(to, ns), ends);
	case When::TimeBase::kTimeOfDay: return clock_time(catalog, moment_of(when, whole, span_from), ends);
	case When::TimeBase::kWallTime: return clock_time(catalog, when.ns, ends);
	case When::TimeBase::kClock: break;
	}
	return of.own_time(ns, ends);
}

void require_cpus(const Wanted& wanted, std::span<const Selectable> recordings) {
	for (size_t cpu = 0; cpu < wanted.cpus.size(); cpu++) {
		const auto has = [cpu](const Selectable& one) { return one.merger.span_of(cpu).blocks != 0; };
		if (wanted.cpus[cpu] && std::none_of(recordings.begin(), recordings.end(), has))
			throw Error("the recording has nothing of CPU " + std::to_string(cpu),
			            "dfr info FILE shows how many CPUs it has");
	}
}

Whole whole_of(std::span<const Selectable> recordings, const std::vector<Selected>& selected) {
	Whole whole;
	whole.extent.from = UINT64_MAX;
	for (size_t i = 0; i < recordings.size(); i++) {
		const trace::UnitedSource& member = recordings[i].member;
		const Extent& extent = selected[i].extent;
		whole.extent.earliest = std::min(whole.extent.earliest, member.time(extent.earliest));
		whole.extent.from = std::min(whole.extent.from, member.time(extent.from));
		whole.extent.to = std::max(whole.extent.to, member.time(extent.to));
		const trace::Catalog& catalog = member.source->catalog();
		whole.begin = std::min(whole.begin, catalog.walltime(extent.earliest));
		whole.end = std::max(whole.end, catalog.walltime(extent.to));
	}
	return whole;
}

// What a recording lacks of the span that was asked for, as far as any of them reaches.
std::string not_covered(const Wanted& wanted, const Whole& whole, const trace::UnitedSource& of,
                        const Selected& selected) {
	const Extent& extent = selected.extent;
	if (!selected.touched)
		return "nothing of this time";
	const uint64_t from = std::max(selected.records.from, of.own_time(whole.extent.earliest, false));
	const uint64_t to = std::min(selected.records.to, of.own_time(whole.extent.to, true));
	if ((!wanted.from || extent.earliest <= from) && (!wanted.to || extent.to >= to))
		return {};
	const trace::Catalog& catalog = of.source->catalog();
	return "of this time only " + trace::time_text(catalog, std::max(from, extent.earliest)) + "-" +
	       trace::time_text(catalog, std::min(to, extent.to));
}

// What the span selects of one recording.
void select_span(const Wanted& wanted, const Whole& whole, const Selectable& of, bool windowed,
                 Selected& into) {
	const uint64_t horizon = of.merger.horizon();
	auto& [from, to, cpus] = into.records;
	if (wanted.from)
		from = clock_time(*wanted.from, whole, of.member, false);
	else if (windowed && !wanted.all)
		from = horizon;
	const auto cut = of.member.source->cut();
	if (wanted.to)
		to = clock_time(*wanted.to, whole, of.member, true, wanted.from);
	else if (windowed && !wanted.all && cut)
		to = cut->whole_until - 1;
	into.touched = !wanted.part() || (from <= to && from <= into.extent.to && to >= into.extent.earliest);
	if (into.touched && from < horizon && (wanted.from || wanted.all))
		into.reasons.push_back("before " + trace::time_text(of.member.source->catalog(), horizon) +
		                       " records of some CPUs are missing (overwritten, or taken earlier)");
	into.note = not_covered(wanted, whole, of.member, into);
	of.merger.select(into.records);
}

} // namespace

std::optional<When> parse_when(const std::string& text) {
	When when;
	when.text = text;
	std::tm at{};
	int64_t ns = 0;
	if (text.empty())
		return std::nullopt;
	if (text[0] == '+' || text[0] == '-') {
		const auto span = span_of(std::string_view(text).substr(1));
		if (!span)
			return std::nullopt;
		when.base = text[0] == '+' ? When::TimeBase::kAfterStart : When::TimeBase::kBeforeEnd;
		when.ns = *span;
		return when;
	}
	if (text[0] == '@')
		return whole_number(std::string_view(text).substr(1), when.ns) && when.ns >= 0
		           ? std::optional(when)
		           : std::nullopt;
	if (time_of_day(text.c_str(), at, ns)) {
		when.base = When::TimeBase::kTimeOfDay;
		when.ns = (at.tm_hour * 3600 + at.tm_min * 60 + at.tm_sec) * kSecond + ns;
		return when;
	}
	at = {};
	const char* const rest = strptime(text.c_str(), "%Y-%m-%d", &at);
	if (!rest || (*rest != ' ' && *rest != 'T') || !is_a_day(at) || !time_of_day(rest + 1, at, ns))
		return std::nullopt;
	at.tm_isdst = -1;
	when.base = When::TimeBase::kWallTime;
	when.ns = wall_ns(std::mktime(&at), ns);
	return when;
}

std::optional<std::vector<bool>> parse_cpus(const std::string& text) {
	std::vector<bool> cpus;
	for (size_t at = 0; at <= text.size();) {
		const size_t end = std::min(text.find(',', at), text.size());
		const std::string_view part = std::string_view(text).substr(at, end - at);
		const size_t dash = std::min(part.find('-'), part.size());
		uint32_t first = 0, last = 0;
		if (!whole_number(part.substr(0, dash), first) || first >= kCpusMost)
			return std::nullopt;
		last = first;
		if (dash < part.size() &&
		    (!whole_number(part.substr(dash + 1), last) || last < first || last >= kCpusMost))
			return std::nullopt;
		cpus.resize(std::max<size_t>(cpus.size(), last + 1));
		std::fill(cpus.begin() + first, cpus.begin() + last + 1, true);
		at = end + 1;
	}
	return cpus;
}

std::vector<Selected> select(const Wanted& wanted, std::span<const Selectable> recordings, bool windowed) {
	std::vector<Selected> all(recordings.size());
	for (size_t i = 0; i < all.size(); i++) {
		all[i].records.cpus = wanted.cpus;
		recordings[i].merger.select(all[i].records);
		all[i].extent = extent_of(recordings[i].merger, *recordings[i].member.source);
	}
	require_cpus(wanted, recordings);
	const Whole whole = whole_of(recordings, all);
	for (size_t i = 0; i < all.size(); i++)
		select_span(wanted, whole, recordings[i], windowed, all[i]);
	if (std::any_of(all.begin(), all.end(), [](const Selected& one) { return one.touched; }))
		return all;
	if (wanted.from && wanted.to && std::all_of(all.begin(), all.end(), [](const Selected& one) {
		    // One behind the other is a span in which the machine slept.
		    return one.records.from > one.records.to && one.records.from - one.records.to > 1;
	    }))
		throw Error("--from " + wanted.from->text + " is later than --to " + wanted.to->text,
		            "give the earlier time to --from");
	const auto text = [&recordings](uint64_t time) {
		const trace::UnitedSource& member = recordings.front().member;
		return trace::time_text(member.source->catalog(), member.own_time(time, false));
	};
	throw Error("nothing was recorded in this span: the recording is from " +
	                text(whole.extent.earliest) + " to " + text(whole.extent.to),
	            "give --from and --to times inside it; +5s counts from its start, -10s from its end");
}

} // namespace dfr::replay
