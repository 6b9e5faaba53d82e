/* SPDX-License-Identifier: GPL-2.0 */
/* Behind each #include of assumptions.h: its macros are nobody's again. */
#undef PART
#undef CALLED
#undef LOOKED_AT
#undef HOOKED
#undef HOOKED_AS
#undef TRACEPOINT
#undef MEMBER
#undef OF_HEADER
#undef STANDS_FOR
#undef CALLBACK
#undef BEHAVES
#undef BUILT
