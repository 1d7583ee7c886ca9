// The flags that say what a what-if changes of a plan.
//
// Errors: kInvalidArgument, one sentence that quotes what was written.
#ifndef MESHWRIGHT_CLI_FLAGS_CHANGE_FLAGS_H_
#define MESHWRIGHT_CLI_FLAGS_CHANGE_FLAGS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "proto/v1/reports.pb.h"

namespace CLI {
class App;
}  // namespace CLI

namespace meshwright::cli {

// Empty and 0: as it is.
struct ChangeFlags {
  std::string device_memory;
  std::string mesh;
  int64_t devices = 0;
};

void AddChangeFlags(CLI::App& verb, ChangeFlags* flags);

absl::StatusOr<v1::WhatIfChange> ParseChange(const ChangeFlags& flags);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_FLAGS_CHANGE_FLAGS_H_
