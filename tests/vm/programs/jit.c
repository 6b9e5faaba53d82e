// SPDX-License-Identifier: GPL-2.0
/*
 * Guest program: native code against the interpreter. Makes random programs of
 * DIF, runs each twice, as native code and (-x jit=0) interpreted, and compares
 * what they recorded: values, and where and why they faulted.
 *
 *   guest-jit SEED ROUNDS      each round has 24 expressions
 *
 * A round is one DOF: BEGIN clauses that record an expression each, and an ERROR
 * clause that records instruction, code and address of a fault. %r1 to %r5 hold
 * numbers, %r6 and %r7 addresses: those differ from run to run, so nothing that
 * depends on their value is recorded.
 */
#include "client.h"

#define CLAUSES 24
#define TEXT_MAX 60
#define INTS 16
#define FAULT_VALUES 3 /* ERROR's arg3, arg4, arg5 */

static uint64_t random_state;

static uint32_t rnd(uint32_t below) {
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(random_state >> 33) % below;
}

static const uint64_t edge[INTS] = {
    0,
    1,
    2,
    63,
    64,
    0x7f,
    0x80,
    0xffff,
    0x7fffffff,
    0x80000000,
    0xffffffff,
    0x100000000,
    0x7fffffffffffffff,
    0x8000000000000000,
    0xfffffffffffffffe,
    0xffffffffffffffff,
};
/* The end: what a load of eight bytes at the last text's end finds must be known, too. */
static const char strings[] =
    "\0first\0second, longer\0second, longer still\0/a//b/../c\0-12345x\0\0\0\0\0\0\0";
static const uint32_t string_at[] = {0, 1, 7, 22, 43, 54};

static uint32_t number(void) {
	return 1 + rnd(5);
}
static uint32_t address(void) {
	return 6 + rnd(2);
}

/* An address register that points to something known: a string, a constant, nothing. */
static uint32_t set_address(uint32_t reg) {
	static const uint16_t bad[] = {0, 1, 3, 9, 12, 15};

	if (rnd(4))
		return DIF_INSTR_WIDE(DIF_OP_SETS, string_at[rnd(6)], reg);
	return DIF_INSTR_WIDE(DIF_OP_SETX, bad[rnd(6)], reg);
}

static uint32_t builtin(void) {
	static const uint16_t which[] = {DIF_VAR_PID,      DIF_VAR_EPID, DIF_VAR_ID,  DIF_VAR_ARG0,
	                                 DIF_VAR_ARG0 + 5, DIF_VAR_ARG9, DIF_VAR_UID, DIF_VAR_PPID,
	                                 DIF_VAR_TID,      DIF_VAR_ERRNO};

	return DIF_INSTR_WIDE(DIF_OP_LDGS, which[rnd(10)], number());
}

static uint32_t variable(void) {
	static const uint8_t op[] = {DIF_OP_LDGS, DIF_OP_STGS, DIF_OP_LDTS,
	                             DIF_OP_STTS, DIF_OP_LDLS, DIF_OP_STLS};

	return DIF_INSTR_WIDE(op[rnd(6)], DIF_VAR_USER_FIRST + rnd(2), number());
}

static uint32_t load(void) {
	uint32_t op = rnd(3) ? DIF_OP_LDSB + rnd(7) : DIF_OP_RLDSB + rnd(7);

	if (!rnd(8))
		op = DIF_OP_ULDSB + rnd(7);
	return DIF_INSTR_R(op, address(), 0, number());
}

/* Writes a call with its arguments; returns how many instructions. */
static uint32_t call(uint32_t* text) {
	static const struct {
		uint16_t subr, strings, numbers, result; /* result: 1 an address */
	} calls[] = {
	    {DIF_SUBR_STRLEN, 1, 0, 0},    {DIF_SUBR_STRJOIN, 2, 0, 1}, {DIF_SUBR_LLTOSTR, 0, 1, 1},
	    {DIF_SUBR_INDEX, 2, 0, 0},     {DIF_SUBR_SUBSTR, 1, 2, 1},  {DIF_SUBR_TOUPPER, 1, 0, 1},
	    {DIF_SUBR_CLEANPATH, 1, 0, 1}, {DIF_SUBR_STRTOLL, 1, 0, 0}, {DIF_SUBR_HTONL, 0, 1, 0},
	    {DIF_SUBR_STRCHR, 1, 1, 1},
	};
	uint32_t which = rnd(10), n = 0, i;

	text[n++] = (uint32_t)DIF_OP_FLUSHTS << 24;
	for (i = 0; i < calls[which].strings; i++)
		text[n++] = ((uint32_t)DIF_OP_PUSHTR << 24) | (DIF_KIND_STRING << 16) | address();
	for (i = 0; i < calls[which].numbers; i++)
		text[n++] = ((uint32_t)DIF_OP_PUSHTV << 24) | number();
	text[n++] =
	    DIF_INSTR_WIDE(DIF_OP_CALL, calls[which].subr, calls[which].result ? address() : number());
	return n;
}

static uint32_t branch(void) {
	return DIF_INSTR_BRANCH(DIF_OP_BA + rnd(11), 0); /* aimed later */
}

/* Branches go forward, and never into the middle of a call, where its arguments would be missing. */
static void aim(uint32_t* text, uint32_t n, const uint8_t* starts) {
	uint32_t pc, target;

	for (pc = 0; pc < n; pc++) {
		if (DIF_OP(text[pc]) < DIF_OP_BA || DIF_OP(text[pc]) > DIF_OP_BLEU)
			continue;
		do
			target = pc + 1 + rnd(n - pc - 1);
		while (!starts[target]);
		text[pc] |= target;
	}
}

static uint32_t alu(void) {
	static const uint8_t op[] = {DIF_OP_OR,   DIF_OP_XOR,  DIF_OP_AND, DIF_OP_SLL, DIF_OP_SRL,
	                             DIF_OP_SUB,  DIF_OP_ADD,  DIF_OP_MUL, DIF_OP_SRA, DIF_OP_SDIV,
	                             DIF_OP_UDIV, DIF_OP_SREM, DIF_OP_UREM};

	return DIF_INSTR_R(op[rnd(13)], number() * (rnd(9) > 0), number(), number());
}

static uint32_t compare(void) {
	switch (rnd(4)) {
	case 0: return DIF_INSTR_R(DIF_OP_TST, number(), 0, 0);
	case 1: return DIF_INSTR_R(DIF_OP_SCMP, address(), address(), 0);
	}
	return DIF_INSTR_R(DIF_OP_CMP, number(), number() * (rnd(5) > 0), 0);
}

/* One expression; ends with ret of a number. */
static uint32_t expression(uint32_t text[TEXT_MAX]) {
	uint32_t length = 12 + rnd(TEXT_MAX - 20), pc = 0, reg;
	uint8_t starts[TEXT_MAX + 8] = {0};

	for (reg = 1; reg <= 5; reg++)
		text[pc++] = DIF_INSTR_WIDE(DIF_OP_SETX, rnd(INTS), reg);
	text[pc++] = DIF_INSTR_WIDE(DIF_OP_SETS, string_at[rnd(6)], 6);
	text[pc++] = DIF_INSTR_WIDE(DIF_OP_SETS, string_at[rnd(6)], 7);
	while (pc < length) {
		starts[pc] = 1;
		switch (rnd(12)) {
		case 0:
		case 1:
		case 2: text[pc++] = alu(); break;
		case 3:
		case 4:
			text[pc++] = compare();
			text[pc++] = branch();
			break;
		case 5: text[pc++] = branch(); break;
		case 6: text[pc++] = builtin(); break;
		case 7: text[pc++] = variable(); break;
		case 8: text[pc++] = rnd(3) ? load() : set_address(address()); break;
		case 9:
			text[pc++] = DIF_INSTR_R(rnd(2) ? DIF_OP_NOT : DIF_OP_MOV, number(), 0, number());
			break;
		case 10: text[pc++] = DIF_INSTR_WIDE(DIF_OP_SETX, rnd(INTS), number()); break;
		default:
			if (pc + 5 < length)
				pc += call(text + pc);
			break;
		}
	}
	starts[pc] = 1;
	text[pc++] = DIF_INSTR_R(DIF_OP_RET, 0, 0, number());
	aim(text, pc, starts);
	return pc;
}

/* --- The DOF. -------------------------------------------------------------- */

static uint8_t dof[128 * 1024];
#define SECTIONS (6 + 8 * (CLAUSES + 1) + 2 * FAULT_VALUES)

static struct tiny_writer writer(void) {
	struct tiny_writer w = {dof, dof + 64 + SECTIONS * sizeof(struct dof_sec),
	                        (struct dof_sec*)(dof + 64), 0};

	memset(dof, 0, sizeof(dof));
	return w;
}

static void variables(struct tiny_writer* w) {
	struct dif_var* var = tiny_section(w, DOF_SECT_VARTAB, sizeof(*var), 6 * sizeof(*var));
	uint32_t scope, i;

	for (scope = DIF_VS_GLOBAL; scope <= DIF_VS_LOCAL; scope++)
		for (i = 0; i < 2; i++, var++) {
			var->id = DIF_VAR_USER_FIRST + i;
			var->kind = DIF_VK_SCALAR;
			var->scope = (uint8_t)scope;
			var->flags = DIF_VF_REF | DIF_VF_MOD;
			var->type.ckind = DIF_CK_INTEGER;
			var->type.size = 8;
		}
}

/* A DIFO of this text; returns its section. Sections 0 to 3 are what it links to. */
static uint32_t difo(struct tiny_writer* w, const uint32_t* text, uint32_t n) {
	uint32_t at = w->count;
	struct dof_difohdr* header;

	memcpy(tiny_section(w, DOF_SECT_DIF, 4, 4ULL * n), text, 4ULL * n);
	header = tiny_section(w, DOF_SECT_DIFOHDR, 0, sizeof(*header) + 16);
	header->rtype.ckind = DIF_CK_INTEGER;
	header->rtype.size = 8;
	header->links[0] = at;
	header->links[1] = 1; /* INTTAB */
	header->links[2] = 0; /* STRTAB */
	header->links[3] = 2; /* VARTAB */
	return at + 1;
}

static uint32_t probe(struct tiny_writer* w, uint32_t name) {
	struct dof_probedesc* description =
	    tiny_section(w, DOF_SECT_PROBEDESC, sizeof(*description), sizeof(*description));

	description->strtab = 3;
	description->provider = 1;
	description->name = name;
	return w->count - 1;
}

static void clause(struct tiny_writer* w, uint32_t at_probe, const uint32_t* difos, uint32_t n) {
	struct dof_actdesc* action = tiny_section(w, DOF_SECT_ACTDESC, sizeof(*action), n * sizeof(*action));
	struct dof_ecbdesc* ecb;
	uint32_t i;

	for (i = 0; i < n; i++) {
		action[i].difo = difos[i];
		action[i].strtab = DOF_STRIDX_NONE;
		action[i].kind = DFR_ACT_DIFEXPR;
		action[i].uarg = DFR_UARG(i, 0, 0);
	}
	ecb = tiny_section(w, DOF_SECT_ECBDESC, 0, sizeof(*ecb));
	ecb->probes = at_probe;
	ecb->pred = DOF_SECIDX_NONE;
	ecb->actions = w->count - 2;
}

static size_t finish(struct tiny_writer* w) {
	struct dof_header* header = (struct dof_header*)dof;

	tiny_header(header, w);
	return header->loadsz;
}

static void options(struct tiny_writer* w, uint64_t jit) {
	struct dof_optdesc* option = tiny_section(w, DOF_SECT_OPTDESC, sizeof(*option), 2 * sizeof(*option));

	option[0].option = DFR_OPT_BUFSIZE;
	option[0].strtab = DOF_STRIDX_NONE;
	option[0].value = 256 * 1024;
	option[1].option = DFR_OPT_JIT;
	option[1].strtab = DOF_STRIDX_NONE;
	option[1].value = jit;
}

static size_t make_round(uint64_t seed, uint64_t jit) {
	static const char names[] = "\0dtrace\0BEGIN\0ERROR";
	uint32_t text[TEXT_MAX + 8], difos[FAULT_VALUES], i, n;
	struct tiny_writer w = writer();

	random_state = seed;
	memcpy(tiny_section(&w, DOF_SECT_STRTAB, 0, sizeof(strings)), strings, sizeof(strings));
	memcpy(tiny_section(&w, DOF_SECT_INTTAB, 8, sizeof(edge)), edge, sizeof(edge));
	variables(&w);
	memcpy(tiny_section(&w, DOF_SECT_STRTAB, 0, sizeof(names)), names, sizeof(names));
	for (i = 0; i < CLAUSES; i++) {
		n = expression(text);
		difos[0] = difo(&w, text, n);
		clause(&w, probe(&w, 8), difos, 1);
	}
	for (i = 0; i < FAULT_VALUES; i++) {
		text[0] = DIF_INSTR_WIDE(DIF_OP_LDGS, DIF_VAR_ARG0 + 3 + i, 1);
		text[1] = DIF_INSTR_R(DIF_OP_RET, 0, 0, 1);
		difos[i] = difo(&w, text, 2);
	}
	clause(&w, probe(&w, 14), difos, FAULT_VALUES);
	options(&w, jit);
	return finish(&w);
}

/* --- What a round recorded. ------------------------------------------------ */

#define VALUES_MAX (CLAUSES * (1 + FAULT_VALUES) + 8)
struct outcome { /* compared whole, so without padding */
	uint64_t count;
	uint64_t values[VALUES_MAX]; /* EPID, then its fields, record after record */
	uint64_t errors;
};

static uint64_t integer(const uint8_t** at, uint32_t code) {
	uint64_t value = 0;

	memcpy(&value, *at, 1U << code);
	*at += 1U << code;
	return value;
}

/* Records of this program only: numbers, and contexts between them. */
static void read_block(const struct dfr_block* block, void* arg) {
	struct outcome* outcome = arg;
	const uint8_t* at = (const uint8_t*)block + block->hdr_size;
	const uint8_t* end = at + block->committed;

	while (at < end) {
		uint32_t head, id, codes, fields, i;

		memcpy(&head, at, 4);
		at += 4;
		id = DFR_REC_ID(head);
		if (id == DFR_REC_ID_LONG) {
			memcpy(&id, at, 4);
			at += 12;
		}
		if (!id) {
			if (*at++ != DFR_CONTROL_CONTEXT)
				die("a control record of kind %u", at[-1]);
			codes = at[0] | at[1] << 8;
			at += 2;
			for (i = 0; i < 5; i++)
				integer(&at, codes >> (2 * i) & 3);
			at += strlen((const char*)at) + 1;
			continue;
		}
		fields = id == CLAUSES + 1 ? FAULT_VALUES : 1;
		codes = *at++;
		if (outcome->count + 1 + fields > VALUES_MAX)
			die("more records than clauses");
		outcome->values[outcome->count++] = id;
		for (i = 0; i < fields; i++)
			outcome->values[outcome->count++] = integer(&at, codes >> (2 * i) & 3);
		/* Of a fault's address in the kernel only the place in its word is the same twice. */
		if (fields == FAULT_VALUES && outcome->values[outcome->count - 1] >> 63)
			outcome->values[outcome->count - 1] &= 7;
	}
}

static unsigned int native_now(void) {
	FILE* file = fopen("/sys/module/dfr/parameters/native", "r");
	unsigned int n = 0;

	if (!file || fscanf(file, "%u", &n) != 1)
		die("cannot read how much is native code");
	fclose(file);
	return n;
}

static unsigned int run(uint64_t seed, uint64_t jit, struct outcome* outcome) {
	struct dfr_ioc_status st;
	struct dfr_ioc_enable io;
	size_t size = make_round(seed, jit);
	int fd = open_device(), error = enable_dof(fd, dof, size, &io);
	unsigned int native;

	if (error)
		die("seed %llu: enable: %s: %s (section %d, offset %llu)", (unsigned long long)seed,
		    strerror(error), io.reason, (int)io.error_section, (unsigned long long)io.error_offset);
	native = native_now();
	go(fd);
	stop(fd);
	memset(outcome, 0, sizeof(*outcome));
	status(fd, &st);
	outcome->errors = st.errors;
	drain(fd, read_block, outcome);
	close(fd);
	return native;
}

int main(int argc, char** argv) {
	static struct outcome native, interpreted;
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	long rounds = argc > 2 ? atol(argv[2]) : 100, r, different = 0, values = 0, faults = 0;
	long compiled = 0;

	for (r = 0; r < rounds; r++) {
		compiled += run(seed + (uint64_t)r, 1, &native);
		if (run(seed + (uint64_t)r, 0, &interpreted))
			die("jit=0 made native code");
		values += native.count;
		faults += (long)native.errors;
		if (!memcmp(&native, &interpreted, sizeof(native)))
			continue;
		if (different++ > 2)
			continue;
		printf("seed %llu differs\n", (unsigned long long)seed + (uint64_t)r);
		for (uint32_t i = 0; i < native.count || i < interpreted.count; i++)
			if (native.values[i] != interpreted.values[i])
				printf("  value %u: native %llx, interpreted %llx\n", i,
				       (unsigned long long)native.values[i],
				       (unsigned long long)interpreted.values[i]);
	}
	printf("%ld rounds, %ld values, %ld faults, %ld native expressions, %ld different\n", rounds, values,
	       faults, compiled, different);
	return different ? 1 : 0;
}
