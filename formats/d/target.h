// SPDX-License-Identifier: GPL-2.0
//
// Target: what a D program is compiled against. Which probes exist, what their
// arguments are, which kernel types and symbols there are, how system calls and
// errors are named, and (in replay) which firing inputs were captured. The
// compiler sees the machine only through this interface. The device, a
// recording's catalog, an offline kernel image and the in-process engine each
// implement it in their own room; the command passes one in.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dfr::types {
class Container;
}

namespace dfr::d {

// A probe description; an empty field matches anything, others are shell globs.
struct ProbePattern {
	std::string host, provider, module, function, name;
	uint32_t id = 0; // not 0: this probe and no other

	std::string fields() const; // "provider:module:function:name"; the host in front, if there is one
	std::string text() const;   // the number, if there is one; else the fields
};

// Of the running system: its name and its kernel's release.
std::vector<std::string> running_host();

// What stands between the colons of a description.
std::vector<std::string> probe_fields(std::string_view text);

struct ProbeInfo {
	uint32_t id = 0;
	std::string provider, module, function, name;
	std::optional<unsigned> nargs; // as far as known
	bool shared = false;           // by several functions of that name, each with a type of its own
};

// One argument: args[i] has type `translated`, made from argument `mapping` of type `native`.
struct ProbeArg {
	std::string native;     // C type text, e.g. "struct file *"
	std::string translated; // empty: same as native
	unsigned mapping = 0;
	std::string name;  // the parameter's own name, for listings; empty: not known
	bool user = false; // points into user memory: stringof() and * copy in
};

struct TargetSymbol {
	std::string module, name;
	uint64_t address = 0;
	uint64_t size = 0;
};

// One firing input that a recording holds, as canonical text (formats/d/canon.h).
struct CapturedInput {
	std::string canon;
	bool always = true; // every recorded firing of the probe holds it
};

// What has a default is not known to a target that does not override it.
class Target {
public:
	virtual ~Target() = default;

	// What it is, for messages: "the running kernel 6.1.0-56-amd64", "boot.dfr".
	virtual std::string description() const = 0;

	// Calls `visit` for each probe that matches until it returns false. Order: by id.
	virtual void match(const ProbePattern& pattern,
	                   const std::function<bool(const ProbeInfo&)>& visit) = 0;

	// What a description's host field is held against; none: not known.
	virtual std::vector<std::string> host_names() const { return {}; }
	// Why a host field means another host; empty: it means this one, or nobody knows.
	std::string elsewhere(const std::string& glob) const;

	// Why a description that matches nothing matches nothing; empty: nothing more is known.
	virtual std::string why_absent(const ProbePattern&) { return {}; }

	// Typed arguments of a probe; empty when it has none or they are not known.
	virtual std::vector<ProbeArg> args(const ProbeInfo&) { return {}; }
	// Why they are not known, in a clause; empty: nothing more is known.
	virtual std::string why_untyped(const ProbeInfo&) { return {}; }

	// Types of the kernel (module "" or "vmlinux") or of one of its modules; null: none known.
	virtual const types::Container* kernel_types(std::string_view) { return nullptr; }
	// Modules to search after vmlinux for an unqualified type name.
	virtual std::vector<std::string> type_modules() { return {}; }

	// A kernel symbol, by module and name.
	virtual std::optional<TargetSymbol> symbol(std::string_view, std::string_view) {
		return std::nullopt;
	}
	// False: addresses are unknown now, and the compiler leaves relocations for the engine.
	virtual bool has_addresses() const = 0;

	// Whether names that mean kernel state (curthread, `symbol, stack()) can work here.
	virtual bool has_kernel() const = 0;
	// zonename, where there is no kernel to ask: that of the process in which the program runs.
	virtual std::string zone() const { return "global"; }

	// Replay: firing inputs come from records. Null: a live target.
	// The inputs that every record of this probe holds, besides the standard context.
	virtual const std::vector<CapturedInput>* captured(const ProbeInfo&) { return nullptr; }
	virtual bool is_replay() const { return false; }
	// Whether an input (canonical text) that no record holds, or the name of what every record holds, may have been
	// taken out of the recording (dfr redact). A clause that needs it then runs in no firing, which is no error,
	// and the answer names it.
	virtual bool taken_out(const std::string&) const { return false; }

	// Release "6.1.0-56-amd64" for library conditions; empty: not known.
	virtual std::string kernel_release() const { return {}; }
};

} // namespace dfr::d
