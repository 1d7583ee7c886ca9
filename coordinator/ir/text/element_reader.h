// The elements of a constant, one by one, into the field of its type.
//
// In -> Out: a cursor at an element -> one more value of the literal. Narrow
// types are stored as little-endian bytes, sub-byte types as one byte each.
// Threads and ownership: borrows the literal; one thread.
// Errors: kInvalidArgument with the line, for a value the type cannot hold.
#ifndef MESHWRIGHT_COORDINATOR_IR_TEXT_ELEMENT_READER_H_
#define MESHWRIGHT_COORDINATOR_IR_TEXT_ELEMENT_READER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "coordinator/ir/text/narrow_float.h"
#include "coordinator/ir/text/text_cursor.h"
#include "proto/hlo/hlo.pb.h"

namespace meshwright::ir {

class ElementReader {
 public:
  // `type` is that of an array: no tuple, token or opaque.
  ElementReader(hlo::PrimitiveType type, hlo::LiteralProto& literal);

  // Appends the next element to the literal. Errors: kInvalidArgument with the
  // line, for text that is no element of the type.
  absl::Status Read(TextCursor& cursor);
  // After the last element.
  void Finish();

 private:
  struct IntegerType {
    int bits = 0;  // 0: no integer
    bool is_signed = false;
  };
  // "nan", "-nan", "nan(0x44)".
  struct Nan {
    bool negative = false;
    uint64_t payload = 0;
  };

  static IntegerType FindIntegerType(hlo::PrimitiveType type);
  static absl::Status Bad(const TextCursor& at, std::string_view word);
  absl::Status ReadInteger(TextCursor& cursor);
  absl::Status ReadReal(TextCursor& cursor);
  // False where elements of the type have fewer bits than a float.
  bool AppendReal(float narrow, double wide);
  void AppendNan(const Nan& nan);
  void AppendNarrow(uint16_t bits);
  void AppendBytes(uint64_t bits, int count);

  const hlo::PrimitiveType type_;
  const IntegerType integer_;
  const std::optional<NarrowFloat> narrow_;
  std::string bytes_;  // of types stored as bytes
  hlo::LiteralProto& literal_;
};

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_TEXT_ELEMENT_READER_H_
