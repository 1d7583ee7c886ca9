#include "coordinator/ir/testing/mutation.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "absl/strings/str_split.h"

namespace meshwright::ir {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

int64_t InterestingNumber(Random& random) {
  constexpr int64_t kOne = 1;
  constexpr int64_t kNumbers[] = {-1,         0,          1,         2,
                                  3,          4,          8,         kOne << 16,
                                  kOne << 31, kOne << 48, INT64_MAX, INT64_MIN};
  return kNumbers[Below(random, std::size(kNumbers))];
}

int64_t NextTo(int64_t number, Random& random) {
  return static_cast<int64_t>(static_cast<uint64_t>(number) + Below(random, 3) -
                              1);
}

const std::string& RandomOpcode(Random& random) {
  static const auto* const opcodes =
      new std::vector<std::string>(absl::StrSplit(
          "add bitcast broadcast call concatenate constant convert "
          "convolution copy custom-call dot dynamic-slice "
          "dynamic-update-slice gather get-tuple-element iota opt-barrier pad "
          "parameter reduce reduce-window reshape reverse rng-bit-generator "
          "scatter select slice sort topk transpose tuple while unheard-of",
          ' '));
  return (*opcodes)[Below(random, static_cast<int>(opcodes->size()))];
}

// ---- edits of one field of any message ----

void EditNumber(Message& message, const FieldDescriptor* field,
                Random& random) {
  const Reflection& fields = *message.GetReflection();
  if (!field->is_repeated()) {
    const int64_t old = fields.GetInt64(message, field);
    fields.SetInt64(
        &message, field,
        Below(random, 2) ? NextTo(old, random) : InterestingNumber(random));
    return;
  }
  const int size = fields.FieldSize(message, field);
  switch (size == 0 ? 0 : Below(random, 4)) {
    case 0:
      fields.AddInt64(&message, field, InterestingNumber(random));
      break;
    case 1:
      fields.RemoveLast(&message, field);
      break;
    case 2:
      fields.SwapElements(&message, field, Below(random, size),
                          Below(random, size));
      break;
    default: {
      const int index = Below(random, size);
      const int64_t old = fields.GetRepeatedInt64(message, field, index);
      fields.SetRepeatedInt64(
          &message, field, index,
          Below(random, 2) ? NextTo(old, random) : InterestingNumber(random));
    }
  }
}

void EditMessage(Message& message, Random& random, int depth = 0) {
  const auto* descriptor = message.GetDescriptor();
  const Reflection& fields = *message.GetReflection();
  if (descriptor->field_count() == 0 || depth > 6) return;
  const FieldDescriptor* field =
      descriptor->field(Below(random, descriptor->field_count()));
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
    EditNumber(message, field, random);
  } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM &&
             !field->is_repeated()) {
    fields.SetEnumValue(&message, field, Below(random, 36));
  } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    if (!field->is_repeated()) {
      EditMessage(*fields.MutableMessage(&message, field), random, depth + 1);
      return;
    }
    const int size = fields.FieldSize(message, field);
    switch (size == 0 ? 0 : Below(random, 4)) {
      case 0:
        EditMessage(*fields.AddMessage(&message, field), random, depth + 1);
        break;
      case 1:
        fields.RemoveLast(&message, field);
        break;
      default:
        EditMessage(*fields.MutableRepeatedMessage(&message, field,
                                                   Below(random, size)),
                    random, depth + 1);
    }
  } else if (!field->is_repeated()) {
    fields.ClearField(&message, field);
  }
}

// ---- edits that know what a module is ----

hlo::HloComputationProto* FindEntry(hlo::HloModuleProto& module) {
  for (auto& computation : *module.mutable_computations()) {
    if (computation.id() == module.entry_computation_id()) return &computation;
  }
  return nullptr;
}

}  // namespace

int Below(Random& random, int limit) {
  return static_cast<int>(random() % static_cast<unsigned>(limit));
}

void CutCone(hlo::HloModuleProto& module, Random& random) {
  hlo::HloComputationProto* const entry = FindEntry(module);
  if (entry == nullptr || entry->instructions_size() == 0) return;
  std::unordered_map<int64_t, int> place;
  for (int i = 0; i < entry->instructions_size(); ++i) {
    place[entry->instructions(i).id()] = i;
  }
  const int root = Below(random, entry->instructions_size());
  const size_t room = 2 + Below(random, 80);
  std::vector<int> queue = {root};
  std::unordered_set<int> kept = {root};
  for (size_t next = 0; next < queue.size() && kept.size() < room; ++next) {
    for (int64_t id : entry->instructions(queue[next]).operand_ids()) {
      const auto found = place.find(id);
      if (found != place.end() && kept.insert(found->second).second) {
        queue.push_back(found->second);
      }
    }
  }
  std::unordered_set<int> boundaries;
  for (int index : kept) {
    for (int64_t id : entry->instructions(index).operand_ids()) {
      const auto found = place.find(id);
      if (found != place.end() && !kept.contains(found->second)) {
        boundaries.insert(found->second);
      }
    }
  }
  hlo::HloComputationProto cut;
  cut.set_id(entry->id());
  cut.set_root_id(entry->instructions(root).id());
  int parameters = 0;
  for (int i = 0; i < entry->instructions_size(); ++i) {
    hlo::HloInstructionProto& source = *entry->mutable_instructions(i);
    if (boundaries.contains(i) ||
        (kept.contains(i) && source.opcode() == "parameter")) {
      hlo::HloInstructionProto& parameter = *cut.add_instructions();
      parameter.set_id(source.id());
      parameter.set_opcode("parameter");
      parameter.set_parameter_number(parameters++);
      *parameter.mutable_shape() = source.shape();
    } else if (kept.contains(i)) {
      cut.add_instructions()->Swap(&source);
    }
  }
  entry->Swap(&cut);
  module.clear_input_output_alias();
  module.clear_host_program_shape();

  // Callees stand before their callers, so one walk from the end finds those
  // that are still called.
  std::unordered_set<int64_t> called = {module.entry_computation_id()};
  hlo::HloModuleProto rest;
  for (int i = module.computations_size() - 1; i >= 0; --i) {
    auto& computation = *module.mutable_computations(i);
    if (!called.contains(computation.id())) continue;
    for (const auto& it : computation.instructions()) {
      called.insert(it.called_computation_ids().begin(),
                    it.called_computation_ids().end());
    }
    rest.add_computations()->Swap(&computation);
  }
  std::reverse(rest.mutable_computations()->begin(),
               rest.mutable_computations()->end());
  module.mutable_computations()->Swap(rest.mutable_computations());
}

void EditModule(hlo::HloModuleProto& module, Random& random) {
  if (module.computations().empty()) module.add_computations();
  auto& computation = *module.mutable_computations(
      Below(random, 2) ? module.computations_size() - 1
                       : Below(random, module.computations_size()));
  const int count = computation.instructions_size();
  if (count == 0) {
    EditMessage(*computation.add_instructions(), random);
    return;
  }
  const int index = Below(random, count);
  auto& it = *computation.mutable_instructions(index);
  const int64_t earlier =
      computation.instructions(Below(random, index + 1)).id();
  switch (Below(random, 12)) {
    case 0:
      return CutCone(module, random);
    case 1:
      it.set_opcode(RandomOpcode(random));
      break;
    case 2:
      it.add_operand_ids(earlier);
      break;
    case 3:
      if (it.operand_ids_size() > 0) {
        it.set_operand_ids(Below(random, it.operand_ids_size()), earlier);
      }
      break;
    case 4:
      if (it.operand_ids_size() > 0) it.mutable_operand_ids()->RemoveLast();
      break;
    case 5:
      *it.mutable_shape() =
          computation.instructions(Below(random, count)).shape();
      break;
    case 6:
      computation.set_root_id(it.id());
      break;
    case 7: {
      auto& callee =
          module.computations(Below(random, module.computations_size()));
      it.clear_called_computation_ids();
      it.add_called_computation_ids(callee.id());
      break;
    }
    case 8:
      EditMessage(module, random);
      break;
    case 9:
      EditMessage(*it.mutable_shape(), random);
      break;
    default:
      EditMessage(it, random);
  }
}

}  // namespace meshwright::ir
