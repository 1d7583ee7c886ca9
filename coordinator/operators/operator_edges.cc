#include "coordinator/operators/operator_edges.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "coordinator/ir/shape.h"

namespace meshwright::operators {
namespace {

using ir::ValueId;

class EdgeReader {
 public:
  EdgeReader(const segmenter::Analysis& analysis,
             const symbolic::OpGraph& graph, const OperatorGroups& groups,
             const std::vector<IndexLabels>& labels)
      : module_(analysis.module),
        trains_(!analysis.passes.inference),
        graph_(graph),
        groups_(groups),
        labels_(labels) {}

  std::vector<intraop::Edge> Run() {
    for (int g = 0; g < static_cast<int>(groups_.groups.size()); ++g) {
      for (const auto& [reading, indices] : labels_[g].readings) {
        const auto [user, operand] = reading;
        const ValueId value = module_.at(user).operands[operand];
        const std::optional<int> from = groups_.operator_of[value];
        if (!from.has_value()) continue;
        Add(*from, g, value, labels_[*from].values.at(value), indices,
            graph_.operations[user].trips);
      }
    }
    for (const ir::Loop& loop : module_.loops) AddTrips(loop);
    return std::move(edges_);
  }

 private:
  void AddTrips(const ir::Loop& loop) {
    for (size_t k = 0; k < loop.carries.size(); ++k) {
      if (!loop.carries[k].has_value() || !loop.results[k].has_value())
        continue;
      const ValueId next = module_.at(*loop.results[k]).operands[0];
      const std::optional<int> from = groups_.operator_of[next];
      const std::optional<int> to = groups_.operator_of[*loop.carries[k]];
      if (!from.has_value() || !to.has_value()) continue;
      Add(*from, *to, next, labels_[*from].values.at(next),
          labels_[*to].values.at(*loop.carries[k]),
          std::max<int64_t>(1, loop.trips - 1));
    }
  }

  static std::vector<int> ToModel(const DimIndices& indices) {
    std::vector<int> model;
    for (const std::optional<int> index : indices) {
      model.push_back(index.value_or(intraop::kWholeDim));
    }
    return model;
  }

  void Add(int from, int to, ValueId value, const DimIndices& from_indices,
           const DimIndices& to_indices, int64_t times) {
    const ir::Shape& shape = module_.at(value).shape;
    const auto* dims = ir::CollectUniformDims(shape);
    if (dims == nullptr || from == to) return;
    // Whole on either side, whatever is split.
    if (Present(from_indices).empty() && Present(to_indices).empty()) return;
    if (std::find(dims->begin(), dims->end(), 0) != dims->end()) return;
    intraop::Edge edge;
    edge.from = std::min(from, to);
    edge.to = std::max(from, to);
    edge.dims = *dims;
    int64_t elements = 1;
    for (int64_t dim : *dims) elements *= dim;
    edge.elem_bytes = std::max<int64_t>(1, shape.byte_size() / elements);
    edge.from_indices = ToModel(from < to ? from_indices : to_indices);
    edge.to_indices = ToModel(from < to ? to_indices : from_indices);
    edge.gradient = trains_ && ir::IsFloating(shape.element_type);
    edge.times = times;
    if (known_
            .insert(
                {edge.from, edge.to, value, edge.from_indices, edge.to_indices})
            .second) {
      edges_.push_back(std::move(edge));
    }
  }

  const ir::Module& module_;
  const bool trains_;
  const symbolic::OpGraph& graph_;
  const OperatorGroups& groups_;
  const std::vector<IndexLabels>& labels_;
  std::set<std::tuple<int, int, ValueId, std::vector<int>, std::vector<int>>>
      known_;
  std::vector<intraop::Edge> edges_;
};

}  // namespace

std::vector<intraop::Edge> ReadEdges(const segmenter::Analysis& analysis,
                                     const symbolic::OpGraph& graph,
                                     const OperatorGroups& groups,
                                     const std::vector<IndexLabels>& labels) {
  return EdgeReader(analysis, graph, groups, labels).Run();
}

}  // namespace meshwright::operators
