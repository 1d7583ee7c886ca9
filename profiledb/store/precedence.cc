#include "profiledb/store/precedence.h"

#include "absl/strings/str_cat.h"

namespace meshwright::store {

bool IsFailure(v1::Outcome outcome) {
  return outcome != v1::MEASURED && outcome != v1::PRUNED;
}

int Rank(v1::Outcome outcome) {
  if (outcome == v1::MEASURED) return 2;
  return outcome == v1::PRUNED ? 1 : 0;
}

bool Replaces(v1::Outcome there, v1::Outcome comes) {
  return there != v1::MEASURED && Rank(comes) >= Rank(there);
}

absl::Status CheckRow(const v1::ProfileResult& result) {
  if (result.key().empty()) {
    return absl::InvalidArgumentError("a profile has no key");
  }
  if (result.outcome() == v1::OUTCOME_UNSPECIFIED ||
      !v1::Outcome_IsValid(result.outcome())) {
    return absl::InvalidArgumentError(
        absl::StrCat("the profile of ", result.key(), " has the outcome ",
                     static_cast<int>(result.outcome()), ", which is none"));
  }
  return {};
}

}  // namespace meshwright::store
