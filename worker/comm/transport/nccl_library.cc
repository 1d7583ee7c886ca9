#include "worker/comm/transport/nccl_library.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "base/shared_library.h"
#include "base/status_macros.h"

namespace meshwright::worker::comm {
namespace {

constexpr char kNccl[] = "libnccl.so.2";

// `name` becomes that of the library that opens.
absl::StatusOr<base::SharedLibrary> OpenNccl(std::string& name) {
  const std::string remedy =
      "install NCCL, or name its library with --nccl or MESHWRIGHT_NCCL; "
      "without GPUs use transport tcp";
  auto library = base::SharedLibrary::Open(name, remedy);
  if (library.ok() || name != kNccl) return library;
  const char* const plugin = std::getenv("MESHWRIGHT_CUDA_PLUGIN");
  if (plugin == nullptr || *plugin == '\0') return library;
  for (const std::string& folder : base::ListPipFolders(plugin, {"nccl"})) {
    const std::string place = absl::StrCat(folder, "/", kNccl);
    auto found = base::SharedLibrary::Open(place, remedy);
    if (!found.ok()) continue;
    name = place;
    return found;
  }
  return library;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const NcclLibrary>> NcclLibrary::Load(
    const std::string& path) {
  std::string name = path;
  if (name.empty()) {
    const char* const named = std::getenv("MESHWRIGHT_NCCL");
    name = named != nullptr && *named != '\0' ? named : kNccl;
  }
  ASSIGN_OR_RETURN(const base::SharedLibrary library, OpenNccl(name));
  auto nccl = std::make_shared<NcclLibrary>();
  RETURN_IF_ERROR(library.Find("ncclGetVersion", &nccl->get_version));
  RETURN_IF_ERROR(library.Find("ncclGetErrorString", &nccl->get_error_string));
  RETURN_IF_ERROR(
      nccl->ToStatus(nccl->get_version(&nccl->version), "telling its version"));
  if (nccl->version < kMinVersion) {
    return absl::FailedPreconditionError(absl::StrCat(
        name, " is NCCL ", nccl->FormatVersion(), "; install 2.14 or later"));
  }
  RETURN_IF_ERROR(library.Find("ncclGetUniqueId", &nccl->get_unique_id));
  RETURN_IF_ERROR(library.Find("ncclCommInitRankConfig", &nccl->comm_init));
  RETURN_IF_ERROR(library.Find("ncclCommAbort", &nccl->comm_abort));
  RETURN_IF_ERROR(
      library.Find("ncclCommGetAsyncError", &nccl->comm_async_error));
  RETURN_IF_ERROR(library.Find("ncclSend", &nccl->send));
  RETURN_IF_ERROR(library.Find("ncclRecv", &nccl->receive));
  return nccl;
}

std::string NcclLibrary::FormatVersion() const {
  return absl::StrCat(version / 10000, ".", version / 100 % 100, ".",
                      version % 100);
}

absl::Status NcclLibrary::ToStatus(int result, const char* what) const {
  if (result == 0 || result == kInProgress) return {};
  return absl::UnavailableError(
      absl::StrCat("NCCL failed at ", what, ": ", get_error_string(result)));
}

absl::StatusOr<std::shared_ptr<const CudaDriver>> CudaDriver::Load() {
  ASSIGN_OR_RETURN(
      const base::SharedLibrary library,
      base::SharedLibrary::Open(
          "libcuda.so.1", "install the NVIDIA driver, or use transport tcp"));
  auto cuda = std::make_shared<CudaDriver>();
  RETURN_IF_ERROR(library.Find("cuGetErrorName", &cuda->get_error_name));
  RETURN_IF_ERROR(library.Find("cuInit", &cuda->init));
  RETURN_IF_ERROR(library.Find("cuDeviceGetCount", &cuda->device_count));
  RETURN_IF_ERROR(library.Find("cuDeviceGet", &cuda->device_get));
  RETURN_IF_ERROR(
      library.Find("cuDevicePrimaryCtxRetain", &cuda->context_retain));
  RETURN_IF_ERROR(
      library.Find("cuDevicePrimaryCtxRelease_v2", &cuda->context_release));
  RETURN_IF_ERROR(library.Find("cuCtxSetCurrent", &cuda->context_set));
  RETURN_IF_ERROR(library.Find("cuStreamCreate", &cuda->stream_create));
  RETURN_IF_ERROR(library.Find("cuStreamQuery", &cuda->stream_query));
  RETURN_IF_ERROR(library.Find("cuStreamDestroy_v2", &cuda->stream_destroy));
  RETURN_IF_ERROR(library.Find("cuMemAlloc_v2", &cuda->allocate));
  RETURN_IF_ERROR(library.Find("cuMemFree_v2", &cuda->free));
  RETURN_IF_ERROR(library.Find("cuMemcpyHtoDAsync_v2", &cuda->copy_to_device));
  RETURN_IF_ERROR(library.Find("cuMemcpyDtoH_v2", &cuda->copy_to_host));
  return cuda;
}

absl::Status CudaDriver::ToStatus(int result, const char* what) const {
  if (result == 0) return {};
  const char* name = nullptr;
  get_error_name(result, &name);
  return absl::UnavailableError(
      absl::StrCat("the CUDA driver failed at ", what, ": ",
                   name != nullptr ? name : "an error it has no name for"));
}

}  // namespace meshwright::worker::comm
