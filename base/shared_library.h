// SharedLibrary: a vendor's library, opened when it is needed.
// ListPipFolders: where pip puts the libraries of NVIDIA.
//
// Errors: kFailedPrecondition, one sentence with the library and the way out.
#ifndef MESHWRIGHT_BASE_SHARED_LIBRARY_H_
#define MESHWRIGHT_BASE_SHARED_LIBRARY_H_

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright::base {

// Stays open until the process ends: such libraries have threads of their own.
class SharedLibrary {
 public:
  // `remedy` says what to install.
  static absl::StatusOr<SharedLibrary> Open(const std::string& name,
                                            const std::string& remedy);

  // Sets `function` to what the library calls `symbol`.
  template <typename Function>
  absl::Status Find(const char* symbol, Function** function) const {
    void* found = nullptr;
    absl::Status status = FindAddress(symbol, &found);
    *function = reinterpret_cast<Function*>(found);
    return status;
  }

 private:
  SharedLibrary(std::string name, void* handle)
      : name_(std::move(name)), handle_(handle) {}
  absl::Status FindAddress(const char* symbol, void** address) const;

  std::string name_;
  void* handle_;
};

// The folders in which pip puts the libraries of these packages of NVIDIA, like
// "cu13", whether they are there or not. They are seen from the folder of a
// plugin that pip installed: for each package two folders above it, then one.
//
//   site-packages/jax_plugins/xla_cuda13/plugin.so
//   site-packages/nvidia/cu13/lib
std::vector<std::string> ListPipFolders(
    const std::string& plugin, std::initializer_list<const char*> packages);

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_SHARED_LIBRARY_H_
