// Zstandard, for programs at rest: one frame with the checksum of its content.
//
// Errors: kDataLoss for bytes that do not unpack to the size they should;
// kResourceExhausted without memory to compress.
#ifndef MESHWRIGHT_PROFILEDB_TABLES_COMPRESSION_H_
#define MESHWRIGHT_PROFILEDB_TABLES_COMPRESSION_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace meshwright::tables {

absl::StatusOr<std::string> Compress(std::string_view bytes);

absl::StatusOr<std::string> Decompress(std::string_view compressed,
                                       size_t size);

}  // namespace meshwright::tables

#endif  // MESHWRIGHT_PROFILEDB_TABLES_COMPRESSION_H_
