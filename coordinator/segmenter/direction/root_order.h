// RootOrder: is there a path from one root contraction to another?
//
// Concept: roots are dealt to chains as they open, each behind a root that it
// follows from. The roots above a value therefore follow from how far it
// reaches down each chain. Values that reach equally far share one list; a
// decoder needs as many chains as it has contractions side by side.
//
//     q1 -- o1 -- up1 -- q2 -- ...     chain 0
//     k1 --------------- k2 -- ...     chain 1      reach(k2) = {0: up1, 1: k2}
//
// Lists are bounded. Where a graph is so wide that they would outgrow the
// module, a root counts as above every root of a greater depth (is_cut_short).
// Shapes: values and roots must come in dependency order.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_ROOT_ORDER_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_ROOT_ORDER_H_

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "coordinator/ir/module.h"

namespace meshwright::segmenter {

class RootOrder {
 public:
  explicit RootOrder(int values);

  // `id` follows from its operands.
  void Follow(ir::ValueId id, const std::vector<ir::ValueId>& operands);

  // A value that was followed is a root; returns its number, from 0 on.
  int Open(ir::ValueId id);

  int depth(int root) const { return roots_[root].depth; }

  struct Place {
    int chain = 0;
    int position = 0;
    bool operator==(const Place&) const = default;
  };

  // The roots of a block, as far as paths are concerned.
  struct Group {
    int min_depth = 0;
    int max_depth = 0;
    int above = 0;             // list: what is above or in it
    std::vector<Place> first;  // by chain, its first root in the group
  };
  // A group of this root alone.
  Group MakeGroup(int root) const;
  // Of the roots of both; it takes from the work that is left.
  Group Join(const Group& a, const Group& b);

  // No root of one is above a root of the other.
  bool Unrelated(const Group& a, const Group& b) const;

  // Whether roots without a path between them may count as related.
  bool is_cut_short() const { return work_left_ < 0 || looks_left_ < 0; }

 private:
  // How far a value reaches; ascending by chain.
  using List = std::vector<Place>;
  static constexpr int kUnknown = 0;  // list numbers
  static constexpr int kEmpty = 1;

  // Numbers of two lists, the lower one first.
  struct ListPair {
    int low = kUnknown;
    int high = kUnknown;
    auto operator<=>(const ListPair&) const = default;
  };

  struct Root {
    int depth = 1;
    Place place;
    int above = kEmpty;
  };

  int Merge(int a, int b);
  int Keep(List list);
  bool IsAbove(const Group& a, const Group& b) const;

  std::vector<int> list_of_;   // by ValueId
  std::vector<int> depth_of_;  // by ValueId: the deepest root above
  std::vector<List> lists_;
  std::map<ListPair, int> merged_;
  std::vector<int> chains_;  // lengths
  std::vector<Root> roots_;
  int64_t work_left_;
  mutable int64_t looks_left_;  // of questions; without any all are related
};

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_ROOT_ORDER_H_
