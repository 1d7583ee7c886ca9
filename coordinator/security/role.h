// Role: what a token allows.
//
//   read    lists and looks things up
//   submit  asks for plans and measurements; reads too
//   work    attaches a worker, whose measurements all teams share
//   admin   everything
// Errors: kInvalidArgument for a word that is no role, with those that are.
#ifndef MESHWRIGHT_COORDINATOR_SECURITY_ROLE_H_
#define MESHWRIGHT_COORDINATOR_SECURITY_ROLE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright::security {

enum class Role { kRead, kSubmit, kWork, kAdmin };

const char* ToString(Role role);
absl::StatusOr<Role> ParseRole(std::string_view word);
// "read, work"
std::string DescribeRoles(const std::vector<Role>& roles);

bool Grants(const std::vector<Role>& roles, Role needed);

}  // namespace meshwright::security

#endif  // MESHWRIGHT_COORDINATOR_SECURITY_ROLE_H_
