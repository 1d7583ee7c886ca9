#include "profiledb/tables/compression.h"

#include <zstd.h>

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace meshwright::tables {
namespace {

constexpr int kLevel = ZSTD_CLEVEL_DEFAULT;

}  // namespace

absl::StatusOr<std::string> Compress(std::string_view bytes) {
  const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context(
      ZSTD_createCCtx(), ZSTD_freeCCtx);
  if (context == nullptr) {
    return absl::ResourceExhaustedError("no memory to compress a program");
  }
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  // Larger than the bytes: what is not written to takes no memory.
  const size_t bound = ZSTD_compressBound(bytes.size());
  const auto compressed = std::make_unique_for_overwrite<char[]>(bound);
  const size_t size = ZSTD_compress2(context.get(), compressed.get(), bound,
                                     bytes.data(), bytes.size());
  if (ZSTD_isError(size)) {
    return absl::InternalError(
        absl::StrCat("cannot compress: ", ZSTD_getErrorName(size)));
  }
  return std::string(compressed.get(), size);
}

absl::StatusOr<std::string> Decompress(std::string_view compressed,
                                       size_t size) {
  // The frame's own size is checked first, so that a damaged figure in the
  // table cannot ask for memory without end.
  if (ZSTD_getFrameContentSize(compressed.data(), compressed.size()) != size) {
    return absl::DataLossError("a compressed program has a wrong size");
  }
  std::string bytes(size, '\0');
  const size_t unpacked = ZSTD_decompress(bytes.data(), bytes.size(),
                                          compressed.data(), compressed.size());
  if (ZSTD_isError(unpacked) || unpacked != size) {
    return absl::DataLossError("a compressed program is damaged");
  }
  return bytes;
}

}  // namespace meshwright::tables
