#include "coordinator/segmenter/direction/gradients.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/segmenter/direction/gradient_dims.h"
#include "coordinator/segmenter/direction/layout_walk.h"

namespace meshwright::segmenter {
namespace {

using ir::Module;
using ir::Opcode;
using ir::ValueId;

// So many candidates and values, per value of the module, are looked at; what
// is not matched by then stays unmatched.
constexpr int64_t kMaxMatchLooks = 64;

class GradientMatcher {
 public:
  GradientMatcher(const Module& module, const ForwardBackward& passes,
                  const std::vector<ValueId>& classes)
      : module_(module),
        passes_(passes),
        classes_(classes),
        bases_(FindLayoutBases(module, &classes)),
        seen_by_(module.size()),
        looks_left_(kMaxMatchLooks * module.size()) {}

  GradientMatches Run() {
    std::vector<ValueId> backward;
    for (const ValueId id : module_.ids()) {
      if (!ir::IsContraction(module_, id)) continue;
      const Bases bases = FindBases(id);
      if (passes_.forward[id]) {
        for (int side = 0; side < 2; ++side) {
          readers_[bases.operand[side]].push_back({id, side});
        }
        computed_[{bases.operand[0], bases.operand[1]}].push_back(id);
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

  bool is_cut_short() const { return looks_left_ < 0; }

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
    ValueId cotangent;
    GradientMatch match;
  };

  Bases FindBases(ValueId id) const {
    const auto& operands = module_.at(id).operands;
    return {{bases_[operands[0]], bases_[operands[1]]}};
  }

  void MatchRecomputation(ValueId id) {
    const Bases bases = FindBases(id);
    const auto found = computed_.find({bases.operand[0], bases.operand[1]});
    if (found == computed_.end()) return;
    for (ValueId forward : found->second) {
      if (!(module_.at(forward).shape == module_.at(id).shape)) continue;
      GradientMatch match;
      match.forward = forward;
      match.recomputation = true;
      matches_[id] = std::move(match);
      return;
    }
  }

  void Match(ValueId id, Step step) {
    const Bases bases = FindBases(id);
    std::optional<Option> chosen;
    bool flowed = false;
    for (int operand = 0; operand < 2; ++operand) {
      const auto found = readers_.find(bases.operand[operand]);
      if (found == readers_.end()) continue;
      const ValueId cotangent = bases.operand[1 - operand];
      const std::set<ValueId>* known = nullptr;
      if (step == Step::kCotangent) {
        const auto entry = cotangents_.find(cotangent);
        if (entry == cotangents_.end()) continue;
        known = &entry->second;
      }
      for (const Reader& reader : found->second) {
        if (--looks_left_ < 0) return;
        if (known != nullptr && !known->contains(reader.contraction)) continue;
        std::optional<GradientMatch> match =
            DescribeGradient(module_, classes_, id, 1 - operand,
                             reader.contraction, reader.side, looks_left_);
        if (looks_left_ < 0) return;
        if (!match.has_value()) continue;
        Option option{reader, cotangent, *std::move(match)};
        if (step == Step::kParameter) {
          if (!std::exchange(flowed, true)) Flow(id);
          if (!FlowsToItsParameter(id, option)) continue;
        }
        if (step != Step::kUnique) return Accept(id, std::move(option));
        if (chosen.has_value()) return;
        chosen = std::move(option);
      }
    }
    if (chosen.has_value()) Accept(id, *std::move(chosen));
  }

  // Marks what a gradient flows to before the next contraction.
  void Flow(ValueId id) {
    std::vector<ValueId> stack = {id};
    while (!stack.empty()) {
      const ValueId at = stack.back();
      stack.pop_back();
      for (ValueId user : module_.at(at).users) {
        if (--looks_left_ < 0) return;
        if (!ir::IsContraction(module_, user) &&
            std::exchange(seen_by_[user], id) != id) {
          stack.push_back(user);
        }
      }
    }
  }

  bool FlowsToItsParameter(ValueId id, const Option& option) const {
    const auto& operands = module_.at(option.reader.contraction).operands;
    const ValueId parameter = bases_[operands[1 - option.reader.side]];
    const ir::Instruction& it = module_.at(parameter);
    if (it.opcode != Opcode::kParameter) return false;
    const std::optional<int> output =
        passes_.state_output[it.attributes().parameter_number()];
    if (!output.has_value()) return false;
    const ValueId target = module_.outputs[*output];
    return target == id || seen_by_[target] == id;
  }

  void Accept(ValueId id, Option option) {
    cotangents_[option.cotangent].insert(option.reader.contraction);
    matches_[id] = std::move(option.match);
  }

  const Module& module_;
  const ForwardBackward& passes_;
  const std::vector<ValueId>& classes_;
  const std::vector<ValueId> bases_;  // by ValueId
  std::unordered_map<ValueId, std::vector<Reader>> readers_;
  // Forward contractions by the bases of their operands.
  std::map<std::pair<ValueId, ValueId>, std::vector<ValueId>> computed_;
  // Cotangent -> the forward contractions it is known to belong to.
  std::unordered_map<ValueId, std::set<ValueId>> cotangents_;
  GradientMatches matches_;
  // By ValueId: the last gradient that flows there.
  std::vector<std::optional<ValueId>> seen_by_;
  int64_t looks_left_;
};

}  // namespace

GradientMatches MatchGradients(const Module& module,
                               const ForwardBackward& passes,
                               const std::vector<ValueId>& classes,
                               bool* cut_short) {
  GradientMatcher matcher(module, passes, classes);
  GradientMatches matches = matcher.Run();
  if (cut_short != nullptr) *cut_short = matcher.is_cut_short();
  return matches;
}

}  // namespace meshwright::segmenter
