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
#include "coordinator/explain/recall.h"
#include "coordinator/jobs/recorded_device.h"
#include "coordinator/planning/choose_plan.h"
#include "coordinator/planning/plan_metadata.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/problem/memory_limit.h"
#include "coordinator/space/read_request.h"

namespace meshwright::explain {
namespace {

using space::Mesh;

constexpr int kMaxSteps = 3;
constexpr int64_t kMaximumDevices = 4096;

Mesh GetShape(const v1::MeshSpec& mesh) {
  return Mesh(mesh.shape().begin(), mesh.shape().end());
}

v1::MeshSpec GetMesh(const Mesh& shape) {
  v1::MeshSpec mesh;
  mesh.mutable_shape()->Assign(shape.begin(), shape.end());
  return mesh;
}

std::vector<Mesh> OneStepFrom(const Mesh& shape) {
  std::vector<Mesh> next;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] > 2 && shape[axis] % 2 == 0) {
      next.push_back(shape);
      next.back()[axis] /= 2;
    }
    if (shape[axis] > 1 && space::CountDevices(shape) <= kMaximumDevices / 2) {
      next.push_back(shape);
      next.back()[axis] *= 2;
    }
  }
  return next;
}

absl::StatusOr<v1::MeshSpec> CheckedMesh(const Mesh& shape) {
  v1::MeshSpec mesh = GetMesh(shape);
  RETURN_IF_ERROR(space::ReadMesh(mesh).status());
  return mesh;
}

bool SameMesh(const v1::MeshSpec& a, const v1::MeshSpec& b) {
  return GetShape(a) == GetShape(b);
}

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

  absl::Status Run(
      const std::map<space::ProgramId, space::ProgramId>& matches) {
    for (size_t p = 0; p < wanted_.space.programs.size(); ++p) {
      const v1::Program& program = wanted_.space.programs[p];
      const auto row = wanted_.results.find(program.key());
      if (row != wanted_.results.end()) {
        const v1::Outcome outcome = row->second.outcome();
        if (outcome == v1::MEASURED) Relink(row->second);
        // A program that fails to compile or to fit there fails here as well.
        if (outcome == v1::MEASURED || outcome == v1::COMPILE_FAILED ||
            outcome == v1::OUT_OF_MEMORY) {
          continue;
        }
        wanted_.results.erase(row);
      }
      const auto other = matches.find(space::ProgramId(p));
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
  auto built = formulation::BuildProblem(
      wanted.analysis, wanted.space, wanted.results,
      formulation::FindUsableBytes(request.device_memory_bytes()));
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

absl::StatusOr<v1::MeshSpec> ResizeMesh(const v1::MeshSpec& mesh,
                                        int64_t devices) {
  Mesh shape = GetShape(mesh);
  size_t axis = shape.size();
  while (axis > 1 && shape[axis - 1] == 1) --axis;
  if (shape[axis - 1] == 1) axis = shape.size();
  const int64_t others = space::CountDevices(shape) / shape[axis - 1];
  const std::string text = absl::StrJoin(shape, "x");
  if (devices % others != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(devices, " devices are no multiple of the ", others,
                     " that the other axes of ", text,
                     " have; write the whole mesh with --mesh"));
  }
  shape[axis - 1] = devices / others;
  return CheckedMesh(shape);
}

std::vector<v1::MeshSpec> ListMeshesNear(const v1::MeshSpec& mesh) {
  std::vector<v1::MeshSpec> near;
  std::set<Mesh> seen = {GetShape(mesh)};
  std::vector<Mesh> ring = {GetShape(mesh)};
  for (int step = 0; step < kMaxSteps; ++step) {
    std::vector<Mesh> next;
    for (const Mesh& shape : ring) {
      for (Mesh& other : OneStepFrom(shape)) {
        if (!seen.insert(other).second) continue;
        near.push_back(GetMesh(other));
        next.push_back(std::move(other));
      }
    }
    ring = std::move(next);
  }
  return near;
}

absl::StatusOr<v1::Plan> AnswerWhatIf(const WhatIfQuestion& question,
                                      store::ProfileStore* store) {
  const v1::PlanRequest& request = question.request;
  if (!question.links.has_value()) {
    auto plan = RecallPlan(request, question.device, store);
    if (!absl::IsNotFound(plan.status())) return plan;
  }
  v1::PlanRequest measured = request;
  measured.clear_device_memory_bytes();
  for (const v1::MeshSpec& mesh : question.measured) {
    if (!question.links.has_value() && SameMesh(mesh, request.mesh())) {
      continue;
    }
    *measured.mutable_mesh() = mesh;
    const auto known = RecallStep(measured, question.device, store);
    if (absl::IsNotFound(known.status())) continue;
    if (!known.ok()) return known.status();
    ASSIGN_OR_RETURN(const planning::MeasuredStep step,
                     EstimateStep(*known, request, question.links, store));
    return planning::ChoosePlan(request, step);
  }
  const std::string mesh = absl::StrJoin(request.mesh().shape(), "x");
  return absl::NotFoundError(absl::StrCat(
      "the store holds no measurements of ", request.model_name(), " on mesh ",
      mesh, " or near it; measure it with `meshwright plan --mesh ", mesh,
      "`, or a smaller one first"));
}

absl::Status ApplyChange(const v1::WhatIfChange& change,
                         v1::PlanRequest& request) {
  if (change.device_memory_bytes() != 0) {
    request.set_device_memory_bytes(change.device_memory_bytes());
  }
  if (change.has_mesh()) {
    RETURN_IF_ERROR(space::ReadMesh(change.mesh()).status());
    *request.mutable_mesh() = change.mesh();
  }
  if (change.devices() != 0) {
    ASSIGN_OR_RETURN(*request.mutable_mesh(),
                     ResizeMesh(request.mesh(), change.devices()));
  }
  return absl::OkStatus();
}

absl::StatusOr<WhatIfQuestion> AskOfPlan(const v1::Plan& plan,
                                         std::string hlo_module) {
  WhatIfQuestion question;
  question.request = planning::RestoreRequest(plan, std::move(hlo_module));
  RETURN_IF_ERROR(space::ReadMesh(question.request.mesh()).status());
  ASSIGN_OR_RETURN(question.device, ReadDevice(plan));
  question.measured = {question.request.mesh()};
  return question;
}

absl::StatusOr<v1::Plan> AnswerChange(const v1::Plan& plan,
                                      std::string hlo_module,
                                      const v1::WhatIfChange& change,
                                      store::ProfileStore* store) {
  ASSIGN_OR_RETURN(WhatIfQuestion question,
                   AskOfPlan(plan, std::move(hlo_module)));
  RETURN_IF_ERROR(ApplyChange(change, question.request));
  return plan.has_pipeline()
             ? RecallStagedPlan(question.request, question.device, store)
             : AnswerWhatIf(question, store);
}

}  // namespace meshwright::explain
