#include "coordinator/security/audit_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/log/line_queue.h"
#include "base/log/log.h"
#include "base/mutex.h"
#include "base/status_macros.h"

namespace meshwright::security {
namespace {

constexpr size_t kWaitingEntries = 8192;
constexpr int64_t kRefusalsPerSecond = 50;

// Leaves refusals out that are too many.
class BoundedAuditLog : public AuditLog {
 public:
  void Record(const AuditEntry& entry) final {
    const std::optional<int64_t> left_out = TakeTurn(entry);
    if (left_out.has_value()) Write(entry, *left_out);
  }

 private:
  // `left_out`: refusals without an entry since the one before.
  virtual void Write(const AuditEntry& entry, int64_t left_out) = 0;

  // How many had none; nothing: this one has none either.
  std::optional<int64_t> TakeTurn(const AuditEntry& entry)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    if (entry.outcome == kAdmitted) return 0;
    base::MutexLock lock(&mutex_);
    const int64_t second = absl::ToUnixSeconds(entry.when);
    if (second != second_) {
      second_ = second;
      refusals_ = 0;
    }
    if (++refusals_ > kRefusalsPerSecond) {
      ++left_out_;
      return std::nullopt;
    }
    return std::exchange(left_out_, 0);
  }

  base::Mutex mutex_;
  int64_t second_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t refusals_ ABSL_GUARDED_BY(mutex_) = 0;  // of this second
  int64_t left_out_ ABSL_GUARDED_BY(mutex_) = 0;
};

class JsonLinesAuditLog : public BoundedAuditLog {
 public:
  explicit JsonLinesAuditLog(std::string path)
      : path_(std::move(path)),
        lines_(kWaitingEntries, [this](const std::string& line, int64_t lost) {
          WriteLine(line, lost);
        }) {}

  // One write, so that lines of several processes never mix.
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
  void Write(const AuditEntry& entry, int64_t left_out) override {
    nlohmann::ordered_json line;
    line["time"] = absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", entry.when,
                                    absl::UTCTimeZone());
    line["who"] = entry.who;
    line["peer"] = entry.peer;
    line["what"] = entry.what;
    if (!entry.object.empty()) line["object"] = entry.object;
    line["outcome"] = entry.outcome;
    if (!entry.reason.empty()) line["reason"] = entry.reason;
    if (left_out > 0) line["left_out"] = left_out;
    // A peer's statement about itself need not be UTF-8.
    lines_.Add(line.dump(-1, ' ', false,
                         nlohmann::ordered_json::error_handler_t::replace) +
               "\n");
  }

  void WriteLine(const std::string& line, int64_t lost) const {
    if (lost > 0) {
      base::LogWarning("audit: ", lost, " entries were lost, as ", path_,
                       " takes none for a while");
    }
    const absl::Status status = Append(line);
    if (!status.ok()) base::LogWarning("audit: ", status.message());
  }

  const std::string path_;
  base::LineQueue lines_;  // last: its thread ends first
};

class LoggedAuditLog : public BoundedAuditLog {
  void Write(const AuditEntry& entry, int64_t left_out) override {
    base::LogInfo(
        "audit: ", entry.who.empty() ? "anyone" : absl::CHexEscape(entry.who),
        entry.peer.empty() ? "" : absl::StrCat(" at ", entry.peer), ": ",
        entry.what, entry.object.empty() ? "" : " ",
        absl::CHexEscape(entry.object), ": ", entry.outcome,
        entry.reason.empty() ? "" : ": ", entry.reason,
        left_out > 0
            ? absl::StrCat(" (", left_out, " more were refused before)")
            : "");
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<AuditLog>> OpenJsonLinesAuditLog(
    const std::string& path) {
  auto log = std::make_unique<JsonLinesAuditLog>(path);
  RETURN_IF_ERROR(log->Append(""));
  return log;
}

std::unique_ptr<AuditLog> NewLoggedAuditLog() {
  return std::make_unique<LoggedAuditLog>();
}

}  // namespace meshwright::security
