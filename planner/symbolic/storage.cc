#include "planner/symbolic/storage.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "planner/problem/duration.h"

namespace meshwright::symbolic {
namespace {

// A value whose computation would reach more than this is stored.
constexpr size_t kMaxSources = 64;

// By operation: every reader can compute the value for itself.
std::vector<char> Absorbable(const OpGraph& graph) {
  const int count = static_cast<int>(graph.operations.size());
  std::vector<char> absorbable(count, 1);
  std::vector<int> readers(count, 0);
  std::vector<std::optional<int>> last_reader(count);
  for (const Output& output : graph.outputs) absorbable[output.value] = 0;
  for (int i = count; i-- > 0;) {
    const Operation& it = graph.operations[i];
    if (it.storage == Storage::kOwn && it.counts.transcendentals > 0 &&
        readers[i] > 1) {
      absorbable[i] = 0;
    }
    const bool passes =
        it.absorbs && (it.storage != Storage::kView || absorbable[i] != 0);
    for (const Read& read : it.reads) {
      absorbable[read.value] &= static_cast<char>(passes);
      if (std::exchange(last_reader[read.value], i) == i) continue;
      // More than two are as good as two.
      const int through =
          it.storage == Storage::kView ? std::max(readers[i], 1) : 1;
      readers[read.value] = std::min(readers[read.value] + through, 2);
    }
  }
  return absorbable;
}

// The roots one operation reads, each once.
class SourceSet {
 public:
  explicit SourceSet(int values) : place_(values) {}

  void Add(const Read& read) {
    std::optional<size_t>& place = place_[read.value];
    if (!place.has_value()) {
      place = reads_.size();
      reads_.push_back(read);
    } else {
      reads_[*place].bytes = std::max(reads_[*place].bytes, read.bytes);
    }
  }

  // The reads added since the last call.
  std::vector<Read> Take() {
    for (const Read& read : reads_) place_[read.value].reset();
    std::vector<Read> taken = reads_;
    reads_.clear();
    return taken;
  }

 private:
  std::vector<std::optional<size_t>> place_;  // by value: where in reads_
  std::vector<Read> reads_;
};

}  // namespace

StorageMap MapStorage(const OpGraph& graph) {
  const int count = static_cast<int>(graph.operations.size());
  const std::vector<char> absorbable = Absorbable(graph);
  StorageMap map;
  map.stored.assign(count, 1);
  map.root.resize(count);
  map.sources.resize(count);
  SourceSet set(count);
  for (int i = 0; i < count; ++i) {
    const Operation& it = graph.operations[i];
    map.root[i] = i;
    for (const Read& read : it.reads) {
      if (map.stored[read.value]) {
        set.Add({map.root[read.value], read.bytes});
      } else {
        for (const Read& source : map.sources[read.value]) set.Add(source);
      }
    }
    map.sources[i] = set.Take();
    if (it.storage == Storage::kView) {
      const int viewed = it.reads[0].value;
      map.stored[i] = map.stored[viewed];
      map.root[i] = map.root[viewed];
    } else if (it.storage == Storage::kOwn) {
      map.stored[i] = !(it.fusible && absorbable[i] != 0 &&
                        map.sources[i].size() <= kMaxSources);
    }
  }
  return map;
}

int64_t CountTraffic(const OpGraph& graph, const StorageMap& storage,
                     int index) {
  const Operation& it = graph.operations[index];
  if (it.storage != Storage::kOwn || !storage.stored[index]) return 0;
  int64_t bytes = it.written_bytes;
  for (const Read& read : storage.sources[index]) {
    bytes = problem::SaturatingAdd(bytes, read.bytes);
  }
  return bytes;
}

std::vector<std::vector<int>> Readers(const OpGraph& graph,
                                      const StorageMap& storage) {
  const int count = static_cast<int>(graph.operations.size());
  std::vector<std::vector<int>> readers(count);
  for (int i = 0; i < count; ++i) {
    if (!storage.stored[i]) continue;
    for (const Read& read : storage.sources[i]) {
      if (readers[read.value].empty() || readers[read.value].back() != i) {
        readers[read.value].push_back(i);
      }
    }
  }
  return readers;
}

}  // namespace meshwright::symbolic
