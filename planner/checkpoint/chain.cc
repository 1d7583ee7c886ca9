#include "planner/checkpoint/chain.h"

#include <cstddef>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::checkpoint {
namespace {

constexpr int64_t kMaxTotalBytes = std::numeric_limits<int64_t>::max() / 4;

template <typename Value>
Value At(const std::vector<Value>& list, int stage) {
  return list.empty() ? Value{0} : list[stage];
}

absl::Status CheckLength(const char* field, size_t length, size_t expected,
                         bool optional) {
  if (length == expected || (optional && length == 0)) return {};
  return absl::InvalidArgumentError(
      absl::StrCat(field, " has ", length, " entries, but ", expected,
                   " are needed: fwd_time gives the number of stages"));
}

absl::Status CheckTimes(const char* field,
                        const std::vector<Picoseconds>& times, int stages,
                        bool optional, int64_t& sum) {
  RETURN_IF_ERROR(CheckLength(field, times.size(), stages, optional));
  for (size_t i = 0; i < times.size(); ++i) {
    if (times[i].count() < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          field, "[", i, "] is negative: ", problem::ToSeconds(times[i]),
          "; give 0 or more"));
    }
    sum = problem::SaturatingAdd(sum, times[i].count());
  }
  return {};
}

absl::Status CheckSizes(const char* field, const std::vector<int64_t>& sizes,
                        int length, bool optional, int64_t& sum) {
  RETURN_IF_ERROR(CheckLength(field, sizes.size(), length, optional));
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          field, "[", i, "] is negative: ", sizes[i], "; give 0 or more"));
    }
    sum = problem::SaturatingAdd(sum, sizes[i]);
  }
  if (sum > kMaxTotalBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the sizes up to ", field, " sum to more than 2 EiB; give bytes"));
  }
  return {};
}

}  // namespace

Picoseconds Chain::ForwardTime(int stage) const {
  return forward[stage] + At(forward_communication, stage);
}

Picoseconds Chain::BackwardTime(int stage) const {
  return backward[stage] + At(backward_communication, stage);
}

int64_t Chain::ForwardTransient(int stage) const {
  return At(forward_transient_bytes, stage) +
         At(forward_communication_bytes, stage);
}

int64_t Chain::BackwardTransient(int stage) const {
  return At(backward_transient_bytes, stage) +
         At(backward_communication_bytes, stage);
}

absl::Status Validate(const Chain& chain) {
  if (chain.forward.empty()) {
    return absl::InvalidArgumentError(
        "fwd_time is empty; a chain has at least one stage");
  }
  if (chain.forward.size() > kMaxStages) {
    return absl::InvalidArgumentError(absl::StrCat(
        "fwd_time has ", chain.forward.size(), " stages, more than the ",
        kMaxStages, " that are planned; join neighbours into one stage"));
  }
  const int n = chain.stages();
  int64_t time = 0;
  int64_t bytes = 0;
  RETURN_IF_ERROR(CheckTimes("fwd_time", chain.forward, n, false, time));
  RETURN_IF_ERROR(CheckTimes("bwd_time", chain.backward, n, false, time));
  RETURN_IF_ERROR(
      CheckTimes("fwd_comm_time", chain.forward_communication, n, true, time));
  RETURN_IF_ERROR(
      CheckTimes("bwd_comm_time", chain.backward_communication, n, true, time));
  if (chain.loss.count() < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "loss_time is negative: ", problem::ToSeconds(chain.loss)));
  }
  time = problem::SaturatingAdd(time, chain.loss.count());
  if (time > problem::kMaxTime.count()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "fwd_time, bwd_time and their communication sum to more than the ",
        static_cast<int64_t>(problem::ToSeconds(problem::kMaxTime)),
        " seconds that the planner can add up"));
  }
  RETURN_IF_ERROR(CheckSizes("act_size", chain.act_bytes, n + 1, false, bytes));
  RETURN_IF_ERROR(CheckSizes("saved_size", chain.saved_bytes, n, false, bytes));
  RETURN_IF_ERROR(
      CheckSizes("fwd_tmp", chain.forward_transient_bytes, n, true, bytes));
  RETURN_IF_ERROR(
      CheckSizes("bwd_tmp", chain.backward_transient_bytes, n, true, bytes));
  RETURN_IF_ERROR(CheckSizes("fwd_comm_tmp", chain.forward_communication_bytes,
                             n, true, bytes));
  RETURN_IF_ERROR(CheckSizes("bwd_comm_tmp", chain.backward_communication_bytes,
                             n, true, bytes));
  for (int i = 0; i < n; ++i) {
    if (chain.saved_bytes[i] < chain.act_bytes[i + 1]) {
      return absl::InvalidArgumentError(absl::StrCat(
          "saved_size[", i, "] is ", chain.saved_bytes[i],
          ", less than the stage's output, which it includes: act_size[", i + 1,
          "] is ", chain.act_bytes[i + 1]));
    }
  }
  return {};
}

}  // namespace meshwright::checkpoint
