#include "planner/cluster/group_tree.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::cluster {
namespace {

absl::Status RefuseGroup(const Group& group, const std::string& fault) {
  return absl::InvalidArgumentError(
      absl::StrCat("group \"", group.name, "\" ", fault));
}

}  // namespace

absl::StatusOr<GroupTree> GroupTree::Make(const Description& description) {
  GroupTree tree;
  tree.device_count_ = description.devices.size();
  RETURN_IF_ERROR(tree.NameNodes(description));
  RETURN_IF_ERROR(tree.SetParents(description));
  RETURN_IF_ERROR(tree.SetDepths(description));
  return tree;
}

absl::Status GroupTree::NameNodes(const Description& description) {
  for (const std::string& device : description.devices) {
    if (device.empty()) {
      return absl::InvalidArgumentError(
          "a device has no name; give every device one");
    }
    if (!nodes_.emplace(device, nodes_.size()).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("device \"", device,
                       "\" stands twice; give every device a name of "
                       "its own"));
    }
  }
  for (const Group& group : description.groups) {
    if (group.name.empty()) {
      return absl::InvalidArgumentError(
          "a group has no name; give every group one");
    }
    if (!nodes_.emplace(group.name, nodes_.size()).second) {
      return RefuseGroup(group,
                         "has the name of another group or of a device; give "
                         "it one of its own");
    }
  }
  parents_.resize(nodes_.size());
  return absl::OkStatus();
}

absl::Status GroupTree::SetParents(const Description& description) {
  for (size_t i = 0; i < description.groups.size(); ++i) {
    const Group& group = description.groups[i];
    if (group.members.size() < 2) {
      return RefuseGroup(group, absl::StrCat("has ", group.members.size(),
                                             " members; a link needs two"));
    }
    for (const std::string& member : group.members) {
      const auto found = nodes_.find(member);
      if (found == nodes_.end()) {
        return RefuseGroup(
            group, absl::StrCat("has member \"", member,
                                "\", which is no device and no group; add it "
                                "to devices or groups"));
      }
      std::optional<size_t>& parent = parents_[found->second];
      if (parent.has_value()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "\"", member, "\" is a member of group \"",
            description.groups[*parent].name, "\" and of group \"", group.name,
            "\"; leave it in one, and join the groups by a third"));
      }
      parent = i;
    }
  }
  return absl::OkStatus();
}

absl::Status GroupTree::SetDepths(const Description& description) {
  depths_.resize(nodes_.size());
  for (size_t node = 0; node < parents_.size(); ++node) {
    int depth = 0;
    for (auto up = parents_[node]; up.has_value();
         up = parents_[device_count_ + *up]) {
      if (++depth <= static_cast<int>(description.groups.size())) continue;
      return RefuseGroup(description.groups[*up],
                         "holds itself by way of its members; let groups hold "
                         "smaller groups only");
    }
    depths_[node] = depth;
  }
  return absl::OkStatus();
}

std::optional<size_t> GroupTree::FindCommonGroup(size_t device_a,
                                                 size_t device_b) const {
  size_t a = device_a;
  size_t b = device_b;
  while (a != b) {
    size_t& lower = depths_[a] >= depths_[b] ? a : b;
    if (!parents_[lower].has_value()) return std::nullopt;
    lower = device_count_ + *parents_[lower];
  }
  return a - device_count_;
}

std::optional<size_t> GroupTree::FindOutermost(size_t device) const {
  std::optional<size_t> outermost;
  for (auto up = parents_[device]; up.has_value();
       up = parents_[device_count_ + *up]) {
    outermost = up;
  }
  return outermost;
}

}  // namespace meshwright::cluster
