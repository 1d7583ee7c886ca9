#include "planner/ilp/highs.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "interfaces/highs_c_api.h"

namespace meshwright::ilp {
namespace {

constexpr HighsInt kMaxInt = std::numeric_limits<HighsInt>::max();

struct Destroy {
  void operator()(void* highs) const { Highs_destroy(highs); }
};

bool IsOver(const HighsOptions& options) {
  return options.deadline.HasPassed() ||
         (options.is_stopped && options.is_stopped());
}

void Interrupt(int, const char*, const HighsCallbackDataOut*,
               HighsCallbackDataIn* in, void* options) {
  if (in == nullptr) return;
  if (IsOver(*static_cast<const HighsOptions*>(options))) {
    in->user_interrupt = 1;
  }
}

class Run {
 public:
  Run(const Linearization& linear, const HighsOptions& options)
      : linear_(linear), options_(options), highs_(Highs_create()) {}

  absl::StatusOr<HighsAnswer> Solve() {
    if (highs_ == nullptr) return absl::InternalError("HiGHS did not start");
    RETURN_IF_ERROR(SetOptions());
    RETURN_IF_ERROR(Pass());
    if (IsOver(options_)) return HighsAnswer{};
    if (options_.deadline.IsPossible()) {
      RETURN_IF_ERROR(
          Check(Highs_setCallback(highs_.get(), Interrupt,
                                  const_cast<HighsOptions*>(&options_)),
                "a callback"));
      for (const HighsInt type :
           {kHighsCallbackMipInterrupt, kHighsCallbackSimplexInterrupt}) {
        RETURN_IF_ERROR(
            Check(Highs_startCallback(highs_.get(), type), "a callback"));
      }
    }
    if (!options_.start.empty()) {
      RETURN_IF_ERROR(
          Check(Highs_setSolution(highs_.get(), options_.start.data(), nullptr,
                                  nullptr, nullptr),
                "a solution to start from"));
    }
    if (Highs_run(highs_.get()) == kHighsStatusError) {
      return absl::InternalError("HiGHS failed while it solved the program");
    }
    return Answer();
  }

 private:
  static absl::Status Check(HighsInt status, std::string_view what) {
    if (status != kHighsStatusError) return {};
    return absl::InternalError(
        absl::StrCat("HiGHS refused ", std::string(what)));
  }

  absl::Status SetOptions() {
    void* const highs = highs_.get();
    const HighsInt nodes =
        static_cast<HighsInt>(std::min<int64_t>(options_.max_nodes, kMaxInt));
    for (const HighsInt status :
         {Highs_setBoolOptionValue(highs, "output_flag", 0),
          Highs_setIntOptionValue(highs, "threads", 1),
          Highs_setIntOptionValue(highs, "random_seed", 0),
          Highs_setIntOptionValue(highs, "mip_max_nodes", nodes),
          Highs_setDoubleOptionValue(highs, "mip_rel_gap", 0),
          Highs_setDoubleOptionValue(highs, "mip_abs_gap",
                                     options_.absolute_gap),
          Highs_setDoubleOptionValue(highs, "mip_feasibility_tolerance",
                                     kTolerance)}) {
      RETURN_IF_ERROR(Check(status, "an option"));
    }
    if (!options_.deadline.IsPossible()) return {};
    return Check(Highs_setDoubleOptionValue(
                     highs, "time_limit", options_.deadline.RemainingSeconds()),
                 "a time limit");
  }

  // Nothing if it is over before.
  absl::Status Pass() {
    std::vector<double> cost, lower, upper, row_lower, row_upper, value;
    std::vector<HighsInt> start, index, is_integer;
    for (const Linearization::Column& column : linear_.columns) {
      cost.push_back(column.cost);
      lower.push_back(column.lower);
      upper.push_back(column.upper);
      is_integer.push_back(column.is_integer ? kHighsVarTypeInteger
                                             : kHighsVarTypeContinuous);
    }
    for (const Linearization::Row& row : linear_.rows) {
      if (IsOver(options_)) return {};
      row_lower.push_back(row.lower);
      row_upper.push_back(row.upper);
      start.push_back(static_cast<HighsInt>(index.size()));
      for (const Linearization::Entry& entry : row.entries) {
        index.push_back(entry.column);
        value.push_back(entry.value);
      }
    }
    start.push_back(static_cast<HighsInt>(index.size()));
    return Check(
        Highs_passMip(highs_.get(), static_cast<HighsInt>(cost.size()),
                      static_cast<HighsInt>(row_lower.size()),
                      static_cast<HighsInt>(index.size()),
                      kHighsMatrixFormatRowwise, kHighsObjSenseMinimize, 0,
                      cost.data(), lower.data(), upper.data(), row_lower.data(),
                      row_upper.data(), start.data(), index.data(),
                      value.data(), is_integer.data()),
        "the program");
  }

  absl::StatusOr<HighsAnswer> Answer() {
    HighsAnswer answer;
    const HighsInt status = Highs_getModelStatus(highs_.get());
    answer.is_infeasible = status == kHighsModelStatusInfeasible ||
                           status == kHighsModelStatusUnboundedOrInfeasible;
    answer.is_finished =
        answer.is_infeasible || status == kHighsModelStatusOptimal;
    HighsInt primal = kHighsSolutionStatusNone;
    RETURN_IF_ERROR(Check(
        Highs_getIntInfoValue(highs_.get(), "primal_solution_status", &primal),
        "to say what it found"));
    RETURN_IF_ERROR(Check(
        Highs_getDoubleInfoValue(highs_.get(), "mip_dual_bound", &answer.bound),
        "to say its bound"));
    if (primal == kHighsSolutionStatusFeasible) {
      answer.values.emplace(linear_.columns.size());
      RETURN_IF_ERROR(
          Check(Highs_getSolution(highs_.get(), answer.values->data(), nullptr,
                                  nullptr, nullptr),
                "to give its solution"));
    }
    return answer;
  }

  const Linearization& linear_;
  const HighsOptions& options_;
  const std::unique_ptr<void, Destroy> highs_;
};

}  // namespace

absl::StatusOr<HighsAnswer> RunHighs(const Linearization& linear,
                                     const HighsOptions& options) {
  try {
    return Run(linear, options).Solve();
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("HiGHS failed: ", error.what()));
  }
}

}  // namespace meshwright::ilp
