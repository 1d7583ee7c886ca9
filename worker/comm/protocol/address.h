// FindPort: the port of an address of a host.
//
// Threads: pure function. Errors: none.
#ifndef MESHWRIGHT_WORKER_COMM_PROTOCOL_ADDRESS_H_
#define MESHWRIGHT_WORKER_COMM_PROTOCOL_ADDRESS_H_

#include <optional>
#include <string_view>

namespace meshwright::worker::comm {

// Of HOST:PORT; none where that is no port of 1 to 65535.
std::optional<int> FindPort(std::string_view address);

}  // namespace meshwright::worker::comm

#endif  // MESHWRIGHT_WORKER_COMM_PROTOCOL_ADDRESS_H_
