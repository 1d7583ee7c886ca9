#include "coordinator/security/xla_flags.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace meshwright::security {
namespace {

constexpr size_t kMaxBytes = 4096;
constexpr size_t kMaxNamed = 80;  // of a flag, in a sentence
// Words of flags that read or write files, pass options through to LLVM, or
// print. Of "dump" also what begins with it.
constexpr absl::string_view kWordsOfFiles[] = {
    "cache", "dir", "directory", "extra",   "file", "files", "folder", "from",
    "load",  "log", "logging",   "options", "path", "paths", "ptx",    "to"};

bool IsNameByte(char byte) {
  return absl::ascii_islower(byte) || absl::ascii_isdigit(byte) || byte == '_';
}

bool IsValueByte(char byte) {
  constexpr absl::string_view kOthers = "_.,:+-";
  return absl::ascii_isalnum(byte) ||
         kOthers.find(byte) != absl::string_view::npos;
}

bool SpeaksOfFiles(absl::string_view name) {
  const std::vector<absl::string_view> words = absl::StrSplit(name, '_');
  return std::any_of(words.begin(), words.end(), [](absl::string_view word) {
    return absl::StartsWith(word, "dump") ||
           std::find(std::begin(kWordsOfFiles), std::end(kWordsOfFiles),
                     word) != std::end(kWordsOfFiles);
  });
}

bool IsFlag(absl::string_view flag) {
  constexpr absl::string_view kBegin = "--xla_";
  const absl::string_view name = flag.substr(0, flag.find('='));
  if (!absl::StartsWith(name, kBegin) || name.size() == kBegin.size())
    return false;
  const absl::string_view value =
      name.size() == flag.size() ? "" : flag.substr(name.size() + 1);
  return std::all_of(name.begin() + 2, name.end(), IsNameByte) &&
         std::all_of(value.begin(), value.end(), IsValueByte);
}

}  // namespace

absl::Status CheckXlaFlags(const std::string& flags) {
  if (flags.size() > kMaxBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "xla_flags have ", flags.size(), " bytes; give at most ", kMaxBytes));
  }
  for (const absl::string_view flag :
       absl::StrSplit(flags, ' ', absl::SkipEmpty())) {
    const std::string shown = absl::CHexEscape(flag.substr(0, kMaxNamed));
    if (!IsFlag(flag)) {
      return absl::InvalidArgumentError(
          absl::StrCat("xla_flags have \"", shown,
                       "\"; give flags like --xla_name=value with spaces "
                       "between them, and values without paths or quotes"));
    }
    if (SpeaksOfFiles(flag.substr(0, flag.find('=')))) {
      return absl::InvalidArgumentError(absl::StrCat(
          "xla_flags have ", shown,
          ", which may name files of a worker; leave it out, or have the "
          "worker's operator set it in MESHWRIGHT_XLA_FLAGS"));
    }
  }
  return absl::OkStatus();
}

}  // namespace meshwright::security
