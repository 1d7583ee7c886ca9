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

// Of a word like "NodeAddr=10.0.0.3"; empty: there is none.
std::string FindValue(absl::string_view line, absl::string_view key) {
  for (const absl::string_view word :
       absl::StrSplit(line, absl::ByAnyChar(" \n"))) {
    if (absl::StartsWith(word, key))
      return std::string(word.substr(key.size()));
  }
  return "";
}

// "gpu:a100:4(IDX:0-1,4-5),shard:8": 4.
int CountGpus(absl::string_view gres) {
  std::string plain;
  bool is_inside = false;
  for (const char c : gres) {
    is_inside = is_inside || c == '(';
    if (!is_inside) plain += c;
    is_inside = is_inside && c != ')';
  }
  int gpus = 0;
  for (const absl::string_view part : absl::StrSplit(plain, ',')) {
    const std::vector<absl::string_view> words = absl::StrSplit(part, ':');
    int count = 0;
    if (words[0] == "gpu" && absl::SimpleAtoi(words.back(), &count)) {
      gpus += count;
    }
  }
  return gpus;
}

absl::StatusOr<std::vector<std::string>> ListNodes(const AskProgram& ask,
                                                   const std::string& list) {
  ASSIGN_OR_RETURN(const std::string names,
                   ask({"scontrol", "show", "hostnames", list}));
  return absl::StrSplit(names, '\n', absl::SkipWhitespace());
}

// Nodes may have unlike numbers, of which the environment has this node's.
absl::Status ReadGpus(const ReadVariable& variable, const AskProgram& ask,
                      Allocation& allocation) {
  allocation.gpus_by_task =
      !variable("SLURM_GPUS").empty() ||
      !variable("SLURM_GPUS_PER_TASK").empty() ||
      absl::StrContains(variable("SLURM_TRES_PER_TASK"), "gpu");
  const auto job =
      ask({"scontrol", "--details", "show", "job", allocation.job});
  for (const absl::string_view line :
       absl::StrSplit(job.ok() ? *job : std::string(), '\n')) {
    const int gpus = CountGpus(FindValue(line, "GRES="));
    const std::string list = FindValue(line, "Nodes=");
    if (gpus == 0 || list.empty()) continue;
    ASSIGN_OR_RETURN(const std::vector<std::string> nodes,
                     ListNodes(ask, list));
    allocation.gpus_per_node = std::max(allocation.gpus_per_node, gpus);
    allocation.gpus += gpus * static_cast<int>(nodes.size());
  }
  if (allocation.gpus > 0) return absl::OkStatus();
  allocation.gpus_per_node = ReadLeast(variable("SLURM_GPUS_ON_NODE"));
  allocation.gpus =
      allocation.gpus_per_node * static_cast<int>(allocation.nodes.size());
  return absl::OkStatus();
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
  ASSIGN_OR_RETURN(allocation.nodes, ListNodes(ask, list));
  ASSIGN_OR_RETURN(const std::string node,
                   ask({"scontrol", "--oneliner", "show", "node", here}));
  allocation.address = FindValue(node, "NodeAddr=");
  if (allocation.nodes.empty() || allocation.address.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "scontrol names no nodes of job ", allocation.job, " or no address of ",
        here, "; see scontrol show node ", here));
  }
  allocation.folder = variable("SLURM_SUBMIT_DIR");
  RETURN_IF_ERROR(ReadGpus(variable, ask, allocation));
  allocation.processors_per_node =
      std::max(ReadLeast(variable("SLURM_JOB_CPUS_PER_NODE")), 1);
  return allocation;
}

}  // namespace meshwright::cli
