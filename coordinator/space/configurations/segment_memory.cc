#include "coordinator/space/configurations/segment_memory.h"

#include <algorithm>
#include <map>
#include <vector>

#include "coordinator/segmenter/segment_view.h"
#include "coordinator/space/rematerialization/groups.h"

namespace meshwright::space {
namespace {

class ByteCounter : segmenter::SegmentView {
 public:
  ByteCounter(const segmenter::Analysis& analysis,
              const segmenter::SegmentGraph& graph, const BackwardReads& reads,
              const Mesh& mesh, Configuration& configuration)
      : SegmentView(analysis, graph),
        reads_(reads),
        mesh_(mesh),
        configuration_(configuration),
        annotation_(configuration.annotation) {
    if (!configuration.recompute) return;
    rematerialization_ =
        FindRematerializationInRole(analysis, graph, configuration.role);
  }

  void Run() {
    for (const auto& [argument, updated] : graph_.state) {
      configuration_.persistent_bytes += OwnBytes(argument);
    }
    for (const int output : graph_.outputs) {
      if (!IsInput(output) && IsLeftBeside(output)) {
        configuration_.persistent_bytes += Bytes(
            output, annotation_.GetLeaving(output, At(output).shape, mesh_));
      }
    }
    for (int i = 0; i < graph_.input_count; ++i) {
      if (IsGiven(i)) configuration_.persistent_bytes += OwnBytes(i);
    }
    for (int i = 0; i < count_ && IsAlone(); ++i) {
      if (IsBase(i)) configuration_.base_bytes += OwnBytes(i);
    }
    configuration_.persistent_bytes += configuration_.base_bytes;
    for (int i = 0; i < count_; ++i) {
      if (IsSumOverTrips(i)) configuration_.summed_bytes += OwnBytes(i);
    }
    configuration_.given_bytes += configuration_.summed_bytes;
    for (int i = 0; i < count_ && !rematerialization_.empty(); ++i) {
      if (!rematerialization_.entrance[i] || rematerialization_.handed[i]) {
        continue;
      }
      configuration_.given_bytes += KeptBytes(i);
    }
    if (configuration_.role.InGroup()) {
      configuration_.rematerialized_bytes = CountRematerializedBytes();
    }
    configuration_.saved_bytes += configuration_.given_bytes;
    for (int i = 0; i < count_; ++i) {
      if (IsForward(i) && !IsRecomputable(i) && !IsRematerialized(i) &&
          !IsRearranged(i)) {
        const int64_t saved = SavedBytes(i);
        configuration_.saved_bytes += saved;
        if (Crosses(i)) configuration_.crossing_bytes += saved;
      }
    }
  }

 private:
  // An argument that is no state, of the first segment that reads it.
  bool IsGiven(int input) const {
    if (!IsArgument(input)) return false;
    const segmenter::ArgumentRole role =
        analysis_.passes.roles[At(input).attributes().parameter_number()];
    if (role == segmenter::ArgumentRole::kParameter ||
        role == segmenter::ArgumentRole::kOptimizer) {
      return false;
    }
    const auto& users = At(input).users;
    return std::none_of(users.begin(), users.end(), [&](ir::ValueId user) {
      const auto owner = analysis_.plan.owner[user].FindSegment();
      return owner.has_value() && *owner < graph_.segment;
    });
  }

  // An output of the step in a buffer of its own.
  bool IsLeftBeside(int value) const {
    return analysis_.passes.left_beside[Origin(value)] != 0;
  }

  bool Crosses(int value) const {
    return (IsInput(value) && !IsArgument(value)) ||
           std::find(graph_.outputs.begin(), graph_.outputs.end(), value) !=
               graph_.outputs.end();
  }

  // Recomputed in the backward pass, or what that begins with.
  bool IsRematerialized(int value) const {
    return !rematerialization_.empty() &&
           (rematerialization_.recomputed[value] ||
            rematerialization_.entrance[value]);
  }

  // Whether the operation only moves or spreads what is there already.
  bool Rearranges(int value) const {
    const ir::Opcode opcode = At(value).opcode;
    return ir::IsLayout(opcode) || opcode == ir::Opcode::kBroadcast;
  }
  bool IsRearranged(int value) const {
    return !IsInput(value) && Rearranges(value);
  }

  // Whether the step has no other segment of the type. What several make alike
  // the compiler makes once, and a copy when it is needed.
  bool IsAlone() const {
    const auto& types = analysis_.type_of_segment;
    return std::count(types.begin(), types.end(), types[graph_.segment]) == 1;
  }

  // What the backward pass adds gradients to, one by one: the program makes it,
  // and the compiler at the front of the step.
  bool IsBase(int value) const {
    if (At(value).opcode != ir::Opcode::kBroadcast || IsInput(value)) {
      return false;
    }
    const auto& users = Users(value);
    return std::any_of(users.begin(), users.end(), [&](int user) {
      return !IsForward(user) && At(user).opcode == ir::Opcode::kScatter &&
             Operands(user)[0] == value;
    });
  }

  // A value that a loop looked through carries from trip to trip for the
  // segment: the sum of its gradients.
  bool IsSumOverTrips(int value) const {
    return At(value).opcode == ir::Opcode::kCarry &&
           !analysis_.plan.kept_loops[At(value).boundary->loop] &&
           !IsForward(value);
  }

  int64_t Bytes(int value, const Sharding& sharding) const {
    return CountBytesPerDevice(At(value).shape, sharding, mesh_);
  }
  Sharding Own(int value) const {
    return annotation_.GetSharding(value, At(value).shape, mesh_);
  }
  int64_t OwnBytes(int value) const { return Bytes(value, Own(value)); }
  // What is there throughout is counted so.
  int64_t KeptBytes(int value) const {
    return IsArgument(value) || IsLeftBeside(value) ? 0 : OwnBytes(value);
  }

  // The part of a forward value that lives until the backward pass reads it:
  // itself, and copies in other splits that both passes read.
  int64_t SavedBytes(int value) const {
    struct Readers {
      bool forward = false;
      bool backward = false;
    };
    const Sharding own = Own(value);
    std::map<Sharding, Readers> readers;
    for (const auto& [user, operand] : Uses(value)) {
      Readers& of = readers[annotation_.GetDemanded(user, operand, value,
                                                    At(value).shape, mesh_)];
      of.forward |= IsForward(user);
      of.backward |= reads_.KeepsFor(value, user);
    }
    int64_t bytes = 0;
    bool keeps_own = reads_.KeepsForTwin(value) ||
                     (readers.contains(own) && readers.at(own).backward);
    for (const auto& [sharding, of] : readers) {
      if (sharding == own || !of.backward) continue;
      if (of.forward) {
        bytes += Bytes(value, sharding);
      } else {
        keeps_own = true;
      }
    }
    return keeps_own ? bytes + KeptBytes(value) : bytes;
  }

  // The bytes that live from a segment's rematerialization until its backward
  // pass, with those that links hand to it.
  int64_t CountRematerializedBytes() const {
    std::vector<char> linked(count_, false);
    for (const GroupLink& link : FindLinks(analysis_, graph_.segment)) {
      linked[link.entry] = true;
    }
    int64_t bytes = 0;
    for (int i = 0; i < count_; ++i) {
      if (!IsRematerialized(i) || !IsForward(i) || IsRearranged(i)) continue;
      const int64_t saved = SavedBytes(i);
      const int64_t own = KeptBytes(i);
      if (linked[i]) {
        bytes += std::max(saved, own);
      } else if (rematerialization_.entrance[i]) {
        // Bytes that are kept anyway count there.
        bytes += std::max<int64_t>(0, saved - own);
      } else {
        bytes += saved;
      }
    }
    return bytes;
  }

  const BackwardReads& reads_;
  const Mesh& mesh_;
  Configuration& configuration_;
  const SegmentAnnotation& annotation_;
  Rematerialization rematerialization_;
};

}  // namespace

void CountBytes(const segmenter::Analysis& analysis,
                const segmenter::SegmentGraph& graph,
                const BackwardReads& reads, const Mesh& mesh,
                Configuration& configuration) {
  ByteCounter(analysis, graph, reads, mesh, configuration).Run();
}

}  // namespace meshwright::space
