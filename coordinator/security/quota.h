// Quota: how much of a coordinator the plans of one namespace may take.
//
// Concept: an administrator sets it in the token file, beside the tokens that
// name the namespace. An absent number is no limit. A submission beyond one is
// refused in a sentence that says the limit and whom to ask
// (profiledb/store/plan_limits.h).
// Units: bytes. Threads: a value.
#ifndef MESHWRIGHT_COORDINATOR_SECURITY_QUOTA_H_
#define MESHWRIGHT_COORDINATOR_SECURITY_QUOTA_H_

#include <cstdint>
#include <optional>
#include <string>

namespace meshwright::security {

struct Quota {
  std::string name_space;               // "shared": of callers without one
  std::optional<int64_t> plans;         // that have not ended
  std::optional<int64_t> programs;      // that one plan has measured
  std::optional<int64_t> module_bytes;  // of these plans together
  std::optional<int64_t>
      stored_bytes;  // of modules and requests, of ended plans too
};

}  // namespace meshwright::security

#endif  // MESHWRIGHT_COORDINATOR_SECURITY_QUOTA_H_
