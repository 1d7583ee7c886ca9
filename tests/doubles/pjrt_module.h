// What the PJRT double reads of a module: as much as a device would need to
// know how long it takes and what comes out.
//
// Concept: the wire format of protobuf, read by hand. A process that loads the
// double has the messages of proto/hlo already, and protobuf lets nobody
// register them twice.
// Source: field numbers of proto/hlo/hlo.proto.
#ifndef MESHWRIGHT_TESTS_DOUBLES_PJRT_MODULE_H_
#define MESHWRIGHT_TESTS_DOUBLES_PJRT_MODULE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace meshwright::doubles {

struct Shape {
  int type = 0;  // hlo.PrimitiveType
  std::vector<int64_t> dimensions;
  std::vector<Shape> leaves;  // of a tuple
};

struct Module {
  std::string name;
  int64_t instructions = 0;  // of all computations
  int64_t elements = 0;      // of all their results
  std::vector<Shape> parameters;
  std::vector<Shape> results;
  std::vector<std::pair<int, int>> aliases;  // result, parameter
};

int64_t CountElements(const Shape& shape);
// 0 for a type that is no array's.
int64_t CountBytes(const Shape& shape);

// False: it is no module.
bool ReadModule(std::string_view bytes, Module& module);

// How many partitions the options of a compilation ask for.
int64_t ReadPartitions(std::string_view compile_options);

}  // namespace meshwright::doubles

#endif  // MESHWRIGHT_TESTS_DOUBLES_PJRT_MODULE_H_
