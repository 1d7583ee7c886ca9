#include "worker/timing/protocol.h"

#include <algorithm>

namespace meshwright::worker::timing {

absl::StatusOr<Protocol> ReadProtocol(const v1::MeasureOptions& options) {
  if (options.warm_up_runs() < 0 || options.minimum_samples() < 0 ||
      options.maximum_samples() < 0 || options.program_time_limit_ns() < 0 ||
      options.compile_time_limit_ns() < 0 || options.minimum_time_ns() < 0 ||
      options.dynamic_limit_ratio() < 0) {
    return absl::InvalidArgumentError(
        "a number of the measuring options is negative");
  }
  Protocol protocol;
  if (options.warm_up_runs() > 0) {
    protocol.warm_up_runs = options.warm_up_runs();
  }
  if (options.minimum_samples() > 0) {
    protocol.minimum_samples = options.minimum_samples();
  }
  if (options.maximum_samples() > 0) {
    protocol.maximum_samples = options.maximum_samples();
  }
  if (options.minimum_time_ns() > 0) {
    protocol.minimum_time = absl::Nanoseconds(options.minimum_time_ns());
  }
  if (options.program_time_limit_ns() > 0) {
    protocol.time_limit = absl::Nanoseconds(options.program_time_limit_ns());
  }
  if (options.compile_time_limit_ns() > 0) {
    protocol.compile_limit = absl::Nanoseconds(options.compile_time_limit_ns());
  }
  protocol.dynamic_limit_ratio = options.dynamic_limit_ratio();
  if (options.maximum_samples() > 0 &&
      protocol.maximum_samples < protocol.minimum_samples) {
    return absl::InvalidArgumentError(
        "the measuring options ask for more samples than they allow");
  }
  protocol.maximum_samples =
      std::max(protocol.maximum_samples, protocol.minimum_samples);
  return protocol;
}

}  // namespace meshwright::worker::timing
