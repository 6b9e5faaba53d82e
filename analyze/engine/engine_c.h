// SPDX-License-Identifier: GPL-2.0
//
// The engine's C headers for C++, with C linkage. The standard headers that they
// use are included first, because these must not be inside of extern "C".
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
