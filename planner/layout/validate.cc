#include "planner/layout/validate.h"

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::layout {
namespace {

absl::Status Bad(const std::string& message) {
  return absl::InvalidArgumentError(message);
}

absl::Status CheckSizes(const LayoutProblem& problem) {
  if (problem.mesh.empty()) {
    return Bad("mesh is empty; give the devices of one axis at least");
  }
  if (problem.mesh.size() > kMaxAxes) {
    return Bad(absl::StrCat("mesh has ", problem.mesh.size(),
                            " axes, more than the ", kMaxAxes,
                            " the planner takes"));
  }
  if (problem.shape.size() > kMaxDims) {
    return Bad(absl::StrCat("shape has ", problem.shape.size(),
                            " dimensions, more than the ", kMaxDims,
                            " the planner takes"));
  }
  int64_t devices = 1;
  for (size_t i = 0; i < problem.mesh.size(); ++i) {
    if (problem.mesh[i] < 1) {
      return Bad(absl::StrCat("mesh[", i, "] is ", problem.mesh[i],
                              "; an axis has at least one device"));
    }
    if (problem.mesh[i] > kMaxDevices / devices) {
      return Bad(absl::StrCat("mesh has more than ", kMaxDevices,
                              " devices; give a smaller mesh[", i, "]"));
    }
    devices *= problem.mesh[i];
  }
  int64_t bytes = problem.elem_bytes;
  if (bytes < 1) {
    return Bad(absl::StrCat("elem_bytes is ", bytes,
                            "; an element has at least one byte"));
  }
  for (size_t d = 0; d < problem.shape.size(); ++d) {
    if (problem.shape[d] < 1) {
      return Bad(absl::StrCat("shape[", d, "] is ", problem.shape[d],
                              "; a dimension has at least one element"));
    }
    if (__builtin_mul_overflow(bytes, problem.shape[d], &bytes) ||
        bytes > int64_t{1} << 62) {
      return Bad(
          "shape times elem_bytes is more than 2^62 bytes; give a smaller "
          "tensor");
    }
  }
  return {};
}

absl::Status CheckSpec(const LayoutProblem& problem, const Spec& spec,
                       const char* field) {
  if (spec.size() != problem.shape.size()) {
    return Bad(absl::StrCat(field, " has ", spec.size(),
                            " dimensions and shape has ", problem.shape.size(),
                            "; give one list of axes per dimension"));
  }
  const int axes = static_cast<int>(problem.mesh.size());
  AxisSet used = 0;
  for (size_t d = 0; d < spec.size(); ++d) {
    for (size_t i = 0; i < spec[d].size(); ++i) {
      const int axis = spec[d][i];
      if (axis < 0 || axis >= axes) {
        return Bad(absl::StrCat(field, "[", d, "][", i, "] is axis ", axis,
                                "; the mesh has axes 0 to ", axes - 1));
      }
      if ((used >> axis & 1) != 0) {
        return Bad(absl::StrCat(field, "[", d, "][", i, "] is axis ", axis,
                                " again; an axis splits one dimension, once"));
      }
      used |= AxisSet{1} << axis;
    }
  }
  return {};
}

absl::Status CheckLinks(const LayoutProblem& problem) {
  if (problem.links == nullptr) {
    return Bad("links are missing; give alpha and beta per mesh axis");
  }
  if (problem.links->axis_count() != static_cast<int>(problem.mesh.size())) {
    return Bad(absl::StrCat("mesh has ", problem.mesh.size(),
                            " axes and the links have ",
                            problem.links->axis_count(),
                            "; give alpha and beta for each axis of the mesh"));
  }
  int64_t bytes = problem.elem_bytes;
  for (const int64_t size : problem.shape) bytes *= size;
  double seconds = 0;
  for (size_t axis = 0; axis < problem.mesh.size(); ++axis) {
    if (problem.mesh[axis] == 1) continue;
    for (const Op op :
         {Op::kAllGather, Op::kAllToAll, Op::kCollectivePermute}) {
      seconds += problem.links->Seconds(op, AxisSet{1} << axis,
                                        problem.mesh[axis], bytes);
    }
    if (!(seconds <= problem::ToSeconds(problem::kMaxTime))) {
      return Bad(absl::StrCat(
          "the links of axis ", axis, " make moving the whole tensor take ",
          seconds,
          " seconds, more than the planner can add up; give a smaller alpha[",
          axis, "] or beta[", axis, "]"));
    }
  }
  return {};
}

}  // namespace

absl::Status ValidateShardings(const LayoutProblem& problem) {
  RETURN_IF_ERROR(CheckSizes(problem));
  RETURN_IF_ERROR(CheckSpec(problem, problem.source, "source"));
  return CheckSpec(problem, problem.target, "target");
}

absl::Status Validate(const LayoutProblem& problem) {
  RETURN_IF_ERROR(ValidateShardings(problem));
  return CheckLinks(problem);
}

}  // namespace meshwright::layout
