// OpGraph: a training step as the symbolic profiler sees it.
//
// Concept: operations in the order they run, each making one value. An
// operation says what it computes (counts), what it touches (bytes) and where
// its value lives:
//
//   argument   given by the caller, alive through the step
//   constant   part of the program
//   own        bytes of its own, from here to its last reader
//   view       the bytes of its first operand
//
// A compiler computes a fusible value inside the operations that read it, if
// all of them absorb their operands; then it has no bytes (storage.h).
// The operations of one operator are one of the step's functions with its
// gradients: a contraction and the contractions that differentiate it.
// Shapes: an operation reads values of smaller index only.
// Units: bytes; sizes on one device.
// Threads and ownership: a value.
// Errors: Validate gives kInvalidArgument, naming the field. Causes: a negative
// figure, trips below 1, a value that is not an earlier operation's, a view of
// nothing, or an operator, segment, output or argument that does not exist.
// Source: papers/map_colossal_auto.txt 4.1.
#ifndef MESHWRIGHT_PLANNER_SYMBOLIC_OP_GRAPH_H_
#define MESHWRIGHT_PLANNER_SYMBOLIC_OP_GRAPH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "planner/symbolic/flops.h"

namespace meshwright::symbolic {

enum class Storage { kArgument, kConstant, kOwn, kView };

struct Read {
  int value = 0;
  int64_t bytes = 0;  // touched; a slice touches less than there is

  bool operator==(const Read&) const = default;
};

struct Operation {
  std::string name;
  std::string kind;  // as its graph calls it: "dot"
  Counts counts;     // of one run
  std::vector<Read> reads;
  int64_t bytes = 0;          // of its value
  int64_t written_bytes = 0;  // touched; an update in place touches less
  int64_t trips = 1;          // how often it runs in a step
  Storage storage = Storage::kOwn;
  bool fusible = false;
  bool absorbs = false;  // of a view: hands on that its readers do
  bool in_place =
      false;            // its value may take the bytes of an operand that dies
  bool forward = true;  // else backward or update
  int op = 0;           // operator
  std::optional<int> segment;
};

struct Output {
  int value = 0;
  // The operation whose bytes it takes over, if any.
  std::optional<int> argument;
};

struct OpGraph {
  std::vector<Operation> operations;
  std::vector<Output> outputs;
  int operators = 0;
  int segments = 0;
};

absl::Status Validate(const OpGraph& graph);

}  // namespace meshwright::symbolic

#endif  // MESHWRIGHT_PLANNER_SYMBOLIC_OP_GRAPH_H_
