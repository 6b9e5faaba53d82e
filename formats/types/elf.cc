// SPDX-License-Identifier: GPL-2.0
//
// The ELF reader: see elf.h. Structures are copied out with memcpy after their
// range was checked, so nothing here depends on alignment.
#include "formats/types/elf.h"

#include <cstring>
#include <elf.h>

#include "formats/error.h"

namespace dfr::types {
namespace {

constexpr std::uint32_t kMostSections = 1U << 20;

template <typename T> bool load(std::span<const std::uint8_t> bytes, std::uint64_t at, T& value) {
	if (at > bytes.size() || bytes.size() - at < sizeof(T))
		return false;
	std::memcpy(&value, bytes.data() + at, sizeof(T));
	return true;
}

// Bounds for files of whoever is traced: what is read once must not take hours, or all memory.
constexpr std::size_t kMostSymbols = std::size_t(8) << 20;
constexpr std::size_t kSharedNames = std::size_t(64) << 20;
constexpr std::size_t kMostNotes = std::size_t(1) << 20; // of a segment
constexpr unsigned kNoteSegments = 16;

// The NUL-terminated string at `at`, or nothing if it does not end inside.
std::optional<std::string_view> string_at(std::span<const std::uint8_t> bytes, std::uint64_t at) {
	if (at >= bytes.size())
		return std::nullopt;
	const char* start = reinterpret_cast<const char*>(bytes.data() + at);
	const void* end = std::memchr(start, 0, bytes.size() - at);
	if (!end)
		return std::nullopt;
	return std::string_view(start, static_cast<const char*>(end) - start);
}

// How long names are in all that stand in these texts: they may share their ends, but a table that is made to be read
// for hours has longer ones.
std::size_t room_for_names(const Blob& texts) {
	return kSharedNames + 4 * texts.size();
}

} // namespace

bool is_elf(std::span<const std::uint8_t> bytes) {
	return bytes.size() >= SELFMAG && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0;
}

ElfFile::ElfFile(Blob file, std::string name) : file_(std::move(file)), name_(std::move(name)) {
	Elf64_Ehdr header;
	if (!is_elf(file_.bytes()) || !load(file_.bytes(), 0, header))
		throw Error(name_ + ": not an ELF file");
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
		throw Error(name_ + ": only 64-bit little-endian ELF files are read");

	std::uint32_t sections = header.e_shnum;
	std::uint32_t names = header.e_shstrndx;
	if (header.e_shoff != 0) {
		// Counts that do not fit the header stand in the first section.
		Elf64_Shdr first;
		if (header.e_shentsize != sizeof first || !load(file_.bytes(), header.e_shoff, first))
			damaged("section header table lies outside the file", header.e_shoff);
		if (sections == 0)
			sections = first.sh_size < kMostSections ? static_cast<std::uint32_t>(first.sh_size)
			                                         : kMostSections;
		if (names == SHN_XINDEX)
			names = first.sh_link;
		read_sections(header.e_shoff, sections, names);
	}
	if (header.e_phoff != 0 && header.e_phnum != 0) {
		if (header.e_phentsize != sizeof(Elf64_Phdr))
			damaged("program headers of an unknown size", offsetof(Elf64_Ehdr, e_phentsize));
		read_segments(header.e_phoff, header.e_phnum);
	}
}

void ElfFile::damaged(const std::string& what, std::uint64_t offset) const {
	throw Error(name_ + ": damaged ELF file: " + what + " (offset " + std::to_string(offset) + ")");
}

void ElfFile::read_sections(std::uint64_t at, std::uint32_t count, std::uint32_t names) {
	std::vector<std::uint32_t> name_offsets;
	for (std::uint32_t i = 0; i < count; i++) {
		Elf64_Shdr header;
		if (!load(file_.bytes(), at + std::uint64_t(i) * sizeof header, header))
			damaged("section header " + std::to_string(i) + " lies outside the file", at);
		const bool in_file = header.sh_type != SHT_NOBITS && header.sh_type != SHT_NULL;
		if (in_file &&
		    (header.sh_offset > file_.size() || header.sh_size > file_.size() - header.sh_offset))
			damaged("section " + std::to_string(i) + " lies outside the file", header.sh_offset);
		sections_.push_back({.name = {},
		                     .type = header.sh_type,
		                     .link = header.sh_link,
		                     .flags = header.sh_flags,
		                     .address = header.sh_addr,
		                     .offset = header.sh_offset,
		                     .size = header.sh_size,
		                     .entry_size = header.sh_entsize});
		name_offsets.push_back(header.sh_name);
	}
	if (names == SHN_UNDEF)
		return;
	if (names >= sections_.size())
		damaged("no section holds the section names", at);
	const Blob texts = contents(sections_[names]);
	std::size_t room = room_for_names(texts);
	for (std::uint32_t i = 0; i < count; i++) {
		const auto text = string_at(texts.bytes(), name_offsets[i]);
		if (!text)
			damaged("name of section " + std::to_string(i) + " lies outside the string table",
			        at);
		if (text->size() > room)
			damaged("the names of the sections are longer than their table", at);
		room -= text->size();
		sections_[i].name = *text;
	}
}

void ElfFile::read_segments(std::uint64_t at, std::uint32_t count) {
	for (std::uint32_t i = 0; i < count; i++) {
		Elf64_Phdr header;
		if (!load(file_.bytes(), at + std::uint64_t(i) * sizeof header, header))
			damaged("program header " + std::to_string(i) + " lies outside the file", at);
		segments_.push_back({header.p_type, header.p_offset, header.p_vaddr, header.p_filesz});
	}
}

const ElfSection* ElfFile::find(std::string_view name) const {
	for (const ElfSection& section : sections_) {
		if (section.name == name && section.type != SHT_NULL)
			return &section;
	}
	return nullptr;
}

const ElfSection* ElfFile::find_type(std::uint32_t type) const {
	for (const ElfSection& section : sections_) {
		if (section.type == type)
			return &section;
	}
	return nullptr;
}

Blob ElfFile::contents(const ElfSection& section) const {
	if (section.type == SHT_NOBITS || section.type == SHT_NULL)
		return {};
	return file_.part(section.offset, section.size);
}

namespace {

// Notes stand one behind the other: length of the name, of the contents, type; name and contents padded to 4.
std::string build_id_in(std::span<const std::uint8_t> notes) {
	constexpr std::uint64_t kMost = 64; // bytes of an id
	Elf64_Nhdr note;
	for (std::uint64_t at = 0; load(notes, at, note);) {
		const std::uint64_t name = at + sizeof note;
		const std::uint64_t id = name + ((std::uint64_t{note.n_namesz} + 3) & ~std::uint64_t{3});
		at = id + ((std::uint64_t{note.n_descsz} + 3) & ~std::uint64_t{3});
		if (note.n_type != NT_GNU_BUILD_ID || string_at(notes, name) != ELF_NOTE_GNU ||
		    note.n_descsz == 0 || note.n_descsz > kMost || id > notes.size() ||
		    notes.size() - id < note.n_descsz)
			continue;
		std::string text;
		for (const std::uint8_t byte : notes.subspan(id, note.n_descsz))
			text.append({"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]});
		return text;
	}
	return {};
}

} // namespace

// By segments, because a file may have no sections, and the vdso's are not in memory.
std::string ElfFile::build_id() const {
	std::string found;
	unsigned seen = 0;
	for (const ElfSegment& segment : segments_) {
		if (segment.type == PT_NOTE && found.empty() && segment.offset <= file_.size() &&
		    segment.file_size <= std::min(file_.size() - segment.offset, kMostNotes) &&
		    seen++ < kNoteSegments)
			found = build_id_in(file_.part(segment.offset, segment.file_size).bytes());
	}
	return found;
}

std::vector<ElfSymbol> ElfFile::symbols(const ElfSection& table) const {
	if (table.entry_size != sizeof(Elf64_Sym) || table.link >= sections_.size())
		damaged("symbol table without entries or names", table.offset);
	const Blob entries = contents(table);
	const Blob texts = contents(sections_[table.link]);
	if (entries.size() / sizeof(Elf64_Sym) > kMostSymbols)
		damaged("more symbols than any program has", table.offset);
	std::size_t room = room_for_names(texts);
	std::vector<ElfSymbol> symbols;
	symbols.reserve(entries.size() / sizeof(Elf64_Sym));
	Elf64_Sym entry;
	for (std::uint64_t at = 0; load(entries.bytes(), at, entry); at += sizeof entry) {
		const auto text =
		    entry.st_name ? string_at(texts.bytes(), entry.st_name) : std::string_view();
		if (!text)
			damaged("name of a symbol lies outside the string table", table.offset + at);
		if (text->size() > room)
			damaged("the names of the symbols are longer than their table", table.offset + at);
		room -= text->size();
		symbols.push_back({.name = *text,
		                   .type = static_cast<std::uint8_t>(ELF64_ST_TYPE(entry.st_info)),
		                   .bind = static_cast<std::uint8_t>(ELF64_ST_BIND(entry.st_info)),
		                   .section = entry.st_shndx,
		                   .value = entry.st_value,
		                   .size = entry.st_size});
	}
	return symbols;
}

} // namespace dfr::types
