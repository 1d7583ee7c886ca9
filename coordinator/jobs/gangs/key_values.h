// KeyValues: what the members of one gang tell each other.
//
// Concept: the runtimes of the members find each other through keys: one puts,
// the others get, and a get may wait until the key is there. The coordinator
// has one such store for each gang, and it goes with the gang. So members of an
// earlier try, whose devices are gone, never answer those of a later one.
// Runners exchange words in rounds, under keys "meshwright/ROUND/RANK"
// (worker/runner/gang_line.h). Who puts one has read all of the round before,
// which the others put when they had read the round before that. So a member's
// key of a round goes when it puts that of the second round after it.
// Units: bytes. Threads: one at a time; the queue's lock guards it.
// Errors: kResourceExhausted where the members put, or wait for, more than
// fits. Source: the key-value callbacks of PJRT_Client_Create (pjrt_c_api.h).
#ifndef MESHWRIGHT_COORDINATOR_JOBS_GANGS_KEY_VALUES_H_
#define MESHWRIGHT_COORDINATOR_JOBS_GANGS_KEY_VALUES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "proto/v1/job.pb.h"

namespace meshwright::jobs::gangs {

class KeyValues {
 public:
  static constexpr int64_t kMaxBytes = int64_t{64} << 20;

  // A get of a member.
  struct Ask {
    int rank = 0;
    int64_t number = 0;
  };
  // An answer to it.
  struct Answer {
    int rank = 0;
    v1::GangMessage message;
  };

  // The answers to those that waited for the key. A second value takes the
  // place of the first. Errors: see above.
  absl::StatusOr<std::vector<Answer>> Put(const std::string& key,
                                          const std::string& value);
  // Nothing: it is answered when the key comes. Errors: see above.
  absl::StatusOr<std::optional<Answer>> Get(Ask ask, const std::string& key,
                                            bool waits);

 private:
  absl::Status Reserve(int64_t bytes);
  void Erase(const std::string& key);

  int64_t bytes_ = 0;
  absl::flat_hash_map<std::string, std::string> values_;
  absl::flat_hash_map<std::string, std::vector<Ask>> waiting_;
};

}  // namespace meshwright::jobs::gangs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_GANGS_KEY_VALUES_H_
