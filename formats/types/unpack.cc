// SPDX-License-Identifier: GPL-2.0
//
// Decompression, and the compressed kernel inside a bzImage ("vmlinuz").
//
//	0x1f1  setup_sects (u8; 0 means 4)
//	0x202  "HdrS"
//	0x206  boot protocol version (u16), 2.08 or later for the two below
//	0x248  payload_offset (u32), from the start of protected-mode code, which
//	       is at (setup_sects + 1) * 512
//	0x24c  payload_length (u32); its last four bytes are the unpacked size
//
// xz, zstd and lz4 are what Debian's kernels use; gzip is what a kernel built
// by hand often uses.
//
// LZ4 comes in its legacy frame (CONFIG_KERNEL_LZ4: the cloud kernels of 6.1), which
// liblz4 has no reader for, only for the blocks in it:
//
//	magic u32 | blocks, each: packed length u32, then so many bytes
//
// A block unpacks to 8 MB, the last one to less.
#include <algorithm>
#include <cstring>
#include <lz4.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "formats/error.h"
#include "formats/types/blob.h"

namespace dfr::types {
namespace {

constexpr std::size_t kSetupSects = 0x1f1;
constexpr std::size_t kMagicAt = 0x202;
constexpr std::size_t kVersionAt = 0x206;
constexpr std::size_t kPayloadOffset = 0x248;
constexpr std::size_t kPayloadLength = 0x24c;
constexpr std::size_t kHeaderEnd = 0x250;
// A decompressed kernel is 60 to 100 MB; damaged sizes must not exhaust memory.
constexpr std::size_t kMostUnpacked = std::size_t(1) << 30;
constexpr std::uint32_t kLz4LegacyMagic = 0x184c2102;
constexpr std::size_t kLz4Block = std::size_t(8) << 20;
constexpr std::size_t kLz4Ratio = 255; // no byte of a block stands for more

using Bytes = std::span<const std::uint8_t>;

std::uint32_t u32_at(Bytes bytes, std::size_t at) {
	std::uint32_t value;
	std::memcpy(&value, bytes.data() + at, sizeof value);
	return value;
}

[[noreturn]] void damaged(const std::string& name, const std::string& what) {
	throw Error(name + ": damaged kernel image or module: " + what);
}

// Room for more output, bounded.
void grow(std::vector<std::uint8_t>& out, std::size_t used, const std::string& name) {
	if (used >= kMostUnpacked)
		damaged(name, "unpacks to more than 1 GB");
	out.resize(used + used / 2 + (1 << 20));
}

std::vector<std::uint8_t> unpack_xz(Bytes packed, const std::string& name) {
	lzma_stream stream = LZMA_STREAM_INIT;
	if (lzma_stream_decoder(&stream, std::uint64_t(512) << 20, 0) != LZMA_OK)
		throw Error(name + ": no memory to decompress xz");
	const std::unique_ptr<lzma_stream, void (*)(lzma_stream*)> guard(&stream, lzma_end);
	std::vector<std::uint8_t> out;
	stream.next_in = packed.data();
	stream.avail_in = packed.size();
	std::size_t used = 0;
	for (;;) {
		if (used == out.size())
			grow(out, used, name);
		stream.next_out = out.data() + used;
		stream.avail_out = out.size() - used;
		const lzma_ret result = lzma_code(&stream, LZMA_RUN);
		used = out.size() - stream.avail_out;
		if (result == LZMA_STREAM_END)
			break;
		if (result != LZMA_OK || (stream.avail_in == 0 && stream.avail_out != 0))
			damaged(name, "its xz data ends early or is wrong");
	}
	out.resize(used);
	return out;
}

std::vector<std::uint8_t> unpack_zstd(Bytes packed, const std::string& name) {
	const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
	                                                                           ZSTD_freeDStream);
	if (!stream)
		throw Error(name + ": no memory to decompress zstd");
	// The kernel is packed with a window of up to 128 MB.
	ZSTD_DCtx_setParameter(stream.get(), ZSTD_d_windowLogMax, 27);
	std::vector<std::uint8_t> out;
	ZSTD_inBuffer input{packed.data(), packed.size(), 0};
	ZSTD_outBuffer output{nullptr, 0, 0};
	for (;;) {
		if (output.pos == output.size)
			grow(out, output.pos, name);
		output.dst = out.data();
		output.size = out.size();
		const std::size_t result = ZSTD_decompressStream(stream.get(), &output, &input);
		if (ZSTD_isError(result))
			damaged(name, std::string("its zstd data is wrong: ") + ZSTD_getErrorName(result));
		if (result == 0)
			break;
		if (input.pos == input.size && output.pos < output.size)
			damaged(name, "its zstd data ends early");
	}
	out.resize(output.pos);
	return out;
}

std::vector<std::uint8_t> unpack_gzip(Bytes packed, const std::string& name) {
	z_stream stream{};
	if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK)
		throw Error(name + ": no memory to decompress gzip");
	const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);
	std::vector<std::uint8_t> out;
	stream.next_in = const_cast<Bytef*>(packed.data());
	stream.avail_in = static_cast<uInt>(packed.size());
	std::size_t used = 0;
	for (;;) {
		if (used == out.size())
			grow(out, used, name);
		const auto room = static_cast<uInt>(out.size() - used);
		stream.next_out = out.data() + used;
		stream.avail_out = room;
		const int result = inflate(&stream, Z_NO_FLUSH);
		used += room - stream.avail_out;
		if (result == Z_STREAM_END)
			break;
		if (result != Z_OK)
			damaged(name, "its gzip data ends early or is wrong");
	}
	out.resize(used);
	return out;
}

// Room for as much as `block` can unpack to, so that a short one does not take 8 MB.
void append_lz4(Bytes block, std::vector<std::uint8_t>& out, const std::string& name) {
	const std::size_t used = out.size();
	const std::size_t room = std::min(kLz4Block, block.size() * kLz4Ratio);
	out.resize(used + room);
	const int made = LZ4_decompress_safe(reinterpret_cast<const char*>(block.data()),
	                                     reinterpret_cast<char*>(out.data() + used),
	                                     static_cast<int>(block.size()), static_cast<int>(room));
	if (made < 0)
		damaged(name, "its lz4 data is wrong");
	out.resize(used + static_cast<std::size_t>(made));
}

std::vector<std::uint8_t> unpack_lz4(Bytes frame, const std::string& name) {
	// The unpacked size that ends the payload is left out, because it could pass for a block's length.
	const Bytes blocks = frame.first(frame.size() - 4).subspan(4);
	std::vector<std::uint8_t> out;
	std::size_t at = 0;
	while (blocks.size() - at >= 4) {
		const std::size_t length = u32_at(blocks, at);
		at += 4;
		if (length > blocks.size() - at || length > LZ4_COMPRESSBOUND(kLz4Block))
			damaged(name, "its lz4 data ends early");
		if (out.size() > kMostUnpacked - kLz4Block)
			damaged(name, "unpacks to more than 1 GB");
		append_lz4(blocks.subspan(at, length), out, name);
		at += length;
	}
	return out;
}

bool starts_with(Bytes bytes, std::initializer_list<std::uint8_t> magic) {
	return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin());
}

} // namespace

Blob unpack(const Blob& packed, const std::string& name) {
	const Bytes bytes = packed.bytes();
	if (starts_with(bytes, {0xfd, '7', 'z', 'X', 'Z', 0}))
		return Blob::from_bytes(unpack_xz(bytes, name));
	if (starts_with(bytes, {0x28, 0xb5, 0x2f, 0xfd}))
		return Blob::from_bytes(unpack_zstd(bytes, name));
	if (starts_with(bytes, {0x1f, 0x8b}))
		return Blob::from_bytes(unpack_gzip(bytes, name));
	if (bytes.size() >= 8 && u32_at(bytes, 0) == kLz4LegacyMagic)
		return Blob::from_bytes(unpack_lz4(bytes, name));
	return packed;
}

bool is_vmlinuz(std::span<const std::uint8_t> bytes) {
	return bytes.size() >= kHeaderEnd && std::memcmp(bytes.data() + kMagicAt, "HdrS", 4) == 0;
}

Blob unpack_vmlinuz(const Blob& image, const std::string& name) {
	const Bytes bytes = image.bytes();
	if (!is_vmlinuz(bytes))
		throw Error(name + ": not a bzImage", "name a vmlinux, a vmlinuz or a file of raw BTF");
	if ((u32_at(bytes, kVersionAt) & 0xffff) < 0x208)
		throw Error(name + ": boot protocol older than 2.08, so its payload cannot be found");
	const std::size_t sectors = bytes[kSetupSects] ? bytes[kSetupSects] : 4;
	const std::size_t start = (sectors + 1) * 512 + u32_at(bytes, kPayloadOffset);
	const std::size_t length = u32_at(bytes, kPayloadLength);
	if (start > bytes.size() || length > bytes.size() - start)
		damaged(name, "its payload lies outside the file");
	const Blob payload = image.part(start, length);
	Blob kernel = unpack(payload, name);
	if (kernel.bytes().data() == payload.bytes().data())
		throw Error(name + ": the kernel is compressed in a way that is not known here",
		            "xz, zstd, lz4 and gzip are; unpack it and name the vmlinux instead");
	return kernel;
}

} // namespace dfr::types
