// SPDX-License-Identifier: GPL-2.0
//
// Names of hosts and services, by the C library.
#include "analyze/render/names.h"

#include <arpa/inet.h>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace dfr::render {
namespace {

std::string name_of_sockaddr(const void* address, socklen_t size, const std::string& otherwise) {
	char host[NI_MAXHOST];
	const int failed = getnameinfo(static_cast<const sockaddr*>(address), size, host, sizeof host,
	                               nullptr, 0, NI_NAMEREQD);
	return failed ? otherwise : std::string(host);
}

} // namespace

std::string host_name(const std::string& address) {
	sockaddr_in v4{};
	v4.sin_family = AF_INET;
	if (inet_pton(AF_INET, address.c_str(), &v4.sin_addr) == 1)
		return name_of_sockaddr(&v4, sizeof v4, address);
	sockaddr_in6 v6{};
	v6.sin6_family = AF_INET6;
	if (inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr) == 1)
		return name_of_sockaddr(&v6, sizeof v6, address);
	return address;
}

std::string service_name(uint16_t port) {
	const servent* const service = getservbyport(htons(port), nullptr);
	return service ? service->s_name : std::to_string(port);
}

} // namespace dfr::render
