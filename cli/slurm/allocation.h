// Allocation: the nodes that Slurm gave to the job this process runs in.
//
// Concept: the environment of the job says which nodes; `scontrol` names them
// one by one and knows where Slurm itself reaches each. That address, not the
// node's name, is given to workers: it need not be in anybody's DNS.
// Errors: kFailedPrecondition, one sentence with the way out, outside a job or
// on a machine that is not of it; those of RunProgram (programs.h).
#ifndef MESHWRIGHT_CLI_SLURM_ALLOCATION_H_
#define MESHWRIGHT_CLI_SLURM_ALLOCATION_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright::cli {

struct Allocation {
  std::string job;
  std::vector<std::string> nodes;
  std::string address;          // of this node, as the others reach it
  std::string folder;           // where the job was submitted
  int gpus_per_node = 0;        // the most of all nodes
  int gpus = 0;                 // of all nodes together
  bool gpus_by_task = false;    // the job asked for them a task, or in all
  int processors_per_node = 1;  // the least of all nodes
};

// Empty where the variable is not set.
using ReadVariable = std::function<std::string(const char* name)>;
// What the program prints.
using AskProgram = std::function<absl::StatusOr<std::string>(
    const std::vector<std::string>& arguments)>;

absl::StatusOr<Allocation> ReadAllocation(const ReadVariable& variable,
                                          const AskProgram& ask);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_SLURM_ALLOCATION_H_
