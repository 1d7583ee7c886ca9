#include "coordinator/ir/text/mlir.h"

#include "coordinator/ir/text/text_cursor.h"

namespace meshwright::ir {
namespace {

constexpr std::string_view kBytecode = "ML\xefR";

}  // namespace

bool LooksLikeMlir(std::string_view bytes) {
  if (bytes.starts_with(kBytecode)) return true;
  TextCursor cursor(bytes.substr(0, 1 << 16));
  // The generic form, and an alias of an attribute before the module.
  if (cursor.Consume("\"builtin.module\"")) return true;
  if (cursor.Consume('#')) return !cursor.Name().empty() && cursor.Consume('=');
  const std::string_view name = cursor.Name();
  return name == "module" || name == "builtin.module" || name == "func.func";
}

}  // namespace meshwright::ir
