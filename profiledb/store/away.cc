#include "profiledb/store/away.h"

#include "absl/strings/cord.h"

namespace meshwright::store {
namespace {

constexpr char kMark[] = "meshwright.dev/store-away";

}  // namespace

absl::Status MarkAway(absl::Status error) {
  error.SetPayload(kMark, absl::Cord());
  return error;
}

bool IsAway(const absl::Status& status) {
  return status.GetPayload(kMark).has_value();
}

}  // namespace meshwright::store
