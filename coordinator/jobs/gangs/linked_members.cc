#include "coordinator/jobs/gangs/linked_members.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace meshwright::jobs::gangs {
namespace {

bool HaveCommon(const std::set<std::string>& a,
                const std::set<std::string>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](const std::string& it) { return b.contains(it); });
}

using Matrix = std::vector<std::vector<bool>>;

struct Grown {
  std::vector<size_t> members;
  size_t links = 0;
};

Grown GrowFrom(size_t first, const Matrix& linked, size_t count) {
  Grown gang{{first}, 0};
  std::vector<size_t> links(linked.size(), 0);  // to members
  const auto count_all = [&](size_t it) {
    return std::count(linked[it].begin(), linked[it].end(), true);
  };
  std::vector<bool> is_member(linked.size(), false);
  for (size_t last = first; gang.members.size() < count;) {
    is_member[last] = true;
    size_t best = linked.size();
    for (size_t it = 0; it < linked.size(); ++it) {
      if (is_member[it]) continue;
      if (linked[last][it]) ++links[it];
      if (best == linked.size() || links[it] > links[best] ||
          (links[it] == links[best] && count_all(it) > count_all(best))) {
        best = it;
      }
    }
    gang.members.push_back(best);
    gang.links += links[best];
    last = best;
  }
  return gang;
}

}  // namespace

bool AreLinked(const LinkEnds& a, const LinkEnds& b) {
  return HaveCommon(a.places, b.devices) || HaveCommon(b.places, a.devices) ||
         HaveCommon(a.switches, b.switches);
}

std::vector<size_t> ChooseLinkedMembers(
    const std::vector<const LinkEnds*>& candidates, size_t count) {
  const size_t size = candidates.size();
  const bool has_links =
      std::any_of(candidates.begin(), candidates.end(), [](const auto* it) {
        return !it->devices.empty() || !it->switches.empty();
      });
  if (!has_links || count >= size) {
    std::vector<size_t> first(std::min(count, size));
    std::iota(first.begin(), first.end(), size_t{0});
    return first;
  }
  Matrix linked(size, std::vector<bool>(size, false));
  for (size_t a = 0; a < size; ++a) {
    for (size_t b = a + 1; b < size; ++b) {
      linked[a][b] = linked[b][a] = AreLinked(*candidates[a], *candidates[b]);
    }
  }
  Grown best = GrowFrom(0, linked, count);
  for (size_t first = 1; first < size; ++first) {
    Grown gang = GrowFrom(first, linked, count);
    if (gang.links > best.links) best = std::move(gang);
  }
  std::sort(best.members.begin(), best.members.end());
  return best.members;
}

}  // namespace meshwright::jobs::gangs
