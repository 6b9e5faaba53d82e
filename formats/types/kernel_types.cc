// SPDX-License-Identifier: GPL-2.0
//
// KernelTypes: see kernel_types.h. A search that vmlinux answers opens no
// module; one that nobody answers opens them all, which is what "does this name
// exist?" costs.
#include "formats/types/kernel_types.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "formats/error.h"

namespace dfr::types {
namespace {

constexpr std::string_view kVmlinux = "vmlinux";

std::string module_name(std::string_view name) {
	std::string result(name);
	std::replace(result.begin(), result.end(), '-', '_');
	return result;
}

bool found(TypeRef type) {
	return static_cast<bool>(type);
}
bool found(const std::optional<EnumConstant>& constant) {
	return constant.has_value();
}

} // namespace

std::unique_ptr<KernelTypes> KernelTypes::from_directory(const std::string& directory) {
	std::unique_ptr<KernelTypes> types(new KernelTypes);
	std::error_code error;
	const std::filesystem::directory_iterator end;
	for (std::filesystem::directory_iterator at(directory, error); !error && at != end;
	     at.increment(error))
		types->sources_[module_name(at->path().filename().string())] = {at->path().string(), nullptr,
		                                                                false, true};
	return types;
}

std::unique_ptr<KernelTypes> KernelTypes::from_image(std::string path) {
	std::unique_ptr<KernelTypes> types(new KernelTypes);
	types->sources_[std::string(kVmlinux)].path = std::move(path);
	return types;
}

std::unique_ptr<KernelTypes> KernelTypes::from_bytes(const std::map<std::string, std::vector<std::byte>>& btf,
                                                     const std::string& origin) {
	std::unique_ptr<KernelTypes> types(new KernelTypes);
	for (const auto& [name, bytes] : btf) {
		const auto* const start = reinterpret_cast<const std::uint8_t*>(bytes.data());
		types->sources_[module_name(name)] = {
		    origin, std::make_unique<Btf>(name, Blob::from_bytes({start, start + bytes.size()})),
		    true};
	}
	return types;
}

void KernelTypes::add_module(const std::string& name, std::string path) {
	sources_[module_name(name)] = {std::move(path), nullptr, false};
}

void KernelTypes::add_modules(const std::string& directory) {
	std::error_code error;
	const std::filesystem::recursive_directory_iterator end;
	for (std::filesystem::recursive_directory_iterator at(directory, error); !error && at != end;
	     at.increment(error)) {
		const std::string name = at->path().filename().string();
		const std::size_t dot = name.find(".ko");
		if (dot != std::string::npos && dot != 0 && (dot + 3 == name.size() || name[dot + 3] == '.'))
			add_module(name.substr(0, dot), at->path().string());
	}
	if (error)
		throw Error("cannot read the modules in " + directory + ": " + error.message());
}

bool KernelTypes::available() const {
	return sources_.find(kVmlinux) != sources_.end();
}

const Btf& KernelTypes::vmlinux() {
	const Btf* btf = container(kVmlinux);
	if (!btf)
		throw Error("this kernel has no type information",
		            "use a kernel built with CONFIG_DEBUG_INFO_BTF, or name a vmlinux or vmlinuz "
		            "with a .BTF section");
	return *btf;
}

const Btf* KernelTypes::container(std::string_view name) {
	const auto source = sources_.find(module_name(name));
	if (source == sources_.end())
		return nullptr;
	if (source->second.opened)
		return source->second.btf.get();
	const bool is_vmlinux = source->first == kVmlinux;
	const Btf* base = is_vmlinux ? nullptr : &vmlinux();
	try {
		auto blob = is_vmlinux ? load_btf(source->second.path) : find_btf(source->second.path);
		if (blob)
			source->second.btf = std::make_unique<Btf>(source->first, std::move(*blob), base);
	} catch (const Error& why) {
		const bool has_gone = why.code() == ENOENT || why.code() == ENODEV;
		if (is_vmlinux || !source->second.running || !has_gone)
			throw;
	}
	source->second.opened = true;
	return source->second.btf.get();
}

std::vector<std::string> KernelTypes::names() const {
	std::vector<std::string> result;
	if (available())
		result.emplace_back(kVmlinux);
	for (const auto& [name, source] : sources_) {
		if (name != kVmlinux)
			result.push_back(name);
	}
	return result;
}

template <typename Look> auto KernelTypes::first_of(Look look) -> decltype(look(std::declval<const Btf&>())) {
	decltype(look(std::declval<const Btf&>())) best{};
	for (const std::string& name : names()) {
		const Btf* btf = container(name);
		if (!btf)
			continue;
		const auto here = look(*btf);
		if (!found(here))
			continue;
		if constexpr (std::is_same_v<std::remove_cvref_t<decltype(here)>, TypeRef>) {
			if (info(here).kind == Kind::Forward) {
				best = best ? best : here;
				continue;
			}
		}
		return here;
	}
	return best;
}

TypeRef KernelTypes::find(NameSpace space, std::string_view name) {
	return first_of([&](const Btf& btf) { return btf.find(space, name); });
}

std::optional<EnumConstant> KernelTypes::find_enumerator(std::string_view name) {
	return first_of([&](const Btf& btf) { return btf.find_enumerator(name); });
}

// see(container, how many types the name has there): of one module, of vmlinux, or of all
// modules where vmlinux does not have it.
template <typename See>
void KernelTypes::each_with_function(std::string_view name, std::string_view module, See see) {
	for (const std::string& one :
	     module.empty() ? names() : std::vector<std::string>{std::string(module)}) {
		const Btf* btf = container(one);
		const unsigned count = btf ? btf->count_functions(name) : 0;
		if (count == 0)
			continue;
		see(*btf, count);
		if (one == kVmlinux)
			return;
	}
}

TypeRef KernelTypes::find_function(std::string_view name, std::string_view module) {
	TypeRef found;
	bool differ = false;
	each_with_function(name, module, [&](const Btf& btf, unsigned count) {
		const TypeRef here = btf.find_function(name);
		differ |= count > 1 || (found && !same_structure(found, here));
		found = here;
	});
	return differ ? TypeRef{} : found;
}

unsigned KernelTypes::count_functions(std::string_view name, std::string_view module) {
	unsigned sum = 0;
	each_with_function(name, module, [&](const Btf&, unsigned count) { sum += count; });
	return find_function(name, module) ? 1 : sum;
}

TypeRef KernelTypes::find_variable(std::string_view name, std::string_view module) {
	if (module.empty())
		return first_of([&](const Btf& btf) { return btf.find_variable(name); });
	const Btf* btf = container(module);
	return btf ? btf->find_variable(name) : TypeRef{};
}

TypeRef KernelTypes::complete(TypeRef type) {
	const TypeInfo announced = resolved_info(type);
	if (announced.kind != Kind::Forward || announced.name.empty())
		return type;
	const NameSpace space = announced.forward == Kind::Struct  ? NameSpace::Struct
	                        : announced.forward == Kind::Union ? NameSpace::Union
	                                                           : NameSpace::Enum;
	const TypeRef whole = find(space, announced.name);
	return whole && info(whole).kind != Kind::Forward ? whole : type;
}

TypeRef KernelTypes::find_tracepoint(std::string_view tracepoint, std::string_view module) {
	const std::string name(tracepoint);
	// The iterator function has the same prototype with names.
	const TypeRef named = find_function("__traceiter_" + name, module);
	if (named || count_functions("__traceiter_" + name, module) > 1)
		return named;
	const std::string alias = "btf_trace_" + name;
	const Btf* only = module.empty() ? nullptr : container(module);
	if (!module.empty() && !only)
		return {};
	const TypeRef pointer =
	    only ? only->find(NameSpace::Ordinary, alias) : find(NameSpace::Ordinary, alias);
	const TypeInfo below = resolved_info(pointer);
	if (below.kind != Kind::Pointer || resolved_kind(below.target) != Kind::Function)
		return {};
	return resolve(below.target);
}

} // namespace dfr::types
