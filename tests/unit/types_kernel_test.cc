// SPDX-License-Identifier: GPL-2.0
//
// Where kernel types come from: raw files, ELF sections and vmlinuz in every
// compression, built here byte by byte; KernelTypes over a directory; and, where
// Debian's kernels have been fetched for the guests, those.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "formats/error.h"
#include "formats/types/kernel_types.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/types_btf_builder.h"

namespace types_kernel_test {

using namespace dfr::types;
using Catch::Contains;
using dfr::test::BtfBuilder;
using dfr::test::RawBytes;
using dfr::test::ScratchFolder;
namespace fs = std::filesystem;

namespace {

template <typename T> void append(RawBytes& out, const T& value) {
	const size_t at = out.size();
	out.resize(at + sizeof value);
	std::memcpy(out.data() + at, &value, sizeof value);
}

// An ELF file of one section beside its section names.
RawBytes elf_with(std::string_view section, const RawBytes& contents) {
	RawBytes names(1, 0);
	names.insert(names.end(), section.begin(), section.end());
	names.push_back(0);
	Elf64_Ehdr header{};
	std::memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	header.e_shentsize = sizeof(Elf64_Shdr);
	header.e_shnum = 3;
	header.e_shstrndx = 2;
	header.e_shoff = sizeof header + contents.size() + names.size();
	RawBytes out;
	append(out, header);
	out.insert(out.end(), contents.begin(), contents.end());
	out.insert(out.end(), names.begin(), names.end());
	append(out, Elf64_Shdr{});
	append(out, Elf64_Shdr{.sh_name = 1,
	                       .sh_type = SHT_PROGBITS,
	                       .sh_offset = sizeof header,
	                       .sh_size = contents.size()});
	append(out, Elf64_Shdr{.sh_type = SHT_STRTAB,
	                       .sh_offset = sizeof header + contents.size(),
	                       .sh_size = names.size()});
	return out;
}

RawBytes xz(const RawBytes& bytes) {
	RawBytes out(lzma_stream_buffer_bound(bytes.size()));
	std::size_t used = 0;
	REQUIRE(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, nullptr, bytes.data(), bytes.size(), out.data(),
	                                &used, out.size()) == LZMA_OK);
	out.resize(used);
	return out;
}

RawBytes zstd(const RawBytes& bytes) {
	RawBytes out(ZSTD_compressBound(bytes.size()));
	const std::size_t used = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3);
	REQUIRE_FALSE(ZSTD_isError(used));
	out.resize(used);
	return out;
}

RawBytes gzip(const RawBytes& bytes) {
	z_stream stream{};
	REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
	RawBytes out(deflateBound(&stream, bytes.size()));
	stream.next_in = const_cast<Bytef*>(bytes.data());
	stream.avail_in = static_cast<uInt>(bytes.size());
	stream.next_out = out.data();
	stream.avail_out = static_cast<uInt>(out.size());
	REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
	out.resize(stream.total_out);
	deflateEnd(&stream);
	return out;
}

// An LZ4 legacy frame of literals only, so long that their count goes on in
// further bytes.
RawBytes lz4(const RawBytes& bytes) {
	RawBytes out;
	dfr::test::put32(out, 0x184c2102);
	RawBytes block;
	block.push_back(0xf0);
	std::size_t rest = bytes.size() - 15;
	for (; rest >= 255; rest -= 255)
		block.push_back(255);
	block.push_back(static_cast<std::uint8_t>(rest));
	block.insert(block.end(), bytes.begin(), bytes.end());
	dfr::test::put32(out, static_cast<std::uint32_t>(block.size()));
	out.insert(out.end(), block.begin(), block.end());
	return out;
}

// Two setup sectors, then 100 bytes before the payload and the size after it.
RawBytes bzimage(RawBytes payload) {
	dfr::test::put32(payload, 12345);
	RawBytes out((2 + 1) * 512 + 100);
	out[0x1f1] = 2;
	std::memcpy(&out[0x202], "HdrS", 4);
	out[0x206] = 0x0f;
	out[0x207] = 0x02;
	const std::uint32_t offset = 100;
	const auto length = static_cast<std::uint32_t>(payload.size());
	std::memcpy(&out[0x248], &offset, 4);
	std::memcpy(&out[0x24c], &length, 4);
	out.insert(out.end(), payload.begin(), payload.end());
	return out;
}

BtfBuilder kernel() {
	BtfBuilder b;
	const auto int_ = b.integer("int", 4, 1);
	b.type("pid_t", 8, 0, int_);
	b.type("elsewhere", 7, 0, 0);
	// Tracepoint: the typedef without names, the iterator function with.
	const auto context = b.pointer(0);
	const auto bare = b.type("", 13, 2, 0);
	b.words({0, context, 0, int_});
	const auto bare_pointer = b.pointer(bare);
	b.type("btf_trace_bare", 8, 0, bare_pointer);
	b.type("btf_trace_named", 8, 0, bare_pointer);
	const auto named = b.type("", 13, 2, int_);
	b.words({b.string("__data"), context, b.string("prev"), int_});
	b.type("__traceiter_named", 12, 1, named);
	return b;
}

// Debian's kernels, where tests/vm has fetched them.
std::vector<fs::path> fetched_kernels() {
	std::vector<fs::path> found;
	std::error_code error;
	for (const auto& one : fs::directory_iterator(DFR_SOURCE_DIR "/build/cache/kernels", error)) {
		if (fs::exists(one.path() / "vmlinuz") && !one.is_symlink())
			found.push_back(one.path() / "vmlinuz");
	}
	return found;
}

} // namespace

TEST_CASE("kernel images: BTF raw, in ELF and in a vmlinuz of every compression") {
	const ScratchFolder folder;
	const RawBytes raw = kernel().bytes();
	const RawBytes elf = elf_with(".BTF", raw);
	const std::uint64_t digest = Btf("raw", Blob::from_bytes(raw)).digest();
	const auto opened = [&](const char* name, const RawBytes& bytes) {
		return Btf::open(folder.write(name, bytes), "vmlinux")->digest();
	};
	CHECK(opened("raw", raw) == digest);
	CHECK(opened("elf", elf) == digest);
	CHECK(opened("xz", bzimage(xz(elf))) == digest);
	CHECK(opened("zstd", bzimage(zstd(elf))) == digest);
	CHECK(opened("gzip", bzimage(gzip(elf))) == digest);
	CHECK(opened("lz4", bzimage(lz4(elf))) == digest);
}

// Expected texts and refusals: LZ4's block format (lz4_Block_format.md), whose last five bytes are literals.
TEST_CASE("LZ4: matches, long counts, several blocks and damage") {
	const auto unpacked = [](const std::vector<RawBytes>& blocks) -> std::string {
		RawBytes frame;
		dfr::test::put32(frame, 0x184c2102);
		for (const RawBytes& block : blocks) {
			dfr::test::put32(frame, static_cast<std::uint32_t>(block.size()));
			frame.insert(frame.end(), block.begin(), block.end());
		}
		dfr::test::put32(frame, 12345); // the unpacked size, which nothing depends on
		try {
			const Blob blob = unpack(Blob::from_bytes(std::move(frame)), "image");
			return {blob.bytes().begin(), blob.bytes().end()};
		} catch (const dfr::Error&) {
			return "refused";
		}
	};
	// "abc", then 15 + 255 + 2 + 4 from three back, then "UVXYZ".
	std::string expected = "abc";
	for (unsigned i = 0; i < 276; i++)
		expected += "abc"[i % 3];
	expected += "UVXYZ";
	const RawBytes good = {0x3f, 'a', 'b', 'c', 3, 0, 255, 2, 0x50, 'U', 'V', 'X', 'Y', 'Z'};
	CHECK(unpacked({good}) == expected);
	CHECK(unpacked({good, good}) == expected + expected);
	CHECK(unpacked({{0x50, 'a', 'b', 'c', 'd', 'e'}}) == "abcde");
	CHECK(unpacked({{0x30, 'a', 'b', 'c', 4, 0, 0x50, 'U', 'V', 'X', 'Y', 'Z'}}) ==
	      "refused"); // before the start
	// A block does not reach into the one before it, since each is unpacked for itself.
	CHECK(unpacked({good, {0x30, 'a', 'b', 'c', 4, 0, 0x50, 'U', 'V', 'X', 'Y', 'Z'}}) == "refused");
	CHECK(unpacked({{0x50, 'a', 'b', 'c', 'd'}}) == "refused");  // literals cut off
	CHECK(unpacked({{0xf0, 255, 255, 255, 255}}) == "refused");  // count cut off
	CHECK(unpacked({{0x30, 'a', 'b', 'c', 1}}) == "refused");    // distance cut off
	CHECK(unpacked({{0x30, 'a', 'b', 'c', 1, 0}}) == "refused"); // ends with a match
	// Nine million of one byte do not fit into a block.
	RawBytes large = {0x1f, 'a', 1, 0};
	large.insert(large.end(), 9'000'000 / 255, 255);
	large.insert(large.end(), {0, 0x50, 'U', 'V', 'X', 'Y', 'Z'});
	CHECK(unpacked({large}) == "refused");
}

TEST_CASE("kernel images: what is wrong with one is said") {
	const ScratchFolder folder;
	const auto open = [&](const RawBytes& bytes) { return load_btf(folder.write("image", bytes)); };
	const RawBytes elf = elf_with(".BTF", kernel().bytes());
	CHECK_THROWS_WITH(open(elf_with(".text", {1, 2, 3})), Contains("has no .BTF section"));
	CHECK_THROWS_WITH(open(bzimage({1, 2, 3, 4, 5, 6})), Contains("compressed in a way"));
	for (const RawBytes& packed : {xz(elf), zstd(elf), gzip(elf), lz4(elf)}) {
		RawBytes cut(packed.begin(), packed.end() - 12);
		CHECK_THROWS_WITH(open(bzimage(cut)), Contains("damaged kernel image or module"));
	}
	RawBytes image = bzimage(xz(elf));
	image.resize(image.size() - 8);
	CHECK_THROWS_WITH(open(image), Contains("payload lies outside"));
	image = bzimage(xz(elf));
	image[0x206] = 7;
	CHECK_THROWS_WITH(open(image), Contains("older than 2.08"));
	CHECK_THROWS_WITH(load_btf(folder.path()), Contains("not a regular file"));
	CHECK_THROWS_WITH(load_btf(folder.path() + "/none"), Contains("cannot open"));
	RawBytes based = elf_with(".BTF.base", kernel().bytes());
	CHECK_THROWS_WITH(open(based), Contains(".BTF.base"));
}

TEST_CASE("kernel types: vmlinux first, then modules, complete types before announced ones") {
	const ScratchFolder folder;
	BtfBuilder base = kernel();
	folder.write("vmlinux", base.bytes());
	BtfBuilder nfs(base.next_id(), base.string_end());
	nfs.type("elsewhere", 4, 0, 24);
	nfs.type("pid_t", 8, 0, 0);
	const auto states = nfs.type("states", 6, 1, 4);
	nfs.words({nfs.string("NFS_OPEN"), 4});
	folder.write("snd-nfs", nfs.bytes());

	const auto types = KernelTypes::from_directory(folder.path());
	CHECK(types->available());
	CHECK(types->names() == std::vector<std::string>{"vmlinux", "snd_nfs"});
	const Btf& module = *types->container("snd_nfs");
	CHECK(types->container("snd-nfs") == &module);
	CHECK_FALSE(types->container("xfs"));
	CHECK(types->find(NameSpace::Ordinary, "pid_t").container == &types->vmlinux());
	const TypeRef elsewhere = types->find(NameSpace::Struct, "elsewhere");
	CHECK(elsewhere.container == &module);
	CHECK(types->complete(types->vmlinux().find(NameSpace::Struct, "elsewhere")) == elsewhere);
	CHECK(types->find_enumerator("NFS_OPEN")->type == TypeRef{&module, states});
	CHECK_FALSE(types->find(NameSpace::Struct, "nowhere"));

	const TypeRef named = types->find_tracepoint("named");
	REQUIRE(named);
	CHECK(named.container->parameter(named.id, 1).name == "prev");
	const TypeRef bare = types->find_tracepoint("bare");
	REQUIRE(bare);
	CHECK(to_c(bare) == "void (void *, int)");
	CHECK_FALSE(types->find_tracepoint("pid"));
	CHECK_FALSE(types->find_tracepoint("bare", "snd_nfs"));

	// Of a running kernel: a module may go between the listing and the first look at it.
	const auto late = KernelTypes::from_directory(folder.path());
	REQUIRE(std::filesystem::remove(folder.path() + "/snd-nfs"));
	CHECK_FALSE(late->container("snd_nfs"));
	CHECK_FALSE(late->find(NameSpace::Struct, "nowhere"));
	CHECK(late->find(NameSpace::Ordinary, "pid_t"));
}

TEST_CASE("kernel types: modules in their files, compressed or without BTF") {
	const ScratchFolder folder;
	BtfBuilder base = kernel();
	BtfBuilder nfs(base.next_id(), base.string_end());
	nfs.type("nfs_client", 4, 0, 24);
	fs::create_directories(folder.path() + "/modules/kernel/fs");
	folder.write("modules/kernel/fs/nfs-v4.ko.xz", xz(elf_with(".BTF", nfs.bytes())));
	folder.write("modules/kernel/bare.ko", elf_with(".text", {1}));
	folder.write("modules/modules.dep", {1});
	const auto types =
	    KernelTypes::from_image(folder.write("vmlinuz", bzimage(zstd(elf_with(".BTF", base.bytes())))));
	types->add_modules(folder.path() + "/modules");
	CHECK(types->names() == std::vector<std::string>{"vmlinux", "bare", "nfs_v4"});
	CHECK_FALSE(types->container("bare"));
	CHECK(types->find(NameSpace::Struct, "nfs_client").container == types->container("nfs-v4"));
	CHECK_THROWS_WITH(types->add_modules(folder.path() + "/none"), Contains("cannot read the modules"));
}

TEST_CASE("kernel types: a kernel without BTF") {
	const auto types = KernelTypes::from_directory("/nonexistent");
	CHECK_FALSE(types->available());
	CHECK(types->names().empty());
	CHECK_FALSE(types->find(NameSpace::Struct, "task_struct"));
	CHECK_THROWS_WITH(types->vmlinux(), Contains("has no type information"));
}

TEST_CASE("kernel types: Debian's kernels", "[kernel]") {
	for (const fs::path& image : fetched_kernels()) {
		CAPTURE(image.string());
		const auto types = KernelTypes::from_image(image.string());
		const Btf& vmlinux = types->vmlinux();
		const TypeRef task = types->find(NameSpace::Struct, "task_struct");
		REQUIRE(task);
		CHECK(declare(find_member(task, "comm")->type, "comm") == "char comm[16]");
		CHECK(to_c(find_member(task, "group_leader")->type) == "struct task_struct *");
		CHECK(find_member(task, "sched_reset_on_fork")->bit_width == 1);
		CHECK(to_c(resolve(types->find(NameSpace::Ordinary, "pid_t"))) == "int");
		CHECK(types->find_enumerator("PIDTYPE_TGID")->value == 1);
		CHECK(declare(types->find_function("vfs_read"), "vfs_read") ==
		      "ssize_t vfs_read(struct file *, char *, size_t, loff_t *)");
		const TypeRef tracepoint = types->find_tracepoint("sched_switch");
		REQUIRE(tracepoint);
		CHECK(tracepoint.container->parameter(tracepoint.id, 2).name == "prev");
		CHECK(to_c(types->find_variable("runqueues")) == "struct rq");

		// A module split from it.
		if (const auto modules = image.parent_path() / "root/lib/modules"; fs::exists(modules))
			types->add_modules(modules.string());
		if (const Btf* xfs = types->container("xfs")) {
			const auto mount = find_member(xfs->find(NameSpace::Struct, "xfs_mount"), "m_super");
			REQUIRE(mount);
			CHECK(to_c(mount->type) == "struct super_block *");
			// The kernel's own; where the kernel's build did not merge the two, the module's copy.
			const TypeRef pointed = info(mount->type).target;
			CHECK((pointed == vmlinux.find(NameSpace::Struct, "super_block") ||
			       pointed.container == xfs));
		}

		// Everything can be read; the counts are those of the fact sheet.
		unsigned functions = 0, tracepoints = 0;
		vmlinux.each_function([&](std::string_view, TypeRef) { return ++functions != 0; });
		std::size_t text = 0;
		for (TypeId id = vmlinux.first_id(); id < vmlinux.end_id(); id++) {
			TypeInfo type;
			try {
				type = vmlinux.info(id);
			} catch (const dfr::Error& error) {
				if (std::string_view(error.what()).find("not a type") ==
				    std::string_view::npos)
					throw;
				continue;
			}
			text += to_c({&vmlinux, id}).size();
			align_of({&vmlinux, id});
			tracepoints += type.kind == Kind::Typedef && type.name.starts_with("btf_trace_");
		}
		CHECK(text > 1000000);
		if (image.string().find("6.1.0-56-amd64") != std::string::npos) {
			CHECK(functions == 44546);
			CHECK(tracepoints == 639);
		}
	}
}

} // namespace types_kernel_test
