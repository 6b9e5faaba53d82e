// SPDX-License-Identifier: GPL-2.0
//
// Names from the consumer's own databases: hosts (%I) and services (%P). They
// may ask a resolver, and never fail: what has no name is its own text.
#pragma once

#include <cstdint>
#include <string>

namespace dfr::render {

std::string host_name(const std::string& address);
std::string service_name(uint16_t port);

} // namespace dfr::render
