#include "coordinator/space/read_request.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace meshwright::space {
namespace {

constexpr int64_t kMaxDevices = 4096;

}  // namespace

absl::StatusOr<segmenter::StrategyRequest> ReadRequest(
    const v1::StrategyRequest& request) {
  segmenter::StrategyRequest out;
  for (const std::string& name : request.open()) {
    if (name == "outer-axis") {
      out.open_outer_axes = true;
      continue;
    }
    const auto which = segmenter::ParseSwitch(name);
    if (!which.has_value() || which == segmenter::SegmentSwitch::kNone) {
      return absl::InvalidArgumentError(absl::StrCat(
          "\"", name, "\" cannot be opened; there are fully-sharded, ",
          "optimizer-sharded, sequence, recompute and outer-axis"));
    }
    if (std::count(out.switches.begin(), out.switches.end(), *which) == 0) {
      out.switches.push_back(*which);
    }
  }
  std::sort(out.switches.begin(), out.switches.end());
  for (const v1::BlockRule& rule : request.blocks()) {
    out.blocks.push_back({rule.blocks(),
                          {rule.strategies().begin(), rule.strategies().end()},
                          rule.forbid()});
  }
  for (const v1::ArgumentRule& rule : request.arguments()) {
    out.arguments.push_back({rule.argument(), rule.sharding(), rule.forbid()});
  }
  out.grouped = {request.grouped().begin(), request.grouped().end()};
  return out;
}

absl::StatusOr<Mesh> ReadMesh(const v1::MeshSpec& spec) {
  Mesh mesh(spec.shape().begin(), spec.shape().end());
  if (mesh.empty()) {
    return absl::InvalidArgumentError(
        "the mesh has no axis; pass one like 1x2");
  }
  int64_t devices = 1;
  for (int64_t size : mesh) {
    if (size < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("a mesh axis of ", size, " devices is none"));
    }
    if (size > kMaxDevices / devices) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the mesh has more than the ", kMaxDevices, " devices of the limit"));
    }
    devices *= size;
  }
  return mesh;
}

}  // namespace meshwright::space
