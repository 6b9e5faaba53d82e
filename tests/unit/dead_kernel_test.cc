// SPDX-License-Identifier: GPL-2.0
//
// Names by the tables of a dead kernel.
#include <catch2/catch.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <unistd.h>

#include "formats/dof/image.h"
#include "formats/types/kernel_types.h"
#include "recorder/dead_kernel.h"
#include "recorder/memory_image.h"
#include "tests/unit/dead_kernel_builder.h"
#include "tests/unit/peak_memory.h"

namespace dead_kernel_test {

using namespace dfr;
using namespace dfr::test;
using recorder::DeadKernel;
using recorder::DeadKernels;

namespace {

constexpr uint64_t kText = Kernel::kText;
constexpr const char* kRelease = Kernel::kRelease;

struct Written {
	std::string path = "/tmp/dfr-unit-XXXXXX";
	explicit Written(const std::vector<std::byte>& bytes) {
		const int fd = mkstemp(path.data());
		REQUIRE(fd >= 0);
		REQUIRE(write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
		close(fd);
	}
	~Written() { unlink(path.c_str()); }
	Written(const Written&) = delete;
	Written& operator=(const Written&) = delete;
};

// The name at an address, by the tables in this memory.
class Asked {
public:
	explicit Asked(const Memory& memory, uint64_t raw_from = UINT64_MAX)
	    : file_(raw_from == UINT64_MAX ? memory.elf() : memory.raw(raw_from)),
	      memory_(std::make_shared<recorder::PhysicalMemory>(file_.path)) {
		const int64_t displacement =
		    raw_from == UINT64_MAX ? 0 : static_cast<int64_t>(raw_from * Memory::kPageSize);
		std::vector<uint64_t> pages;
		for (const auto& [pfn, page] : memory.pages)
			if (std::memcmp(page.data(), "OSRELEASE=", 10) == 0)
				pages.push_back(pfn * Memory::kPageSize -
				                static_cast<uint64_t>(displacement));
		kernels_.emplace(memory_, pages, std::array{displacement});
		kernel_ = kernels_->of({}, kRelease, true);
	}
	bool found() const { return kernel_ != nullptr; }
	std::string at(uint64_t address) {
		const auto place = kernel_->kernel_place(address, 5);
		if (!place)
			return "nothing";
		return std::string(place->symbol.module) + "`" + std::string(place->symbol.name) + "+" +
		       std::to_string(place->symbol.offset) + " of " + std::to_string(place->symbol.size);
	}

private:
	Written file_;
	std::shared_ptr<const recorder::PhysicalMemory> memory_;
	std::optional<DeadKernels> kernels_;
	DeadKernel* kernel_ = nullptr;
};

Memory memory_of(const Kernel& kernel) {
	Memory memory;
	kernel.put(memory);
	return memory;
}

bool found(const std::function<void(Kernel&)>& change) {
	Kernel kernel;
	change(kernel);
	return Asked(memory_of(kernel)).found();
}

void check_names(Asked asked) {
	REQUIRE(asked.found());
	CHECK(asked.at(kText) == "vmlinux`_stext+0 of 256");
	CHECK(asked.at(kText + 0xff) == "vmlinux`_stext+255 of 256");
	// Functions before data and global before local, as on a machine that lives.
	CHECK(asked.at(kText + 0x180) == "vmlinux`do_it+128 of 256");
	CHECK(asked.at(kText + 0x200) == "vmlinux`" + std::string(300, 'x') + "+0 of 512");
	CHECK(asked.at(kText + 0x4ff) == "vmlinux`last+255 of 256");
	CHECK(asked.at(kText + 0x500) == "nothing");
	CHECK(asked.at(kText - 1) == "nothing");
	CHECK(asked.at(0x1000) == "nothing");
	CHECK(asked.at(UINT64_MAX) == "nothing");
}

Kernel with_modules(uint32_t ranges = 1, uint64_t first = Kernel::kModules) {
	const auto code = [first](size_t module) { return Kernel::code(module, first); };
	Kernel kernel;
	kernel.first_module = first;
	kernel.btf = small_btf(ranges);
	kernel.ranges = ranges;
	kernel.modules = {{"first", {{code(0), "tone"}, {code(0) + 0x80, "Ttwo"}}},
	                  {"second_module",
	                   {{code(1) + 0x10, "tone"},
	                    {0, "tnowhere"},
	                    {code(1) + 0x20, "t"},
	                    {code(1) + 0x30, "dbad name"}}}};
	return kernel;
}

void check_modules(Asked asked, uint64_t first = Kernel::kModules) {
	const auto code = [first](size_t module) { return Kernel::code(module, first); };
	REQUIRE(asked.found());
	CHECK(asked.at(code(0)) == "first`one+0 of 128");
	CHECK(asked.at(code(0) + 0x81).starts_with("first`two+1 of"));
	CHECK(asked.at(code(1) + 0x3f).starts_with("second_module`one+47 of"));
	CHECK(asked.at(code(1)) == "nothing");
	CHECK(asked.at(code(1) + 0x1000) == "nothing");
	CHECK(asked.at(kText) == "vmlinux`_stext+0 of 256");
}

// A state that recorded do_it() of this kernel, by a program of some DOF, on frames from `first` on.
void put_recording(Memory& memory, uint64_t first, uint8_t boot, std::string_view dof = "program") {
	CatalogLog log(7, boot);
	log.state("anonymous", 1, 4096, DFR_BUFPOLICY_RING, 7);
	log.clock(1'000, boot).probe(1, "fbt", "vmlinux", "do_it", "entry", 1);
	log.layout(1, {test::int_field(8)}).ecb(1, 1, 1).dof(0, dof);
	log.entry(DFR_CAT_MACHINE, Bytes().text(std::string("release=") + kRelease + "\n"));
	memory.put({first}, log.done());
	memory.anchor(
	    {.pfn = first + 2, .kind = DFR_ANCHOR_CATALOG, .unit = 4096, .frames = {first}, .boot = boot});
	BlockBytes block(0, 1, 1000, 4096);
	block.long_head(0, 0, 1000).context(1, 1, 1, "sh");
	block.short_head(1, 0, 0).u8(0b11).u64(kText + 0x123);
	block.counters(0, 0).opened(0, 1000);
	memory.put({first + 1}, block.sealed(true).bytes);
	memory.anchor(
	    {.pfn = first + 3, .kind = DFR_ANCHOR_RING, .unit = 4096, .frames = {first + 1}, .boot = boot});
}

// What that is called, by each recording of the image, in order: "boot's first byte: name".
std::vector<std::string> names_by(const std::vector<std::unique_ptr<recorder::ImageSource>>& sources) {
	std::vector<std::string> all;
	for (const auto& source : sources) {
		trace::KnownNames names;
		source->names(names);
		const auto name = names.kernel(kText + 0x123, 1000);
		all.push_back(source->boot().substr(0, 2) + ": " +
		              (name ? std::string(name->name) : "nothing"));
	}
	return all;
}

// What is harvested of such a state.
class Harvested {
public:
	explicit Harvested(
	    const Kernel& kernel, std::string_view dof = "program",
	    const std::function<void(Memory&)>& change = [](Memory&) {}) {
		Memory memory;
		kernel.put(memory);
		put_recording(memory, 50, 0xb0, dof);
		change(memory);
		file_.emplace(memory.elf());
		sources_ = recorder::open_memory_image(file_->path);
		REQUIRE(sources_.size() == 1);
	}
	trace::BlockSource& source() { return *sources_[0]; }

private:
	std::optional<Written> file_;
	decltype(recorder::open_memory_image("")) sources_;
};

std::string dof_of_types(uint64_t digest) {
	dof::Image image;
	image.btf_digest = digest;
	image.btf_name = "vmlinux";
	const std::vector<uint8_t> bytes = dof::write(image);
	return {bytes.begin(), bytes.end()};
}

} // namespace

TEST_CASE("a dead kernel's tables name its addresses", "[recorder][image][dead-kernel]") {
	Kernel kernel;
	check_names(Asked(memory_of(kernel)));
	check_names(Asked(memory_of(kernel), 0x80)); // raw, from that frame on
	kernel.per_cpu = false;
	kernel.symbols.erase(kernel.symbols.begin());
	check_names(Asked(memory_of(kernel)));
}

TEST_CASE("a dead kernel's modules name their addresses", "[recorder][image][dead-kernel]") {
	for (const uint32_t ranges : {1u, 2u}) {
		Kernel kernel = with_modules(ranges);
		check_modules(Asked(memory_of(kernel)));
		check_modules(Asked(memory_of(kernel), 0x80));
		kernel.five_levels = true;
		check_modules(Asked(memory_of(kernel)));
		kernel.large = true;
		check_modules(Asked(memory_of(kernel)));
	}
	// A kernel without randomised addresses has its modules 512 MiB behind the beginning of its image.
	constexpr uint64_t kEarly = Kernel::kImage + (512 << 20);
	check_modules(Asked(memory_of(with_modules(1, kEarly))), kEarly);
	// Memory that is encrypted, whose bit stands where addresses have theirs.
	for (const unsigned bit : {47u, 51u, 63u}) {
		Kernel kernel = with_modules();
		kernel.encrypted = 1ull << bit;
		check_modules(Asked(memory_of(kernel)));
		kernel.large = true;
		check_modules(Asked(memory_of(kernel)));
	}
}

TEST_CASE("what is missing or damaged of a dead kernel's modules costs their names alone",
          "[recorder][image][dead-kernel]") {
	const Kernel kernel = with_modules();
	const uint64_t pages[] = {kernel.mapping,          kernel.mapping + 1,      kernel.mapping + 2,
	                          kernel.mapping + 3,      kernel.mapping + 4,      kernel.module_frame,
	                          kernel.module_frame + 1, kernel.module_frame + 2, kernel.module_frame + 3,
	                          kernel.module_frame + 4};
	for (const uint64_t page : pages) {
		Memory memory = memory_of(kernel);
		memory.pages.erase(page);
		Asked asked(memory);
		REQUIRE(asked.found());
		CHECK(asked.at(Kernel::code(0)) == "nothing");
		CHECK(asked.at(kText) == "vmlinux`_stext+0 of 256");
	}
	// A list that goes round without coming back to its head, and a module with more symbols than any has.
	Memory memory = memory_of(kernel);
	const uint64_t round = Kernel::kModules + Kernel::kModuleSize + 8;
	std::memcpy(memory.page(kernel.module_frame + 8).data() + 8, &round, 8);
	check_modules(Asked(memory));
	memory = memory_of(kernel);
	const uint32_t many = UINT32_MAX;
	std::memcpy(memory.page(kernel.module_frame + 1).data() + 8, &many, 4);
	CHECK(Asked(memory).at(Kernel::code(0)) == "nothing");
	CHECK(Asked(memory).at(Kernel::code(1) + 0x10).starts_with("second_module`one+0 of"));
	// Its types without the list of modules, and each byte of them another one.
	Kernel harmed = kernel;
	for (size_t at = 0; at < kernel.btf.size(); at++) {
		harmed.btf = kernel.btf;
		harmed.btf[at] ^= std::byte{0xff};
		CHECK(Asked(memory_of(harmed)).at(kText) == "vmlinux`_stext+0 of 256");
		Asked(memory_of(harmed)).at(Kernel::code(0)); // does not throw
	}
}

// A few pages that are mapped again and again are a table of 200,000 symbols, all with one long name.
TEST_CASE("a dead kernel's module whose names are very many bytes names nothing",
          "[recorder][image][dead-kernel]") {
	constexpr uint64_t kLarge = 2 << 20, kTables = 0x600, kPages = 0x610;
	constexpr uint64_t kSymbols = 1, kLetters = 8, kNames = 9; // of these pieces of kLarge bytes
	Kernel kernel = with_modules();
	Memory memory = memory_of(kernel);
	const auto fill = [&memory](uint64_t pfn, uint64_t word) {
		for (size_t at = 0; at < Memory::kPageSize; at += 8)
			std::memcpy(memory.page(pfn).data() + at, &word, 8);
	};
	fill(kPages, 1ull << 32); // any word is a symbol's name, the first one, and its address
	fill(kPages + 1, 0x7474747474747474);
	fill(kPages + 2, 0x7878787878787878);
	for (uint64_t i = 0; i < 3; i++)
		fill(kTables + i, (kPages + i) * Memory::kPageSize | 0x163);
	const auto map = [&](uint64_t piece, uint64_t table) { // in the table of 2 MiB
		const uint64_t entry = table * Memory::kPageSize | 0x63;
		std::memcpy(memory.page(kernel.mapping + 3).data() +
		                8 * (((Kernel::kModules >> 21) + piece) & 511),
		            &entry, 8);
	};
	for (uint64_t piece = kSymbols; piece < kLetters; piece++)
		map(piece, kTables);
	map(kLetters, kTables + 1);
	map(kNames, kTables + 2);
	Bytes tables;
	tables.u64(Kernel::kModules + kSymbols * kLarge).u32(200'000).u32(0);
	tables.u64(Kernel::kModules + kNames * kLarge).u64(Kernel::kModules + kLetters * kLarge);
	memory.put({kernel.module_frame + 1}, tables.bytes);
	Asked asked(memory);
	REQUIRE(asked.found());
	std::string name;
	const uint64_t peak = peak_of([&] { name = asked.at(Kernel::code(0)); });
	CHECK(peak < 120 << 20);
	CHECK(name == "nothing");
	CHECK(asked.at(Kernel::code(1) + 0x10).starts_with("second_module`one+0 of"));
}

TEST_CASE("tables of a dead kernel that cannot be believed name nothing", "[recorder][image][dead-kernel]") {
	CHECK(found([](Kernel&) {}));
	CHECK_FALSE(found([](Kernel& kernel) { kernel.release = "6.1.0-other"; }));
	CHECK_FALSE(found([](Kernel& kernel) { kernel.stext += 0x10; }));
	CHECK_FALSE(found([](Kernel& kernel) { kernel.more_symbols = 1; }));
	CHECK_FALSE(found([](Kernel& kernel) { kernel.more_symbols = UINT32_MAX / 2; }));
	CHECK_FALSE(found([](Kernel& kernel) { std::swap(kernel.symbols[1], kernel.symbols[8]); }));
	CHECK_FALSE(found([](Kernel& kernel) { kernel.symbols[3].name = "D"; }));
	CHECK_FALSE(found([](Kernel& kernel) { kernel.symbols[3].name = "Dline\nline"; }));
	CHECK_FALSE(found([](Kernel& kernel) { kernel.symbols[3].name = std::string(2000, 'x'); }));
	// Any page of the tables may be missing.
	for (uint64_t gone = 0; gone < 6; gone++) {
		Memory memory = memory_of(Kernel());
		memory.pages.erase(Kernel().frame + gone);
		CHECK_FALSE(Asked(memory).found());
	}
}

// Of every 256th symbol it is kept where its name begins; behind the last one none does.
TEST_CASE("a kernel that begins behind all of its symbols names nothing", "[recorder][image][dead-kernel]") {
	CHECK_FALSE(found([](Kernel& kernel) {
		while (kernel.symbols.size() < 256)
			kernel.symbols.push_back({kernel.symbols.back().address + 1, "tmore"});
		kernel.stext = kernel.symbols.back().address + 1;
	}));
}

TEST_CASE("an address with names without end has none", "[recorder][image][dead-kernel]") {
	Kernel kernel;
	const auto aliases = [&kernel](size_t count) {
		kernel.symbols.insert(kernel.symbols.begin() + 6, count, {kText + 0x100, "talias"});
	};
	aliases(200);
	Asked few(memory_of(kernel));
	REQUIRE(few.found());
	CHECK(few.at(kText + 0x180) == "vmlinux`do_it+128 of 256");
	aliases(100);
	Asked many(memory_of(kernel));
	REQUIRE(many.found());
	CHECK(many.at(kText + 0x180) == "nothing");
	CHECK(many.at(kText + 0x4ff) == "vmlinux`last+255 of 256");
}

TEST_CASE("two pages that tell of different tables name nothing", "[recorder][image][dead-kernel]") {
	Memory memory = memory_of(Kernel());
	memory.put({0x91}, memory.page(0x90));
	CHECK(Asked(memory).found()); // the same twice
	Kernel forged;
	forged.frame = 0x200;
	forged.page = 0x92;
	forged.symbols[5].name = "Tforged";
	forged.put(memory);
	CHECK_FALSE(Asked(memory).found());
}

TEST_CASE("what is harvested has the names of its addresses", "[recorder][image][dead-kernel]") {
	Harvested harvested((Kernel()));
	trace::KnownNames names;
	harvested.source().names(names);
	const auto name = names.kernel(kText + 0x123, 1000);
	REQUIRE(name);
	CHECK(name->name == "do_it");
	CHECK(name->offset == 0x23);
	CHECK(names.kernel_symbols() == 1); // no more than occur
	CHECK(harvested.source().types().empty());
}

// After a warm reset an image may have what an earlier boot has left, its kernel too; of both the release is the same.
TEST_CASE("each recording has the names of its own boot's kernel", "[recorder][image][dead-kernel]") {
	using Names = std::vector<std::string>;
	const auto harvested = [](const std::vector<Kernel>& kernels) {
		Memory memory;
		for (const Kernel& kernel : kernels)
			kernel.put(memory);
		put_recording(memory, 40, 0x10);
		put_recording(memory, 50, 0xb0);
		const Written file(memory.elf());
		return names_by(recorder::open_memory_image(file.path));
	};
	Kernel before, died;
	before.boot = 0x10;
	before.frame = 0x200;
	before.page = 0x92;
	before.symbols[4].name = "told_alias";
	before.symbols[5].name = "Told_it";
	died.boot = 0xb0;
	CHECK(harvested({died}) == Names{"b0: do_it", "10: nothing"});
	CHECK(harvested({before}).back() == "b0: nothing");
	CHECK(harvested({before, died}) == Names{"b0: do_it", "10: old_it"});
	// Tables that do not say of which boot they are: those of the likeliest one, unless others say that they are.
	before.boot = died.boot = 0;
	CHECK(harvested({died}) == Names{"b0: do_it", "10: nothing"});
	CHECK(harvested({before, died}) == Names{"b0: nothing", "10: nothing"});
	died.boot = 0xb0;
	CHECK(harvested({before, died}) == Names{"b0: do_it", "10: nothing"});
}

// An earlier boot may have panicked, and have been dumped then.
TEST_CASE("the boot whose kernel is in the image comes first", "[recorder][image][dead-kernel]") {
	Kernel died;
	died.boot = 0xb0;
	Memory memory;
	died.put(memory);
	put_recording(memory, 40, 0x10);
	memory.panic(60, 9'999, "sh", "of the boot before", 0x10);
	const auto harvested = [&memory] {
		const Written file(memory.elf());
		return recorder::open_memory_image(file.path);
	};
	const auto remarks = [](const auto& sources) {
		std::string all;
		for (const auto& source : sources)
			for (const std::string& remark : source->remarks())
				all += remark + "\n";
		return all;
	};
	const auto alone = harvested();
	REQUIRE(alone.size() == 1);
	CHECK(alone[0]->partial());
	CHECK_THAT(remarks(alone), Catch::Contains("the kernel in the image is of boot b0b1b2b3-"));

	put_recording(memory, 50, 0xb0);
	const auto both = harvested();
	REQUIRE(both.size() == 2);
	CHECK(both[0]->boot().substr(0, 2) == "b0");
	CHECK_FALSE(both[0]->panic());
	CHECK_FALSE(both[0]->partial());
	CHECK(both[1]->panic());
	CHECK(remarks(both).find("kernel") == std::string::npos);

	// Of two whose kernels are whole the later one.
	Kernel before;
	before.boot = 0x10;
	before.frame = 0x200;
	before.page = 0x92;
	before.put(memory);
	const auto several = harvested();
	REQUIRE(several.size() == 2);
	CHECK(several[0]->boot().substr(0, 2) == "b0");
	CHECK_FALSE(several[0]->partial());
	CHECK_THAT(remarks(several), Catch::Contains("kernels of 2 boots are in the image"));
}

TEST_CASE("what is harvested has the types of its kernel", "[recorder][image][dead-kernel]") {
	Kernel kernel;
	kernel.btf = small_btf();
	const auto known = types::KernelTypes::from_bytes({{"vmlinux", kernel.btf}}, "made");
	const uint64_t digest = known->vmlinux().digest();
	for (const std::string& dof : {std::string("program"), dof_of_types(digest)}) {
		const trace::RecordedTypes types = Harvested(kernel, dof).source().types();
		CHECK(types.digest == digest);
		REQUIRE(types.probes.count("fbt:vmlinux:do_it:entry") == 1);
		const auto& args = types.probes.at("fbt:vmlinux:do_it:entry").args;
		REQUIRE(args.size() == 1);
		CHECK(args[0].native == "struct thing *");
		CHECK(args[0].name == "the");
		const auto written = types::KernelTypes::from_bytes(types.btf, "written");
		const types::TypeRef thing = written->find(types::NameSpace::Struct, "thing");
		REQUIRE(thing);
		CHECK(types::info(thing).size == 4);
	}
}

TEST_CASE("types of a dead kernel that cannot be believed are left out", "[recorder][image][dead-kernel]") {
	Kernel kernel;
	kernel.btf = small_btf();
	CHECK_FALSE(Harvested(kernel).source().types().empty());
	CHECK(Harvested(kernel, dof_of_types(1)).source().types().empty());
	const uint64_t first = kernel.frame + Kernel::kTables;
	CHECK(Harvested(kernel, "program", [first](Memory& memory) { memory.pages.erase(first); })
	          .source()
	          .types()
	          .empty());
	for (size_t at = 0; at < kernel.btf.size(); at++) {
		Kernel harmed = kernel;
		harmed.btf[at] ^= std::byte{0xff};
		Harvested harvested(harmed);
		harvested.source().types(); // does not throw
	}
}

} // namespace dead_kernel_test
