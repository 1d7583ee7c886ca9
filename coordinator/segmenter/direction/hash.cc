#include "coordinator/segmenter/direction/hash.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <string>
#include <string_view>
#include <unordered_map>

#include "base/fingerprint.h"

namespace meshwright::segmenter {
namespace {

using base::Mix;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using Fields = hlo::HloInstructionProto;

// Where it stands and what it is called; operands, callees and the shape are
// hashed apart.
bool SaysNothing(int field, bool is_parameter) {
  switch (field) {
    case Fields::kNameFieldNumber:
    case Fields::kShapeFieldNumber:
    case Fields::kMetadataFieldNumber:
    case Fields::kIdFieldNumber:
    case Fields::kOperandIdsFieldNumber:
    case Fields::kControlPredecessorIdsFieldNumber:
    case Fields::kCalledComputationIdsFieldNumber:
    case Fields::kShardingFieldNumber:
    case Fields::kStatisticsVizFieldNumber:
    case Fields::kOriginalValueFieldNumber:
      return true;
    case Fields::kParameterNumberFieldNumber:
      // Which argument it is does not say what it does.
      return is_parameter;
    default:
      return false;
  }
}

// Calls `keep(field, bytes of tag and value)` for every field of a message.
template <typename Keep>
void ForEachField(std::string_view message, const Keep& keep) {
  CodedInputStream stream(reinterpret_cast<const uint8_t*>(message.data()),
                          static_cast<int>(message.size()));
  int start = 0;
  while (const uint32_t tag = stream.ReadTag()) {
    if (!WireFormatLite::SkipField(&stream, tag)) return;
    const int end = stream.CurrentPosition();
    keep(WireFormatLite::GetTagFieldNumber(tag),
         message.substr(start, end - start));
    start = end;
  }
}

// Of a length-delimited field with its tag.
std::string_view Payload(std::string_view bytes) {
  CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                          static_cast<int>(bytes.size()));
  uint32_t size = 0;
  stream.ReadTag();
  stream.ReadVarint32(&size);
  return bytes.substr(stream.CurrentPosition());
}

class OperationHasher {
  static constexpr size_t kLarge = 1024;

 public:
  explicit OperationHasher(const ir::Module& module) : module_(module) {}

  uint64_t Hash(const ir::Instruction& it) {
    return Mix(HashAttributes(it.attributes()), HashShape(it.shape));
  }

 private:
  uint64_t HashAttributes(const hlo::HloInstructionProto& source) {
    const auto known = large_.find(&source);
    if (known != large_.end()) return known->second;
    bytes_.clear();
    source.AppendToString(&bytes_);
    const size_t size = bytes_.size();
    const bool is_parameter = source.opcode() == "parameter";
    uint64_t hash = 0;
    ForEachField(bytes_, [&](int field, std::string_view bytes) {
      if (SaysNothing(field, is_parameter)) return;
      if (field == Fields::kLiteralFieldNumber) {
        ForEachField(Payload(bytes), [&](int part, std::string_view values) {
          if (part == hlo::LiteralProto::kShapeFieldNumber) return;
          hash = Mix(hash, values);
        });
        return;
      }
      hash = Mix(hash, bytes);
    });
    for (int64_t callee : source.called_computation_ids()) {
      hash = Mix(hash, HashComputation(callee));
    }
    if (size > kLarge) large_[&source] = hash;
    return hash;
  }

  uint64_t HashComputation(int64_t id) {
    const auto found = computations_.find(id);
    if (found != computations_.end()) return found->second;
    const hlo::HloComputationProto& computation = *module_.computations.at(id);
    std::unordered_map<int64_t, uint64_t> values;
    for (const hlo::HloInstructionProto& it : computation.instructions()) {
      uint64_t hash = HashAttributes(it);
      hash = Mix(hash, static_cast<uint64_t>(it.parameter_number()));
      // Nobody checked the shapes of called computations.
      const auto shape = ir::ShapeFromProto(it.shape());
      hash = Mix(hash, shape.ok() ? HashShape(*shape) : 0);
      for (int64_t operand : it.operand_ids())
        hash = Mix(hash, values[operand]);
      values[it.id()] = hash;
    }
    return computations_[id] = values[computation.root_id()];
  }

  const ir::Module& module_;
  std::unordered_map<int64_t, uint64_t> computations_;
  // Of large messages, which several instructions may share.
  std::unordered_map<const hlo::HloInstructionProto*, uint64_t> large_;
  std::string bytes_;
};

}  // namespace

uint64_t HashShape(const ir::Shape& shape) {
  uint64_t hash = Mix(1, static_cast<uint64_t>(shape.element_type));
  for (int64_t dim : shape.dims) hash = Mix(hash, static_cast<uint64_t>(dim));
  for (const ir::Shape& element : shape.elements) {
    hash = Mix(hash, HashShape(element));
  }
  return hash;
}

std::vector<uint64_t> HashOperations(const ir::Module& module) {
  OperationHasher hasher(module);
  std::vector<uint64_t> hashes;
  hashes.reserve(module.size());
  for (const ir::Instruction& it : module.instructions) {
    hashes.push_back(hasher.Hash(it));
  }
  return hashes;
}

}  // namespace meshwright::segmenter
