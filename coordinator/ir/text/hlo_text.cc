#include "coordinator/ir/text/hlo_text.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/ir/text/attribute_text.h"
#include "coordinator/ir/text/field_text.h"
#include "coordinator/ir/text/literal_text.h"
#include "coordinator/ir/text/shape_text.h"
#include "coordinator/ir/text/text_cursor.h"

namespace meshwright::ir {
namespace {

constexpr std::string_view kHeader = "HloModule";

// Tables of source locations, of no use here.
bool IsTableTitle(std::string_view name) {
  return name == "FileNames" || name == "FunctionNames" ||
         name == "FileLocations" || name == "StackFrames";
}

class ModuleReader {
 public:
  explicit ModuleReader(std::string_view text) : cursor_(text) {}

  absl::StatusOr<hlo::HloModuleProto> Read() {
    RETURN_IF_ERROR(ReadHeader());
    while (!cursor_.AtEnd()) RETURN_IF_ERROR(ReadComputation());
    if (module_.computations().empty()) {
      return cursor_.Error("the text holds no computation");
    }
    if (!has_entry_) {
      if (module_.computations_size() > 1) {
        return cursor_.Error("no computation is marked ENTRY");
      }
      SetEntry(module_.computations(0));
    }
    RETURN_IF_ERROR(SetProgramShape());
    return std::move(module_);
  }

 private:
  absl::Status ReadHeader() {
    if (cursor_.Name() != kHeader) {
      return cursor_.Error("the text does not start with HloModule");
    }
    const std::string_view name = cursor_.Name();
    if (name.empty()) return cursor_.Error("expected the module's name");
    module_.set_name(std::string(name));
    while (cursor_.Consume(',')) {
      const std::string_view key = cursor_.Name();
      RETURN_IF_ERROR(cursor_.Expect('='));
      ASSIGN_OR_RETURN(TextCursor value, cursor_.Value());
      if (key == "input_output_alias") {
        RETURN_IF_ERROR(ReadAliases(value));
      } else if (key == "buffer_donor") {
        RETURN_IF_ERROR(ReadDonors(value));
      } else if (key == "entry_computation_layout") {
        RETURN_IF_ERROR(ReadEntryLayout(value));
      }
    }
    return absl::OkStatus();
  }

  // { {0}: (3, {}, may-alias), {1}: 4 }
  absl::Status ReadAliases(TextCursor& value) {
    return value.ReadList('{', '}', [&]() -> absl::Status {
      auto& entry = *module_.mutable_input_output_alias()->add_entries();
      RETURN_IF_ERROR(ReadNumbers(value, *entry.mutable_output_shape_index()));
      RETURN_IF_ERROR(value.Expect(':'));
      const bool whole = value.Consume('(');
      ASSIGN_OR_RETURN(const int64_t parameter, value.Integer());
      entry.set_parameter_number(parameter);
      entry.set_kind(hlo::MAY_ALIAS);
      if (!whole) return absl::OkStatus();
      if (value.Consume(',')) {
        RETURN_IF_ERROR(
            ReadNumbers(value, *entry.mutable_parameter_shape_index()));
      }
      if (value.Consume(',') && value.Name() == "must-alias") {
        entry.set_kind(hlo::MUST_ALIAS);
      }
      return value.Expect(')');
    });
  }

  // { (0, {}), (1, {}) }
  absl::Status ReadDonors(TextCursor& value) {
    return value.ReadList('{', '}', [&]() -> absl::Status {
      auto& entry = *module_.mutable_buffer_donor()->add_entries();
      RETURN_IF_ERROR(value.Expect('('));
      ASSIGN_OR_RETURN(const int64_t parameter, value.Integer());
      entry.set_parameter_number(parameter);
      RETURN_IF_ERROR(value.Expect(','));
      RETURN_IF_ERROR(
          ReadNumbers(value, *entry.mutable_parameter_shape_index()));
      return value.Expect(')');
    });
  }

  // {(f32[2]{0}, s32[])->f32[2]{0}}
  absl::Status ReadEntryLayout(TextCursor& value) {
    hlo::ProgramShapeProto& shape = *module_.mutable_host_program_shape();
    RETURN_IF_ERROR(value.Expect('{'));
    RETURN_IF_ERROR(value.ReadList(
        '(', ')', [&] { return ReadShape(value, *shape.add_parameters()); }));
    if (!value.Consume("->")) return value.Error("expected '->'");
    return ReadShape(value, *shape.mutable_result());
  }

  absl::Status ReadComputation() {
    std::string_view name = cursor_.Name();
    if (IsTableTitle(name)) {
      cursor_.SkipLine();
      while (cursor_.Peek() >= '0' && cursor_.Peek() <= '9') cursor_.SkipLine();
      return absl::OkStatus();
    }
    const bool entry = name == "ENTRY";
    if (entry) name = cursor_.Name();
    if (name.empty()) return cursor_.Error("expected a computation");
    if (computations_.contains(name)) {
      return cursor_.Error(
          absl::StrCat("computation ", std::string(name), " is defined twice"));
    }
    if (entry && has_entry_) {
      return cursor_.Error("two computations are marked ENTRY");
    }
    RETURN_IF_ERROR(SkipSignature());
    RETURN_IF_ERROR(cursor_.Expect('{'));
    computation_ = module_.add_computations();
    computation_->set_name(std::string(name));
    computation_->set_id(module_.computations_size());
    instructions_.clear();
    bool has_root = false;
    while (!cursor_.Consume('}')) {
      RETURN_IF_ERROR(ReadInstruction(has_root));
    }
    if (computation_->instructions().empty()) {
      return cursor_.Error(absl::StrCat("computation ", computation_->name(),
                                        " holds no instruction"));
    }
    if (!has_root) computation_->set_root_id(next_id_ - 1);
    // The thread a computation runs on stands behind it.
    while (cursor_.Consume(',')) {
      cursor_.Name();
      RETURN_IF_ERROR(cursor_.Expect('='));
      RETURN_IF_ERROR(cursor_.Value().status());
    }
    RETURN_IF_ERROR(SetComputationShape());
    computations_[name] = computation_->id();
    if (entry) SetEntry(*computation_);
    return absl::OkStatus();
  }

  // (p: f32[2], q: s32[]) -> f32[2]; the instructions say it again.
  absl::Status SkipSignature() {
    if (cursor_.Peek() != '(') return absl::OkStatus();
    RETURN_IF_ERROR(cursor_.Value().status());
    if (!cursor_.Consume("->")) return cursor_.Error("expected '->'");
    hlo::ShapeProto result;
    return ReadShape(cursor_, result);
  }

  absl::Status ReadInstruction(bool& has_root) {
    std::string_view name = cursor_.Name();
    if (name == "ROOT") {
      if (has_root) return cursor_.Error("a computation has two roots");
      has_root = true;
      computation_->set_root_id(next_id_);
      name = cursor_.Name();
    }
    if (name.empty()) return cursor_.Error("expected an instruction or '}'");
    RETURN_IF_ERROR(cursor_.Expect('='));
    hlo::HloInstructionProto& it = *computation_->add_instructions();
    it.set_name(std::string(name));
    it.set_id(next_id_);
    RETURN_IF_ERROR(ReadShape(cursor_, *it.mutable_shape()));
    const std::string_view opcode = cursor_.Name();
    if (opcode.empty()) return cursor_.Error("expected an opcode");
    it.set_opcode(std::string(opcode));
    RETURN_IF_ERROR(cursor_.Expect('('));
    std::vector<hlo::PrimitiveType> operand_types;
    if (opcode == "constant") {
      RETURN_IF_ERROR(ReadConstant(it));
    } else if (opcode == "parameter") {
      ASSIGN_OR_RETURN(const int64_t number, cursor_.Integer());
      it.set_parameter_number(number);
    } else {
      RETURN_IF_ERROR(ReadOperands(it, operand_types));
    }
    RETURN_IF_ERROR(cursor_.Expect(')'));
    AttributeTarget target{it, computations_, instructions_, {}};
    while (cursor_.Consume(',')) {
      const std::string_view key = cursor_.Name();
      if (key.empty()) return cursor_.Error("expected an attribute");
      RETURN_IF_ERROR(cursor_.Expect('='));
      // padding= of a scalar has no value.
      if (cursor_.Here() == ',' || cursor_.Here() == '\n') continue;
      ASSIGN_OR_RETURN(const TextCursor value, cursor_.Value());
      RETURN_IF_ERROR(ReadAttribute(key, value, target));
    }
    CompleteAttributes(operand_types, target);
    if (!instructions_.emplace(name, next_id_).second) {
      return cursor_.Error(
          absl::StrCat("instruction ", it.name(), " is defined twice"));
    }
    ++next_id_;
    return absl::OkStatus();
  }

  absl::Status ReadConstant(hlo::HloInstructionProto& it) {
    // Elements stand in logical order, so that only the default layout is true.
    hlo::ShapeProto& shape = *it.mutable_shape();
    for (int i = 0; i < shape.layout().minor_to_major_size(); ++i) {
      shape.mutable_layout()->set_minor_to_major(
          i, shape.layout().minor_to_major_size() - 1 - i);
    }
    if (cursor_.Consume("{...}")) return absl::OkStatus();
    return ReadLiteral(cursor_, shape, *it.mutable_literal());
  }

  absl::Status ReadOperands(hlo::HloInstructionProto& it,
                            std::vector<hlo::PrimitiveType>& operand_types) {
    if (cursor_.Peek() == ')') return absl::OkStatus();
    do {
      const TextCursor start = cursor_;
      std::string_view name;
      if (cursor_.Peek() != '(') name = cursor_.Name();
      if (name.empty() || cursor_.Here() == '[') {
        cursor_ = start;
        hlo::ShapeProto shape;
        RETURN_IF_ERROR(ReadShape(cursor_, shape));
        name = cursor_.Name();
      }
      const auto found = instructions_.find(name);
      if (found == instructions_.end()) {
        return start.Error(
            absl::StrCat("instruction ", it.name(), " uses '",
                         std::string(name.substr(0, 80)),
                         "', which no instruction before it defines"));
      }
      it.add_operand_ids(found->second);
      operand_types.push_back(
          computation_->instructions(GetIndex(found->second))
              .shape()
              .element_type());
    } while (cursor_.Consume(','));
    return absl::OkStatus();
  }

  // Ids of one computation are consecutive.
  int GetIndex(int64_t id) const {
    return static_cast<int>(id - computation_->instructions(0).id());
  }

  absl::Status SetComputationShape() {
    hlo::ProgramShapeProto& shape = *computation_->mutable_program_shape();
    std::map<int64_t, const hlo::HloInstructionProto*> by_number;
    int64_t count = 0;
    for (const hlo::HloInstructionProto& it : computation_->instructions()) {
      if (it.opcode() != "parameter") continue;
      by_number[it.parameter_number()] = &it;
      ++count;
    }
    for (const auto& [number, it] : by_number) {
      if (number != shape.parameters_size()) break;
      *shape.add_parameters() = it->shape();
      shape.add_parameter_names(it->name());
    }
    if (shape.parameters_size() != count) {
      return cursor_.Error(absl::StrCat("the parameters of ",
                                        computation_->name(),
                                        " are not numbered 0, 1, 2, ..."));
    }
    *shape.mutable_result() =
        computation_->instructions(GetIndex(computation_->root_id())).shape();
    return absl::OkStatus();
  }

  void SetEntry(const hlo::HloComputationProto& computation) {
    has_entry_ = true;
    module_.set_entry_computation_id(computation.id());
    module_.set_entry_computation_name(computation.name());
  }

  absl::Status SetProgramShape() {
    const hlo::ProgramShapeProto& entry =
        module_
            .computations(static_cast<int>(module_.entry_computation_id()) - 1)
            .program_shape();
    hlo::ProgramShapeProto& shape = *module_.mutable_host_program_shape();
    if (!shape.has_result()) {
      shape = entry;
      return absl::OkStatus();
    }
    if (shape.parameters_size() != entry.parameters_size()) {
      return absl::InvalidArgumentError(
          "entry_computation_layout has another number of parameters than the "
          "entry computation");
    }
    *shape.mutable_parameter_names() = entry.parameter_names();
    return absl::OkStatus();
  }

  TextCursor cursor_;
  hlo::HloModuleProto module_;
  hlo::HloComputationProto* computation_ = nullptr;  // being read
  NameTable computations_;
  NameTable instructions_;  // of the computation being read
  int64_t next_id_ = 1;
  bool has_entry_ = false;
};

}  // namespace

bool LooksLikeHloText(std::string_view bytes) {
  TextCursor cursor(bytes.substr(0, 1 << 16));
  // In a binary module of this very name no space follows.
  return cursor.Name() == kHeader && absl::ascii_isspace(cursor.Here());
}

absl::StatusOr<hlo::HloModuleProto> ParseHloText(std::string_view text) {
  return ModuleReader(text).Read();
}

}  // namespace meshwright::ir
