// SPDX-License-Identifier: GPL-2.0
//
// See grub.h.
#include "bootloader-hooks/boot/grub.h"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "bootloader-hooks/boot/archive.h"
#include "formats/error.h"

namespace dfr::boot {
namespace {

constexpr std::string_view kBegin = "### BEGIN dfr boot: `dfr boot disable` removes this block ###";
constexpr std::string_view kBeginOwn = "### BEGIN dfr boot: `dfr boot disable` removes this file ###";
constexpr std::string_view kEnd = "### END dfr boot ###\n";
constexpr size_t kEnvironmentSize = 1024;
constexpr const char* kEnvironmentHeader = "# GRUB Environment Block";
// A kernel that cannot go on starts the machine anew, so that GRUB counts it although nobody is there.
constexpr const char* kRestart = "panic=30";

std::vector<std::string> lines_of(const std::string& text) {
	std::vector<std::string> lines;
	std::istringstream stream(text);
	for (std::string line; std::getline(stream, line);)
		lines.push_back(line);
	return lines;
}

// Where a line's words end: before a comment, and the blanks that stand before that.
size_t code_end(const std::string& line) {
	char quote = 0;
	for (size_t i = 0; i < line.size(); i++) {
		const char c = line[i];
		if (c == '\\' && quote != '\'')
			i++;
		else if (quote ? c == quote : c == '\'' || c == '"')
			quote = quote ? '\0' : c;
		else if (c == '#' && !quote && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t'))
			return i == 0 ? 0 : line.find_last_not_of(" \t", i - 1) + 1;
	}
	return line.size();
}

std::vector<std::string> words_of(const std::string& line) {
	std::vector<std::string> words;
	std::istringstream stream(line.substr(0, code_end(line)));
	for (std::string word; stream >> word;)
		words.push_back(word);
	return words;
}

bool is_command(const std::vector<std::string>& words, std::string_view command) {
	return words.size() > 1 && (words[0] == command || words[0] == std::string(command) + "efi");
}

bool ends_with_kernel(const std::string& path, const std::string& release) {
	return path.ends_with("/vmlinuz-" + release) || path == "vmlinuz-" + release;
}

// Recovery and single-user entries boot less than the usual one.
bool is_special(const std::vector<std::string>& words) {
	return std::ranges::any_of(words, [](const std::string& word) {
		return word == "single" || word == "recovery" || word == "emergency" ||
		       word.starts_with("systemd.unit=");
	});
}

std::optional<GrubEntry> judge(std::vector<std::string> body, const std::string& release) {
	bool kernel = false;
	std::optional<std::string> folder;
	for (const std::string& line : body) {
		const std::vector<std::string> words = words_of(line);
		if (is_command(words, "linux"))
			kernel = ends_with_kernel(words[1], release) && !is_special(words);
		if (is_command(words, "initrd"))
			folder = words[1].substr(0, words[1].rfind('/') + 1); // no slash: no folder
	}
	if (!kernel || !folder)
		return std::nullopt;
	return GrubEntry{std::move(body), *folder, {}};
}

// The options of an entry's first line that say who may boot it. Words may be quoted.
std::string access_of(const std::string& head) {
	std::vector<std::string> words(1);
	char quote = 0;
	for (size_t i = 0; i < head.size(); i++) {
		const char c = head[i];
		if (c == '\\' && quote != '\'' && i + 1 < head.size()) {
			// 'Bob'\''s Linux': no quote begins there
			words.back().append(head, i++, 2);
			continue;
		}
		if (quote ? c == quote : c == '\'' || c == '"')
			quote = quote ? '\0' : c;
		if (!quote && (c == ' ' || c == '\t'))
			words.emplace_back();
		else
			words.back() += c;
	}
	std::string access;
	for (size_t i = 0; i < words.size(); i++) {
		if (words[i] == "--unrestricted" || words[i].starts_with("--users="))
			access += " " + words[i];
		else if (words[i] == "--users" && i + 1 < words.size())
			access += " --users " + words[i + 1];
	}
	return access;
}

// Lines that make GRUB remember the entry: what the user has chosen stays, and ours is never remembered.
bool remembers(const std::vector<std::string>& words) {
	return !words.empty() && (words[0] == "savedefault" || words[0] == "recordfail");
}

// The kernel's command line with our words. What stands behind "--" is for the first process, and no kernel reads it.
std::string with_our_words(const std::string& line) {
	const auto is_blank = [&line](size_t at) {
		return at >= line.size() || line[at] == ' ' || line[at] == '\t';
	};
	size_t end = line.find(" --");
	while (end != std::string::npos && !is_blank(end + 3))
		end = line.find(" --", end + 1);
	end = std::min(end, code_end(line));
	const std::vector<std::string> words = words_of(line.substr(0, end));
	const auto has = [&words](const char* key) {
		return std::ranges::any_of(words,
		                           [key](const std::string& word) { return word.starts_with(key); });
	};
	std::string ours = std::string(" ") + kFirstProcess;
	if (!has("panic="))
		ours += std::string(" ") + kRestart;
	if (!has("trace_event=") && !has("trace_clock=") && !has("ftrace="))
		ours += std::string(" ") + kKernelEvents;
	return line.substr(0, end) + ours + line.substr(end);
}

std::string indent_of(const std::string& line) {
	return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

// What decides before the menu is shown whether our entry is booted. The write comes first: where it fails, GRUB
// cannot count, and the entry is not chosen. A chosen entry that cannot be loaded falls back to the usual one. What
// grub-reboot chose for this one boot (boot_once of /etc/grub.d/00_header) is booted, and nothing is counted.
std::string choice(const std::string& id) {
	return "if [ -s $prefix/grubenv -a -z \"${boot_once}\" ]; then\n"
	       "  load_env dfr_armed dfr_tries\n"
	       "  if [ \"${dfr_armed}\" = once ]; then\n"
	       "    set dfr_armed=spent\n"
	       "    if save_env dfr_armed; then\n"
	       "      set fallback=\"${default}\"\n"
	       "      set default=" +
	       id +
	       "\n"
	       "    fi\n"
	       "  elif [ \"${dfr_armed}\" = always ]; then\n"
	       "    if [ \"${dfr_tries}\" = 2 ]; then\n"
	       "      set dfr_armed=failed\n"
	       "      save_env dfr_armed\n"
	       "    else\n"
	       "      if [ \"${dfr_tries}\" = 1 ]; then set dfr_tries=2; else set dfr_tries=1; fi\n"
	       "      if save_env dfr_tries; then\n"
	       "        set fallback=\"${default}\"\n"
	       "        set default=" +
	       id +
	       "\n"
	       "      fi\n"
	       "    fi\n"
	       "  fi\n"
	       "fi\n";
}

// Where our block begins: at the beginning of a line.
size_t block_at(const std::string& custom) {
	for (const std::string_view begin : {kBegin, kBeginOwn})
		for (size_t at = 0; (at = custom.find(begin, at)) != std::string::npos; at++)
			if (at == 0 || custom[at - 1] == '\n')
				return at;
	return std::string::npos;
}

} // namespace

std::optional<GrubEntry> find_grub_entry(const std::string& grub_cfg, const std::string& release) {
	const std::vector<std::string> lines = lines_of(grub_cfg);
	for (size_t i = 0; i < lines.size(); i++) {
		const std::vector<std::string> words = words_of(lines[i]);
		if (words.size() < 2 || words[0] != "menuentry" || words.back() != "{")
			continue;
		const std::string end = indent_of(lines[i]) + "}";
		const std::string access = access_of(lines[i]);
		std::vector<std::string> body;
		for (i++; i < lines.size() && lines[i] != end; i++)
			body.push_back(lines[i]);
		if (auto entry = judge(std::move(body), release)) {
			entry->access = access;
			return entry;
		}
	}
	return std::nullopt;
}

std::string own_first_process(const GrubEntry& entry) {
	for (const std::string& line : entry.body) {
		const std::vector<std::string> words = words_of(line);
		if (!is_command(words, "linux"))
			continue;
		const auto end = std::ranges::find(words, "--"); // what is behind it no kernel reads
		const auto own = std::find_if(words.begin(), end, [](const std::string& word) {
			return word.starts_with("rdinit=") && word != kFirstProcess;
		});
		if (own != end)
			return *own;
	}
	return {};
}

bool reads_custom(const std::string& grub_cfg) {
	const std::vector<std::string> lines = lines_of(grub_cfg);
	return std::ranges::any_of(lines, [](const std::string& line) {
		const std::vector<std::string> words = words_of(line);
		return words.size() == 2 && words[0] == "source" && words[1].ends_with("/custom.cfg");
	});
}

bool boots_newest(const std::string& grub_cfg, const std::string& saved_entry, const std::string& newest) {
	const std::vector<std::string> lines = lines_of(grub_cfg);
	const auto first = std::ranges::find_if(
	    lines, [](const std::string& line) { return is_command(words_of(line), "linux"); });
	if (first == lines.end() || !ends_with_kernel(words_of(*first)[1], newest))
		return false;
	return std::ranges::all_of(lines, [&saved_entry](const std::string& line) {
		const std::vector<std::string> words = words_of(line);
		if (words.size() < 2 || words[0] != "set" || !words[1].starts_with("default="))
			return true;
		if (words[1] == "default=\"${saved_entry}\"")
			return saved_entry.empty() || saved_entry == "0";
		return words.size() == 2 &&
		       (words[1] == "default=\"${next_entry}\"" || words[1] == "default=\"0\"");
	});
}

std::string grub_block(const GrubBlock& block, const GrubEntry& entry) {
	const std::string id = "dfr-" + block.name;
	std::string text = "menuentry 'Linux " + block.release + ", with boot trace (" + block.name +
	                   ")' --class gnu-linux --class os" + entry.access + " $menuentry_id_option " + id +
	                   " {\n";
	for (const std::string& line : entry.body) {
		const std::vector<std::string> words = words_of(line);
		if (remembers(words))
			continue;
		if (is_command(words, "linux"))
			text += with_our_words(line);
		else if (is_command(words, "initrd"))
			text += line.substr(0, code_end(line)) + " " + entry.initrd_folder + block.archive +
			        line.substr(code_end(line));
		else
			text += line;
		text += "\n";
	}
	return text + "}\n" + (block.may_default ? choice(id) : "");
}

std::string with_block(const std::optional<std::string>& before, const std::string& block) {
	const std::optional<std::string> rest = without_block(before);
	return std::string(rest ? kBegin : kBeginOwn) + "\n" + block + std::string(kEnd) + rest.value_or("");
}

bool has_block(const std::string& custom) {
	return block_at(custom) != std::string::npos;
}

bool has_block(const std::string& custom, const std::string& block) {
	const size_t at = block_at(custom);
	return at != std::string::npos &&
	       custom.substr(custom.find('\n', at) + 1).starts_with(block + std::string(kEnd));
}

std::optional<std::string> without_block(const std::optional<std::string>& custom) {
	if (!custom || !has_block(*custom))
		return custom;
	const size_t begin = block_at(*custom);
	const size_t end = custom->find(kEnd, begin);
	if (end == std::string::npos)
		throw Error("custom.cfg has the beginning of dfr's block and not its end",
		            "take the block out of it by hand, up to the entry that boots with the trace");
	// Somebody may have written into the file since, before our block or behind it.
	std::string rest = custom->substr(0, begin) + custom->substr(end + kEnd.size());
	if (rest.empty() && custom->starts_with(kBeginOwn))
		return std::nullopt;
	return rest;
}

GrubEnvironment::GrubEnvironment(const std::optional<std::string>& text) {
	lines_ = text ? lines_of(*text) : std::vector<std::string>{kEnvironmentHeader};
	if (lines_.empty() || lines_[0] != kEnvironmentHeader)
		throw Error("grubenv is no environment of GRUB", "make it anew with: grub-editenv create");
	// What fills it up to its size is one line without an end.
	if (lines_.size() > 1 && lines_.back().find_first_not_of('#') == std::string::npos)
		lines_.pop_back();
}

std::string GrubEnvironment::get(const std::string& name) const {
	for (const std::string& line : lines_)
		if (line.starts_with(name + "="))
			return line.substr(name.size() + 1);
	return {};
}

void GrubEnvironment::set(const std::string& name, const std::string& value) {
	for (std::string& line : lines_)
		if (line.starts_with(name + "=")) {
			line = name + "=" + value;
			return;
		}
	lines_.push_back(name + "=" + value);
}

void GrubEnvironment::unset(const std::string& name) {
	std::erase_if(lines_, [&name](const std::string& line) { return line.starts_with(name + "="); });
}

bool GrubEnvironment::empty() const {
	return std::ranges::all_of(lines_, [](const std::string& line) { return line.starts_with("#"); });
}

std::string GrubEnvironment::text() const {
	std::string text;
	for (const std::string& line : lines_)
		text += line + "\n";
	if (text.size() > kEnvironmentSize)
		throw Error("grubenv has no room for dfr's variables",
		            "unset others with: grub-editenv - unset NAME");
	text.resize(kEnvironmentSize, '#');
	return text;
}

} // namespace dfr::boot
