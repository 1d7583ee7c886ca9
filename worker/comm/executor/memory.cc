#include "worker/comm/executor/memory.h"

#include <unistd.h>

#include <new>
#include <stdexcept>

#include "absl/strings/str_cat.h"

namespace meshwright::worker::comm {

absl::Status CheckFits(int64_t bytes, const std::string& task) {
  const int64_t memory =
      int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
  if (bytes <= memory) return {};
  return absl::ResourceExhaustedError(
      absl::StrCat("task ", task, ": this host would receive ", bytes,
                   " bytes up to there, but has ", memory,
                   " of memory; reshard in several plans"));
}

absl::StatusOr<std::vector<std::byte>> Allocate(int64_t bytes,
                                                const std::string& task) {
  try {
    return std::vector<std::byte>(static_cast<size_t>(bytes));
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("task ", task, ": no memory is left for its ", bytes,
                   " bytes; reshard in several plans"));
}

}  // namespace meshwright::worker::comm
