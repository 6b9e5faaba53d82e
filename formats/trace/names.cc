// SPDX-License-Identifier: GPL-2.0
//
// Names of addresses: collecting and asking.
#include "formats/trace/names.h"

#include <algorithm>
#include <limits>

namespace dfr::trace {
namespace {

// Symbols may lie inside of others, and what was mapped at one time overlap with what was at another: so many in
// front of an address are looked at.
constexpr unsigned kLookBack = 32;
constexpr uint32_t kLast = std::numeric_limits<uint32_t>::max();

// Numbers of one table as those of another, which has only the texts that were asked for.
class Renumbered {
public:
	Renumbered(const TextTable& from, std::vector<std::string>& into) : from_(from), into_(into) {}
	uint32_t text(uint32_t number) {
		const auto [at, fresh] = known_.try_emplace(number, static_cast<uint32_t>(into_.size()));
		if (fresh)
			into_.push_back(from_.text(number));
		return at->second;
	}

private:
	const TextTable& from_;
	std::vector<std::string>& into_;
	std::unordered_map<uint32_t, uint32_t> known_;
};

} // namespace

uint32_t TextTable::number(std::string_view text) {
	const auto [at, fresh] = known_.try_emplace(std::string(text), static_cast<uint32_t>(texts_.size()));
	if (fresh)
		texts_.push_back(&at->first);
	return at->second;
}

bool KnownNames::add_kernel(uint64_t start, uint64_t size, uint64_t since, std::string_view module,
                            std::string_view name) {
	const KernelKey key{start, texts_.number(module), texts_.number(name)};
	const auto [at, fresh] = kernel_.try_emplace(key, SizeSince{size, since});
	const bool news = fresh || size > at->second.size || since < at->second.since;
	at->second = {std::max(at->second.size, size), std::min(at->second.since, since)};
	if (news)
		fresh_kernel_.insert(key);
	return news;
}

uint32_t KnownNames::add_file(std::string_view name, std::string_view build_id) {
	const AddressNames::File file{texts_.number(name), texts_.number(build_id)};
	const auto [at, fresh] =
	    file_numbers_.try_emplace({file.name, file.build_id}, static_cast<uint32_t>(files_.size()));
	if (fresh)
		files_.push_back(file);
	return at->second;
}

bool KnownNames::add_symbol(uint32_t file, uint64_t offset, uint64_t size, std::string_view name) {
	const SymbolKey key{file, offset, texts_.number(name)};
	const auto [at, fresh] = symbols_.try_emplace(key, size);
	const bool news = fresh || size > at->second;
	at->second = std::max(at->second, size);
	if (news)
		fresh_symbols_.insert(key);
	return news;
}

bool KnownNames::add_mapping(const AddressNames::MappedRange& mapping) {
	const MappingKey key{mapping.pid,    mapping.start, mapping.end,
	                     mapping.offset, mapping.file,  mapping.seen};
	const auto [at, fresh] = mappings_.try_emplace(key, Held{mapping.since, mapping.until});
	// What is said of it later only says less.
	const bool news = fresh || mapping.since > at->second.since || mapping.until < at->second.until;
	at->second = {std::max(at->second.since, mapping.since), std::min(at->second.until, mapping.until)};
	if (news)
		fresh_mappings_.insert(key);
	return news;
}

bool KnownNames::add_module(std::string_view name, const AddressNames::ModuleRange& module) {
	const ModuleKey key{texts_.number(name), module.start, module.since};
	const auto [at, fresh] =
	    modules_.try_emplace(key, HeldModule{module.size, {module.since, module.until}});
	const bool news = fresh || module.until < at->second.held.until;
	at->second.held.until = std::min(at->second.held.until, module.until);
	if (news)
		fresh_modules_.insert(key);
	return news;
}

void KnownNames::add(const AddressNames& names) {
	std::vector<uint32_t> files;
	for (const AddressNames::File& file : names.files)
		files.push_back(add_file(names.texts[file.name], names.texts[file.build_id]));
	for (const AddressNames::KernelSymbol& symbol : names.kernel)
		add_kernel(symbol.start, symbol.size, symbol.since, names.texts[symbol.module],
		           names.texts[symbol.name]);
	for (const AddressNames::FileSymbol& symbol : names.symbols)
		add_symbol(files[symbol.file], symbol.offset, symbol.size, names.texts[symbol.name]);
	for (AddressNames::MappedRange mapping : names.mappings) {
		mapping.file = files[mapping.file];
		add_mapping(mapping);
	}
	for (const AddressNames::ModuleRange& module : names.modules)
		add_module(names.texts[module.name], module);
}

// By what is said of its module at this address; if nothing is, because data and what runs only once may lie outside
// of what is listed, at any address. A module of which nothing is said was there.
bool KnownNames::loaded(uint32_t module, uint64_t address, uint64_t time) const {
	bool told = false, held = false, told_here = false, held_here = false;
	auto place = modules_.upper_bound({module, UINT64_MAX, UINT64_MAX});
	for (unsigned back = 0; place != modules_.begin() && back < kLookBack; back++) {
		--place;
		const auto [name, start, since] = place->first;
		if (name != module)
			break;
		const bool here = place->second.held.at(time), inside = address - start < place->second.size;
		told = true;
		held |= here;
		told_here |= inside;
		held_here |= inside && here;
	}
	return !told || (told_here ? held_here : held);
}

std::optional<AddressName> KnownNames::kernel(uint64_t address, uint64_t time) const {
	auto next = kernel_.upper_bound({address, kLast, kLast});
	decltype(next) best = kernel_.end();
	for (unsigned back = 0; next != kernel_.begin() && back < kLookBack; back++) {
		--next;
		if (address - std::get<0>(next->first) >= next->second.size)
			continue;
		if (next->second.since <= time && loaded(std::get<1>(next->first), address, time) &&
		    (best == kernel_.end() || next->second.since > best->second.since))
			best = next;
	}
	if (best == kernel_.end())
		return std::nullopt;
	const auto [start, module, name] = best->first;
	return AddressName{texts_.text(module), texts_.text(name), address - start};
}

std::optional<AddressName> KnownNames::user(uint32_t pid, uint64_t address, uint64_t time) const {
	auto place = mappings_.upper_bound({pid, address, UINT64_MAX, UINT64_MAX, kLast, UINT64_MAX});
	decltype(place) best = mappings_.end();
	for (unsigned back = 0; place != mappings_.begin() && back < kLookBack; back++) {
		--place;
		if (std::get<0>(place->first) != pid)
			break;
		if (address < std::get<2>(place->first) && place->second.at(time) &&
		    (best == mappings_.end() || place->second.since > best->second.since))
			best = place;
	}
	if (best == mappings_.end())
		return std::nullopt;
	const auto [owner, start, end, offset, file, seen] = best->first;
	const std::string& module = texts_.text(files_[file].name);
	const uint64_t in_file = address - start + offset;
	// Of those that begin at one place the smallest, as the others have only what goes beyond it.
	auto next = symbols_.upper_bound({file, in_file, kLast});
	decltype(next) found = symbols_.end();
	for (unsigned back = 0; next != symbols_.begin() && back < kLookBack; back++) {
		--next;
		const auto [of, begin, name] = next->first;
		if (of != file || (found != symbols_.end() && begin != std::get<1>(found->first)))
			break;
		if (in_file - begin < next->second &&
		    (found == symbols_.end() || next->second < found->second))
			found = next;
	}
	if (found == symbols_.end())
		return AddressName{module, {}, 0};
	return AddressName{module, texts_.text(std::get<2>(found->first)),
	                   in_file - std::get<1>(found->first)};
}

// One AddressNames of some of what is known: with the texts and files that these need, and no others.
struct KnownNames::Part {
	explicit Part(const KnownNames& of) : known(of), texts(of.texts_, names.texts) {}

	uint32_t file(uint32_t number) {
		const auto [at, fresh] = files.try_emplace(number, static_cast<uint32_t>(names.files.size()));
		const AddressNames::File& file = known.files_[number];
		if (fresh)
			names.files.push_back({texts.text(file.name), texts.text(file.build_id)});
		return at->second;
	}
	void kernel(const KernelKey& key, const SizeSince& extent) {
		const auto [start, module, name] = key;
		names.kernel.push_back(
		    {start, extent.size, extent.since, texts.text(module), texts.text(name)});
	}
	void symbol(const SymbolKey& key, uint64_t size) {
		const auto [of, offset, name] = key;
		names.symbols.push_back({file(of), texts.text(name), offset, size});
	}
	void mapping(const MappingKey& key, const Held& held) {
		const auto [pid, start, end, offset, of, seen] = key;
		names.mappings.push_back({pid, file(of), start, end, offset, held.since, seen, held.until});
	}
	void module(const ModuleKey& key, const HeldModule& module) {
		const auto [name, start, since] = key;
		names.modules.push_back({texts.text(name), start, module.size, since, module.held.until});
	}

	const KnownNames& known;
	AddressNames names;
	Renumbered texts;
	std::unordered_map<uint32_t, uint32_t> files;
};

AddressNames KnownNames::fresh() {
	Part part(*this);
	for (const KernelKey& key : fresh_kernel_)
		part.kernel(key, kernel_.at(key));
	for (const SymbolKey& key : fresh_symbols_)
		part.symbol(key, symbols_.at(key));
	for (const MappingKey& key : fresh_mappings_)
		part.mapping(key, mappings_.at(key));
	for (const ModuleKey& key : fresh_modules_)
		part.module(key, modules_.at(key));
	fresh_kernel_.clear();
	fresh_symbols_.clear();
	fresh_mappings_.clear();
	fresh_modules_.clear();
	return std::move(part.names);
}

AddressNames KnownNames::all() const {
	Part part(*this);
	for (const auto& [key, extent] : kernel_)
		part.kernel(key, extent);
	for (const auto& [key, size] : symbols_)
		part.symbol(key, size);
	for (const auto& [key, held] : mappings_)
		part.mapping(key, held);
	for (const auto& [key, module] : modules_)
		part.module(key, module);
	return std::move(part.names);
}

} // namespace dfr::trace
