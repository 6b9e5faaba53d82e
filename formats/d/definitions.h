// SPDX-License-Identifier: GPL-2.0
//
// What a program has named so far: variables in their three scopes, inlines,
// translators, aggregations, kernel externs. One Definitions per compilation; items
// keep their address.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/abi/dif.h"
#include "formats/d/ast.h"

namespace dfr::d {

struct Variable {
	std::string name;
	uint8_t scope = DIF_VS_GLOBAL;
	uint32_t id = 0;
	types::TypeRef type;
	bool assoc = false;
	std::vector<types::TypeRef> keys;
	bool user = false;     // declared userland: its pointers point into user memory
	bool declared = false; // or else made by its first assignment
	unsigned memory = 0;   // what its pointers have been made to point to: kScratch, kOtherMemory
	Place place;
};

// How a variable of each scope (DIF_VS_GLOBAL, _THREAD, _LOCAL) is written.
inline constexpr const char* kScopePrefix[] = {"", "self->", "this->"};

// What a pointer may point to.
inline constexpr unsigned kScratch = 1; // of alloca() and copyin(): D may write it
inline constexpr unsigned kOtherMemory = 2;

struct InlineParameter {
	std::string name;
	types::TypeRef type;
};

struct InlineDef {
	std::string name;
	types::TypeRef type;
	std::vector<InlineParameter> parameters;
	bool array = false;
	Node* body = nullptr;
	Place place;
	bool expanding = false;
	bool library = false;
};

struct Translator {
	types::TypeRef out, in;
	std::string parameter;
	std::map<std::string, Node*, std::less<>> members;
	Place place;
};

struct AggVariable {
	std::string name; // "_" for @
	uint32_t id = 0;
	uint32_t function = 0;               // DFR_ACT_*; 0: not assigned yet
	uint64_t arg = 0;                    // encoded parameters
	std::vector<std::string> keys;       // signature
	std::vector<const Node*> first_keys; // as its first use has them
	bool keyed = false;
	bool by_cpu = false; // aggpercpu: the CPU is a key more
	Place place;
};

struct Extern {
	types::TypeRef type;
	bool user = false;
};

// A USDT provider's probes: the types of their arguments, as text.
using ProviderDef = std::map<std::string, std::string>;

class Definitions {
public:
	Variable* find_variable(uint8_t scope, std::string_view name) {
		const auto at = variables_[scope].find(name);
		return at == variables_[scope].end() ? nullptr : at->second.get();
	}
	size_t variables() const { return size_t{next_[0]} + next_[1] + next_[2]; }
	// Null when the ids are used up.
	Variable* add_variable(uint8_t scope, std::string_view name) {
		const uint32_t id = DIF_VAR_USER_FIRST + next_[scope];
		if (id > DIF_VAR_MAX)
			return nullptr;
		next_[scope]++;
		auto variable = std::make_unique<Variable>();
		variable->name = name;
		variable->scope = scope;
		variable->id = id;
		return (variables_[scope][std::string(name)] = std::move(variable)).get();
	}

	AggVariable* aggregation(std::string_view name) {
		auto& slot = aggregations_[std::string(name)];
		if (!slot) {
			slot = std::make_unique<AggVariable>();
			slot->name = name;
			slot->id = in_order_.size() + 1;
			in_order_.push_back(slot.get());
		}
		return slot.get();
	}
	AggVariable* find_aggregation(std::string_view name) {
		const auto at = aggregations_.find(name);
		return at == aggregations_.end() ? nullptr : at->second.get();
	}
	const std::vector<AggVariable*>& aggregations() const { return in_order_; }

	std::map<std::string, InlineDef, std::less<>> inlines;
	std::vector<std::unique_ptr<Translator>> translators;
	std::map<std::string, Extern, std::less<>> externs;
	std::map<std::string, ProviderDef, std::less<>> providers;

	std::vector<std::string_view> variable_names(uint8_t scope) const {
		std::vector<std::string_view> names;
		for (const auto& one : variables_[scope])
			names.push_back(one.first);
		return names;
	}

private:
	std::map<std::string, std::unique_ptr<Variable>, std::less<>> variables_[3];
	uint32_t next_[3] = {0, 0, 0};
	std::map<std::string, std::unique_ptr<AggVariable>, std::less<>> aggregations_;
	std::vector<AggVariable*> in_order_;
};

} // namespace dfr::d
