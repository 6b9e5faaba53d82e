// SPDX-License-Identifier: GPL-2.0
//
// Builds DOFs for tests, section by section and word by word, right or wrong:
// nothing is checked here, so a test can write what no compiler would. Not the
// product's writer (formats/dof): tests of the loader must not depend on it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "formats/abi/dof.h"

namespace dfr::test {

constexpr uint32_t kNone = DOF_SECIDX_NONE;
constexpr dif_type kInt64{DIF_KIND_CTF, DIF_CK_INTEGER, 0, 0, 8};
constexpr dif_type kInt32{DIF_KIND_CTF, DIF_CK_INTEGER, 0, 0, 4};
constexpr dif_type kString{DIF_KIND_STRING, DIF_CK_UNKNOWN, DIF_TF_BYREF, 0, 256};
constexpr dif_type kVoid{DIF_KIND_CTF, DIF_CK_INTEGER, 0, 0, 0};

inline dif_type struct_of(uint32_t size) {
	return {DIF_KIND_CTF, DIF_CK_STRUCT, DIF_TF_BYREF, 0, size};
}

// One DIF object under construction: instructions as they are called.
struct Code {
	std::vector<uint32_t> text;
	std::vector<uint64_t> ints;
	std::string strs = std::string(1, '\0');
	std::vector<dif_var> vars;
	dif_type rtype = kInt64;

	Code& word(uint32_t instr) {
		text.push_back(instr);
		return *this;
	}
	Code& r(uint32_t op, uint32_t r1, uint32_t r2, uint32_t rd) {
		return word(DIF_INSTR_R(op, r1, r2, rd));
	}
	Code& wide(uint32_t op, uint32_t index, uint32_t rd) { return word(DIF_INSTR_WIDE(op, index, rd)); }
	Code& branch(uint32_t op, uint32_t label) { return word(DIF_INSTR_BRANCH(op, label)); }
	Code& setx(uint64_t value, uint32_t rd) {
		ints.push_back(value);
		return wide(DIF_OP_SETX, static_cast<uint32_t>(ints.size() - 1), rd);
	}
	uint32_t string(const std::string& value) {
		auto at = static_cast<uint32_t>(strs.size());
		strs += value;
		strs += '\0';
		return at;
	}
	Code& sets(const std::string& value, uint32_t rd) { return wide(DIF_OP_SETS, string(value), rd); }
	Code& flush() { return word(DIF_INSTR_R(DIF_OP_FLUSHTS, 0, 0, 0)); }
	Code& pushv(uint32_t reg) { return word(DIF_INSTR_R(DIF_OP_PUSHTV, 0, 0, reg)); }
	Code& pushr(uint32_t type, uint32_t size_reg, uint32_t reg) {
		return word(DIF_INSTR_R(DIF_OP_PUSHTR, type, size_reg, reg));
	}
	Code& call(uint32_t subr, uint32_t rd) { return wide(DIF_OP_CALL, subr, rd); }
	Code& ret(uint32_t rd) { return word(DIF_INSTR_R(DIF_OP_RET, 0, 0, rd)); }
	Code& var(uint32_t scope, uint32_t id, dif_type type, uint32_t kind = DIF_VK_SCALAR) {
		dif_var v{};
		v.id = id;
		v.kind = static_cast<uint8_t>(kind);
		v.scope = static_cast<uint8_t>(scope);
		v.flags = DIF_VF_REF | DIF_VF_MOD;
		v.type = type;
		vars.push_back(v);
		return *this;
	}
	Code& returns(dif_type type) {
		rtype = type;
		return *this;
	}
};

struct Section {
	dof_sec hdr{};
	std::vector<uint8_t> bytes;
	uint32_t of = kNone; // it has none of its own, but these of that section's:
	uint64_t from = 0, size = 0;
};

struct Act {
	uint32_t kind = DFR_ACT_DIFEXPR;
	uint32_t difo = kNone;
	uint32_t ntuple = 0;
	uint64_t arg = 0;
	uint64_t uarg = 0x100;
	uint32_t strtab = kNone;
};

class DofBuilder {
public:
	DofBuilder() {
		header.hdrsize = sizeof(header);
		header.secsize = sizeof(dof_sec);
		header.secoff = sizeof(header);
		add(DOF_SECT_STRTAB, 1, 0, std::vector<uint8_t>(1, 0)); // section 0: the global strings
	}

	uint32_t add(uint32_t type, uint32_t align, uint32_t entsize, std::vector<uint8_t> bytes,
	             uint32_t flags = DOF_SECF_LOAD) {
		Section section;
		section.hdr.type = type;
		section.hdr.align = align;
		section.hdr.flags = flags;
		section.hdr.entsize = entsize;
		section.bytes = std::move(bytes);
		sections.push_back(std::move(section));
		return static_cast<uint32_t>(sections.size() - 1);
	}

	// A section of bytes that another one has as well, or that lie near it.
	uint32_t alias(uint32_t type, uint32_t align, uint32_t of, uint64_t from, uint64_t size) {
		const uint32_t made = add(type, align, 0, {});
		sections[made].of = of;
		sections[made].from = from;
		sections[made].size = size;
		return made;
	}

	template <typename T> uint32_t table(uint32_t type, uint32_t align, const std::vector<T>& entries) {
		std::vector<uint8_t> bytes(entries.size() * sizeof(T));
		if (!bytes.empty())
			std::memcpy(bytes.data(), entries.data(), bytes.size());
		return add(type, align, sizeof(T), std::move(bytes));
	}

	uint32_t string(const std::string& text) {
		std::vector<uint8_t>& strs = sections[0].bytes;
		auto at = static_cast<uint32_t>(strs.size());
		strs.insert(strs.end(), text.begin(), text.end());
		strs.push_back(0);
		return at;
	}

	uint32_t difo(const Code& code) {
		std::vector<uint32_t> links{table(DOF_SECT_DIF, 4, code.text)};
		if (!code.ints.empty())
			links.push_back(table(DOF_SECT_INTTAB, 8, code.ints));
		links.push_back(add(DOF_SECT_STRTAB, 1, 0, {code.strs.begin(), code.strs.end()}));
		if (!code.vars.empty())
			links.push_back(table(DOF_SECT_VARTAB, 4, code.vars));
		return difo_header(code.rtype, links);
	}

	uint32_t difo_header(dif_type rtype, const std::vector<uint32_t>& links) {
		std::vector<uint8_t> bytes(sizeof(rtype) + links.size() * 4);
		std::memcpy(bytes.data(), &rtype, sizeof(rtype));
		if (!links.empty())
			std::memcpy(bytes.data() + sizeof(rtype), links.data(), links.size() * 4);
		return add(DOF_SECT_DIFOHDR, 4, 0, std::move(bytes));
	}

	uint32_t probe(const std::string& provider, const std::string& module, const std::string& function,
	               const std::string& name, uint32_t id = 0) {
		dof_probedesc desc{0, string(provider), string(module), string(function), string(name), id};
		return table(DOF_SECT_PROBEDESC, 4, std::vector<dof_probedesc>{desc});
	}

	uint32_t actions(const std::vector<Act>& acts) {
		std::vector<dof_actdesc> descs;
		for (const Act& act : acts)
			descs.push_back({act.difo, act.strtab, act.kind, act.ntuple, act.arg, act.uarg});
		return table(DOF_SECT_ACTDESC, 8, descs);
	}

	uint32_t ecb(uint32_t probe_section, uint32_t predicate, uint32_t action_section, uint64_t uarg = 0) {
		dof_ecbdesc desc{probe_section, predicate, action_section, 0, uarg};
		return table(DOF_SECT_ECBDESC, 8, std::vector<dof_ecbdesc>{desc});
	}

	uint32_t option(uint32_t number, uint64_t value) {
		return table(DOF_SECT_OPTDESC, 8, std::vector<dof_optdesc>{{number, kNone, value}});
	}

	// A clause on dtrace:::BEGIN of one action that traces the value.
	uint32_t trace(const Code& code) {
		uint32_t section = difo(code), where = probe("dtrace", "", "", "BEGIN");
		ecb(where, kNone, actions({{DFR_ACT_DIFEXPR, section}}));
		return section;
	}

	// Lays everything out; afterwards every hdr has its offset and size, and may be broken and built
	// again.
	std::vector<uint8_t> bytes() {
		lay_out();
		return raw();
	}

	void lay_out() {
		header.secnum = static_cast<uint32_t>(sections.size());
		uint64_t at = sizeof(header) + sections.size() * sizeof(dof_sec);
		for (Section& section : sections) {
			uint64_t align = section.hdr.align ? section.hdr.align : 1;
			at = (at + align - 1) / align * align;
			section.hdr.offset = at;
			section.hdr.size = section.bytes.size();
			at += section.bytes.size();
		}
		for (Section& section : sections) {
			if (section.of >= sections.size())
				continue;
			section.hdr.offset = sections[section.of].hdr.offset + section.from;
			section.hdr.size = section.size;
		}
		header.loadsz = header.filesz = (at + 7) & ~7ull;
	}

	// Whatever header and section headers say now. Payloads go where they were laid out.
	std::vector<uint8_t> raw() const {
		std::vector<uint64_t> places;
		uint64_t at = sizeof(header) + sections.size() * sizeof(dof_sec), end;
		for (const Section& section : sections) {
			uint64_t align =
			    section.hdr.align && section.hdr.align < 4096 ? section.hdr.align : 8;
			at = (at + align - 1) / align * align;
			places.push_back(at);
			at += section.bytes.size();
		}
		end = (at + 7) & ~7ull;
		std::vector<uint8_t> out(end);
		std::memcpy(out.data(), &header, sizeof(header));
		for (size_t i = 0; i < sections.size(); i++) {
			std::memcpy(out.data() + sizeof(header) + i * sizeof(dof_sec), &sections[i].hdr,
			            sizeof(dof_sec));
			if (!sections[i].bytes.empty())
				std::memcpy(out.data() + places[i], sections[i].bytes.data(),
				            sections[i].bytes.size());
		}
		return out;
	}

	dof_header header{.ident = DOF_IDENT};
	std::vector<Section> sections;
};

} // namespace dfr::test
