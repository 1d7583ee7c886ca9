#include "tests/integration/plan_collectives.h"

#include <utility>

#include "base/status_macros.h"
#include "coordinator/export/whole_model.h"
#include "tests/integration/plan_outputs.h"
#include "worker/runner/runner_process.h"

namespace meshwright {
namespace {

using Results = std::map<std::string, v1::ProfileResult>;  // by key

// By program of the space, how often a step with this choice counts it.
std::map<int, double> Counted(const segmenter::Analysis& analysis,
                              const space::ProfileSpace& space,
                              const exporting::SegmentChoice& choice) {
  std::map<int, double> counted;
  for (size_t s = 0; s < choice.size(); ++s) {
    const auto& type = space.types[analysis.type_of_segment[s]];
    const int program = type.configurations[choice[s]].program;
    if (program >= 0) ++counted[program];
  }
  for (const auto& [edge, border] : space.edges) {
    for (int program : space.borders[border]
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

  void Add(const exporting::NamedChoice& plan) {
    Plan& it = plans_.emplace_back();
    it.name = plan.name;
    it.counted = Counted(analysis_, space_, plan.choice);
    v1::Program step = exporting::WholeProgram(analysis_, space_, plan.choice);
    it.key = step.key();
    Want(std::move(step));
    for (const auto& [program, count] : it.counted) {
      Want(space_.programs[program]);
    }
  }

  absl::StatusOr<std::vector<PlanCollectives>> Run() {
    v1::RunnerRequest job = OneRun(space_.context.mesh);
    for (auto& [key, program] : wanted_) *job.add_programs() = program;
    Results results;
    RETURN_IF_ERROR(worker::runner::RunBatch(job,
                                             [&](const v1::RunnerEvent& event) {
                                               if (!event.has_result()) return;
                                               results[event.result().key()] =
                                                   event.result();
                                             },
                                             {}));
    std::vector<PlanCollectives> compared;
    for (const Plan& plan : plans_) compared.push_back(Compare(plan, results));
    return compared;
  }

 private:
  struct Plan {
    std::string name;
    std::string key;
    std::map<int, double> counted;
  };

  void Want(v1::Program program) {
    program.set_compile_only(true);
    const std::string key = program.key();
    wanted_.emplace(key, std::move(program));
  }

  PlanCollectives Compare(const Plan& plan, const Results& results) const {
    PlanCollectives out;
    out.plan = plan.name;
    const auto add = [&](const std::string& key, double SentBytes::*side,
                         double count) {
      const auto found = results.find(key);
      if (found == results.end() || found->second.outcome() != v1::MEASURED) {
        out.failure = found == results.end() ? "a program has no result"
                                             : found->second.reason();
        return;
      }
      for (const v1::Collective& it :
           found->second.measurement().collectives()) {
        out.by_kind[it.kind()].*side +=
            count * static_cast<double>(it.bytes() * it.count());
      }
    };
    add(plan.key, &SentBytes::step, 1);
    for (const auto& [program, count] : plan.counted) {
      add(space_.programs[program].key(), &SentBytes::parts, count);
    }
    return out;
  }

  const segmenter::Analysis& analysis_;
  const space::ProfileSpace& space_;
  std::vector<Plan> plans_;
  std::map<std::string, v1::Program> wanted_;  // by key
};

}  // namespace

SentBytes PlanCollectives::Total() const {
  SentBytes total;
  for (const auto& [kind, bytes] : by_kind) {
    total.step += bytes.step;
    total.parts += bytes.parts;
  }
  return total;
}

absl::StatusOr<std::vector<PlanCollectives>> CompareCollectives(
    const std::string& module, const space::Mesh& mesh,
    const segmenter::StrategyRequest& request, int random_plans,
    uint64_t seed) {
  ASSIGN_OR_RETURN(const OpenedStep step,
                   OpenForPlans(module, mesh, request, random_plans, seed));
  if (!step.analysis.module.loops.empty()) {
    return absl::UnimplementedError(
        "the step has loops, of whose trips a program's collectives tell "
        "nothing");
  }
  Comparison comparison(step.analysis, step.space);
  for (exporting::NamedChoice plan : step.plans) {
    // Of two splits of one parameter nothing counts the way between.
    if (plan.name == "random") {
      exporting::Settle(step.analysis, step.space, plan.choice);
    }
    comparison.Add(plan);
  }
  return comparison.Run();
}

}  // namespace meshwright
