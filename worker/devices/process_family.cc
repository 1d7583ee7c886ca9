#include "worker/devices/process_family.h"

#include <unistd.h>

#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace meshwright::worker::devices {
namespace {

struct ProcessLine {
  pid_t parent = 0;
  int64_t ticks = 0;
};

// Fields 4 and 14 to 17 of a stat file. The name, field 2, may hold blanks and
// ends with the last ')'.
std::optional<ProcessLine> ReadLine(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const size_t end = line.rfind(')');
  if (end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(end + 1));
  std::string skipped;
  ProcessLine process;
  fields >> skipped >> process.parent;
  for (int field = 5; field < 14; ++field) fields >> skipped;
  for (int field = 14; field <= 17; ++field) {
    int64_t ticks = 0;
    fields >> ticks;
    process.ticks += ticks;
  }
  if (!fields) return std::nullopt;
  return process;
}

std::map<pid_t, ProcessLine> ReadAll(const std::filesystem::path& root) {
  std::map<pid_t, ProcessLine> all;
  std::error_code gone;
  for (std::filesystem::directory_iterator it(root / "proc", gone), end;
       !gone && it != end; it.increment(gone)) {
    pid_t number = 0;
    if (!absl::SimpleAtoi(it->path().filename().string(), &number)) continue;
    const auto line = ReadLine(it->path() / "stat");
    if (line.has_value()) all.emplace(number, *line);
  }
  return all;
}

}  // namespace

ProcessFamily ReadProcessFamily(pid_t head, const std::filesystem::path& root) {
  const std::map<pid_t, ProcessLine> all = ReadAll(root);
  std::multimap<pid_t, pid_t> children;
  for (const auto& [process, line] : all) {
    children.emplace(line.parent, process);
  }
  ProcessFamily family;
  int64_t ticks = 0;
  std::vector<pid_t> next = {head};
  while (!next.empty()) {
    const pid_t process = next.back();
    next.pop_back();
    const auto line = all.find(process);
    if (line == all.end() || !family.members.insert(process).second) continue;
    ticks += line->second.ticks;
    const auto [from, to] = children.equal_range(process);
    for (auto it = from; it != to; ++it) next.push_back(it->second);
  }
  family.cpu_time = absl::Seconds(1) * ticks / sysconf(_SC_CLK_TCK);
  return family;
}

std::string DescribeProcess(pid_t process, const std::filesystem::path& root) {
  std::ifstream file(root / "proc" / absl::StrCat(process) / "comm");
  std::string name;
  std::getline(file, name);
  return absl::StrCat("process ", process,
                      name.empty() ? "" : absl::StrCat(" (", name, ")"));
}

}  // namespace meshwright::worker::devices
