// SPDX-License-Identifier: GPL-2.0
//
// The tables, all of which any image may forge: n addresses as 32-bit distances, and n
// names of tokens, each with its length before it. They count if each name is whole,
// the addresses ascend, and "_stext" stands where VMCOREINFO says. Types lie between two
// of the symbols. The kernel's own image is one piece of memory, all else is mapped by pages.
#include "recorder/dead_kernel.h"

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <set>

#include "formats/error.h"
#include "formats/types/kernel_types.h"

namespace dfr::recorder {
namespace {

// From here the kernel's own code and data are mapped, at the most 1 GiB; VMCOREINFO may say less, and modules begin there.
constexpr uint64_t kImage = 0xffffffff80000000, kImageSize = 1ull << 30;
constexpr uint32_t kSymbolsMost = 1 << 20;
constexpr uint64_t kNamesMost = 16 << 20;
constexpr uint64_t kNameMost = 1024; // twice what the kernel allows
constexpr uint64_t kBtfMost = 32 << 20;
// Of an entry of a page table: it is one, what it maps is no table, and where that is.
constexpr uint64_t kPresent = 1, kLarge = 1 << 7, kFrame = 0x000ffffffffff000;
constexpr unsigned kTableBits = 9, kPageBits = 12, kLargestBits = 30;
constexpr size_t kMarked = 256;
constexpr std::ptrdiff_t kAliasesMost = 256; // of one address; ten are the most that was seen
// Characters of names, the ones that are passed over too: some seconds. A million addresses take about as many.
constexpr uint64_t kDecodedMost = uint64_t{4} << 30;
constexpr uint64_t kAllNamesMost = 64 << 20; // characters of a kernel's table; Debian's have 4 million
constexpr size_t kTokens = 256, kTokenTableMost = 64 << 10;
constexpr size_t kTriesMost = 64; // of pages that begin like VMCOREINFO and say where the kernel lies

} // namespace

struct DeadKernel::Vmcoreinfo {
	std::string release;
	std::map<std::string, uint64_t, std::less<>> symbols; // by name
	uint64_t physical = 0;                                // added to an address's distance from kImage
	uint64_t image_size = kImageSize;
	uint64_t encrypted = 0;   // the bit of an entry that says so (SME, SEV), and is not of its address
	bool five_levels = false; // of page tables

	static std::optional<Vmcoreinfo> parse(std::string_view text);
};

// KEY=VALUE lines; SYMBOL(name)=hexadecimal, NUMBER(name)=decimal.
std::optional<DeadKernel::Vmcoreinfo> DeadKernel::Vmcoreinfo::parse(std::string_view text) {
	Vmcoreinfo info;
	bool placed = false;
	text = text.substr(0, text.find('\0'));
	while (!text.empty()) {
		const std::string_view line = text.substr(0, text.find('\n'));
		text.remove_prefix(std::min(line.size() + 1, text.size()));
		const size_t equals = line.find('=');
		if (equals == line.npos)
			continue;
		const std::string_view key = line.substr(0, equals), value = line.substr(equals + 1);
		if (key == "OSRELEASE") {
			info.release = value;
		} else if (key == "NUMBER(phys_base)") {
			int64_t number = 0;
			placed = std::from_chars(value.begin(), value.end(), number).ptr == value.end();
			info.physical = static_cast<uint64_t>(number);
		} else if (key == "NUMBER(KERNEL_IMAGE_SIZE)") {
			uint64_t number = 0;
			std::from_chars(value.begin(), value.end(), number);
			if (number && number <= kImageSize)
				info.image_size = number;
		} else if (key == "NUMBER(sme_mask)") {
			int64_t number = 0; // as the kernel prints it, with its sign
			std::from_chars(value.begin(), value.end(), number);
			info.encrypted = static_cast<uint64_t>(number);
		} else if (key == "NUMBER(pgtable_l5_enabled)") {
			info.five_levels = value == "1";
		} else if (key.starts_with("SYMBOL(") && key.ends_with(")")) {
			uint64_t number = 0;
			if (std::from_chars(value.begin(), value.end(), number, 16).ptr == value.end())
				info.symbols.emplace(key.substr(7, key.size() - 8), number);
		}
	}
	return placed ? std::optional(std::move(info)) : std::nullopt;
}

// Reads the dead kernel's own image by its symbols.
class DeadKernel::Reader {
public:
	Reader(const PhysicalMemory& memory, Vmcoreinfo info, int64_t displacement)
	    : memory_(memory), info_(std::move(info)), displacement_(displacement) {}

	// 0: VMCOREINFO does not have it, or not inside the kernel's image.
	uint64_t address(std::string_view symbol) const {
		const auto found = info_.symbols.find(symbol);
		if (found == info_.symbols.end() || found->second < kImage || found->second >= image_end())
			return 0;
		return found->second;
	}
	uint64_t image_end() const { return kImage + info_.image_size; }
	bool read(uint64_t from, std::span<std::byte> into) const {
		return from >= kImage && from < image_end() && into.size() <= image_end() - from &&
		       memory_.read(from - kImage + info_.physical, into, displacement_);
	}
	bool read(std::string_view symbol, std::span<std::byte> into) const {
		return read(address(symbol), into);
	}
	template <typename T> bool read_number(std::string_view symbol, T& into) const {
		return read(symbol, std::as_writable_bytes(std::span(&into, 1)));
	}

	// What is not in the kernel's image.
	bool read_mapped(uint64_t from, std::span<std::byte> into) const {
		while (!into.empty()) {
			const size_t piece = std::min<size_t>(into.size(), kPage - from % kPage);
			const std::optional<uint64_t> at = mapped(from);
			if (!at || !memory_.read(*at, into.first(piece), displacement_))
				return false;
			into = into.subspan(piece);
			from += piece;
		}
		return true;
	}

private:
	// Where an address is in physical memory.
	std::optional<uint64_t> mapped(uint64_t from) const {
		const uint64_t first = address("swapper_pg_dir");
		if (!first)
			return std::nullopt;
		uint64_t entry = first - kImage + info_.physical;
		for (unsigned bits = kPageBits + (info_.five_levels ? 4 : 3) * kTableBits;;
		     bits -= kTableBits) {
			const uint64_t at = (entry & kFrame) + 8 * (from >> bits & ((1 << kTableBits) - 1));
			if (!memory_.read(at, std::as_writable_bytes(std::span(&entry, 1)), displacement_) ||
			    !(entry & kPresent))
				return std::nullopt;
			entry &= ~info_.encrypted;
			if (bits == kPageBits || (bits <= kLargestBits && (entry & kLarge))) {
				const uint64_t within = (1ull << bits) - 1;
				return (entry & kFrame & ~within) | (from & within);
			}
		}
	}

	const PhysicalMemory& memory_;
	Vmcoreinfo info_;
	int64_t displacement_;
};

bool DeadKernel::read(std::shared_ptr<const Reader> from) {
	reader_ = std::move(from);
	const Reader& reader = *reader_;
	uint64_t base = 0;
	if (!read_names(reader) || !reader.read_number("kallsyms_relative_base", base))
		return false;
	std::vector<int32_t> offsets(addresses_.size());
	if (!reader.read("kallsyms_offsets", std::as_writable_bytes(std::span(offsets))))
		return false;
	// Kernels before 6.15 have the distances of what is not for each CPU as negative numbers.
	for (const bool per_cpu : {true, false}) {
		const uint64_t start = reader.address("_stext");
		if (!take_addresses(offsets, base, per_cpu))
			continue;
		const auto [first, last] = std::equal_range(addresses_.begin(), addresses_.end(), start);
		if (first == last || last - first > kAliasesMost)
			continue;
		if (lines(static_cast<size_t>(first - addresses_.begin()),
		          static_cast<size_t>(last - addresses_.begin()))
		        .find(" _stext\n") != std::string::npos)
			return true;
	}
	return false;
}

// False: a name is not whole. Makes room for as many addresses as there are names.
bool DeadKernel::read_names(const Reader& reader) {
	uint32_t symbols = 0;
	// Each of these lies somewhere behind the one before.
	const uint64_t names = reader.address("kallsyms_names"),
	               tokens = reader.address("kallsyms_token_table"),
	               behind = reader.address("kallsyms_token_index");
	if (!reader.read_number("kallsyms_num_syms", symbols) || !symbols || symbols > kSymbolsMost ||
	    !names || tokens <= names || tokens - names > kNamesMost || behind <= tokens ||
	    behind - tokens > kTokenTableMost)
		return false;
	std::vector<char> table(behind - tokens);
	std::vector<uint16_t> index(kTokens);
	names_.resize(tokens - names);
	if (!reader.read("kallsyms_names", names_) ||
	    !reader.read("kallsyms_token_table", std::as_writable_bytes(std::span(table))) ||
	    !reader.read("kallsyms_token_index", std::as_writable_bytes(std::span(index))))
		return false;
	table.back() = '\0'; // each token ends inside of it
	for (const uint16_t at : index)
		tokens_.emplace_back(at < table.size() ? &table[at] : "");
	size_t at = 0;
	for (uint32_t i = 0; i < symbols; i++) {
		if (i % kMarked == 0)
			marks_.push_back(at);
		if (!name(at) || decoded_ > kAllNamesMost)
			return false;
	}
	names_.resize(at);
	addresses_.resize(symbols);
	return true;
}

bool DeadKernel::take_addresses(const std::vector<int32_t>& offsets, uint64_t base, bool per_cpu) {
	for (size_t i = 0; i < offsets.size(); i++) {
		const int64_t offset = offsets[i];
		addresses_[i] = !per_cpu     ? base + static_cast<uint32_t>(offset)
		                : offset < 0 ? base - 1 - static_cast<uint64_t>(offset)
		                             : static_cast<uint64_t>(offset);
	}
	return std::ranges::is_sorted(addresses_);
}

std::optional<std::string> DeadKernel::name(size_t& at) const {
	size_t length = 0;
	// A length above 127 has two bytes, seven bits in the first.
	if (at < names_.size()) {
		length = static_cast<size_t>(names_[at++]);
		if (length & 0x80) {
			if (at >= names_.size())
				return std::nullopt;
			length = (length & 0x7f) | static_cast<size_t>(names_[at++]) << 7;
		}
	}
	if (!length || length > names_.size() - at)
		return std::nullopt;
	std::string text;
	for (const size_t end = at + length; at < end; at++) {
		text += tokens_[static_cast<size_t>(names_[at])];
		if (text.size() > kNameMost)
			return std::nullopt;
	}
	decoded_ += text.size();
	return text.size() < 2 || text.find_first_of(" \t\n") != text.npos ? std::nullopt
	                                                                   : std::optional(text);
}

// The symbols from `first` to before `last`, as /proc/kallsyms has them.
std::string DeadKernel::lines(size_t first, size_t last) const {
	size_t at = marks_[first / kMarked];
	for (size_t before = first % kMarked; before; before--)
		name(at);
	std::string all;
	for (size_t symbol = first; symbol < last; symbol++) {
		const std::string text = *name(at);
		char address[17];
		std::snprintf(address, sizeof(address), "%016" PRIx64, addresses_[symbol]);
		all += std::string(address) + " " + text[0] + " " + text.substr(1) + "\n";
	}
	return all;
}

// The same choice among the names of one address as on a machine that lives.
std::optional<KernelPlace> DeadKernel::kernel_place(uint64_t address, uint64_t) {
	if (address >= reader_->image_end())
		return module_place(address);
	const auto next = std::ranges::upper_bound(addresses_, address);
	if (address < kImage || next == addresses_.begin() || next == addresses_.end())
		return std::nullopt;
	const uint64_t start = *std::prev(next);
	if (!asked_ || asked_start_ != start) {
		const auto first = std::ranges::lower_bound(addresses_, start);
		if (next - first > kAliasesMost || decoded_ > kDecodedMost)
			return std::nullopt;
		const std::string text = lines(static_cast<size_t>(first - addresses_.begin()),
		                               static_cast<size_t>(next - addresses_.begin()) + 1);
		asked_ =
		    types::Symbols::from_kallsyms_text(types::Blob::from_bytes({text.begin(), text.end()}));
		asked_start_ = start;
	}
	const std::optional<types::Symbol> symbol = asked_->find(address);
	return symbol ? std::optional(KernelPlace{.symbol = *symbol}) : std::nullopt;
}

// Of no module is known since when it was there: what an address held last counts.
std::optional<KernelPlace> DeadKernel::module_place(uint64_t where) {
	if (!modules_)
		modules_ = find_modules();
	const std::optional<types::Symbol> symbol = modules_->find(where);
	return symbol ? std::optional(KernelPlace{.symbol = *symbol}) : std::nullopt;
}

// None, if the types are damaged or not there.
DeadModules DeadKernel::find_modules() {
	const DeadModules::Read read = [reader = reader_](uint64_t from, std::span<std::byte> into) {
		return reader->read(from, into) || reader->read_mapped(from, into);
	};
	try {
		if (types::KernelTypes* const known = types())
			return {read, address("modules"), *known};
	} catch (const Error&) {
		// Types that are damaged.
	}
	return {};
}

uint64_t DeadKernel::address(std::string_view symbol) const {
	for (size_t i = 0, at = 0; i < addresses_.size(); i++)
		if (name(at)->substr(1) == symbol)
			return addresses_[i];
	return 0;
}

// From where the module has the id that anchors bear (kmod/linux/platform.c).
std::optional<BootId> DeadKernel::boot() const {
	BootId id{};
	const uint64_t at = address("sysctl_bootid");
	return at && reader_->read(at, std::as_writable_bytes(std::span(id))) ? std::optional(id)
	                                                                      : std::nullopt;
}

bool DeadKernel::is_equal(const DeadKernel& other) const {
	return addresses_ == other.addresses_ && names_ == other.names_;
}

std::vector<std::byte> DeadKernel::read_types() const {
	const uint64_t from = address("__start_BTF"), to = address("__stop_BTF");
	if (from >= to || to - from > kBtfMost)
		return {};
	std::vector<std::byte> types(to - from);
	return reader_->read(from, types) ? types : std::vector<std::byte>{};
}

types::KernelTypes* DeadKernel::types() {
	if (!types_) {
		types_.emplace(); // once, whatever comes of it
		std::map<std::string, std::vector<std::byte>> btf;
		btf.emplace("vmlinux", read_types()); // some MiB, in a crash kernel
		try {
			*types_ = types::KernelTypes::from_bytes(btf, "the image");
		} catch (const Error&) {
			// None, or no BTF.
		}
	}
	return types_->get();
}

struct DeadKernels::Candidate {
	DeadKernel::Vmcoreinfo info;
	int64_t displacement = 0;
	std::optional<BootId> boot;
};

DeadKernels::DeadKernels(std::shared_ptr<const PhysicalMemory> memory, std::span<const uint64_t> pages,
                         std::span<const int64_t> displacements)
    : memory_(std::move(memory)) {
	if (pages.size() > kVmcoreinfoMost)
		return;
	std::set<std::pair<std::string, int64_t>> tried;
	for (const int64_t displacement : displacements) {
		for (const uint64_t page : pages) {
			std::string text(kPage, '\0');
			if (!memory_->read(page + static_cast<uint64_t>(displacement),
			                   std::as_writable_bytes(std::span(text)), displacement))
				continue;
			std::optional<DeadKernel::Vmcoreinfo> info = DeadKernel::Vmcoreinfo::parse(text);
			if (!info || !tried.emplace(text, displacement).second)
				continue;
			if (tried.size() > kTriesMost) {
				candidates_.clear();
				return;
			}
			candidates_.push_back({std::move(*info), displacement, {}});
		}
	}
	std::erase_if(candidates_, [this](Candidate& candidate) {
		const std::unique_ptr<DeadKernel> kernel = read(candidate);
		if (kernel && (candidate.boot = kernel->boot()))
			boots_.insert(*candidate.boot);
		return !kernel;
	});
}

DeadKernels::~DeadKernels() = default;

// Null: its tables are not whole.
std::unique_ptr<DeadKernel> DeadKernels::read(const Candidate& candidate) const {
	std::unique_ptr<DeadKernel> kernel(new DeadKernel);
	const bool whole = kernel->read(
	    std::make_shared<DeadKernel::Reader>(*memory_, candidate.info, candidate.displacement));
	return whole ? std::move(kernel) : nullptr;
}

std::unique_ptr<DeadKernel> DeadKernels::find(const BootId& boot, const std::string& release,
                                              bool likeliest) const {
	const bool known = boots_.contains(boot);
	std::unique_ptr<DeadKernel> found;
	for (const Candidate& candidate : candidates_) {
		const bool fits = known ? candidate.boot == boot : likeliest && !candidate.boot;
		if (!fits || candidate.info.release != release)
			continue;
		std::unique_ptr<DeadKernel> kernel = read(candidate);
		if (found && kernel && !found->is_equal(*kernel))
			return nullptr;
		if (kernel)
			found = std::move(kernel);
	}
	return found;
}

DeadKernel* DeadKernels::of(const BootId& boot, const std::string& release, bool likeliest) {
	const std::tuple question(boot, release, likeliest);
	if (asked_ != question) {
		answer_.reset(); // before there is another one
		answer_ = find(boot, release, likeliest);
		asked_ = question;
	}
	return answer_.get();
}

} // namespace dfr::recorder
