// SPDX-License-Identifier: GPL-2.0
//
// Edit distance with transpositions, bounded: names are short, candidates few.
#include "formats/d/suggest.h"

#include <algorithm>

#include "formats/d/definitions.h"
#include "formats/d/lexer.h"
#include "formats/d/target.h"

namespace dfr::d {
namespace {

struct Foreign {
	std::string_view name, here;
};

constexpr Foreign kForeign[] = {
    {"comm", "execname"},
    {"nsecs", "timestamp"},
    {"elapsed", "timestamp"},
    {"kstack", "stack()"},
    {"func", "probefunc"},
    {"probe", "probename"},
    {"retval", "arg1"},
    {"curtask", "curthread"},
    {"task", "curthread"},
    {"ctx", "args[0]"},
    {"username", "uid"},
    {"cgroup", "curthread->cgroups"},
    {"hist", "quantize"},
    {"lhist", "lquantize"},
    {"str", "copyinstr"},
    {"kstr", "stringof"},
    {"join", "printf"},
    {"delete", "= 0 (assigning 0 frees a variable)"},
    {"zero", "clear"},
    {"print_stack", "stack()"},
    {"strftime", "printf with %Y"},
    {"ksym", "sym"},
    {"kaddr", "`symbol"},
    {"stats", "avg"},
    {"len", "strlen"},
    {"buf", "tracemem"},
    {"ntop", "inet_ntop"},
    {"reg", "uregs"},
    {"curproc", "curthread"},
    {"curpid", "pid"},
    {"curcpu_id", "cpu"},
    {"jid", "curthread->nsproxy->pid_ns_for_children->ns.inum, for a container (Linux has no jails)"},
    {"jailname", "curthread->nsproxy->uts_ns->name.nodename, for a container (Linux has no jails)"},
    {"cpuid", "cpu"},
    {"gettid", "tid"},
    {"threadname", "execname"},
    {"ktime_get_ns", "timestamp"},
    {"nsec", "timestamp"},
    {"walltime", "walltimestamp"},
    {"vmregs", "uregs"},
    {"kthread", "curthread"},
    {"processname", "execname"},
    {"cmdline", "execargs"},
};

struct ForeignProbe {
	std::string_view provider, function; // an empty function: all of the provider's
	std::string_view instead;
};

constexpr ForeignProbe kForeignProbes[] = {
    {"fbt", "bcopy",
     "Linux copies with memcpy, which cannot be probed; probe who calls it: fbt::skb_copy_bits:entry"},
    {"fbt", "malloc", "the kernel's allocator is fbt::__kmalloc*:entry"},
    {"fbt", "free", "the kernel's allocator is fbt::kfree:entry"},
    {"fbt", "kmem_alloc", "the kernel's allocator is fbt::__kmalloc*:entry"},
    {"fbt", "kmem_free", "the kernel's allocator is fbt::kfree:entry"},
    {"fbt", "mutex_enter", "use fbt::mutex_lock:entry"},
    {"fbt", "mutex_vector_enter", "fbt::__mutex_lock*:entry shows who waits for a mutex"},
    {"fbt", "biodone", "io:::done fires at the end of a transfer"},
    {"fbt", "bdev_strategy", "io:::start fires at the start of a transfer"},
    {"fbt", "cv_wait", "sched:::sleep fires when a thread goes to sleep"},
    {"fbt", "swtch", "sched:::off-cpu fires when a thread leaves a CPU"},
    {"fbt", "ufs_*", "use the probes of vfs:::, which all file systems have"},
    {"syscall", "exec", "Linux calls it execve: syscall::execve*:entry, or proc:::exec"},
    {"syscall", "exece", "Linux calls it execve: syscall::execve*:entry, or proc:::exec"},
    {"syscall", "rexit", "Linux calls it exit_group: syscall::exit_group:entry, or proc:::exit"},
    {"syscall", "forksys", "Linux calls it clone: syscall::clone*:entry, or proc:::create"},
    {"syscall", "open64", "Linux calls it openat: syscall::openat*:entry"},
    {"syscall", "stat64", "Linux calls it newfstatat: syscall::newfstat*:entry"},
    {"syscall", "pread", "Linux calls it pread64"},
    {"syscall", "pwrite", "Linux calls it pwrite64"},
    {"lockstat", "",
     "it comes with a later version; until then fbt::__mutex_lock*:entry and "
     "fbt::queued_spin_lock_slowpath:entry show "
     "who waits"},
    {"plockstat", "",
     "it needs probes in user space, which come with a later version; syscall::futex:entry shows who waits"},
    {"pid", "", "user functions come with a later version; ustack() at syscall:::entry shows who calls"},
    {"vminfo", "",
     "it comes with a later version; until then fbt::handle_mm_fault:return and sdt:exceptions:: show page "
     "faults"},
    {"sysinfo", "",
     "it comes with a later version; until then syscall:::entry and sched:::off-cpu count most of it"},
    {"ip", "",
     "it comes with a later version; until then use fbt::ip_local_deliver:entry and "
     "fbt::ip_finish_output:entry"},
    {"tcp", "",
     "it comes with a later version; until then use sdt:sock::inet_sock_set_state and "
     "fbt::tcp_sendmsg:entry"},
    {"udp", "",
     "it comes with a later version; until then use fbt::udp_sendmsg:entry and fbt::udp_recvmsg:entry"},
    {"cpc", "", "it comes with a later version; until then profile-997 samples by time"},
    {"mib", "", "Linux has no such probes; use sdt:tcp:: or fbt::tcp_v4_do_rcv:entry"},
    {"fsinfo", "", "Linux has no such probes; use vfs::open:entry and the others of vfs"},
    {"nfsv3", "", "Linux has no such probes; use sdt:nfs:: once the module is loaded"},
    {"nfsv4", "", "Linux has no such probes; use sdt:nfs4:: once the module is loaded"},
    {"zfs", "", "use fbt:zfs::entry, if the module zfs is loaded"},
    {"iscsi", "", "Linux has no such probes; use sdt:iscsi:: once the module is loaded"},
    {"xpv", "", "Linux has no such probes; use sdt:xen::"},
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

std::string_view foreign_probe(std::string_view provider, std::string_view function) {
	// pid123, plockstat123: one for each process.
	while (!provider.empty() && provider.back() >= '0' && provider.back() <= '9')
		provider.remove_suffix(1);
	for (const ForeignProbe& one : kForeignProbes) {
		if (one.provider == provider && (one.function.empty() || one.function == function))
			return one.instead;
	}
	return {};
}

std::string suggest(std::string_view name, const std::vector<std::string_view>& candidates) {
	if (const std::string_view here = foreign_name(name); !here.empty())
		return "in D this is " + std::string(here);
	std::string_view best;
	size_t least = name.size() > 60 ? 0 : 1 + name.size() / 3;
	for (const std::string_view candidate : candidates) {
		if (candidate.size() > name.size() + 3 || candidate.size() + 3 < name.size() ||
		    candidate == name)
			continue;
		const size_t away = distance(name, candidate);
		if (away < least || (away == least && best.empty() && least)) {
			least = away;
			best = candidate;
		}
	}
	return best.empty() ? std::string() : "did you mean " + std::string(best) + "?";
}

std::string counted_from_left(Target& target, const ProbePattern& wanted, bool option) {
	const std::string* const given[] = {&wanted.provider, &wanted.module, &wanted.function, &wanted.name};
	size_t empty = 0;
	while (empty < std::size(given) && given[empty]->empty())
		empty++;
	if (wanted.id || !wanted.host.empty() || empty == std::size(given))
		return {};
	// Moved as far to the left as may be, then less.
	for (size_t first = 0; first < empty; first++) {
		ProbePattern pattern;
		std::string* const places[] = {&pattern.provider, &pattern.module, &pattern.function,
		                               &pattern.name};
		for (size_t i = empty; i < std::size(given); i++)
			*places[first + i - empty] = *given[i];
		bool found = false;
		target.match(pattern, [&](const ProbeInfo&) { return !(found = true); });
		if (!found)
			continue;
		std::string text;
		for (size_t i = first; i < std::size(places); i++)
			text += (i == first ? "" : ":") + *places[i];
		return std::string("fields are counted from the right; did you mean ") +
		       (option ? "-n " : "") + "'" + text + "'?";
	}
	return {};
}

std::string assigned_below(const Sources& sources, Place read, uint8_t scope, const std::string& variable) {
	const std::string_view text = sources.text(read.source);
	const std::string name = kScopePrefix[scope] + variable;
	for (size_t at = text.find(name, read.offset + 1); at != text.npos; at = text.find(name, at + 1)) {
		const size_t end = std::min(text.find_first_not_of(" \t", at + name.size()), text.size());
		const std::string_view rest = text.substr(end);
		const char before = text[at - 1];
		if (is_word(before) || before == '>' || before == '@' || before == '`' ||
		    !(rest.starts_with('=') || rest.starts_with("+=") || rest.starts_with("++")) ||
		    rest.starts_with("=="))
			continue;
		const Place place{read.source, static_cast<uint32_t>(at)};
		return "it is assigned only below, in line " + std::to_string(sources.locate(place).line) +
		       ", where it gets its type: declare it in front of the clauses, as in " +
		       (scope == DIF_VS_GLOBAL   ? ""
		        : scope == DIF_VS_THREAD ? "self "
		                                 : "this ") +
		       "int " + variable + ";";
	}
	return {};
}

} // namespace dfr::d
