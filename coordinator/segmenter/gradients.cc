#include "coordinator/segmenter/gradients.h"

#include <algorithm>
#include <optional>
#include <set>

#include "coordinator/ir/dim_links.h"

namespace meshwright::segmenter {
namespace {

using ir::DotRole;
using ir::Module;
using ir::Opcode;
using ir::ValueId;

// One value on the way from an operand up through its layout operations, with
// the dimension of it behind every dimension of the operand (-1: mixed by a
// reshape).
struct LayoutStep {
  ValueId value;
  std::vector<int> dims;
};

std::vector<LayoutStep> LayoutChain(const Module& module, ValueId id) {
  LayoutStep step{id, std::vector<int>(module.at(id).shape.rank())};
  for (size_t i = 0; i < step.dims.size(); ++i) {
    step.dims[i] = static_cast<int>(i);
  }
  const ValueId base = LookThroughLayout(module, id);
  std::vector<LayoutStep> chain = {step};
  while (step.value != base) {
    const ValueId operand = module.at(step.value).operands[0];
    const auto links = ir::DimLinks(module, step.value, 0);
    const auto& in = module.at(operand).shape.dims;
    const auto& out = module.at(step.value).shape.dims;
    for (int& dim : step.dims) {
      if (dim < 0) continue;
      const auto link = std::find_if(
          links.begin(), links.end(), [&](const ir::DimLink& candidate) {
            return candidate.out == dim &&
                   in[candidate.in] == out[candidate.out];
          });
      dim = link == links.end() ? -1 : link->in;
    }
    step.value = operand;
    chain.push_back(step);
  }
  return chain;
}

// Dimension of `second` that is the same as each dimension of `first`, where
// both rearrange one value; -1 where unknown.
std::vector<int> DimsBetween(const Module& module, ValueId first,
                             ValueId second) {
  const auto from = LayoutChain(module, first);
  const auto to = LayoutChain(module, second);
  std::vector<int> between(module.at(first).shape.rank(), -1);
  for (const LayoutStep& a : from) {
    const auto b = std::find_if(
        to.begin(), to.end(),
        [&](const LayoutStep& step) { return step.value == a.value; });
    if (b == to.end()) continue;
    for (size_t i = 0; i < between.size(); ++i) {
      if (a.dims[i] < 0) continue;
      const auto at = std::find(b->dims.begin(), b->dims.end(), a.dims[i]);
      if (at != b->dims.end()) {
        between[i] = static_cast<int>(at - b->dims.begin());
      }
    }
    break;
  }
  return between;
}

class GradientMatcher {
 public:
  GradientMatcher(const Module& module, const Direction& direction)
      : module_(module), direction_(direction) {}

  GradientMatches Run() {
    std::vector<ValueId> backward;
    for (ValueId id = 0; id < module_.size(); ++id) {
      if (!ir::IsContraction(module_, id) ||
          module_.at(id).opcode != Opcode::kDot) {
        continue;
      }
      const Bases bases = BasesOf(id);
      if (direction_.forward[id]) {
        for (int side = 0; side < 2; ++side) {
          readers_[bases.operand[side]].push_back({id, side});
        }
      } else {
        backward.push_back(id);
      }
    }
    for (ValueId id : backward) MatchRecomputation(id);
    // First where only one forward contraction can be meant, then by shared
    // cotangent, then by the parameter the gradient belongs to.
    for (const Step step :
         {Step::kUnique, Step::kCotangent, Step::kParameter}) {
      for (ValueId id : backward) {
        if (!matches_.contains(id)) Match(id, step);
      }
    }
    return std::move(matches_);
  }

 private:
  enum class Step { kUnique, kCotangent, kParameter };
  struct Bases {
    ValueId operand[2];
  };
  struct Reader {
    ValueId contraction;
    int side;  // the operand it reads the base as
  };
  struct Option {
    Reader reader;
    int cotangent_operand;
    ValueId cotangent;
  };

  Bases BasesOf(ValueId id) const {
    const auto& operands = module_.at(id).operands;
    return {{LookThroughLayout(module_, operands[0]),
             LookThroughLayout(module_, operands[1])}};
  }

  void MatchRecomputation(ValueId id) {
    const Bases bases = BasesOf(id);
    const auto found = readers_.find(bases.operand[0]);
    if (found == readers_.end()) return;
    for (const Reader& reader : found->second) {
      const Bases other = BasesOf(reader.contraction);
      if (other.operand[0] == bases.operand[0] &&
          other.operand[1] == bases.operand[1] &&
          module_.at(reader.contraction).shape == module_.at(id).shape) {
        GradientMatch match;
        match.forward = reader.contraction;
        match.recomputation = true;
        matches_[id] = std::move(match);
        return;
      }
    }
  }

  void Match(ValueId id, Step step) {
    std::vector<Option> options;
    const Bases bases = BasesOf(id);
    for (int operand = 0; operand < 2; ++operand) {
      const auto found = readers_.find(bases.operand[operand]);
      if (found == readers_.end()) continue;
      const ValueId cotangent = bases.operand[1 - operand];
      for (const Reader& reader : found->second) {
        if (Fits(id, operand, reader)) {
          options.push_back({reader, 1 - operand, cotangent});
        }
      }
    }
    if (step == Step::kUnique && options.size() != 1) return;
    if (step == Step::kCotangent) {
      std::erase_if(options, [&](const Option& option) {
        const auto known = cotangents_.find(option.cotangent);
        return known == cotangents_.end() ||
               !known->second.contains(option.reader.contraction);
      });
    }
    if (step == Step::kParameter) {
      std::erase_if(options, [&](const Option& option) {
        return !FlowsToItsParameter(id, option);
      });
    }
    if (options.empty()) return;
    Accept(id, options.front());
  }

  // The dimensions of the backward contraction are those of f's transpose.
  bool Fits(ValueId id, int operand, const Reader& reader) const {
    GradientMatch match;
    return Describe(id, {reader, 1 - operand, -1}, match);
  }

  bool FlowsToItsParameter(ValueId id, const Option& option) const {
    const auto& operands = module_.at(option.reader.contraction).operands;
    const ValueId parameter =
        LookThroughLayout(module_, operands[1 - option.reader.side]);
    const ir::Instruction& it = module_.at(parameter);
    if (it.opcode != Opcode::kParameter) return false;
    const int output =
        direction_.state_output[it.attributes().parameter_number()];
    if (output < 0) return false;
    const ValueId target = module_.outputs[output];
    std::vector<ValueId> stack = {id};
    std::set<ValueId> seen;
    while (!stack.empty()) {
      const ValueId at = stack.back();
      stack.pop_back();
      if (at == target) return true;
      for (ValueId user : module_.at(at).users) {
        if (!ir::IsContraction(module_, user) && seen.insert(user).second) {
          stack.push_back(user);
        }
      }
    }
    return false;
  }

  void Accept(ValueId id, const Option& option) {
    GradientMatch match;
    if (!Describe(id, option, match)) return;
    cotangents_[option.cotangent].insert(option.reader.contraction);
    matches_[id] = std::move(match);
  }

  // Fills the dimension maps; false if the shapes rule the option out.
  bool Describe(ValueId id, const Option& option, GradientMatch& match) const {
    const ValueId forward = option.reader.contraction;
    const int read = option.reader.side;  // operand of f that is read
    const int wanted = 1 - read;          // operand of f differentiated
    const int g = option.cotangent_operand;
    const int w = 1 - g;
    const ir::DotDims f = ir::DotDimsOf(module_, forward);
    const ir::DotDims c = ir::DotDimsOf(module_, id);
    const std::vector<int> behind =
        DimsBetween(module_, module_.at(id).operands[w],
                    module_.at(forward).operands[read]);
    match.forward = forward;
    match.differentiated = wanted;
    match.cotangent_operand = g;
    match.cotangent_dims.assign(c.side[g].size(), -1);
    match.output_dims.assign(module_.at(id).shape.rank(), -1);
    // Dimensions of the operand that is read pin most of both maps.
    for (size_t dim = 0; dim < c.side[w].size(); ++dim) {
      if (behind[dim] < 0) continue;
      const ir::DotDims::Dim& in_f = f.side[read][behind[dim]];
      const ir::DotDims::Dim& in_c = c.side[w][dim];
      if (in_f.role == DotRole::kContracting) {
        // Contracted in f, so it is a dimension of the result here.
        if (in_c.role != DotRole::kFree) return false;
        match.output_dims[in_c.output] = in_f.partner;
      } else if (in_f.role == DotRole::kBatch) {
        if (in_c.role != DotRole::kBatch) return false;
        match.cotangent_dims[in_c.partner] = in_f.output;
        match.output_dims[in_c.output] = in_f.partner;
      } else {
        if (in_c.role != DotRole::kContracting) return false;
        match.cotangent_dims[in_c.partner] = in_f.output;
      }
    }
    // The rest: free dimensions of g are those of the differentiated operand,
    // in order.
    std::vector<int> rest;
    for (size_t dim = 0; dim < f.side[wanted].size(); ++dim) {
      if (f.side[wanted][dim].role == DotRole::kFree) {
        rest.push_back(static_cast<int>(dim));
      }
    }
    size_t next = 0;
    const auto& shape_a =
        module_.at(module_.at(forward).operands[wanted]).shape.dims;
    const auto& shape_g = module_.at(module_.at(id).operands[g]).shape.dims;
    for (size_t dim = 0; dim < c.side[g].size(); ++dim) {
      const ir::DotDims::Dim& in_c = c.side[g][dim];
      if (in_c.role != DotRole::kFree) continue;
      if (next >= rest.size() || shape_a[rest[next]] != shape_g[dim]) {
        return false;
      }
      match.cotangent_dims[dim] = f.side[wanted][rest[next]].output;
      match.output_dims[in_c.output] = rest[next];
      ++next;
    }
    return next == rest.size();
  }

  const Module& module_;
  const Direction& direction_;
  std::unordered_map<ValueId, std::vector<Reader>> readers_;
  // Cotangent -> the forward contractions it is known to belong to.
  std::unordered_map<ValueId, std::set<ValueId>> cotangents_;
  GradientMatches matches_;
};

}  // namespace

GradientMatches MatchGradients(const Module& module,
                               const Direction& direction) {
  return GradientMatcher(module, direction).Run();
}

}  // namespace meshwright::segmenter
