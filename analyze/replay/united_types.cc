// SPDX-License-Identifier: GPL-2.0
//
// See united_types.h.
#include "analyze/replay/united_types.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "formats/types/btf_writer.h"
#include "formats/types/kernel_types.h"

namespace dfr::replay {
namespace {

using types::Kind, types::NameSpace, types::TypeRef;

// Where a type of this kind is looked for by its name; nothing: nowhere, or it is only announced.
std::optional<NameSpace> space_of(Kind kind) {
	switch (kind) {
	case Kind::Struct: return NameSpace::Struct;
	case Kind::Union: return NameSpace::Union;
	case Kind::Enum: return NameSpace::Enum;
	case Kind::Typedef:
	case Kind::Integer:
	case Kind::Float: return NameSpace::Ordinary;
	default: return std::nullopt;
	}
}

// The types of one that none before it has.
void add_roots(const types::Btf& one, std::span<const types::Btf* const> before,
               std::vector<TypeRef>& roots) {
	for (types::TypeId id = one.first_id(); id < one.end_id(); id++) {
		const TypeRef type{&one, id};
		const types::TypeInfo info = types::info(type);
		const auto space = info.name.empty() ? std::nullopt : space_of(info.kind);
		if (space && std::ranges::none_of(before, [&](const types::Btf* other) {
			    const TypeRef there = other->find(*space, info.name);
			    return there && types::info(there).kind != Kind::Forward;
		    }))
			roots.push_back(type);
	}
}

} // namespace

std::map<std::string, std::vector<std::byte>> united_btf(std::span<const trace::RecordedTypes> all,
                                                         const std::string& origin) {
	std::map<std::string, std::vector<std::byte>> out;
	if (all.size() == 1)
		return all.front().btf;
	std::vector<std::unique_ptr<types::KernelTypes>> kernels;
	std::map<std::string, std::vector<const types::Btf*>> containers;
	for (const trace::RecordedTypes& one : all) {
		kernels.push_back(types::KernelTypes::from_bytes(one.btf, origin));
		for (const auto& [name, btf] : one.btf)
			if (const types::Btf* const there = kernels.back()->container(name))
				containers[name].push_back(there);
	}
	for (const auto& [name, members] : containers) {
		std::vector<TypeRef> roots;
		for (size_t i = 0; i < members.size(); i++)
			add_roots(*members[i], std::span(members).first(i), roots);
		const types::WrittenBtf written = types::write_btf(roots, 0, SIZE_MAX);
		const auto bytes = std::as_bytes(std::span(written.bytes));
		out[name] = {bytes.begin(), bytes.end()};
	}
	return out;
}

} // namespace dfr::replay
