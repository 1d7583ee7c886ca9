// tests/golden/hlo/NAME.hlo in, NAME.golden out: the blocks with their
// strategies and the operations that they own, and the segments. The text's
// second comment line names the meshes: "// mesh: 1x2 1x4".
//
// A strategy is written root by root as lhs,rhs->output, the dimensions that
// are split; "-" is a tensor that stays whole. `owns` lists the operations
// whose owner block it is; those in parentheses do not follow from the block's
// roots (rule d, and what comes before the first root). `backward` says which
// operand of which contraction a backward contraction is the gradient of.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/file.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/segmenter/analysis.h"
#include "tests/golden/golden.h"

namespace meshwright {
namespace {

using segmenter::Analysis;
using segmenter::SegmentGraph;

constexpr char kFolder[] = "tests/golden/hlo";

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".hlo")
      names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::vector<int64_t>> Meshes(const std::string& text) {
  constexpr char kKey[] = "// mesh: ";
  std::vector<std::vector<int64_t>> meshes;
  for (const std::string& line :
       std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    if (line.rfind(kKey, 0) != 0) continue;
    for (const std::string& mesh : std::vector<std::string>(
             absl::StrSplit(line.substr(sizeof(kKey) - 1), ' '))) {
      meshes.emplace_back();
      for (const std::string& axis :
           std::vector<std::string>(absl::StrSplit(mesh, 'x'))) {
        int64_t size = 0;
        EXPECT_TRUE(absl::SimpleAtoi(axis, &size)) << line;
        meshes.back().push_back(size);
      }
    }
  }
  return meshes;
}

std::string Dim(std::optional<int> dim) {
  return dim.has_value() ? absl::StrCat(*dim) : "-";
}

class Table {
 public:
  explicit Table(const Analysis& analysis) : analysis_(analysis) {
    NameValues();
  }

  std::string Write() {
    absl::StrAppend(&text_, "mesh ", absl::StrJoin(analysis_.mesh, "x"), "\n");
    if (analysis_.passes.inference) {
      absl::StrAppend(&text_, "inference\n");
    } else {
      std::vector<std::string> losses;
      for (int output : analysis_.passes.loss_outputs) {
        losses.push_back(Name(analysis_.module.outputs[output]));
      }
      absl::StrAppend(&text_, "losses ", absl::StrJoin(losses, " "), "\n");
    }
    for (size_t b = 0; b < analysis_.blocks.blocks.size(); ++b) WriteBlock(b);
    for (size_t s = 0; s < analysis_.graphs.size(); ++s) WriteSegment(s);
    WriteEverywhere();
    for (const auto& [opcode, count] : analysis_.blocks.barriers) {
      absl::StrAppend(&text_, "barrier ", opcode, " x", count, "\n");
    }
    return text_;
  }

 private:
  const std::string& Name(ir::ValueId id) const { return names_[id]; }

  // A value that a rewrite adds has no name; the parts of a split one share its
  // name. A carried value of a loop is named by its place.
  void NameValues() {
    std::map<std::string, int> taken;
    for (const ir::ValueId id : analysis_.module.ids()) {
      const ir::Instruction& it = analysis_.module.at(id);
      std::string name = it.name();
      if (it.boundary.has_value()) {
        const ir::Loop& loop = analysis_.module.loops[it.boundary->loop];
        const bool in = it.opcode == ir::Opcode::kCarry;
        const auto& ids = in ? loop.carries : loop.results;
        const auto place = std::find(ids.begin(), ids.end(), id) - ids.begin();
        name = absl::StrCat("loop", it.boundary->loop.value(),
                            in ? ".in" : ".out", place);
      } else if (name.empty()) {
        name = absl::StrCat(it.attributes().opcode(), "(",
                            absl::StrJoin(it.operands, " ",
                                          [&](std::string* out, int operand) {
                                            out->append(names_[operand]);
                                          }),
                            ")");
      }
      const int count = ++taken[name];
      names_.push_back(count == 1 ? name : absl::StrCat(name, "#", count));
    }
  }

  template <typename Ids>
  std::string Join(const Ids& ids) const {
    return absl::StrJoin(ids, " ", [&](std::string* out, ir::ValueId id) {
      out->append(Name(id));
    });
  }

  void WriteBlock(size_t b) {
    const segmenter::ParallelBlock& block = analysis_.blocks.blocks[b];
    std::vector<ir::ValueId> joined;
    for (ir::ValueId id : block.contractions) {
      if (std::count(block.roots.begin(), block.roots.end(), id) == 0) {
        joined.push_back(id);
      }
    }
    absl::StrAppend(&text_, "\nblock ", b, ": ", Join(block.roots));
    if (!joined.empty()) absl::StrAppend(&text_, "; joined ", Join(joined));
    absl::StrAppend(&text_, "\n");
    for (const auto& strategy : analysis_.strategies[b].strategies) {
      absl::StrAppend(&text_, "  ", strategy.name);
      for (const segmenter::RootSplit& split : strategy.axes.back().splits) {
        if (strategy.kind == segmenter::StrategyKind::kReplicated) continue;
        absl::StrAppend(&text_, " ", Dim(split.lhs), ",", Dim(split.rhs), "->",
                        Dim(split.out));
      }
      absl::StrAppend(&text_, "\n");
    }
    for (const segmenter::LostStrategy& lost : analysis_.strategies[b].lost) {
      absl::StrAppend(&text_, "  no ", segmenter::NameStrategy(lost.kind), ": ",
                      lost.reason, "\n");
    }
    std::vector<std::string> owned;
    for (const ir::ValueId id : analysis_.module.ids()) {
      if (analysis_.blocks.owner_block[id] != static_cast<int>(b)) continue;
      if (analysis_.module.at(id).opcode == ir::Opcode::kParameter) continue;
      owned.push_back(analysis_.blocks.inside[id]
                          ? Name(id)
                          : absl::StrCat("(", Name(id), ")"));
    }
    absl::StrAppend(&text_, "  owns ", absl::StrJoin(owned, " "), "\n");
    WriteBackward(block);
  }

  // The values that differentiate a block's contractions, and those that
  // compute them again.
  void WriteBackward(const segmenter::ParallelBlock& block) {
    std::vector<std::string> matches;
    for (const ir::ValueId id : analysis_.module.ids()) {
      const auto match = analysis_.gradients.find(id);
      if (match == analysis_.gradients.end() ||
          std::count(block.contractions.begin(), block.contractions.end(),
                     match->second.forward) == 0) {
        continue;
      }
      const std::string forward = Name(match->second.forward);
      matches.push_back(absl::StrCat(Name(id), "=",
                                     match->second.recomputation ? "again "
                                     : match->second.differentiated == 0
                                         ? "d lhs "
                                         : "d rhs ",
                                     forward));
    }
    if (matches.empty()) return;
    absl::StrAppend(&text_, "  backward ", absl::StrJoin(matches, ", "), "\n");
  }

  void WriteSegment(size_t s) {
    const SegmentGraph& graph = analysis_.graphs[s];
    const segmenter::Segment& segment = analysis_.plan.segments[s];
    absl::StrAppend(&text_, "\nsegment ", s, ": type ",
                    analysis_.type_of_segment[s].value());
    if (segment.first_block < segment.last_block) {
      absl::StrAppend(&text_, ", blocks ", segment.first_block, "..",
                      segment.last_block - 1);
    }
    std::vector<ir::ValueId> inputs;
    std::vector<ir::ValueId> outputs;
    std::vector<ir::ValueId> owned;
    for (int i = 0; i < graph.input_count; ++i) {
      inputs.push_back(graph.values[i].origin);
    }
    for (int i : graph.outputs) outputs.push_back(graph.values[i].origin);
    for (const ir::ValueId id : analysis_.module.ids()) {
      if (analysis_.plan.owner[id] == graph.segment) owned.push_back(id);
    }
    std::sort(inputs.begin(), inputs.end());
    std::sort(outputs.begin(), outputs.end());
    absl::StrAppend(&text_, "\n  takes ", Join(inputs), "\n  does  ",
                    Join(owned), "\n  gives ", Join(outputs), "\n");
    WritePairs("entry", graph, graph.entries);
    WritePairs("exit", graph, graph.exits);
  }

  void WritePairs(const char* title, const SegmentGraph& graph,
                  const std::vector<segmenter::BoundaryPair>& pairs) {
    for (const segmenter::BoundaryPair& pair : pairs) {
      const auto name = [&](int value) {
        return value < 0 ? "-" : Name(graph.values[value].origin);
      };
      absl::StrAppend(&text_, "  ", title, " ", name(pair.activation),
                      ", gradient ", name(pair.gradient), "\n");
    }
  }

  void WriteEverywhere() {
    std::vector<ir::ValueId> everywhere;
    for (const ir::ValueId id : analysis_.module.ids()) {
      if (analysis_.plan.owner[id].IsEverywhere()) {
        everywhere.push_back(id);
      }
    }
    if (everywhere.empty()) return;
    absl::StrAppend(&text_, "\neverywhere ", Join(everywhere), "\n");
  }

  const Analysis& analysis_;
  std::vector<std::string> names_;  // by ValueId
  std::string text_;
};

class HloGoldenTest : public testing::TestWithParam<std::string> {};

TEST_P(HloGoldenTest, TheTableIsTheExpectedOne) {
  const std::string stem = absl::StrCat(kFolder, "/", GetParam());
  const auto text = base::ReadFile(stem + ".hlo");
  ASSERT_TRUE(text.ok()) << text.status();
  const auto meshes = Meshes(*text);
  ASSERT_FALSE(meshes.empty()) << "no line // mesh: in " << stem;
  std::vector<std::string> tables;
  for (const std::vector<int64_t>& mesh : meshes) {
    auto module = ir::LoadModule(*text);
    ASSERT_TRUE(module.ok()) << module.status();
    const auto analysis = segmenter::Analyze(*std::move(module), mesh);
    ASSERT_TRUE(analysis.ok()) << analysis.status();
    tables.push_back(Table(*analysis).Write());
  }
  ExpectGolden(stem + ".golden", absl::StrJoin(tables, "\n----\n"));
}

// The entry's instructions in another order that respects their operands.
void Shuffle(std::minstd_rand& random, hlo::HloModuleProto& module) {
  for (hlo::HloComputationProto& computation : *module.mutable_computations()) {
    if (computation.id() != module.entry_computation_id()) continue;
    std::vector<hlo::HloInstructionProto> left(
        computation.instructions().begin(), computation.instructions().end());
    computation.clear_instructions();
    std::set<int64_t> done;
    while (!left.empty()) {
      std::vector<size_t> ready;
      for (size_t i = 0; i < left.size(); ++i) {
        const auto& operands = left[i].operand_ids();
        if (std::all_of(operands.begin(), operands.end(),
                        [&](int64_t id) { return done.contains(id); })) {
          ready.push_back(i);
        }
      }
      const size_t next = ready[random() % ready.size()];
      done.insert(left[next].id());
      *computation.add_instructions() = std::move(left[next]);
      left.erase(left.begin() + static_cast<ptrdiff_t>(next));
    }
  }
}

// Blocks and segments as their structure tells them.
std::vector<std::string> Structure(const Analysis& analysis) {
  std::vector<std::string> rows;
  for (size_t b = 0; b < analysis.blocks.blocks.size(); ++b) {
    std::string row = absl::StrCat("block ", analysis.blocks.blocks[b].hash);
    for (const auto& strategy : analysis.strategies[b].strategies) {
      absl::StrAppend(&row, " ", strategy.name);
    }
    rows.push_back(row + LostStrategies(analysis.strategies[b]));
  }
  for (const SegmentGraph& graph : analysis.graphs) {
    rows.push_back(absl::StrCat("segment ", graph.fingerprint));
  }
  return rows;
}

TEST_P(HloGoldenTest, TheOrderOfTheTextSaysNothing) {
  const std::string text =
      *base::ReadFile(absl::StrCat(kFolder, "/", GetParam(), ".hlo"));
  const std::vector<int64_t> mesh = Meshes(text).at(0);
  const auto expected = segmenter::Analyze(*ir::LoadModule(text), mesh);
  ASSERT_TRUE(expected.ok()) << expected.status();
  std::minstd_rand random(1);
  for (int round = 0; round < 5; ++round) {
    hlo::HloModuleProto shuffled = *ir::ParseModule(text);
    Shuffle(random, shuffled);
    auto module = ir::BuildModule(std::move(shuffled));
    ASSERT_TRUE(module.ok()) << module.status();
    const auto analysis = segmenter::Analyze(*std::move(module), mesh);
    ASSERT_TRUE(analysis.ok()) << analysis.status();
    EXPECT_EQ(Structure(*expected), Structure(*analysis));
  }
}

INSTANTIATE_TEST_SUITE_P(All, HloGoldenTest, testing::ValuesIn(Names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace meshwright
