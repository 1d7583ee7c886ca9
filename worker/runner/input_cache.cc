#include "worker/runner/input_cache.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "worker/runner/tensor_values.h"

namespace meshwright::worker::runner {

absl::StatusOr<std::shared_ptr<const pjrt::HostArray>> InputCache::Get(
    const v1::InputSpec& spec, hlo::PrimitiveType type,
    const std::vector<int64_t>& dimensions) {
  const std::string key =
      absl::StrCat(static_cast<int>(type), ":", absl::StrJoin(dimensions, ","),
                   ":", spec.SerializeAsString());
  const auto known = entries_.find(key);
  if (known != entries_.end()) {
    uses_.splice(uses_.end(), uses_, known->second.use);
    return known->second.array;
  }
  ASSIGN_OR_RETURN(pjrt::HostArray made, MakeInput(spec, type, dimensions));
  ++made_;
  auto array = std::make_shared<const pjrt::HostArray>(std::move(made));
  const auto size = static_cast<int64_t>(array->bytes.size());
  if (size > maximum_bytes_) return array;
  bytes_ += size;
  entries_[key] = {array, uses_.insert(uses_.end(), key)};
  while (bytes_ > maximum_bytes_) {
    const auto oldest = entries_.find(uses_.front());
    bytes_ -= static_cast<int64_t>(oldest->second.array->bytes.size());
    entries_.erase(oldest);
    uses_.pop_front();
  }
  return array;
}

}  // namespace meshwright::worker::runner
