// Certificates: authorities and certificates of this machine in a folder of
// their own, made by the command openssl.
#ifndef MESHWRIGHT_TESTS_INTEGRATION_CERTIFICATES_H_
#define MESHWRIGHT_TESTS_INTEGRATION_CERTIFICATES_H_

#include <string>

namespace meshwright::integration {

class Certificates {
 public:
  // The folder, emptied; removed with this.
  explicit Certificates(std::string folder);
  ~Certificates();
  Certificates(const Certificates&) = delete;
  Certificates& operator=(const Certificates&) = delete;

  std::string File(const std::string& name) const;
  // NAME.pem and NAME.key.
  void MakeAuthority(const std::string& name) const;
  // NAME.pem and NAME.key, for this machine, in place of what was there.
  void MakeCertificate(const std::string& authority,
                       const std::string& name) const;

 private:
  void Run(const std::string& command) const;

  const std::string folder_;
};

}  // namespace meshwright::integration

#endif  // MESHWRIGHT_TESTS_INTEGRATION_CERTIFICATES_H_
