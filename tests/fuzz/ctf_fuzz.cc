// SPDX-License-Identifier: GPL-2.0
//
// Fuzzes the CTF reader. The first byte chooses: the rest is a dictionary or an
// archive as it stands, or the contents of an ELF file; or it is spent as
// decisions on how to build a dictionary, alone or as a child of another.
//
// Targets: formats/types/ctf.cc formats/types/ctf_file.cc formats/types/ctf_names.cc
#include <memory>
#include <zlib.h>

#include "formats/types/ctf.h"
#include "formats/types/symbols.h"
#include "tests/fuzz/elf_builder.h"
#include "tests/fuzz/types_exercise.h"
#include "tests/unit/types_ctf_builder.h"

using dfr::fuzz::Cursor;
using dfr::fuzz::exact;
using dfr::fuzz::tolerate;
using dfr::test::CtfBuilder;
using dfr::test::put32;
using dfr::test::RawBytes;
using namespace dfr::types;

namespace {

constexpr std::uint32_t kChild = 1U << 31;

class Builder {
public:
	Builder(Cursor& in, bool child) : in_(in) {
		if (child)
			ctf_.parent = ".ctf";
	}

	RawBytes build() {
		for (unsigned types = in_.byte() % 48; types != 0 && !in_.done(); types--)
			add_type();
		add_symbols(ctf_.objects, ctf_.object_names);
		add_symbols(ctf_.functions, ctf_.function_names);
		for (unsigned i = in_.byte() % 4; i != 0; i--) {
			put32(ctf_.variables, name());
			put32(ctf_.variables, id());
		}
		RawBytes bytes = in_.byte() % 4 ? ctf_.bytes() : compressed();
		for (unsigned flips = in_.byte() % 4; flips > 1; flips--)
			bytes[in_.half() % bytes.size()] ^= static_cast<std::uint8_t>(in_.byte());
		return bytes;
	}

private:
	std::uint32_t name() {
		const std::uint32_t choice = in_.byte() % 8;
		return choice == 0 ? kChild | in_.byte() : choice < 3 ? 0 : ctf_.string(in_.name());
	}

	std::uint32_t id() {
		const std::uint32_t choice = in_.value();
		const std::uint32_t mine = ctf_.parent.empty() || choice % 3 == 0 ? 0 : kChild;
		return choice < 0xf0 ? choice % (count_ + 3) | mine : choice;
	}

	void add_type() {
		const unsigned kind = in_.byte() % 16;
		const std::uint32_t vlen = in_.byte() % 6;
		const bool sized = kind <= 2 || (kind >= 6 && kind <= 8);
		std::uint32_t value = sized ? in_.value() : id();
		const bool large = in_.byte() > 250;
		value = large ? 0xffffffff : value;
		count_++;
		ctf_.type(in_.byte() % 3 ? in_.name() : "", kind, vlen, value, in_.byte() & 1);
		if (large)
			ctf_.words({in_.byte() & 1, in_.value() << 24});
		add_data(kind, vlen, large);
	}

	void add_data(unsigned kind, std::uint32_t vlen, bool large) {
		if (kind == 1 || kind == 2)
			ctf_.words({(in_.byte() & 7) << 24 | (in_.byte() & 7) << 16 | in_.byte()});
		else if (kind == 4)
			ctf_.words({id(), id(), in_.value()});
		else if (kind == 14)
			ctf_.words({id(), in_.value() << 16 | in_.byte()});
		for (std::uint32_t i = 0; i < vlen + (kind == 5 ? vlen & 1 : 0); i++) {
			if (kind == 5)
				ctf_.words({id()});
			else if (kind == 6 || kind == 7)
				ctf_.words({name(), in_.value(), id()});
			else if (kind == 8)
				ctf_.words({name(), in_.value()});
			if ((kind == 6 || kind == 7) && large)
				ctf_.words({in_.value()});
		}
	}

	void add_symbols(RawBytes& types, RawBytes& names) {
		const bool named = in_.byte() & 1;
		for (unsigned i = in_.byte() % 4; i != 0; i--) {
			put32(types, id());
			if (named)
				put32(names, name());
		}
	}

	RawBytes compressed() {
		ctf_.string(ctf_.parent); // as bytes() will add it
		const RawBytes body = ctf_.body();
		RawBytes packed(compressBound(body.size()));
		uLongf length = packed.size();
		if (compress(packed.data(), &length, body.data(), body.size()) != Z_OK)
			return {};
		packed.resize(length);
		ctf_.flags |= 1;
		return ctf_.bytes(&packed);
	}

	Cursor& in_;
	CtfBuilder ctf_;
	std::uint32_t count_ = 0;
};

void exercise_one(const Ctf& ctf) {
	dfr::fuzz::exercise(ctf, ctf.first_id(), ctf.end_id());
}

void exercise_file(const CtfFile& file) {
	for (const auto& one : file.dictionaries())
		tolerate([&] { exercise_one(*one); });
	tolerate([&] { file.find(NameSpace::Struct, "aa"); });
	tolerate([&] { file.find_enumerator("aa"); });
	tolerate([&] { file.find_function("aa"); });
	tolerate([&] { file.find_variable("aa"); });
}

void exercise_elf(const Blob& blob) {
	tolerate([&] {
		auto context = std::make_shared<const CtfContext>(blob, "fuzz");
		for (const ElfSection& section : context->elf()->sections())
			tolerate([&] {
				exercise_file(
				    *CtfFile::from_blob("fuzz", context->elf()->contents(section), context));
			});
	});
	tolerate([&] {
		const ElfSymbols symbols = ElfSymbols::from_blob("fuzz", blob);
		symbols.find(std::uint64_t(0x1000));
		symbols.find("main");
		symbols.address_of_offset(0x1000);
	});
}

RawBytes archive_of(Cursor& in, const RawBytes& parent, const RawBytes& child) {
	RawBytes out;
	const std::uint64_t data_at = 40 + 32, second = 8 + parent.size();
	const std::uint64_t header[] = {
	    0x8b47f2a4d7623eebULL, 2, 2, data_at + second + 8 + child.size(), data_at, 5, second, 0, 0};
	for (const std::uint64_t value : header)
		dfr::test::put(out, value, 8);
	for (const RawBytes* part : {&parent, &child}) {
		dfr::test::put(out, part->size(), 8);
		out.insert(out.end(), part->begin(), part->end());
	}
	for (const char c : std::string_view(".ctf\0a.c\0", 9))
		out.push_back(static_cast<std::uint8_t>(c));
	for (unsigned flips = in.byte() % 4; flips > 1; flips--)
		out[in.byte() % 80] ^= static_cast<std::uint8_t>(in.byte());
	return out;
}

void exercise_wrapped(Cursor& in, bool archive) {
	RawBytes bytes = Builder(in, false).build();
	if (archive)
		bytes = archive_of(in, bytes, Builder(in, true).build());
	if (in.byte() & 1)
		exercise_elf(Blob::from_bytes(exact(dfr::fuzz::build_elf(in, bytes))));
	else
		tolerate([&] { exercise_file(*CtfFile::from_blob("fuzz", Blob::from_bytes(exact(bytes)))); });
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
	Cursor in(data, size);
	const std::uint32_t mode = in.byte() % 8;
	if (mode < 2) {
		const Blob blob = Blob::from_bytes(RawBytes(in.rest(), in.rest() + in.left()));
		if (mode == 0)
			tolerate([&] { exercise_file(*CtfFile::from_blob("fuzz", blob)); });
		else
			exercise_elf(blob);
		return 0;
	}
	if (mode >= 6) {
		exercise_wrapped(in, mode == 6);
		return 0;
	}
	std::unique_ptr<Ctf> parent;
	tolerate([&] {
		parent = std::make_unique<Ctf>("fuzz", Blob::from_bytes(exact(Builder(in, false).build())),
		                               nullptr);
		exercise_one(*parent);
	});
	if (mode < 4) {
		tolerate([&] {
			const Ctf child("child", Blob::from_bytes(exact(Builder(in, true).build())), nullptr,
			                parent.get());
			exercise_one(child);
		});
	}
	return 0;
}
