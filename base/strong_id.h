// Ids that cannot be mixed up: StrongId<struct JobTag> and
// StrongId<struct WorkerTag> are different types. Zero names nothing.
#ifndef MESHWRIGHT_BASE_STRONG_ID_H_
#define MESHWRIGHT_BASE_STRONG_ID_H_

#include <compare>
#include <cstdint>

namespace meshwright::base {

template <typename Tag>
struct StrongId {
  int64_t value = 0;

  friend auto operator<=>(const StrongId&,
                          const StrongId&) = default;  // NOLINT
};

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_STRONG_ID_H_
