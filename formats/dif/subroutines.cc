// SPDX-License-Identifier: GPL-2.0
//
// The names of DIF's subroutines, as listings show them and programs call them.
// Numbers: formats/abi/dif.h.
#include "formats/dif/subroutines.h"

#include "formats/abi/dif.h"

namespace dfr::dif {
namespace {

struct SubroutineName {
	uint32_t number;
	std::string_view name;
};

constexpr SubroutineName kNames[] = {
    {DIF_SUBR_RAND, "rand"},
    {DIF_SUBR_MUTEX_OWNED, "mutex_owned"},
    {DIF_SUBR_MUTEX_OWNER, "mutex_owner"},
    {DIF_SUBR_MUTEX_TYPE_ADAPTIVE, "mutex_type_adaptive"},
    {DIF_SUBR_MUTEX_TYPE_SPIN, "mutex_type_spin"},
    {DIF_SUBR_RW_READ_HELD, "rw_read_held"},
    {DIF_SUBR_RW_WRITE_HELD, "rw_write_held"},
    {DIF_SUBR_RW_ISWRITER, "rw_iswriter"},
    {DIF_SUBR_COPYIN, "copyin"},
    {DIF_SUBR_COPYINSTR, "copyinstr"},
    {DIF_SUBR_SPECULATION, "speculation"},
    {DIF_SUBR_PROGENYOF, "progenyof"},
    {DIF_SUBR_STRLEN, "strlen"},
    {DIF_SUBR_COPYOUT, "copyout"},
    {DIF_SUBR_COPYOUTSTR, "copyoutstr"},
    {DIF_SUBR_ALLOCA, "alloca"},
    {DIF_SUBR_BCOPY, "bcopy"},
    {DIF_SUBR_COPYINTO, "copyinto"},
    {DIF_SUBR_MSGDSIZE, "msgdsize"},
    {DIF_SUBR_MSGSIZE, "msgsize"},
    {DIF_SUBR_GETMAJOR, "getmajor"},
    {DIF_SUBR_GETMINOR, "getminor"},
    {DIF_SUBR_DDI_PATHNAME, "ddi_pathname"},
    {DIF_SUBR_STRJOIN, "strjoin"},
    {DIF_SUBR_LLTOSTR, "lltostr"},
    {DIF_SUBR_BASENAME, "basename"},
    {DIF_SUBR_DIRNAME, "dirname"},
    {DIF_SUBR_CLEANPATH, "cleanpath"},
    {DIF_SUBR_STRCHR, "strchr"},
    {DIF_SUBR_STRRCHR, "strrchr"},
    {DIF_SUBR_STRSTR, "strstr"},
    {DIF_SUBR_STRTOK, "strtok"},
    {DIF_SUBR_SUBSTR, "substr"},
    {DIF_SUBR_INDEX, "index"},
    {DIF_SUBR_RINDEX, "rindex"},
    {DIF_SUBR_HTONS, "htons"},
    {DIF_SUBR_HTONL, "htonl"},
    {DIF_SUBR_HTONLL, "htonll"},
    {DIF_SUBR_NTOHS, "ntohs"},
    {DIF_SUBR_NTOHL, "ntohl"},
    {DIF_SUBR_NTOHLL, "ntohll"},
    {DIF_SUBR_INET_NTOP, "inet_ntop"},
    {DIF_SUBR_INET_NTOA, "inet_ntoa"},
    {DIF_SUBR_INET_NTOA6, "inet_ntoa6"},
    {DIF_SUBR_TOUPPER, "toupper"},
    {DIF_SUBR_TOLOWER, "tolower"},
    {DIF_SUBR_MEMREF, "memref"},
    {DIF_SUBR_SX_SHARED_HELD, "sx_shared_held"},
    {DIF_SUBR_SX_EXCLUSIVE_HELD, "sx_exclusive_held"},
    {DIF_SUBR_SX_ISEXCLUSIVE, "sx_isexclusive"},
    {DIF_SUBR_MEMSTR, "memstr"},
    {DIF_SUBR_GETF, "getf"},
    {DIF_SUBR_JSON, "json"},
    {DIF_SUBR_STRTOLL, "strtoll"},
    {DIF_SUBR_RANDOM, "random"},
    {DIF_SUBR_D_PATH, "d_path"},
    {DIF_SUBR_LINK_NTOP, "link_ntop"},
    {DIF_SUBR_F_ADD, "f_add"},
    {DIF_SUBR_F_SUB, "f_sub"},
    {DIF_SUBR_F_MUL, "f_mul"},
    {DIF_SUBR_F_DIV, "f_div"},
    {DIF_SUBR_F_NEG, "f_neg"},
    {DIF_SUBR_F_CMP, "f_cmp"},
    {DIF_SUBR_F_FROM_I64, "f_from_i64"},
    {DIF_SUBR_F_FROM_U64, "f_from_u64"},
    {DIF_SUBR_F_TO_I64, "f_to_i64"},
    {DIF_SUBR_F_TO_U64, "f_to_u64"},
    {DIF_SUBR_F_FROM_F32, "f_from_f32"},
    {DIF_SUBR_F_TO_F32, "f_to_f32"},
};

} // namespace

std::string_view subroutine_name(uint32_t number) {
	for (const SubroutineName& one : kNames) {
		if (one.number == number)
			return one.name;
	}
	return {};
}

} // namespace dfr::dif
