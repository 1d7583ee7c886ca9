#include "coordinator/jobs/check_result.h"

#include <algorithm>

#include "profiledb/store/check_row.h"

namespace meshwright::jobs {
namespace {

bool IsDifference(double value) { return value >= 0; }  // no NaN

}  // namespace

std::string FindFault(const v1::Program& program,
                      const v1::ProfileResult& result) {
  if (result.outcome() == v1::TRANSIENT) return "";
  if (result.outcome() == v1::PRUNED) return "it prunes, which workers do not";
  if (!IsDifference(result.max_relative_difference()) ||
      !std::all_of(result.output_relative_differences().begin(),
                   result.output_relative_differences().end(), IsDifference)) {
    return "a difference of its outputs is no number of at least 0";
  }
  v1::ProfileResult row = result;
  row.clear_max_relative_difference();
  row.clear_output_relative_differences();
  if (std::string fault = store::FindUnfounded(row); !fault.empty()) {
    return fault;
  }
  const bool has_times = !program.compile_only();
  if (!has_times && row.outcome() == v1::MEASURED &&
      row.measurement().minimum_ns() == 0) {
    row.mutable_measurement()->set_minimum_ns(store::kMaximumExecutionNs);
  }
  return store::FindFault(row);
}

}  // namespace meshwright::jobs
