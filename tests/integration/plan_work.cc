#include "tests/integration/plan_work.h"

#include <utility>

#include "base/status_macros.h"
#include "coordinator/export/whole_model.h"
#include "tests/integration/cpu_client.h"
#include "tests/integration/plan_outputs.h"
#include "worker/pjrt/collectives.h"

namespace meshwright {
namespace {

// The work of one run of a program on one device.
struct Work {
  std::map<std::string, double> sent;  // bytes by kind
  worker::pjrt::CompilerCosts costs;
};

absl::StatusOr<Work> CountWork(const v1::Program& program) {
  ASSIGN_OR_RETURN(const worker::pjrt::Client* const client, CpuClient());
  ASSIGN_OR_RETURN(
      const auto executable,
      client->Compile(program.hlo_module(), program.num_partitions()));
  Work work;
  ASSIGN_OR_RETURN(work.costs, executable->Costs());
  ASSIGN_OR_RETURN(const hlo::HloModuleProto optimized,
                   executable->OptimizedModule());
  for (const v1::Collective& it :
       worker::pjrt::FindCollectives(optimized, program.num_partitions())) {
    work.sent[it.kind()] += static_cast<double>(it.bytes() * it.count());
  }
  return work;
}

// By program of the space, how often a step with this choice counts it.
std::map<space::ProgramId, double> Counted(const segmenter::Analysis& analysis,
                                           const space::ProfileSpace& space,
                                           const space::SegmentChoice& choice) {
  std::map<space::ProgramId, double> counted;
  for (size_t s = 0; s < choice.size(); ++s) {
    const auto& type = space.types[analysis.type_of_segment[s]];
    const auto program = type.configurations[choice[s]].program;
    if (program.has_value()) ++counted[*program];
  }
  for (const auto& [edge, boundary] : space.edges) {
    for (const space::ProgramId program :
         space.boundaries[boundary]
             .programs[choice[edge.first]][choice[edge.second]]) {
      ++counted[program];
    }
  }
  return counted;
}

class Comparison {
 public:
  Comparison(const segmenter::Analysis& analysis,
             const space::ProfileSpace& space)
      : analysis_(analysis), space_(space) {}

  PlanWork Compare(const exporting::NamedChoice& plan) {
    PlanWork out;
    out.plan = plan.name;
    Add(exporting::MakeWholeProgram(analysis_, space_, plan.choice),
        &Amount::step, 1, out);
    for (const auto& [program, count] :
         Counted(analysis_, space_, plan.choice)) {
      Add(space_.programs[program], &Amount::parts, count, out);
    }
    return out;
  }

 private:
  void Add(const v1::Program& program, double Amount::*side, double count,
           PlanWork& out) {
    auto [found, added] = work_.try_emplace(program.key(), Work());
    if (added) found->second = CountWork(program);
    const absl::StatusOr<Work>& work = found->second;
    if (!work.ok()) {
      out.failure = work.status().ToString();
      return;
    }
    for (const auto& [kind, bytes] : work->sent) {
      out.sent[kind].*side += count * bytes;
    }
    out.operations.*side += count * work->costs.flops;
    out.functions.*side += count * work->costs.transcendentals;
    out.accessed.*side += count * work->costs.bytes_accessed;
  }

  const segmenter::Analysis& analysis_;
  const space::ProfileSpace& space_;
  std::map<std::string, absl::StatusOr<Work>> work_;  // by key
};

}  // namespace

Amount PlanWork::Sent() const {
  Amount total;
  for (const auto& [kind, bytes] : sent) {
    total.step += bytes.step;
    total.parts += bytes.parts;
  }
  return total;
}

absl::StatusOr<std::vector<PlanWork>> ComparePlanWork(
    const std::string& module, const space::Mesh& mesh,
    const segmenter::StrategyRequest& request, int random_plans,
    uint64_t seed) {
  ASSIGN_OR_RETURN(const OpenedStep step,
                   OpenForPlans(module, mesh, request, random_plans, seed));
  if (!step.analysis.module.loops.empty()) {
    return absl::UnimplementedError(
        "the step has loops, of whose trips a compiled program tells nothing");
  }
  Comparison comparison(step.analysis, step.space);
  std::vector<PlanWork> compared;
  for (exporting::NamedChoice plan : step.plans) {
    // Of two splits of one parameter nothing counts the way between.
    if (plan.name == "random") {
      exporting::MakeConsistent(step.analysis, step.space, plan.choice);
    }
    compared.push_back(comparison.Compare(plan));
  }
  return compared;
}

}  // namespace meshwright
