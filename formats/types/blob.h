// SPDX-License-Identifier: GPL-2.0
//
// Blob: read-only bytes with an owner: a mapped file, a file that was read
// because it cannot be mapped (sysfs), a decompressed buffer, or a part of one
// of these. And the way from a file on disk to the bytes of a kernel image or
// of one of its sections. Nothing here knows what the bytes mean.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dfr::types {

class Blob {
public:
	Blob() = default;

	static Blob from_bytes(std::vector<std::uint8_t> bytes);
	// Maps, or reads where mapping is refused or the size is not known.
	static Blob from_file(const std::string& path);

	std::span<const std::uint8_t> bytes() const { return bytes_; }
	std::string_view text() const {
		return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
	}
	std::size_t size() const { return bytes_.size(); }

	// Its bytes at this moment: a file that is mapped may be changed and shortened by others.
	Blob copy() const;
	// A part of it, sharing the owner. The range must lie inside.
	Blob part(std::size_t offset, std::size_t length) const;

private:
	std::shared_ptr<const void> owner_;
	std::span<const std::uint8_t> bytes_;
};

// Decompresses xz, zstd, gzip or lz4 (legacy frame), told by their magic;
// anything else is returned as it is. `name` is for messages.
Blob unpack(const Blob& packed, const std::string& name);

// The uncompressed kernel (an ELF file) inside a bzImage ("vmlinuz").
Blob unpack_vmlinuz(const Blob& image, const std::string& name);
bool is_vmlinuz(std::span<const std::uint8_t> bytes);

// The BTF of a file: raw, the .BTF section of an ELF file (a module may be
// compressed), or of the kernel in a vmlinuz.
Blob load_btf(const std::string& path);
// The same; nothing for an ELF file without such a section.
std::optional<Blob> find_btf(const std::string& path);

} // namespace dfr::types
