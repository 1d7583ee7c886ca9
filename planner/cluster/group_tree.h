// GroupTree: groups of devices that nest, checked.
//
// Concept: the leaves are devices; every node has at most one parent. See
// description.h.
// Errors: kInvalidArgument, as BuildCluster's.
// Threads: a constant value.
#ifndef MESHWRIGHT_PLANNER_CLUSTER_GROUP_TREE_H_
#define MESHWRIGHT_PLANNER_CLUSTER_GROUP_TREE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "planner/cluster/description.h"

namespace meshwright::cluster {

class GroupTree {
 public:
  static absl::StatusOr<GroupTree> Make(const Description& description);

  // Index into the groups of the description: the smallest that holds both.
  std::optional<size_t> FindCommonGroup(size_t device_a, size_t device_b) const;
  // The outermost group that holds the device; none: it stands alone.
  std::optional<size_t> FindOutermost(size_t device) const;

 private:
  // Nodes are the devices, then the groups.
  absl::Status NameNodes(const Description& description);
  absl::Status SetParents(const Description& description);
  absl::Status SetDepths(const Description& description);

  size_t device_count_ = 0;
  std::map<std::string, size_t> nodes_;  // by name
  std::vector<std::optional<size_t>> parents_;
  std::vector<int> depths_;  // of groups that nothing holds: 0
};

}  // namespace meshwright::cluster

#endif  // MESHWRIGHT_PLANNER_CLUSTER_GROUP_TREE_H_
