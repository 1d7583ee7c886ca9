#include "planner/symbolic/liveness.h"

#include <algorithm>

#include "planner/problem/duration.h"

namespace meshwright::symbolic {
namespace {

using problem::SaturatingAdd;
// Holds the sum of any number of sizes.
using Wide = __int128;

enum class Held { kTemporary, kOutput, kOverArgument, kElsewhere };

// Where the bytes of every stored value are.
std::vector<Held> Places(const OpGraph& graph, const StorageMap& storage,
                         const std::vector<std::vector<int>>& readers) {
  const int count = static_cast<int>(graph.operations.size());
  std::vector<Held> places(count, Held::kTemporary);
  for (int i = 0; i < count; ++i) {
    if (graph.operations[i].storage != Storage::kOwn || !storage.stored[i]) {
      places[i] = Held::kElsewhere;
    }
  }
  for (const Output& output : graph.outputs) {
    const int root = storage.root[output.value];
    if (places[root] == Held::kElsewhere) continue;
    if (!output.argument.has_value()) {
      places[root] = Held::kOutput;
    } else if (places[root] == Held::kTemporary) {
      const std::vector<int>& still = readers[*output.argument];
      if (still.empty() || still.back() <= root) {
        places[root] = Held::kOverArgument;
      }
    }
  }
  return places;
}

}  // namespace

Footprint Measure(const OpGraph& graph, const StorageMap& storage,
                  const std::vector<std::vector<int>>& readers) {
  const int count = static_cast<int>(graph.operations.size());
  const std::vector<Held> places = Places(graph, storage, readers);
  std::vector<char> to_the_end(count, 0);
  for (const Output& output : graph.outputs) {
    to_the_end[storage.root[output.value]] = 1;
  }

  Footprint footprint;
  const auto dies = [&](int root, int at) {
    return places[root] == Held::kTemporary && !to_the_end[root] &&
           (readers[root].empty() ? root : readers[root].back()) == at;
  };
  Wide live = 0;
  Wide max_live = 0;
  for (int i = 0; i < count; ++i) {
    const Operation& it = graph.operations[i];
    if (it.storage == Storage::kArgument) {
      footprint.argument_bytes =
          SaturatingAdd(footprint.argument_bytes, it.bytes);
    }
    if (places[i] == Held::kOutput) {
      footprint.output_bytes = SaturatingAdd(footprint.output_bytes, it.bytes);
    }
    if (places[i] != Held::kElsewhere && it.forward &&
        std::any_of(readers[i].begin(), readers[i].end(), [&](int reader) {
          return !graph.operations[reader].forward;
        })) {
      footprint.saved_bytes = SaturatingAdd(footprint.saved_bytes, it.bytes);
    }
    if (!storage.stored[i]) continue;
    Wide during = live;
    if (places[i] == Held::kTemporary) {
      live += it.bytes;
      const bool taken_over =
          it.in_place &&
          std::any_of(storage.sources[i].begin(), storage.sources[i].end(),
                      [&](const Read& read) {
                        return dies(read.value, i) &&
                               graph.operations[read.value].bytes == it.bytes;
                      });
      if (!taken_over) during = live;
    }
    max_live = std::max(max_live, during);
    for (const Read& read : storage.sources[i]) {
      if (dies(read.value, i)) live -= graph.operations[read.value].bytes;
    }
    if (dies(i, i)) live -= it.bytes;
  }
  footprint.temporary_bytes =
      static_cast<int64_t>(std::min<Wide>(max_live, INT64_MAX));
  footprint.peak_bytes = SaturatingAdd(
      SaturatingAdd(footprint.argument_bytes, footprint.output_bytes),
      footprint.temporary_bytes);
  return footprint;
}

}  // namespace meshwright::symbolic
