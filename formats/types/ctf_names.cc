// SPDX-License-Identifier: GPL-2.0
//
// Searching one CTF dictionary by name. The tables are built at the first
// search; a program's CTF is small beside a kernel's BTF. Functions and
// variables come from three places: lists with a name for each entry, lists in
// the order of the ELF symbol table, and the variable section.
#include "formats/error.h"
#include "formats/types/ctf_format.h"

namespace dfr::types {

// Ranks: complete and visible types win over hidden ones, those over forwards.
void Ctf::add_name(IdsByName& names, std::string_view name, TypeId id, int rank) const {
	const auto [known, fresh] = names.try_emplace(name, id);
	if (!fresh && ranks_[known->second] >= rank)
		return;
	known->second = id;
	ranks_[id] = rank;
}

void Ctf::index_names() const {
	if (named_)
		return;
	index_types();
	for (TypeId id = first_id(); id < end_id(); id++) {
		const Record type = record(id);
		if (type.kind == ctf::kEnum) {
			for (std::uint32_t i = 0; i < type.vlen; i++) {
				const Enumerator one = enumerator(id, i);
				constants_.try_emplace(one.name, EnumConstant{one.value, {this, id}});
			}
		}
		const std::string_view name = string(type.name);
		if (name.empty())
			continue;
		const bool announced = type.kind == ctf::kForward;
		const std::uint32_t kind = !announced                 ? type.kind
		                           : type.type == ctf::kUnion ? ctf::kUnion
		                           : type.type == ctf::kEnum  ? ctf::kEnum
		                                                      : ctf::kStruct;
		const int rank = announced ? 0 : type.visible ? 2 : 1;
		if (kind == ctf::kStruct)
			add_name(structs_, name, id, rank);
		else if (kind == ctf::kUnion)
			add_name(unions_, name, id, rank);
		else if (kind == ctf::kEnum)
			add_name(enums_, name, id, rank);
		else if (kind == ctf::kTypedef || kind == ctf::kInteger || kind == ctf::kFloat)
			add_name(ordinary_, name, id, rank);
	}
	ranks_.clear();
	named_ = true;
}

// `types` lists type ids; their names stand in `index`, or they follow the
// symbol table's order. An id of 0 says that nothing is known.
void Ctf::index_symbols_of(CtfSection types, CtfSection index, bool functions) const {
	IdsByName& names = functions ? function_types_ : variable_types_;
	std::vector<std::string_view> in_order;
	if (index.size == 0 && types.size != 0 && context_)
		in_order = context_->symbols(is_dynamic_, functions);
	for (std::uint32_t i = 0; i < types.size / 4; i++) {
		const TypeId id = word(types.begin + i * 4);
		std::string_view name;
		if (index.size != 0 && i < index.size / 4)
			name = string(word(index.begin + i * 4));
		else if (index.size == 0 && i < in_order.size())
			name = in_order[i];
		if (id != 0 && !name.empty())
			names.try_emplace(name, id);
	}
}

void Ctf::index_variables() const {
	for (std::uint32_t at = 0; at + 8 <= variables_.size; at += 8) {
		const std::string_view name = string(word(variables_.begin + at));
		const TypeId id = word(variables_.begin + at + 4);
		if (id == 0 || name.empty())
			continue;
		// gcc lists functions here too, by the type alone told apart.
		const bool function = types::info(ref(id)).kind == Kind::Function;
		(function ? function_types_ : variable_types_).try_emplace(name, id);
	}
}

void Ctf::index_symbols() const {
	if (symbols_)
		return;
	index_symbols_of(functions_, function_names_, true);
	index_symbols_of(objects_, object_names_, false);
	index_variables();
	symbols_ = true;
}

TypeRef Ctf::find(NameSpace space, std::string_view name) const {
	index_names();
	const IdsByName& names = space == NameSpace::Struct  ? structs_
	                         : space == NameSpace::Union ? unions_
	                         : space == NameSpace::Enum  ? enums_
	                                                     : ordinary_;
	const auto known = names.find(name);
	return known == names.end() ? TypeRef{} : TypeRef{this, known->second};
}

std::optional<EnumConstant> Ctf::find_enumerator(std::string_view name) const {
	index_names();
	const auto known = constants_.find(name);
	return known == constants_.end() ? std::nullopt : std::optional(known->second);
}

TypeRef Ctf::find_function(std::string_view name) const {
	index_symbols();
	const auto known = function_types_.find(name);
	if (known == function_types_.end())
		return {};
	const TypeRef type = ref(known->second);
	return types::info(type).kind == Kind::Function ? type : TypeRef{};
}

TypeRef Ctf::find_variable(std::string_view name) const {
	index_symbols();
	const auto known = variable_types_.find(name);
	return known == variable_types_.end() ? TypeRef{} : ref(known->second);
}

} // namespace dfr::types
