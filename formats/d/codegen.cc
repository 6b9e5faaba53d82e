// SPDX-License-Identifier: GPL-2.0
//
// The code generator. Every gen_*() returns the register that holds the value;
// the caller releases it. %r0 stands for the constant 0 and is never written.
// Arithmetic is done in 64 bits; a value is cut to its type where it is stored
// or cast. One file, because one operator's code needs another's; it is long for the
// number of operators.
#include "formats/d/codegen.h"

#include <cstring>

#include "formats/d/builder.h"
#include "formats/d/builtins.h"
#include "formats/d/capture.h"

namespace dfr::d {

using types::TypeRef;

namespace {

struct OutOfTuple {}; // -x tregs

// Whether what `from` leaves in a register is a value of the type `to`, without a conversion.
bool fits(TypeTable& types, const Node* from, TypeRef to) {
	if (!types.is_integer(to) || types.size(to) >= 8)
		return true;
	const uint64_t size = types.size(to);
	const bool is_signed = types.is_signed(to);
	if (from->kind == Nk::Int) {
		const unsigned by = 64 - size * 8;
		const uint64_t cut =
		    is_signed ? static_cast<uint64_t>(static_cast<int64_t>(from->value << by) >> by)
		              : from->value << by >> by;
		return cut == from->value;
	}
	if (!types.is_integer(from->type))
		return false;
	const bool from_signed = types.is_signed(from->type);
	const uint64_t from_size = types.size(from->type);
	return exact(types, from) && ((from_size == size && is_signed == from_signed) ||
	                              (from_size < size && (!from_signed || is_signed)));
}

class Generator {
public:
	Generator(Compilation& compilation, bool spilling)
	    : compilation_(compilation), types_(compilation.types), code_(compilation.settings.registers),
	      spilling_(spilling) {}

	dif::Difo run(const Node* node, const Result& result) {
		const unsigned reg = gen(node);
		code_.emit(DIF_INSTR_R(DIF_OP_RET, 0, 0, reg));
		dif_type type =
		    result.type ? *result.type : dif_type_of(types_, node->type, node->user && node->lvalue);
		if (result.mark_signed && types_.is_signed(node->type) && !type.flags)
			type.flags |= DIF_TF_SIGNED;
		return code_.finish(type, compilation_.diagnostics.sources(),
		                    compilation_.options.line_table && !compilation_.settings.strip);
	}

private:
	using Label = DifoBuilder::Label;

	// A register that may be written: `reg` itself, unless it is %r0.
	unsigned writable(unsigned reg) { return reg ? reg : code_.allocate(); }

	// -- values that wait

	// A value that waits until another has been computed: in its register, or,
	// where registers did not suffice for that, in a hidden clause-local.
	struct Waiting {
		unsigned reg = 0;
		const Variable* slot = nullptr;
	};

	Waiting hold(unsigned reg, bool across_code) {
		if (!spilling_ || !across_code || !reg)
			return {reg, nullptr};
		const Variable* const slot = spill_slot(waiting_++);
		code_.use_variable(slot->name, slot->id, DIF_VK_SCALAR, DIF_VS_LOCAL, DIF_VF_REF | DIF_VF_MOD,
		                   int_result(8));
		code_.emit(DIF_INSTR_WIDE(DIF_OP_STLS, slot->id, reg));
		code_.release(reg);
		return {0, slot};
	}

	// In any order, but all of them before another value is held.
	unsigned take(const Waiting& held) {
		if (!held.slot)
			return held.reg;
		waiting_--;
		const unsigned reg = code_.allocate();
		code_.emit(DIF_INSTR_WIDE(DIF_OP_LDLS, held.slot->id, reg));
		return reg;
	}

	const Variable* spill_slot(unsigned number) {
		const std::string name = "%spill" + std::to_string(number);
		const Variable* slot = compilation_.definitions.find_variable(DIF_VS_LOCAL, name);
		if (!slot && !(slot = compilation_.definitions.add_variable(DIF_VS_LOCAL, name)))
			throw DifoBuilder::OutOfRegisters{};
		return slot;
	}

	void three(unsigned op, unsigned r1, unsigned r2, unsigned rd) {
		code_.emit(DIF_INSTR_R(op, r1, r2, rd));
	}
	void move(unsigned from, unsigned to) { code_.emit(DIF_INSTR_R(DIF_OP_MOV, from, 0, to)); }

	unsigned gen(const Node* node) {
		switch (node->kind) {
		case Nk::Int: return gen_int(node->value);
		case Nk::Float: return gen_float(node);
		case Nk::String: return gen_string(node);
		case Nk::Var: return gen_variable(node);
		case Nk::BuiltinVar: return gen_builtin(node);
		case Nk::Captured: return gen_captured(node);
		case Nk::Symbol: return gen_symbol(node);
		case Nk::Subr: return gen_call(node);
		case Nk::Unary: return gen_unary(node);
		case Nk::Binary: return gen_binary(node);
		case Nk::Assign: return gen_assign(node);
		case Nk::Ternary: return gen_ternary(node);
		case Nk::Member: return gen_member(node);
		case Nk::Cast: return gen_cast(node);
		case Nk::Stringof: return gen(node->a);
		default: return 0;
		}
	}

	// -- leaves

	unsigned gen_int(uint64_t value) {
		if (!value)
			return 0;
		const unsigned reg = code_.allocate();
		code_.set_integer(value, reg);
		return reg;
	}

	unsigned gen_float(const Node* node) {
		uint64_t bits = 0;
		if (types_.size(node->type) == 4) {
			const auto single = static_cast<float>(node->real);
			uint32_t word;
			std::memcpy(&word, &single, sizeof word);
			bits = word;
		} else {
			std::memcpy(&bits, &node->real, sizeof bits);
		}
		return gen_int(bits);
	}

	unsigned gen_string(const Node* node) {
		const unsigned reg = code_.allocate();
		code_.set_string(node->text, reg);
		return reg;
	}

	void use(const Node* node, uint16_t flag) {
		const Variable& variable = *node->variable;
		code_.use_variable(variable.name, variable.id, variable.assoc ? DIF_VK_ARRAY : DIF_VK_SCALAR,
		                   variable.scope, flag, dif_type_of(types_, variable.type, false));
	}

	unsigned gen_variable(const Node* node) {
		const Variable& variable = *node->variable;
		use(node, DIF_VF_REF);
		if (variable.assoc) {
			gen_arguments(node->list, &variable.keys);
			const unsigned reg = code_.allocate();
			code_.mark(node->place);
			const bool thread = variable.scope == DIF_VS_THREAD;
			const unsigned op = thread ? DIF_OP_LDTAA : DIF_OP_LDGAA;
			code_.emit(DIF_INSTR_WIDE(op, variable.id, reg));
			return create(node, op, thread ? DIF_OP_STTAA : DIF_OP_STGAA, reg);
		}
		static constexpr unsigned kLoads[] = {DIF_OP_LDGS, DIF_OP_LDTS, DIF_OP_LDLS};
		const unsigned reg = code_.allocate();
		code_.emit(DIF_INSTR_WIDE(kLoads[variable.scope], variable.id, reg));
		return create(node, DIF_OP_LDTS, DIF_OP_STTS, reg);
	}

	// The struct or array a part of which is stored, where that is a thread's or an array's element: it may not
	// be there yet.
	static const Node* created_by(const Node* left) {
		while (left && left->kind != Nk::Var) {
			if (left->kind == Nk::Unary && left->op == Tok::Star && left->a->kind == Nk::Binary)
				left = left->a->a; // base[i]
			else if (left->kind == Nk::Member && !left->arrow)
				left = left->a;
			else
				return nullptr;
		}
		return left && (left->variable->assoc || left->variable->scope == DIF_VS_THREAD) ? left
		                                                                                 : nullptr;
	}

	// `reg` is its address, or 0: then all of it is stored as zeros first. The keys are on the tuple stack still.
	unsigned create(const Node* node, unsigned load, unsigned store, unsigned reg) {
		const Variable& variable = *node->variable;
		// The place that is read and the one that is written may be two nodes, of one text.
		if (!creating_ || &variable != creating_->variable || node->place != creating_->place ||
		    !types_.is_by_ref(variable.type) || types_.is_string(variable.type))
			return reg;
		const Label there = code_.label();
		use(node, DIF_VF_MOD);
		code_.emit(DIF_INSTR_R(DIF_OP_TST, reg, 0, 0));
		code_.branch(DIF_OP_BNE, there);
		code_.set_integer(types_.size(variable.type), reg);
		code_.mark(node->place);
		code_.emit(DIF_INSTR_R(DIF_OP_ALLOCS, reg, 0, reg));
		code_.mark(node->place);
		code_.emit(DIF_INSTR_WIDE(store, variable.id, reg));
		code_.emit(DIF_INSTR_WIDE(load, variable.id, reg));
		code_.place(there);
		return reg;
	}

	unsigned gen_builtin(const Node* node) {
		const Builtin& builtin = *node->builtin;
		if (builtin.array) {
			const unsigned index = gen(node->list[0]);
			const unsigned reg = writable(index);
			code_.use_variable(builtin.name, builtin.id, DIF_VK_ARRAY, DIF_VS_GLOBAL, DIF_VF_REF,
			                   dif_type_of(types_, node->type, false));
			code_.mark(node->place);
			three(DIF_OP_LDGA, builtin.id, index, reg);
			// The upper bits of a narrow argument are whatever the register held.
			if (types_.is_integer(node->type))
				truncate(reg, node->type);
			return reg;
		}
		code_.use_variable(builtin.name, builtin.id, DIF_VK_SCALAR, DIF_VS_GLOBAL, DIF_VF_REF,
		                   dif_type_of(types_, node->type, false));
		const unsigned reg = code_.allocate();
		code_.emit(DIF_INSTR_WIDE(DIF_OP_LDGS, builtin.id, reg));
		return reg;
	}

	unsigned gen_captured(const Node* node) {
		const unsigned index = gen_int(node->value);
		const unsigned reg = writable(index);
		code_.use_variable("captured", DIF_VAR_CAPTURED, DIF_VK_ARRAY, DIF_VS_GLOBAL, DIF_VF_REF,
		                   dif_type_of(types_, node->type, false));
		code_.mark(node->place);
		three(DIF_OP_LDGA, DIF_VAR_CAPTURED, index, reg);
		return reg;
	}

	unsigned gen_symbol_address(const Node* node) {
		const unsigned reg = code_.allocate();
		if (node->known)
			code_.set_integer(node->value, reg);
		else
			code_.set_address(node->text, reg);
		return reg;
	}

	unsigned gen_symbol(const Node* node) {
		const unsigned reg = gen_symbol_address(node);
		return types_.is_function(node->type) ? reg : load(reg, node);
	}

	// -- memory

	// The value at the address in `reg`, which is reused. By-ref types are
	// their address.
	unsigned load(unsigned reg, const Node* node) {
		const TypeRef type = node->type;
		if (types_.is_by_ref(type) || types_.is_function(type))
			return reg;
		const uint64_t size = types_.size(type);
		const bool is_signed = types_.is_signed(type);
		unsigned op = size == 1   ? (is_signed ? DIF_OP_LDSB : DIF_OP_LDUB)
		              : size == 2 ? (is_signed ? DIF_OP_LDSH : DIF_OP_LDUH)
		              : size == 4 ? (is_signed ? DIF_OP_LDSW : DIF_OP_LDUW)
		                          : DIF_OP_LDX;
		if (node->user)
			op += DIF_OP_ULDSB - DIF_OP_LDSB;
		const unsigned out = writable(reg);
		if (!reg)
			move(0, out); // a literal null pointer: the load has an address to fault on
		code_.mark(node->place);
		code_.emit(DIF_INSTR_R(op, out, 0, out));
		return out;
	}

	// reg op constant; `neutral` is the constant that changes nothing.
	unsigned with_constant(unsigned op, unsigned reg, uint64_t constant, uint64_t neutral) {
		if (constant == neutral)
			return reg;
		const unsigned by = gen_int(constant);
		const unsigned out = writable(reg);
		three(op, reg, by, out);
		code_.release(by);
		return out;
	}

	unsigned gen_address(const Node* node) {
		switch (node->kind) {
		case Nk::Unary: // *p
			return gen(node->a);
		case Nk::Member: {
			const unsigned base = node->arrow ? gen(node->a) : gen_address(node->a);
			return with_constant(DIF_OP_ADD, base,
			                     node->bit_width ? bit_unit(node).byte : node->bit_offset / 8, 0);
		}
		case Nk::Symbol: return gen_symbol_address(node);
		case Nk::Cast: return gen_address(node->a);
		default: return gen(node); // a by-ref value is its address
		}
	}

	struct BitUnit {
		uint64_t byte;  // offset of the unit in the object
		unsigned size;  // 1, 2, 4 or 8
		unsigned shift; // of the field's lowest bit
	};

	BitUnit bit_unit(const Node* node) {
		unsigned size = static_cast<unsigned>(types_.size(node->type));
		if (!size || size > 8)
			size = 8;
		uint64_t byte = node->bit_offset / 8 / size * size;
		// Packed structs hold fields that straddle their type's alignment.
		if (node->bit_offset + node->bit_width > (byte + size) * 8) {
			byte = node->bit_offset / 8;
			size = 8;
		}
		return {byte, size, static_cast<unsigned>(node->bit_offset - byte * 8)};
	}

	unsigned gen_member(const Node* node) {
		const unsigned address = gen_address(node);
		if (!node->bit_width)
			return load(address, node);
		const BitUnit unit = bit_unit(node);
		unsigned op = unit.size == 1   ? DIF_OP_LDUB
		              : unit.size == 2 ? DIF_OP_LDUH
		              : unit.size == 4 ? DIF_OP_LDUW
		                               : DIF_OP_LDX;
		if (node->user)
			op += DIF_OP_ULDSB - DIF_OP_LDSB;
		const unsigned reg = writable(address);
		code_.mark(node->place);
		code_.emit(DIF_INSTR_R(op, address, 0, reg));
		const bool is_signed = types_.is_signed(node->type);
		with_constant(DIF_OP_SLL, reg, 64 - unit.shift - node->bit_width, 0);
		return with_constant(is_signed ? DIF_OP_SRA : DIF_OP_SRL, reg, 64 - node->bit_width, 0);
	}

	// -- conversions

	void truncate(unsigned reg, TypeRef type) {
		const uint64_t size = types_.size(type);
		if (!reg || size >= 8 || !size)
			return;
		const unsigned by = gen_int(64 - size * 8);
		three(DIF_OP_SLL, reg, by, reg);
		three(types_.is_signed(type) ? DIF_OP_SRA : DIF_OP_SRL, reg, by, reg);
		code_.release(by);
	}

	unsigned to_bool(unsigned reg) {
		const unsigned out = writable(reg);
		const Label zero = code_.label();
		code_.emit(DIF_INSTR_R(DIF_OP_TST, reg, 0, 0));
		code_.branch(DIF_OP_BE, zero);
		truth(out, true, zero);
		return out;
	}

	// `out` is `here`, and the other truth for what branches to `elsewhere`.
	void truth(unsigned out, bool here, Label elsewhere) {
		const Label post = code_.label();
		set_truth(out, here);
		code_.branch(DIF_OP_BA, post);
		code_.place(elsewhere);
		set_truth(out, !here);
		code_.place(post);
	}

	void set_truth(unsigned out, bool value) {
		if (value)
			code_.set_integer(1, out);
		else
			move(0, out);
	}

	unsigned convert(unsigned reg, const Node* from, TypeRef to) {
		if (types_.info(to).is_bool && !(types_.info(from->type).is_bool && exact(types_, from)))
			return to_bool(reg);
		if (fits(types_, from, to))
			return reg;
		const unsigned out = writable(reg);
		if (out != reg)
			move(reg, out);
		truncate(out, to);
		return out;
	}

	unsigned gen_cast(const Node* node) {
		const unsigned reg = types_.is_array(node->a->type) ? gen_address(node->a) : gen(node->a);
		return convert(reg, node->a, node->type);
	}

	// -- operators

	unsigned gen_unary(const Node* node) {
		switch (node->op) {
		case Tok::Star: return load(gen(node->a), node);
		case Tok::And: return types_.is_function(node->a->type) ? gen(node->a) : gen_address(node->a);
		case Tok::Inc:
		case Tok::Dec: return gen_increment(node);
		case Tok::Plus: return gen(node->a);
		case Tok::Minus: {
			const unsigned reg = gen(node->a);
			const unsigned out = writable(reg);
			three(DIF_OP_SUB, 0, reg, out);
			return out;
		}
		case Tok::Tilde: {
			const unsigned reg = gen(node->a);
			const unsigned out = writable(reg);
			code_.emit(DIF_INSTR_R(DIF_OP_NOT, reg, 0, out));
			return out;
		}
		default: { // !
			const unsigned reg = gen(node->a);
			const unsigned out = writable(reg);
			const Label zero = code_.label();
			code_.emit(DIF_INSTR_R(DIF_OP_TST, reg, 0, 0));
			code_.branch(DIF_OP_BE, zero);
			truth(out, false, zero);
			return out;
		}
		}
	}

	uint64_t step_of(TypeRef pointer) { return types_.size(types_.target(pointer)); }

	unsigned gen_increment(const Node* node) {
		const Node* const operand = node->a;
		const Creating creating(creating_, created_by(operand));
		const unsigned old = gen(operand);
		const unsigned step = gen_int(types_.is_pointer(operand->type) ? step_of(operand->type) : 1);
		unsigned fresh = step;
		three(node->op == Tok::Inc ? DIF_OP_ADD : DIF_OP_SUB, old, step, fresh);
		if (types_.info(operand->type).is_bool)
			fresh = to_bool(fresh);
		else if (types_.is_integer(operand->type))
			truncate(fresh, operand->type);
		if (!node->postfix) {
			code_.release(old);
			return store(node->b, fresh);
		}
		const Waiting held = hold(old, true);
		code_.release(store(node->b, fresh));
		return take(held);
	}

	unsigned gen_binary(const Node* node) {
		switch (node->op) {
		case Tok::Comma: code_.release(gen(node->a)); return gen(node->b);
		case Tok::LAnd: return gen_and(node);
		case Tok::LOr: return gen_or(node);
		case Tok::LXor: return gen_xor(node);
		case Tok::Eq:
		case Tok::Ne:
		case Tok::Lt:
		case Tok::Le:
		case Tok::Gt:
		case Tok::Ge: return gen_comparison(node);
		default: return gen_arithmetic(node);
		}
	}

	unsigned gen_arithmetic(const Node* node) {
		const bool pointer_a = types_.is_pointer(node->a->type) || types_.is_array(node->a->type);
		const bool pointer_b = types_.is_pointer(node->b->type) || types_.is_array(node->b->type);
		const bool pointer =
		    types_.is_pointer(node->type) && (node->op == Tok::Plus || node->op == Tok::Minus);
		unsigned left = gen_operand(node->a);
		if (pointer && !pointer_a && !types_.is_string(node->a->type))
			left = with_constant(DIF_OP_MUL, left, step_of(node->type), 1);
		const Waiting held = hold(left, !is_plain(node->b));
		unsigned right = gen_operand(node->b);
		if (pointer && !pointer_b)
			right = with_constant(DIF_OP_MUL, right, step_of(node->type), 1);
		left = take(held);
		const bool is_signed = types_.is_signed(node->type);
		unsigned op = DIF_OP_ADD;
		switch (node->op) {
		case Tok::Plus: op = DIF_OP_ADD; break;
		case Tok::Minus: op = DIF_OP_SUB; break;
		case Tok::Star: op = DIF_OP_MUL; break;
		case Tok::Slash: op = is_signed ? DIF_OP_SDIV : DIF_OP_UDIV; break;
		case Tok::Percent: op = is_signed ? DIF_OP_SREM : DIF_OP_UREM; break;
		case Tok::And: op = DIF_OP_AND; break;
		case Tok::Or: op = DIF_OP_OR; break;
		case Tok::Xor: op = DIF_OP_XOR; break;
		case Tok::Shl: op = DIF_OP_SLL; break;
		case Tok::Shr: op = is_signed ? DIF_OP_SRA : DIF_OP_SRL; break;
		default: break;
		}
		const unsigned out = writable(left);
		if (node->op == Tok::Slash || node->op == Tok::Percent)
			code_.mark(node->place);
		three(op, left, right, out);
		code_.release(right);
		if (pointer_a && pointer_b && node->op == Tok::Minus)
			with_constant(DIF_OP_SDIV, out, step_of(node->a->type), 1);
		return out;
	}

	unsigned gen_operand(const Node* node) {
		return types_.is_array(node->type) ? gen_address(node) : gen(node);
	}

	unsigned gen_comparison(const Node* node) {
		const bool strings = types_.is_string(node->a->type) || types_.is_string(node->b->type);
		const Waiting held = hold(gen_operand(node->a), !is_plain(node->b));
		const unsigned right = gen_operand(node->b);
		const unsigned left = take(held);
		if (strings)
			code_.mark(node->place);
		three(strings ? DIF_OP_SCMP : DIF_OP_CMP, left, right, 0);
		code_.release(right);
		const bool is_signed =
		    strings || (types_.is_integer(node->a->type) && types_.is_integer(node->b->type) &&
		                types_.is_signed(types_.promote(node->a->type, node->b->type)));
		unsigned op = DIF_OP_BE;
		switch (node->op) {
		case Tok::Eq: op = DIF_OP_BE; break;
		case Tok::Ne: op = DIF_OP_BNE; break;
		case Tok::Lt: op = is_signed ? DIF_OP_BL : DIF_OP_BLU; break;
		case Tok::Le: op = is_signed ? DIF_OP_BLE : DIF_OP_BLEU; break;
		case Tok::Gt: op = is_signed ? DIF_OP_BG : DIF_OP_BGU; break;
		default: op = is_signed ? DIF_OP_BGE : DIF_OP_BGEU; break;
		}
		const unsigned out = writable(left);
		const Label yes = code_.label();
		code_.branch(op, yes);
		truth(out, false, yes);
		return out;
	}

	void test(const Node* node, unsigned op, Label label) {
		const unsigned reg = gen_operand(node);
		code_.emit(DIF_INSTR_R(DIF_OP_TST, reg, 0, 0));
		code_.branch(op, label);
		code_.release(reg);
	}

	unsigned gen_and(const Node* node) {
		const Label no = code_.label();
		test(node->a, DIF_OP_BE, no);
		test(node->b, DIF_OP_BE, no);
		const unsigned out = code_.allocate();
		truth(out, true, no);
		return out;
	}

	unsigned gen_or(const Node* node) {
		const Label yes = code_.label(), no = code_.label();
		test(node->a, DIF_OP_BNE, yes);
		test(node->b, DIF_OP_BE, no);
		const unsigned out = code_.allocate();
		code_.place(yes);
		truth(out, true, no);
		return out;
	}

	unsigned gen_xor(const Node* node) {
		const Waiting held = hold(to_bool(gen_operand(node->a)), !is_plain(node->b));
		const unsigned right = to_bool(gen_operand(node->b));
		const unsigned left = take(held);
		three(DIF_OP_XOR, left, right, left);
		code_.release(right);
		return left;
	}

	unsigned gen_ternary(const Node* node) {
		const Label no = code_.label(), post = code_.label();
		test(node->a, DIF_OP_BE, no);
		unsigned reg = gen_operand(node->b);
		const unsigned out = writable(reg);
		if (out != reg)
			move(reg, out);
		code_.branch(DIF_OP_BA, post);
		code_.place(no);
		// The two values never live at once: the second may use the first's register.
		code_.release(out);
		reg = gen_operand(node->c);
		if (reg != out) {
			move(reg, out);
			code_.release(reg);
			claim(out);
		}
		code_.place(post);
		return out;
	}

	// Takes a register that is free and known.
	void claim(unsigned wanted) {
		unsigned passed[DIF_NREGS];
		unsigned count = 0;
		for (;;) {
			const unsigned reg = code_.allocate();
			if (reg == wanted)
				break;
			passed[count++] = reg;
		}
		while (count)
			code_.release(passed[--count]);
	}

	// -- assignment

	unsigned gen_assign(const Node* node) {
		const Node* const left = node->a;
		// From here on, since x += y reads the same place. One that is found once is found here (Sema::write_side).
		const bool place = left->kind == Nk::Var && node->lvalue && node->b->kind == Nk::Binary;
		const Creating creating(creating_, place                   ? created_by(node->b->a)
		                                   : left->kind == Nk::Var ? nullptr
		                                                           : created_by(left));
		unsigned value = gen_operand(node->b);
		if (types_.is_integer(left->type))
			value = convert(value, node->b, left->type);
		if (left->kind != Nk::Var && types_.is_by_ref(left->type))
			return copy(left, node->b, value);
		if (types_.is_array(left->type) && types_.is_string(node->b->type))
			value = padded(left, node->b, value);
		return store(left, value);
	}

	// Returns the register that holds the value then: its own may have been needed.
	unsigned store(const Node* left, unsigned value) {
		if (left->kind == Nk::Var)
			return store_variable(left, value);
		const Waiting held = hold(value, true);
		const unsigned address = gen_address(left);
		value = take(held);
		if (left->kind == Nk::Member && left->bit_width) {
			store_bits(left, value, address);
			// The assignment's value is what the field has then.
			value = with_constant(DIF_OP_SLL, value, 64 - left->bit_width, 0);
			return with_constant(types_.is_signed(left->type) ? DIF_OP_SRA : DIF_OP_SRL, value,
			                     64 - left->bit_width, 0);
		}
		const uint64_t size = types_.size(left->type);
		const unsigned op = size == 1   ? DIF_OP_STB
		                    : size == 2 ? DIF_OP_STH
		                    : size == 4 ? DIF_OP_STW
		                                : DIF_OP_STX;
		code_.mark(left->place);
		code_.emit(DIF_INSTR_R(op, value, 0, need_address(address)));
		code_.release(address);
		return value;
	}

	// The verifier refuses %r0 as an address: a store to NULL faults through a copy.
	unsigned need_address(unsigned reg) {
		if (reg)
			return reg;
		const unsigned out = code_.allocate();
		move(0, out);
		code_.release(out);
		return out;
	}

	unsigned store_variable(const Node* left, unsigned value) {
		const Variable& variable = *left->variable;
		use(left, DIF_VF_MOD);
		if (variable.assoc) {
			const Waiting held = hold(value, true);
			gen_arguments(left->list, &variable.keys);
			value = take(held);
			code_.mark(left->place);
			code_.emit(
			    DIF_INSTR_WIDE(variable.scope == DIF_VS_THREAD ? DIF_OP_STTAA : DIF_OP_STGAA,
			                   variable.id, value));
			return value;
		}
		static constexpr unsigned kStores[] = {DIF_OP_STGS, DIF_OP_STTS, DIF_OP_STLS};
		if (types_.is_by_ref(variable.type))
			code_.mark(left->place);
		code_.emit(DIF_INSTR_WIDE(kStores[variable.scope], variable.id, value));
		return value;
	}

	void store_bits(const Node* left, unsigned value, unsigned address) {
		const BitUnit unit = bit_unit(left);
		static constexpr unsigned kLoads[] = {0, DIF_OP_LDUB, DIF_OP_LDUH, 0,         DIF_OP_LDUW,
		                                      0, 0,           0,           DIF_OP_LDX};
		static constexpr unsigned kStores[] = {0, DIF_OP_STB, DIF_OP_STH, 0,         DIF_OP_STW,
		                                       0, 0,          0,          DIF_OP_STX};
		const uint64_t mask =
		    left->bit_width >= 64 ? ~uint64_t{0} : (uint64_t{1} << left->bit_width) - 1;
		const unsigned whole = code_.allocate();
		const unsigned field = code_.allocate();
		code_.mark(left->place);
		code_.emit(DIF_INSTR_R(kLoads[unit.size], address, 0, whole));
		unsigned keep = gen_int(~(mask << unit.shift));
		three(DIF_OP_AND, whole, keep, whole);
		code_.release(keep);
		keep = gen_int(mask);
		three(DIF_OP_AND, value, keep, field);
		code_.release(keep);
		with_constant(DIF_OP_SLL, field, unit.shift, 0);
		three(DIF_OP_OR, whole, field, whole);
		code_.emit(DIF_INSTR_R(kStores[unit.size], whole, 0, need_address(address)));
		code_.release(field);
		code_.release(whole);
		code_.release(address);
	}

	// A struct or string into memory; a text only up to its end.
	unsigned copy(const Node* left, const Node* from, unsigned value) {
		const Waiting held = hold(value, true);
		const unsigned address = need_address(gen_address(left));
		value = take(held);
		copy_to(address, left, from, value);
		code_.release(address);
		return value;
	}

	// A text that an array variable takes, with zeros behind it up to the array's size.
	unsigned padded(const Node* left, const Node* from, unsigned value) {
		const unsigned address = gen_int(types_.size(left->type));
		code_.mark(left->place);
		code_.emit(DIF_INSTR_R(DIF_OP_ALLOCS, address, 0, address));
		copy_to(address, left, from, value);
		code_.release(value);
		return address;
	}

	void copy_to(unsigned address, const Node* left, const Node* from, unsigned value) {
		const uint64_t room = types_.size(left->type);
		unsigned size = 0;
		if (from->kind == Nk::String) {
			size = gen_int(std::min<uint64_t>(from->text.size() + 1, room));
		} else if (types_.is_string(from->type)) {
			push_string(value);
			size = code_.allocate();
			code_.mark(left->place);
			code_.emit(DIF_INSTR_WIDE(DIF_OP_CALL, DIF_SUBR_STRLEN, size));
			const unsigned one = gen_int(1);
			three(DIF_OP_ADD, size, one, size);
			code_.set_integer(room, one);
			const Label fits_in = code_.label();
			three(DIF_OP_CMP, size, one, 0);
			code_.branch(DIF_OP_BLEU, fits_in);
			move(one, size);
			code_.place(fits_in);
			code_.release(one);
		} else {
			size = gen_int(room);
		}
		code_.mark(left->place);
		three(DIF_OP_COPYS, value, size, address);
		code_.release(size);
	}

	// -- calls

	void push_string(unsigned value) {
		code_.emit(DIF_INSTR_R(DIF_OP_FLUSHTS, 0, 0, 0));
		const unsigned size = gen_int(types_.string_size());
		code_.emit(DIF_INSTR_R(DIF_OP_PUSHTR, DIF_KIND_STRING, size, value));
		code_.release(size);
	}

	// One instruction that uses no tuple.
	static bool is_plain(const Node* node) {
		return node->kind == Nk::Int || node->kind == Nk::String ||
		       (node->kind == Nk::Var && !node->variable->assoc) ||
		       (node->kind == Nk::BuiltinVar && !node->builtin->array);
	}

	// All values first: computing one may use the tuple stack itself.
	void gen_arguments(const std::vector<Node*>& list, const std::vector<TypeRef>* keys) {
		if (list.size() > compilation_.settings.tuple_registers)
			throw OutOfTuple{};
		std::vector<Waiting> values(list.size());
		// With many arguments, what does not touch the tuple stack waits for its push.
		const bool late = spilling_ || list.size() > 5;
		for (size_t i = 0; i < list.size(); i++) {
			if (!late || !is_plain(list[i]))
				values[i] = hold(gen_operand(list[i]), true);
		}
		code_.emit(DIF_INSTR_R(DIF_OP_FLUSHTS, 0, 0, 0));
		for (size_t i = 0; i < list.size(); i++) {
			const TypeRef type = list[i]->type;
			const bool text = types_.is_string(type) || (keys && types_.is_string((*keys)[i]));
			const bool by_ref = text || types_.is_array(type) || types_.is_struct(type);
			const unsigned value =
			    late && is_plain(list[i]) ? gen_operand(list[i]) : take(values[i]);
			code_.mark(list[i]->place);
			if (by_ref) {
				const unsigned size = gen_int(text ? text_room(type) : types_.size(type));
				code_.emit(DIF_INSTR_R(DIF_OP_PUSHTR, text ? DIF_KIND_STRING : DIF_KIND_CTF,
				                       size, value));
				code_.release(size);
			} else {
				code_.emit(DIF_INSTR_R(DIF_OP_PUSHTV, DIF_KIND_CTF, 0, value));
			}
			code_.release(value);
		}
	}

	// A text in a char array ends at the array's end, if not before.
	uint64_t text_room(TypeRef type) {
		const uint64_t most = types_.string_size();
		return types_.is_array(type) ? std::min<uint64_t>(types_.size(type), most) : most;
	}

	unsigned gen_call(const Node* node) {
		gen_arguments(node->list, nullptr);
		const unsigned reg = code_.allocate();
		code_.mark(node->place);
		code_.emit(DIF_INSTR_WIDE(DIF_OP_CALL, node->subroutine->number, reg));
		return reg;
	}

	// An assignment inside of another has its own.
	struct Creating {
		Creating(const Node*& now, const Node* node) : now_(now), before_(now) { now = node; }
		~Creating() { now_ = before_; }
		Creating(const Creating&) = delete;
		Creating& operator=(const Creating&) = delete;
		const Node*& now_;
		const Node* before_;
	};

	Compilation& compilation_;
	TypeTable& types_;
	DifoBuilder code_;
	const Node* creating_ = nullptr; // the variable that a store may have to make
	bool spilling_;                  // second attempt: registers did not suffice for the first
	unsigned waiting_ = 0;           // spill slots in use
};

} // namespace

bool exact(TypeTable& types, const Node* node) {
	switch (node->kind) {
	case Nk::Var:
	case Nk::BuiltinVar:
	case Nk::Member:
	case Nk::Symbol:
	case Nk::Cast:
	case Nk::Subr:
	case Nk::Assign: return true;
	case Nk::Captured: return !node->wide;
	case Nk::Unary: return node->op == Tok::Star || node->op == Tok::Not;
	case Nk::Binary:
		return (node->op >= Tok::Lt && node->op <= Tok::Ne) ||
		       (node->op >= Tok::LAnd && node->op <= Tok::LOr);
	case Nk::Ternary: return fits(types, node->b, node->type) && fits(types, node->c, node->type);
	default: return false;
	}
}

bool is_wide(TypeTable& types, const Node* node) {
	return types.is_integer(node->type) && types.size(node->type) < 8 && !exact(types, node);
}

std::optional<dif::Difo> generate(Compilation& compilation, Node* node, const Result& result) {
	if (compilation.deriving)
		collect_inputs(compilation, node);
	if (node->kind == Nk::Error || !substitute_captured(compilation, node, result.cut))
		return std::nullopt;
	for (const bool spilling : {false, true}) {
		try {
			return Generator(compilation, spilling).run(node, result);
		} catch (const DifoBuilder::OutOfRegisters&) {
		} catch (const OutOfTuple&) {
			compilation.error("D_NOREG", node->place,
			                  "Insufficient tuple registers to generate code",
			                  "at most " + std::to_string(compilation.settings.tuple_registers) +
			                      " keys fit; combine several into one with strjoin() or shifts");
			return std::nullopt;
		}
	}
	compilation.error("D_NOREG", node->place, "Insufficient registers to generate code",
	                  "split the expression with this-> variables");
	return std::nullopt;
}

} // namespace dfr::d
