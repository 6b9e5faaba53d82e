// SPDX-License-Identifier: GPL-2.0
//
// The reasons, the most specific first, and the search for direct calls.
#include "recorder/unprobed.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <fstream>
#include <unistd.h>

namespace dfr::recorder {
namespace {

class TextFile {
public:
	explicit TextFile(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
	~TextFile() {
		if (fd_ >= 0)
			::close(fd_);
	}
	TextFile(const TextFile&) = delete;
	TextFile& operator=(const TextFile&) = delete;

	// Returns how many bytes were read: fewer at the end of the file or after an error.
	size_t read(void* to, size_t size, uint64_t offset) const {
		size_t done = 0;
		while (fd_ >= 0 && done < size) {
			const ssize_t got = ::pread(fd_, static_cast<char*>(to) + done, size - done,
			                            static_cast<off_t>(offset + done));
			if (got <= 0)
				break;
			done += static_cast<size_t>(got);
		}
		return done;
	}

private:
	int fd_;
};

constexpr size_t kSegmentsMax = 4096;

bool is_function(const types::Symbol& symbol) {
	return symbol.type && std::strchr("tTwW", symbol.type);
}

// x86-64's near call and jump: an opcode byte, then the distance from the next instruction to the target.
constexpr uint8_t kCall = 0xe8, kJump = 0xe9;
constexpr size_t kBranchSize = 5;
// With indirect branch tracking a function begins with ENDBR (4 bytes), which direct calls may skip.
constexpr uint64_t kLandingPad = 4;

bool branches_to(const uint8_t* at, uint64_t address, uint64_t target) {
	if (*at != kCall && *at != kJump)
		return false;
	int32_t distance;
	std::memcpy(&distance, at + 1, sizeof distance);
	const uint64_t to = address + kBranchSize + static_cast<uint64_t>(int64_t{distance});
	return to == target || to == target + kLandingPad;
}

} // namespace

std::vector<uint8_t> kernel_text(const std::string& kcore, uint64_t address, size_t size) {
	const TextFile file(kcore);
	Elf64_Ehdr head;
	if (file.read(&head, sizeof head, 0) != sizeof head ||
	    std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_phentsize != sizeof(Elf64_Phdr) ||
	    head.e_phnum > kSegmentsMax)
		return {};
	std::vector<Elf64_Phdr> segments(head.e_phnum);
	segments.resize(file.read(segments.data(), segments.size() * sizeof(Elf64_Phdr), head.e_phoff) /
	                sizeof(Elf64_Phdr));
	for (const Elf64_Phdr& segment : segments) {
		if (segment.p_type != PT_LOAD || address < segment.p_vaddr ||
		    address - segment.p_vaddr >= segment.p_filesz)
			continue;
		const uint64_t into = address - segment.p_vaddr;
		std::vector<uint8_t> bytes(std::min<uint64_t>(size, segment.p_filesz - into));
		bytes.resize(file.read(bytes.data(), bytes.size(), segment.p_offset + into));
		return bytes;
	}
	return {};
}

Unprobed::Unprobed(const types::Symbols& symbols, UnprobedSources sources)
    : symbols_(symbols), sources_(std::move(sources)) {}

void Unprobed::load() {
	if (loaded_)
		return;
	loaded_ = true;
	std::string line;
	std::ifstream functions(sources_.tracing + "/available_filter_functions");
	while (std::getline(functions, line))
		traceable_.push_back(line.substr(0, line.find_first_of(" \t"))); // " [module]" may follow
	std::sort(traceable_.begin(), traceable_.end());
	std::ifstream blacklist(sources_.blacklist);
	while (std::getline(blacklist, line))
		forbidden_.insert(line.substr(std::min(line.find('\t') + 1, line.size())));
	if (const auto begin = symbols_.find("__init_begin"))
		init_begin_ = begin->address;
	if (const auto end = symbols_.find("__init_end"))
		init_end_ = end->address;
	if (const auto begin = symbols_.find("_sdata"))
		data_begin_ = begin->address;
	if (const auto end = symbols_.find("_edata"))
		data_end_ = end->address;
}

// "f.isra.0, f.part.0": the copies that the compiler made of a function under other names.
std::string Unprobed::copies_of(const std::string& function) const {
	std::string copies;
	const std::string prefix = function + ".";
	for (auto at = std::lower_bound(traceable_.begin(), traceable_.end(), prefix);
	     at != traceable_.end() && at->starts_with(prefix); ++at)
		copies += (copies.empty() ? "" : ", ") + *at;
	return copies;
}

std::string Unprobed::why(const std::string& function) {
	load();
	const auto symbol = symbols_.find(function);
	if (!symbol) {
		const std::string copies = copies_of(function);
		if (!copies.empty())
			return "the compiler replaced it by variants: " + copies +
			       " (arguments may be missing there)";
		return "the kernel has no such function, or has it inlined into all of its callers";
	}
	// Newer kernels give the letters of functions to variables, too.
	if (!is_function(*symbol) ||
	    (symbol->address && symbol->address >= data_begin_ && symbol->address < data_end_))
		return "it is a variable, not a function";
	if (symbol->address && symbol->address >= init_begin_ && symbol->address < init_end_)
		return "it is in .init.text: it ran while the kernel booted, and is gone";
	if (forbidden_.contains(function))
		return "the kernel forbids probes in it, because a trap there would recurse without end "
		       "(noinstr, __kprobes)";
	if (traceable_.empty())
		return "the reason is not known, because " + sources_.tracing +
		       "/available_filter_functions cannot be read";
	if (!std::binary_search(traceable_.begin(), traceable_.end(), function))
		return "it has no ftrace site (notrace, or assembly); kinst::" + function + ":0 may do";
	return "the code that patches the kernel's text calls it, or a CPU that is gone already, so fbt does "
	       "not "
	       "probe it";
}

std::vector<std::string> Unprobed::callers(const std::string& function, size_t most) {
	load();
	std::vector<std::string> names;
	const auto target = symbols_.find(function);
	const auto begin = symbols_.find("_stext"), end = symbols_.find("_etext");
	if (!target || !is_function(*target) || !begin || !end || end->address <= begin->address)
		return names;
	const std::vector<uint8_t> text =
	    kernel_text(sources_.kcore, begin->address, end->address - begin->address);
	for (size_t at = 0; at + kBranchSize <= text.size() && names.size() < most; at++) {
		if (!branches_to(text.data() + at, begin->address + at, target->address))
			continue;
		const auto caller = symbols_.find(begin->address + at);
		if (!caller)
			continue;
		std::string name(caller->name);
		if (name != function && std::binary_search(traceable_.begin(), traceable_.end(), name) &&
		    std::find(names.begin(), names.end(), name) == names.end())
			names.push_back(std::move(name));
	}
	return names;
}

std::string Unprobed::explain(const std::string& function) {
	constexpr size_t kCallersShown = 4;
	std::string text = function + " cannot be probed: " + why(function);
	const auto names = callers(function, kCallersShown + 1);
	for (size_t i = 0; i < std::min(names.size(), kCallersShown); i++)
		text += (i == 0 ? "; it is called by " : ", ") + names[i];
	if (names.size() > kCallersShown)
		text += " and others";
	return text;
}

} // namespace dfr::recorder
