// SPDX-License-Identifier: GPL-2.0
//
// See archive.h. An entry of a "newc" archive:
//
//	"070701", then 13 numbers of 8 hexadecimal digits: inode, mode, uid, gid, links, time, size, device (2),
//	device of a device file (2), length of the name with its 0, checksum (always 0); then the name with its 0,
//	padded to 4 bytes counted from the entry's start, and the contents, padded likewise
//
// The last entry is called "TRAILER!!!".
#include "bootloader-hooks/boot/archive.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <sys/stat.h>
#include <zstd.h>

#include "formats/error.h"
#include "formats/types/blob.h"

namespace dfr::boot {
namespace {

constexpr const char* kMagic = "070701";
constexpr const char* kTrailer = "TRAILER!!!";
constexpr size_t kHeader = 6 + 13 * 8;
constexpr size_t kModeAt = 6 + 8, kSizeAt = 6 + 6 * 8, kNameSizeAt = 6 + 11 * 8;
constexpr int kLevel = 19; // slow to pack, as fast as any to unpack; its window is within the kernel's 8 MB

void pad(std::vector<uint8_t>& out) {
	while (out.size() % 4)
		out.push_back(0);
}

void add_entry(std::vector<uint8_t>& out, uint32_t inode, const ArchiveFile& file) {
	char header[kHeader + 1];
	const auto size = static_cast<uint32_t>(file.bytes.size());
	const uint32_t mode = file.mode ? (file.link ? S_IFLNK : S_IFREG) | file.mode : 0;
	std::snprintf(header, sizeof header, "%s%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X", kMagic,
	              inode, mode, 0U, 0U, 1U, 0U, size, 0U, 0U, 0U, 0U,
	              static_cast<uint32_t>(file.name.size() + 1), 0U);
	out.insert(out.end(), header, header + kHeader);
	out.insert(out.end(), file.name.begin(), file.name.end());
	out.push_back(0);
	pad(out);
	out.insert(out.end(), file.bytes.begin(), file.bytes.end());
	pad(out);
}

[[noreturn]] void damaged(const std::string& name, const char* what) {
	throw Error(name + " is no sound archive of dfr: " + what, "make it again with: dfr boot build");
}

// One of an entry's numbers: its 8 digits and nothing else. strtoull() would take a sign and blanks, too.
uint32_t number_at(std::string_view text, size_t at, const std::string& name) {
	const char* const end = text.data() + at + 8;
	uint32_t number = 0;
	if (const auto read = std::from_chars(text.data() + at, end, number, 16);
	    read.ec != std::errc() || read.ptr != end)
		damaged(name, "a number of an entry is not eight digits");
	return number;
}

// "key=value" of a list that separators divide; empty: it is not there.
std::string value_of(const std::string& list, const std::string& key, char separator) {
	for (size_t at = 0; at < list.size();) {
		const size_t end =
		    std::min(list.find_first_of(std::string{separator} + " \n", at), list.size());
		if (list.compare(at, key.size() + 1, key + "=") == 0)
			return list.substr(at + key.size() + 1, end - at - key.size() - 1);
		at = end + 1;
	}
	return {};
}

} // namespace

ArchiveFile archive_file(const char* name, uint32_t mode, std::span<const uint8_t> bytes) {
	return {.name = name, .mode = mode, .bytes = {bytes.begin(), bytes.end()}};
}

std::vector<uint8_t> pack_archive(const std::vector<ArchiveFile>& files) {
	std::vector<uint8_t> plain;
	uint32_t inode = 0;
	for (const ArchiveFile& file : files)
		add_entry(plain, ++inode, file);
	add_entry(plain, 0, {.name = kTrailer, .mode = 0});
	std::vector<uint8_t> packed(kZeros + ZSTD_compressBound(plain.size()));
	const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
	ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
	ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1); // the kernel checks it, too
	const size_t size = ZSTD_compress2(context.get(), packed.data() + kZeros, packed.size() - kZeros,
	                                   plain.data(), plain.size());
	if (ZSTD_isError(size))
		throw Error(std::string("cannot compress the archive: ") + ZSTD_getErrorName(size));
	packed.resize(kZeros + size);
	return packed;
}

std::map<std::string, ArchiveFile> unpack_archive(std::span<const uint8_t> bytes, const std::string& name) {
	const auto begin = std::ranges::find_if(bytes, [](uint8_t byte) { return byte != 0; });
	const types::Blob packed = types::Blob::from_bytes({begin, bytes.end()});
	const types::Blob plain = types::unpack(packed, name);
	const std::string_view text = plain.text();
	std::map<std::string, ArchiveFile> files;
	for (size_t at = 0;;) {
		if (text.size() - at < kHeader || text.substr(at, 6) != kMagic)
			damaged(name, "an entry does not begin as one");
		const auto number = [&](size_t offset) { return number_at(text, at + offset, name); };
		const uint64_t size = number(kSizeAt), name_size = number(kNameSizeAt);
		const uint64_t data = (at + kHeader + name_size + 3) / 4 * 4;
		if (!name_size || data > text.size() || size > text.size() - data)
			damaged(name, "an entry is cut");
		ArchiveFile file{std::string(text.substr(at + kHeader, name_size - 1)),
		                 static_cast<uint32_t>(number(kModeAt) & 07777),
		                 {},
		                 S_ISLNK(number(kModeAt))};
		if (file.name == kTrailer)
			return files;
		const auto from = plain.bytes().begin() + static_cast<std::ptrdiff_t>(data);
		file.bytes.assign(from, from + static_cast<std::ptrdiff_t>(size));
		files[file.name] = std::move(file);
		at = std::min<uint64_t>((data + size + 3) / 4 * 4, text.size());
	}
}

bool valid_name(const std::string& name) {
	return !name.empty() && name.size() <= 40 && std::ranges::all_of(name, [](char c) {
		return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		       c == '-' || c == '_';
	});
}

std::string ProgramOrigin::text() const {
	return name + ",kernel=" + release + ",source=" + source.substr(0, 16) + ",dof=" + dof.substr(0, 16) +
	       ",module=" + module.substr(0, 16) + ",btf=" + btf;
}

std::string ProgramOrigin::parameters() const {
	return "program=/" + std::string(kProgramFile) + " program_origin=" + text() + "\n";
}

ProgramOrigin ProgramOrigin::parse(const std::string& parameters, const std::string& archive) {
	const std::string text = value_of(parameters, "program_origin", ' ');
	ProgramOrigin origin;
	origin.name = text.substr(0, text.find(','));
	origin.release = value_of(text, "kernel", ',');
	origin.source = value_of(text, "source", ',');
	origin.dof = value_of(text, "dof", ',');
	origin.module = value_of(text, "module", ',');
	origin.btf = value_of(text, "btf", ',');
	if (!valid_name(origin.name) || origin.release.empty() || origin.dof.empty() || origin.module.empty())
		damaged(archive, "it does not say what it was made of");
	return origin;
}

} // namespace dfr::boot
