// SPDX-License-Identifier: GPL-2.0
//
// The options of -x, #pragma D option and setopt(): their names, numbers and
// units. Parsing only; who acts on an option is not known here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dfr::d {

enum class OptionUnit : uint8_t { Flag, Size, Rate, Policy, Resize, Hook, Memory, Encoding, Text, Cpu };
enum class OptionTime : uint8_t { Compile, Runtime, Dynamic };

struct OptionInfo {
	std::string_view name;
	OptionTime time;
	OptionUnit unit;
	uint32_t number; // DFR_OPT_*; 0xffffffff: not in a DOF
};

// The version of the language: -V, and the most that -x version may ask for.
inline constexpr const char* kVersion = "1.13";

constexpr uint32_t kNoOptionNumber = 0xffffffff;

const OptionInfo* find_option(std::string_view name);
std::vector<std::string_view> option_names();

// The words that an option takes, where it takes words; else nothing.
std::vector<std::string_view> option_words(std::string_view name);

// The value in the option's unit; DFR_OPT_UNSET for a word that unsets it.
// Nothing: not a value of this option.
std::optional<int64_t> parse_option(const OptionInfo& option, std::optional<std::string_view> value);

} // namespace dfr::d
