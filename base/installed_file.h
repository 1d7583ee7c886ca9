// FindInstalled: a file that comes with the programs.
//
// Concept: a build keeps it beside the program. Packages keep it in
// ../lib/meshwright of the program's folder: programs are in /usr/bin, and the
// file is for no user to run.
// Threads: any. Errors: none; nothing is found.
#ifndef MESHWRIGHT_BASE_INSTALLED_FILE_H_
#define MESHWRIGHT_BASE_INSTALLED_FILE_H_

#include <filesystem>
#include <optional>
#include <string>

namespace meshwright::base {

// For this program, links to it resolved.
std::optional<std::string> FindInstalled(const std::string& name);

// For the program of this path.
std::optional<std::string> FindInstalledFor(
    const std::filesystem::path& program, const std::string& name);

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_INSTALLED_FILE_H_
