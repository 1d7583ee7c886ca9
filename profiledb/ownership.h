// StoreOwnership: one coordinator at a time runs the plans of a store file.
//
// Concept: a lock on FILE.coordinator, beside the file that links lead to, that
// dies with its holder. Programs that only look up and record (`meshwright
// plan`, `profiles`) do not take it.
// Ownership: held until destroyed. Threads: any.
// Errors: kAlreadyExists while another process holds it; kPermissionDenied and
// the like for a file that cannot be made. Each names the file and the way out.
#ifndef MESHWRIGHT_PROFILEDB_OWNERSHIP_H_
#define MESHWRIGHT_PROFILEDB_OWNERSHIP_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace meshwright::store {

class StoreOwnership {
 public:
  // The lock of the store file `path`, held until it is destroyed. Errors: see
  // above.
  static absl::StatusOr<std::unique_ptr<StoreOwnership>> Take(
      const std::string& path);
  ~StoreOwnership();
  StoreOwnership(const StoreOwnership&) = delete;
  StoreOwnership& operator=(const StoreOwnership&) = delete;

 private:
  explicit StoreOwnership(int file) : file_(file) {}

  const int file_;
};

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_OWNERSHIP_H_
