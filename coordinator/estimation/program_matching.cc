#include "coordinator/estimation/program_matching.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace meshwright::estimation {
namespace {

using segmenter::SegmentIndex;
using segmenter::SegmentTypeId;

class Matcher {
 public:
  Matcher(const StepSpace& known, const StepSpace& wanted)
      : known_(known), wanted_(wanted) {
    for (SegmentTypeId t; t < wanted.space.types.size(); ++t) MatchType(t);
    for (const space::Boundary& boundary : wanted.space.boundaries) {
      MatchBoundary(boundary);
    }
  }

  ProgramMatches Take() {
    return {std::move(programs_), std::find(types_.begin(), types_.end(),
                                            std::nullopt) == types_.end()};
  }

 private:
  static const std::string& Print(const StepSpace& step, SegmentTypeId type) {
    return step.analysis.graphs[step.analysis.types[type]].fingerprint;
  }

  // The first of its graph that is no other's; types of equal graphs come in
  // the same order.
  void MatchType(SegmentTypeId type) {
    std::optional<SegmentTypeId> found;
    for (SegmentTypeId other; other < known_.space.types.size() && !found;
         ++other) {
      if (Print(known_, other) == Print(wanted_, type) &&
          taken_.insert(other).second) {
        found = other;
      }
    }
    types_.push_back(found);
    std::vector<std::optional<int>>& pairs = configurations_.emplace_back();
    const auto& own = wanted_.space.types[type].configurations;
    pairs.resize(own.size());
    if (!found.has_value()) return;
    const auto& others = known_.space.types[*found].configurations;
    std::map<std::string, int> by_name;
    for (size_t c = 0; c < others.size(); ++c) {
      by_name.emplace(others[c].describe, static_cast<int>(c));
    }
    for (size_t c = 0; c < own.size(); ++c) {
      const auto other = by_name.find(own[c].describe);
      if (other == by_name.end()) continue;
      pairs[c] = other->second;
      MatchConfiguration(own[c], others[other->second]);
    }
  }

  void MatchConfiguration(const space::Configuration& own,
                          const space::Configuration& other) {
    if (!own.program.has_value() || !other.program.has_value() ||
        own.corrections.size() != other.corrections.size()) {
      return;
    }
    programs_.emplace(*own.program, *other.program);
    for (size_t i = 0; i < own.corrections.size(); ++i) {
      programs_.emplace(own.corrections[i].program,
                        other.corrections[i].program);
    }
  }

  void MatchBoundary(const space::Boundary& own) {
    const auto type = [](const StepSpace& step, SegmentIndex segment) {
      return step.analysis.type_of_segment[segment];
    };
    const SegmentTypeId from = type(wanted_, own.from_segment);
    const SegmentTypeId to = type(wanted_, own.to_segment);
    for (const space::Boundary& other : known_.space.boundaries) {
      if (type(known_, other.from_segment) != types_[from] ||
          type(known_, other.to_segment) != types_[to] ||
          other.tensors != own.tensors) {
        continue;
      }
      for (size_t a = 0; a < own.programs.size(); ++a) {
        for (size_t b = 0; b < own.programs[a].size(); ++b) {
          const std::optional<int> known_a = configurations_[from][a];
          const std::optional<int> known_b = configurations_[to][b];
          if (!known_a.has_value() || !known_b.has_value()) continue;
          MatchCell(own.programs[a][b], other.programs[*known_a][*known_b]);
        }
      }
    }
  }

  // Crossing tensors that are split otherwise, in the same order on both sides.
  void MatchCell(const std::vector<space::ProgramId>& own,
                 const std::vector<space::ProgramId>& other) {
    if (own.size() != other.size()) return;
    for (size_t i = 0; i < own.size(); ++i) programs_.emplace(own[i], other[i]);
  }

  const StepSpace& known_;
  const StepSpace& wanted_;
  std::vector<std::optional<SegmentTypeId>> types_;              // by type
  std::vector<std::vector<std::optional<int>>> configurations_;  // likewise
  std::set<SegmentTypeId> taken_;
  std::map<space::ProgramId, space::ProgramId> programs_;
};

}  // namespace

ProgramMatches MatchPrograms(const StepSpace& known, const StepSpace& wanted) {
  return Matcher(known, wanted).Take();
}

}  // namespace meshwright::estimation
