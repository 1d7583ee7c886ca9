// NcclLibrary and CudaDriver: the functions of NCCL and of the CUDA driver that
// Meshwright calls. They are found at run time, so that it builds and runs
// where neither is.
//
// Concept: the functions as the vendor declares them, with their types spelled
// out: results are int (0: success), handles void*, device addresses uint64_t.
// Load finds all of them or says which is missing.
// Threads: const after Load.
// Errors: kFailedPrecondition for a library that is not there or is another.
// Source: nccl.h of NCCL 2.14 and later, cuda.h; both keep this ABI.
#ifndef MESHWRIGHT_WORKER_COMM_TRANSPORT_NCCL_LIBRARY_H_
#define MESHWRIGHT_WORKER_COMM_TRANSPORT_NCCL_LIBRARY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace meshwright::worker::comm {

struct NcclId {
  char bytes[128];
};

// ncclConfig_t as it began, in 2.14; `size` tells later libraries.
struct NcclConfig {
  size_t size = sizeof(NcclConfig);
  unsigned int magic = 0xcafebeef;
  unsigned int version = 21400;
  int blocking = 0;
};

struct NcclLibrary {
  static constexpr int kInProgress = 7;
  static constexpr int kUint8 = 1;
  static constexpr int kMinVersion = 21400;  // calls that do not block

  // `path` empty: $MESHWRIGHT_NCCL, else libnccl.so.2 where the linker looks or
  // where pip puts it beside $MESHWRIGHT_CUDA_PLUGIN.
  static absl::StatusOr<std::shared_ptr<const NcclLibrary>> Load(
      const std::string& path = "");

  // "2.32.3"
  std::string FormatVersion() const;
  // kUnavailable in NCCL's words, unless it succeeded or is under way.
  absl::Status ToStatus(int result, const char* what) const;

  int version = 0;
  int (*get_version)(int* version) = nullptr;
  const char* (*get_error_string)(int result) = nullptr;
  int (*get_unique_id)(NcclId* id) = nullptr;
  int (*comm_init)(void** comm, int ranks, NcclId id, int rank,
                   NcclConfig* config) = nullptr;
  int (*comm_abort)(void* comm) = nullptr;
  int (*comm_async_error)(void* comm, int* result) = nullptr;
  int (*send)(const void* bytes, size_t count, int type, int peer, void* comm,
              void* stream) = nullptr;
  int (*receive)(void* bytes, size_t count, int type, int peer, void* comm,
                 void* stream) = nullptr;
};

struct CudaDriver {
  static constexpr int kNotReady = 600;
  static constexpr unsigned kNonBlockingStream = 1;

  // libcuda.so.1, where the linker looks. Errors: kFailedPrecondition, with the
  // way out.
  static absl::StatusOr<std::shared_ptr<const CudaDriver>> Load();

  // kUnavailable in the driver's words, unless `result` is success.
  absl::Status ToStatus(int result, const char* what) const;

  int (*get_error_name)(int result, const char** name) = nullptr;
  int (*init)(unsigned flags) = nullptr;
  int (*device_count)(int* count) = nullptr;
  int (*device_get)(int* device, int ordinal) = nullptr;
  int (*context_retain)(void** context, int device) = nullptr;
  int (*context_release)(int device) = nullptr;
  int (*context_set)(void* context) = nullptr;
  int (*stream_create)(void** stream, unsigned flags) = nullptr;
  int (*stream_query)(void* stream) = nullptr;
  int (*stream_destroy)(void* stream) = nullptr;
  int (*allocate)(uint64_t* address, size_t bytes) = nullptr;
  int (*free)(uint64_t address) = nullptr;
  int (*copy_to_device)(uint64_t to, const void* from, size_t bytes,
                        void* stream) = nullptr;
  int (*copy_to_host)(void* to, uint64_t from, size_t bytes) = nullptr;
};

}  // namespace meshwright::worker::comm

#endif  // MESHWRIGHT_WORKER_COMM_TRANSPORT_NCCL_LIBRARY_H_
