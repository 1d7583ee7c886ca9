// CountWork: operations and bytes of one device in an annotated program.
//
// Concept: every instruction carries its sharding, so that the elements one
// device makes and the products it sums are read off the module. Used for
// ratios between two shardings of one program only, in which equal factors
// cancel. Bodies of loops count once.
// In → Out: a program of the profile space → operations and bytes of one
// device.
#ifndef MESHWRIGHT_COORDINATOR_ESTIMATION_PROGRAM_WORK_H_
#define MESHWRIGHT_COORDINATOR_ESTIMATION_PROGRAM_WORK_H_

#include "absl/status/statusor.h"
#include "proto/v1/job.pb.h"

namespace meshwright::estimation {

// Operations that take as long as one byte: between a CPU's 5 and a GPU's 200.
// It matters only where contractions and the rest are split differently.
inline constexpr double kOperationsPerByte = 10;

struct Work {
  double operations = 0;  // two per product of a contraction or convolution
  double bytes = 0;       // of all results

  double total() const { return operations + kOperationsPerByte * bytes; }
};

// Errors: kInvalidArgument for bytes that are no module.
absl::StatusOr<Work> CountWork(const v1::Program& program);

}  // namespace meshwright::estimation

#endif  // MESHWRIGHT_COORDINATOR_ESTIMATION_PROGRAM_WORK_H_
