#include "tests/conformance/op_rules_placed.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "worker/pjrt/plugin.h"

namespace meshwright::conformance {
namespace {

constexpr double kTolerance = 1e-6;

template <typename Number>
double LargestDifference(const Array& a, const Array& b) {
  double scale = 0;
  double difference = 0;
  for (size_t i = 0; i < a.bytes.size(); i += sizeof(Number)) {
    Number x;
    Number y;
    std::memcpy(&x, &a.bytes[i], sizeof(Number));
    std::memcpy(&y, &b.bytes[i], sizeof(Number));
    scale = std::max(scale, std::abs(static_cast<double>(x)));
    difference = std::max(
        difference, std::abs(static_cast<double>(x) - static_cast<double>(y)));
  }
  return scale == 0 ? difference : difference / scale;
}

}  // namespace

const worker::pjrt::Client& CpuClient() {
  static const auto* const client = [] {
    // Thousands of operations are compiled to run a few times.
    setenv("XLA_FLAGS", "--xla_backend_optimization_level=0", /*overwrite=*/0);
    auto plugin =
        worker::pjrt::Plugin::Load(*worker::pjrt::FindPlugin("cpu", ""));
    worker::pjrt::ClientOptions options;
    options.platform = "cpu";
    options.device_count = 2;
    return worker::pjrt::Client::Create(*plugin, options)->release();
  }();
  return *client;
}

uint32_t HashSeed(const std::string& opcode, int number) {
  uint32_t seed = static_cast<uint32_t>(number) + 1;
  for (const char c : opcode) seed = seed * 31 + static_cast<uint8_t>(c);
  return seed;
}

bool Near(const Array& a, const Array& b) {
  if (a.type != b.type || a.dimensions != b.dimensions) return false;
  if (a.bytes == b.bytes) return true;
  switch (a.type) {
    case hlo::F32:
    case hlo::C64:
      return LargestDifference<float>(a, b) <= kTolerance;
    default:
      return false;
  }
}

Replicated DrawReplicas(Draw& draw, const OpCase& one, const ir::Shape& shape,
                        const Values& values) {
  Replicated arrays;
  for (int i = 0; i < one.replicas; ++i) {
    arrays.push_back(draw.Fill(shape, values));
  }
  return arrays;
}

Placed Place(Program& program, Draw& draw, OpCase one) {
  Placed placed;
  placed.links = FindLinks(one);
  for (const Operand& operand : one.operands) {
    std::vector<int> leaves;
    for (const ir::Shape& leaf : Leaves(operand.shape)) {
      leaves.push_back(
          program.AddInput(DrawReplicas(draw, one, leaf, operand.values)));
    }
    placed.inputs.push_back(std::move(leaves));
  }
  placed.first_output = program.AddOperation(one, placed.inputs);
  placed.one = std::move(one);
  return placed;
}

}  // namespace meshwright::conformance
