// SPDX-License-Identifier: GPL-2.0
//
// The table of DIF opcodes, in the order of their numbers (DIF.md, section 3).
#include "formats/dif/opcodes.h"

#include "formats/abi/dif.h"

namespace dfr::dif {
namespace {

using enum OpcodeFormat;

constexpr OpcodeInfo kOpcodes[] = {
    {nullptr, None},
    {"or", Three},
    {"xor", Three},
    {"and", Three},
    {"sll", Three},
    {"srl", Three},
    {"sub", Three},
    {"add", Three},
    {"mul", Three},
    {"sdiv", Three},
    {"udiv", Three},
    {"srem", Three},
    {"urem", Three},
    {"not", Two},
    {"mov", Two},
    {"cmp", Compare},
    {"tst", Test},
    {"ba", Branch},
    {"be", Branch},
    {"bne", Branch},
    {"bg", Branch},
    {"bgu", Branch},
    {"bge", Branch},
    {"bgeu", Branch},
    {"bl", Branch},
    {"blu", Branch},
    {"ble", Branch},
    {"bleu", Branch},
    {"ldsb", Load},
    {"ldsh", Load},
    {"ldsw", Load},
    {"ldub", Load},
    {"lduh", Load},
    {"lduw", Load},
    {"ldx", Load},
    {"ret", Return},
    {"nop", None},
    {"setx", SetInteger},
    {"sets", SetString},
    {"scmp", Compare},
    {"ldga", LoadArray},
    {"ldgs", LoadVariable},
    {"stgs", StoreVariable},
    {"ldta", LoadArray},
    {"ldts", LoadVariable},
    {"stts", StoreVariable},
    {"sra", Three},
    {"call", Call},
    {"pushtr", PushReference},
    {"pushtv", PushValue},
    {"popts", None},
    {"flushts", None},
    {"ldgaa", LoadVariable},
    {"ldtaa", LoadVariable},
    {"stgaa", StoreVariable},
    {"sttaa", StoreVariable},
    {"ldls", LoadVariable},
    {"stls", StoreVariable},
    {"allocs", Two},
    {"copys", Three},
    {"stb", Store},
    {"sth", Store},
    {"stw", Store},
    {"stx", Store},
    {"uldsb", Load},
    {"uldsh", Load},
    {"uldsw", Load},
    {"uldub", Load},
    {"ulduh", Load},
    {"ulduw", Load},
    {"uldx", Load},
    {"rldsb", Load},
    {"rldsh", Load},
    {"rldsw", Load},
    {"rldub", Load},
    {"rlduh", Load},
    {"rlduw", Load},
    {"rldx", Load},
    {"xlate", Translate},
    {"xlarg", Translate},
};
static_assert(sizeof kOpcodes / sizeof kOpcodes[0] == DIF_OP_MAX + 1, "one entry for each opcode");

} // namespace

const OpcodeInfo* find_opcode(unsigned op) {
	return op >= 1 && op <= DIF_OP_MAX ? &kOpcodes[op] : nullptr;
}

unsigned find_opcode(std::string_view name) {
	for (unsigned op = 1; op <= DIF_OP_MAX; op++) {
		if (name == kOpcodes[op].name)
			return op;
	}
	return 0;
}

} // namespace dfr::dif
