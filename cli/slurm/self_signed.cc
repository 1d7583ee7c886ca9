#include "cli/slurm/self_signed.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <memory>

#include "absl/strings/str_cat.h"

namespace meshwright::cli {
namespace {

template <auto Free>
struct Freer {
  template <typename Value>
  void operator()(Value* value) const {
    Free(value);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freer<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freer<X509_EXTENSION_free>>;
using Memory = std::unique_ptr<BIO, Freer<BIO_free>>;

absl::Status OpenSslError() {
  char text[256] = {};
  ERR_error_string_n(ERR_get_error(), text, sizeof(text));
  return absl::InternalError(
      absl::StrCat("OpenSSL makes no certificate: ", text));
}

bool IsIpAddress(const std::string& host) {
  unsigned char bytes[sizeof(in6_addr)];
  return inet_pton(AF_INET, host.c_str(), bytes) == 1 ||
         inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

bool AddExtension(X509* certificate, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const Extension extension(
      X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  return extension != nullptr &&
         X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool Fill(X509* certificate, EVP_PKEY* key, const std::string& host,
          absl::Duration life) {
  constexpr char kName[] = "Meshwright of one job";
  int64_t serial = 0;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&serial), 7) != 1) {
    return false;
  }
  X509_NAME* const name = X509_get_subject_name(certificate);
  return X509_set_version(certificate, X509_VERSION_3) == 1 &&
         ASN1_INTEGER_set_int64(X509_get_serialNumber(certificate), serial) ==
             1 &&
         X509_gmtime_adj(X509_getm_notBefore(certificate), -24 * 3600) !=
             nullptr &&
         X509_gmtime_adj(X509_getm_notAfter(certificate),
                         absl::ToInt64Seconds(life)) != nullptr &&
         X509_NAME_add_entry_by_txt(
             name, "CN", MBSTRING_ASC,
             reinterpret_cast<const unsigned char*>(kName), -1, -1, 0) == 1 &&
         X509_set_issuer_name(certificate, name) == 1 &&
         X509_set_pubkey(certificate, key) == 1 &&
         AddExtension(certificate, NID_basic_constraints,
                      "critical,CA:TRUE,pathlen:0") &&
         AddExtension(certificate, NID_subject_alt_name,
                      absl::StrCat(IsIpAddress(host) ? "IP:" : "DNS:", host)) &&
         X509_sign(certificate, key, EVP_sha256()) > 0;
}

std::string Read(BIO* memory) {
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory, &text);
  return std::string(text, static_cast<size_t>(size));
}

}  // namespace

absl::StatusOr<SelfSigned> MakeSelfSigned(const std::string& host,
                                          absl::Duration life) {
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate(X509_new());
  const Memory key_text(BIO_new(BIO_s_mem()));
  const Memory certificate_text(BIO_new(BIO_s_mem()));
  if (key == nullptr || certificate == nullptr || key_text == nullptr ||
      certificate_text == nullptr ||
      !Fill(certificate.get(), key.get(), host, life) ||
      PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0,
                               nullptr, nullptr) != 1 ||
      PEM_write_bio_X509(certificate_text.get(), certificate.get()) != 1) {
    return OpenSslError();
  }
  return SelfSigned{Read(certificate_text.get()), Read(key_text.get())};
}

}  // namespace meshwright::cli
