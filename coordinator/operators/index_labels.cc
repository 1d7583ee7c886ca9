#include "coordinator/operators/index_labels.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/ir/links/dim_links.h"
#include "coordinator/ir/shape.h"
#include "coordinator/segmenter/blocks/union_find.h"

namespace meshwright::operators {
namespace {

using ir::Module;
using ir::Opcode;
using ir::ValueId;

class Labeller {
 public:
  Labeller(const segmenter::Analysis& analysis, const OperatorGroup& group)
      : module_(analysis.module), group_(group) {}

  IndexLabels Run(const std::vector<int64_t>& axes) {
    for (ValueId id : group_.members) values_[id] = Add(id);
    for (ValueId id : group_.members) {
      const ir::Instruction& it = module_.at(id);
      for (int k = 0; k < static_cast<int>(it.operands.size()); ++k) {
        const ValueId operand = it.operands[k];
        if (!values_.contains(operand)) readings_[{id, k}] = Add(operand);
      }
    }
    for (ValueId id : group_.members) Link(id);
    return Number(axes);
  }

 private:
  // Nodes of the dimensions of one tensor.
  std::vector<int> Add(ValueId id) {
    std::vector<int> nodes;
    const auto* dims = ir::CollectUniformDims(module_.at(id).shape);
    if (dims == nullptr) return nodes;
    for (int64_t size : *dims) {
      nodes.push_back(sets_.Add());
      divisible_.push_back(size);
      whole_.push_back(size < 2);
    }
    return nodes;
  }

  int Find(int node) const { return sets_.Find(node); }

  void Join(int a, int b, int64_t groups = 0) {
    a = Find(a);
    b = Find(b);
    divisible_[a] = std::gcd(std::gcd(divisible_[a], divisible_[b]), groups);
    whole_[a] = whole_[a] || whole_[b];
    sets_.Union(a, b);
  }

  const std::vector<int>& GetNodes(ValueId user, int operand) {
    const auto inside = values_.find(module_.at(user).operands[operand]);
    return inside != values_.end() ? inside->second
                                   : readings_[{user, operand}];
  }

  void Link(ValueId id) {
    const ir::Instruction& it = module_.at(id);
    const std::vector<int>& own = values_[id];
    std::vector<std::set<int>> linked(it.operands.size());
    std::vector<char> reached(own.size(), 0);
    for (int k = 0; k < static_cast<int>(it.operands.size()); ++k) {
      const std::vector<int>& nodes = GetNodes(id, k);
      for (const ir::DimLink& link : ir::FindDimLinks(module_, id, k)) {
        if (link.in >= static_cast<int>(nodes.size()) ||
            link.out >= static_cast<int>(own.size())) {
          continue;
        }
        Join(nodes[link.in], own[link.out], link.groups);
        linked[k].insert(link.in);
        reached[link.out] = 1;
      }
    }
    Sum(id, linked);
    for (int k = 0; k < static_cast<int>(it.operands.size()); ++k) {
      const std::vector<int>& nodes = GetNodes(id, k);
      for (int dim = 0; dim < static_cast<int>(nodes.size()); ++dim) {
        if (!linked[k].contains(dim)) whole_[Find(nodes[dim])] = true;
      }
    }
    // A dimension that a broadcast adds may be split, one that a pad or a
    // window makes would be cut out of a whole.
    if (it.opcode == Opcode::kBroadcast || it.opcode == Opcode::kIota) return;
    for (size_t dim = 0; dim < own.size(); ++dim) {
      if (!reached[dim]) whole_[Find(own[dim])] = true;
    }
  }

  // The indices that the operation sums over; they may be split as well.
  void Sum(ValueId id, std::vector<std::set<int>>& linked) {
    const ir::Instruction& it = module_.at(id);
    if (ir::IsContraction(module_, id)) {
      for (const ir::ContractedPair& pair :
           ir::FindContractedDims(module_, id)) {
        const int left = GetNodes(id, 0)[pair.lhs];
        Join(left, GetNodes(id, 1)[pair.rhs]);
        linked[0].insert(pair.lhs);
        linked[1].insert(pair.rhs);
        summed_[id].push_back(left);
      }
    }
    if (it.opcode != Opcode::kReduce) return;
    const int inputs = static_cast<int>(it.operands.size()) / 2;
    for (int64_t dim : it.attributes().dimensions()) {
      const int at = static_cast<int>(dim);
      const int first = GetNodes(id, 0)[at];
      for (int k = 0; k < inputs; ++k) {
        Join(first, GetNodes(id, k)[at]);
        linked[k].insert(at);
      }
      summed_[id].push_back(first);
    }
  }

  void ForbidTwice(const std::vector<int>& nodes) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        const int root = Find(nodes[i]);
        if (root == Find(nodes[j])) whole_[root] = true;
      }
    }
  }

  IndexLabels Number(const std::vector<int64_t>& axes) {
    for (const auto& [id, nodes] : values_) ForbidTwice(nodes);
    for (const auto& [reading, nodes] : readings_) ForbidTwice(nodes);
    IndexLabels labels;
    std::map<int, int> index_of;  // root -> index
    const auto label = [&](int node) -> std::optional<int> {
      const int root = Find(node);
      const bool splits =
          !whole_[root] &&
          std::any_of(axes.begin(), axes.end(), [&](int64_t size) {
            return divisible_[root] % size == 0;
          });
      if (!splits) return std::nullopt;
      const auto [found, added] =
          index_of.emplace(root, static_cast<int>(labels.divisible.size()));
      if (added) labels.divisible.push_back(divisible_[root]);
      return found->second;
    };
    const auto all = [&](const std::vector<int>& nodes) {
      DimIndices indices;
      for (int node : nodes) indices.push_back(label(node));
      return indices;
    };
    // The anchor's own come first, in the order of its dimensions.
    all(values_[group_.anchor]);
    for (const auto& [id, nodes] : values_) labels.values[id] = all(nodes);
    for (const auto& [reading, nodes] : readings_) {
      labels.readings[reading] = all(nodes);
    }
    for (const auto& [id, nodes] : summed_) {
      for (const std::optional<int> index : all(nodes)) {
        if (index.has_value()) labels.summed[id].push_back(*index);
      }
    }
    return labels;
  }

  const Module& module_;
  const OperatorGroup& group_;
  segmenter::UnionFind sets_;  // of dimensions; figures are those of roots
  std::vector<int64_t> divisible_;
  std::vector<char> whole_;
  std::map<ValueId, std::vector<int>> values_;
  std::map<Reading, std::vector<int>> readings_;
  std::map<ValueId, std::vector<int>> summed_;
};

}  // namespace

std::vector<int> Present(const DimIndices& indices) {
  std::set<int> present;
  for (const std::optional<int> index : indices) {
    if (index.has_value()) present.insert(*index);
  }
  return {present.begin(), present.end()};
}

IndexLabels LabelIndices(const segmenter::Analysis& analysis,
                         const OperatorGroup& group,
                         const std::vector<int64_t>& axes) {
  return Labeller(analysis, group).Run(axes);
}

}  // namespace meshwright::operators
