#include "coordinator/security/rpc_roles.h"

namespace meshwright::security {
namespace {

constexpr RpcRole kRpcRoles[] = {
    {"/meshwright.v1.Planning/MakePlan", Role::kSubmit},
    {"/meshwright.v1.Planning/Compare", Role::kSubmit},
    {"/meshwright.v1.Planning/PlanResharding", Role::kSubmit},
    {"/meshwright.v1.Planning/ListJobs", Role::kRead},
    {"/meshwright.v1.Planning/ListWorkers", Role::kRead},
    {"/meshwright.v1.Resharding/Plan", Role::kSubmit},
    {"/meshwright.v1.Modules/Has", Role::kRead},
    {"/meshwright.v1.Modules/Put", Role::kSubmit},
    {"/meshwright.v1.Plans/Submit", Role::kSubmit},
    {"/meshwright.v1.Plans/Get", Role::kRead},
    {"/meshwright.v1.Plans/List", Role::kRead},
    {"/meshwright.v1.Plans/Watch", Role::kRead},
    {"/meshwright.v1.Plans/Cancel", Role::kSubmit},
    {"/meshwright.v1.Plans/Explain", Role::kRead},
    {"/meshwright.v1.Plans/Diff", Role::kRead},
    {"/meshwright.v1.Plans/WhatIf", Role::kRead},
    {"/meshwright.v1.Plans/Export", Role::kRead},
    // It keeps workers busy, as Compare does.
    {"/meshwright.v1.Plans/Validate", Role::kSubmit},
    // Rows of the caller's namespace and of the shared pool, without hosts.
    {"/meshwright.v1.Profiles/LookUp", Role::kRead},
    // It reads nothing but counts and times, of rows that all teams share.
    {"/meshwright.v1.Profiles/Coverage", Role::kRead},
    // Rows of all namespaces, with the hosts that they come from.
    {"/meshwright.v1.Profiles/Export", Role::kAdmin},
    {"/meshwright.v1.Profiles/Import", Role::kAdmin},
    {"/meshwright.v1.Profiles/Remeasure", Role::kSubmit},
    {"/meshwright.v1.Workers/Attach", Role::kWork},
    {"/meshwright.v1.Admin/DrainWorker", Role::kAdmin},
    {"/meshwright.v1.Admin/QuarantineWorker", Role::kAdmin},
    {"/meshwright.v1.Admin/ResumeWorker", Role::kAdmin},
    {"/meshwright.v1.Admin/GetJob", Role::kAdmin},
    {"/meshwright.v1.Admin/CancelJob", Role::kAdmin},
    {"/meshwright.v1.Admin/RetryJob", Role::kAdmin},
    {"/meshwright.v1.Admin/DescribeStore", Role::kAdmin},
    {"/meshwright.v1.Admin/ListQuarantine", Role::kAdmin},
    {"/meshwright.v1.Admin/VerifyStore", Role::kAdmin},
    {"/meshwright.v1.Admin/RetryQuarantined", Role::kAdmin},
    {"/meshwright.v1.Admin/CollectGarbage", Role::kAdmin},
    {"/meshwright.v1.Admin/BackUpStore", Role::kAdmin},
    {"/meshwright.v1.Admin/ListQuotas", Role::kAdmin},
    // gRPC's own: a load balancer has no token.
    {"/grpc.health.v1.Health/Check", Role::kRead, /*open=*/true},
    {"/grpc.health.v1.Health/Watch", Role::kRead, /*open=*/true},
    {"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
     Role::kRead},
};

}  // namespace

std::span<const RpcRole> RpcRoles() { return kRpcRoles; }

const RpcRole* FindRpcRole(std::string_view path) {
  for (const RpcRole& row : kRpcRoles) {
    if (row.path == path) return &row;
  }
  return nullptr;
}

}  // namespace meshwright::security
