// Every rule of coordinator/ir/links/dim_links.h on the XLA CPU plugin: random
// operations run whole and in pieces, as the rule says.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/ir/shape.h"
#include "tests/conformance/op_rules_generators.h"
#include "tests/conformance/op_rules_placed.h"

namespace meshwright::conformance {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

// Programs above this many operations are ended: compilers are not linear.
constexpr int kOperationsPerProgram = 150;

struct Split {
  int of = 0;  // index of the placed case
  int out = 0;
  int64_t parts = 0;
  std::vector<int> first_outputs;  // by part
};

class PiecesTest {
 public:
  explicit PiecesTest(int replicas) : program_(replicas) {}

  // Adds the case and, for every output dimension with links, its pieces.
  void Add(const OpCase& drawn, const Links& links, Draw& draw) {
    placed_.push_back(Place(program_, draw, drawn));
    placed_.back().links = links;
    ++operations_;
    const Placed& whole = placed_.back();
    const Dims* dims = ir::CollectUniformDims(whole.one.result);
    if (dims == nullptr) return;
    for (int out = 0; out < static_cast<int>(dims->size()); ++out) {
      std::vector<int64_t> counts;
      for (const int64_t parts : {2, 3}) {
        if (Divides(whole.one, whole.links, out, parts)) {
          counts.push_back(parts);
        }
      }
      if (counts.empty()) continue;
      AddPieces(whole, out,
                counts[draw.Below(static_cast<int>(counts.size()))]);
    }
  }

  int operations() const { return operations_; }
  const std::map<std::string, int>& splits_of() const { return splits_of_; }

  // Every part that is not the part of the whole, in words.
  std::vector<std::string> Mismatches() {
    std::vector<std::string> found;
    auto compiled = CompiledProgram::Compile(CpuClient(), std::move(program_));
    EXPECT_TRUE(compiled.ok()) << compiled.status();
    if (!compiled.ok()) return found;
    const auto outputs = compiled->Run({});
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    if (!outputs.ok()) return found;
    for (const Split& split : splits_) {
      for (int64_t part = 0; part < split.parts; ++part) {
        if (SameParts(*outputs, split, part)) continue;
        found.push_back(absl::StrCat("part ", part, " of ", split.parts,
                                     " of dimension ", split.out, ", ",
                                     placed_[split.of].one.Describe()));
      }
    }
    return found;
  }

 private:
  bool SameParts(const std::vector<Replicated>& outputs, const Split& split,
                 int64_t part) const {
    const Placed& whole = placed_[split.of];
    const int leaves = static_cast<int>(Leaves(whole.one.result).size());
    for (int leaf = 0; leaf < leaves; ++leaf) {
      for (int replica = 0; replica < whole.one.replicas; ++replica) {
        const Array& all = outputs[whole.first_output + leaf][replica];
        const Array& piece = outputs[split.first_outputs[part] + leaf][replica];
        if (!Near(Cut(all, split.out, split.parts, part), piece)) return false;
      }
    }
    return true;
  }

  void AddPieces(const Placed& whole, int out, int64_t parts) {
    Split split{static_cast<int>(placed_.size()) - 1, out, parts, {}};
    const OpCase piece = CutPiece(whole.one, whole.links, out, parts);
    for (int64_t part = 0; part < parts; ++part) {
      std::vector<std::vector<int>> inputs;
      for (int operand = 0; operand < static_cast<int>(whole.inputs.size());
           ++operand) {
        inputs.emplace_back();
        for (const int input : whole.inputs[operand]) {
          Replicated arrays;
          for (const Array& array : program_.inputs()[input]) {
            arrays.push_back(PieceArray(whole.one, whole.links, out, parts,
                                        part, operand, array));
          }
          inputs.back().push_back(program_.AddInput(std::move(arrays)));
        }
      }
      split.first_outputs.push_back(program_.AddOperation(piece, inputs));
      ++operations_;
    }
    ++splits_of_[whole.one.op.opcode()];
    splits_.push_back(std::move(split));
  }

  Program program_;
  std::vector<Placed> placed_;
  std::vector<Split> splits_;
  std::map<std::string, int> splits_of_;
  int operations_ = 0;
};

TEST(OpRulesTest, PiecesMakeTheWhole) {
  std::map<std::string, int> splits;
  std::map<int, std::unique_ptr<PiecesTest>> open;  // by replicas
  const auto close = [&](std::unique_ptr<PiecesTest>& test) {
    EXPECT_THAT(test->Mismatches(), IsEmpty());
    for (const auto& [opcode, count] : test->splits_of()) {
      splits[opcode] += count;
    }
    test = nullptr;
  };
  for (const OpGenerator& generator : OpGenerators()) {
    for (int i = 0; generator.on_cpu && i < generator.cases; ++i) {
      Draw draw(HashSeed(generator.opcode, i), kAnySizes);
      const OpCase one = generator.make(draw);
      auto& test = open[one.replicas];
      if (test == nullptr) test = std::make_unique<PiecesTest>(one.replicas);
      test->Add(one, FindLinks(one), draw);
      if (test->operations() > kOperationsPerProgram) close(test);
    }
  }
  for (auto& [replicas, test] : open) {
    if (test != nullptr) close(test);
  }
  // A rule without a split that was tried is a rule that nothing holds.
  for (const OpGenerator& generator : OpGenerators()) {
    EXPECT_EQ(splits[generator.opcode] > 0, generator.on_cpu)
        << generator.opcode;
  }
}

// The test above can fail.
TEST(OpRulesTest, WrongLinksAreFound) {
  for (const OpGenerator& generator : OpGenerators()) {
    if (generator.opcode != "reverse" && generator.opcode != "sort") continue;
    PiecesTest test(1);
    for (int i = 0; i < generator.cases; ++i) {
      Draw draw(HashSeed(generator.opcode, i), kSixes);
      const OpCase one = generator.make(draw);
      Links wrong = FindLinks(one);
      for (auto& of_operand : wrong) {
        of_operand.clear();
        for (const int64_t dim : one.op.dimensions()) {
          of_operand.push_back({static_cast<int>(dim), static_cast<int>(dim)});
        }
      }
      test.Add(one, wrong, draw);
    }
    EXPECT_THAT(test.Mismatches(), Not(IsEmpty()));
  }
}

TEST(OpRulesTest, ContractedPartsAddUp) {
  Program program(1);
  struct Sum {
    OpCase one;
    int whole;
    std::vector<int> parts;
  };
  std::vector<Sum> sums;
  for (const OpGenerator& generator : OpGenerators()) {
    if (generator.opcode != "dot" && generator.opcode != "convolution") {
      continue;
    }
    for (int i = 0; i < generator.cases; ++i) {
      Draw draw(HashSeed(generator.opcode, i), kSixes);
      const Placed placed = Place(program, draw, generator.make(draw));
      const ir::Module module = BuildModule(placed.one);
      for (const ir::ContractedPair& pair :
           ir::FindContractedDims(module, module.root)) {
        const int cuts[2] = {pair.lhs, pair.rhs};
        OpCase piece = placed.one;
        bool divides = true;
        for (int side = 0; side < 2; ++side) {
          int64_t& size = piece.operands[side].shape.dims[cuts[side]];
          divides &= size % 2 == 0;
          size /= 2;
        }
        if (!divides) continue;
        Sum sum{placed.one, placed.first_output, {}};
        for (int64_t part = 0; part < 2; ++part) {
          std::vector<std::vector<int>> inputs;
          for (int side = 0; side < 2; ++side) {
            const Array& whole = program.inputs()[placed.inputs[side][0]][0];
            inputs.push_back(
                {program.AddInput({Cut(whole, cuts[side], 2, part)})});
          }
          sum.parts.push_back(program.AddOperation(piece, inputs));
        }
        sums.push_back(std::move(sum));
      }
    }
  }
  ASSERT_GT(sums.size(), 12);
  auto compiled = CompiledProgram::Compile(CpuClient(), std::move(program));
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const auto outputs = compiled->Run({});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  for (const Sum& sum : sums) {
    Array total = (*outputs)[sum.parts[0]][0];
    const Array& other = (*outputs)[sum.parts[1]][0];
    for (size_t i = 0; i < total.bytes.size(); i += sizeof(float)) {
      float a;
      float b;
      std::memcpy(&a, &total.bytes[i], sizeof(float));
      std::memcpy(&b, &other.bytes[i], sizeof(float));
      a += b;
      std::memcpy(&total.bytes[i], &a, sizeof(float));
    }
    EXPECT_TRUE(Near((*outputs)[sum.whole][0], total)) << sum.one.Describe();
  }
}

}  // namespace
}  // namespace meshwright::conformance
