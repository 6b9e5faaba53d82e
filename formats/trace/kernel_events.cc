// SPDX-License-Identifier: GPL-2.0
//
// KernelEvents as the payload of a segment.
#include "formats/trace/kernel_events.h"

#include "dfr.capnp.h"
#include "formats/error.h"
#include "formats/trace/message.h"

namespace dfr::trace {

uint32_t KernelEventsBuilder::number(std::string_view text) {
	const uint32_t at = table_.number(text);
	if (at == events.texts.size())
		events.texts.emplace_back(text);
	return at;
}

void KernelEventsBuilder::add(uint64_t time, uint32_t cpu, uint32_t pid, std::string_view name,
                              std::string_view text) {
	events.events.push_back({time, cpu, pid, number(name), number(text)});
}

KernelEvents KernelEvents::only(const std::function<bool(const Event&)>& wanted) const {
	KernelEventsBuilder out;
	out.events.lost = lost;
	out.events.remarks = remarks;
	for (const Event& event : events)
		if (wanted(event))
			out.add(event.time, event.cpu, event.pid, texts[event.name], texts[event.text]);
	return std::move(out.events);
}

std::vector<std::byte> encode_kernel_events(const KernelEvents& events) {
	capnp::MallocMessageBuilder message;
	auto root = message.initRoot<schema::KernelEvents>();
	auto texts = root.initTexts(events.texts.size());
	for (size_t i = 0; i < events.texts.size(); i++)
		texts.set(i, events.texts[i]);
	auto list = root.initEvents(events.events.size());
	for (size_t i = 0; i < events.events.size(); i++) {
		list[i].setTime(events.events[i].time);
		list[i].setCpu(events.events[i].cpu);
		list[i].setPid(events.events[i].pid);
		list[i].setName(events.events[i].name);
		list[i].setText(events.events[i].text);
	}
	root.setLost(events.lost);
	auto remarks = root.initRemarks(events.remarks.size());
	for (size_t i = 0; i < events.remarks.size(); i++)
		remarks.set(i, events.remarks[i]);
	return flatten(message);
}

// Checks every number, so that whoever has a KernelEvents need not.
KernelEvents decode_kernel_events(std::span<const std::byte> payload) {
	KernelEvents out;
	with_root<schema::KernelEvents>(payload, "the kernel's own events", [&](auto root, auto& lists) {
		for (const auto one : root.getTexts())
			out.texts.push_back(text(one));
		const auto number = [&out](uint32_t at) {
			if (at >= out.texts.size())
				throw Error("the kernel's own events cannot be read: text " +
				            std::to_string(at) + " of " + std::to_string(out.texts.size()));
			return at;
		};
		for (const auto event : lists.of(root.getEvents()))
			out.events.push_back({event.getTime(), event.getCpu(), event.getPid(),
			                      number(event.getName()), number(event.getText())});
		out.lost = root.getLost();
		for (const auto remark : root.getRemarks())
			out.remarks.push_back(text(remark));
	});
	return out;
}

} // namespace dfr::trace
