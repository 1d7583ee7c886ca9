// InputCache: whole input tensors, made once per spec, type and shape.
//
// Concept: the programs of a batch are shardings of the same few segments, so
// nearly all of their inputs are equal. The least recently used tensors go when
// the cache holds more than `maximum_bytes`; one larger than that is made and
// not kept.
// Ownership: a tensor handed out lives as long as anyone holds it.
// Threads: one. Errors: those of MakeInput.
#ifndef MESHWRIGHT_WORKER_RUNNER_INPUT_CACHE_H_
#define MESHWRIGHT_WORKER_RUNNER_INPUT_CACHE_H_

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/v1/job.pb.h"
#include "worker/pjrt/buffer.h"

namespace meshwright::worker::runner {

class InputCache {
 public:
  explicit InputCache(int64_t maximum_bytes) : maximum_bytes_(maximum_bytes) {}

  // Never null. Equal arguments give equal tensors, cached or not.
  absl::StatusOr<std::shared_ptr<const pjrt::HostArray>> Get(
      const v1::InputSpec& spec, hlo::PrimitiveType type,
      const std::vector<int64_t>& dimensions);

  int made() const { return made_; }

 private:
  struct Entry {
    std::shared_ptr<const pjrt::HostArray> array;
    std::list<std::string>::iterator use;
  };

  const int64_t maximum_bytes_;
  int64_t bytes_ = 0;
  int made_ = 0;
  std::map<std::string, Entry> entries_;
  std::list<std::string> uses_;  // keys, the least recently used first
};

}  // namespace meshwright::worker::runner

#endif  // MESHWRIGHT_WORKER_RUNNER_INPUT_CACHE_H_
