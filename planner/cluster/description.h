// Description: a cluster as a person writes it.
//
// Concept: groups hold devices or other groups and name the link class between
// any two of their members: a switch, a box, a rack, a network. They nest as
// boxes do. The class of two devices is that of the smallest group that holds
// both, unless a direct link says otherwise, as NVLink between pairs in a PCIe
// box does.
//
//   network ── h0 (pcie) ── 0 ═ 1, 2 ═ 3      ═ direct link
//           └─ h1 (pcie) ── 4 ═ 5, 6 ═ 7
//
// Units: as in cluster.h and timing.h. Threads: plain values.
// Source: docs/formats/cluster.md.
#ifndef MESHWRIGHT_PLANNER_CLUSTER_DESCRIPTION_H_
#define MESHWRIGHT_PLANNER_CLUSTER_DESCRIPTION_H_

#include <string>
#include <vector>

#include "planner/cluster/cluster.h"
#include "planner/cluster/timing.h"

namespace meshwright::cluster {

struct Group {
  std::string name;
  std::string link_class;
  std::vector<std::string> members;  // devices and groups
};

// Between every two of the devices.
struct DirectLink {
  std::string link_class;
  std::vector<std::string> devices;
};

struct ClassTiming {
  std::string link_class;  // the slowest of the group that was timed
  Timing timing;
};

struct Description {
  std::string name;  // for people
  std::vector<std::string> devices;
  std::vector<LinkClass> classes;  // in any order
  std::vector<Group> groups;
  std::vector<DirectLink> links;
  std::vector<ClassTiming> timings;
  std::vector<std::string> notes;  // for people: what was not timed, say
};

}  // namespace meshwright::cluster

#endif  // MESHWRIGHT_PLANNER_CLUSTER_DESCRIPTION_H_
