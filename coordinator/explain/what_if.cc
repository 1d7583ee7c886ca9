#include "coordinator/explain/what_if.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "coordinator/estimation/cross_mesh_estimate.h"
#include "coordinator/estimation/program_matching.h"
#include "coordinator/jobs/recorded_device.h"
#include "coordinator/planning/plan_pipeline.h"

namespace meshwright::explain {
namespace {

using space::Mesh;

std::string Name(const Mesh& mesh) { return absl::StrJoin(mesh, "x"); }

// Whether the measured mesh can estimate the other at all.
absl::Status CheckMeshes(const Mesh& known, const Mesh& wanted) {
  if (known.size() != wanted.size()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the measured mesh ", Name(known), " has ", known.size(), " axes and ",
        Name(wanted), " has ", wanted.size(),
        ", so that its times cannot be estimated; write it with ", known.size(),
        " axes, or measure it with `meshwright plan --mesh ", Name(wanted),
        "`"));
  }
  for (size_t axis = 0; axis < known.size(); ++axis) {
    if (known[axis] > 1 || wanted[axis] == 1) continue;
    Mesh enough = known;
    enough[axis] = 2;
    return absl::FailedPreconditionError(absl::StrCat(
        "axis ", axis, " has one device on the measured mesh ", Name(known),
        ", so that its collectives cannot be estimated on ", Name(wanted),
        "; measure one that has two there, with `meshwright plan --mesh ",
        Name(enough), "`"));
  }
  return absl::OkStatus();
}

class Estimating {
 public:
  Estimating(const planning::MeasuredStep& known,
             const std::optional<base::Links>& links,
             planning::MeasuredStep& wanted)
      : known_(known), links_(links), wanted_(wanted) {}

  absl::Status Run(const std::map<int, int>& matches) {
    for (size_t p = 0; p < wanted_.space.programs.size(); ++p) {
      const v1::Program& program = wanted_.space.programs[p];
      const auto row = wanted_.results.find(program.key());
      if (row != wanted_.results.end()) {
        const v1::Outcome outcome = row->second.outcome();
        if (outcome == v1::MEASURED) Relink(row->second);
        // What cannot be compiled or does not fit, cannot here either.
        if (outcome == v1::MEASURED || outcome == v1::COMPILE_FAILED ||
            outcome == v1::OUT_OF_MEMORY) {
          continue;
        }
        wanted_.results.erase(row);
      }
      const auto other = matches.find(static_cast<int>(p));
      if (other == matches.end()) continue;
      RETURN_IF_ERROR(Scale(program, known_.space.programs[other->second]));
    }
    wanted_.programs.set_cached(measured_);
    wanted_.programs.set_estimated(estimated_);
    return absl::OkStatus();
  }

 private:
  // Other links do nothing to a program that does not communicate.
  void Relink(v1::ProfileResult& row) {
    v1::Measurement& measured = *row.mutable_measurement();
    if (!links_.has_value() || measured.collectives().empty()) {
      ++measured_;
      return;
    }
    const Mesh& mesh = wanted_.space.context.mesh;
    measured = estimation::EstimateAcrossMeshes(measured, {}, {},
                                                {mesh, mesh, links_});
    ++estimated_;
  }

  absl::Status Scale(const v1::Program& program, const v1::Program& other) {
    const auto row = known_.results.find(other.key());
    if (row == known_.results.end() || row->second.outcome() != v1::MEASURED) {
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const estimation::Work from, estimation::CountWork(other));
    ASSIGN_OR_RETURN(const estimation::Work to, estimation::CountWork(program));
    v1::ProfileResult& scaled = wanted_.results[program.key()];
    scaled.set_key(program.key());
    scaled.set_outcome(v1::MEASURED);
    *scaled.mutable_measurement() = estimation::EstimateAcrossMeshes(
        row->second.measurement(), from, to,
        {known_.space.context.mesh, wanted_.space.context.mesh, links_});
    ++estimated_;
    return absl::OkStatus();
  }

  const planning::MeasuredStep& known_;
  const std::optional<base::Links>& links_;
  planning::MeasuredStep& wanted_;
  int measured_ = 0;
  int estimated_ = 0;
};

// Notes for people on how rows are estimated.
void AddNotes(const planning::MeasuredStep& known,
              const std::optional<base::Links>& links,
              planning::MeasuredStep& wanted) {
  const Mesh& from = known.space.context.mesh;
  const Mesh& to = wanted.space.context.mesh;
  if (wanted.programs.estimated() == 0) return;
  std::string how;
  if (from != to) {
    how = absl::StrCat(": compute from mesh ", Name(from),
                       " by the work of one device, every device one of its "
                       "own");
  }
  absl::StrAppend(&how, from != to ? ", communication" : ": communication",
                  links.has_value()
                      ? " by the link table"
                      : " by the bytes that its collectives move");
  wanted.notes.push_back(
      absl::StrCat(wanted.programs.estimated(), " programs are estimated, ",
                   wanted.programs.cached(), " measured", how));
}

void NoteUnknown(planning::MeasuredStep& wanted) {
  int known = 0;
  int all = 0;
  for (size_t t = 0; t < wanted.space.types.size(); ++t) {
    const auto& usable = wanted.measured.usable[t];
    known +=
        static_cast<int>(std::set<int>(usable.begin(), usable.end()).size());
    all += static_cast<int>(wanted.space.types[t].configurations.size());
  }
  if (known == all) return;
  wanted.notes.push_back(absl::StrCat(
      all - known, " of ", all,
      " configurations of segments are not considered: nothing that was "
      "measured estimates their times"));
}

}  // namespace

absl::StatusOr<planning::MeasuredStep> EstimateStep(
    const planning::MeasuredStep& known, const v1::PlanRequest& request,
    const std::optional<base::Links>& links, store::ProfileStore* store) {
  jobs::RecordedDevice device(known.device);
  ASSIGN_OR_RETURN(planning::MeasuredStep wanted,
                   planning::OpenStep(request, &device));
  const Mesh& mesh = wanted.space.context.mesh;
  RETURN_IF_ERROR(CheckMeshes(known.space.context.mesh, mesh));
  std::vector<std::string> keys;
  for (const v1::Program& program : wanted.space.programs) {
    keys.push_back(program.key());
  }
  ASSIGN_OR_RETURN(wanted.results, store->Lookup(keys));
  const estimation::ProgramMatches matches = estimation::MatchPrograms(
      {known.analysis, known.space}, {wanted.analysis, wanted.space});
  RETURN_IF_ERROR(Estimating(known, links, wanted).Run(matches.programs));
  AddNotes(known, links, wanted);
  std::optional<int64_t> limit;
  if (request.device_memory_bytes() > 0) limit = request.device_memory_bytes();
  auto built = formulation::BuildProblem(wanted.analysis, wanted.space,
                                         wanted.results, limit);
  if (!built.ok()) {
    return absl::FailedPreconditionError(absl::StrCat(
        matches.have_every_type
            ? absl::StrCat(
                  "what was measured on mesh ", Name(known.space.context.mesh),
                  " leaves a segment without a configuration on ", Name(mesh))
            : absl::StrCat("mesh ", Name(mesh),
                           " cuts the step into segments that the measured ",
                           Name(known.space.context.mesh), " does not have"),
        "; measure it with `meshwright plan --mesh ", Name(mesh), "`"));
  }
  wanted.measured = *std::move(built);
  NoteUnknown(wanted);
  return wanted;
}

}  // namespace meshwright::explain
