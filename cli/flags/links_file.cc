#include "cli/flags/links_file.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "planner/problem/json_fields.h"
#include "planner/problem/parse_json.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;

absl::StatusOr<std::vector<double>> ReadFigures(const json& document,
                                                const char* field,
                                                const v1::MeshSpec& mesh) {
  ASSIGN_OR_RETURN(const json* list, problem::Member(document, "", field));
  RETURN_IF_ERROR(problem::CheckArray(*list, field));
  if (list->size() != static_cast<size_t>(mesh.shape_size())) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, " has ", list->size(), " figures, but mesh ",
                     absl::StrJoin(mesh.shape(), "x"), " has ",
                     mesh.shape_size(), " axes; give one of each"));
  }
  std::vector<double> figures;
  for (size_t i = 0; i < list->size(); ++i) {
    const json& value = (*list)[i];
    if (!value.is_number() || !std::isfinite(value.get<double>()) ||
        value.get<double>() < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          field, "[", i, "] is no number of at least 0, but ", value.dump()));
    }
    figures.push_back(value.get<double>());
  }
  return figures;
}

absl::StatusOr<service::LinkTable> Read(const std::string& text,
                                        const v1::MeshSpec& mesh) {
  ASSIGN_OR_RETURN(const json document, problem::ParseJson(text));
  ASSIGN_OR_RETURN(const std::vector<double> alpha,
                   ReadFigures(document, "alpha", mesh));
  ASSIGN_OR_RETURN(const std::vector<double> beta,
                   ReadFigures(document, "beta", mesh));
  service::LinkTable links;
  for (size_t axis = 0; axis < alpha.size(); ++axis) {
    links.push_back({alpha[axis], beta[axis]});
  }
  return links;
}

}  // namespace

absl::StatusOr<service::LinkTable> LoadLinks(const std::string& path,
                                             const v1::MeshSpec& mesh) {
  ASSIGN_OR_RETURN(const std::string text, base::ReadFile(path));
  auto links = Read(text, mesh);
  if (links.ok()) return links;
  return absl::InvalidArgumentError(absl::StrCat(
      path, " is no link table: ", std::string(links.status().message())));
}

}  // namespace meshwright::cli
