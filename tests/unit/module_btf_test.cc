// SPDX-License-Identifier: GPL-2.0
//
// The module's reader of BTF (kmod/linux/btf_read.c) on BTF made here: prototypes and
// places as they should be, and each way in which a kernel may differ from what the
// module assumes.
#include <catch2/catch.hpp>

#include <map>
#include <string>

#include "tests/unit/types_btf_builder.h"
extern "C" {
#include "kmod/linux/btf_read.h"
}

namespace module_btf_test {

using dfr::test::BtfBuilder;
using dfr::test::RawBytes;

namespace {

class Reader {
public:
	explicit Reader(const BtfBuilder& builder) : bytes_(builder.bytes()) {
		REQUIRE(dfr_btf_open(&btf_, bytes_.data(), bytes_.size()) == 0);
		dfr_btf_each(
		    &btf_,
		    [](void* arg, dfr_btf_kind, const char* name, u32 id) {
			    (*static_cast<std::map<std::string, u32>*>(arg))[name] = id;
		    },
		    &ids_);
	}
	Reader(const Reader&) = delete;
	Reader& operator=(const Reader&) = delete;
	~Reader() { dfr_btf_close(&btf_); }

	std::string prototype(const std::string& name, size_t room = 256) {
		std::string text(room, '\0');
		return dfr_btf_prototype(&btf_, ids_.at(name), text.data(), room) ? text.c_str() : "none";
	}
	std::string member(const std::string& type, const std::string& name) {
		u32 offset = 0, size = 0;
		if (!dfr_btf_member(&btf_, ids_.at(type), name.c_str(), &offset, &size))
			return "none";
		return std::to_string(size) + " at " + std::to_string(offset);
	}
	const std::map<std::string, u32>& ids() const { return ids_; }

private:
	RawBytes bytes_;
	dfr_btf btf_{};
	std::map<std::string, u32> ids_;
};

// struct lock { int owner; struct { long waiter; struct list { .. } list; }; int flag : 3; };
// char *look(const char *, long unsigned int, int (*)(void *, struct lock *), ...);
// typedef void (*btf_trace_event)(void *, bool_t, struct lock **);
struct Kernel {
	BtfBuilder b;
	std::uint32_t int_ = b.integer("int", 4, 1), ulong = b.integer("long unsigned int", 8, 0),
	              long_ = b.integer("long int", 8, 1), char_ = b.integer("char", 1, 1), list, inner, lock,
	              lock_pointer, void_pointer, look;

	explicit Kernel(std::uint32_t shift = 0) {
		list = b.type("list", 4, 2, 16);
		b.words({b.string("next"), b.next_id(), 0, b.string("prev"), b.next_id(), 64});
		b.pointer(list);
		inner = b.type("", 4, 2, 24);
		b.words({b.string("waiter"), long_, 0, b.string("entry"), list, 64});
		lock = b.type("lock", 4, 3, 40, true);
		b.words({b.string("owner"), int_, shift * 8, 0, inner, 64, b.string("flag"), int_,
		         3U << 24 | 256});
		lock_pointer = b.pointer(lock);
		void_pointer = b.pointer(0);
		const auto visit = b.type("", 13, 2, int_);
		b.words({0, void_pointer, 0, lock_pointer});
		const auto visitor = b.pointer(visit);
		const auto text = b.pointer(b.type("", 10, 0, char_));
		const auto proto = b.type("", 13, 4, b.pointer(char_));
		b.words({b.string("name"), text, b.string("n"), ulong, b.string("see"), visitor, 0, 0});
		look = b.type("look", 12, 0, proto);
		const auto flag = b.type("bool_t", 8, 0, b.integer("_Bool", 1, 4));
		const auto place = b.pointer(lock_pointer);
		const auto event = b.type("", 13, 3, 0);
		b.words({0, void_pointer, 0, flag, 0, place});
		b.type("btf_trace_event", 8, 0, b.pointer(event));
		b.type("nothing", 12, 0, b.type("", 13, 0, 0));
		b.type("number", 8, 0, int_);
	}
};

} // namespace

TEST_CASE("module BTF: prototypes are rendered as the table writes them") {
	Reader reader(Kernel().b);
	CHECK(reader.prototype("look") ==
	      "char * (char *, unsigned long, int (*)(void *, struct lock *), ...)");
	CHECK(reader.prototype("btf_trace_event") == "void (void *, bool_t, struct lock **)");
	CHECK(reader.prototype("nothing") == "void (void)");
	CHECK(reader.prototype("number") == "none");
	CHECK(reader.prototype("btf_trace_event", 12) == "none"); // there is no room for it
	CHECK(reader.ids().count("lock") == 1);
	CHECK(reader.ids().count("int") == 0);
}

TEST_CASE("module BTF: what is wanted of a prototype") {
	const char* const have = "int (struct file *, unsigned int)";
	CHECK(dfr_btf_is("int (struct file *, unsigned int)", have));
	CHECK(dfr_btf_is("int (const struct file *, const unsigned int)", have));
	CHECK(dfr_btf_is("(struct file *, unsigned int)", have));
	CHECK(dfr_btf_is("(struct file *, ...)", have));
	CHECK(dfr_btf_is("(struct file *, ...)", "int (struct file *)"));
	CHECK(dfr_btf_is("(int (*)(void *), void *)", "int (int (*)(void *), void *)"));
	// Each of these is another kernel.
	CHECK_FALSE(dfr_btf_is("long (struct file *, unsigned int)", have));
	CHECK_FALSE(dfr_btf_is("(struct file *)", have));
	CHECK_FALSE(dfr_btf_is("(unsigned int, struct file *)", have));
	CHECK_FALSE(dfr_btf_is("(struct file *, unsigned int, int)", have));
	CHECK_FALSE(dfr_btf_is("(struct inode *, ...)", have));
	CHECK_FALSE(dfr_btf_is("(struct file **, unsigned int)", have));
	CHECK_FALSE(dfr_btf_is("(void)", have));
}

TEST_CASE("module BTF: places of members, in nameless structures too") {
	Reader reader(Kernel().b);
	CHECK(reader.member("lock", "owner") == "4 at 0");
	CHECK(reader.member("lock", "waiter") == "8 at 8");
	CHECK(reader.member("lock", "entry") == "16 at 16");
	CHECK(reader.member("lock", "flag") == "none"); // a bit-field has no place
	CHECK(reader.member("lock", "next") == "none"); // of a member that has a name
	CHECK(reader.member("list", "prev") == "8 at 8");
	CHECK(reader.member("look", "owner") == "none");
	CHECK(Reader(Kernel(4).b).member("lock", "owner") == "4 at 4"); // a kernel where it has moved
}

TEST_CASE("module BTF: what is damaged is refused, whole") {
	const RawBytes good = Kernel().b.bytes();
	dfr_btf btf;
	const auto open = [&](const RawBytes& bytes) {
		const int error = dfr_btf_open(&btf, bytes.data(), bytes.size());
		if (!error)
			dfr_btf_close(&btf);
		return error;
	};
	CHECK(open(good) == 0);
	for (size_t cut = 1; cut <= good.size(); cut++)
		CHECK(open(RawBytes(good.begin(), good.end() - static_cast<std::ptrdiff_t>(cut))) != 0);
	for (size_t at = 0; at < 24; at++) {
		RawBytes bad = good;
		bad[at] = 0xff;
		open(bad); // must not read beyond; ASan is the judge
	}
	RawBytes unterminated = good;
	unterminated.back() = 'x';
	CHECK(open(unterminated) == -EINVAL);
}

TEST_CASE("module BTF: types in circles end") {
	BtfBuilder b;
	const auto first = b.type("round", 8, 0, b.next_id() + 1);
	b.type("again", 8, 0, first);
	const auto proto = b.type("", 13, 1, 0);
	b.words({0, b.next_id()});
	b.pointer(proto);
	b.type("self", 12, 0, proto);
	Reader reader(b);
	CHECK(reader.prototype("round") == "none");
	CHECK(reader.prototype("self") == "none");
	CHECK(reader.member("round", "x") == "none");
}

} // namespace module_btf_test
