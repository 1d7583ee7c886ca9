// NcclChannels: DeviceChannels by NCCL, on one GPU of this host.
//
// Concept: a channel is a communicator of two ranks, the sender 0 and the
// receiver 1, with a stream and a buffer of its own. One communicator for all
// ranks would be less to set up, but works off its sends and receives one after
// the other. A ring of ranks would wait for itself. Slices are in host memory:
// what is sent is copied to the buffer first, what came is copied from it when
// it is whole. Calls do not block (NCCL 2.14), so that Abort always can. Not
// run on GPUs yet; device_transport_test.cc holds what does not need them.
// Errors: Create gives kFailedPrecondition for a library or driver that is not
// there, kInvalidArgument for a device that is not. Connecting gives kDataLoss
// for a peer whose name is cut short; a channel that was cut, kCancelled.
#ifndef MESHWRIGHT_WORKER_COMM_TRANSPORT_NCCL_CHANNELS_H_
#define MESHWRIGHT_WORKER_COMM_TRANSPORT_NCCL_CHANNELS_H_

#include <memory>
#include <string>

#include "worker/comm/transport/device_channels.h"
#include "worker/comm/transport/nccl_library.h"

namespace meshwright::worker::comm {

class NcclChannels : public DeviceChannels {
 public:
  // `path` as for NcclLibrary::Load.
  static absl::StatusOr<std::unique_ptr<NcclChannels>> Create(
      int device, const std::string& path = "");
  ~NcclChannels() override;

  absl::StatusOr<std::string> NewId() override;
  absl::StatusOr<std::unique_ptr<DeviceChannel>> Open(const std::string& id,
                                                      bool sends) override;

 private:
  NcclChannels(std::shared_ptr<const NcclLibrary> nccl,
               std::shared_ptr<const CudaDriver> cuda, int device,
               void* context);

  const std::shared_ptr<const NcclLibrary> nccl_;
  const std::shared_ptr<const CudaDriver> cuda_;
  const int device_;
  void* const context_;
};

}  // namespace meshwright::worker::comm

#endif  // MESHWRIGHT_WORKER_COMM_TRANSPORT_NCCL_CHANNELS_H_
