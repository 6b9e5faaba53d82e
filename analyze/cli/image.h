// SPDX-License-Identifier: GPL-2.0
//
// What harvest and crash share: the recordings in the memory of a dead machine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "recorder/memory_image.h"

namespace CLI {
class App;
}

namespace dfr::cli {

using Images = std::vector<std::unique_ptr<recorder::ImageSource>>;

// `catalog`: a recording that lends its catalog, or empty.
Images open_image(const std::string& image, const std::string& catalog);

// Where speculations in flight stand beside a harvested recording: crash.speculations.dfr of crash.dfr.
std::string speculations_of(const std::string& recording);
// Whether it is one that stands beside a recording: of these, or of what a consumer held.
bool is_beside(const std::string& recording);

// Adds --reserved, and the image that it stands for.
class ImageArgument {
public:
	void add(CLI::App& app, const std::string& help);
	// What was named; throws UsageError where that is not one, dfr::Error where reserved memory holds no recording of
	// another boot.
	std::string path() const;
	bool named() const { return reserved_ || !image_.empty(); }

private:
	std::string image_;
	bool reserved_ = false;
};

// "boot (state 1)", or "state 1" of one without a name.
std::string state_text(const trace::Catalog& catalog);
// A line of it, if there was one.
void print_panic(recorder::ImageSource& source);

} // namespace dfr::cli
