#include "profiledb/store/unclaimed_modules.h"

#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "profiledb/store/plan_pages.h"

namespace meshwright::store {
namespace {

// One that counts for its module alone.
v1::PlanRecord MakeRecord(const std::string& name_space,
                          const std::string& sha256, int64_t bytes) {
  v1::PlanRecord record;
  record.set_namespace_(name_space);
  record.set_state(v1::CANCELLED);
  record.set_module_sha256(sha256);
  record.set_module_bytes(bytes);
  return record;
}

}  // namespace

absl::Status UnclaimedModules::Put(const std::string& name_space,
                                   const std::string& sha256,
                                   const std::string& module,
                                   const PlanLimits& limits) {
  if (!limits.stored_bytes.has_value()) {
    return profiles_->RecordProgram(sha256, module);
  }
  Namespace& of = Find(name_space);
  const base::MutexLock putting(&of.putting);
  std::vector<v1::PlanRecord> named;
  bool is_kept = false;
  RETURN_IF_ERROR(
      ForEachPlan(*plans_, {.teams = {name_space}},
                  [&](PlanId /*id*/, const v1::PlanRecord& plan) {
                    is_kept = is_kept || plan.module_sha256() == sha256;
                    named.push_back(MakeRecord(name_space, plan.module_sha256(),
                                               plan.module_bytes()));
                    *named.back().mutable_request() = plan.request();
                    return absl::OkStatus();
                  }));
  const auto bytes = static_cast<int64_t>(module.size());
  const auto check = [&]() -> absl::Status {
    const Sizes unclaimed = Copy(of);
    if (is_kept || unclaimed.contains(sha256)) return absl::OkStatus();
    std::vector<v1::PlanRecord> all = named;
    for (const auto& [other, size] : unclaimed) {
      all.push_back(MakeRecord(name_space, other, size));
    }
    return CheckLimits({.stored_bytes = limits.stored_bytes},
                       MakeRecord(name_space, sha256, bytes), all);
  };
  absl::Status status = check();
  if (absl::IsResourceExhausted(status)) {
    RETURN_IF_ERROR(ForgetGone(of));
    status = check();
  }
  RETURN_IF_ERROR(status);
  RETURN_IF_ERROR(profiles_->RecordProgram(sha256, module));
  const base::MutexLock lock(&mutex_);
  if (!is_kept) of.unclaimed.emplace(sha256, bytes);
  return absl::OkStatus();
}

void UnclaimedModules::Claim(const std::string& sha256) {
  const base::MutexLock lock(&mutex_);
  for (const auto& [name, of] : by_name_) of->unclaimed.erase(sha256);
}

int64_t UnclaimedModules::CountBytes(const std::string& name_space) {
  int64_t bytes = 0;
  for (const auto& [sha256, size] : Copy(Find(name_space))) bytes += size;
  return bytes;
}

UnclaimedModules::Namespace& UnclaimedModules::Find(
    const std::string& name_space) {
  const base::MutexLock lock(&mutex_);
  std::unique_ptr<Namespace>& of = by_name_[name_space];
  if (of == nullptr) of = std::make_unique<Namespace>();
  return *of;
}

UnclaimedModules::Sizes UnclaimedModules::Copy(const Namespace& of) {
  const base::MutexLock lock(&mutex_);
  return of.unclaimed;
}

absl::Status UnclaimedModules::ForgetGone(Namespace& of) {
  // Of a look-up the store would note a use.
  ASSIGN_OR_RETURN(
      const std::vector<ProgramUse> kept,
      profiles_->ListUnusedPrograms(std::numeric_limits<int64_t>::max()));
  std::set<std::string> keys;
  for (const ProgramUse& it : kept) keys.insert(it.key);
  const base::MutexLock lock(&mutex_);
  std::erase_if(of.unclaimed,
                [&](const auto& it) { return !keys.contains(it.first); });
  return absl::OkStatus();
}

}  // namespace meshwright::store
