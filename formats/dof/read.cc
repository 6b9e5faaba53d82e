// SPDX-License-Identifier: GPL-2.0
//
// Bytes -> Image. The bytes are hostile: every offset, count and index is
// checked before it is used, and errors name the section and the offset in the
// file. Only the structure is checked: the engine's verifier decides whether the
// DIF may run. Sections that this reader does not know are skipped.
#include "formats/dof/image.h"

#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "formats/error.h"

namespace dfr::dof {
namespace {

constexpr uint32_t kMaxSections = 1 << 20;
constexpr uint32_t kMaxActions = 16384;
constexpr uint64_t kMaxCopied = 8 * uint64_t{DOF_LOADSZ_MAX}; // bytes of what many may name
constexpr uint64_t kCopy = 16;                                // what a copy counts beside its bytes

class DofReader {
public:
	explicit DofReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

	Image run() {
		read_header();
		read_sections();
		for (uint32_t i = 0; i < sections_.size(); i++)
			read_section(i);
		// These refer to what the first pass has built.
		for (uint32_t i = 0; i < sections_.size(); i++)
			read_annotations(i);
		return std::move(image_);
	}

private:
	[[noreturn]] static void fail(uint32_t section, uint64_t offset, const std::string& why) {
		throw Error("bad DOF: section " + std::to_string(section) + ", offset " +
		                std::to_string(offset) + ": " + why,
		            "compile the program again; the file is damaged or no DOF", EINVAL);
	}
	[[noreturn]] static void fail_header(uint64_t offset, const std::string& why) {
		throw Error("bad DOF: header, offset " + std::to_string(offset) + ": " + why,
		            "compile the program again; the file is damaged or no DOF", EINVAL);
	}

	template <typename T> T load(uint64_t offset) const {
		T value;
		std::memcpy(&value, bytes_.data() + offset, sizeof value);
		return value;
	}

	void read_header() {
		if (bytes_.size() < sizeof(dof_header))
			fail_header(0, "shorter than a DOF header");
		header_ = load<dof_header>(0);
		if (std::memcmp(header_.ident, DOF_MAGIC, 4) != 0)
			fail_header(0, "no DOF magic");
		if (header_.ident[4] != DOF_MODEL_LP64 && header_.ident[4] != DOF_MODEL_ILP32)
			fail_header(4, "unknown data model");
		if (header_.ident[5] != DOF_ENCODE_LSB)
			fail_header(5, "not little-endian");
		if (header_.ident[6] != DOF_VERSION_1 && header_.ident[6] != DOF_VERSION_2)
			fail_header(6, "unknown DOF version");
		if (header_.ident[7] != DIF_VERSION)
			fail_header(7, "unknown DIF version");
		if (header_.flags)
			fail_header(16, "unknown flags");
		if (header_.secsize != sizeof(dof_sec))
			fail_header(24, "unexpected size of a section header");
		if (header_.secoff % 8 || header_.secnum > kMaxSections || header_.secoff > bytes_.size() ||
		    uint64_t{header_.secnum} * sizeof(dof_sec) > bytes_.size() - header_.secoff)
			fail_header(28, "section table outside the file");
		if (header_.loadsz > bytes_.size())
			fail_header(40, "loadable part longer than the file");
	}

	void read_sections() {
		sections_.reserve(header_.secnum);
		uint64_t total = 0;
		for (uint32_t i = 0; i < header_.secnum; i++) {
			const uint64_t at = header_.secoff + uint64_t{i} * sizeof(dof_sec);
			dof_sec section = load<dof_sec>(at);
			// The engine keeps only loadsz bytes: payloads that are cut off there count as empty.
			const bool loaded = section.flags & DOF_SECF_LOAD;
			if (section.offset > bytes_.size() || section.size > bytes_.size() - section.offset) {
				if (loaded)
					fail(i, at + 16, "payload outside the file");
				section = dof_sec{};
			}
			sections_.push_back(section);
			// Sections may lie on each other, and each is read.
			total += section.size;
			if (total > bytes_.size() + kMaxCopied)
				fail(i, section.offset, "names the same bytes too often");
		}
	}

	const dof_sec& section(uint32_t index, uint32_t type, uint32_t from) const {
		if (index >= sections_.size())
			fail(from, sections_[from].offset,
			     "refers to section " + std::to_string(index) + ", which does not exist");
		if (sections_[index].type != type)
			fail(from, sections_[from].offset,
			     "refers to section " + std::to_string(index) + " of type " +
			         std::to_string(sections_[index].type) + ", expected " +
			         std::to_string(type));
		return sections_[index];
	}

	// A few bytes of a file may name the same text, or line of source, again and again.
	void count_copy(uint64_t bytes, uint32_t from) {
		copied_ += bytes + kCopy;
		if (copied_ > kMaxCopied)
			fail(from, sections_[from].offset, "names the same bytes too often");
	}

	std::string string(uint32_t table, uint64_t offset, uint32_t from) {
		const dof_sec& strings = section(table, DOF_SECT_STRTAB, from);
		if (offset >= strings.size)
			fail(from, sections_[from].offset, "string outside its table");
		const char* const start =
		    reinterpret_cast<const char*>(bytes_.data()) + strings.offset + offset;
		const void* const end = std::memchr(start, 0, strings.size - offset);
		if (!end)
			fail(table, strings.offset + offset, "string without an end");
		const std::string_view text(start, static_cast<const char*>(end));
		count_copy(text.size(), from);
		return std::string(text);
	}

	template <typename T> std::vector<T> table(uint32_t index, const char* what) const {
		const dof_sec& head = sections_[index];
		if (head.entsize != sizeof(T) || head.size % sizeof(T))
			fail(index, head.offset, std::string("bad entry size of the ") + what);
		std::vector<T> entries(head.size / sizeof(T));
		if (!entries.empty())
			std::memcpy(entries.data(), bytes_.data() + head.offset, head.size);
		return entries;
	}

	template <typename T> T single(uint32_t index, const char* what) const {
		if (sections_[index].size < sizeof(T))
			fail(index, sections_[index].offset, std::string("truncated ") + what);
		return load<T>(sections_[index].offset);
	}

	void read_section(uint32_t index) {
		switch (sections_[index].type) {
		case DOF_SECT_ECBDESC: read_ecb(index); break;
		case DOF_SECT_OPTDESC:
			for (const auto& entry : table<dof_optdesc>(index, "options"))
				image_.options.push_back({entry.option, static_cast<int64_t>(entry.value)});
			break;
		case DOF_SECT_AGGS:
			for (const auto& entry : table<dof_aggname>(index, "aggregation names"))
				image_.aggregations.push_back(
				    {entry.id, string(entry.strtab, entry.name, index)});
			break;
		case DOF_SECT_COMMENTS:
			image_.comments = text(index);
			while (!image_.comments.empty() && image_.comments.back() == '\0')
				image_.comments.pop_back();
			break;
		case DOF_SECT_SOURCE: image_.source = text(index); break;
		case DOF_SECT_BTFID: read_btf(index); break;
		default: break;
		}
	}

	std::string text(uint32_t index) const {
		const dof_sec& head = sections_[index];
		return std::string(reinterpret_cast<const char*>(bytes_.data()) + head.offset, head.size);
	}

	void read_btf(uint32_t index) {
		const auto id = single<dof_btfid>(index, "BTF digest");
		image_.btf_digest = id.digest;
		image_.btf_name = string(id.strtab, id.name, index);
	}

	void read_ecb(uint32_t index) {
		const auto desc = single<dof_ecbdesc>(index, "ECB description");
		section(desc.probes, DOF_SECT_PROBEDESC, index);
		const auto probe = single<dof_probedesc>(desc.probes, "probe description");
		EcbDesc ecb;
		ecb.probe.provider = string(probe.strtab, probe.provider, desc.probes);
		ecb.probe.module = string(probe.strtab, probe.module, desc.probes);
		ecb.probe.function = string(probe.strtab, probe.function, desc.probes);
		ecb.probe.name = string(probe.strtab, probe.name, desc.probes);
		ecb.probe.id = probe.id;
		ecb.body = body(desc, index);
		ecb.uarg = desc.uarg;
		ecb_of_section_[index] = image_.ecbs.size();
		image_.ecbs.push_back(std::move(ecb));
	}

	uint32_t body(const dof_ecbdesc& desc, uint32_t from) {
		// A clause without predicate and actions has nothing to share.
		const bool empty = desc.pred == DOF_SECIDX_NONE && desc.actions == DOF_SECIDX_NONE;
		const auto key = std::make_pair(desc.pred, desc.actions);
		if (const auto known = bodies_.find(key); known != bodies_.end() && !empty)
			return known->second;
		Body body;
		if (desc.pred != DOF_SECIDX_NONE) {
			body.predicate = read_difo(desc.pred, from);
			difos_[desc.pred].push_back(
			    {static_cast<uint32_t>(image_.bodies.size()), kPredicate});
		}
		if (desc.actions != DOF_SECIDX_NONE)
			read_actions(desc.actions, from, body);
		image_.bodies.push_back(std::move(body));
		return bodies_[key] = image_.bodies.size() - 1;
	}

	void read_actions(uint32_t index, uint32_t from, Body& body) {
		section(index, DOF_SECT_ACTDESC, from);
		const auto entries = table<dof_actdesc>(index, "actions");
		// Each body gets a copy of its actions: bound the sum, because many may share them.
		actions_read_ += entries.size();
		if (actions_read_ > kMaxActions * 64 || entries.size() > kMaxActions)
			fail(index, sections_[index].offset, "too many actions");
		const auto number = static_cast<uint32_t>(image_.bodies.size());
		bodies_of_actions_[index].push_back(number);
		for (const dof_actdesc& desc : entries) {
			Action action;
			action.kind = desc.kind;
			action.ntuple = desc.ntuple;
			action.uarg = desc.uarg;
			if (desc.strtab != DOF_STRIDX_NONE)
				action.format = string(desc.strtab, desc.arg, index);
			else
				action.arg = desc.arg;
			if (desc.difo != DOF_SECIDX_NONE) {
				action.difo = read_difo(desc.difo, index);
				difos_[desc.difo].push_back(
				    {number, static_cast<uint32_t>(body.actions.size())});
			}
			body.actions.push_back(std::move(action));
		}
	}

	dif::Difo read_difo(uint32_t index, uint32_t from) {
		const dof_sec& head = section(index, DOF_SECT_DIFOHDR, from);
		if (head.size < sizeof(dif_type) + 4 || (head.size - sizeof(dif_type)) % 4)
			fail(index, head.offset, "truncated DIF object header");
		dif::Difo difo;
		difo.rtype = load<dif_type>(head.offset);
		uint64_t total = 0;
		for (uint64_t at = sizeof(dif_type); at < head.size; at += 4) {
			const uint32_t link = load<uint32_t>(head.offset + at);
			if (link >= sections_.size())
				fail(index, head.offset + at, "refers to a section that does not exist");
			total += sections_[link].size;
			if (total > DIF_DIFO_MAX)
				fail(index, head.offset + at, "DIF object larger than 256 KiB");
			read_difo_part(difo, link, index, head.offset + at);
		}
		if (difo.text.empty())
			fail(index, head.offset, "no DIF text");
		difo_bytes_ += total + head.size;
		if (difo_bytes_ > 64 * uint64_t{DOF_LOADSZ_MAX})
			fail(index, head.offset, "DIF objects are shared too often");
		return difo;
	}

	void read_difo_part(dif::Difo& difo, uint32_t link, uint32_t index, uint64_t at) {
		switch (sections_[link].type) {
		case DOF_SECT_DIF: difo.text = table<uint32_t>(link, "DIF text"); break;
		case DOF_SECT_INTTAB:
			difo.integers = table<uint64_t>(link, "integer table");
			difos_of_integers_[link].insert(index);
			break;
		case DOF_SECT_STRTAB: difo.strings = text(link); break;
		case DOF_SECT_VARTAB: difo.variables = table<dif_var>(link, "variable table"); break;
		case DOF_SECT_XLTAB: break;
		default: fail(index, at, "unknown part of a DIF object");
		}
	}

	void read_annotations(uint32_t index) {
		switch (sections_[index].type) {
		case DOF_SECT_HOSTDESC:
			for (const auto& entry : table<dof_hostdesc>(index, "host patterns")) {
				const auto ecb = ecb_of_section_.find(entry.ecb);
				if (ecb == ecb_of_section_.end())
					fail(index, sections_[index].offset, "host pattern of no ECB");
				image_.ecbs[ecb->second].probe.host = string(entry.strtab, entry.host, index);
			}
			break;
		case DOF_SECT_EXPRS: annotate_actions(index, &Action::expression); break;
		case DOF_SECT_TYPES: annotate_actions(index, &Action::type); break;
		case DOF_SECT_LINES: read_lines(index); break;
		case DOF_SECT_KRELHDR: read_relocations(index); break;
		default: break;
		}
	}

	void annotate_actions(uint32_t index, std::string Action::*field) {
		for (const auto& entry : table<dof_expr>(index, "expressions")) {
			const auto bodies = bodies_of_actions_.find(entry.actions);
			if (bodies == bodies_of_actions_.end())
				fail(index, sections_[index].offset, "text of an action that does not exist");
			const std::string text = string(entry.strtab, entry.text, index);
			for (const uint32_t body : bodies->second) {
				count_copy(text.size(), index);
				auto& actions = image_.bodies[body].actions;
				if (entry.index == DOF_EXPR_PREDICATE && field == &Action::expression) {
					image_.bodies[body].condition = text;
					continue;
				}
				if (entry.index >= actions.size())
					fail(index, sections_[index].offset,
					     "text of an action that does not exist");
				actions[entry.index].*field = text;
			}
		}
	}

	template <typename Visit> void each_difo(uint32_t section_index, Visit visit) {
		const auto uses = difos_.find(section_index);
		if (uses == difos_.end())
			return;
		for (const auto& [body, action] : uses->second) {
			Body& where = image_.bodies[body];
			visit(action == kPredicate ? *where.predicate : *where.actions[action].difo);
		}
	}

	void read_lines(uint32_t index) {
		for (const auto& entry : table<dof_line>(index, "line table")) {
			const dif::SourceLine line{entry.pc, string(entry.strtab, entry.file, index),
			                           entry.line, entry.column};
			each_difo(entry.difo, [&](dif::Difo& difo) {
				count_copy(sizeof(line) + line.file.size(), index);
				difo.lines.push_back(line);
			});
		}
	}

	void read_relocations(uint32_t index) {
		const auto header = single<dof_relohdr>(index, "relocation header");
		count_copy(section(header.relsec, DOF_SECT_RELTAB, index).size, index);
		section(header.tgtsec, DOF_SECT_INTTAB, index);
		for (const auto& entry : table<dof_relodesc>(header.relsec, "relocations")) {
			if (entry.offset % 8 || entry.offset + 8 > sections_[header.tgtsec].size ||
			    entry.offset > sections_[header.tgtsec].size)
				fail(header.relsec, sections_[header.relsec].offset,
				     "relocation outside its target");
			const dif::Relocation relocation{string(header.strtab, entry.name, index),
			                                 static_cast<uint32_t>(entry.offset / 8), entry.data};
			relocate(header.tgtsec, relocation, index);
		}
	}

	// Adds the relocation to each DIFO whose header links the integer table `target`.
	void relocate(uint32_t target, const dif::Relocation& relocation, uint32_t from) {
		for (const uint32_t header : difos_of_integers_[target])
			each_difo(header, [&](dif::Difo& difo) {
				count_copy(sizeof(relocation) + relocation.symbol.size(), from);
				difo.relocations.push_back(relocation);
			});
	}

	static constexpr uint32_t kPredicate = 0xffffffff;

	std::span<const uint8_t> bytes_;
	dof_header header_{};
	std::vector<dof_sec> sections_;
	Image image_;
	std::map<std::pair<uint32_t, uint32_t>, uint32_t> bodies_;
	std::map<uint32_t, std::vector<uint32_t>> bodies_of_actions_;          // by ACTDESC section
	std::map<uint32_t, std::vector<std::pair<uint32_t, uint32_t>>> difos_; // DIFOHDR -> body, action
	std::map<uint32_t, std::set<uint32_t>> difos_of_integers_;             // INTTAB -> DIFOHDRs
	std::map<uint32_t, uint32_t> ecb_of_section_;
	uint64_t actions_read_ = 0;
	uint64_t difo_bytes_ = 0;
	uint64_t copied_ = 0;
};

} // namespace

Image read(std::span<const uint8_t> bytes) {
	return DofReader(bytes).run();
}

Image read(std::span<const std::byte> bytes) {
	return read(std::span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
}

} // namespace dfr::dof
