#include "cli/slurm/allocation.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace meshwright::cli {
namespace {

// "4(x2),3": the least of these.
int ReadLeast(const std::string& text) {
  int least = 0;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    int count = 0;
    const absl::string_view number = part.substr(0, part.find('('));
    if (!absl::SimpleAtoi(number, &count)) continue;
    least = least == 0 ? count : std::min(least, count);
  }
  return least;
}

// NodeAddr of one line of `scontrol --oneliner show node`.
std::string FindAddress(const std::string& line) {
  constexpr absl::string_view kKey = "NodeAddr=";
  for (const absl::string_view word :
       absl::StrSplit(line, absl::ByAnyChar(" \n"))) {
    if (absl::StartsWith(word, kKey)) {
      return std::string(word.substr(kKey.size()));
    }
  }
  return "";
}

}  // namespace

absl::StatusOr<Allocation> ReadAllocation(const ReadVariable& variable,
                                          const AskProgram& ask) {
  Allocation allocation;
  allocation.job = variable("SLURM_JOB_ID");
  const std::string list = variable("SLURM_JOB_NODELIST");
  if (allocation.job.empty() || list.empty()) {
    return absl::FailedPreconditionError(
        "--slurm works inside an allocation of Slurm; submit a script with "
        "sbatch, or use meshwright up without it");
  }
  const std::string here = variable("SLURMD_NODENAME");
  if (here.empty()) {
    return absl::FailedPreconditionError(
        "this machine is no node of the job, as in a shell of salloc; start it "
        "with srun --overlap --nodes 1 --ntasks 1 meshwright up --slurm");
  }
  ASSIGN_OR_RETURN(const std::string names,
                   ask({"scontrol", "show", "hostnames", list}));
  allocation.nodes = absl::StrSplit(names, '\n', absl::SkipWhitespace());
  ASSIGN_OR_RETURN(const std::string node,
                   ask({"scontrol", "--oneliner", "show", "node", here}));
  allocation.address = FindAddress(node);
  if (allocation.nodes.empty() || allocation.address.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "scontrol names no nodes of job ", allocation.job, " or no address of ",
        here, "; see scontrol show node ", here));
  }
  allocation.folder = variable("SLURM_SUBMIT_DIR");
  allocation.gpus_per_node = ReadLeast(variable("SLURM_GPUS_ON_NODE"));
  allocation.processors_per_node =
      std::max(ReadLeast(variable("SLURM_JOB_CPUS_PER_NODE")), 1);
  return allocation;
}

}  // namespace meshwright::cli
