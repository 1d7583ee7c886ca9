// MakeSelfSigned: a certificate for one coordinator's short life.
//
// Concept: a fresh key on the curve P-256 and a certificate that it signs
// itself, for one host name or IP address. The certificate is its own CA: who
// is given it believes this coordinator and nobody else.
// Errors: kInternal, with OpenSSL's words.
#ifndef MESHWRIGHT_CLI_SLURM_SELF_SIGNED_H_
#define MESHWRIGHT_CLI_SLURM_SELF_SIGNED_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace meshwright::cli {

struct SelfSigned {
  std::string certificate;  // PEM
  std::string key;          // PEM
};

// From a day before now, for clocks that differ, until `life` from now.
absl::StatusOr<SelfSigned> MakeSelfSigned(const std::string& host,
                                          absl::Duration life);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_SLURM_SELF_SIGNED_H_
