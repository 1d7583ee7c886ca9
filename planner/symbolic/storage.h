// Storage: which values of a step have bytes of their own.
//
// Concept: a fusible value that all its readers absorb is computed where it is
// read and never stored. Its readers read its operands instead. A function like
// exp is not computed twice: it is stored if it has several readers. A view is
// stored where its operand is.
// Shapes: vectors by operation.
// Source: the fusion rules of XLA, as far as they decide what is stored.
#ifndef MESHWRIGHT_PLANNER_SYMBOLIC_STORAGE_H_
#define MESHWRIGHT_PLANNER_SYMBOLIC_STORAGE_H_

#include <vector>

#include "planner/symbolic/op_graph.h"

namespace meshwright::symbolic {

struct StorageMap {
  // A view whose bytes are there is stored; one of a value that is computed
  // where it is read is not.
  std::vector<char> stored;
  // The operation whose bytes hold the value; of one that is not stored itself.
  std::vector<int> root;
  // The values that are read to compute it: roots that are stored, each once.
  std::vector<std::vector<Read>> sources;
};

// `graph` is valid.
StorageMap MapStorage(const OpGraph& graph);

// Bytes touched by one run: of what it reads and writes in memory. 0 for views
// and for what is not stored.
int64_t CountTraffic(const OpGraph& graph, const StorageMap& storage,
                     int index);

// Operations in whose run the stored value `root` is read, by root, ascending.
std::vector<std::vector<int>> Readers(const OpGraph& graph,
                                      const StorageMap& storage);

}  // namespace meshwright::symbolic

#endif  // MESHWRIGHT_PLANNER_SYMBOLIC_STORAGE_H_
