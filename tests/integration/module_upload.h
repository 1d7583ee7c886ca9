// PutModule: sends a module to a coordinator, in chunks, and does nothing else.
//
// Threads: any. Errors: what the coordinator answered.
#ifndef MESHWRIGHT_TESTS_INTEGRATION_MODULE_UPLOAD_H_
#define MESHWRIGHT_TESTS_INTEGRATION_MODULE_UPLOAD_H_

#include <string>

#include "absl/status/status.h"

namespace meshwright::integration {

absl::Status PutModule(const std::string& address, const std::string& module);

}  // namespace meshwright::integration

#endif  // MESHWRIGHT_TESTS_INTEGRATION_MODULE_UPLOAD_H_
