#include "base/fingerprint.h"

#include <openssl/evp.h>

#include <cstring>

#include "absl/strings/escaping.h"

namespace meshwright::base {

struct Fingerprinter::Context {
  EVP_MD_CTX* digest = EVP_MD_CTX_new();
  // Small fields on their way to the digest.
  unsigned char buffer[4096];
  size_t used = 0;

  ~Context() { EVP_MD_CTX_free(digest); }

  void Flush() {
    EVP_DigestUpdate(digest, buffer, used);
    used = 0;
  }
};

Fingerprinter::Fingerprinter() : context_(std::make_unique<Context>()) {
  EVP_DigestInit_ex(context_->digest, EVP_sha256(), nullptr);
}

Fingerprinter::~Fingerprinter() = default;

Fingerprinter& Fingerprinter::Add(std::string_view field) {
  Add(static_cast<int64_t>(field.size()));
  context_->Flush();
  EVP_DigestUpdate(context_->digest, field.data(), field.size());
  return *this;
}

Fingerprinter& Fingerprinter::Add(int64_t field) {
  Context& context = *context_;
  if (context.used + 8 > sizeof(context.buffer)) context.Flush();
  for (int i = 0; i < 8; ++i) {
    context.buffer[context.used++] =
        static_cast<unsigned char>(static_cast<uint64_t>(field) >> 8 * i);
  }
  return *this;
}

std::string Fingerprinter::Hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  context_->Flush();
  EVP_DigestFinal_ex(context_->digest, digest, &size);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest), size));
}

std::string Sha256Hex(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest), size));
}

uint64_t Mix(uint64_t seed, uint64_t value) {
  uint64_t mixed =
      seed ^ (value + 0x9e3779b97f4a7c15u + (seed << 6) + (seed >> 2));
  mixed ^= mixed >> 30;
  mixed *= 0xbf58476d1ce4e5b9u;
  mixed ^= mixed >> 27;
  mixed *= 0x94d049bb133111ebu;
  return mixed ^ (mixed >> 31);
}

uint64_t Mix(uint64_t seed, std::string_view value) {
  uint64_t mixed = Mix(seed, value.size());
  while (value.size() >= 8) {
    uint64_t word;
    std::memcpy(&word, value.data(), 8);
    mixed = Mix(mixed, word);
    value.remove_prefix(8);
  }
  uint64_t tail = 0;
  std::memcpy(&tail, value.data(), value.size());
  return Mix(mixed, tail);
}

}  // namespace meshwright::base
