#include "tests/integration/cpu_client.h"

#include <memory>
#include <string>
#include <utility>

#include "base/status_macros.h"

namespace meshwright {

using worker::pjrt::Client;

absl::StatusOr<const Client*> CpuClient() {
  static const auto& client =
      *new auto([]() -> absl::StatusOr<std::unique_ptr<Client>> {
        ASSIGN_OR_RETURN(const std::string path,
                         worker::pjrt::FindPlugin("cpu", ""));
        ASSIGN_OR_RETURN(auto plugin, worker::pjrt::Plugin::Load(path));
        return Client::Create(std::move(plugin), {"cpu", kCpuDevices});
      }());
  if (!client.ok()) return client.status();
  return client->get();
}

}  // namespace meshwright
