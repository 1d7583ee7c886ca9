#include "coordinator/security/role.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace meshwright::security {
namespace {

constexpr Role kRoles[] = {Role::kRead, Role::kSubmit, Role::kWork,
                           Role::kAdmin};

}  // namespace

const char* ToString(Role role) {
  switch (role) {
    case Role::kRead:
      return "read";
    case Role::kSubmit:
      return "submit";
    case Role::kWork:
      return "work";
    case Role::kAdmin:
      break;
  }
  return "admin";
}

absl::StatusOr<Role> ParseRole(std::string_view word) {
  for (const Role role : kRoles) {
    if (word == ToString(role)) return role;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", std::string(word),
                   "\" is no role; write read, submit, work or admin"));
}

std::string DescribeRoles(const std::vector<Role>& roles) {
  return absl::StrJoin(roles, ", ", [](std::string* text, Role role) {
    text->append(ToString(role));
  });
}

bool Grants(const std::vector<Role>& roles, Role needed) {
  return std::any_of(roles.begin(), roles.end(), [&](Role role) {
    return role == needed || role == Role::kAdmin ||
           (role == Role::kSubmit && needed == Role::kRead);
  });
}

}  // namespace meshwright::security
