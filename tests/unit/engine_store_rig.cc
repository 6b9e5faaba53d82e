// SPDX-License-Identifier: GPL-2.0
//
// The rig of the recording half's tests: see engine_store_rig.h.
#include "tests/unit/engine_store_rig.h"

#include <catch2/catch.hpp>

namespace store_rig {

namespace {

int count_arm(dfr_provider* provider, dfr_probe* probe) {
	Rig* rig = static_cast<Rig*>(provider->pv_cookie);
	if (rig->arm_error)
		return rig->arm_error;
	rig->armed.push_back(std::string("+") + probe->pb_function);
	return 0;
}

void count_disarm(dfr_provider* provider, dfr_probe* probe) {
	static_cast<Rig*>(provider->pv_cookie)->armed.push_back(std::string("-") + probe->pb_function);
}

int count_commit(dfr_provider* provider) {
	Rig* rig = static_cast<Rig*>(provider->pv_cookie);
	rig->armed.push_back("commit");
	if (rig->patching)
		rig->patching();
	return 0;
}

} // namespace

Rig::Rig(unsigned cpus) {
	dfr_user_set_ncpus(cpus);
	dfr_user_cpu = 0;
	engine_ = dfr_engine_create(nullptr);
	REQUIRE(engine_);
	ops.arm = count_arm;
	ops.disarm = count_disarm;
	ops.commit = count_commit;
	provider.pv_name = "rig";
	provider.pv_ops = &ops;
	provider.pv_cookie = this;
	REQUIRE(dfr_provider_register(engine_, &provider) == 0);
	env.ev_pid = 100;
	env.ev_tid = 101;
	env.ev_nspid = 3;
	env.ev_cgroup = 7;
	env.ev_task = 101;
	std::strcpy(env.ev_comm, "csh");
}

Rig::~Rig() {
	dfr_engine_destroy(engine_);
}

dfr_probe* Rig::probe(const std::string& function, const std::string& name, uint32_t nargs,
                      const std::string& module) {
	dfr_probe* made =
	    dfr_probe_create(&provider, module.c_str(), function.c_str(), name.c_str(), nargs, nullptr);
	REQUIRE(made);
	return made;
}

void Rig::fire(dfr_probe* probe, std::vector<uint64_t> args, uint64_t time) {
	dfr_env now = env;
	now.ev_time = time;
	std::vector<u64> raw(args.begin(), args.end());
	dfr_fire_env(probe, raw.data(), static_cast<unsigned>(raw.size()), nullptr, &now);
}

State::State(Rig& rig) {
	REQUIRE(dfr_state_create(rig.engine(), &state) == 0);
}

State::~State() {
	dfr_state_destroy(state);
}

Running::Running(const Program& program, const std::function<void(Rig&)>& before)
    : read(rig.probe("read")), state(rig) {
	if (before)
		before(rig);
	REQUIRE(state.enable(program) == 0);
	REQUIRE(state.go() == 0);
}

int State::enable(const Program& program, uint32_t flags) {
	dfr_load_limits limits{true, true};
	dfr_refusal why{};
	std::vector<uint8_t> bytes = program.bytes();
	int error = dfr_state_enable(state, bytes.data(), bytes.size(), &limits, flags, &matched, &why);
	reason = error ? why.rf_reason : "";
	return error;
}

int State::go() {
	return dfr_state_go(state, &begin_cpu);
}

int State::stop() {
	return dfr_state_stop(state, &end_cpu);
}

dfr_ioc_status State::status() {
	dfr_ioc_status status;
	dfr_state_status(state, &status);
	return status;
}

void State::read_catalog() {
	std::vector<std::byte> buffer(1 << 16);
	u64 committed = 0;
	for (;;) {
		size_t n = dfr_state_catalog(state, catalog_read_, buffer.data(), buffer.size(), &committed);
		if (!n)
			break;
		catalog_rest_.insert(catalog_rest_.end(), buffer.begin(),
		                     buffer.begin() + static_cast<long>(n));
		catalog_read_ += n;
	}
	size_t used = catalog.parse(catalog_rest_);
	catalog_rest_.erase(catalog_rest_.begin(), catalog_rest_.begin() + static_cast<long>(used));
}

std::vector<dfr_ioc_taken> State::take_raw(uint32_t flags, uint32_t room) {
	std::vector<dfr_ioc_taken> taken(room);
	u32 count = 0;
	REQUIRE(dfr_state_take(state, DFR_ALL_CPUS, flags, taken.data(), room, &count, &left) == 0);
	taken.resize(count);
	return taken;
}

std::vector<Record> State::decode(const dfr_ioc_taken& taken) {
	const dfr_block* head = dfr_state_block(state, taken.cpu, taken.block);
	REQUIRE(head);
	REQUIRE(head->seq == taken.seq);
	dfr::trace::Block block;
	const std::byte* bytes = reinterpret_cast<const std::byte*>(head);
	block.bytes.assign(bytes, bytes + head->size);
	blocks.push_back(*head);
	std::vector<Record> records;
	dfr::trace::BlockDecoder decoder(catalog);
	decoder.decode(
	    block,
	    [&](const dfr::trace::Record& record) {
		    Record owned;
		    owned.time = record.time;
		    owned.commit_time = record.commit_time;
		    owned.seq = record.seq;
		    owned.cpu = record.cpu;
		    owned.epid = record.epid;
		    owned.speculation = record.speculation;
		    owned.offset = record.offset;
		    owned.level = record.level;
		    owned.task = record.context.task;
		    owned.pid = record.context.pid;
		    owned.tid = record.context.tid;
		    owned.nspid = record.context.nspid;
		    owned.cgroup = record.context.cgroup;
		    owned.execname = record.context.execname;
		    for (const dfr::trace::Value& value : record.fields) {
			    owned.numbers.push_back(value.number);
			    owned.texts.emplace_back(value.text());
			    owned.faults.push_back(value.fault);
			    owned.fault_values.push_back(value.fault_value);
		    }
		    records.push_back(std::move(owned));
		    return true;
	    },
	    &losses);
	damage += decoder.damage().blocks + decoder.damage().regions;
	return records;
}

std::vector<Record> State::take(bool flush) {
	std::vector<Record> all;
	std::vector<dfr_ioc_taken> taken = take_raw(flush);
	read_catalog(); // whatever a record needs is in the catalog before it
	for (const dfr_ioc_taken& one : taken) {
		std::vector<Record> records = decode(one);
		all.insert(all.end(), records.begin(), records.end());
		REQUIRE(dfr_state_release(state, one.cpu, one.block, one.seq) == 0);
	}
	return all;
}

std::map<std::string, std::vector<uint64_t>> State::aggregation(uint32_t varid) {
	std::vector<uint64_t> buffer(1 << 20);
	u64 bytes = 0;
	std::map<std::string, std::vector<uint64_t>> result;
	REQUIRE(dfr_state_aggsnap(state, buffer.data(), buffer.size() * 8, &bytes, false) == 0);
	const std::byte* at = reinterpret_cast<const std::byte*>(buffer.data());
	const dfr_aggtab* table = reinterpret_cast<const dfr_aggtab*>(at);
	if (!bytes)
		return result;
	REQUIRE(table->magic == DFR_AGGTAB_MAGIC);
	for (uint64_t offset = sizeof(*table) + table->nbuckets * 4ull; offset < bytes;) {
		const dfr_aggent* entry = reinterpret_cast<const dfr_aggent*>(at + offset);
		const char* key = reinterpret_cast<const char*>(entry + 1);
		const uint64_t* words = reinterpret_cast<const uint64_t*>(key + entry->key_size);
		if (entry->varid == varid)
			result[std::string(key, entry->key_size)] =
			    std::vector<uint64_t>(words, words + entry->words);
		offset += sizeof(*entry) + entry->key_size + entry->words * 8ull;
	}
	return result;
}

std::string key_of(std::vector<uint64_t> words) {
	return std::string(reinterpret_cast<const char*>(words.data()), words.size() * 8);
}

std::string key_of_text(const std::string& text) {
	std::string key = text + std::string(1, '\0');
	key.resize((key.size() + 7) / 8 * 8);
	return key;
}

} // namespace store_rig
