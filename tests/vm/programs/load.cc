// SPDX-License-Identifier: GPL-2.0
//
// Guest program: programs that are hard to load, or that ask the loader for what
// they must not have.
//
//   guest-load long            one that takes the kernel long, again and again: prints "loading", then why it was
//                              refused
//   guest-load digests N       one with so many digests of types
//   guest-load echo            one whose names lie where addresses are written: prints the reason,
//                              what does not print in it as hexadecimal numbers
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <set>
#include <sys/ioctl.h>
#include <unistd.h>

#include "formats/abi/control.h"
#include "tests/unit/dof_builder.h"

using namespace dfr::test;

namespace {

// The last functions that the kernel itself has, each once: where names are looked up one by one it takes longest.
std::set<std::string> functions(size_t most) {
	std::ifstream file("/proc/kallsyms");
	std::string address, type, name, rest;
	std::vector<std::string> all;
	while (file >> address >> type >> name && std::getline(file, rest))
		if ((type == "T" || type == "t") && rest.empty() && name.size() < 60)
			all.push_back(name);
	return {all.end() - static_cast<long>(std::min(most, all.size())), all.end()};
}

// Several bounds of the loader's are nearly reached: symbols, expressions, names.
DofBuilder long_one() {
	DofBuilder dof;
	dof.trace(Code().setx(0, 1).ret(1)); // 1 DIF, 2 INTTAB, 3 STRTAB, 4 DIFOHDR, 5 PROBEDESC
	std::vector<dof_relodesc> entries;
	for (const std::string& name : functions(4000))
		entries.push_back({dof.string(name), DOF_RELO_SETX, 0, 0});
	const uint32_t table = dof.table(DOF_SECT_RELTAB, 8, entries);
	dof.table(DOF_SECT_KRELHDR, 4, std::vector<dof_relohdr>{{0, table, 2}});
	const uint32_t text =
	    dof.table(DOF_SECT_DIF, 4, Code().wide(DIF_OP_LDGS, DIF_VAR_PID, 1).ret(1).text);
	const uint32_t format = dof.string(std::string(16000, 'x'));
	const uint32_t name = dof.string("%d");
	const uint32_t header = dof.difo_header(kInt64, {text});
	for (int k = 0; k < 3; k++) {
		std::vector<Act> acts;
		for (int i = 0; i < 16000; i++)
			acts.push_back({DFR_ACT_PRINTF,
			                dof.alias(DOF_SECT_DIFOHDR, 4, header, 0, sizeof(dif_type) + 4), 0,
			                k ? name : format, 0x100, 0});
		dof.ecb(5, kNone, dof.actions(acts));
	}
	dof.option(DFR_OPT_JIT, 0); // the kernel would take longer still to free native code
	return dof;
}

DofBuilder digests(unsigned n) {
	DofBuilder dof;
	dof.trace(Code().ret(0));
	for (unsigned i = 0; i < n; i++)
		dof.table(DOF_SECT_BTFID, 8, std::vector<dof_btfid>{{1, 0, 0}});
	return dof;
}

// The name of the second relocation begins where the address of the first one's symbol is written.
DofBuilder echo() {
	DofBuilder dof;
	const uint32_t ints = dof.table(DOF_SECT_INTTAB, 8, std::vector<uint64_t>{0, 0});
	const uint32_t names = dof.alias(DOF_SECT_STRTAB, 1, ints, 0, 16);
	const uint32_t first = dof.table(
	    DOF_SECT_RELTAB, 8, std::vector<dof_relodesc>{{dof.string("commit_creds"), DOF_RELO_SETX, 0, 0}});
	const uint32_t second =
	    dof.table(DOF_SECT_RELTAB, 8, std::vector<dof_relodesc>{{0, DOF_RELO_SETX, 8, 0}});
	dof.table(DOF_SECT_KRELHDR, 4, std::vector<dof_relohdr>{{0, first, ints}});
	dof.table(DOF_SECT_KRELHDR, 4, std::vector<dof_relohdr>{{names, second, ints}});
	return dof;
}

void print_reason(const char* reason) {
	for (; *reason; reason++) {
		if (*reason >= ' ' && *reason <= '~')
			std::putchar(*reason);
		else
			std::printf("<%02x>", static_cast<unsigned char>(*reason));
	}
	std::putchar('\n');
}

int load(DofBuilder dof, bool silent = false) {
	const std::vector<uint8_t> bytes = dof.bytes();
	dfr_ioc_enable io{};
	const int fd = open(DFR_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		std::perror(DFR_DEVICE);
		return 2;
	}
	io.size = sizeof(io);
	io.flags = DFR_ENABLE_ZERO_OK;
	io.dof = reinterpret_cast<uintptr_t>(bytes.data());
	io.dof_size = bytes.size();
	if (!ioctl(fd, DFR_IOC_ENABLE, &io)) {
		close(fd);
		return !silent && std::puts("loaded") < 0;
	}
	std::printf("%s: ", std::strerror(errno));
	print_reason(io.reason);
	return silent;
}

} // namespace

int main(int argc, char** argv) {
	const std::string what = argc > 1 ? argv[1] : "";

	if (what == "digests" && argc == 3)
		return load(digests(static_cast<unsigned>(std::atoi(argv[2]))));
	if (what == "echo")
		return load(echo());
	if (what == "long") {
		DofBuilder dof = long_one();
		std::puts("loading");
		std::fflush(stdout);
		while (!load(dof, true))
			;
		return 1;
	}
	std::fprintf(stderr, "usage: see the top of tests/vm/programs/load.cc\n");
	return 2;
}
