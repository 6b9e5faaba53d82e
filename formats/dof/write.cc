// SPDX-License-Identifier: GPL-2.0
//
// Image -> bytes. Sections come in the order of the reference writer (DOF.md,
// section 6), with dfr's own after the clauses. The global string table is section
// 0, but its bytes come last in the loadable part, because all other sections add
// strings to it. The same image always gives the same bytes.
#include "formats/dof/image.h"

#include <cstring>
#include <unordered_map>

#include "formats/error.h"

namespace dfr::dof {
namespace {

struct OutSection {
	dof_sec head{};
	std::string payload;
};

template <typename T> std::string raw(const T& value) {
	return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T> void append(std::string& to, const T& value) {
	to += raw(value);
}

class DofWriter {
public:
	explicit DofWriter(const Image& image) : image_(image) {
		strings_.push_back('\0');
		add(DOF_SECT_STRTAB, 1, 0, {});
	}

	std::vector<uint8_t> run() {
		for (const EcbDesc& ecb : image_.ecbs)
			put_ecb(ecb);
		put_table(DOF_SECT_HOSTDESC, 4, sizeof(dof_hostdesc), hosts_);
		put_table(DOF_SECT_EXPRS, 4, sizeof(dof_expr), expressions_);
		put_table(DOF_SECT_TYPES, 4, sizeof(dof_expr), types_);
		put_table(DOF_SECT_LINES, 4, sizeof(dof_line), lines_);
		put_aggregations();
		put_btf();
		put_options();
		if (!image_.comments.empty())
			add(DOF_SECT_COMMENTS, 1, 0, image_.comments + '\0', false);
		if (!image_.source.empty())
			add(DOF_SECT_SOURCE, 1, 0, image_.source, false);
		sections_[0].payload = strings_;
		return lay_out();
	}

private:
	struct Placed {
		uint32_t predicate = DOF_SECIDX_NONE;
		uint32_t actions = DOF_SECIDX_NONE;
	};

	uint32_t add(uint32_t type, uint32_t align, uint32_t entsize, std::string payload, bool load = true) {
		OutSection section;
		section.head.type = type;
		section.head.align = align;
		section.head.flags = load ? DOF_SECF_LOAD : 0;
		section.head.entsize = entsize;
		section.payload = std::move(payload);
		sections_.push_back(std::move(section));
		return sections_.size() - 1;
	}

	void put_table(uint32_t type, uint32_t align, uint32_t entsize, std::string& payload) {
		if (!payload.empty())
			add(type, align, entsize, std::move(payload));
	}

	uint32_t string(const std::string& text) {
		if (text.empty())
			return 0;
		if (text.find('\0') != std::string::npos)
			throw Error("a string for the DOF contains a NUL byte", "remove the \\0 from it");
		const auto [at, is_new] = string_offsets_.try_emplace(text, strings_.size());
		if (is_new)
			strings_.append(text).push_back('\0');
		return at->second;
	}

	void put_ecb(const EcbDesc& ecb) {
		const dof_probedesc probe{0,
		                          string(ecb.probe.provider),
		                          string(ecb.probe.module),
		                          string(ecb.probe.function),
		                          string(ecb.probe.name),
		                          ecb.probe.id};
		const uint32_t probes = add(DOF_SECT_PROBEDESC, 4, sizeof probe, raw(probe));
		const Placed body = place(ecb.body);

		const dof_ecbdesc desc{probes, body.predicate, body.actions, 0, ecb.uarg};
		const uint32_t index = add(DOF_SECT_ECBDESC, 8, 0, raw(desc));
		if (!ecb.probe.host.empty())
			append(hosts_, dof_hostdesc{index, 0, string(ecb.probe.host), 0});
	}

	Placed place(uint32_t index) {
		if (placed_.size() < image_.bodies.size())
			placed_.resize(image_.bodies.size());
		if (placed_.at(index))
			return *placed_[index];
		const Body& body = image_.bodies[index];
		Placed placed;
		if (body.predicate)
			placed.predicate = put_difo(*body.predicate);
		if (!body.actions.empty())
			placed.actions = put_actions(body.actions);
		if (!body.condition.empty() && placed.actions != DOF_SECIDX_NONE)
			append(expressions_,
			       dof_expr{placed.actions, DOF_EXPR_PREDICATE, 0, string(body.condition)});
		placed_[index] = placed;
		return placed;
	}

	uint32_t put_actions(const std::vector<Action>& actions) {
		std::string payload;
		for (const Action& action : actions) {
			dof_actdesc desc{};
			desc.difo = action.difo ? put_difo(*action.difo) : DOF_SECIDX_NONE;
			desc.strtab = action.format ? 0 : DOF_STRIDX_NONE;
			desc.kind = action.kind;
			desc.ntuple = action.ntuple;
			desc.arg = action.format ? string(*action.format) : action.arg;
			desc.uarg = action.uarg;
			append(payload, desc);
		}
		const uint32_t index = add(DOF_SECT_ACTDESC, 8, sizeof(dof_actdesc), std::move(payload));
		for (uint32_t i = 0; i < actions.size(); i++) {
			if (!actions[i].expression.empty())
				append(expressions_, dof_expr{index, i, 0, string(actions[i].expression)});
			if (!actions[i].type.empty())
				append(types_, dof_expr{index, i, 0, string(actions[i].type)});
		}
		return index;
	}

	template <typename T> std::string bytes_of(const std::vector<T>& values) {
		return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
	}

	uint32_t put_difo(const dif::Difo& difo) {
		std::string header;
		append(header, difo.rtype);
		append(header, add(DOF_SECT_DIF, 4, 4, bytes_of(difo.text)));
		uint32_t integers = DOF_SECIDX_NONE;
		if (!difo.integers.empty()) {
			integers = add(DOF_SECT_INTTAB, 8, 8, bytes_of(difo.integers));
			append(header, integers);
		}
		if (!difo.strings.empty())
			append(header, add(DOF_SECT_STRTAB, 1, 0, difo.strings));
		if (!difo.variables.empty())
			append(header, add(DOF_SECT_VARTAB, 4, sizeof(dif_var), bytes_of(difo.variables)));
		const uint32_t index = add(DOF_SECT_DIFOHDR, 4, 0, std::move(header));
		if (!difo.relocations.empty())
			put_relocations(difo, integers);
		for (const dif::SourceLine& line : difo.lines)
			append(lines_,
			       dof_line{index, line.pc, 0, string(line.file), line.line, line.column});
		return index;
	}

	void put_relocations(const dif::Difo& difo, uint32_t target) {
		std::string payload;
		for (const dif::Relocation& relocation : difo.relocations) {
			const dof_relodesc desc{string(relocation.symbol), DOF_RELO_SETX,
			                        uint64_t{relocation.index} * 8, relocation.addend};
			append(payload, desc);
		}
		const uint32_t table = add(DOF_SECT_RELTAB, 8, sizeof(dof_relodesc), std::move(payload));
		std::string header;
		append(header, dof_relohdr{0, table, target});
		add(DOF_SECT_KRELHDR, 4, 0, std::move(header));
	}

	void put_aggregations() {
		std::string payload;
		for (const AggName& name : image_.aggregations)
			append(payload, dof_aggname{name.id, 0, string(name.name), 0});
		put_table(DOF_SECT_AGGS, 4, sizeof(dof_aggname), payload);
	}

	void put_btf() {
		if (!image_.btf_digest)
			return;
		add(DOF_SECT_BTFID, 8, 0, raw(dof_btfid{*image_.btf_digest, 0, string(image_.btf_name)}));
	}

	void put_options() {
		std::string payload;
		for (const Option& option : image_.options)
			append(payload, dof_optdesc{option.option, DOF_STRIDX_NONE,
			                            static_cast<uint64_t>(option.value)});
		put_table(DOF_SECT_OPTDESC, 8, sizeof(dof_optdesc), payload);
	}

	void place_payload(std::vector<uint8_t>& file, OutSection& section) {
		const size_t align = section.head.align;
		file.resize((file.size() + align - 1) / align * align);
		section.head.offset = file.size();
		section.head.size = section.payload.size();
		file.insert(file.end(), section.payload.begin(), section.payload.end());
	}

	std::vector<uint8_t> lay_out() {
		std::vector<uint8_t> file(sizeof(dof_header) + sections_.size() * sizeof(dof_sec));
		for (size_t i = 1; i < sections_.size(); i++) {
			if (sections_[i].head.flags & DOF_SECF_LOAD)
				place_payload(file, sections_[i]);
		}
		place_payload(file, sections_[0]);
		file.resize((file.size() + 7) / 8 * 8);
		const uint64_t loadsz = file.size();
		for (OutSection& section : sections_) {
			if (!(section.head.flags & DOF_SECF_LOAD))
				place_payload(file, section);
		}
		put_heads(file, loadsz);
		return file;
	}

	void put_heads(std::vector<uint8_t>& file, uint64_t loadsz) {
		dof_header header{.ident = DOF_IDENT};
		header.hdrsize = sizeof header;
		header.secsize = sizeof(dof_sec);
		header.secnum = sections_.size();
		header.secoff = sizeof header;
		header.loadsz = loadsz;
		header.filesz = file.size();
		std::memcpy(file.data(), &header, sizeof header);
		for (size_t i = 0; i < sections_.size(); i++)
			std::memcpy(file.data() + sizeof header + i * sizeof(dof_sec), &sections_[i].head,
			            sizeof(dof_sec));
	}

	const Image& image_;
	std::vector<OutSection> sections_;
	std::string strings_;
	std::unordered_map<std::string, uint32_t> string_offsets_;
	std::vector<std::optional<Placed>> placed_;
	std::string hosts_, expressions_, types_, lines_;
};

} // namespace

std::vector<uint8_t> write(const Image& image) {
	return DofWriter(image).run();
}

} // namespace dfr::dof
