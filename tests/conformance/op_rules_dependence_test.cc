// Every rule of coordinator/ir/links/dim_links.h against experiments on the XLA
// CPU plugin: parts of the inputs of random operations change, and what changes
// in their results says which links there are.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "coordinator/ir/links/dim_links.h"
#include "coordinator/ir/shape.h"
#include "tests/conformance/op_rules_generators.h"
#include "tests/conformance/op_rules_placed.h"

namespace meshwright::conformance {
namespace {

using ::testing::IsEmpty;

// Part `part` of `parts` of dimension `in` of an operand is drawn again.
struct Change {
  int operand = 0;
  int in = 0;
  int64_t parts = 0;
  int64_t part = 0;
};

std::vector<Change> ListChanges(const OpCase& one) {
  std::vector<Change> changes;
  for (size_t i = 0; i < one.operands.size(); ++i) {
    const Dims* dims = ir::CollectUniformDims(one.operands[i].shape);
    if (dims == nullptr) continue;
    for (int in = 0; in < static_cast<int>(dims->size()); ++in) {
      for (const int64_t parts : {2, 3, 6}) {
        if ((*dims)[in] == 0 || (*dims)[in] % parts != 0) continue;
        for (int64_t part = 0; part < parts; ++part) {
          changes.push_back({static_cast<int>(i), in, parts, part});
        }
      }
    }
  }
  return changes;
}

// The answer to Eq. 2 by experiment, for every pair of dimensions and number of
// parts: part p of `out` changed with part p of `in` only.
struct Dependence {
  bool changed = false;
  bool strayed = false;
};
using PairAndParts = std::tuple<int, int, int, int64_t>;  // operand, in, out

class DependenceTest {
 public:
  explicit DependenceTest(const std::vector<OpCase>& cases, uint32_t seed)
      : draw_(seed, kSixes) {
    Program program(cases[0].replicas);
    for (const OpCase& one : cases) {
      placed_.push_back(Place(program, draw_, one));
    }
    found_.resize(placed_.size());
    auto compiled = CompiledProgram::Compile(CpuClient(), std::move(program));
    EXPECT_TRUE(compiled.ok()) << compiled.status();
    if (compiled.ok()) {
      compiled_ = std::make_unique<CompiledProgram>(*std::move(compiled));
    }
  }

  // Every change of every case, all cases at a time, from fresh inputs.
  void Run() {
    if (compiled_ == nullptr) return;
    std::vector<std::vector<Change>> changes;
    size_t max_steps = 0;
    std::map<int, Replicated> base;
    std::map<int, Replicated> other;
    for (const Placed& placed : placed_) {
      changes.push_back(ListChanges(placed.one));
      max_steps = std::max(max_steps, changes.back().size());
      for (size_t i = 0; i < placed.inputs.size(); ++i) {
        const auto leaves = Leaves(placed.one.operands[i].shape);
        for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
          for (auto* arrays : {&base, &other}) {
            (*arrays)[placed.inputs[i][leaf]] = DrawReplicas(
                draw_, placed.one, leaves[leaf], placed.one.operands[i].values);
          }
        }
      }
    }
    ASSERT_TRUE(compiled_->Replace(base).ok());
    const auto before = compiled_->Run({});
    ASSERT_TRUE(before.ok()) << before.status();
    for (size_t step = 0; step < max_steps; ++step) {
      std::map<int, Replicated> changed;
      for (size_t c = 0; c < placed_.size(); ++c) {
        if (step >= changes[c].size()) continue;
        const Change& change = changes[c][step];
        for (const int input : placed_[c].inputs[change.operand]) {
          for (size_t r = 0; r < base[input].size(); ++r) {
            changed[input].push_back(Graft(base[input][r], other[input][r],
                                           change.in, change.parts,
                                           change.part));
          }
        }
      }
      const auto after = compiled_->Run(changed);
      ASSERT_TRUE(after.ok()) << after.status();
      for (size_t c = 0; c < placed_.size(); ++c) {
        if (step < changes[c].size()) {
          Note(c, changes[c][step], *before, *after);
        }
      }
    }
  }

  const std::vector<Placed>& placed() const { return placed_; }
  const std::map<PairAndParts, Dependence>& found(size_t c) const {
    return found_[c];
  }

 private:
  void Note(size_t c, const Change& change,
            const std::vector<Replicated>& before,
            const std::vector<Replicated>& after) {
    const Placed& placed = placed_[c];
    const Dims* dims = ir::CollectUniformDims(placed.one.result);
    if (dims == nullptr) return;
    const size_t leaves = Leaves(placed.one.result).size();
    for (int out = 0; out < static_cast<int>(dims->size()); ++out) {
      if ((*dims)[out] == 0 || (*dims)[out] % change.parts != 0) continue;
      Dependence& dependence =
          found_[c][{change.operand, change.in, out, change.parts}];
      for (size_t leaf = 0; leaf < leaves; ++leaf) {
        for (int r = 0; r < placed.one.replicas; ++r) {
          const Array& a = before[placed.first_output + leaf][r];
          const Array& b = after[placed.first_output + leaf][r];
          dependence.changed |= a.bytes != b.bytes;
          // The difference left when the part itself is set back.
          dependence.strayed |=
              Graft(b, a, out, change.parts, change.part).bytes != a.bytes;
        }
      }
    }
  }

  Draw draw_;
  std::vector<Placed> placed_;
  std::unique_ptr<CompiledProgram> compiled_;
  std::vector<std::map<PairAndParts, Dependence>> found_;
};

// Dependences that are not links, and why.
bool Excused(const OpCase& one, int operand, int in, int out) {
  const std::string& opcode = one.op.opcode();
  if (opcode == "dynamic-update-slice") {
    // An update of a part of the dimension may lie across two parts of it.
    return operand == 0 &&
           one.operands[1].shape.dims[out] != one.result.dims[out];
  }
  if (opcode == "scatter") {
    // Likewise a window; and a dimension that no index points into.
    return operand < static_cast<int>(one.operands.size()) / 2 && in == out;
  }
  if (opcode == "select-and-scatter") {
    // Windows that lie in the padding: the parts would need another one each.
    return operand == 0 && one.operands[1].shape.dims[in] % 6 != 0;
  }
  return false;
}

const ir::DimLink* FindLink(const Links& links, int operand, int in, int out) {
  for (const ir::DimLink& link : links[operand]) {
    if (link.in == in && link.out == out) return &link;
  }
  return nullptr;
}

std::string Sentence(const OpCase& one, int operand, int in, int out,
                     const char* what) {
  return absl::StrCat("dimension ", in, " of operand ", operand, what, out,
                      ", ", one.Describe());
}

using Found = std::map<PairAndParts, Dependence>;

std::vector<std::string> BrokenLinks(const OpCase& one, const Links& links,
                                     const Found& found) {
  std::vector<std::string> broken;
  for (const auto& [key, dependence] : found) {
    const auto [operand, in, out, parts] = key;
    const ir::DimLink* link = FindLink(links, operand, in, out);
    if (link == nullptr || !dependence.strayed ||
        (link->groups > 0 && link->groups % parts != 0)) {
      continue;
    }
    broken.push_back(
        Sentence(one, operand, in, out, " reaches other parts of dimension "));
  }
  return broken;
}

std::vector<std::string> MissingLinks(const OpCase& one, const Links& links,
                                      const Found& found) {
  // A pair of dimensions has to do for 2, 3 and 6 parts; by chance it may do
  // for some of them.
  std::map<std::tuple<int, int, int>, int> kept;
  for (const auto& [key, dependence] : found) {
    const auto [operand, in, out, parts] = key;
    kept[{operand, in, out}] += dependence.changed && !dependence.strayed;
  }
  std::vector<std::string> missing;
  for (const auto& [pair, counts] : kept) {
    const auto [operand, in, out] = pair;
    if (counts < 3 || Excused(one, operand, in, out) ||
        FindLink(links, operand, in, out) != nullptr) {
      continue;
    }
    missing.push_back(
        Sentence(one, operand, in, out, " could link to dimension "));
  }
  return missing;
}

TEST(OpRulesTest, LinksAreWhatDependsOnEqualParts) {
  std::map<int, std::vector<OpCase>> cases;  // by replicas
  for (const OpGenerator& generator : OpGenerators()) {
    for (int i = 0; generator.on_cpu && i < generator.cases; ++i) {
      Draw draw(HashSeed(generator.opcode, i + 1000), kSixes);
      const OpCase one = generator.make(draw);
      cases[one.replicas].push_back(one);
    }
  }
  std::set<std::string> found_without_rules;
  for (const auto& [replicas, of_replicas] : cases) {
    DependenceTest test(of_replicas, /*seed=*/1);
    for (int i = 0; i < 2; ++i) test.Run();
    for (size_t c = 0; c < test.placed().size(); ++c) {
      const Placed& placed = test.placed()[c];
      EXPECT_THAT(BrokenLinks(placed.one, placed.links, test.found(c)),
                  IsEmpty());
      EXPECT_THAT(MissingLinks(placed.one, placed.links, test.found(c)),
                  IsEmpty());
      const Links none(placed.links.size());
      if (!MissingLinks(placed.one, none, test.found(c)).empty()) {
        found_without_rules.insert(placed.one.op.opcode());
      }
    }
  }
  // The experiment sees the links of every rule but these, whose results hardly
  // change with their inputs.
  for (const OpGenerator& generator : OpGenerators()) {
    const bool blind = generator.opcode == "is-finite";
    EXPECT_EQ(found_without_rules.contains(generator.opcode),
              generator.on_cpu && !blind)
        << generator.opcode;
  }
}

}  // namespace
}  // namespace meshwright::conformance
