// libFuzzer on the reader of HLO text: whatever it accepts must be well-formed,
// and nothing may cost more than the text's size allows.
//
// Concept: bytes changed at random rarely stay a text, so the mutator moves
// tokens: it drops, repeats, swaps and replaces them, from a small vocabulary
// and from the text itself. Raw bytes are changed now and then.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "absl/strings/ascii.h"
#include "coordinator/ir/text/hlo_text.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t capacity);

namespace meshwright::ir {
namespace {

using Random = std::minstd_rand;

size_t Below(Random& random, size_t limit) { return random() % limit; }

bool IsWordPart(char c) {
  return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '%' || c == '-';
}

std::vector<std::string_view> Tokens(std::string_view text) {
  std::vector<std::string_view> tokens;
  for (size_t at = 0; at < text.size();) {
    size_t stop = at + 1;
    if (IsWordPart(text[at])) {
      while (stop < text.size() && IsWordPart(text[stop])) ++stop;
    }
    tokens.push_back(text.substr(at, stop - at));
    at = stop;
  }
  return tokens;
}

std::string_view Vocabulary(Random& random) {
  static constexpr std::string_view kWords[] = {
      "HloModule",
      "ENTRY",
      "ROOT",
      "{",
      "}",
      "(",
      ")",
      "[",
      "]",
      "{...}",
      ",",
      "=",
      "->",
      "<=",
      "/*",
      "*/",
      "\"",
      "\\",
      "_",
      "x",
      ":",
      "0",
      "1",
      "-1",
      "9223372036854775807",
      "-9223372036854775808",
      "99999999999999999999",
      "nan",
      "-inf",
      "1e-320",
      "1e400",
      "f32[]",
      "f32[2,3]{1,0}",
      "s4[0]",
      "pred[]",
      "c64[1]",
      "token[]",
      "f8e8m0fnu[2]",
      "(f32[], s32[2])",
      "constant",
      "parameter",
      "while",
      "dot",
      "convolution",
      "custom-call",
      "fusion",
      "window={size=3x3 pad=0_1x1_0}",
      "dim_labels=b01f_01io->b01f",
      "padding=0_0_1x1_1",
      "slice={[0:4:2]}",
      "metadata={op_name=\"a\"}",
      "replica_groups=[2,2]<=[4]T(0)",
      "replica_groups={{0,1}}",
      "frontend_attributes={a=\"b\"}",
      "to_apply=",
      "calls=",
      "body=",
      "branch_computations={",
      "control-predecessors={",
      "operand_precision={",
      "input_output_alias={ {0}: (0, {}, may-alias) }",
      "entry_computation_layout={(f32[])->f32[]}",
      "StackFrames\n1 {a}\n"};
  return kWords[Below(random, std::size(kWords))];
}

std::string Mutate(std::string_view text, Random& random) {
  std::vector<std::string_view> tokens = Tokens(text);
  const size_t edits = 1 + Below(random, 4);
  for (size_t edit = 0; edit < edits && !tokens.empty(); ++edit) {
    const size_t at = Below(random, tokens.size());
    const size_t other = Below(random, tokens.size());
    switch (Below(random, 6)) {
      case 0:
        tokens.erase(tokens.begin() + at);
        break;
      case 1:
        tokens[at] = Vocabulary(random);
        break;
      case 2:
        tokens.insert(tokens.begin() + at, Vocabulary(random));
        break;
      case 3:
        std::swap(tokens[at], tokens[other]);
        break;
      case 4:
        tokens[at] = tokens[other];
        break;
      default: {
        // A run of tokens once more: nesting, repeated lines.
        const size_t length =
            std::min<size_t>(1 + Below(random, 40), tokens.size() - at);
        const std::vector<std::string_view> run(tokens.begin() + at,
                                                tokens.begin() + at + length);
        tokens.insert(tokens.begin() + other, run.begin(), run.end());
      }
    }
  }
  std::string mutated;
  for (std::string_view token : tokens) mutated.append(token);
  return mutated;
}

void Require(bool holds) {
  if (!holds) std::abort();
}

void CheckWellFormed(const hlo::HloModuleProto& module, size_t text_size) {
  Require(module.SpaceUsedLong() <= (size_t{1} << 16) + 400 * text_size);
  std::unordered_set<int64_t> computations;
  for (const hlo::HloComputationProto& computation : module.computations()) {
    std::unordered_set<int64_t> defined;
    for (const hlo::HloInstructionProto& it : computation.instructions()) {
      for (int64_t operand : it.operand_ids()) {
        Require(defined.contains(operand));
      }
      for (int64_t callee : it.called_computation_ids()) {
        Require(computations.contains(callee));
      }
      Require(defined.insert(it.id()).second);
    }
    Require(defined.contains(computation.root_id()));
    Require(computations.insert(computation.id()).second);
  }
  Require(computations.contains(module.entry_computation_id()));
}

}  // namespace
}  // namespace meshwright::ir

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto module = meshwright::ir::ParseHloText(text);
  if (module.ok()) meshwright::ir::CheckWellFormed(*module, size);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t capacity, unsigned seed) {
  meshwright::ir::Random random(seed);
  if (meshwright::ir::Below(random, 16) == 0) {
    return LLVMFuzzerMutate(data, size, capacity);
  }
  const std::string mutated = meshwright::ir::Mutate(
      {reinterpret_cast<const char*>(data), size}, random);
  if (mutated.empty() || mutated.size() > capacity) {
    return LLVMFuzzerMutate(data, size, capacity);
  }
  std::copy(mutated.begin(), mutated.end(), data);
  return mutated.size();
}
