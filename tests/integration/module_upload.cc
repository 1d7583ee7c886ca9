#include "tests/integration/module_upload.h"

#include <grpcpp/grpcpp.h>

#include "base/fingerprint.h"
#include "proto/v1/plans.grpc.pb.h"

namespace meshwright::integration {

absl::Status PutModule(const std::string& address, const std::string& module) {
  constexpr size_t kChunkBytes = size_t{1} << 20;
  const auto stub = v1::Modules::NewStub(
      grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  v1::PutModuleResponse response;
  const auto writer = stub->Put(&context, &response);
  v1::ModuleChunk chunk;
  chunk.set_sha256(base::Sha256Hex(module));
  chunk.set_module_bytes(static_cast<int64_t>(module.size()));
  for (size_t at = 0; at < module.size(); at += kChunkBytes) {
    chunk.set_data(module.substr(at, kChunkBytes));
    if (!writer->Write(chunk)) break;  // Finish says why
    chunk.clear_sha256();
    chunk.clear_module_bytes();
  }
  writer->WritesDone();
  const grpc::Status status = writer->Finish();
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      status.error_message());
}

}  // namespace meshwright::integration
