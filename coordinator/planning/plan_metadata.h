// Plan metadata: what every plan states, however it was found, and the request
// that follows from it.
//
// In → Out: a request and its mesh → a plan with what was asked, and no answer.
#ifndef MESHWRIGHT_COORDINATOR_PLANNING_PLAN_METADATA_H_
#define MESHWRIGHT_COORDINATOR_PLANNING_PLAN_METADATA_H_

#include <cstdint>
#include <string>

#include "coordinator/estimation/time_base.h"
#include "coordinator/jobs/measurer.h"
#include "coordinator/space/annotation/sharding.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::planning {

// The request that the plan answers.
v1::PlanRequest RestoreRequest(const v1::Plan& plan, std::string hlo_module);

// The model of these bytes, without a name.
v1::PlanModel DescribeModel(const std::string& hlo_module);

// The key in the store of the bytes that were planned.
const std::string& GetModuleKey(const v1::PlanModel& model);

// Whether both are exports of one model; an earlier plan, which knows its bytes
// alone, is of the same model where the bytes are equal.
bool IsSameModel(const v1::PlanModel& a, const v1::PlanModel& b);

v1::Plan BeginPlan(const v1::PlanRequest& request, const space::Mesh& mesh);

// The devices that it was measured on.
void SetDevice(const jobs::DeviceDescription& device, v1::Plan& plan);

// Of a request that no plan was found for: the need of the smallest one found.
void NoteMinimumMemory(int64_t peak_bytes, v1::Plan& plan);

// The time base of rows as a plan has it; nothing where there is none.
void AddAnchors(const estimation::TimeBase& base,
                google::protobuf::RepeatedPtrField<v1::AnchorTime>& anchors);

// The inverse.
estimation::TimeBase ReadAnchors(
    const google::protobuf::RepeatedPtrField<v1::AnchorTime>& anchors);

}  // namespace meshwright::planning

#endif  // MESHWRIGHT_COORDINATOR_PLANNING_PLAN_METADATA_H_
