// SPDX-License-Identifier: GPL-2.0
//
// Random clauses for tests/sweep/run, one a line, from the grammar that the compiler
// is fuzzed with (tests/fuzz/d_grammar.h); `prelude` prints the declarations that they
// are made for. What would end the program, stop it or write files is left out.
//
//   sweep_random prelude
//   sweep_random SEED COUNT
#include <array>
#include <cstdio>
#include <cstring>
#include <random>

#include "tests/fuzz/d_grammar.h"

namespace {

using dfr::fuzz::Decisions;
using dfr::fuzz::DGrammar;

constexpr std::array kKept = {"exit(",  "stop()",   "raise(",  "panic()",   "breakpoint()",
                              "chill(", "freopen(", "system(", "ftruncate("};
constexpr std::array kOpen = {"/*", "*/", "\n", "#"};

// Braces and quotes that do not end on the line would take the next lines with them.
bool is_whole(const std::string& line) {
	int depth = 0;
	char quote = 0;
	for (size_t i = 0; i < line.size(); i++) {
		const char c = line[i];
		if (quote && c == '\\')
			i++;
		else if (quote)
			quote = c == quote ? '\0' : quote;
		else if (c == '"' || c == '\'')
			quote = c;
		else if (c == '{')
			depth++;
		else if (c == '}' && --depth < 0)
			return false;
	}
	return !depth && !quote;
}

template <typename Words> bool holds(const std::string& line, const Words& words) {
	for (const char* word : words)
		if (line.find(word) != line.npos)
			return true;
	return false;
}

std::string statements(DGrammar& grammar, unsigned count) {
	std::string out;
	while (count--)
		out += grammar.text("st") + " ";
	return out;
}

std::string clause(std::mt19937_64& random) {
	std::array<uint8_t, 400> bytes;
	for (uint8_t& byte : bytes)
		byte = static_cast<uint8_t>(random());
	Decisions in(bytes.data(), 20 + random() % (bytes.size() - 20));
	DGrammar grammar(in);
	const unsigned count = 1 + static_cast<unsigned>(random() % 4);
	switch (random() % 4) {
	case 0: return "BEGIN / " + grammar.text("i") + " / { " + statements(grammar, count) + "}";
	case 1:
		return "BEGIN { self->si = speculation(); } BEGIN { speculate(self->si); " +
		       statements(grammar, count) + "} BEGIN { commit(self->si); }";
	case 2: return "BEGIN { " + statements(grammar, 1) + "} BEGIN { " + statements(grammar, count) + "}";
	default: return "BEGIN { " + statements(grammar, count) + "}";
	}
}

} // namespace

int main(int argc, char** argv) {
	if (argc == 2 && !std::strcmp(argv[1], "prelude")) {
		Decisions none(nullptr, 0);
		std::printf("#pragma D option quiet\n#pragma D option nspec=128\n#pragma D option "
		            "destructive\n#pragma D option defaultargs\n%s\n",
		            DGrammar(none).text("prelude").c_str());
		return 0;
	}
	if (argc != 3) {
		std::fprintf(stderr, "usage: %s prelude | SEED COUNT\n", argv[0]);
		return 2;
	}
	std::mt19937_64 random(std::strtoull(argv[1], nullptr, 10));
	for (unsigned long left = std::strtoul(argv[2], nullptr, 10); left;) {
		const std::string line = clause(random);
		if (!is_whole(line) || holds(line, kKept) || holds(line, kOpen) || line.size() > 4000)
			continue;
		std::printf("%s\n", line.c_str());
		left--;
	}
}
