// ChooseLinkedMembers: which idle workers of a host run a program together.
//
// Concept: within a host some devices have links of their own (NVLink), others
// only the bus. Two workers are linked where a device of one is at the end of a
// link of the other, or both have links to one switch. Of all workers those are
// chosen that have most pairs with links. From each worker a gang grows by the
// one with most links to it, then to all; the best of these gangs is taken. The
// test finds it exact for boxes of joined groups, pairs and switches among
// them. In → Out: candidates in order → ascending indices. Where links do not
// matter, the first ones are taken. Threads: pure. Errors: none.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_GANGS_LINKED_MEMBERS_H_
#define MESHWRIGHT_COORDINATOR_JOBS_GANGS_LINKED_MEMBERS_H_

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace meshwright::jobs::gangs {

// Places on the bus, of all devices of a worker.
struct LinkEnds {
  std::set<std::string> places;    // of the devices
  std::set<std::string> devices;   // at the other ends of their links
  std::set<std::string> switches;  // there, too
};

bool AreLinked(const LinkEnds& a, const LinkEnds& b);

// `count` is at most the number of candidates.
std::vector<size_t> ChooseLinkedMembers(
    const std::vector<const LinkEnds*>& candidates, size_t count);

}  // namespace meshwright::jobs::gangs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_GANGS_LINKED_MEMBERS_H_
