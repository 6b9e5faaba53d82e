// SPDX-License-Identifier: GPL-2.0
//
// What is written as JSON: verdicts, listings.
#pragma once

#include <string>
#include <vector>

namespace dfr::lib {

// Quoted and escaped; a byte that is not part of UTF-8 becomes the replacement character.
std::string json_text(const std::string& text);

// "[1, 2]" of what is JSON already.
std::string json_list(const std::vector<std::string>& items);

// An object that grows: {"a": 1, "b": "text"}.
class JsonObject {
public:
	JsonObject& raw(const char* name, const std::string& value); // what is JSON already
	JsonObject& text(const char* name, const std::string& value) { return raw(name, json_text(value)); }
	std::string str() const { return out_ + "}"; }

private:
	std::string out_ = "{";
};

} // namespace dfr::lib
