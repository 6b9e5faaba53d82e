// SPDX-License-Identifier: GPL-2.0
//
// Reads the engine's catalog log (formats/abi/catalog.h) into a Catalog. The
// bytes come from a kernel, a memory image or a fuzzer, so every length is checked
// against its entry, and every entry against the input. Entries of an unknown type
// are skipped, so that old readers can read new logs.
#include "formats/trace/catalog.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "formats/error.h"
#include "formats/trace/crc32c.h"

namespace dfr::trace {
namespace {

// The engine gives EPIDs without gaps, so a log in which more than these are missing is damaged.
constexpr uint32_t kMaxMissingEpids = 1u << 16;
constexpr uint32_t kMaxMissingDofs = 1024;
constexpr uint32_t kMaxFieldSize = 1u << 20;

// One entry's bytes; `at` is its offset in the log, for errors.
class EntryReader {
public:
	EntryReader(std::span<const std::byte> bytes, uint64_t at) : bytes_(bytes), at_(at) {}

	[[noreturn]] void fail(const std::string& why) const {
		throw Error(
		    "catalog entry at byte " + std::to_string(at_) + ": " + why,
		    "the recording's catalog is damaged; records that need this entry cannot be read");
	}

	template <typename T> T fixed() const {
		if (bytes_.size() < sizeof(T))
			fail("it is " + std::to_string(bytes_.size()) + " bytes, its type needs " +
			     std::to_string(sizeof(T)));
		T value;
		std::memcpy(&value, bytes_.data(), sizeof(T));
		return value;
	}

	std::span<const std::byte> after(size_t offset) const {
		if (offset > bytes_.size())
			fail("it ends early");
		return bytes_.subspan(offset);
	}

	// The `count` NUL-terminated strings that start at `offset`.
	std::vector<std::string> strings(size_t offset, size_t count) const {
		std::span<const std::byte> rest = after(offset);
		std::vector<std::string> result;
		for (size_t i = 0; i < count; i++) {
			const void* nul = std::memchr(rest.data(), 0, rest.size());
			if (rest.empty() || !nul)
				fail("a string has no end");
			const char* text = reinterpret_cast<const char*>(rest.data());
			const size_t length = static_cast<const char*>(nul) - text;
			result.emplace_back(text, length);
			rest = rest.subspan(length + 1);
		}
		return result;
	}

	std::vector<dfr_field> fields(size_t offset, uint32_t count) const {
		const std::span<const std::byte> rest = after(offset);
		if (count > rest.size() / sizeof(dfr_field))
			fail("it names " + std::to_string(count) + " fields, more than it holds");
		std::vector<dfr_field> result(count);
		if (count)
			std::memcpy(result.data(), rest.data(), count * sizeof(dfr_field));
		for (const dfr_field& field : result)
			if (!field_is_sane(field))
				fail("a field of kind " + std::to_string(field.kind) + ", size " +
				     std::to_string(field.size));
		return result;
	}

private:
	std::span<const std::byte> bytes_;
	uint64_t at_;
};

std::string fixed_text(const char* text, size_t room) {
	return std::string(text, strnlen(text, room));
}

void read_machine(Catalog& catalog, const EntryReader& entry) {
	const std::span<const std::byte> rest = entry.after(sizeof(dfr_cat_entry));
	std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
	text = text.substr(0, text.find('\0'));
	while (!text.empty()) {
		const size_t end = text.find('\n');
		const std::string_view line = text.substr(0, end);
		const size_t equals = line.find('=');
		if (equals != std::string_view::npos)
			catalog.machine[std::string(line.substr(0, equals))] = line.substr(equals + 1);
		if (end == std::string_view::npos)
			break;
		text.remove_prefix(end + 1);
	}
}

void read_state(Catalog& catalog, const EntryReader& entry) {
	const auto state = entry.fixed<dfr_cat_state>();
	catalog.state_name = fixed_text(state.name, sizeof(state.name));
	catalog.cpus = state.cpus;
	catalog.block_size = state.block_size;
	catalog.blocks = state.blocks;
	catalog.policy = state.policy;
	catalog.strsize = state.strsize;
	catalog.anonymous = state.flags & 1;
}

void read_clock(Catalog& catalog, const EntryReader& entry) {
	const auto clock = entry.fixed<dfr_cat_clock>();
	catalog.add_clock({.mono = clock.mono, .real = clock.real, .boot = clock.boot});
}

void read_dof(Catalog& catalog, const EntryReader& entry) {
	struct Head {
		dfr_cat_entry head;
		uint32_t number, bytes;
	};
	const auto head = entry.fixed<Head>();
	const std::span<const std::byte> rest = entry.after(sizeof(Head));
	if (head.bytes > rest.size())
		entry.fail("its program of " + std::to_string(head.bytes) + " bytes does not fit");
	// Of a damaged log, earlier ones may be missing.
	if (head.number < catalog.dofs.size() || head.number > catalog.known_dofs + kMaxMissingDofs)
		entry.fail("program " + std::to_string(head.number) + " is out of order");
	const auto dof = rest.first(head.bytes);
	catalog.dofs.resize(head.number);
	catalog.dofs.emplace_back(dof.begin(), dof.end());
	catalog.known_dofs++;
	catalog.sources.resize(catalog.dofs.size());
}

void read_probe(Catalog& catalog, const EntryReader& entry) {
	const auto probe = entry.fixed<dfr_cat_probe>();
	std::vector<std::string> names = entry.strings(sizeof(probe), 4);
	Probe result{.id = probe.id};
	if (probe.nargs != 0xffffffff)
		result.nargs = probe.nargs;
	result.provider = std::move(names[0]);
	result.module = std::move(names[1]);
	result.function = std::move(names[2]);
	result.name = std::move(names[3]);
	catalog.probes.emplace(probe.id, std::move(result));
}

void read_layout(Catalog& catalog, const EntryReader& entry) {
	const auto head = entry.fixed<dfr_cat_layout>();
	Layout layout{.id = head.layout, .dof = head.dof, .clause = head.clause};
	layout.fields = entry.fields(sizeof(head), head.nfields);
	catalog.add_layout(std::move(layout));
}

void read_ecb(Catalog& catalog, const EntryReader& entry) {
	const auto ecb = entry.fixed<dfr_cat_ecb>();
	if (!catalog.add_ecb(
	        {.epid = ecb.epid, .probe = ecb.probe, .layout = ecb.layout, .priority = ecb.priority}))
		entry.fail("EPID " + std::to_string(ecb.epid) + " after " +
		           std::to_string(catalog.known_ecbs) + " others");
}

void read_agg(Catalog& catalog, const EntryReader& entry) {
	const auto head = entry.fixed<dfr_cat_agg>();
	Aggregation agg{.varid = head.varid, .kind = head.kind, .flags = head.flags, .arg = head.arg};
	agg.keys = entry.fields(sizeof(head), head.nkeys);
	catalog.aggregations.emplace(agg.varid, std::move(agg));
}

void read_module(Catalog& catalog, const EntryReader& entry) {
	const auto head = entry.fixed<dfr_cat_module>();
	Module module{.time = head.time, .base = head.base, .bytes = head.bytes, .gone = head.gone != 0};
	module.name = std::move(entry.strings(sizeof(head), 1)[0]);
	catalog.modules.push_back(std::move(module));
}

void read_event(Catalog& catalog, const EntryReader& entry) {
	const auto event = entry.fixed<dfr_cat_event>();
	catalog.events.push_back(
	    {.event = event.event, .value = event.value, .time = event.time, .error = event.error});
	const bool described = event.event == DFR_EVENT_UNARMED && event.value == 0;
	if (event.event == DFR_EVENT_MARK || (described && !entry.after(sizeof(event)).empty()))
		catalog.events.back().text = std::move(entry.strings(sizeof(event), 1)[0]);
}

void read_memory(Catalog& catalog, const EntryReader& entry) {
	const auto memory = entry.fixed<dfr_cat_memory>();
	if (!memory.kind)
		return catalog.memory.clear();
	catalog.memory[{memory.kind, memory.cpu, memory.half}] += memory.pages;
}

void read_entry(Catalog& catalog, uint32_t type, const EntryReader& entry) {
	switch (type) {
	case DFR_CAT_STATE: return read_state(catalog, entry);
	case DFR_CAT_MACHINE: return read_machine(catalog, entry);
	case DFR_CAT_CLOCK: return read_clock(catalog, entry);
	case DFR_CAT_DOF: return read_dof(catalog, entry);
	case DFR_CAT_PROBE: return read_probe(catalog, entry);
	case DFR_CAT_LAYOUT: return read_layout(catalog, entry);
	case DFR_CAT_ECB: return read_ecb(catalog, entry);
	case DFR_CAT_AGG: return read_agg(catalog, entry);
	case DFR_CAT_MODULE: return read_module(catalog, entry);
	case DFR_CAT_EVENT: return read_event(catalog, entry);
	case DFR_CAT_MEMORY: return read_memory(catalog, entry);
	default: return; // FILL, or a type that this reader does not know yet
	}
}

} // namespace

bool field_is_sane(const dfr_field& field) {
	switch (field.kind) {
	case DFR_FIELD_INT: return field.size == 1 || field.size == 2 || field.size == 4 || field.size == 8;
	case DFR_FIELD_PROBETEXT: return field.size <= 3;
	default: return field.kind && field.kind < DFR_FIELD_PROBETEXT && field.size <= kMaxFieldSize;
	}
}

uint32_t least_bytes(const dfr_field& field) {
	switch (field.kind) {
	case DFR_FIELD_INT:
	case DFR_FIELD_STRING:
	case DFR_FIELD_STACK: return 1;
	case DFR_FIELD_BYTES: return field.size;
	case DFR_FIELD_VARBYTES: return 2;
	case DFR_FIELD_USTACK: return 5;
	case DFR_FIELD_USYM: return 16;
	default: return 0;
	}
}

unsigned count_integers(const std::vector<dfr_field>& fields) {
	return std::count_if(fields.begin(), fields.end(),
	                     [](const dfr_field& field) { return field.kind == DFR_FIELD_INT; });
}

namespace {

// `checked`: counts the bytes that a checksum was made of; may be null.
bool tail_is_right(std::span<const std::byte> entry, uint64_t at, uint64_t* checked) {
	dfr_cat_tail tail;
	if (entry.size() < sizeof(dfr_cat_entry) + sizeof(tail))
		return false;
	std::memcpy(&tail, entry.data() + entry.size() - sizeof(tail), sizeof(tail));
	if (tail.place != static_cast<uint32_t>(at / 8))
		return false;
	if (checked)
		*checked += entry.size();
	return tail.checksum == crc32c(entry.first(entry.size() - sizeof(tail.checksum)));
}

} // namespace

size_t Catalog::parse(std::span<const std::byte> bytes) {
	size_t at = 0;
	if (!head_seen_) {
		dfr_catalog head;
		if (bytes.size() < sizeof(head))
			return 0;
		std::memcpy(&head, bytes.data(), sizeof(head));
		if (head.magic != DFR_CATALOG_MAGIC)
			throw Error("catalog: it does not start with its magic number");
		if (head.version != DFR_CATALOG_VERSION)
			throw Error("catalog: version " + std::to_string(head.version) + " is not known",
			            "read it with the dfr that goes with the module that wrote it");
		state_id = head.state_id;
		std::copy(std::begin(head.boot_id), std::end(head.boot_id), boot_id.begin());
		head_seen_ = true;
		at = sizeof(head);
	}
	while (bytes.size() - at >= sizeof(dfr_cat_entry)) {
		dfr_cat_entry head;
		std::memcpy(&head, bytes.data() + at, sizeof(head));
		if (head.size < sizeof(head) || head.size % 8)
			throw Error("catalog entry at byte " + std::to_string(parsed_ + at) + ": size " +
			            std::to_string(head.size));
		if (head.size > bytes.size() - at)
			break;
		const auto entry = bytes.subspan(at, head.size);
		if (head.type != DFR_CAT_FILL && !tail_is_right(entry, parsed_ + at, nullptr))
			throw Error("catalog entry at byte " + std::to_string(parsed_ + at) +
			            ": its checksum is wrong");
		add_entry(entry, parsed_ + at);
		at += head.size;
	}
	parsed_ += at;
	return at;
}

void Catalog::begin(uint64_t state, const std::array<uint8_t, 16>& boot) {
	state_id = state;
	boot_id = boot;
	head_seen_ = true;
}

void Catalog::add_entry(std::span<const std::byte> entry, uint64_t at) {
	dfr_cat_entry head;
	std::memcpy(&head, entry.data(), sizeof(head));
	if (head.type != DFR_CAT_FILL)
		read_entry(*this, head.type,
		           EntryReader(entry.first(entry.size() - sizeof(dfr_cat_tail)), at));
}

std::span<const std::byte> whole_entry(std::span<const std::byte> log, uint64_t at, uint64_t* checked) {
	dfr_cat_entry head;
	if (at % 8 || at > log.size() || log.size() - at < sizeof(head))
		return {};
	std::memcpy(&head, log.data() + at, sizeof(head));
	if (head.size > log.size() - at || head.size % 8 || head.type == 0)
		return {};
	const auto entry = log.subspan(at, head.size);
	return head.type != DFR_CAT_FILL && tail_is_right(entry, at, checked) ? entry
	                                                                      : std::span<const std::byte>();
}

bool Catalog::add_ecb(const Ecb& ecb) {
	if (ecb.epid == 0 || ecb.epid > known_ecbs + kMaxMissingEpids)
		return false;
	if (ecb.epid > ecbs.size())
		ecbs.resize(ecb.epid);
	if (ecbs[ecb.epid - 1].epid == 0) {
		ecbs[ecb.epid - 1] = ecb;
		known_ecbs++;
	}
	return true;
}

void Catalog::add_layout(Layout layout) {
	size_t byteless = 0;
	for (const dfr_field& field : layout.fields)
		byteless += least_bytes(field) == 0;
	if (byteless > kBytelessMost)
		return;
	layout.integers = count_integers(layout.fields);
	layouts.emplace(layout.id, std::move(layout));
}

void Catalog::add_clock(const Clock& clock) {
	const auto later = std::upper_bound(clocks.begin(), clocks.end(), clock,
	                                    [](const Clock& a, const Clock& b) { return a.mono < b.mono; });
	// The kernel adds them in order. Of those that some image or file has made up, each would move all others.
	if (clocks.end() - later > kClocksBack)
		throw Error("an entry of its clock is far older than those before it");
	clocks.insert(later, clock);
}

void Catalog::add_clocks(std::vector<Clock> many) {
	const auto earlier = [](const Clock& a, const Clock& b) { return a.mono < b.mono; };
	std::stable_sort(many.begin(), many.end(), earlier);
	const auto middle =
	    clocks.insert(clocks.end(), many.begin(), many.end()); // of the whole: where these begin
	std::inplace_merge(clocks.begin(), middle, clocks.end(), earlier);
}

const Ecb* Catalog::ecb(uint32_t epid) const {
	if (epid == 0 || epid > ecbs.size() || ecbs[epid - 1].epid == 0)
		return nullptr;
	return &ecbs[epid - 1];
}

const Probe* Catalog::probe_of(uint32_t epid) const {
	const Ecb* found = ecb(epid);
	if (!found)
		return nullptr;
	const auto probe = probes.find(found->probe);
	return probe == probes.end() ? nullptr : &probe->second;
}

const Layout* Catalog::layout_of(uint32_t epid) const {
	const Ecb* found = ecb(epid);
	if (!found)
		return nullptr;
	const auto layout = layouts.find(found->layout);
	return layout == layouts.end() ? nullptr : &layout->second;
}

std::string Catalog::machine_text(const char* key) const {
	const auto at = machine.find(key);
	return at == machine.end() ? std::string{} : at->second;
}

uint64_t Catalog::recording_end() const {
	uint64_t end = UINT64_MAX;
	for (const EventMark& mark : events)
		if (mark.event == DFR_EVENT_EXIT || mark.event == DFR_EVENT_FULL ||
		    mark.event == DFR_EVENT_STOP || mark.event == DFR_EVENT_KILLED)
			end = std::min(end, mark.time);
	return end;
}

int64_t Catalog::walltime(uint64_t mono) const {
	return static_cast<int64_t>(mono + static_cast<uint64_t>(wall_offset(mono)));
}

int64_t Catalog::wall_offset(uint64_t mono) const {
	if (clocks.empty())
		return 0;
	const auto later =
	    std::upper_bound(clocks.begin(), clocks.end(), mono,
	                     [](uint64_t time, const Clock& clock) { return time < clock.mono; });
	const Clock& clock = later == clocks.begin() ? *later : *(later - 1);
	return static_cast<int64_t>(clock.real - clock.mono);
}

int64_t Catalog::entered() const {
	if (clocks.empty())
		return 0;
	const Clock& last = clocks.back();
	return static_cast<int64_t>(last.real -
	                            std::max(last.mono, last.boot)); // mono stands while it sleeps
}

} // namespace dfr::trace
