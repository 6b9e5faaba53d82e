// SPDX-License-Identifier: GPL-2.0
//
// Fuzzes what lies before types: kernel images (lz4 blocks and a vmlinuz around
// any payload), the text of /proc/kallsyms, the symbols and the build id of ELF files.
//
// Targets: formats/types/unpack.cc formats/types/elf.cc formats/types/elf_symbols.cc
// Targets: formats/types/symbols.cc
#include <cstring>

#include "formats/types/elf.h"
#include "formats/types/symbols.h"
#include "tests/fuzz/elf_builder.h"
#include "tests/fuzz/types_exercise.h"

using dfr::fuzz::append;
using dfr::fuzz::Cursor;
using dfr::fuzz::tolerate;
using dfr::test::RawBytes;
using namespace dfr::types;

namespace {

RawBytes rest(const Cursor& in) {
	return RawBytes(in.rest(), in.rest() + in.left());
}

void fuzz_lz4(Cursor& in) {
	RawBytes frame;
	dfr::test::put32(frame, 0x184c2102);
	const RawBytes block = rest(in);
	dfr::test::put32(frame, static_cast<std::uint32_t>(block.size()));
	frame.insert(frame.end(), block.begin(), block.end());
	dfr::test::put32(frame, 0); // the unpacked size
	tolerate([&] { unpack(Blob::from_bytes(dfr::fuzz::exact(frame)), "fuzz"); });
}

void fuzz_vmlinuz(Cursor& in) {
	RawBytes image(0x250);
	image[0x1f1] = static_cast<std::uint8_t>(in.byte() % 4);
	std::memcpy(&image[0x202], "HdrS", 4);
	image[0x206] = static_cast<std::uint8_t>(in.byte() | 8);
	image[0x207] = 2;
	image[0x248] = static_cast<std::uint8_t>(in.byte() & 3);
	static const RawBytes kMagics[] = {
	    {}, {0xfd, '7', 'z', 'X', 'Z', 0}, {0x28, 0xb5, 0x2f, 0xfd}, {0x1f, 0x8b}, {2, 0x21, 0x4c, 0x18}};
	RawBytes payload = kMagics[in.byte() % 5];
	const RawBytes body = rest(in);
	payload.insert(payload.end(), body.begin(), body.end());
	const auto length = static_cast<std::uint32_t>(payload.size());
	std::memcpy(&image[0x24c], &length, 4);
	const std::size_t sectors = image[0x1f1] ? image[0x1f1] : 4;
	image.resize((sectors + 1) * 512 + image[0x248]);
	image.insert(image.end(), payload.begin(), payload.end());
	tolerate([&] { unpack_vmlinuz(Blob::from_bytes(dfr::fuzz::exact(image)), "fuzz"); });
}

void fuzz_kallsyms(Cursor& in) {
	const Symbols symbols = Symbols::from_kallsyms_text(Blob::from_bytes(rest(in)));
	tolerate([&] {
		for (int i = 0; i < 6; i++) {
			symbols.find("a");
			symbols.find("_text", "m");
		}
		symbols.find(std::uint64_t(0x10));
		symbols.find(~std::uint64_t(0));
		symbols.each([](const Symbol&) {});
		if (symbols.has_addresses() && symbols.count() == 0)
			std::abort();
	});
}

// The same as lines that are mostly right.
void fuzz_lines(Cursor& in) {
	std::string text;
	while (!in.done()) {
		char address[24];
		std::snprintf(address, sizeof address, "%016x ", in.value());
		text += address;
		text += "tTdDAwB"[in.byte() % 7];
		text += ' ';
		text += in.byte() % 16 ? in.name() : "_end";
		if (in.byte() % 3 == 0)
			text += "\t[m]";
		text += "\n\n\t ]"[in.byte() % 16 ? 0 : in.byte() % 5];
	}
	RawBytes bytes(text.begin(), text.end());
	Cursor lines(bytes.data(), bytes.size());
	fuzz_kallsyms(lines);
}

void fuzz_elf(Cursor& in) {
	const RawBytes elf = dfr::fuzz::build_elf(in, {});
	tolerate([&] {
		const ElfSymbols symbols =
		    ElfSymbols::from_blob("fuzz", Blob::from_bytes(dfr::fuzz::exact(elf)));
		for (const Symbol& symbol : symbols.all())
			symbols.find(symbol.address + symbol.size);
		symbols.find("aaa");
		symbols.address_of_offset(in.value());
	});
}

// A file of segments only, as a running kernel's vdso is: notes, of which one may be the build id.
void fuzz_notes(Cursor& in) {
	RawBytes notes;
	for (unsigned left = 1 + in.byte() % 3; left; left--) {
		static constexpr char kNames[][4] = {"GNU", "Lin", ""};
		const unsigned name = in.byte() % 3, size = in.byte() % 80;
		append(notes, Elf64_Nhdr{.n_namesz = in.byte() % 16 ? 4u : in.byte(),
		                         .n_descsz = in.byte() % 16 ? size : in.byte(),
		                         .n_type = in.byte() % 4 ? Elf64_Word(NT_GNU_BUILD_ID) : in.byte()});
		notes.insert(notes.end(), kNames[name], kNames[name] + 4);
		notes.insert(notes.end(), (size + 3) & ~3u, static_cast<std::uint8_t>(in.byte()));
	}
	Elf64_Ehdr header = dfr::fuzz::build_header(in);
	header.e_shnum = 0;
	header.e_phentsize = in.byte() % 16 ? sizeof(Elf64_Phdr) : in.byte();
	header.e_phnum = static_cast<Elf64_Half>(in.byte() % 8 ? 1 : in.byte());
	header.e_ident[in.byte() % EI_NIDENT] ^= in.byte() % 8 ? 0 : in.byte();
	RawBytes file;
	append(file, header);
	append(file, Elf64_Phdr{.p_type = PT_NOTE,
	                        .p_offset = in.byte() % 16 ? sizeof header + sizeof(Elf64_Phdr) : in.half(),
	                        .p_filesz = in.byte() % 16 ? notes.size() : in.half()});
	file.insert(file.end(), notes.begin(), notes.end());
	tolerate([&] {
		const ElfFile elf(Blob::from_bytes(dfr::fuzz::exact(file)), "fuzz");
		elf.find(in.name());
		elf.build_id();
	});
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
	Cursor in(data, size);
	const std::uint8_t choice = in.byte();
	if (choice >= 0xf0) {
		fuzz_notes(in);
		return 0;
	}
	switch (choice % 5) {
	case 0: fuzz_lz4(in); break;
	case 1: fuzz_vmlinuz(in); break;
	case 2: fuzz_kallsyms(in); break;
	case 3: fuzz_lines(in); break;
	default: fuzz_elf(in); break;
	}
	return 0;
}
