// ParameterLinks: segments of blocks that read one parameter.
//
// Concept: a parameter has one sharding for the whole step, and so has a weight
// that the step does not train (frozen_weights.h). Segments that read
// it are linked in a chain from reader to reader. Examples are all layers of
// ALBERT, two towers, or an embedding that is the head as well. Two linked
// segments take configurations that split all they share alike, so all readers
// agree. A small segment whose own strategies allow no split that the other
// wants gets its configurations once more with that split (Widen). It uses the
// parameter as its strategy asks, and takes and leaves it in the other's split.
//
//     embedding ── E ────────────── head        layer ─ W ─ layer ─ W ─ layer
//
// Two kinds are not linked, and are resharded inside of the segments. They are
// vectors (a norm's scale that a cut separates from its gradient), and
// parameters that the rules of a request pin apart. A parameter that an end
// reads: end_configurations.h.
// Shapes: `values` are by `from_value`.
// Threads: pure functions.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_PARAMETER_LINKS_H_
#define MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_PARAMETER_LINKS_H_

#include <compare>
#include <vector>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/configurations/configuration.h"

namespace meshwright::space {

// One parameter, as value indices of the two segments' graphs.
struct LinkedValue {
  int from_value = 0;
  int to_value = 0;
  auto operator<=>(const LinkedValue&) const = default;
};

struct ParameterLink {
  segmenter::SegmentIndex from_segment;  // the earlier one
  segmenter::SegmentIndex to_segment;
  std::vector<LinkedValue> values;

  // Those of one side.
  std::vector<int> ListValues(bool from) const;
};

// A type is widened to this many configurations at most, switches aside: few
// enough to be measured, all of them
// (coordinator/estimation/estimation_plan.h).
inline constexpr int kMaxWidened = 20;

// One link per pair of segments that are next to each other among the readers
// of some parameter.
std::vector<ParameterLink> FindParameterLinks(
    const segmenter::Analysis& analysis);

// Gives `types` the configurations that links ask of small ones.
void Widen(const segmenter::Analysis& analysis,
           const std::vector<ParameterLink>& links, const Mesh& mesh,
           std::vector<SegmentType>& types);

// Takes out the links of segments that cannot all agree.
void DropConflictingLinks(const segmenter::Analysis& analysis,
                          const std::vector<SegmentType>& types,
                          const Mesh& mesh, std::vector<ParameterLink>& links);

// How a configuration of a type splits some values of its graph.
std::vector<Sharding> GetSplits(const segmenter::Analysis& analysis,
                                segmenter::SegmentIndex segment,
                                const Configuration& configuration,
                                const std::vector<int>& values,
                                const Mesh& mesh);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_PARAMETER_LINKS_H_
