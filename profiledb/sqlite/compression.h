// Zstandard, for programs at rest.
//
// Errors: kDataLoss for bytes that do not unpack to the size they should.
#ifndef MESHWRIGHT_PROFILEDB_SQLITE_COMPRESSION_H_
#define MESHWRIGHT_PROFILEDB_SQLITE_COMPRESSION_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace meshwright::sqlite {

absl::StatusOr<std::string> Compress(std::string_view bytes);

absl::StatusOr<std::string> Decompress(std::string_view compressed,
                                       size_t size);

}  // namespace meshwright::sqlite

#endif  // MESHWRIGHT_PROFILEDB_SQLITE_COMPRESSION_H_
