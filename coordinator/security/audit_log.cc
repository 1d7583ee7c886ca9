#include "coordinator/security/audit_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log/log.h"
#include "base/status_macros.h"

namespace meshwright::security {
namespace {

class JsonLinesAuditLog : public AuditLog {
 public:
  explicit JsonLinesAuditLog(std::string path) : path_(std::move(path)) {}

  void Record(const AuditEntry& entry) override {
    nlohmann::ordered_json line;
    line["time"] = absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", entry.when,
                                    absl::UTCTimeZone());
    line["who"] = entry.who;
    line["peer"] = entry.peer;
    line["what"] = entry.what;
    line["outcome"] = entry.outcome;
    if (!entry.reason.empty()) line["reason"] = entry.reason;
    // A peer's statement about itself need not be UTF-8.
    const absl::Status status =
        Append(line.dump(-1, ' ', false,
                         nlohmann::ordered_json::error_handler_t::replace) +
               "\n");
    if (!status.ok()) base::LogWarning("audit: ", status.message());
  }

  // One write, so that lines of several threads never mix.
  absl::Status Append(const std::string& text) const {
    const int file =
        open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const bool written = file >= 0 && write(file, text.data(), text.size()) ==
                                          static_cast<ssize_t>(text.size());
    const int error = errno;
    if (file >= 0) close(file);
    if (written) return absl::OkStatus();
    return absl::ErrnoToStatus(error, absl::StrCat("cannot write ", path_));
  }

 private:
  const std::string path_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<AuditLog>> OpenJsonLinesAuditLog(
    const std::string& path) {
  auto log = std::make_unique<JsonLinesAuditLog>(path);
  RETURN_IF_ERROR(log->Append(""));
  return log;
}

}  // namespace meshwright::security
