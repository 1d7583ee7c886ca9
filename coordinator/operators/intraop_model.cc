#include "coordinator/operators/intraop_model.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/status_macros.h"
#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/operators/index_labels.h"
#include "coordinator/operators/operator_edges.h"
#include "coordinator/operators/operator_groups.h"
#include "coordinator/operators/step_graph.h"
#include "planner/problem/duration.h"
#include "planner/symbolic/profile.h"

namespace meshwright::operators {
namespace {

using intraop::Operator;
using intraop::Partial;
using intraop::Share;
using ir::Module;
using ir::Opcode;
using ir::ValueId;
using problem::SaturatingAdd;
using problem::SaturatingMultiply;
using segmenter::Analysis;

std::vector<int> Without(const std::vector<int>& from,
                         const std::vector<int>& what) {
  std::vector<int> left;
  std::set_difference(from.begin(), from.end(), what.begin(), what.end(),
                      std::back_inserter(left));
  return left;
}

// Amounts by the indices that share them.
class Shares {
 public:
  void Add(int64_t amount, const std::vector<int>& indices) {
    if (amount == 0) return;
    int64_t& sum = amounts_[indices];
    sum = SaturatingAdd(sum, amount);
  }
  std::vector<Share> Take() const {
    std::vector<Share> shares;
    for (const auto& [indices, amount] : amounts_) {
      shares.push_back({amount, indices});
    }
    return shares;
  }

 private:
  std::map<std::vector<int>, int64_t> amounts_;
};

class ModelReader {
 public:
  ModelReader(const Analysis& analysis, const symbolic::Device& device)
      : analysis_(analysis), module_(analysis.module), device_(device) {}

  absl::StatusOr<IntraOpModel> Run() {
    graph_ = ReadStep(analysis_);
    ASSIGN_OR_RETURN(profile_, symbolic::ProfileStep(graph_, device_));
    const symbolic::StorageMap storage = symbolic::MapStorage(graph_);
    const auto readers = symbolic::Readers(graph_, storage);
    for (const std::vector<int>& of : readers) {
      saved_.push_back(std::any_of(of.begin(), of.end(), [&](int reader) {
        return !graph_.operations[reader].forward;
      }));
    }
    stored_ = storage.stored;
    groups_ = FindOperators(analysis_);
    GatherBackward();
    CountState();
    for (int g = 0; g < static_cast<int>(groups_.groups.size()); ++g) {
      labels_.push_back(
          LabelIndices(analysis_, groups_.groups[g], SplitAxes()));
      AddOperator(g);
    }
    read_.model.edges = ReadEdges(analysis_, graph_, groups_, labels_);
    return std::move(read_);
  }

 private:
  std::vector<int64_t> SplitAxes() const {
    std::vector<int64_t> axes;
    for (int64_t size : analysis_.mesh) {
      if (size > 1) axes.push_back(size);
    }
    return axes;
  }

  bool Trains(ValueId id) const {
    return !analysis_.passes.inference &&
           ir::IsFloating(module_.at(id).shape.element_type);
  }

  // By forward contraction, the time of what differentiates or repeats it.
  void GatherBackward() {
    backward_.assign(module_.size(), 0);
    for (const auto& [id, gradient] : analysis_.gradients) {
      int64_t& time = backward_[gradient.forward];
      time = SaturatingAdd(time, profile_.operations[id].backward_time.count());
    }
  }

  // Optimizer bytes per byte of parameter.
  void CountState() {
    int64_t parameters = 0;
    int64_t optimizer = 0;
    for (size_t i = 0; i < module_.parameters.size(); ++i) {
      const int64_t bytes = module_.at(module_.parameters[i]).shape.byte_size();
      const auto role = analysis_.passes.roles[i];
      if (role == segmenter::ArgumentRole::kParameter) {
        parameters = SaturatingAdd(parameters, bytes);
      } else if (role == segmenter::ArgumentRole::kOptimizer) {
        optimizer = SaturatingAdd(optimizer, bytes);
      }
    }
    optimizer_per_byte_ = parameters == 0 ? 0
                                          : static_cast<double>(optimizer) /
                                                static_cast<double>(parameters);
  }

  // The indices that the operation runs over: its value's and those it sums.
  std::vector<int> RunsOver(const IndexLabels& labels, ValueId id) const {
    DimIndices all = labels.values.at(id);
    const auto summed = labels.summed.find(id);
    if (summed != labels.summed.end()) {
      all.insert(all.end(), summed->second.begin(), summed->second.end());
    }
    return Present(all);
  }

  const DimIndices& OperandIndices(const IndexLabels& labels, ValueId id,
                                   int k) const {
    const auto outside = labels.readings.find({id, k});
    return outside != labels.readings.end()
               ? outside->second
               : labels.values.at(module_.at(id).operands[k]);
  }

  void AddOperator(int g) {
    const OperatorGroup& group = groups_.groups[g];
    const IndexLabels& labels = labels_[g];
    Operator& made = read_.model.operators.emplace_back();
    made.name = module_.at(group.anchor).name();
    for (int64_t divisible : labels.divisible) {
      made.indices.push_back({divisible});
    }
    made.heavy = ir::IsContraction(module_, group.anchor);
    Shares time, persistent, saved;
    Share largest;
    for (ValueId id : group.members) {
      const std::vector<int> over = RunsOver(labels, id);
      const std::vector<int> own = Present(labels.values.at(id));
      time.Add(EstimateTime(id), over);
      if (stored_[id] &&
          graph_.operations[id].storage == symbolic::Storage::kOwn) {
        const int64_t bytes = graph_.operations[id].bytes;
        if (saved_[id]) saved.Add(bytes, own);
        // Beside its gradient.
        if (2 * bytes > largest.amount) largest = {2 * bytes, own};
      }
      AddPartials(id, labels, made);
      AddState(id, labels, time, persistent);
    }
    if (largest.amount > 0) made.transient = {largest};
    made.time = time.Take();
    made.persistent = persistent.Take();
    made.saved = saved.Take();
    made.rows = FindRows(group, labels);
    read_.anchors.push_back(MakeAnchor(group, labels));
  }

  int64_t EstimateTime(ValueId id) const {
    const symbolic::Row& row = profile_.operations[id];
    const int64_t once = row.forward_time.count();
    if (analysis_.passes.inference) return once;
    return ir::IsContraction(module_, id) ? SaturatingAdd(once, backward_[id])
                                          : SaturatingMultiply(once, 3);
  }

  void AddPartial(ValueId value, const DimIndices& indices,
                  const std::vector<int>& over, int64_t times,
                  Operator& made) const {
    const std::vector<int> kept = Present(indices);
    const std::vector<int> summed = Without(over, kept);
    if (summed.empty()) return;
    made.partials.push_back(
        {{module_.at(value).shape.byte_size(), kept}, summed, times});
  }

  void AddPartials(ValueId id, const IndexLabels& labels, Operator& made) {
    const ir::Instruction& it = module_.at(id);
    const int64_t trips = graph_.operations[id].trips;
    const std::vector<int> over = RunsOver(labels, id);
    const auto summed = labels.summed.find(id);
    if (summed != labels.summed.end()) {
      AddPartial(id, labels.values.at(id), over, trips, made);
    }
    // The gradient of what is spread over more indices than it has.
    for (int k = 0; k < static_cast<int>(it.operands.size()); ++k) {
      const ValueId operand = it.operands[k];
      if (!Trains(operand) || analysis_.passes.recomputable[operand] ||
          !HasGradient(operand, labels, id, k)) {
        continue;
      }
      AddPartial(operand, OperandIndices(labels, id, k), over, trips, made);
    }
  }

  // Not the values a sum starts from, nor arguments that are no parameters.
  bool HasGradient(ValueId operand, const IndexLabels& labels, ValueId user,
                   int k) const {
    const ir::Instruction& it = module_.at(operand);
    if (it.opcode == Opcode::kParameter) {
      return analysis_.passes.roles[it.attributes().parameter_number()] ==
             segmenter::ArgumentRole::kParameter;
    }
    const bool start =
        module_.at(user).opcode == Opcode::kReduce &&
        k >= static_cast<int>(module_.at(user).operands.size()) / 2;
    return !start && (groups_.operator_of[operand].has_value() ||
                      labels.values.contains(operand));
  }

  void AddState(ValueId id, const IndexLabels& labels, Shares& time,
                Shares& persistent) {
    const ir::Instruction& it = module_.at(id);
    for (int k = 0; k < static_cast<int>(it.operands.size()); ++k) {
      if (module_.at(it.operands[k]).opcode == Opcode::kParameter) {
        Hold(it.operands[k], Present(labels.readings.at({id, k})), time,
             persistent);
      }
    }
  }

  // The first operator that reads a parameter holds it, its optimizer state,
  // and updates them: all is read and written once.
  void Hold(ValueId argument, const std::vector<int>& indices, Shares& time,
            Shares& persistent) {
    const ir::Instruction& it = module_.at(argument);
    const auto number = it.attributes().parameter_number();
    if (analysis_.passes.roles[number] != segmenter::ArgumentRole::kParameter ||
        !held_.insert(argument).second) {
      return;
    }
    const double bytes =
        static_cast<double>(it.shape.byte_size()) * (1 + optimizer_per_byte_);
    const auto state = static_cast<int64_t>(std::min(bytes, 9e18));
    persistent.Add(state, indices);
    if (analysis_.passes.inference) return;
    time.Add(
        symbolic::EstimateByRoofline({}, SaturatingMultiply(2, state), device_)
            .count(),
        indices);
  }

  // The outermost index of the anchor that comes from the batch.
  std::optional<int> FindRows(const OperatorGroup& group,
                              const IndexLabels& labels) const {
    const ir::Instruction& it = module_.at(group.anchor);
    DimIndices of_batch;
    for (int k = 0; k < static_cast<int>(it.operands.size()); ++k) {
      if (!analysis_.passes.batch_derived[it.operands[k]]) continue;
      const DimIndices& indices = OperandIndices(labels, group.anchor, k);
      of_batch.insert(of_batch.end(), indices.begin(), indices.end());
    }
    for (const std::optional<int> index : labels.values.at(group.anchor)) {
      if (index.has_value() && std::find(of_batch.begin(), of_batch.end(),
                                         index) != of_batch.end()) {
        return index;
      }
    }
    return std::nullopt;
  }

  OperatorAnchor MakeAnchor(const OperatorGroup& group,
                            const IndexLabels& labels) const {
    OperatorAnchor anchor{group.anchor, {}};
    if (!ir::IsContraction(module_, group.anchor)) return anchor;
    anchor.splits.resize(labels.divisible.size());
    const auto place = [&](const DimIndices& indices,
                           std::optional<int> segmenter::RootSplit::*side) {
      for (size_t dim = 0; dim < indices.size(); ++dim) {
        if (indices[dim].has_value()) {
          anchor.splits[*indices[dim]].*side = static_cast<int>(dim);
        }
      }
    };
    place(OperandIndices(labels, group.anchor, 0), &segmenter::RootSplit::lhs);
    place(OperandIndices(labels, group.anchor, 1), &segmenter::RootSplit::rhs);
    place(labels.values.at(group.anchor), &segmenter::RootSplit::out);
    return anchor;
  }

  const Analysis& analysis_;
  const Module& module_;
  const symbolic::Device& device_;
  symbolic::OpGraph graph_;
  symbolic::Profile profile_;
  std::vector<char> saved_;  // by ValueId: the backward pass reads it
  std::vector<char> stored_;
  OperatorGroups groups_;
  std::vector<IndexLabels> labels_;  // by operator
  std::vector<int64_t> backward_;    // by ValueId
  double optimizer_per_byte_ = 0;
  std::set<ValueId> held_;  // parameters that an operator has
  IntraOpModel read_;
};

}  // namespace

absl::StatusOr<IntraOpModel> ReadIntraOpModel(const Analysis& analysis,
                                              const symbolic::Device& device) {
  return ModelReader(analysis, device).Run();
}

}  // namespace meshwright::operators
