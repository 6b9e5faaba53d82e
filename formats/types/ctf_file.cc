// SPDX-License-Identifier: GPL-2.0
//
// CTF in its surroundings: the ELF file whose strings and symbols it uses, and
// the archive the linker writes when compilation units disagree about a name:
//
//	archive:  magic u64 | model u64 | count u64 | names at u64 | data at u64,
//	          then count times: name u64 (from "names at") | place u64 (from
//	          "data at")
//	place:    length u64 | dictionary
//
// The dictionary named ".ctf" is the parent of the others.
#include <cstring>
#include <elf.h>

#include "formats/error.h"
#include "formats/types/ctf_format.h"

namespace dfr::types {
namespace {

constexpr std::string_view kShared = ".ctf";
constexpr std::uint64_t kMostDictionaries = 1 << 20;

std::uint64_t u64_at(const Blob& blob, std::uint64_t at, const std::string& name) {
	std::uint64_t value;
	if (at > blob.size() || blob.size() - at < sizeof value)
		throw Error(name + ": damaged CTF archive (offset " + std::to_string(at) + ")");
	std::memcpy(&value, blob.bytes().data() + at, sizeof value);
	return value;
}

// Symbols that CTF leaves out of its lists.
bool is_skipped(const ElfSymbol& symbol) {
	if (symbol.name.empty() || symbol.section == SHN_UNDEF)
		return true;
	if (symbol.name == "_START_" || symbol.name == "_END_")
		return true;
	return symbol.type == STT_OBJECT && symbol.section == SHN_ABS && symbol.value == 0;
}

template <typename Look> TypeRef best_of(const std::vector<std::unique_ptr<Ctf>>& dictionaries, Look look) {
	TypeRef best;
	for (const auto& one : dictionaries) {
		const TypeRef here = look(*one);
		if (!here)
			continue;
		if (info(here).kind != Kind::Forward)
			return here;
		best = best ? best : here;
	}
	return best;
}

} // namespace

CtfContext::CtfContext(Blob file, std::string name) {
	elf_.emplace(std::move(file), std::move(name));
}

std::span<const std::uint8_t> CtfContext::strings(bool dynamic) const {
	const ElfSection* table = elf_ ? elf_->find_type(dynamic ? SHT_DYNSYM : SHT_SYMTAB) : nullptr;
	if (!table || table->link >= elf_->sections().size())
		return {};
	// The span stays valid: the file's bytes belong to elf_.
	return elf_->contents(elf_->sections()[table->link]).bytes();
}

std::vector<std::string_view> CtfContext::symbols(bool dynamic, bool functions) const {
	std::vector<std::string_view> names;
	const ElfSection* table = elf_ ? elf_->find_type(dynamic ? SHT_DYNSYM : SHT_SYMTAB) : nullptr;
	if (!table)
		return names;
	for (const ElfSymbol& symbol : elf_->symbols(*table)) {
		if (symbol.type == (functions ? STT_FUNC : STT_OBJECT) && !is_skipped(symbol))
			names.push_back(symbol.name);
	}
	return names;
}

std::unique_ptr<CtfFile> CtfFile::open(const std::string& path) {
	auto context = std::make_shared<const CtfContext>(Blob::from_file(path), path);
	const ElfSection* section = context->elf()->find(".ctf");
	if (!section)
		return nullptr;
	return from_blob(path, context->elf()->contents(*section), context);
}

std::unique_ptr<CtfFile> CtfFile::from_blob(const std::string& name, const Blob& blob,
                                            const std::shared_ptr<const CtfContext>& context) {
	std::unique_ptr<CtfFile> file(new CtfFile);
	if (blob.size() >= 8 && u64_at(blob, 0, name) == ctf::kArchiveMagic)
		file->read_archive(name, blob, context);
	else
		file->dictionaries_.push_back(std::make_unique<Ctf>(name, blob, context));
	return file;
}

void CtfFile::read_archive(const std::string& name, const Blob& blob,
                           const std::shared_ptr<const CtfContext>& context) {
	const std::uint64_t count = u64_at(blob, 16, name);
	const std::uint64_t names_at = u64_at(blob, 24, name);
	const std::uint64_t data_at = u64_at(blob, 32, name);
	if (count > kMostDictionaries || names_at > blob.size() || data_at > blob.size())
		throw Error(name + ": damaged CTF archive: its parts lie outside the file");

	struct ArchiveMember {
		std::string name;
		Blob bytes;
	};
	std::vector<ArchiveMember> places;
	std::uint64_t total = 0;
	for (std::uint64_t i = 0; i < count; i++) {
		const std::uint64_t entry = ctf::kArchiveHeader + i * 16;
		const std::uint64_t text = u64_at(blob, entry, name);
		const std::uint64_t at = u64_at(blob, entry + 8, name);
		if (text > blob.size() - names_at || at > blob.size() - data_at)
			throw Error(name + ": damaged CTF archive: member " + std::to_string(i) +
			            " lies outside");
		const std::uint64_t length = u64_at(blob, data_at + at, name);
		const std::string_view rest = blob.text().substr(names_at + text);
		const std::size_t end = rest.find('\0');
		// Members and names do not overlap, or a small file could pretend to be endless.
		if (end == std::string_view::npos || length > blob.size() ||
		    (total += length + end) > blob.size())
			throw Error(name + ": damaged CTF archive: member " + std::to_string(i) +
			            " lies outside");
		ArchiveMember place{std::string(rest.substr(0, end)), blob.part(data_at + at + 8, length)};
		if (place.name != kShared)
			places.push_back(std::move(place));
		else if (places.empty() || places.front().name != kShared)
			places.insert(places.begin(), std::move(place));
		else
			throw Error(name + ": damaged CTF archive: two dictionaries are the parent");
	}
	const Ctf* shared = nullptr;
	for (ArchiveMember& place : places) {
		const bool is_shared = place.name == kShared;
		dictionaries_.push_back(std::make_unique<Ctf>(
		    is_shared ? name : name + "(" + place.name + ")", place.bytes, context, shared));
		if (is_shared)
			shared = dictionaries_.back().get();
	}
}

TypeRef CtfFile::find(NameSpace space, std::string_view name) const {
	return best_of(dictionaries_, [&](const Ctf& one) { return one.find(space, name); });
}

std::optional<EnumConstant> CtfFile::find_enumerator(std::string_view name) const {
	for (const auto& one : dictionaries_) {
		if (const auto found = one->find_enumerator(name))
			return found;
	}
	return std::nullopt;
}

TypeRef CtfFile::find_function(std::string_view name) const {
	return best_of(dictionaries_, [&](const Ctf& one) { return one.find_function(name); });
}

TypeRef CtfFile::find_variable(std::string_view name) const {
	return best_of(dictionaries_, [&](const Ctf& one) { return one.find_variable(name); });
}

} // namespace dfr::types
