// Whether plans need the memory that is predicted, for any number of steps.
//
//   build/release/bin/memory_bench [--mesh 1x2] [--open] [--random 10]
//       [--seed 1] [--rows FILE] [--plans] FILE...
//
// Compiles every program of a step's segments, predicts the peak memory of the
// baselines and of random plans, and compiles the whole step of each. Nothing
// runs, so the machine need not be quiet. Prints per step the errors, predicted
// over compiled; --plans: those of every plan, and the parts of both sums.
// --rows keeps in FILE what was compiled, for later runs. The exit status is 1
// if a step does not compile.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "coordinator/export/whole_model.h"
#include "coordinator/problem/memory_limit.h"
#include "coordinator/problem/peak_timeline.h"
#include "coordinator/problem/plan_problem.h"
#include "coordinator/selection/choice_programs.h"
#include "google/protobuf/io/zero_copy_stream_impl.h"
#include "google/protobuf/util/delimited_message_util.h"
#include "planner/problem/evaluate.h"
#include "tests/bench/figure.h"
#include "tests/bench/step_flags.h"
#include "worker/sandbox/runner_process.h"

namespace meshwright {
namespace {

// The compiler assigns buffers before LLVM's passes run.
constexpr char kQuickCompiles[] = "--xla_backend_optimization_level=0";
constexpr int kMaxDraws = 100;  // for one random plan that is predicted

struct MemoryFlags {
  StepFlags step;
  std::string rows;
  bool plans = false;
};

struct PlanMemory {
  std::string plan;
  problem::Config predicted;  // sums over its segments; the largest transient
  int64_t predicted_bytes = 0;
  v1::DeviceMemory compiled;

  double Error() const {
    return static_cast<double>(predicted_bytes) /
               static_cast<double>(compiled.peak_bytes()) -
           1;
  }
  // On the smallest device that the plan is said to fit.
  bool Fits() const {
    return compiled.peak_bytes() <=
           formulation::FindDeviceMemoryBytes(predicted_bytes);
  }
};

// The memory of programs, which are compiled once.
class CompiledRows {
 public:
  explicit CompiledRows(const std::string& file) : file_(file) {
    std::ifstream in(file);
    google::protobuf::io::IstreamInputStream stream(&in);
    v1::ProfileResult row;
    while (google::protobuf::util::ParseDelimitedFromZeroCopyStream(
        &row, &stream, nullptr)) {
      rows_[row.key()] = std::move(row);
      row.Clear();
    }
  }

  absl::Status Compile(const std::vector<v1::Program>& programs,
                       v1::RunnerRequest request) {
    request.mutable_options()->set_xla_flags(kQuickCompiles);
    for (const v1::Program& program : programs) {
      if (rows_.contains(program.key())) continue;
      v1::Program& it = *request.add_programs();
      it = program;
      it.set_compile_only(true);
    }
    if (request.programs().empty()) return absl::OkStatus();
    std::ofstream out(file_, std::ios::app);
    return worker::sandbox::RunBatch(
        request,
        [&](const v1::RunnerEvent& event) {
          if (!event.has_result()) return;
          v1::ProfileResult row = event.result();
          row.mutable_measurement()->set_minimum_ns(1);  // nothing is timed
          google::protobuf::util::SerializeDelimitedToOstream(row, &out);
          out.flush();
          rows_[row.key()] = std::move(row);
        },
        {});
  }

  const store::Results& rows() const { return rows_; }

 private:
  const std::string file_;
  store::Results rows_;
};

class StepMemory {
 public:
  StepMemory(const OpenedStep& step, const StepFlags& flags, CompiledRows& rows)
      : step_(step), flags_(flags), rows_(rows) {}

  absl::StatusOr<std::vector<PlanMemory>> Compare() {
    RETURN_IF_ERROR(MakeProblem());
    std::vector<PlanMemory> plans;
    std::vector<v1::Program> programs;
    std::set<std::string> keys;
    for (const exporting::NamedChoice& plan : ChoosePlans()) {
      v1::Program program =
          exporting::MakeWholeProgram(step_.analysis, step_.space, plan.choice);
      if (!keys.insert(program.key()).second) continue;
      ASSIGN_OR_RETURN(plans.emplace_back(), Predict(plan));
      programs.push_back(std::move(program));
    }
    RETURN_IF_ERROR(rows_.Compile(programs, OneRun(flags_.mesh)));
    for (size_t i = 0; i < plans.size(); ++i) {
      const v1::ProfileResult& row = rows_.rows().at(programs[i].key());
      if (row.outcome() != v1::MEASURED) {
        return absl::InternalError(plans[i].plan + ": " + row.reason());
      }
      plans[i].compiled = row.measurement().memory();
    }
    return plans;
  }

 private:
  // Resharding between segments counts no bytes, so that it takes any row.
  absl::Status MakeProblem() {
    std::set<space::ProgramId> wanted;
    for (const space::SegmentType& type : step_.space.types) {
      for (const space::Configuration& it : type.configurations) {
        const auto programs = selection::ListPrograms(it);
        wanted.insert(programs.begin(), programs.end());
      }
    }
    std::vector<v1::Program> programs;
    for (const space::ProgramId id : wanted) {
      programs.push_back(step_.space.programs[id]);
    }
    RETURN_IF_ERROR(rows_.Compile(programs, OneRun(flags_.mesh)));
    store::Results results = rows_.rows();
    for (const v1::Program& program : step_.space.programs) {
      v1::ProfileResult& row = results[program.key()];
      if (!row.key().empty()) continue;
      row.set_outcome(v1::MEASURED);
      row.mutable_measurement()->set_minimum_ns(1);
    }
    ASSIGN_OR_RETURN(measured_,
                     formulation::BuildProblem(step_.analysis, step_.space,
                                               results, std::nullopt));
    return absl::OkStatus();
  }

  absl::StatusOr<PlanMemory> Predict(const exporting::NamedChoice& plan) const {
    PlanMemory out;
    out.plan = plan.name;
    ASSIGN_OR_RETURN(const problem::Choice choice,
                     formulation::FromSegments(step_.analysis, step_.space,
                                               measured_, plan.choice));
    RETURN_IF_ERROR(problem::Evaluate(measured_.problem, choice).status());
    out.predicted_bytes = formulation::FindPeakBytes(measured_, choice);
    for (size_t n = 0; n < choice.size(); ++n) {
      const int type = measured_.problem.nodes[n].type;
      for (const int c : choice[n]) {
        const problem::Config& it = measured_.problem.types[type].configs[c];
        out.predicted.persistent_bytes += it.persistent_bytes;
        out.predicted.saved_bytes += it.saved_bytes;
        out.predicted.transient_bytes =
            std::max(out.predicted.transient_bytes, it.transient_bytes);
      }
    }
    return out;
  }

  // As `validate` chooses them; those that are not predicted are left out.
  std::vector<exporting::NamedChoice> ChoosePlans() const {
    std::vector<exporting::NamedChoice> plans;
    for (const exporting::NamedChoice& it : step_.plans) {
      if (Predict(it).ok()) plans.push_back(it);
    }
    std::mt19937_64 random(flags_.seed);
    for (int i = 0; i < flags_.random_plans; ++i) {
      exporting::NamedChoice plan;
      plan.name = absl::StrFormat("random %d", i + 1);
      for (int draw = 0; draw < kMaxDraws; ++draw) {
        plan.choice = Draw(random);
        if (!Predict(plan).ok()) continue;
        plans.push_back(std::move(plan));
        break;
      }
    }
    return plans;
  }

  space::SegmentChoice Draw(std::mt19937_64& random) const {
    space::SegmentChoice choice;
    for (segmenter::SegmentTypeId type : step_.analysis.type_of_segment) {
      std::vector<int> usable = measured_.usable[type];
      std::erase_if(usable, [&](int c) {
        return step_.space.types[type].configurations[c].role.InGroup();
      });
      choice.push_back(usable[random() % usable.size()]);
    }
    exporting::MakeConsistent(step_.analysis, step_.space, choice);
    return choice;
  }

  const OpenedStep& step_;
  const StepFlags& flags_;
  CompiledRows& rows_;
  formulation::MeasuredProblem measured_;
};

// Of an ascending vector, the nearest rank.
double Quantile(const std::vector<double>& sorted, double share) {
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

std::vector<double> SortedSizes(const std::vector<PlanMemory>& plans) {
  std::vector<double> sizes;
  for (const PlanMemory& it : plans) sizes.push_back(std::abs(it.Error()));
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

void PrintPlan(const PlanMemory& it) {
  const auto kib = [](int64_t bytes) {
    return static_cast<double>(bytes) / 1024;
  };
  std::printf(
      "  %-12s %+7.1f %%  persistent %9.1f  saved %9.1f  transient %9.1f  "
      "arguments %9.1f  outputs %9.1f  temporaries %9.1f\n",
      it.plan.c_str(), 100 * it.Error(), kib(it.predicted.persistent_bytes),
      kib(it.predicted.saved_bytes), kib(it.predicted.transient_bytes),
      kib(it.compiled.argument_bytes()),
      kib(it.compiled.output_bytes() - it.compiled.alias_bytes()),
      kib(it.compiled.temporary_bytes()));
}

absl::Status Report(const std::string& file, const MemoryFlags& flags,
                    CompiledRows& rows, std::vector<PlanMemory>& all) {
  ASSIGN_OR_RETURN(const std::string bytes, base::ReadFile(file));
  ASSIGN_OR_RETURN(const OpenedStep step,
                   OpenForPlans(bytes, flags.step.mesh, flags.step.Strategies(),
                                0, flags.step.seed));
  ASSIGN_OR_RETURN(const std::vector<PlanMemory> plans,
                   StepMemory(step, flags.step, rows).Compare());
  const std::vector<double> sizes = SortedSizes(plans);
  double lowest = 0;
  double highest = 0;
  for (const PlanMemory& it : plans) {
    lowest = std::min(lowest, it.Error());
    highest = std::max(highest, it.Error());
  }
  std::printf("%-28s %5zu %8.1f %8.1f %+8.1f %+8.1f\n",
              file.substr(file.rfind('/') + 1).c_str(), plans.size(),
              100 * Quantile(sizes, 0.5), 100 * Quantile(sizes, 0.95),
              100 * lowest, 100 * highest);
  if (flags.plans) std::for_each(plans.begin(), plans.end(), PrintPlan);
  std::fflush(stdout);
  all.insert(all.end(), plans.begin(), plans.end());
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  CLI::App app("predicted memory of plans beside that of whole steps");
  MemoryFlags flags;
  flags.step.random_plans = 10;
  AddStepFlags(app, flags.step);
  app.add_option("--rows", flags.rows);
  app.add_flag("--plans", flags.plans);
  CLI11_PARSE(app, argc, argv);
  std::printf("%-28s %5s %8s %8s %8s %8s\n", "step", "plans", "median %",
              "p95 %", "lowest %", "highest %");
  CompiledRows rows(flags.rows);
  std::vector<PlanMemory> all;
  bool good = true;
  for (const std::string& file : flags.step.files) {
    const absl::Status status = Report(file, flags, rows, all);
    if (status.ok()) continue;
    std::printf("%-28s %s\n", file.c_str(), status.ToString().c_str());
    good = false;
  }
  if (all.empty()) return 1;
  const std::vector<double> sizes = SortedSizes(all);
  const std::string what =
      absl::StrFormat("%d steps on %s, %d plans", flags.step.files.size(),
                      absl::StrJoin(flags.step.mesh, "x"), all.size());
  PrintFigure(what + ": peak memory predicted, median error", "≤ 3 %",
              absl::StrFormat("%.1f %%", 100 * Quantile(sizes, 0.5)));
  PrintFigure(what + ": peak memory predicted, p95 of error", "≤ 6 %",
              absl::StrFormat("%.1f %%", 100 * Quantile(sizes, 0.95)));
  const auto misfits = std::count_if(
      all.begin(), all.end(), [](const PlanMemory& it) { return !it.Fits(); });
  PrintFigure(what + ": said to fit and do not", "0",
              absl::StrFormat("%d", misfits));
  return good ? 0 : 1;
}

}  // namespace
}  // namespace meshwright

int main(int argc, char** argv) { return meshwright::Main(argc, argv); }
