#include "cli/local/store.h"

#include "base/status_macros.h"
#include "cli/flags/plan_file.h"
#include "coordinator/explain/recall.h"
#include "profiledb/open.h"
#include "profiledb/upkeep/backup.h"

namespace meshwright::cli {

absl::StatusOr<std::string> FindStorePath(const std::string& path) {
  if (!path.empty()) return path;
  return store::FindDefaultStore();
}

std::string DescribeStorePath(const std::string& path) {
  return store::DescribeStorePath(path);
}

absl::StatusOr<std::unique_ptr<store::ProfileStore>> OpenStore(
    const std::string& path) {
  ASSIGN_OR_RETURN(const std::string resolved, FindStorePath(path));
  return store::OpenProfileStore(resolved);
}

absl::StatusOr<std::unique_ptr<store::ProfileStore>> OpenExistingStore(
    const std::string& path) {
  ASSIGN_OR_RETURN(const std::string resolved, FindStorePath(path));
  RETURN_IF_ERROR(store::CheckStoreExists(resolved));
  return store::OpenProfileStore(resolved);
}

absl::StatusOr<std::unique_ptr<store::ProfileStore>> OpenNamedStore(
    const std::string& path) {
  return path.empty() ? OpenStore(path) : OpenExistingStore(path);
}

absl::StatusOr<std::unique_ptr<store::PlanStore>> OpenPlans(
    const std::string& path) {
  ASSIGN_OR_RETURN(const std::string resolved, FindStorePath(path));
  return store::OpenPlanStore(resolved);
}

absl::StatusOr<CoordinatorStore> OpenCoordinatorStore(const std::string& path) {
  CoordinatorStore opened;
  // Opening makes the folders that the lock needs.
  ASSIGN_OR_RETURN(opened.profiles, store::OpenProfileStore(path));
  opened.is_shared = store::IsPostgresUrl(path);
  if (!opened.is_shared) {
    ASSIGN_OR_RETURN(opened.ownership, store::StoreOwnership::Take(path));
  }
  ASSIGN_OR_RETURN(opened.plans, store::OpenPlanStore(path));
  return opened;
}

absl::StatusOr<std::unique_ptr<client::PlanningClient>> ConnectTo(
    const StoreAddress& address) {
  return client::PlanningClient::Connect(
      address.coordinator, base::WithEnvironment(address.security));
}

absl::StatusOr<std::string> FindModel(const v1::Plan& plan,
                                      const std::string& path,
                                      store::ProfileStore* store) {
  if (path.empty()) return explain::RecallModel(plan, store);
  ASSIGN_OR_RETURN(std::string model, LoadModel(path));
  RETURN_IF_ERROR(explain::CheckModel(plan, model, path));
  return model;
}

}  // namespace meshwright::cli
