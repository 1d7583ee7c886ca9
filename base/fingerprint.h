// Content fingerprints: SHA-256, the names of programs in the profile store.
//
// Threads: a Fingerprinter belongs to one thread; distinct ones are free.
#ifndef MESHWRIGHT_BASE_FINGERPRINT_H_
#define MESHWRIGHT_BASE_FINGERPRINT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace meshwright::base {

// Accumulates fields and digests them. Every field is framed by its length, so
// that ("ab","c") and ("a","bc") differ.
class Fingerprinter {
 public:
  Fingerprinter();
  ~Fingerprinter();
  Fingerprinter(const Fingerprinter&) = delete;
  Fingerprinter& operator=(const Fingerprinter&) = delete;

  // Each field counts with its length, so ("a", "bc") differs from ("ab", "c").
  Fingerprinter& Add(std::string_view field);
  Fingerprinter& Add(int64_t field);

  // 64 lower-case hex digits. The object is spent afterwards.
  std::string Hex();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// SHA-256 of the bytes alone, in hex.
std::string Sha256Hex(std::string_view bytes);

// A 64-bit mixing hash for in-memory tables; never stored.
uint64_t Mix(uint64_t seed, uint64_t value);
uint64_t Mix(uint64_t seed, std::string_view value);

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_FINGERPRINT_H_
