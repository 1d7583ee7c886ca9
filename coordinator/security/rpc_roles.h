// Which role each RPC needs, in one table.
//
// Concept: a test holds the table to the services of proto/v1: an RPC without
// a row fails it. A coordinator answers no RPC that has none.
// Threads: any. Errors: none.
#ifndef MESHWRIGHT_COORDINATOR_SECURITY_RPC_ROLES_H_
#define MESHWRIGHT_COORDINATOR_SECURITY_RPC_ROLES_H_

#include <span>
#include <string_view>

#include "coordinator/security/role.h"

namespace meshwright::security {

struct RpcRole {
  std::string_view path;  // "/package.Service/Method", as gRPC writes it
  Role role;
  // Whoever reaches the port may call it, without a token too.
  bool open = false;
};

std::span<const RpcRole> RpcRoles();

// Null: the table has no such RPC.
const RpcRole* FindRpcRole(std::string_view path);

}  // namespace meshwright::security

#endif  // MESHWRIGHT_COORDINATOR_SECURITY_RPC_ROLES_H_
