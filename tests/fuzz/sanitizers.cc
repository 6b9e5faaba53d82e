// SPDX-License-Identifier: GPL-2.0
//
// How ASan runs under the fuzzers unless ASAN_OPTIONS says otherwise: with short
// stacks of allocations, and few freed bytes kept back (an input frees far less,
// and memory that is used again is in the cache). With a finding at hand, run its
// input again with ASAN_OPTIONS=malloc_context_size=30.
extern "C" const char* __asan_default_options();

extern "C" const char* __asan_default_options() {
	return "malloc_context_size=4:quarantine_size_mb=8:max_malloc_fill_size=64";
}
