#include "coordinator/space/configurations/parameter_links.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "coordinator/segmenter/blocks/union_find.h"
#include "coordinator/space/configurations/block_configurations.h"
#include "coordinator/space/configurations/end_configurations.h"
#include "coordinator/space/configurations/frozen_weights.h"

namespace meshwright::space {
namespace {

using segmenter::Analysis;
using segmenter::SegmentIndex;
using segmenter::SegmentTypeId;

using Splits = std::vector<Sharding>;  // of what a link shares

// A vector is small beside what it is added to or multiplied with, and follows
// its reader.
bool IsVector(const ir::Shape& shape) {
  return std::count_if(shape.dims.begin(), shape.dims.end(),
                       [](int64_t dim) { return dim > 1; }) < 2;
}

bool IsSharable(const Analysis& analysis, ir::ValueId origin) {
  const ir::Instruction& it = analysis.module.at(origin);
  return it.opcode == ir::Opcode::kParameter && !IsVector(it.shape) &&
         IsWeight(analysis,
                  static_cast<int>(it.attributes().parameter_number()));
}

// One side of a link, as far as its type tells.
struct Side {
  SegmentTypeId type;
  std::vector<int> values;
  std::set<Splits> splits;  // without a switch
};

class Widener {
 public:
  Widener(const Analysis& analysis, const Mesh& mesh,
          std::vector<SegmentType>& types)
      : analysis_(analysis), mesh_(mesh), types_(types) {}

  void Run(const std::vector<ParameterLink>& links) {
    std::set<std::tuple<SegmentTypeId, SegmentTypeId, std::vector<LinkedValue>>>
        seen;
    for (const ParameterLink& link : links) {
      const SegmentTypeId from = analysis_.type_of_segment[link.from_segment];
      const SegmentTypeId to = analysis_.type_of_segment[link.to_segment];
      if (from == to || !seen.insert({from, to, link.values}).second) continue;
      const Side a = MakeSide(from, link.ListValues(true));
      const Side b = MakeSide(to, link.ListValues(false));
      const bool second =
          types_[to].configurations.size() < types_[from].configurations.size();
      second ? Pin(b, a) : Pin(a, b);
    }
    for (const auto& [type, pins] : pins_) {
      types_[type] = MakeBlockConfigurations(analysis_, analysis_.types[type],
                                             mesh_, pins);
    }
    for (const SegmentTypeId type : narrow_) {
      types_[type].cut_short = absl::StrCat(
          "a parameter that it shares with another segment may be split in "
          "more ways there than the ",
          kMaxWidened,
          " configurations that it is given: the parameter is taken as this "
          "segment or a baseline splits it");
    }
  }

 private:
  Side MakeSide(SegmentTypeId type, std::vector<int> values) const {
    Side side{type, std::move(values), {}};
    for (const Configuration& it : types_[type].configurations) {
      if (it.segment_switch != segmenter::SegmentSwitch::kNone) continue;
      side.splits.insert(
          GetSplits(analysis_, analysis_.types[type], it, side.values, mesh_));
    }
    return side;
  }

  int CountPlain(SegmentTypeId type) const {
    std::set<int> splits;
    for (const Configuration& it : types_[type].configurations) {
      splits.insert(it.splits);
    }
    return static_cast<int>(splits.size());
  }

  // The small one gets the splits of the other.
  void Pin(const Side& small, const Side& other) {
    const auto found = pins_.find(small.type);
    const std::vector<ParameterPins> before =
        found == pins_.end() ? std::vector<ParameterPins>{{}} : found->second;
    std::vector<ParameterPins> product;
    for (const ParameterPins& base : before) {
      for (const Splits& splits : other.splits) {
        ParameterPins& pins = product.emplace_back(base);
        for (size_t i = 0; i < splits.size(); ++i) {
          pins.emplace(small.values[i], splits[i]);
        }
      }
    }
    const size_t count = product.size() * CountPlain(small.type);
    if (count > kMaxWidened) {
      narrow_.insert(small.type);
    } else {
      pins_[small.type] = std::move(product);
    }
  }

  const Analysis& analysis_;
  const Mesh& mesh_;
  std::vector<SegmentType>& types_;
  std::map<SegmentTypeId, std::vector<ParameterPins>> pins_;
  std::set<SegmentTypeId> narrow_;  // with a link beyond kMaxWidened
};

// Whether linked segments can agree: configurations that no neighbour agrees
// with are taken away until nothing changes.
class Agreement {
 public:
  Agreement(const Analysis& analysis, const std::vector<SegmentType>& types,
            const Mesh& mesh)
      : analysis_(analysis), types_(types), mesh_(mesh) {
    for (SegmentTypeId type : analysis.type_of_segment) {
      left_.emplace_back(types[type].configurations.size(), true);
    }
  }

  void Restrict(const std::vector<ParameterLink>& links) {
    bool changed = true;
    while (changed) {
      changed = false;
      for (const ParameterLink& link : links) changed |= RestrictBoth(link);
      for (size_t i = links.size(); i-- > 0;) changed |= RestrictBoth(links[i]);
    }
  }

  bool IsTorn(SegmentIndex segment) const {
    return std::none_of(left_[segment].begin(), left_[segment].end(),
                        [](char x) { return x; });
  }

 private:
  using Numbers = std::vector<int>;  // of splits, by configuration

  const Numbers& NumberSplits(SegmentIndex segment, std::vector<int> values) {
    const SegmentTypeId type = analysis_.type_of_segment[segment];
    const auto [found, added] =
        known_.try_emplace({type, std::move(values)}, Numbers());
    if (!added) return found->second;
    for (const Configuration& it : types_[type].configurations) {
      const Splits splits = GetSplits(analysis_, analysis_.types[type], it,
                                      found->first.second, mesh_);
      found->second.push_back(
          numbers_.try_emplace(splits, static_cast<int>(numbers_.size()))
              .first->second);
    }
    return found->second;
  }

  bool RestrictBoth(const ParameterLink& link) {
    const Numbers& from =
        NumberSplits(link.from_segment, link.ListValues(true));
    const Numbers& to = NumberSplits(link.to_segment, link.ListValues(false));
    const bool first =
        RestrictOne(link.from_segment, from, link.to_segment, to);
    return RestrictOne(link.to_segment, to, link.from_segment, from) || first;
  }

  bool RestrictOne(SegmentIndex segment, const Numbers& own, SegmentIndex other,
                   const Numbers& others) {
    std::set<int> there;
    for (size_t c = 0; c < others.size(); ++c) {
      if (left_[other][c]) there.insert(others[c]);
    }
    bool changed = false;
    for (size_t c = 0; c < own.size(); ++c) {
      if (!left_[segment][c] || there.contains(own[c])) continue;
      left_[segment][c] = false;
      changed = true;
    }
    return changed;
  }

  const Analysis& analysis_;
  const std::vector<SegmentType>& types_;
  const Mesh& mesh_;
  std::vector<std::vector<char>> left_;  // by segment, then configuration
  std::map<Splits, int> numbers_;
  std::map<std::pair<SegmentTypeId, std::vector<int>>, Numbers> known_;
};

}  // namespace

std::vector<int> ParameterLink::ListValues(bool from) const {
  std::vector<int> list;
  for (const LinkedValue& it : values) {
    list.push_back(from ? it.from_value : it.to_value);
  }
  return list;
}

std::vector<ParameterLink> FindParameterLinks(const Analysis& analysis) {
  struct Reader {
    SegmentIndex segment;
    int value = 0;
  };
  struct Readers {
    SegmentIndex from;
    SegmentIndex to;
    auto operator<=>(const Readers&) const = default;
  };
  std::map<ir::ValueId, Reader> last;
  std::map<Readers, std::vector<LinkedValue>> values;
  for (SegmentIndex s; s < analysis.graphs.size(); ++s) {
    if (!HasBlocks(analysis, s)) continue;
    const segmenter::SegmentGraph& graph = analysis.graphs[s];
    for (int i = 0; i < graph.input_count; ++i) {
      const ir::ValueId origin = graph.values[i].origin;
      if (!IsSharable(analysis, origin)) continue;
      const auto [reader, added] = last.try_emplace(origin, Reader{s, i});
      if (added) continue;
      const auto [segment, value] = reader->second;
      values[{segment, s}].push_back({value, i});
      reader->second = {s, i};
    }
  }
  std::vector<ParameterLink> links;
  for (auto& [readers, shared] : values) {
    std::sort(shared.begin(), shared.end());
    links.push_back({readers.from, readers.to, std::move(shared)});
  }
  return links;
}

void Widen(const Analysis& analysis, const std::vector<ParameterLink>& links,
           const Mesh& mesh, std::vector<SegmentType>& types) {
  Widener(analysis, mesh, types).Run(links);
}

void DropConflictingLinks(const Analysis& analysis,
                          const std::vector<SegmentType>& types,
                          const Mesh& mesh, std::vector<ParameterLink>& links) {
  if (links.empty()) return;
  Agreement agreement(analysis, types, mesh);
  agreement.Restrict(links);
  const size_t count = analysis.graphs.size();
  segmenter::UnionFind joined(static_cast<int>(count));
  for (const ParameterLink& link : links) {
    joined.Union(link.from_segment, link.to_segment);
  }
  std::set<int> torn;
  for (SegmentIndex segment; segment < count; ++segment) {
    if (agreement.IsTorn(segment)) torn.insert(joined.Find(segment));
  }
  std::erase_if(links, [&](const ParameterLink& link) {
    return torn.contains(joined.Find(link.from_segment));
  });
}

std::vector<Sharding> GetSplits(const Analysis& analysis, SegmentIndex segment,
                                const Configuration& configuration,
                                const std::vector<int>& values,
                                const Mesh& mesh) {
  std::vector<Sharding> splits;
  for (int value : values) {
    const ir::ValueId origin = analysis.graphs[segment].values[value].origin;
    splits.push_back(configuration.annotation.GetSharding(
        value, analysis.module.at(origin).shape, mesh));
  }
  return splits;
}

}  // namespace meshwright::space
