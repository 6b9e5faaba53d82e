// SPDX-License-Identifier: GPL-2.0
//
// Catalog: how to read a recording's blocks. It is parsed from the engine's log
// (formats/abi/catalog.h: live, or in a memory image) or from a .dfr file. The
// input is not trusted: parse() checks every length and throws dfr::Error, which
// names the offset.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "formats/abi/catalog.h"
#include "formats/abi/dof.h"

namespace dfr::trace {

struct Probe {
	uint32_t id = 0;
	std::optional<uint32_t> nargs;
	std::string provider, module, function, name;
	std::vector<std::string> hosts =
	    {}; // where it is, if the catalog has several: name and kernel release
	std::string text() const { return provider + ":" + module + ":" + function + ":" + name; }
};

struct Layout {
	uint32_t id = 0;
	uint32_t dof = 0;
	uint32_t clause = 0; // index of the ECBDESC in the DOF
	std::vector<dfr_field> fields;
	unsigned integers = 0; // fields of kind INT: how many size codes a record has
};

struct Ecb {
	uint32_t epid = 0, probe = 0, layout = 0;
	uint32_t priority = DFR_PRIORITY_NORMAL; // of its clause
};

struct Aggregation {
	uint32_t varid = 0, kind = 0, flags = 0;
	uint64_t arg = 0;
	std::vector<dfr_field> keys;
};

struct Clock {
	uint64_t mono = 0, real = 0, boot = 0;
};

struct Module {
	std::string name;
	uint64_t time = 0, base = 0, bytes = 0;
	bool gone = false;
	bool has(uint64_t address) const { return address - base < bytes; }
};

struct EventMark {
	uint32_t event = 0; // enum dfr_event
	int32_t value = 0;
	uint64_t time = 0;
	int32_t error = 0; // errno
	std::string text;  // of a person's mark, why a snapshot was taken, what could not be armed
};

class Catalog {
public:
	// Adds entries of the engine's log. `bytes` starts at an entry's head; in the first call, at the
	// log's head. Reads only whole entries, and returns how many bytes it read.
	size_t parse(std::span<const std::byte> bytes);
	// Of a damaged log: adds one entry, which whole_entry() has given. Throws if it makes no sense.
	void add_entry(std::span<const std::byte> entry, uint64_t at);
	// Of a damaged log: its entries can be added without its head.
	void begin(uint64_t state, const std::array<uint8_t, 16>& boot);

	uint64_t state_id = 0;
	std::array<uint8_t, 16> boot_id{};
	std::string state_name;
	uint32_t cpus = 0, block_size = 0, blocks = 0, policy = 0, strsize = 256;
	bool anonymous = false;

	std::map<std::string, std::string> machine;      // release, host, clocksource, cmdline ...
	std::string machine_text(const char* key) const; // empty: it does not say
	std::vector<Clock> clocks;
	std::vector<std::vector<std::byte>> dofs;
	std::vector<std::string> sources; // D source of each DOF; empty if the recorder did not know it
	std::map<uint32_t, Probe> probes;
	std::map<uint32_t, Layout> layouts;
	std::vector<Ecb> ecbs; // index: EPID - 1; where an EPID is not known, epid is 0
	uint32_t known_ecbs = 0;
	uint32_t known_dofs = 0; // of the engine's log
	std::map<uint32_t, Aggregation> aggregations;
	std::vector<Module> modules;
	std::vector<EventMark> events;
	// Pages of the recorded machine that anchors list, by kind, CPU and half (formats/abi/anchor.h). Only from the
	// engine's log: no file has it.
	std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint64_t> memory;

	// These three: null if not known.
	const Ecb* ecb(uint32_t epid) const;
	const Probe* probe_of(uint32_t epid) const;
	const Layout* layout_of(uint32_t epid) const;
	// When recording ended, on the first CPU on which it did: by exit(), a full ring, stop or the kernel. Behind it
	// stand only END's records, and those of other CPUs. UINT64_MAX: it had not ended.
	uint64_t recording_end() const;
	// Wall-clock ns of a record's time, by the last clock triple before it (or the first triple).
	int64_t walltime(uint64_t mono) const;
	// What added to `mono` gives that.
	int64_t wall_offset(uint64_t mono) const;
	// Wall-clock ns of the kernel's entry, by the last clock triple: a machine's clock may be set after the first. 0: it
	// has none.
	int64_t entered() const;

	// False: the EPID is 0 or far beyond the others, which no engine writes.
	bool add_ecb(const Ecb& ecb);
	// Leaves out one that has more than kBytelessMost fields without bytes in a record (names of the probe): each costs a
	// reader memory for every open block, and work for every record, all the same. So many take less than 256 times
	// the smallest block (chunk.h); a program has one for each name that a clause prints.
	static constexpr size_t kBytelessMost = 512;
	void add_layout(Layout layout);
	// Keeps `clocks` in order of time. Throws dfr::Error if it is older than the last kClocksBack.
	static constexpr std::ptrdiff_t kClocksBack = 64;
	void add_clock(const Clock& clock);
	void add_clocks(std::vector<Clock> many); // hostile ones too: takes no longer than to sort them

private:
	bool head_seen_ = false;
	uint64_t parsed_ = 0; // bytes of the log so far, for the offset in an error
};

// The entry at this offset of a log, if its place and its checksum are right, whatever stands before it; else empty.
std::span<const std::byte> whole_entry(std::span<const std::byte> log, uint64_t at, uint64_t* checked);

// Whether a field's kind is known and its size makes sense for the kind.
bool field_is_sane(const dfr_field& field);
// How many bytes it has in a record at least, without an integer's size code.
uint32_t least_bytes(const dfr_field& field);
unsigned count_integers(const std::vector<dfr_field>& fields);

} // namespace dfr::trace
