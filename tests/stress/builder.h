// Builder: instructions of one computation after another, by few words.
#ifndef MESHWRIGHT_TESTS_STRESS_BUILDER_H_
#define MESHWRIGHT_TESTS_STRESS_BUILDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/hlo/hlo.pb.h"

namespace meshwright::stress {

using Id = int64_t;
using Ids = std::vector<int64_t>;

hlo::ShapeProto Array(const Ids& dims, hlo::PrimitiveType type = hlo::F32);
hlo::ShapeProto Tuple(const std::vector<hlo::ShapeProto>& elements);

class Builder {
 public:
  Builder();

  // Computations end in the order in which they are called from; the one begun
  // first is the entry.
  void Begin();
  Id End(Id root);  // the id of the computation

  hlo::HloInstructionProto& Add(const std::string& opcode,
                                const hlo::ShapeProto& shape,
                                const Ids& operands);
  Id Op(const std::string& opcode, const hlo::ShapeProto& shape,
        const Ids& operands);
  Id Parameter(const hlo::ShapeProto& shape);
  Id Scalar(float value);
  // [m,k] x [k,n].
  Id Dot(Id lhs, Id rhs, int64_t m, int64_t n);
  // To a scalar, by a sum.
  Id Sum(Id value, int64_t rank);
  Id MakeTuple(const Ids& elements);
  Id Element(Id tuple, int64_t index);

  const hlo::ShapeProto& GetShape(Id id) const { return shapes_[id]; }

  // Ends the entry with a tuple of `outputs`; the first `states` of them
  // overwrite the arguments of the same number.
  hlo::HloModuleProto Finish(const Ids& outputs, int states);

 private:
  struct Open {
    hlo::HloComputationProto message;
    int parameters = 0;
  };
  Id Reducer();

  hlo::HloModuleProto module_;
  std::vector<Open> open_;
  std::vector<hlo::ShapeProto> shapes_;  // by instruction id
  Id next_computation_ = 1;
  Id reducer_ = 0;
};

}  // namespace meshwright::stress

#endif  // MESHWRIGHT_TESTS_STRESS_BUILDER_H_
