#include "coordinator/explain/suppose.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "coordinator/explain/recall.h"
#include "coordinator/explain/what_if.h"
#include "coordinator/planning/choose_plan.h"
#include "coordinator/space/read_request.h"

namespace meshwright::explain {
namespace {

constexpr int kMaxSteps = 3;
constexpr int64_t kMaximumDevices = 4096;

using Shape = std::vector<int64_t>;

Shape GetShape(const v1::MeshSpec& mesh) {
  return Shape(mesh.shape().begin(), mesh.shape().end());
}

v1::MeshSpec GetMesh(const Shape& shape) {
  v1::MeshSpec mesh;
  mesh.mutable_shape()->Assign(shape.begin(), shape.end());
  return mesh;
}

std::vector<Shape> OneStepFrom(const Shape& shape) {
  std::vector<Shape> next;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] > 2 && shape[axis] % 2 == 0) {
      next.push_back(shape);
      next.back()[axis] /= 2;
    }
    if (shape[axis] > 1 && space::DeviceCount(shape) <= kMaximumDevices / 2) {
      next.push_back(shape);
      next.back()[axis] *= 2;
    }
  }
  return next;
}

absl::StatusOr<v1::MeshSpec> CheckedMesh(const Shape& shape) {
  v1::MeshSpec mesh = GetMesh(shape);
  RETURN_IF_ERROR(space::ReadMesh(mesh).status());
  return mesh;
}

bool SameMesh(const v1::MeshSpec& a, const v1::MeshSpec& b) {
  return GetShape(a) == GetShape(b);
}

}  // namespace

absl::StatusOr<v1::MeshSpec> ResizeMesh(const v1::MeshSpec& mesh,
                                        int64_t devices) {
  Shape shape = GetShape(mesh);
  size_t axis = shape.size();
  while (axis > 1 && shape[axis - 1] == 1) --axis;
  if (shape[axis - 1] == 1) axis = shape.size();
  const int64_t others = space::DeviceCount(shape) / shape[axis - 1];
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
  std::set<Shape> seen = {GetShape(mesh)};
  std::vector<Shape> ring = {GetShape(mesh)};
  for (int step = 0; step < kMaxSteps; ++step) {
    std::vector<Shape> next;
    for (const Shape& shape : ring) {
      for (Shape& other : OneStepFrom(shape)) {
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
    auto step = RecallStep(request, question.device, store);
    if (step.ok()) {
      return RecallPlan(request, *std::move(step), question.device, store);
    }
    if (!absl::IsNotFound(step.status())) return step.status();
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

}  // namespace meshwright::explain
