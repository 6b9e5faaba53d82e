// SPDX-License-Identifier: GPL-2.0
//
// Files to bytes: mapping, reading, and the formats that wrap a kernel: ELF
// sections and bzImage payloads. Decompression is in unpack.cc.
#include "formats/types/blob.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/error.h"
#include "formats/types/elf.h"

namespace dfr::types {
namespace {

// More than any kernel with debug information; a bound for files without a size.
constexpr std::size_t kMostBytes = std::size_t(4) << 30;
constexpr std::size_t kReadStep = 256 * 1024;

class Descriptor {
public:
	// Of a pipe the open would wait for somebody who writes to it.
	explicit Descriptor(const std::string& path)
	    : fd_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
		if (fd_ < 0)
			throw Error::from_errno("cannot open " + path);
	}
	~Descriptor() { ::close(fd_); }
	Descriptor(const Descriptor&) = delete;
	Descriptor& operator=(const Descriptor&) = delete;
	int get() const { return fd_; }

private:
	int fd_;
};

std::vector<std::uint8_t> read_all(int fd, const std::string& path, std::size_t expected) {
	if (expected > kMostBytes)
		throw Error(path + " is larger than " + std::to_string(kMostBytes >> 30) + " GB");
	// One byte more than expected shows the end without growing.
	std::vector<std::uint8_t> bytes(std::max(expected + 1, kReadStep));
	std::size_t used = 0;
	for (;;) {
		if (used == bytes.size())
			bytes.resize(used * 2);
		const ssize_t got = ::read(fd, bytes.data() + used, bytes.size() - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			throw Error::from_errno("cannot read " + path);
		if (got == 0)
			break;
		used += static_cast<std::size_t>(got);
		if (used > kMostBytes)
			throw Error(path + " is larger than " + std::to_string(kMostBytes >> 30) + " GB");
	}
	bytes.resize(used);
	return bytes;
}

} // namespace

Blob Blob::from_bytes(std::vector<std::uint8_t> bytes) {
	auto owner = std::make_shared<const std::vector<std::uint8_t>>(std::move(bytes));
	Blob blob;
	blob.bytes_ = *owner;
	blob.owner_ = std::move(owner);
	return blob;
}

Blob Blob::from_file(const std::string& path) {
	const Descriptor file(path);
	struct stat status;
	if (::fstat(file.get(), &status) != 0)
		throw Error::from_errno("cannot stat " + path);
	if (!S_ISREG(status.st_mode))
		throw Error(path + " is not a regular file");
	const auto size = static_cast<std::size_t>(status.st_size);
	if (size != 0) {
		void* map = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
		if (map != MAP_FAILED) {
			Blob blob;
			blob.owner_ = std::shared_ptr<const void>(
			    map, [size](const void* start) { ::munmap(const_cast<void*>(start), size); });
			blob.bytes_ = {static_cast<const std::uint8_t*>(map), size};
			return blob;
		}
	}
	return from_bytes(read_all(file.get(), path, size));
}

// By the kernel, which says of a page behind the file's end that there is none, instead of SIGBUS. Not by process_vm_readv(),
// which kernels may be built without and sandboxes forbid.
Blob Blob::copy() const {
	const Descriptor memory("/proc/self/mem");
	std::vector<std::uint8_t> bytes(bytes_.size());
	for (std::size_t at = 0; at < bytes.size();) {
		const auto from = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(bytes_.data() + at));
		const ssize_t got = ::pread(memory.get(), bytes.data() + at, bytes.size() - at, from);
		if (got <= 0)
			throw Error("a file became shorter while it was read");
		at += static_cast<std::size_t>(got);
	}
	return from_bytes(std::move(bytes));
}

Blob Blob::part(std::size_t offset, std::size_t length) const {
	if (offset > bytes_.size() || length > bytes_.size() - offset)
		throw Error("bytes " + std::to_string(offset) + " to " + std::to_string(offset + length) +
		            " of a file of " + std::to_string(bytes_.size()) + " bytes");
	Blob blob;
	blob.owner_ = owner_;
	blob.bytes_ = bytes_.subspan(offset, length);
	return blob;
}

std::optional<Blob> find_btf(const std::string& path) {
	Blob file = Blob::from_file(path);
	file = is_vmlinuz(file.bytes()) ? unpack_vmlinuz(file, path) : unpack(file, path);
	if (!is_elf(file.bytes()))
		return file;
	const ElfFile elf(file, path);
	// Ids that count from a base of the module's own mean nothing elsewhere; the
	// kernel renumbers them when it loads the module.
	if (elf.find(".BTF.base"))
		throw Error(path + ": its types are relative to its own .BTF.base",
		            "load the module and name its file in /sys/kernel/btf");
	const ElfSection* section = elf.find(".BTF");
	return section ? std::optional(elf.contents(*section)) : std::nullopt;
}

Blob load_btf(const std::string& path) {
	const auto found = find_btf(path);
	if (!found)
		throw Error(path + " has no .BTF section",
		            "build a kernel with CONFIG_DEBUG_INFO_BTF; give a module one with `pahole -J "
		            "--btf_base vmlinux`");
	return *found;
}

} // namespace dfr::types
