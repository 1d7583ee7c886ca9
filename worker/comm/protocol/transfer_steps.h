// TransferSteps: how a strategy moves one slice, link by link.
//
// Concept: a step carries a range of the slice from one rank to another. A rank
// works off its outgoing steps in their order, chunk by chunk. It sends a chunk
// as soon as it holds all of it. The sender holds the slice, anybody else what
// earlier steps brought. With that, all strategies are lists:
//
//   send_receive       s>r1 all · s>r2 all · ...
//   broadcast          s>r1 all · r1>r2 all · r2>r3 all ...
//   global_all_gather  s>r1 part1 · s>r2 part2 ... · then a ring of r1 .. rn,
//                      each beginning with its own part
//   local_all_gather   the same within every node, node after node
//
// Parts differ by a byte at most; a rank that would get an empty part of a
// short slice stays in the ring.
// Ensures: every receiver gets every byte once, and holds what it passes on
// (transfer_steps_test.cc replays it).
// Source: papers/cross_mesh_resharding.txt, section 3.1 and Figure 3.
#ifndef MESHWRIGHT_WORKER_COMM_PROTOCOL_TRANSFER_STEPS_H_
#define MESHWRIGHT_WORKER_COMM_PROTOCOL_TRANSFER_STEPS_H_

#include <cstdint>
#include <vector>

#include "worker/comm/protocol/plan.h"

namespace meshwright::worker::comm {

struct TransferStep {
  int from = 0;  // hosts
  int to = 0;
  int64_t offset = 0;
  int64_t size_bytes = 0;  // never 0

  bool operator==(const TransferStep&) const = default;
};

// The receivers node by node (a node where its first rank stands, that of
// the sender first), so that a chain enters each node once.
std::vector<int> OrderChain(const Plan& plan, const Task& task);

std::vector<TransferStep> MakeTransferSteps(const Plan& plan, const Task& task);

}  // namespace meshwright::worker::comm

#endif  // MESHWRIGHT_WORKER_COMM_PROTOCOL_TRANSFER_STEPS_H_
