/* SPDX-License-Identifier: GPL-2.0 */
/* Included after assumptions.h each time: undefines its macros. */
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
