#include "profiledb/store/audit.h"

#include "base/fingerprint.h"
#include "profiledb/store/text.h"

namespace meshwright::store {
namespace {

thread_local AuditScope* innermost_scope = nullptr;

}  // namespace

std::string DigestAudit(const AuditRow& row) {
  base::Fingerprinter digest;
  digest.Add(absl::ToUnixNanos(row.when))
      .Add(row.coordinator)
      .Add(row.who)
      .Add(row.peer)
      .Add(row.what)
      .Add(row.object)
      .Add(row.outcome)
      .Add(row.reason)
      .Add(row.left_out);
  return digest.Hex();
}

AuditRow CleanAudit(AuditRow row) {
  for (std::string* const text :
       {&row.coordinator, &row.who, &row.peer, &row.what, &row.object,
        &row.outcome, &row.reason}) {
    *text = CleanText(*text);
  }
  return row;
}

AuditScope::AuditScope(AuditRow row)
    : row_(CleanAudit(std::move(row))), outer_(innermost_scope) {
  innermost_scope = this;
}

AuditScope::~AuditScope() { innermost_scope = outer_; }

AuditScope* AuditScope::FindOpen() {
  AuditScope* const scope = innermost_scope;
  return scope == nullptr || scope->is_written_ ? nullptr : scope;
}

AuditRow AuditScope::MakeRow(const std::string& object) const {
  AuditRow row = row_;
  if (row.object.empty()) row.object = CleanText(object);
  return row;
}

}  // namespace meshwright::store
