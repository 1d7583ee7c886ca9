#include "planner/cluster/describe_cluster.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace meshwright::cluster {
namespace {

// A device, or a group that was made.
struct Box {
  std::string name;
  std::vector<size_t> devices;
};

// Devices whose boxes differ.
template <typename Visit>
void VisitPairs(const std::vector<const Box*>& boxes, const Visit& visit) {
  for (size_t a = 0; a < boxes.size(); ++a) {
    for (size_t b = a + 1; b < boxes.size(); ++b) {
      for (const size_t from : boxes[a]->devices) {
        for (const size_t to : boxes[b]->devices) visit(from, to);
      }
    }
  }
}

// The class that most pairs have, the fastest of equals.
ClassIndex FindUsualClass(const Cluster& cluster,
                          const std::vector<const Box*>& boxes) {
  std::map<ClassIndex, size_t> counts;
  VisitPairs(boxes, [&](size_t a, size_t b) {
    ++counts[cluster.FindClass(DeviceIndex(a), DeviceIndex(b))];
  });
  return std::max_element(
             counts.begin(), counts.end(),
             [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

std::string NewName(std::set<std::string>& taken) {
  for (size_t i = 0;; ++i) {
    std::string name = absl::StrCat("box", i);
    if (taken.insert(name).second) return name;
  }
}

}  // namespace

Description DescribeCluster(const Cluster& cluster) {
  Description made;
  made.devices = cluster.devices();
  made.classes = cluster.classes();
  std::set<std::string> taken(made.devices.begin(), made.devices.end());
  std::vector<Box> boxes;
  for (size_t i = 0; i < cluster.device_count(); ++i) {
    boxes.push_back({cluster.devices()[i], {i}});
  }
  for (ClassIndex limit; limit < cluster.classes().size(); ++limit) {
    const std::vector<size_t> part_of = FindComponents(cluster, limit);
    std::map<size_t, std::vector<const Box*>> parts;
    for (const Box& box : boxes) {
      parts[part_of[box.devices.front()]].push_back(&box);
    }
    std::vector<Box> larger;
    for (const auto& [part, inside] : parts) {
      if (inside.size() == 1) {
        larger.push_back(*inside.front());
        continue;
      }
      const ClassIndex usual = FindUsualClass(cluster, inside);
      Box box{NewName(taken), {}};
      Group group{box.name, cluster.classes()[usual].name, {}};
      for (const Box* it : inside) {
        group.members.push_back(it->name);
        box.devices.insert(box.devices.end(), it->devices.begin(),
                           it->devices.end());
      }
      VisitPairs(inside, [&](size_t a, size_t b) {
        const ClassIndex own =
            cluster.FindClass(DeviceIndex(a), DeviceIndex(b));
        if (own == usual) return;
        made.links.push_back({cluster.classes()[own].name,
                              {cluster.devices()[a], cluster.devices()[b]}});
      });
      made.groups.push_back(std::move(group));
      larger.push_back(std::move(box));
    }
    boxes = std::move(larger);
  }
  return made;
}

}  // namespace meshwright::cluster
