// SPDX-License-Identifier: GPL-2.0
//
// TypeTable: built-in names are made when first used, so that a program pays
// only for what it names.
#include "formats/d/type_table.h"

#include <algorithm>

namespace dfr::d {

using types::Kind;
using types::NameSpace;
using types::TypeInfo;
using types::TypeRef;

namespace {

struct Basic {
	std::string_view name;
	uint32_t bits;
	bool is_signed;
};

constexpr Basic kIntegers[] = {
    {"int", 32, true},
    {"char", 8, true},
    {"unsigned int", 32, false},
    {"long", 64, true},
    {"unsigned long", 64, false},
    {"long long", 64, true},
    {"unsigned long long", 64, false},
    {"short", 16, true},
    {"unsigned short", 16, false},
    {"signed char", 8, true},
    {"unsigned char", 8, false},
    {"_Bool", 8, false},
};

struct Alias {
	std::string_view name, target;
};

constexpr Alias kTypedefs[] = {
    {"int8_t", "signed char"},
    {"int16_t", "short"},
    {"int32_t", "int"},
    {"int64_t", "long"},
    {"intptr_t", "long"},
    {"ssize_t", "long"},
    {"uint8_t", "unsigned char"},
    {"uint16_t", "unsigned short"},
    {"uint32_t", "unsigned int"},
    {"uint64_t", "unsigned long"},
    {"uchar_t", "unsigned char"},
    {"ushort_t", "unsigned short"},
    {"uint_t", "unsigned int"},
    {"ulong_t", "unsigned long"},
    {"u_longlong_t", "unsigned long long"},
    {"uintptr_t", "unsigned long"},
    {"size_t", "unsigned long"},
    {"ptrdiff_t", "long"},
    {"id_t", "int"},
    {"pid_t", "int"},
    {"uid_t", "unsigned int"},
    {"gid_t", "unsigned int"},
};

} // namespace

TypeTable::TypeTable(Target& target, const uint64_t& strsize) : target_(target), strsize_(strsize) {}

TypeRef TypeTable::basic(std::string_view name) {
	for (const Basic& one : kIntegers) {
		if (one.name != name)
			continue;
		types::IntegerSpec spec;
		spec.bits = one.bits;
		spec.is_signed = one.is_signed;
		spec.is_char = name == "char" || name == "signed char" || name == "unsigned char";
		spec.is_bool = name == "_Bool";
		return program_.integer(name, spec);
	}
	if (name == "float")
		return program_.floating(name, 4);
	if (name == "double")
		return program_.floating(name, 8);
	if (name == "long double")
		return program_.floating(name, 16);
	return {};
}

uint64_t TypeTable::alignment_of(TypeRef type) {
	while (type.container == &program_) {
		const types::TypeInfo what = types::info(type);
		if (what.kind != Kind::Typedef && what.kind != Kind::Const && what.kind != Kind::Volatile &&
		    what.kind != Kind::Restrict && what.kind != Kind::Array)
			return 0;
		const auto known = alignments_.find(type.id);
		if (known != alignments_.end())
			return known->second;
		type = what.target;
	}
	return 0;
}

TypeRef TypeTable::string_type() {
	// The element count is no size: size() knows what strings take.
	if (!string_)
		string_ = program_.typedef_name("string", program_.array(basic("char"), 0));
	return string_;
}

TypeRef TypeTable::stored_string() {
	TypeRef& known = stored_strings_[strsize_];
	if (!known)
		known = program_.typedef_name("string", program_.array(basic("char"), strsize_));
	return known;
}

TypeRef TypeTable::named(std::string_view name) {
	for (const Alias& alias : kTypedefs) {
		if (alias.name != name)
			continue;
		if (const TypeRef known = program_.find(NameSpace::Ordinary, name))
			return known;
		return program_.typedef_name(name, basic(alias.target));
	}
	return {};
}

const types::Container* TypeTable::module(std::string_view name) {
	return target_.kernel_types(name);
}

TypeRef TypeTable::find_kernel(NameSpace space, std::string_view name) {
	TypeRef forward;
	const auto look = [&](std::string_view container) -> TypeRef {
		const types::Container* const where = module(container);
		const TypeRef found = where ? where->find(space, name) : TypeRef{};
		if (!found)
			return {};
		if (types::info(found).kind != Kind::Forward)
			return found;
		forward = found;
		return {};
	};
	TypeRef found;
	if (const size_t tick = name.rfind('`'); tick != std::string_view::npos) {
		const std::string_view scope = name.substr(0, tick);
		name.remove_prefix(tick + 1);
		found = look(scope.empty() ? "vmlinux" : scope);
		if (found || !scope.empty())
			return found ? found : forward;
	} else {
		found = look("vmlinux");
	}
	if (!found) {
		for (const std::string& one : target_.type_modules()) {
			if ((found = look(one)))
				break;
		}
	}
	if (!found)
		found = forward;
	return found;
}

TypeRef TypeTable::find_typedef(std::string_view name) {
	if (name == "string")
		return string_type();
	if (name.find('`') == std::string_view::npos) {
		if (const TypeRef found = program_.find(NameSpace::Ordinary, name);
		    found && types::info(found).kind == Kind::Typedef)
			return found;
		if (const TypeRef found = named(name))
			return found;
		if (name == "_Bool" || name == "bool")
			return basic("_Bool");
		if (provider_ && provider_(name))
			return find_typedef(name);
	}
	return find_kernel(NameSpace::Ordinary, name);
}

TypeRef TypeTable::find_tag(Kind kind, std::string_view name) {
	const NameSpace space = kind == Kind::Struct  ? NameSpace::Struct
	                        : kind == Kind::Union ? NameSpace::Union
	                                              : NameSpace::Enum;
	TypeRef found = name.find('`') == std::string_view::npos ? program_.find(space, name) : TypeRef{};
	if (found && types::info(found).kind != Kind::Forward)
		return found;
	if (!found && provider_ && provider_(name))
		return find_tag(kind, name);
	const TypeRef kernel = find_kernel(space, name);
	return kernel ? kernel : found;
}

TypeRef TypeTable::complete(TypeRef type) {
	const TypeRef bare = types::resolve(type);
	const TypeInfo what = types::info(bare);
	if (what.kind != Kind::Forward || what.name.empty())
		return type;
	const TypeRef found = find_tag(what.forward, what.name);
	return found ? found : type;
}

std::optional<types::EnumConstant> TypeTable::find_enumerator(std::string_view name) {
	for (size_t i = 0; open_enum_ && i < open_enum_->size(); i++) {
		if ((*open_enum_)[i].name == name)
			return types::EnumConstant{(*open_enum_)[i].value, int_type()};
	}
	if (const auto found = program_.find_enumerator(name))
		return found;
	if (const types::Container* const kernel = module("vmlinux")) {
		if (const auto found = kernel->find_enumerator(name))
			return found;
	}
	return std::nullopt;
}

TypeRef TypeTable::find_kernel_symbol(std::string_view scope, std::string_view name, bool* is_function) {
	*is_function = false;
	bool several = false; // functions of that name, of different types: no other module's is meant either
	const auto look = [&](std::string_view container) -> TypeRef {
		const types::Container* const where = module(container);
		if (!where)
			return {};
		if (const TypeRef found = where->find_variable(name))
			return found;
		const TypeRef function = where->find_function(name);
		*is_function = bool(function);
		several = !function && where->count_functions(name) > 1;
		return function;
	};
	TypeRef found = look(scope.empty() ? "vmlinux" : scope);
	if (!found && scope.empty()) {
		for (const std::string& one : target_.type_modules()) {
			if (several || (found = look(one)))
				break;
		}
	}
	return found;
}

TypeInfo TypeTable::info(TypeRef type) {
	return type ? types::resolved_info(type) : TypeInfo{};
}

namespace {

// Whether the type, or one that it names through typedefs and qualifiers, is meant.
template <typename Meant> bool names(TypeRef type, const Meant& meant) {
	for (unsigned depth = 0; type && depth < types::kMaxDepth; depth++) {
		if (meant(type))
			return true;
		const TypeInfo what = types::info(type);
		if (what.kind < Kind::Typedef)
			return false;
		type = what.target;
	}
	return false;
}

} // namespace

bool TypeTable::is_string(TypeRef type) {
	return string_ && names(type, [this](TypeRef one) { return one == string_; });
}

bool TypeTable::is_stored_string(TypeRef type) {
	return names(type, [this](TypeRef one) {
		return std::ranges::any_of(stored_strings_,
		                           [one](const auto& stored) { return stored.second == one; });
	});
}

bool TypeTable::is_integer(TypeRef type) {
	const Kind kind = info(type).kind;
	return kind == Kind::Integer || kind == Kind::Enum;
}
bool TypeTable::is_float(TypeRef type) {
	return info(type).kind == Kind::Float;
}
bool TypeTable::is_pointer(TypeRef type) {
	return info(type).kind == Kind::Pointer;
}
bool TypeTable::is_array(TypeRef type) {
	return info(type).kind == Kind::Array && !is_string(type);
}
bool TypeTable::is_struct(TypeRef type) {
	const TypeInfo what = info(type);
	return what.kind == Kind::Struct || what.kind == Kind::Union ||
	       (what.kind == Kind::Forward && what.forward != Kind::Enum);
}
bool TypeTable::is_function(TypeRef type) {
	return info(type).kind == Kind::Function;
}
bool TypeTable::is_void(TypeRef type) {
	return type && info(type).kind == Kind::Void;
}

TypeRef TypeTable::target(TypeRef type) {
	return info(type).target;
}

bool TypeTable::is_char_pointer(TypeRef type) {
	const TypeInfo what = info(type);
	if (what.kind != Kind::Pointer)
		return false;
	const TypeInfo to = info(what.target);
	return to.kind == Kind::Integer && to.bits == 8 && !to.is_bool;
}

bool TypeTable::is_char_array(TypeRef type) {
	const TypeInfo what = info(type);
	if (what.kind != Kind::Array || is_string(type))
		return false;
	const TypeInfo to = info(what.target);
	return to.kind == Kind::Integer && to.bits == 8;
}

bool TypeTable::is_signed(TypeRef type) {
	const TypeInfo what = info(type);
	return (what.kind == Kind::Integer || what.kind == Kind::Enum) && what.is_signed;
}

uint64_t TypeTable::size(TypeRef type) {
	if (!type)
		return 0;
	if (is_string(type))
		return strsize_;
	return types::size_of(complete(type)).value_or(0);
}

bool TypeTable::same(TypeRef a, TypeRef b) {
	if (a == b)
		return true;
	if (is_string(a) || is_string(b))
		return is_string(a) && is_string(b);
	return a && b && types::equivalent(a, b);
}

TypeRef TypeTable::promote(TypeRef a, TypeRef b) {
	if (is_float(a) || is_float(b))
		return basic("double");
	if (info(a).kind == Kind::Enum)
		a = int_type();
	if (info(b).kind == Kind::Enum)
		b = int_type();
	const auto rank = [&](TypeRef type) {
		const TypeInfo what = info(type);
		return what.size * 8 + !what.is_signed;
	};
	return rank(b) > rank(a) ? b : a;
}

std::string TypeTable::text(TypeRef type) {
	if (!type)
		return "<unknown>";
	return types::to_c(type);
}

} // namespace dfr::d
