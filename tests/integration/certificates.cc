#include "tests/integration/certificates.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"

namespace meshwright::integration {

Certificates::Certificates(std::string folder) : folder_(std::move(folder)) {
  std::filesystem::remove_all(folder_);
  std::filesystem::create_directory(folder_);
}

Certificates::~Certificates() { std::filesystem::remove_all(folder_); }

std::string Certificates::File(const std::string& name) const {
  return absl::StrCat(folder_, "/", name);
}

void Certificates::Run(const std::string& command) const {
  ASSERT_EQ(std::system(absl::StrCat("cd ", folder_, " && openssl ", command,
                                     " >/dev/null 2>openssl.log")
                            .c_str()),
            0)
      << command;
}

void Certificates::MakeAuthority(const std::string& name) const {
  Run(
      absl::StrCat("req -x509 -newkey ec -pkeyopt "
                   "ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=",
                   name, " -keyout ", name, ".key -out ", name, ".pem"));
}

void Certificates::MakeCertificate(const std::string& authority,
                                   const std::string& name) const {
  Run(
      absl::StrCat("req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 "
                   "-nodes -subj /CN=",
                   name, " -addext subjectAltName=DNS:localhost,IP:127.0.0.1",
                   " -keyout ", name, ".key -out ", name, ".csr"));
  Run(
      absl::StrCat("x509 -req -days 2 -CAcreateserial -copy_extensions copy "
                   "-in ",
                   name, ".csr -CA ", authority, ".pem -CAkey ", authority,
                   ".key -out ", name, ".new"));
  ASSERT_EQ(chmod(File(name + ".key").c_str(), 0600), 0);
  std::filesystem::rename(File(name + ".new"), File(name + ".pem"));
}

}  // namespace meshwright::integration
