#include "cli/flags/links_file.h"

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/file.h"
#include "base/json/read_json.h"
#include "base/status_macros.h"

namespace meshwright::cli {
namespace {

// One figure of at least 0 for every axis.
auto IntoFigures(const v1::MeshSpec& mesh, std::vector<double>& figures) {
  return [&](const base::JsonValue& list) {
    if (list.CountElements() != static_cast<size_t>(mesh.shape_size())) {
      return list.Fail(
          absl::StrCat("has ", list.CountElements(), " figures, but mesh ",
                       absl::StrJoin(mesh.shape(), "x"), " has ",
                       mesh.shape_size(), " axes; give one of each"));
    }
    list.ForEach([&](const base::JsonValue& value) {
      double& figure = figures.emplace_back();
      if (value.IsNumber()) base::ReadJsonValue(value, figure);
      if (value.IsNumber() && std::isfinite(figure) && figure >= 0) return;
      value.Fail(
          absl::StrCat("is no number of at least 0, but ", value.Dump()));
    });
  };
}

absl::StatusOr<base::Links> Read(const std::string& text,
                                 const v1::MeshSpec& mesh) {
  std::vector<double> alpha;
  std::vector<double> beta;
  RETURN_IF_ERROR(base::ReadJson(text, [&](const base::JsonValue& document) {
    base::ReadJsonObject(document, [&](base::JsonFields& it) {
      it.Required("alpha", IntoFigures(mesh, alpha));
      it.Required("beta", IntoFigures(mesh, beta));
    });
  }));
  base::Links links;
  for (size_t axis = 0; axis < alpha.size(); ++axis) {
    links.push_back({alpha[axis], beta[axis]});
  }
  return links;
}

}  // namespace

absl::StatusOr<base::Links> LoadLinks(const std::string& path,
                                      const v1::MeshSpec& mesh) {
  ASSIGN_OR_RETURN(const std::string text, base::ReadFile(path));
  auto links = Read(text, mesh);
  if (links.ok()) return links;
  return absl::InvalidArgumentError(absl::StrCat(
      path, " is no link table: ", std::string(links.status().message())));
}

}  // namespace meshwright::cli
