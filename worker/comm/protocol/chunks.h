// ChooseChunks: into how many chunks a slice is cut.
//
// Concept: a chunk is forwarded once it is whole. Through `hops` links one
// after the other, K chunks take (K + hops - 1) (alpha + bytes beta / K). More
// chunks shorten the way to the last receiver, and each costs an alpha. The
// minimum lies at K = sqrt((hops - 1) bytes beta / alpha). The paper's 1 GB
// over three links of 10 Gb/s with an alpha of 0.1 ms makes 131. Alpha is what
// one more chunk costs, its header (frame.h) at least. A chunk holds 4 KiB at
// least (less is all header). It holds 8 MiB at most, so that a rank hears of a
// lost peer between two chunks.
// Source: papers/cross_mesh_resharding.txt, section 3.1, T^bc, with the alpha
// per chunk that it leaves out.
#ifndef MESHWRIGHT_WORKER_COMM_PROTOCOL_CHUNKS_H_
#define MESHWRIGHT_WORKER_COMM_PROTOCOL_CHUNKS_H_

#include <cstdint>

#include "worker/comm/protocol/frame.h"
#include "worker/comm/protocol/plan.h"

namespace meshwright::worker::comm {

inline constexpr int64_t kMinChunkBytes = int64_t{4} << 10;

// The seconds that the model gives.
double EstimatePipelineSeconds(int64_t bytes, int64_t chunks, int hops,
                               const base::Link& link);

// The K of least EstimatePipelineSeconds within the bounds; the smallest of
// equals.
int64_t ChooseChunks(int64_t bytes, int hops, const base::Link& link);

// How many links lie one after the other between the sender of a task and its
// last receiver.
int CountHops(const Plan& plan, const Task& task);

// ceil(size / chunks), with the task's own number of chunks where it has one.
// It is at most kMaxChunkBytes and at most what crosses the link in an eighth
// of the deadline. A chunk on its way must not look like a link that is down.
int64_t FindChunkBytes(const Plan& plan, const Task& task);

}  // namespace meshwright::worker::comm

#endif  // MESHWRIGHT_WORKER_COMM_PROTOCOL_CHUNKS_H_
