#include "planner/layout/link_costs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

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

const char* OpName(Op op) {
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
    std::vector<double> alpha, std::vector<double> beta) {
  RETURN_IF_ERROR(CheckFigures(alpha, "alpha"));
  RETURN_IF_ERROR(CheckFigures(beta, "beta"));
  if (alpha.size() != beta.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("alpha has ", alpha.size(), " figures and beta has ",
                     beta.size(), "; give one of each per mesh axis"));
  }
  return std::shared_ptr<const AlphaBetaLinks>(
      new AlphaBetaLinks(std::move(alpha), std::move(beta)));
}

AlphaBetaLinks::AlphaBetaLinks(std::vector<double> alpha,
                               std::vector<double> beta)
    : alpha_(std::move(alpha)), beta_(std::move(beta)), content_("ab") {
  Append(alpha_, content_);
  Append(beta_, content_);
}

double AlphaBetaLinks::Seconds(Op op, AxisSet axes, int64_t devices,
                               int64_t bytes) const {
  double alpha = 0;
  double beta = 0;
  for (AxisSet rest = axes; rest != 0; rest &= rest - 1) {
    const int axis = std::countr_zero(rest);
    alpha = std::max(alpha, alpha_[axis]);
    beta = std::max(beta, beta_[axis]);
  }
  const auto n = static_cast<double>(devices);
  const auto b = static_cast<double>(bytes);
  switch (op) {
    case Op::kAllGather:
      return (n - 1) * (alpha + b * beta);
    case Op::kAllToAll:
      return (n - 1) * (alpha + b / n * beta);
    case Op::kCollectivePermute:
      return alpha + b * beta;
    case Op::kSlice:
      break;
  }
  return 0;
}

}  // namespace meshwright::layout
