// SPDX-License-Identifier: GPL-2.0
//
// The engine's C headers, for C++: with C linkage, and with the standard headers
// that they use read before, outside of it.
#pragma once

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <pthread.h>
#include <sys/types.h>

extern "C" {
#include "kmod/engine/engine.h"
}
