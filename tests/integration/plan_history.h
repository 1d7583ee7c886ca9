// PlanHistory: what one client has read of one plan, and what must hold of
// whatever it reads next.
//
// Concept: the reference model of a durable plan. A plan is a list of updates,
// numbered from 1. The updates that a client has read never change and never go
// away, however often the coordinator is killed. A stream begins where it was
// asked to begin and has every number once. A submission that was acknowledged
// is one plan for ever, and an ended plan stays as it ended.
// In -> Out: an answer of the coordinator -> what contradicts the history,
// empty where nothing does. Threads: one.
#ifndef MESHWRIGHT_TESTS_INTEGRATION_PLAN_HISTORY_H_
#define MESHWRIGHT_TESTS_INTEGRATION_PLAN_HISTORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/v1/plan_record.pb.h"

namespace meshwright::integration {

class PlanHistory {
 public:
  // Of Submit, the first or a later one, and of Get.
  std::string TakeRecord(const v1::PlanRecord& record);

  // A stream of the updates after number `after` begins.
  void BeginStream(int64_t after) { next_ = after + 1; }
  std::string TakeUpdate(const v1::PlanUpdate& update);
  // The stream ended by itself.
  std::string TakeEnd() const;

  const std::string& id() const { return id_; }
  // The number of the newest update that is known.
  int64_t last() const { return static_cast<int64_t>(updates_.size()); }
  v1::PlanState state() const { return state_; }
  bool has_ended() const;
  const v1::Plan& plan() const { return plan_; }  // where it is done

 private:
  std::string id_;
  std::string module_sha256_;
  std::vector<std::string> updates_;  // serialized, from number 1
  int64_t next_ = 1;                  // of the stream at hand
  v1::PlanState state_ = v1::PLAN_STATE_UNSPECIFIED;
  v1::Plan plan_;
};

}  // namespace meshwright::integration

#endif  // MESHWRIGHT_TESTS_INTEGRATION_PLAN_HISTORY_H_
