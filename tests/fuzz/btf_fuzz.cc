// SPDX-License-Identifier: GPL-2.0
//
// Fuzzes the BTF reader. The first byte chooses: the rest is a blob as it
// stands; or it is spent as decisions on how to build a blob that is well-formed
// but for what the decisions get wrong, alone or with a split blob on top.
//
// Targets: formats/types/btf.cc formats/types/btf_names.cc formats/types/types.cc formats/types/declare.cc
#include <memory>

#include "formats/types/btf.h"
#include "formats/types/btf_writer.h"
#include "tests/fuzz/types_exercise.h"
#include "tests/unit/types_btf_builder.h"

using dfr::fuzz::Cursor;
using dfr::test::BtfBuilder;
using dfr::test::RawBytes;
using namespace dfr::types;

namespace {

// An id that mostly exists.
std::uint32_t some_id(Cursor& in, const BtfBuilder& b) {
	const std::uint32_t choice = in.value();
	return choice < 0xf0 ? choice % (b.next_id() + 3) : choice;
}

std::uint32_t some_name(Cursor& in, BtfBuilder& b) {
	return in.byte() % 3 ? b.string(in.name()) : 0;
}

void add_type(Cursor& in, BtfBuilder& b) {
	const unsigned kind = in.byte() % 20;
	const std::uint32_t vlen = in.byte() % 6;
	const bool flag = in.byte() & 1;
	const std::uint32_t value =
	    kind == 4 || kind == 5 || kind == 6 || kind == 19 ? in.value() : some_id(in, b);
	const std::uint32_t name = some_name(in, b);
	if (kind == 1) {
		const std::uint32_t bytes = 1U << in.byte() % 5;
		b.type_at(name, kind, 0, bytes, flag);
		b.words({(in.byte() & 7) << 24 | (in.byte() & 15) << 16 | (bytes * 8 - in.byte() % 4)});
		return;
	}
	b.type_at(name, kind, vlen, value, flag);
	if (kind == 3)
		b.words({some_id(in, b), some_id(in, b), in.value()});
	else if (kind == 14 || kind == 17)
		b.words({in.value()});
	for (std::uint32_t i = 0; i < vlen; i++) {
		if (kind == 4 || kind == 5)
			b.words({some_name(in, b), some_id(in, b), in.value()});
		else if (kind == 6 || kind == 13)
			b.words({some_name(in, b), some_id(in, b)});
		else if (kind == 15 || kind == 19)
			b.words({some_name(in, b), in.value(), in.value()});
	}
}

RawBytes build(Cursor& in, BtfBuilder& b) {
	for (unsigned types = in.byte() % 48; types != 0 && !in.done(); types--)
		add_type(in, b);
	RawBytes bytes = b.bytes();
	for (unsigned flips = in.byte() % 4; flips > 1; flips--)
		bytes[in.half() % bytes.size()] ^= static_cast<std::uint8_t>(in.byte());
	return bytes;
}

// What is written of any types can be read.
void write_and_exercise(const Btf& btf) {
	std::vector<TypeRef> roots;
	for (dfr::types::TypeId id = btf.first_id(); id < btf.end_id() && roots.size() < 32; id++)
		roots.push_back({&btf, id});
	for (const std::size_t room : {64, 1 << 16}) {
		const auto written = dfr::types::write_btf(roots, 3, room);
		const Btf back("written", Blob::from_bytes(written.bytes));
		if (back.end_id() == 0)
			std::abort();
		dfr::fuzz::exercise(back, back.first_id(), back.end_id());
	}
}

void open_and_exercise(const RawBytes& bytes, const Btf* base, std::unique_ptr<Btf>& btf) {
	dfr::fuzz::tolerate([&] {
		btf = std::make_unique<Btf>("fuzz", Blob::from_bytes(bytes), base);
		btf->digest();
		dfr::fuzz::exercise(*btf, btf->first_id(), btf->end_id());
		btf->each_function(
		    [](std::string_view name, TypeRef type) { return name.size() + type.id != 1; });
	});
	if (btf)
		dfr::fuzz::tolerate([&] { write_and_exercise(*btf); });
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
	Cursor in(data, size);
	const std::uint32_t mode = in.byte();
	std::unique_ptr<Btf> base, split;
	if (mode % 4 == 0) {
		open_and_exercise(RawBytes(in.rest(), in.rest() + in.left()), nullptr, base);
		return 0;
	}
	BtfBuilder whole;
	open_and_exercise(build(in, whole), nullptr, base);
	if (mode % 4 == 1 && base) {
		BtfBuilder part(whole.next_id(), whole.string_end());
		open_and_exercise(build(in, part), base.get(), split);
	}
	return 0;
}
