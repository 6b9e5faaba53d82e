// SPDX-License-Identifier: GPL-2.0
//
// Texts of others in what people read: characters that a terminal obeys, and ends of lines, are escaped, in the
// functions that do it and in what every command of dfr says of a recording whose texts are full of them. What a D
// program prints is as it was recorded: formats/d/LANGUAGE.md, section 9.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

#include "analyze/libdfr/json.h"
#include "formats/shown.h"
#include "tests/unit/harmed_file.h"

namespace shown_test {

using namespace dfr;
using namespace dfr::test;

// NOLINTBEGIN(misc-misleading-bidirectional): such characters are what is to be escaped
TEST_CASE("what is not printed is escaped, and what is stays", "[shown]") {
	const auto check = [](std::string_view text, std::string_view expected) {
		CHECK(harmless(text) == expected);
		CHECK(std::string(shown(text)) == expected);
		CHECK(harmless(expected) == expected); // twice is once
	};
	check("", "");
	check("plain 'text' with \\ and \"", "plain 'text' with \\ and \"");
	check("h\xc3\xa4user \xe2\x82\xac \xf0\x9f\x90\xa7", "h\xc3\xa4user \xe2\x82\xac \xf0\x9f\x90\xa7");
	check("\x1b[2J\r\n\t\x7f", "\\x1b[2J\\x0d\\x0a\\x09\\x7f");
	check(std::string_view("a\0b", 3), "a\\x00b");
	check("\xc2\x9b"
	      "31m",
	      "\\xc2\\x9b31m"); // a control by two bytes
	check("\xe2\x80\xae right \xe2\x81\xa6", "\\xe2\\x80\\xae right \\xe2\\x81\\xa6"); // turns direction
	check("\x9b"
	      "31m \xff \xc3",
	      "\\x9b31m \\xff \\xc3");                                         // no UTF-8
	check("\xe0\x80\x9b \xed\xa0\x80", "\\xe0\\x80\\x9b \\xed\\xa0\\x80"); // overlong, a surrogate
	check("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");                     // beyond Unicode
	CHECK(lib::json_text("\x1b\xc2\x9b\xe2\x80\xae\xff\xc3\xa4\"") ==
	      "\"\\u001b\\u009b\\u202e\\ufffd\xc3\xa4\\\"\"");
}

namespace {

// Colours, goes back in its line, goes on in a line of its own, and more.
const std::string kBad = "a\x1b[31mb\rc\nFORGED\t\xc2\x9b"
                         "1m\x9b\xe2\x80\xae"
                         "d'e";

std::string bad(const std::string& name) {
	return name + kBad;
}

// A recording in which every text is full of what a terminal obeys.
void write_hostile(const std::string& path) {
	App app;
	load(app, "app::work:entry { capture(arg0); stack(); @a[execname] = count(); }"
	          "app::work:return { @b = count(); }");
	for (unsigned i = 0; i < 100; i++) {
		app.fire(app.entry, kStart + i * 1000, i % 4, 100, "alpha", i, i);
		app.fire(app.exit, kStart + i * 1000 + 500, i % 4, 100, "alpha", i, i);
	}
	finish(app);
	Kept kept(app);
	trace::Catalog& catalog = kept.identity();
	for (const char* const key : {"redacted", "kept", "host", "machineid", "bootid", "release", "machine",
	                              "clocksource", "cmdline", "jit", "engine"})
		catalog.machine[key] = bad(key);
	catalog.machine[bad("key")] = bad("value");
	catalog.state_name = bad("state");
	catalog.boot_id = {1};
	catalog.clocks = {{.mono = kStart, .real = kStart + 5, .boot = kStart}};
	for (auto& [id, probe] : catalog.probes)
		for (std::string* const text : {&probe.provider, &probe.module, &probe.function, &probe.name})
			*text = bad(*text);
	catalog.sources = {bad("app::work:entry { }\n")};
	catalog.modules = {{.name = bad("module"), .time = kStart, .base = 4096, .bytes = 4096}};
	catalog.events = {
	    {.event = DFR_EVENT_MARK, .time = kStart, .text = bad("mark")},
	    {.event = DFR_EVENT_UNARMED, .value = 4, .time = kStart, .error = ENOMEM, .text = ""},
	    {.event = DFR_EVENT_UNARMED, .time = kStart, .error = ENOMEM, .text = bad("unarmed")}};
	trace::FileWriter writer(path, true, [&]() -> const trace::Catalog& { return kept.catalog(); });
	while (const auto block = kept.next())
		writer.block(*block);
	writer.aggregations(kept.aggregations());
	trace::KnownNames names;
	names.add_kernel(0, UINT64_MAX, 0, bad("vmlinux"), bad("function"));
	names.add_mapping(
	    {.pid = 10, .file = names.add_file(bad("/opt/program"), "aabb"), .start = 4096, .end = 8192});
	writer.names(names.fresh());
	class Remarks final : public trace::BlockSource {
	public:
		explicit Remarks(Kept& inner) : inner_(inner) {}
		const trace::Catalog& catalog() override { return inner_.catalog(); }
		std::optional<trace::Block> next() override { return std::nullopt; }
		std::vector<trace::AggEntry> aggregations() override { return {}; }
		trace::Losses losses() override { return inner_.losses(); }
		std::string name() const override { return bad("source"); }
		std::vector<std::string> remarks() override { return {bad("remark")}; }

	private:
		Kept& inner_;
	} remarks(kept);
	writer.account(remarks);
	writer.finish();
}

// Both of its outputs.
std::string said(const std::vector<std::string>& words, const std::string& into) {
	const std::string dfr = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "dfr";
	const pid_t child = fork();
	if (child == 0) {
		std::vector<char*> argv{const_cast<char*>("dfr")};
		for (const std::string& word : words)
			argv.push_back(const_cast<char*>(word.c_str()));
		argv.push_back(nullptr);
		const int fd = open(into.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
		if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
			_exit(126);
		execv(dfr.c_str(), argv.data());
		_exit(127);
	}
	int status = 0;
	waitpid(child, &status, 0);
	INFO(dfr);
	CHECK(WIFEXITED(status));
	CHECK(WEXITSTATUS(status) < 100); // it was there, and went to its end
	const FileBytes text = read_file(into);
	return {text.begin(), text.end()};
}

} // namespace

TEST_CASE("no command obeys or forwards what a recording's texts tell a terminal", "[shown]") {
	const ScratchFolder folder;
	const std::string file = folder.file("hostile.dfr"), out = folder.file("out.dfr");
	write_hostile(file);
	struct Command {
		const char* what; // of the recording's texts it shows at least this one
		std::vector<std::string> words;
	};
	const std::string probe = "app*:::entry*";
	const Command commands[] = {
	    {"remark", {"info", file}},
	    {"mark", {"info", "--json", file}},
	    {"", {"verify", file}},
	    {"", {"verify", "--json", file}},
	    {"entry", {"redact", "--list", file}},
	    {"entry", {"redact", "--list", "--json", file}},
	    {"", {"redact", "--keep", "nothing-of-that-name", file, "-o", out}},
	    {"",
	     {"redact", "--keep", "host,kernel,names,program,pid,execname", file, "-o", out, "--replace"}},
	    {"", {"cut", "--probe", "nosuch:::", file, "-o", out}},
	    {"", {"cut", "--probe", probe, "--replace", file, "-o", out}},
	    {"", {"replay", file}}, // a quiet program
	    {"", {"replay", "--json", file}},
	    {"work", {"replay", "-n", probe + " { trace(arg0); stack(); }", file}},
	    {"work", {"replay", "-x", "flowindent", "-n", probe + " { trace(arg0); }", file}},
	    {"function", {"replay", "-n", probe + " { sym(4096); mod(4096); }", file}},
	    {"", {"replay", "-qn", probe + " { @[sym(4096)] = count(); @s[stack()] = count(); }", file}},
	    {"", {"replay", "-n", probe + " { trace(arg5); }", file}},
	    {"", {"replay", "-n", "app*:::entr { trace(arg0); }", file}},
	    {"", {"replay", "-n", "app:::entry { trace(nosuch); }", file}},
	    {"", {"replay", "--strict", "-n", probe + " { trace(*(int *)arg0); }", file}},
	    {"", {"info", bad(folder.file("no-such-file"))}}};
	for (const Command& command : commands) {
		std::string line;
		for (const std::string& word : command.words)
			line += word + " ";
		INFO(line);
		const std::string text = said(command.words, folder.file("said"));
		INFO(harmless(text));
		CHECK_FALSE(text.empty());
		const std::string shown_bad = std::string(command.what) + "a\\x1b[31mb\\x0dc\\x0aFORGED";
		const std::string json_bad = std::string(command.what) + "a\\u001b[31mb\\u000dc\\u000aFORGED";
		if (*command.what)
			CHECK((text.find(shown_bad) != std::string::npos ||
			       text.find(json_bad) != std::string::npos));
		CHECK(text.find("\nFORGED") == std::string::npos);
		for (const char* const obeyed : {"\x1b", "\r", "\t", "\xc2\x9b", "\x9b", "\xe2\x80\xae"})
			CHECK(text.find(obeyed) == std::string::npos);
	}
}
// NOLINTEND(misc-misleading-bidirectional)

} // namespace shown_test
