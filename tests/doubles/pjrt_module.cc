#include "tests/doubles/pjrt_module.h"

#include <iterator>

namespace meshwright::doubles {
namespace {

constexpr int kTuple = 13;

// One field after another of a message.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}

  // False at the end, and after bytes that are none.
  bool Next() {
    if (rest_.empty()) return false;
    const uint64_t tag = ReadVarint();
    number = static_cast<int>(tag >> 3);
    switch (tag & 7) {
      case 0:
        value = static_cast<int64_t>(ReadVarint());
        break;
      case 1:
        Take(8);
        break;
      case 2:
        bytes = Take(ReadVarint());
        break;
      case 5:
        Take(4);
        break;
      default:
        is_sound = false;
    }
    return is_sound;
  }

  int number = 0;
  int64_t value = 0;       // of a varint
  std::string_view bytes;  // of a message, a text or packed numbers
  bool is_sound = true;

 private:
  uint64_t ReadVarint() {
    uint64_t number = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      number |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return number;
    }
    is_sound = false;
    return 0;
  }
  std::string_view Take(uint64_t size) {
    if (size > rest_.size()) {
      is_sound = false;
      return {};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
};

std::vector<int64_t> ReadPacked(std::string_view bytes) {
  // A field's number and type come before each, so that Fields reads them.
  std::vector<int64_t> numbers;
  int64_t number = 0;
  int shift = 0;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    number |= static_cast<int64_t>(byte & 0x7f) << shift;
    shift += 7;
    if (byte >= 0x80) continue;
    numbers.push_back(number);
    number = 0;
    shift = 0;
  }
  return numbers;
}

Shape ReadShape(std::string_view bytes) {
  Shape shape;
  for (Fields it(bytes); it.Next();) {
    if (it.number == 2) shape.type = static_cast<int>(it.value);
    if (it.number == 3) shape.dimensions = ReadPacked(it.bytes);
    if (it.number == 4) shape.leaves.push_back(ReadShape(it.bytes));
  }
  return shape;
}

void ReadComputation(std::string_view bytes, Module& module) {
  for (Fields it(bytes); it.Next();) {
    if (it.number != 2) continue;
    ++module.instructions;
    for (Fields of(it.bytes); of.Next();) {
      if (of.number == 3) module.elements += CountElements(ReadShape(of.bytes));
    }
  }
}

void ReadProgramShape(std::string_view bytes, Module& module) {
  for (Fields it(bytes); it.Next();) {
    if (it.number == 1) module.parameters.push_back(ReadShape(it.bytes));
    if (it.number != 2) continue;
    const Shape result = ReadShape(it.bytes);
    module.results =
        result.type == kTuple ? result.leaves : std::vector<Shape>{result};
  }
}

void ReadAliases(std::string_view bytes, Module& module) {
  for (Fields it(bytes); it.Next();) {
    if (it.number != 1) continue;
    std::pair<int, int> alias = {0, 0};
    for (Fields of(it.bytes); of.Next();) {
      if (of.number == 1) {
        const auto index = ReadPacked(of.bytes);
        if (!index.empty()) alias.first = static_cast<int>(index.front());
      }
      if (of.number == 2) alias.second = static_cast<int>(of.value);
    }
    module.aliases.push_back(alias);
  }
}

}  // namespace

int64_t CountElements(const Shape& shape) {
  int64_t count = shape.leaves.empty() ? 1 : 0;
  for (const int64_t dimension : shape.dimensions) count *= dimension;
  for (const Shape& leaf : shape.leaves) count += CountElements(leaf);
  return count;
}

int64_t CountBytes(const Shape& shape) {
  // PRED, S8 to S64, U8 to U64, F16 to F64, then BF16 and the others; those of
  // less than a byte have one.
  constexpr int kBytes[] = {0, 1, 1, 2,  4, 8, 1, 2, 4, 8, 2, 4, 8, 0, 0,
                            8, 2, 0, 16, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  int64_t bytes = 0;
  for (const Shape& leaf : shape.leaves) bytes += CountBytes(leaf);
  if (!shape.leaves.empty()) return bytes;
  return shape.type >= 0 && shape.type < static_cast<int>(std::size(kBytes))
             ? CountElements(shape) * kBytes[shape.type]
             : 0;
}

bool ReadModule(std::string_view bytes, Module& module) {
  Fields it(bytes);
  while (it.Next()) {
    if (it.number == 1) module.name = it.bytes;
    if (it.number == 3) ReadComputation(it.bytes, module);
    if (it.number == 4) ReadProgramShape(it.bytes, module);
    if (it.number == 8) ReadAliases(it.bytes, module);
  }
  return it.is_sound && module.instructions > 0 && !module.results.empty();
}

int64_t ReadPartitions(std::string_view compile_options) {
  int64_t partitions = 1;
  for (Fields it(compile_options); it.Next();) {
    if (it.number != 3) continue;
    for (Fields of(it.bytes); of.Next();) {
      if (of.number == 5 && of.value > 0) partitions = of.value;
    }
  }
  return partitions;
}

}  // namespace meshwright::doubles
