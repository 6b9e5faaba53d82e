// SPDX-License-Identifier: GPL-2.0
//
// The engine in this process, as a trace::LiveSource like the device.
#include "analyze/engine/engine_session.h"

#include <cstring>
#include <sys/mman.h>

#include "analyze/engine/engine_c.h"
#include "formats/error.h"

namespace dfr::engine {

struct EngineSession::Provider {
	std::string name;
	dfr_provider_ops ops{};
	dfr_provider provider{};
};

// Holds the engine's lock, which most calls of the engine require.
class EngineSession::Lock {
public:
	explicit Lock(dfr_engine* engine) : mutex_(dfr_engine_lock(engine)) { dfr_mutex_lock(mutex_); }
	~Lock() { dfr_mutex_unlock(mutex_); }
	Lock(const Lock&) = delete;
	Lock& operator=(const Lock&) = delete;

private:
	dfr_mutex* mutex_;
};

namespace {

constexpr size_t kPage = 4096;
// From so many on, blocks that were taken give their memory back: rings are filled all around, and each CPU has its own.
constexpr unsigned kManyCpus = 16;

int arm_nothing(dfr_provider*, dfr_probe*) {
	return 0;
}
void disarm_nothing(dfr_provider*, dfr_probe*) {}

const char* hint_of(int code) {
	return code == -EACCES ? "-w allows destructive actions" : "";
}

[[noreturn]] void fail(const char* what, int code) {
	throw Error(std::string(what) + ": " + std::strerror(-code), {}, -code);
}

Error refused(const dfr_refusal& why) {
	std::string text = "the program was refused: ";
	text += why.rf_reason;
	if (why.rf_section == 0xffffffffu && why.rf_offset == 0) // not the DOF, but an option of it
		return Error(
		    text,
		    "correct the option that is named; if none is, compile it again with this version of dfr",
		    EINVAL);
	if (why.rf_section == 0xffffffffu)
		text += " (DOF header";
	else
		text += " (DOF section " + std::to_string(why.rf_section);
	text += ", offset " + std::to_string(why.rf_offset) + ")";
	return Error(
	    text, "make the program smaller; if its DOF was made by another version of dfr, compile it again",
	    EINVAL);
}

} // namespace

EngineSession::EngineSession(std::string name, unsigned cpus, bool destructive)
    : name_(std::move(name)), destructive_(destructive), many_cpus_(cpus >= kManyCpus) {
	if (cpus > DFR_USER_CPUS_MAX)
		throw Error(name_ + ": it has " + std::to_string(cpus) +
		                " CPUs, and an engine of this process has " +
		                std::to_string(DFR_USER_CPUS_MAX) + " at most",
		            "dfr replay FILE without a program prints what was recorded, and dfr info FILE "
		            "what there is");
	dfr_user_set_ncpus(cpus);
	host_ = dfr_host_create();
	if (!host_)
		fail("cannot create an engine", -ENOMEM);
	engine_ = dfr_engine_create(host_);
	if (!engine_) {
		dfr_host_destroy(host_);
		fail("cannot create an engine", -ENOMEM);
	}
	const Lock lock(engine_);
	if (const int code = dfr_state_create(engine_, &state_))
		fail("cannot create a state", code);
}

void EngineSession::end_state() {
	const Lock lock(engine_);
	if (state_)
		dfr_state_destroy(state_);
	state_ = nullptr;
}

EngineSession::~EngineSession() {
	end_state();
	for (auto& provider : providers_)
		dfr_provider_unregister(&provider->provider);
	dfr_engine_destroy(engine_);
	dfr_host_destroy(host_);
}

dfr_provider* EngineSession::add_provider(const std::string& name, const dfr_provider_ops* ops, void* cookie,
                                          uint32_t flags) {
	auto own = std::make_unique<Provider>();
	own->name = name;
	if (ops)
		own->ops = *ops;
	if (!own->ops.arm)
		own->ops.arm = arm_nothing;
	if (!own->ops.disarm)
		own->ops.disarm = disarm_nothing;
	own->provider.pv_name = own->name.c_str();
	own->provider.pv_ops = &own->ops;
	own->provider.pv_cookie = cookie;
	own->provider.pv_flags = flags;
	if (const int code = dfr_provider_register(engine_, &own->provider))
		fail("cannot add a provider", code);
	providers_.push_back(std::move(own));
	return &providers_.back()->provider;
}

dfr_probe* EngineSession::add_probe(dfr_provider* provider, const std::string& module,
                                    const std::string& function, const std::string& name, uint32_t nargs,
                                    void* cookie) {
	return dfr_probe_create(provider, module.c_str(), function.c_str(), name.c_str(), nargs, cookie);
}

void EngineSession::probes_added() {
	dfr_probes_created(engine_);
}

uint32_t EngineSession::enable(std::span<const std::byte> dof, bool zero_ok) {
	const Lock lock(engine_);
	dfr_load_limits limits{};
	limits.ll_kernel_reads = true;
	limits.ll_destructive = destructive_;
	dfr_refusal why{};
	uint32_t matched = 0;
	const int code = dfr_state_enable(state_, dof.data(), dof.size(), &limits,
	                                  zero_ok ? DFR_ENABLE_ZERO_OK : 0, &matched, &why);
	if (code == -EINVAL && why.rf_reason[0] != '\0')
		throw refused(why);
	if (code && why.rf_reason[0] != '\0')
		throw Error(why.rf_reason, hint_of(code), -code);
	if (code)
		fail("cannot load the program", code);
	return matched;
}

uint32_t EngineSession::go() {
	const Lock lock(engine_);
	uint32_t cpu = 0;
	dfr_user_agg_room = agg_room_;
	const int code = dfr_state_go(state_, &cpu);
	dfr_user_agg_room = 0;
	if (code)
		throw Error(std::strerror(-code), hint_of(code), -code);
	running_ = true;
	return cpu;
}

uint32_t EngineSession::stop() {
	const Lock lock(engine_);
	uint32_t cpu = 0;
	if (running_)
		if (const int code = dfr_state_stop(state_, &cpu))
			fail("cannot stop", code);
	running_ = false;
	return cpu;
}

dfr_ioc_status EngineSession::status() {
	const Lock lock(engine_);
	dfr_ioc_status status{};
	status.size = sizeof status;
	dfr_state_status(state_, &status);
	return status;
}

bool EngineSession::exited() {
	return status().exited != 0;
}

bool EngineSession::due(unsigned cpu) const {
	return dfr_user_due(state_, cpu);
}

uint64_t EngineSession::recorded(unsigned cpu) const {
	return dfr_user_recorded(state_, cpu);
}

void EngineSession::settle() {
	const Lock lock(engine_);
	u64 bytes = 0;
	dfr_state_aggsnap(state_, nullptr, 0, &bytes,
	                  false); // there is no room for the table, but it is merged
}

void EngineSession::clean() {
	const Lock lock(engine_);
	dfr_state_clean(state_);
}

const trace::Catalog& EngineSession::catalog() {
	const Lock lock(engine_);
	std::vector<std::byte> buffer;
	for (;;) {
		u64 committed = 0;
		dfr_state_catalog(state_, catalog_read_, nullptr, 0, &committed);
		if (committed <= catalog_read_)
			return catalog_;
		buffer.resize(committed - catalog_read_);
		const size_t bytes =
		    dfr_state_catalog(state_, catalog_read_, buffer.data(), buffer.size(), &committed);
		const size_t used = catalog_.parse(std::span(buffer).first(std::min(bytes, buffer.size())));
		if (used == 0)
			return catalog_;
		catalog_read_ += used;
	}
}

std::optional<trace::Block> EngineSession::next() {
	const Lock lock(engine_);
	if (taken_.empty()) {
		dfr_ioc_taken taken[64];
		uint32_t count = 0;
		bool left = false;
		if (const int code = dfr_state_take(state_, DFR_ALL_CPUS, flush_, taken, 64, &count, &left))
			fail("cannot take blocks", code);
		if (count == 0 && left) // nothing is held here, so it lacks memory
			throw std::bad_alloc();
		if (count == 0) {
			flush_ = false;
			return std::nullopt;
		}
		taken_.insert(taken_.end(), taken, taken + count);
	}
	const dfr_ioc_taken one = taken_.front();
	taken_.pop_front();
	trace::Block block;
	const dfr_block* const from = dfr_state_block(state_, one.cpu, one.block);
	if (from) {
		const size_t used = from->hdr_size + static_cast<size_t>(from->committed);
		const auto* const bytes = reinterpret_cast<const std::byte*>(from);
		block.bytes.assign(bytes, bytes + used);
		block.verified = true; // no checksum needed, because the block never left this process
	}
	dfr_state_release(state_, one.cpu, one.block, one.seq);
	if (from && many_cpus_ && from->size % kPage == 0) // it is spare now, and zeros are no block
		madvise(const_cast<dfr_block*>(from), from->size, MADV_DONTNEED);
	return block;
}

std::vector<trace::AggEntry> EngineSession::aggregations() {
	settle();
	const Lock lock(engine_);
	std::vector<trace::AggEntry> entries = added_;
	// Where it is, because a table with room for many keys is long even if it has few.
	if (const dfr_aggtab* const table = dfr_user_aggregations(state_))
		trace::merge_aggregation_table({reinterpret_cast<const std::byte*>(table), table->used},
		                               entries);
	return entries;
}

trace::Losses EngineSession::losses() {
	trace::Losses losses;
	const dfr_ioc_status now = status();
	for (uint32_t cause = 0; cause < DFR_LOSS_MAX; cause++)
		if (now.loss[cause] != 0)
			losses.add({.cause = cause,
			            .probe = 0,
			            .cpu = -1,
			            .count = now.loss[cause],
			            .from = 0,
			            .to = 0});
	return losses;
}

void EngineSession::clear_aggregation(uint32_t varid, bool remove) {
	const Lock lock(engine_);
	dfr_state_aggclear(state_, varid, remove);
	std::erase_if(added_, [varid](const trace::AggEntry& entry) { return entry.varid == varid; });
}

int64_t EngineSession::option(uint32_t option) {
	const Lock lock(engine_);
	return static_cast<int64_t>(dfr_state_option(state_, option));
}

} // namespace dfr::engine
