#include "worker/comm/transport/nccl_channels.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "worker/comm/protocol/frame.h"

namespace meshwright::worker::comm {
namespace {

class NcclChannel : public DeviceChannel {
 public:
  NcclChannel(const NcclLibrary& nccl, const CudaDriver& cuda, void* context,
              bool sends)
      : nccl_(nccl), cuda_(cuda), context_(context), sends_(sends) {}

  ~NcclChannel() override {
    Abort();
    if (buffer_ != 0) cuda_.free(buffer_);
    if (stream_ != nullptr) cuda_.stream_destroy(stream_);
  }

  absl::Status Connect(const NcclId& id) {
    RETURN_IF_ERROR(Enter());
    RETURN_IF_ERROR(cuda_.ToStatus(
        cuda_.stream_create(&stream_, CudaDriver::kNonBlockingStream),
        "making a stream"));
    RETURN_IF_ERROR(cuda_.ToStatus(cuda_.allocate(&buffer_, kMaxChunkBytes),
                                   "taking memory for a chunk"));
    NcclConfig config;
    return nccl_.ToStatus(
        nccl_.comm_init(&comm_, 2, id, sends_ ? 0 : 1, &config),
        "connecting two GPUs");
  }

  absl::Status Send(std::span<const std::byte> bytes) override {
    RETURN_IF_ERROR(Enter());
    RETURN_IF_ERROR(cuda_.ToStatus(
        cuda_.copy_to_device(buffer_, bytes.data(), bytes.size(), stream_),
        "copying a chunk to the GPU"));
    under_way_ = true;
    return nccl_.ToStatus(
        nccl_.send(reinterpret_cast<const void*>(buffer_), bytes.size(),
                   NcclLibrary::kUint8, 1, comm_, stream_),
        "sending a chunk");
  }

  absl::Status Receive(std::span<std::byte> bytes) override {
    RETURN_IF_ERROR(Enter());
    place_ = bytes;
    under_way_ = true;
    return nccl_.ToStatus(
        nccl_.receive(reinterpret_cast<void*>(buffer_), bytes.size(),
                      NcclLibrary::kUint8, 0, comm_, stream_),
        "receiving a chunk");
  }

  absl::StatusOr<bool> Idle() override {
    if (comm_ == nullptr) return absl::CancelledError("the channel was cut");
    int state = 0;
    RETURN_IF_ERROR(nccl_.ToStatus(nccl_.comm_async_error(comm_, &state),
                                   "telling how it is"));
    RETURN_IF_ERROR(nccl_.ToStatus(state, "moving a chunk between GPUs"));
    if (state == NcclLibrary::kInProgress) return false;
    if (!under_way_) return true;
    RETURN_IF_ERROR(Enter());
    const int stream = cuda_.stream_query(stream_);
    if (stream == CudaDriver::kNotReady) return false;
    RETURN_IF_ERROR(cuda_.ToStatus(stream, "moving a chunk between GPUs"));
    if (!sends_) {
      RETURN_IF_ERROR(cuda_.ToStatus(
          cuda_.copy_to_host(place_.data(), buffer_, place_.size()),
          "copying a chunk from the GPU"));
    }
    under_way_ = false;
    return true;
  }

  void Abort() override {
    if (comm_ == nullptr || !Enter().ok()) return;
    nccl_.comm_abort(comm_);
    comm_ = nullptr;
  }

 private:
  absl::Status Enter() const {
    return cuda_.ToStatus(cuda_.context_set(context_), "choosing the GPU");
  }

  const NcclLibrary& nccl_;
  const CudaDriver& cuda_;
  void* const context_;
  const bool sends_;
  void* comm_ = nullptr;
  void* stream_ = nullptr;
  uint64_t buffer_ = 0;
  std::span<std::byte> place_;
  bool under_way_ = false;
};

}  // namespace

NcclChannels::NcclChannels(std::shared_ptr<const NcclLibrary> nccl,
                           std::shared_ptr<const CudaDriver> cuda, int device,
                           void* context)
    : nccl_(std::move(nccl)),
      cuda_(std::move(cuda)),
      device_(device),
      context_(context) {}

NcclChannels::~NcclChannels() { cuda_->context_release(device_); }

absl::StatusOr<std::unique_ptr<NcclChannels>> NcclChannels::Create(
    int device, const std::string& path) {
  ASSIGN_OR_RETURN(auto nccl, NcclLibrary::Load(path));
  ASSIGN_OR_RETURN(auto cuda, CudaDriver::Load());
  RETURN_IF_ERROR(cuda->ToStatus(cuda->init(0), "starting"));
  int count = 0, handle = 0;
  RETURN_IF_ERROR(
      cuda->ToStatus(cuda->device_count(&count), "counting its GPUs"));
  if (device < 0 || device >= count) {
    return absl::InvalidArgumentError(absl::StrCat("there is no GPU ", device,
                                                   " here; this host has ",
                                                   count, ", counted from 0"));
  }
  RETURN_IF_ERROR(
      cuda->ToStatus(cuda->device_get(&handle, device), "naming a GPU"));
  void* context = nullptr;
  RETURN_IF_ERROR(
      cuda->ToStatus(cuda->context_retain(&context, handle), "opening a GPU"));
  return std::unique_ptr<NcclChannels>(
      new NcclChannels(std::move(nccl), std::move(cuda), handle, context));
}

absl::StatusOr<std::string> NcclChannels::NewId() {
  NcclId id;
  RETURN_IF_ERROR(
      nccl_->ToStatus(nccl_->get_unique_id(&id), "naming a connection"));
  return std::string(id.bytes, sizeof(id.bytes));
}

absl::StatusOr<std::unique_ptr<DeviceChannel>> NcclChannels::Open(
    const std::string& id, bool sends) {
  NcclId named;
  if (id.size() != sizeof(named.bytes)) {
    return absl::DataLossError("the name of a GPU connection is cut short");
  }
  std::memcpy(named.bytes, id.data(), sizeof(named.bytes));
  auto channel = std::make_unique<NcclChannel>(*nccl_, *cuda_, context_, sends);
  RETURN_IF_ERROR(channel->Connect(named));
  return channel;
}

}  // namespace meshwright::worker::comm
