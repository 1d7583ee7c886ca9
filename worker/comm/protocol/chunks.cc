#include "worker/comm/protocol/chunks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace meshwright::worker::comm {
namespace {

int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

double Alpha(const base::Link& link) {
  return std::max(link.alpha, static_cast<double>(kFrameBytes) * link.beta);
}

int LargestNode(const Plan& plan, const Task& task) {
  std::map<std::string_view, int> ranks;
  int largest = 1;
  for (const int receiver : task.receivers) {
    largest = std::max(largest, ++ranks[plan.hosts[receiver].node]);
  }
  return largest;
}

}  // namespace

double EstimatePipelineSeconds(int64_t bytes, int64_t chunks, int hops,
                               const base::Link& link) {
  const double each = Alpha(link) + static_cast<double>(bytes) * link.beta /
                                        static_cast<double>(chunks);
  return static_cast<double>(chunks + hops - 1) * each;
}

int64_t ChooseChunks(int64_t bytes, int hops, const base::Link& link) {
  const int64_t min_chunks = CeilDivide(bytes, kMaxChunkBytes);
  const int64_t max_chunks = std::max(min_chunks, bytes / kMinChunkBytes);
  const double streamed =
      static_cast<double>(hops - 1) * static_cast<double>(bytes) * link.beta;
  if (streamed <= 0) return min_chunks;
  const double ideal = std::sqrt(streamed / Alpha(link));
  if (!(ideal < static_cast<double>(max_chunks))) return max_chunks;
  // The model is convex in K, so that one of the neighbours is the least.
  const int64_t below =
      std::clamp(static_cast<int64_t>(ideal), min_chunks, max_chunks);
  const int64_t above = std::min(below + 1, max_chunks);
  return EstimatePipelineSeconds(bytes, above, hops, link) <
                 EstimatePipelineSeconds(bytes, below, hops, link)
             ? above
             : below;
}

int CountHops(const Plan& plan, const Task& task) {
  const int receivers = static_cast<int>(task.receivers.size());
  switch (task.strategy) {
    case Strategy::kSendReceive:
      return 1;
    case Strategy::kLocalAllGather:
      return LargestNode(plan, task);
    case Strategy::kGlobalAllGather:
    case Strategy::kBroadcast:
      return receivers;
  }
  return 1;
}

int64_t FindChunkBytes(const Plan& plan, const Task& task) {
  const int64_t chunks =
      task.chunks != 0
          ? task.chunks
          : ChooseChunks(task.size_bytes, CountHops(plan, task), plan.link);
  const double prompt = plan.deadline_seconds / 8 / plan.link.beta;
  const int64_t max_bytes =
      prompt < static_cast<double>(kMaxChunkBytes)
          ? std::max(static_cast<int64_t>(prompt), kMinChunkBytes)
          : kMaxChunkBytes;
  return std::min(CeilDivide(task.size_bytes, chunks), max_bytes);
}

}  // namespace meshwright::worker::comm
