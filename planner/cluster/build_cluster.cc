#include "planner/cluster/build_cluster.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "planner/cluster/group_tree.h"

namespace meshwright::cluster {
namespace {

// By name; `cluster` has them fastest first.
using ClassNames = std::map<std::string, ClassIndex>;

absl::Status CheckFigure(const LinkClass& it, const char* what, double value) {
  const char* const fault = !std::isfinite(value) ? "not finite"
                            : value < 0           ? "negative"
                                                  : nullptr;
  if (fault == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("link class \"", it.name, "\" has a ", what, " that is ",
                   fault, "; give one of at least 0"));
}

absl::StatusOr<ClassNames> NameClasses(const std::vector<LinkClass>& classes) {
  ClassNames names;
  for (size_t i = 0; i < classes.size(); ++i) {
    const LinkClass& it = classes[i];
    RETURN_IF_ERROR(CheckFigure(it, "alpha", it.link.alpha));
    RETURN_IF_ERROR(CheckFigure(it, "beta", it.link.beta));
    RETURN_IF_ERROR(CheckFigure(it, "residual", it.residual.value_or(0)));
    if (!names.emplace(it.name, ClassIndex(i)).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "link class \"", it.name, "\" stands twice; name each class once"));
    }
  }
  return names;
}

absl::StatusOr<ClassIndex> FindClassNamed(const ClassNames& names,
                                          const std::string& name,
                                          const std::string& user) {
  const auto found = names.find(name);
  if (found != names.end()) return found->second;
  return absl::InvalidArgumentError(
      absl::StrCat(user, " has link class \"", name,
                   "\", which is not among link_classes; add it there"));
}

absl::Status CheckSizes(const Description& description) {
  if (description.devices.empty()) {
    return absl::InvalidArgumentError(
        "the cluster has no device; name at least one");
  }
  if (description.devices.size() > kMaxDevices) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the cluster has ", description.devices.size(), " devices, more than ",
        kMaxDevices, "; describe a part of it"));
  }
  if (description.classes.size() > kMaxClasses) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the cluster has ", description.classes.size(),
        " link classes, more than ", kMaxClasses, "; put like ones together"));
  }
  return absl::OkStatus();
}

// The direct links, by pair.
using DirectClasses = std::map<std::pair<size_t, size_t>, ClassIndex>;

absl::StatusOr<DirectClasses> ReadLinks(const Description& description,
                                        const ClassNames& names) {
  std::map<std::string, size_t> devices;
  for (size_t i = 0; i < description.devices.size(); ++i) {
    devices.emplace(description.devices[i], i);
  }
  DirectClasses classes;
  for (size_t i = 0; i < description.links.size(); ++i) {
    const DirectLink& link = description.links[i];
    const std::string called = absl::StrCat("links[", i, "]");
    ASSIGN_OR_RETURN(const ClassIndex link_class,
                     FindClassNamed(names, link.link_class, called));
    std::vector<size_t> ends;
    for (const std::string& name : link.devices) {
      const auto found = devices.find(name);
      if (found == devices.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat(called, " joins \"", name,
                         "\", which is no device; direct links join devices"));
      }
      ends.push_back(found->second);
    }
    std::sort(ends.begin(), ends.end());
    if (ends.size() < 2 ||
        std::adjacent_find(ends.begin(), ends.end()) != ends.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat(called, " needs two devices or more, each once"));
    }
    for (size_t a = 0; a < ends.size(); ++a) {
      for (size_t b = a + 1; b < ends.size(); ++b) {
        const auto [it, is_new] =
            classes.emplace(std::pair(ends[a], ends[b]), link_class);
        if (is_new || it->second == link_class) continue;
        return absl::InvalidArgumentError(absl::StrCat(
            called, " joins \"", description.devices[ends[a]], "\" and \"",
            description.devices[ends[b]],
            "\", which an earlier link joins by another class; keep one"));
      }
    }
  }
  return classes;
}

absl::Status RefuseGap(const Description& description, const GroupTree& tree,
                       size_t a, size_t b) {
  const auto name = [&](size_t device) {
    const std::optional<size_t> group = tree.FindOutermost(device);
    return group.has_value() ? description.groups[*group].name
                             : description.devices[device];
  };
  return absl::InvalidArgumentError(absl::StrCat(
      "nothing joins \"", description.devices[a], "\" and \"",
      description.devices[b], "\"; put \"", name(a), "\" and \"", name(b),
      "\" into a group with the link class between them"));
}

}  // namespace

absl::StatusOr<Cluster> BuildCluster(const Description& description) {
  RETURN_IF_ERROR(CheckSizes(description));
  std::vector<LinkClass> classes = description.classes;
  SortClasses(classes);
  ASSIGN_OR_RETURN(const ClassNames names, NameClasses(classes));
  ASSIGN_OR_RETURN(const GroupTree tree, GroupTree::Make(description));
  std::vector<ClassIndex> of_group;
  for (const Group& group : description.groups) {
    ASSIGN_OR_RETURN(
        of_group.emplace_back(),
        FindClassNamed(names, group.link_class,
                       absl::StrCat("group \"", group.name, "\"")));
  }
  ASSIGN_OR_RETURN(const DirectClasses direct, ReadLinks(description, names));
  for (const ClassTiming& it : description.timings) {
    RETURN_IF_ERROR(FindClassNamed(names, it.link_class, "a timing").status());
    if (it.timing.devices >= 2) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("a timing of link class \"", it.link_class, "\" has ",
                     it.timing.devices, " devices; a collective needs two"));
  }
  Cluster cluster(description.devices, std::move(classes));
  for (size_t a = 0; a < cluster.device_count(); ++a) {
    for (size_t b = a + 1; b < cluster.device_count(); ++b) {
      const auto link = direct.find({a, b});
      if (link != direct.end()) {
        cluster.SetClass(DeviceIndex(a), DeviceIndex(b), link->second);
        continue;
      }
      const std::optional<size_t> group = tree.FindCommonGroup(a, b);
      if (!group.has_value()) return RefuseGap(description, tree, a, b);
      cluster.SetClass(DeviceIndex(a), DeviceIndex(b), of_group[*group]);
    }
  }
  return cluster;
}

}  // namespace meshwright::cluster
