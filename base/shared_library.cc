#include "base/shared_library.h"

#include <dlfcn.h>

#include <filesystem>

#include "absl/strings/str_cat.h"

namespace meshwright::base {

absl::StatusOr<SharedLibrary> SharedLibrary::Open(const std::string& name,
                                                  const std::string& remedy) {
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot open ", name, " (", dlerror(), "); ", remedy));
  }
  return SharedLibrary(name, handle);
}

absl::Status SharedLibrary::FindAddress(const char* symbol,
                                        void** address) const {
  *address = dlsym(handle_, symbol);
  if (*address != nullptr) return {};
  return absl::FailedPreconditionError(absl::StrCat(
      name_, " has no ", symbol, "; it is another library, or too old a one"));
}

std::vector<std::string> ListPipFolders(
    const std::string& plugin, std::initializer_list<const char*> packages) {
  const auto own = std::filesystem::path(plugin).parent_path();
  std::vector<std::string> folders;
  for (const char* const package : packages) {
    for (const char* const up : {"../..", ".."}) {
      const auto folder = own / up / "nvidia" / package / "lib";
      folders.push_back(folder.lexically_normal().string());
    }
  }
  return folders;
}

}  // namespace meshwright::base
