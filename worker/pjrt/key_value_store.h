// KeyValueStore: how the clients of one mesh find each other.
//
// Concept: a mesh may be spread over several processes, each with a client of
// its own. One puts a key, the others get it.
// Threads: all methods from any thread; the plugin calls them from its own.
// Errors: Get gives kDeadlineExceeded where the key does not come in time,
// TryGet kNotFound where it is not there, all kUnavailable where the others
// cannot be reached any more.
// Source: the key-value callbacks of PJRT_Client_Create (pjrt_c_api.h).
#ifndef MESHWRIGHT_WORKER_PJRT_KEY_VALUE_STORE_H_
#define MESHWRIGHT_WORKER_PJRT_KEY_VALUE_STORE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace meshwright::worker::pjrt {

class KeyValueStore {
 public:
  virtual ~KeyValueStore() = default;
  virtual absl::Status Put(const std::string& key,
                           const std::string& value) = 0;
  // Waits for the key.
  virtual absl::StatusOr<std::string> Get(const std::string& key,
                                          absl::Duration timeout) = 0;
  virtual absl::StatusOr<std::string> TryGet(const std::string& key) = 0;
};

}  // namespace meshwright::worker::pjrt

#endif  // MESHWRIGHT_WORKER_PJRT_KEY_VALUE_STORE_H_
