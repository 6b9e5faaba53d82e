// SPDX-License-Identifier: GPL-2.0
//
// Guest program: does anything that a user without privilege is given hold an
// address of the kernel's? As such a user it loads generated DOFs (tests/fuzz/
// dof_input.h), most of them damaged, many with sections that share bytes with
// what relocations write, runs what is let in, and looks through all that comes
// back: reasons, the structures of each request, blocks, catalog, aggregations,
// lists, and the kernel's log. Each eight bytes at any place, and each number
// printed in hexadecimal, is held against where this boot has the kernel's text,
// its modules, memory and vmalloc areas; what the program itself had in it is the
// user's own. Something that is found must be there again when the same is done
// once more: bytes of times and checksums look like an address now and then.
//
//   guest-leaks COUNT SEED     as root, which learns where the kernel is, and then becomes user 1000.
//                              Prints where that is, a line "SEED WHERE AREA ADDRESS" for each finding, then
//                              "COUNT tried, R refused, L loaded, S started, N found"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <elf.h>
#include <fcntl.h>
#include <fstream>
#include <grp.h>
#include <set>
#include <sstream>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "formats/abi/block.h"
#include "tests/vm/programs/generated.h"

using namespace dfr;
using namespace dfr::guest;

namespace {

void die(const std::string& text) {
	std::printf("%s: %s\n", text.c_str(), std::strerror(errno));
	std::exit(2);
}

struct Area {
	std::string name;
	uint64_t start, end;
};

// Where this boot has the kernel. Ranges are as narrow as can be had: of all numbers few lie in them.
class Areas {
public:
	Areas() {
		text();
		modules();
		memory();
		for (const char* name : {"text", "module", "memory", "vmalloc"})
			if (std::none_of(all_.begin(), all_.end(),
			                 [&](const Area& area) { return area.name == name; }))
				die(std::string("where is the kernel's ") + name + "?");
	}
	void print() const {
		std::printf("kernel");
		for (const Area& area : all_)
			if (area.name != "module")
				std::printf(" %s %llx", area.name.c_str(),
				            static_cast<unsigned long long>(area.start));
		std::printf("\n");
	}
	const Area* of(uint64_t address) const {
		if (address < 1ull << 63)
			return nullptr;
		for (const Area& area : all_)
			if (address >= area.start && address < area.end)
				return &area;
		return nullptr;
	}

private:
	void text() {
		std::ifstream file("/proc/kallsyms");
		uint64_t address, start = 0;
		std::string type, name, rest;
		while (file >> std::hex >> address >> type >> name && std::getline(file, rest)) {
			if (name == "_text")
				start = address;
			if (name == "_end" && start && address)
				all_.push_back({"text", start, address});
		}
	}
	void modules() {
		std::ifstream file("/proc/modules");
		for (std::string line; std::getline(file, line);) {
			std::istringstream words(line);
			std::string name, users, by, state, at;
			uint64_t size;
			words >> name >> size >> users >> by >> state >> at;
			if (const uint64_t start = std::strtoull(at.c_str(), nullptr, 16))
				all_.push_back({"module", start, start + size});
		}
	}
	// The direct map and what describes its pages; vmalloc's area is far larger, and is filled from below.
	void memory() {
		std::ifstream file("/proc/kcore", std::ios::binary);
		Elf64_Ehdr head{};
		Elf64_Phdr one{};
		file.read(reinterpret_cast<char*>(&head), sizeof(head));
		file.seekg(static_cast<std::streamoff>(head.e_phoff));
		for (int i = 0; i < head.e_phnum && file.read(reinterpret_cast<char*>(&one), sizeof(one));
		     i++)
			if (one.p_type == PT_LOAD && one.p_vaddr < 0xffffffff80000000) {
				const bool large = one.p_memsz >= 1ull << 40;
				all_.push_back({large ? "vmalloc" : "memory", one.p_vaddr,
				                one.p_vaddr + (large ? 4ull << 30 : one.p_memsz)});
			}
	}
	std::vector<Area> all_;
};

struct Counts {
	unsigned refused = 0, loaded = 0, started = 0, found = 0;
};

std::vector<uint8_t> make_dof(Numbers& numbers) {
	const std::vector<uint8_t> input = numbers.input();
	fuzz::Decisions in(input.data(), input.size());
	fuzz::ProgramMaker maker(in, kPlaces);
	test::DofBuilder dof = maker.make();
	set_small_buffers(dof);
	const uint32_t choice = numbers.next();
	if (choice % 2)
		maker.relocation(dof);
	return choice / 2 % 2 ? dof.bytes() : fuzz::Damage(in, dof).bytes();
}

// One program's trial: what it was given, looked through.
class Trial {
public:
	Trial(const Areas& areas, const std::vector<uint8_t>& dof, int log)
	    : areas_(areas), dof_(dof), log_(log) {}

	void run(bool start, Counts& counts) {
		fd_ = open(DFR_DEVICE, O_RDWR | O_CLOEXEC);
		if (fd_ < 0)
			die(DFR_DEVICE);
		dfr_ioc_enable io = with_size<dfr_ioc_enable>();
		io.flags = DFR_ENABLE_ZERO_OK;
		io.dof = reinterpret_cast<uintptr_t>(dof_.data());
		io.dof_size = dof_.size();
		const int error = control(fd_, DFR_IOC_ENABLE, &io);
		look("enable", &io, sizeof(io));
		(error ? counts.refused : counts.loaded)++;
		if (start)
			lists();
		if (!error && start)
			counts.started += trace();
		close(fd_);
		kernel_log();
	}
	const std::set<std::string>& found() const { return found_; }

private:
	template <typename T> static T with_size() {
		T io{};
		io.size = sizeof(io);
		return io;
	}
	template <typename T> void ask(const char* where, unsigned long request, T io = with_size<T>()) {
		control(fd_, request, &io);
		look(where, &io, sizeof(io));
	}

	bool trace() {
		dfr_ioc_go go = with_size<dfr_ioc_go>();
		const bool started = !control(fd_, DFR_IOC_GO, &go);
		look("go", &go, sizeof(go));
		for (int i = 0; started && i < 4; i++)
			syscall(SYS_getppid, 1, 2, 3, 4, 5, 6);
		read_state();
		ask<dfr_ioc_go>("stop", DFR_IOC_STOP);
		read_state();
		return started;
	}

	void read_state() {
		ask<dfr_ioc_status>("status", DFR_IOC_STATUS);
		for (uint32_t option = 0; option < 40; option++) {
			dfr_ioc_option io = with_size<dfr_ioc_option>();
			io.option = option;
			ask("option", DFR_IOC_OPTION, io);
		}
		into_buffer<dfr_ioc_catalog>("catalog", DFR_IOC_CATALOG);
		into_buffer<dfr_ioc_aggsnap>("aggsnap", DFR_IOC_AGGSNAP);
		blocks();
	}

	void lists() {
		into_buffer<dfr_ioc_states>("states", DFR_IOC_STATES);
		ask<dfr_ioc_info>("info", DFR_IOC_INFO);
	}

	template <typename T> void into_buffer(const char* where, unsigned long request) {
		static uint8_t buffer[1 << 20];
		T io = with_size<T>();
		io.buffer = reinterpret_cast<uintptr_t>(buffer);
		io.bytes = sizeof(buffer);
		if (!control(fd_, request, &io))
			look(where, buffer, std::min<uint64_t>(io.bytes, sizeof(buffer)));
		look(where, &io, sizeof(io));
	}

	void blocks() {
		dfr_ioc_taken taken[16]{};
		dfr_ioc_take take = with_size<dfr_ioc_take>();
		take.flags = DFR_TAKE_FLUSH;
		take.taken = reinterpret_cast<uintptr_t>(taken);
		take.count = 16;
		take.cpu = ~0u;
		const int error = control(fd_, DFR_IOC_TAKE, &take);
		look("take", &take, sizeof(take));
		look("taken", taken, sizeof(taken));
		for (uint32_t i = 0; !error && i < std::min(take.count, 16u); i++)
			block(taken[i]);
		dfr_ioc_release give = with_size<dfr_ioc_release>();
		give.count = take.count;
		give.taken = take.taken;
		if (!error && take.count)
			ask("release", DFR_IOC_RELEASE, give);
	}

	// All of its pages, also what no record has been written to.
	void block(const dfr_ioc_taken& taken) {
		void* p = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd_,
		               static_cast<off_t>(DFR_MAP_OFFSET(taken.cpu, taken.block)));
		if (p == MAP_FAILED)
			return;
		const uint64_t size = static_cast<const dfr_block*>(p)->size;
		munmap(p, 4096);
		p = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd_,
		         static_cast<off_t>(DFR_MAP_OFFSET(taken.cpu, taken.block)));
		if (p == MAP_FAILED)
			return;
		look("block", p, size);
		munmap(p, size);
	}

	void kernel_log() {
		char line[8192];
		ssize_t n;
		while ((n = read(log_, line, sizeof(line))) > 0 || (n < 0 && errno == EPIPE))
			if (n > 0)
				look("log", line, static_cast<size_t>(n));
	}

	void look(const char* where, const void* p, size_t n) {
		const auto* bytes = static_cast<const uint8_t*>(p);
		for (size_t at = 0; at + 8 <= n; at++) {
			uint64_t value;
			std::memcpy(&value, bytes + at, 8);
			judge(where, value);
		}
		for (size_t at = 0, digits; at < n; at += digits + 1) {
			for (digits = 0; at + digits < n && std::isxdigit(bytes[at + digits]);)
				digits++;
			if (digits >= 11 && digits <= 16)
				judge(where,
				      std::strtoull(std::string(bytes + at, bytes + at + digits).c_str(),
				                    nullptr, 16));
		}
	}

	void judge(const char* where, uint64_t value) {
		const Area* area = areas_.of(value);
		if (!area || memmem(dof_.data(), dof_.size(), &value, sizeof(value)))
			return;
		found_.insert(std::string(where) + " " + area->name);
		last_ = value;
	}

	const Areas& areas_;
	const std::vector<uint8_t>& dof_;
	int log_, fd_ = -1;
	std::set<std::string> found_;

public:
	uint64_t last_ = 0;
};

// What is found twice.
void try_one(const Areas& areas, int log, uint64_t seed, Counts& counts) {
	Numbers numbers(seed);
	const std::vector<uint8_t> dof = make_dof(numbers);
	const bool start = numbers.next() % 16 == 0; // it takes far longer
	Trial first(areas, dof, log);
	first.run(start, counts);
	if (first.found().empty())
		return;
	Counts again;
	Trial second(areas, dof, log);
	second.run(start, again);
	for (const std::string& what : first.found()) {
		if (!second.found().count(what))
			continue;
		if (counts.found++ < 100)
			std::printf("%llu %s %llx\n", static_cast<unsigned long long>(seed), what.c_str(),
			            static_cast<unsigned long long>(second.last_));
	}
}

// A process that has changed its ids cannot be looked into, so neither could the tracer.
void become_user() {
	if (setgroups(0, nullptr) || setgid(1000) || setuid(1000) || prctl(PR_SET_DUMPABLE, 1))
		die("cannot become user 1000");
}

} // namespace

int main(int argc, char** argv) {
	const long count = argc == 3 ? std::atol(argv[1]) : 0;
	if (count < 1) {
		std::fprintf(stderr, "usage: guest-leaks COUNT SEED\n");
		return 2;
	}
	const uint64_t seed = std::strtoull(argv[2], nullptr, 10);
	const Areas areas;
	const int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (log < 0 || lseek(log, 0, SEEK_END) < 0)
		die("/dev/kmsg");
	areas.print();
	become_user();
	Counts counts;
	for (long i = 0; i < count; i++)
		try_one(areas, log, seed + static_cast<uint64_t>(i), counts);
	std::printf("%ld tried, %u refused, %u loaded, %u started, %u found\n", count, counts.refused,
	            counts.loaded, counts.started, counts.found);
	return counts.found != 0;
}
