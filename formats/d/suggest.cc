// SPDX-License-Identifier: GPL-2.0
//
// Edit distance with transpositions, bounded: names are short, candidates few.
#include "formats/d/suggest.h"

#include <algorithm>

namespace dfr::d {
namespace {

struct Foreign {
	std::string_view name, here;
};

constexpr Foreign kForeign[] = {
    {"comm", "execname"}, {"nsecs", "timestamp"}, {"elapsed", "timestamp"}, {"kstack", "stack()"},
    {"func", "probefunc"}, {"probe", "probename"}, {"retval", "arg1"}, {"curtask", "curthread"},
    {"task", "curthread"}, {"ctx", "args[0]"}, {"username", "uid"}, {"cgroup", "curthread->cgroups"},
    {"hist", "quantize"}, {"lhist", "lquantize"}, {"str", "copyinstr"}, {"kstr", "stringof"},
    {"join", "printf"}, {"delete", "= 0 (assigning 0 frees a variable)"}, {"zero", "clear"},
    {"print_stack", "stack()"}, {"strftime", "printf with %Y"}, {"ksym", "sym"}, {"kaddr", "`symbol"},
    {"stats", "avg"}, {"len", "strlen"}, {"buf", "tracemem"}, {"ntop", "inet_ntop"}, {"reg", "uregs"},
    {"curproc", "curthread"}, {"curpid", "pid"}, {"curcpu_id", "cpu"}, {"jid", "pid"}, {"jailname", "execname"},
    {"cpuid", "cpu"}, {"gettid", "tid"}, {"threadname", "execname"}, {"ktime_get_ns", "timestamp"},
    {"nsec", "timestamp"}, {"walltime", "walltimestamp"}, {"vmregs", "uregs"}, {"kthread", "curthread"},
    {"processname", "execname"}, {"cmdline", "execargs"},
};

size_t distance(std::string_view a, std::string_view b) {
	std::vector<size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
	for (size_t j = 0; j <= b.size(); j++)
		row[j] = j;
	for (size_t i = 1; i <= a.size(); i++) {
		next[0] = i;
		for (size_t j = 1; j <= b.size(); j++) {
			const size_t cost = a[i - 1] != b[j - 1];
			next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + cost});
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				next[j] = std::min(next[j], before[j - 2] + 1);
		}
		before = row;
		row = next;
	}
	return row[b.size()];
}

} // namespace

std::string_view foreign_name(std::string_view name) {
	for (const Foreign& one : kForeign) {
		if (one.name == name)
			return one.here;
	}
	return {};
}

std::string suggest(std::string_view name, const std::vector<std::string_view>& candidates) {
	if (const std::string_view here = foreign_name(name); !here.empty())
		return "in D this is " + std::string(here);
	std::string_view best;
	size_t least = name.size() > 60 ? 0 : 1 + name.size() / 3;
	for (const std::string_view candidate : candidates) {
		if (candidate.size() > name.size() + 3 || candidate.size() + 3 < name.size() || candidate == name)
			continue;
		const size_t away = distance(name, candidate);
		if (away < least || (away == least && best.empty() && least)) {
			least = away;
			best = candidate;
		}
	}
	return best.empty() ? std::string() : "did you mean " + std::string(best) + "?";
}

} // namespace dfr::d
