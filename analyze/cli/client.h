// SPDX-License-Identifier: GPL-2.0
//
// What dtrace and `dfr trace` need to be clients of libdfr's C interface: a
// session that closes itself, and lists as C takes them.
#pragma once

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "analyze/include/dfr.h"
#include "formats/error.h"

namespace dfr::cli {

struct CloseSession {
	void operator()(dfr_session* session) const { dfr_session_close(session); }
};
using SessionHandle = std::unique_ptr<dfr_session, CloseSession>;

inline SessionHandle open_session(dfr_session_engine engine) {
	SessionHandle session(dfr_session_open(engine));
	if (!session)
		throw Error("no memory for a session", {}, ENOMEM);
	return session;
}

// "NAME=VALUE" or "NAME". Returns what libdfr says.
inline int set_option(dfr_session* session, const std::string& text) {
	const size_t equals = text.find('=');
	return dfr_session_option(session, text.substr(0, equals).c_str(),
	                          equals == std::string::npos ? nullptr : text.c_str() + equals + 1);
}

// As C takes a list: NULL ends it. Valid as long as `strings`.
inline std::vector<const char*> pointers(const std::vector<std::string>& strings) {
	std::vector<const char*> list;
	for (const std::string& one : strings)
		list.push_back(one.c_str());
	list.push_back(nullptr);
	return list;
}

} // namespace dfr::cli
