#include "planner/layout/link_costs.h"

#include <bit>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::layout {
namespace {

absl::Status CheckFigures(const std::vector<double>& figures,
                          const char* field) {
  for (size_t i = 0; i < figures.size(); ++i) {
    const char* fault = std::isnan(figures[i])   ? "not a number"
                        : std::isinf(figures[i]) ? "infinite"
                        : figures[i] < 0         ? "negative"
                                                 : nullptr;
    if (fault != nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(field, "[", i, "] is ", fault,
                       "; give a time that is finite and at least 0"));
    }
  }
  return {};
}

void Append(const std::vector<double>& figures, std::string& content) {
  for (const double figure : figures) {
    const auto bits = std::bit_cast<uint64_t>(figure + 0.0);  // no -0
    content.append(reinterpret_cast<const char*>(&bits), sizeof(bits));
  }
}

}  // namespace

const char* NameOp(Op op) {
  switch (op) {
    case Op::kAllGather:
      return "all-gather";
    case Op::kSlice:
      return "slice";
    case Op::kAllToAll:
      return "all-to-all";
    case Op::kCollectivePermute:
      return "collective-permute";
  }
  return "";
}

absl::StatusOr<std::shared_ptr<const AlphaBetaLinks>> AlphaBetaLinks::Create(
    const std::vector<double>& alpha, const std::vector<double>& beta) {
  RETURN_IF_ERROR(CheckFigures(alpha, "alpha"));
  RETURN_IF_ERROR(CheckFigures(beta, "beta"));
  if (alpha.size() != beta.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("alpha has ", alpha.size(), " figures and beta has ",
                     beta.size(), "; give one of each per mesh axis"));
  }
  return std::shared_ptr<const AlphaBetaLinks>(new AlphaBetaLinks(alpha, beta));
}

AlphaBetaLinks::AlphaBetaLinks(const std::vector<double>& alpha,
                               const std::vector<double>& beta)
    : content_("ab") {
  for (size_t axis = 0; axis < alpha.size(); ++axis) {
    links_.push_back({alpha[axis], beta[axis]});
  }
  Append(alpha, content_);
  Append(beta, content_);
}

double AlphaBetaLinks::Seconds(Op op, AxisSet axes, int64_t devices,
                               int64_t bytes) const {
  base::Link link;
  for (AxisSet rest = axes; rest != 0; rest &= rest - 1) {
    link = base::TakeSlowest(link, links_[std::countr_zero(rest)]);
  }
  const auto b = static_cast<double>(bytes);
  switch (op) {
    case Op::kAllGather:
      return base::EstimateCollectiveSeconds(base::Collective::kAllGather,
                                             devices, b, link);
    case Op::kAllToAll:
      return base::EstimateCollectiveSeconds(base::Collective::kAllToAll,
                                             devices, b, link);
    case Op::kCollectivePermute:
      return base::EstimateCollectiveSeconds(
          base::Collective::kCollectivePermute, devices, b, link);
    case Op::kSlice:
      break;
  }
  return 0;
}

}  // namespace meshwright::layout
