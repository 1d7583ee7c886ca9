#include "coordinator/validation/other_inputs.h"

#include <algorithm>

namespace meshwright::validation {
namespace {

// Far from the seeds of arguments, which count from 1.
constexpr uint64_t kOtherSeeds = uint64_t{1} << 32;

void MoveSeeds(v1::Program& program) {
  for (v1::InputSpec& input : *program.mutable_inputs()) {
    input.set_seed(input.seed() + kOtherSeeds);
  }
}

}  // namespace

std::vector<std::string> ListDiffering(
    const v1::CompareRequest& request,
    const std::map<std::string, v1::ProfileResult>& results, double tolerance) {
  std::vector<std::string> keys;
  for (const v1::Program& program : request.programs()) {
    const auto found = results.find(program.key());
    if (program.timed_only() || found == results.end()) continue;
    const v1::ProfileResult& result = found->second;
    if (result.outcome() == v1::MEASURED &&
        !(result.max_relative_difference() <= tolerance)) {
      keys.push_back(program.key());
    }
  }
  return keys;
}

void RunOnce(v1::MeasureOptions& options) {
  options.set_warm_up_runs(1);
  options.set_minimum_samples(1);
  options.set_maximum_samples(1);
  options.set_minimum_time_ns(1);
}

v1::CompareRequest MakeOtherInputs(const v1::CompareRequest& request,
                                   const std::vector<std::string>& keys) {
  v1::CompareRequest other;
  *other.mutable_device() = request.device();
  *other.mutable_options() = request.options();
  RunOnce(*other.mutable_options());
  *other.mutable_reference() = request.reference();
  MoveSeeds(*other.mutable_reference());
  for (const v1::Program& program : request.programs()) {
    if (std::find(keys.begin(), keys.end(), program.key()) == keys.end()) {
      continue;
    }
    *other.add_programs() = program;
    MoveSeeds(*other.mutable_programs(other.programs_size() - 1));
  }
  return other;
}

}  // namespace meshwright::validation
