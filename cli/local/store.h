// The profile store of the command line: --store, or the user's own.
//
// Errors: those of store::OpenProfileStore, one sentence that names the store.
#ifndef MESHWRIGHT_CLI_LOCAL_STORE_H_
#define MESHWRIGHT_CLI_LOCAL_STORE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "cli/flags/store_address.h"
#include "coordinator/client/planning_client.h"
#include "profiledb/ownership.h"
#include "profiledb/store/plan_store.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::cli {

// `path` empty: the store in the user's data folder.
absl::StatusOr<std::string> FindStorePath(const std::string& path);
// For people to read: never with a password.
std::string DescribeStorePath(const std::string& path);
// Makes the store where there is none.
absl::StatusOr<std::unique_ptr<store::ProfileStore>> OpenStore(
    const std::string& path);

// Makes no new store. Errors also: kNotFound for a file that is not there.
absl::StatusOr<std::unique_ptr<store::ProfileStore>> OpenExistingStore(
    const std::string& path);
// Makes the user's own where there is none: what is asked before the first
// plan, too. One that `path` names must be there.
absl::StatusOr<std::unique_ptr<store::ProfileStore>> OpenNamedStore(
    const std::string& path);

// The plans of the same store.
absl::StatusOr<std::unique_ptr<store::PlanStore>> OpenPlans(
    const std::string& path);

// The stores that a coordinator works on. It alone runs the plans of a file.
struct CoordinatorStore {
  std::unique_ptr<store::StoreOwnership> ownership;  // of a file
  std::unique_ptr<store::ProfileStore> profiles;
  std::unique_ptr<store::PlanStore> plans;
  bool is_shared = false;  // others may work on it at the same time
};
// Errors also: those of store::StoreOwnership.
absl::StatusOr<CoordinatorStore> OpenCoordinatorStore(const std::string& path);

// The coordinator that the address names. Errors: those of
// PlanningClient::Connect.
absl::StatusOr<std::unique_ptr<client::PlanningClient>> ConnectTo(
    const StoreAddress& address);

// The bytes of the plan's model: from `path`, or from the store if it is empty.
absl::StatusOr<std::string> FindModel(const v1::Plan& plan,
                                      const std::string& path,
                                      store::ProfileStore* store);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_LOCAL_STORE_H_
