// SPDX-License-Identifier: GPL-2.0
//
// The one main() of all unit tests: Catch2 supplies it. Test cases live in
// <area>_test.cc beside this file.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
