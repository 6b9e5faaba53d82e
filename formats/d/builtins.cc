// SPDX-License-Identifier: GPL-2.0
//
// The tables of D's fixed names. Numbers: formats/abi/dif.h and dof.h.
#include "formats/d/builtins.h"

namespace dfr::d {
namespace {

constexpr Builtin kBuiltins[] = {
    {"arg0", DIF_VAR_ARG0, "int64_t"},
    {"arg1", DIF_VAR_ARG0 + 1, "int64_t"},
    {"arg2", DIF_VAR_ARG0 + 2, "int64_t"},
    {"arg3", DIF_VAR_ARG0 + 3, "int64_t"},
    {"arg4", DIF_VAR_ARG0 + 4, "int64_t"},
    {"arg5", DIF_VAR_ARG0 + 5, "int64_t"},
    {"arg6", DIF_VAR_ARG0 + 6, "int64_t"},
    {"arg7", DIF_VAR_ARG0 + 7, "int64_t"},
    {"arg8", DIF_VAR_ARG0 + 8, "int64_t"},
    {"arg9", DIF_VAR_ARG9, "int64_t"},
    {"args", DIF_VAR_ARGS, "", true},
    {"caller", DIF_VAR_CALLER, "uintptr_t", false, true},
    {"cgroup", DIF_VAR_CGROUP, "uint64_t"},
    {"cpu", DIF_VAR_CPU, "int"},
    {"curthread", DIF_VAR_CURTHREAD, "struct task_struct *", false, true},
    {"epid", DIF_VAR_EPID, "uint_t", false, false, false},
    {"errno", DIF_VAR_ERRNO, "int"},
    {"execname", DIF_VAR_EXECNAME, "string"},
    {"gid", DIF_VAR_GID, "gid_t"},
    {"id", DIF_VAR_ID, "uint_t"},
    {"ipl", DIF_VAR_IPL, "uint_t"},
    {"nspid", DIF_VAR_NSPID, "pid_t"},
    {"pid", DIF_VAR_PID, "pid_t"},
    {"ppid", DIF_VAR_PPID, "pid_t"},
    {"probefunc", DIF_VAR_PROBEFUNC, "string"},
    {"probemod", DIF_VAR_PROBEMOD, "string"},
    {"probename", DIF_VAR_PROBENAME, "string"},
    {"probeprov", DIF_VAR_PROBEPROV, "string"},
    {"stackdepth", DIF_VAR_STACKDEPTH, "uint32_t", false, true},
    {"tid", DIF_VAR_TID, "id_t"},
    {"timestamp", DIF_VAR_TIMESTAMP, "uint64_t"},
    {"ucaller", DIF_VAR_UCALLER, "uint64_t"},
    {"uid", DIF_VAR_UID, "uid_t"},
    {"uregs", DIF_VAR_UREGS, "uint64_t", true},
    {"ustackdepth", DIF_VAR_USTACKDEPTH, "uint32_t"},
    {"vtimestamp", DIF_VAR_VTIMESTAMP, "uint64_t"},
    {"walltimestamp", DIF_VAR_WALLTIMESTAMP, "int64_t"},
    {"zonename", DIF_VAR_ZONENAME, "string", false, true},
};

constexpr Subroutine kSubroutines[] = {
    {DIF_SUBR_ALLOCA, "void *", "i", "void *(size_t)", kWritable},
    {DIF_SUBR_BASENAME, "string", "s", "string (const char *)", kPure},
    {DIF_SUBR_BCOPY, "void", "aai", "void (void *, void *, size_t)"},
    {DIF_SUBR_CLEANPATH, "string", "s", "string (const char *)", kPure},
    {DIF_SUBR_COPYIN, "void *", "ni", "void *(uintptr_t, size_t)", kUserData | kWritable},
    {DIF_SUBR_COPYINSTR, "string", "n?i", "string (uintptr_t, [size_t])", kPure | kUserData},
    {DIF_SUBR_COPYINTO, "void", "niw", "void (uintptr_t, size_t, void *)", kUserData},
    {DIF_SUBR_COPYOUT, "void", "aai", "void (void *, uintptr_t, size_t)", kDestructive},
    {DIF_SUBR_COPYOUTSTR, "void", "sai", "void (char *, uintptr_t, size_t)", kDestructive},
    {DIF_SUBR_D_PATH, "string", "p", "string (struct path *)", kPure | kKernel},
    {DIF_SUBR_DDI_PATHNAME, "string", "ai", "string (void *, int64_t)", kAbsent},
    {DIF_SUBR_DIRNAME, "string", "s", "string (const char *)", kPure},
    {DIF_SUBR_GETF, "struct file *", "i", "struct file *(int)", kPure | kKernel},
    {DIF_SUBR_GETMAJOR, "unsigned int", "i", "uint_t (dev_t)", kPure},
    {DIF_SUBR_GETMINOR, "unsigned int", "i", "uint_t (dev_t)", kPure},
    {DIF_SUBR_HTONL, "uint32_t", "i", "uint32_t (uint32_t)", kPure},
    {DIF_SUBR_HTONLL, "uint64_t", "i", "uint64_t (uint64_t)", kPure},
    {DIF_SUBR_HTONS, "uint16_t", "i", "uint16_t (uint16_t)", kPure},
    {DIF_SUBR_INDEX, "int", "ss?i", "int (const char *, const char *, [int])", kPure},
    {DIF_SUBR_INET_NTOA, "string", "a", "string (ipaddr_t *)", kPure},
    {DIF_SUBR_INET_NTOA6, "string", "6", "string (in6_addr_t *)", kPure},
    {DIF_SUBR_INET_NTOP, "string", "ia", "string (int, void *)", kPure},
    {DIF_SUBR_JSON, "string", "ss", "string (const char *, const char *)", kPure},
    {DIF_SUBR_LINK_NTOP, "string", "ia", "string (int, void *)", kPure},
    {DIF_SUBR_LLTOSTR, "string", "i?i", "string (int64_t, [int])", kPure},
    {DIF_SUBR_MEMREF, "uintptr_t *", "ai", "uintptr_t *(void *, size_t)"},
    {DIF_SUBR_MEMSTR, "string", "aci", "string (void *, char, size_t)", kPure},
    {DIF_SUBR_MSGDSIZE, "size_t", "a", "size_t (mblk_t *)", kAbsent},
    {DIF_SUBR_MSGSIZE, "size_t", "a", "size_t (mblk_t *)", kAbsent},
    {DIF_SUBR_MUTEX_OWNED, "int", "a", "int (struct mutex *)", kPure | kKernel},
    {DIF_SUBR_MUTEX_OWNER, "struct task_struct *", "a", "struct task_struct *(struct mutex *)",
     kPure | kKernel},
    {DIF_SUBR_MUTEX_TYPE_ADAPTIVE, "int", "a", "int (struct mutex *)", kPure | kKernel},
    {DIF_SUBR_MUTEX_TYPE_SPIN, "int", "a", "int (struct mutex *)", kPure | kKernel},
    {DIF_SUBR_NTOHL, "uint32_t", "i", "uint32_t (uint32_t)", kPure},
    {DIF_SUBR_NTOHLL, "uint64_t", "i", "uint64_t (uint64_t)", kPure},
    {DIF_SUBR_NTOHS, "uint16_t", "i", "uint16_t (uint16_t)", kPure},
    {DIF_SUBR_PROGENYOF, "int", "i", "int (pid_t)", kPure},
    {DIF_SUBR_RAND, "int", "", "int (void)"},
    {DIF_SUBR_RANDOM, "uint64_t", "", "uint64_t (void)"},
    {DIF_SUBR_RINDEX, "int", "ss?i", "int (const char *, const char *, [int])", kPure},
    {DIF_SUBR_RW_ISWRITER, "int", "a", "int (rwlock_t *)", kPure | kKernel},
    {DIF_SUBR_RW_READ_HELD, "int", "a", "int (rwlock_t *)", kPure | kKernel},
    {DIF_SUBR_RW_WRITE_HELD, "int", "a", "int (rwlock_t *)", kPure | kKernel},
    {DIF_SUBR_SPECULATION, "int", "", "int (void)"},
    {DIF_SUBR_STRCHR, "string", "sc", "string (const char *, char)", kPure},
    {DIF_SUBR_STRJOIN, "string", "ss", "string (const char *, const char *)", kPure},
    {DIF_SUBR_STRLEN, "size_t", "s", "size_t (const char *)", kPure},
    {DIF_SUBR_STRRCHR, "string", "sc", "string (const char *, char)", kPure},
    {DIF_SUBR_STRSTR, "string", "ss", "string (const char *, const char *)", kPure},
    {DIF_SUBR_STRTOK, "string", "ss", "string (const char *, const char *)"},
    {DIF_SUBR_STRTOLL, "int64_t", "s?i", "int64_t (const char *, [int])", kPure},
    {DIF_SUBR_SUBSTR, "string", "si?i", "string (const char *, int, [int])", kPure},
    {DIF_SUBR_SX_EXCLUSIVE_HELD, "int", "a", "int (struct sx *)", kAbsent},
    {DIF_SUBR_SX_ISEXCLUSIVE, "int", "a", "int (struct sx *)", kAbsent},
    {DIF_SUBR_SX_SHARED_HELD, "int", "a", "int (struct sx *)", kAbsent},
    {DIF_SUBR_TOLOWER, "string", "s", "string (const char *)", kPure},
    {DIF_SUBR_TOUPPER, "string", "s", "string (const char *)", kPure},
    {DIF_SUBR_F_ADD, "double", "vv", "", kPure | kHidden},
    {DIF_SUBR_F_SUB, "double", "vv", "", kPure | kHidden},
    {DIF_SUBR_F_MUL, "double", "vv", "", kPure | kHidden},
    {DIF_SUBR_F_DIV, "double", "vv", "", kPure | kHidden},
    {DIF_SUBR_F_NEG, "double", "v", "", kPure | kHidden},
    {DIF_SUBR_F_CMP, "int", "vv", "", kPure | kHidden},
    {DIF_SUBR_F_FROM_I64, "double", "v", "", kPure | kHidden},
    {DIF_SUBR_F_FROM_U64, "double", "v", "", kPure | kHidden},
    {DIF_SUBR_F_TO_I64, "int64_t", "v", "", kPure | kHidden},
    {DIF_SUBR_F_TO_U64, "uint64_t", "v", "", kPure | kHidden},
    {DIF_SUBR_F_FROM_F32, "double", "v", "", kPure | kHidden},
    {DIF_SUBR_F_TO_F32, "float", "v", "", kPure | kHidden},
};

constexpr unsigned kMany = 0xffff;

constexpr ActionInfo kActions[] = {
    {"trace", DFR_ACT_DIFEXPR, ActionGroup::Trace, 1, 1},
    {"print", DFR_ACT_DIFEXPR, ActionGroup::Print, 1, 1},
    {"printm", DFR_ACT_PRINTM, ActionGroup::Printm, 2, 2},
    {"tracemem", DFR_ACT_TRACEMEM, ActionGroup::Tracemem, 2, 3},
    {"printf", DFR_ACT_PRINTF, ActionGroup::Printf, 1, kMany},
    {"system", DFR_ACT_SYSTEM, ActionGroup::Printf, 1, kMany},
    {"freopen", DFR_ACT_FREOPEN, ActionGroup::Printf, 1, kMany},
    {"printa", DFR_ACT_PRINTA, ActionGroup::Printa, 1, kMany},
    {"stack", DFR_ACT_STACK, ActionGroup::Stack, 0, 1},
    {"ustack", DFR_ACT_USTACK, ActionGroup::UStack, 0, 2},
    {"jstack", DFR_ACT_JSTACK, ActionGroup::UStack, 0, 2},
    {"sym", DFR_ACT_SYM, ActionGroup::Symbol, 1, 1},
    {"func", DFR_ACT_SYM, ActionGroup::Symbol, 1, 1},
    {"mod", DFR_ACT_MOD, ActionGroup::Symbol, 1, 1},
    {"usym", DFR_ACT_USYM, ActionGroup::Symbol, 1, 1},
    {"ufunc", DFR_ACT_USYM, ActionGroup::Symbol, 1, 1},
    {"umod", DFR_ACT_UMOD, ActionGroup::Symbol, 1, 1},
    {"uaddr", DFR_ACT_UADDR, ActionGroup::Symbol, 1, 1},
    {"clear", DFR_ACT_LIBACT, ActionGroup::Libact, 1, 1, DFR_LIBACT_CLEAR},
    {"trunc", DFR_ACT_LIBACT, ActionGroup::Libact, 1, 2, DFR_LIBACT_TRUNC},
    {"normalize", DFR_ACT_LIBACT, ActionGroup::Libact, 2, 2, DFR_LIBACT_NORMALIZE},
    {"denormalize", DFR_ACT_LIBACT, ActionGroup::Libact, 1, 1, DFR_LIBACT_DENORMALIZE},
    {"ftruncate", DFR_ACT_LIBACT, ActionGroup::Libact, 0, 0, DFR_LIBACT_FTRUNCATE},
    {"setopt", DFR_ACT_LIBACT, ActionGroup::Libact, 1, 2, DFR_LIBACT_SETOPT},
    {"exit", DFR_ACT_EXIT, ActionGroup::Exit, 1, 1},
    {"speculate", DFR_ACT_SPECULATE, ActionGroup::Speculative, 1, 1},
    {"commit", DFR_ACT_COMMIT, ActionGroup::Speculative, 1, 1},
    {"discard", DFR_ACT_DISCARD, ActionGroup::Speculative, 1, 1},
    {"stop", DFR_ACT_STOP, ActionGroup::Destructive, 0, 0},
    {"raise", DFR_ACT_RAISE, ActionGroup::Destructive, 1, 1},
    {"breakpoint", DFR_ACT_BREAKPOINT, ActionGroup::Destructive, 0, 0},
    {"panic", DFR_ACT_PANIC, ActionGroup::Destructive, 0, 0},
    {"chill", DFR_ACT_CHILL, ActionGroup::Destructive, 1, 1},
    {"capture", DFR_ACT_CAPTURE, ActionGroup::Capture, 0, kMany},
    {"snapshot", DFR_ACT_SNAPSHOT, ActionGroup::Snapshot, 1, 1},
};

constexpr AggFunction kAggFunctions[] = {
    {"count", DFR_ACT_COUNT, 0, 0, 0},
    {"sum", DFR_ACT_SUM, 1, 1, 0},
    {"avg", DFR_ACT_AVG, 1, 1, 0},
    {"min", DFR_ACT_MIN, 1, 1, 0},
    {"max", DFR_ACT_MAX, 1, 1, 0},
    {"stddev", DFR_ACT_STDDEV, 1, 1, 0},
    {"quantize", DFR_ACT_QUANTIZE, 1, 2, 0},
    {"lquantize", DFR_ACT_LQUANTIZE, 3, 5, 3},
    {"llquantize", DFR_ACT_LLQUANTIZE, 5, 6, 4},
};

template <typename Table> auto by_name(const Table& table, std::string_view name) -> decltype(&table[0]) {
	for (const auto& one : table) {
		if (one.name == name)
			return &one;
	}
	return nullptr;
}

} // namespace

const Builtin* find_builtin(std::string_view name) {
	return by_name(kBuiltins, name);
}
const ActionInfo* find_action(std::string_view name) {
	return by_name(kActions, name);
}
const AggFunction* find_agg_function(std::string_view name) {
	return by_name(kAggFunctions, name);
}

bool in_every_record(uint32_t id) {
	switch (id) {
	case DIF_VAR_TIMESTAMP:
	case DIF_VAR_WALLTIMESTAMP:
	case DIF_VAR_EPID:
	case DIF_VAR_ID:
	case DIF_VAR_PROBEPROV:
	case DIF_VAR_PROBEMOD:
	case DIF_VAR_PROBEFUNC:
	case DIF_VAR_PROBENAME:
	case DIF_VAR_PID:
	case DIF_VAR_TID:
	case DIF_VAR_EXECNAME:
	case DIF_VAR_NSPID:
	case DIF_VAR_CGROUP:
	case DIF_VAR_CPU: return true;
	default: return false;
	}
}

const Subroutine* find_subroutine(std::string_view name) {
	for (const Subroutine& one : kSubroutines) {
		if (one.name() == name)
			return one.flags & kHidden ? nullptr : &one;
	}
	return nullptr;
}

const Subroutine* find_subroutine(uint32_t number) {
	for (const Subroutine& one : kSubroutines) {
		if (one.number == number)
			return &one;
	}
	return nullptr;
}

const AggFunction* find_agg_function(uint32_t kind) {
	for (const AggFunction& one : kAggFunctions) {
		if (one.kind == kind)
			return &one;
	}
	return nullptr;
}

std::vector<std::string_view> builtin_names() {
	std::vector<std::string_view> names;
	for (const Builtin& one : kBuiltins)
		names.push_back(one.name);
	return names;
}

std::vector<std::string_view> function_names() {
	std::vector<std::string_view> names;
	for (const Subroutine& one : kSubroutines) {
		if (!(one.flags & kHidden))
			names.push_back(one.name());
	}
	for (const ActionInfo& one : kActions)
		names.push_back(one.name);
	for (const AggFunction& one : kAggFunctions)
		names.push_back(one.name);
	return names;
}

} // namespace dfr::d
