#include "planner/symbolic/memories.h"

#include <algorithm>

#include "planner/problem/duration.h"

namespace meshwright::symbolic {
namespace {

using problem::SaturatingAdd;

class Accountant {
 public:
  Accountant(const OpGraph& graph, const StorageMap& storage,
             const std::vector<std::vector<int>>& readers,
             const std::vector<std::optional<int>>& set_of, int sets)
      : graph_(graph),
        storage_(storage),
        readers_(readers),
        set_of_(set_of),
        inner_(graph.operations.size(), 0),
        is_output_(graph.operations.size(), 0),
        is_state_(graph.operations.size(), 0),
        memories_(sets) {
    for (const Output& output : graph.outputs) {
      auto& marks = !output.argument.has_value() ? is_output_ : is_state_;
      marks[storage.root[output.value]] = 1;
    }
  }

  std::vector<Memories> Run() {
    const int count = static_cast<int>(graph_.operations.size());
    for (int i = 0; i < count; ++i) {
      if (graph_.operations[i].storage == Storage::kOwn && storage_.stored[i]) {
        Place(i);
      }
    }
    Sweep();
    return std::move(memories_);
  }

 private:
  static void Add(int64_t bytes, int64_t& to) { to = SaturatingAdd(to, bytes); }

  void Place(int value) {
    const Operation& it = graph_.operations[value];
    const std::optional<int> owner = set_of_[value];
    bool read_elsewhere = is_output_[value] != 0;
    bool saved = false;
    for (int reader : readers_[value]) {
      const bool forward = graph_.operations[reader].forward;
      saved |= it.forward && !forward;
      // A forward value that the backward pass reads is saved, not handed on.
      read_elsewhere |= set_of_[reader] != owner && forward == it.forward;
    }
    if (owner.has_value()) {
      Memories& own = memories_[*owner];
      if (it.forward && read_elsewhere) {
        Add(it.bytes, own.fwd_out);
      } else if (it.forward && saved) {
        Add(it.bytes, own.fwd_in);
      } else if (read_elsewhere) {
        Add(it.bytes, own.bwd_out);
      } else {
        inner_[value] = !is_state_[value];
      }
    }
    if (!saved) return;
    std::vector<int> keepers;
    for (int reader : readers_[value]) {
      if (graph_.operations[reader].forward && set_of_[reader] != owner &&
          set_of_[reader].has_value()) {
        keepers.push_back(*set_of_[reader]);
      }
    }
    std::sort(keepers.begin(), keepers.end());
    keepers.erase(std::unique(keepers.begin(), keepers.end()), keepers.end());
    for (int keeper : keepers) Add(it.bytes, memories_[keeper].fwd_in);
  }

  // Values made and read inside one part, live from the one to the other.
  void Sweep() {
    const int count = static_cast<int>(graph_.operations.size());
    std::vector<__int128> live[2];  // the sum of any number of sizes
    for (auto& part : live) part.assign(memories_.size(), 0);
    const auto die = [&](int value, int at) {
      const int last = readers_[value].empty() ? value : readers_[value].back();
      if (!inner_[value] || last != at) return;
      live[graph_.operations[value].forward][*set_of_[value]] -=
          graph_.operations[value].bytes;
    };
    for (int i = 0; i < count; ++i) {
      if (!storage_.stored[i]) continue;
      if (inner_[i]) {
        const bool forward = graph_.operations[i].forward;
        __int128& now = live[forward][*set_of_[i]];
        now += graph_.operations[i].bytes;
        Memories& own = memories_[*set_of_[i]];
        int64_t& peak = forward ? own.fwd_tmp : own.bwd_tmp;
        peak = static_cast<int64_t>(std::clamp<__int128>(now, peak, INT64_MAX));
      }
      for (const Read& read : storage_.sources[i]) die(read.value, i);
      die(i, i);
    }
  }

  const OpGraph& graph_;
  const StorageMap& storage_;
  const std::vector<std::vector<int>>& readers_;
  const std::vector<std::optional<int>>& set_of_;
  std::vector<char> inner_;
  std::vector<char> is_output_;
  std::vector<char> is_state_;
  std::vector<Memories> memories_;
};

}  // namespace

std::vector<Memories> MeasureMemories(
    const OpGraph& graph, const StorageMap& storage,
    const std::vector<std::vector<int>>& readers,
    const std::vector<std::optional<int>>& set_of, int sets) {
  return Accountant(graph, storage, readers, set_of, sets).Run();
}

}  // namespace meshwright::symbolic
