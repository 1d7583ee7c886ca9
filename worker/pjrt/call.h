// One call through the C table of a PJRT plugin; for the .cc files of this
// folder only.
//
// Concept: plugins reject argument structs smaller than their own and may be
// newer than our header. So every struct travels zeroed inside a larger block
// whose whole size is stated. A newer plugin reads zeros where our header ends
// and writes its newer outputs into the padding.
// Errors: a plugin's code is kept, its message cut to its first line;
// kUnimplemented when the plugin's table ends before the function.
#ifndef MESHWRIGHT_WORKER_PJRT_CALL_H_
#define MESHWRIGHT_WORKER_PJRT_CALL_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

struct PJRT_Api;
struct PJRT_Error;
struct PJRT_Event;

namespace meshwright::worker::pjrt {

// A zeroed argument struct of the C API with room behind it.
template <typename Args>
class Padded {
 public:
  Padded() { block_.args.struct_size = sizeof(block_); }
  Args* operator->() { return &block_.args; }
  Args* get() { return &block_.args; }

 private:
  struct Block {
    Args args;
    char padding[256];
  };
  Block block_ = {};
};

// Whether the plugin's table is long enough to hold `slot` and has it set.
bool HasFunction(const PJRT_Api* api, const void* slot);

// Consumes `error`; null is OK.
absl::Status TakeError(const PJRT_Api* api, PJRT_Error* error);

// Waits for `event` and destroys it; null is OK.
absl::Status Await(const PJRT_Api* api, PJRT_Event* event);

template <typename Function, typename Args>
absl::Status Call(const PJRT_Api* api, Function* const* slot,
                  std::string_view name, Padded<Args>& args) {
  if (!HasFunction(api, slot)) {
    return absl::UnimplementedError(
        absl::StrCat("the plugin has no ", std::string(name)));
  }
  return TakeError(api, (*slot)(args.get()));
}

#define MESHWRIGHT_PJRT(api, function, args) \
  ::meshwright::worker::pjrt::Call((api), &(api)->function, #function, (args))

}  // namespace meshwright::worker::pjrt

#endif  // MESHWRIGHT_WORKER_PJRT_CALL_H_
