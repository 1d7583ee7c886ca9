// UnclaimedModules: modules that were put here, and that no plan names yet.
//
// Concept: a client puts a module before it submits its plan, so a quota of
// stored bytes that counted plans alone would hold nobody who only puts. Those
// that this process put into a namespace with such a quota are remembered, and
// count beside what its plans keep, until a plan names them or they are gone
// from the store. What was put through another coordinator, or before a
// restart, is not known here: garbage collection takes it when nobody asks for
// it (upkeep/unused_modules.h).
// Ownership: the stores outlive it. Threads: any; puts into one namespace with
// a quota come one after the other.
// Errors: those of CheckLimits and of the stores.
#ifndef MESHWRIGHT_PROFILEDB_STORE_UNCLAIMED_MODULES_H_
#define MESHWRIGHT_PROFILEDB_STORE_UNCLAIMED_MODULES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "base/mutex.h"
#include "profiledb/store/plan_limits.h"
#include "profiledb/store/plan_store.h"
#include "profiledb/store/profile_store.h"

namespace meshwright::store {

class UnclaimedModules {
 public:
  UnclaimedModules(PlanStore* plans, ProfileStore* profiles)
      : plans_(plans), profiles_(profiles) {}

  // Records the module under its SHA-256. One that a plan of the namespace
  // names, or that was put into it, may be put again.
  absl::Status Put(const std::string& name_space, const std::string& sha256,
                   const std::string& module, const PlanLimits& limits);

  // A plan names it, of whatever namespace.
  void Claim(const std::string& sha256);

  int64_t CountBytes(const std::string& name_space);

 private:
  using Sizes = std::map<std::string, int64_t>;  // by SHA-256
  struct Namespace {
    base::Mutex putting;  // taken before `mutex_`
    Sizes unclaimed;
  };

  Namespace& Find(const std::string& name_space);
  Sizes Copy(const Namespace& of);
  absl::Status ForgetGone(Namespace& of);

  PlanStore* const plans_;
  ProfileStore* const profiles_;
  base::Mutex mutex_;  // and of what is unclaimed
  std::map<std::string, std::unique_ptr<Namespace>> by_name_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_STORE_UNCLAIMED_MODULES_H_
