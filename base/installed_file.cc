#include "base/installed_file.h"

#include <system_error>

namespace meshwright::base {
namespace fs = std::filesystem;

std::optional<std::string> FindInstalled(const std::string& name) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return std::nullopt;
  return FindInstalledFor(program, name);
}

std::optional<std::string> FindInstalledFor(const fs::path& program,
                                            const std::string& name) {
  const fs::path folder = program.parent_path();
  const fs::path places[] = {
      folder / name, folder.parent_path() / "lib" / "meshwright" / name};
  for (const fs::path& place : places) {
    std::error_code error;
    if (fs::is_regular_file(place, error)) return place.string();
  }
  return std::nullopt;
}

}  // namespace meshwright::base
