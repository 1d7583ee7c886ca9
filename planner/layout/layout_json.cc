#include "planner/layout/layout_json.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/json/read_json.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "planner/layout/measured_links.h"
#include "planner/layout/planner.h"
#include "planner/layout/validate.h"

namespace meshwright::layout {
namespace {

using nlohmann::ordered_json;

void ReadOp(const base::JsonValue& value, Op& target) {
  for (const Op op : {Op::kAllGather, Op::kAllToAll, Op::kCollectivePermute}) {
    if (value.Dump() != absl::StrCat("\"", NameOp(op), "\"")) continue;
    target = op;
    return;
  }
  value.Fail(
      absl::StrCat("is ", value.Dump(),
                   "; it is all-gather, all-to-all or collective-permute"));
}

absl::Status CheckOnePerAxis(const char* field, const LayoutProblem& problem,
                             const std::vector<double>& figures) {
  if (figures.size() == problem.mesh.size()) return {};
  return absl::InvalidArgumentError(
      absl::StrCat(field, " has ", figures.size(), " figures and mesh ",
                   problem.mesh.size(), " axes; give one per axis"));
}

struct LinkFields {
  std::vector<double> alpha;
  std::vector<double> beta;
  std::optional<std::vector<LinkTiming>> rows;
};

absl::Status MakeLinks(LinkFields links, LayoutProblem& problem) {
  RETURN_IF_ERROR(ValidateShardings(problem));
  if (links.rows.has_value()) {
    ASSIGN_OR_RETURN(problem.links, MeasuredLinks::Create(
                                        problem.mesh, *std::move(links.rows)));
  } else {
    RETURN_IF_ERROR(CheckOnePerAxis("alpha", problem, links.alpha));
    RETURN_IF_ERROR(CheckOnePerAxis("beta", problem, links.beta));
    ASSIGN_OR_RETURN(problem.links,
                     AlphaBetaLinks::Create(links.alpha, links.beta));
  }
  return Validate(problem);
}

// cases[2] ("name"), as error messages call it.
std::string CaseName(size_t index, const std::string& name) {
  return name.empty() ? absl::StrCat("cases[", index, "]")
                      : absl::StrCat("cases[", index, "] (", name, ")");
}

absl::Status InCase(size_t index, const std::string& name,
                    const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(CaseName(index, name), ": ",
                                                  status.message()));
}

ordered_json ToJson(const Step& step) {
  ordered_json json;
  json["op"] = NameOp(step.op);
  json["axis"] = step.axis;
  json["dim"] = step.dim;
  if (step.to_dim.has_value()) json["to_dim"] = *step.to_dim;
  if (step.op == Op::kCollectivePermute) {
    json["axes"] = step.axes;
    json["dims"] = step.dims;
  }
  json["bytes"] = step.bytes;
  json["seconds"] = problem::ToSeconds(step.time);
  return json;
}

ordered_json ToJson(const std::string& name, const Conversion& conversion) {
  ordered_json json;
  json["name"] = name;
  json["feasible"] = conversion.path.has_value();
  if (!conversion.path.has_value()) {
    for (const char* figure :
         {"seconds", "lower_bound_seconds", "steps", "path"}) {
      json[figure] = nullptr;
    }
    return json;
  }
  json["seconds"] = problem::ToSeconds(conversion.path->time);
  json["lower_bound_seconds"] = problem::ToSeconds(conversion.lower_bound);
  json["steps"] = ordered_json::array();
  for (const Step& step : conversion.path->steps) {
    json["steps"].push_back(ToJson(step));
  }
  json["path"] = conversion.path->specs;
  return json;
}

}  // namespace

void Describe(base::JsonFields& it, LinkTiming& row) {
  it.Required("op",
              [&](const base::JsonValue& value) { ReadOp(value, row.op); });
  it.Required("axis", row.axis);
  it.Required("bytes", row.bytes);
  it.Required("seconds", row.seconds);
}

void Describe(base::JsonFields& it, LayoutCase& made) {
  it.Optional("name", made.name);
  LayoutProblem& problem = made.problem;
  it.Required("shape", problem.shape);
  it.Required("elem_bytes", problem.elem_bytes);
  it.Required("mesh", problem.mesh);
  it.Required("source", problem.source);
  it.Required("target", problem.target);
  LinkFields links;
  it.Optional("links", links.rows);
  if (links.rows.has_value()) {
    it.Optional("alpha", links.alpha);
    it.Optional("beta", links.beta);
  } else {
    it.Required("alpha", links.alpha);
    it.Required("beta", links.beta);
  }
  if (it.object().HasFailed()) return;
  it.object().FailUnlessOk(MakeLinks(std::move(links), problem));
}

absl::StatusOr<std::vector<LayoutCase>> ParseCases(std::string_view text) {
  std::vector<LayoutCase> cases;
  const auto read_case = [&](const base::JsonValue& value) {
    if (!value.IsObject()) return value.FailAsNot("an object");
    // Messages name the case, then the path inside it.
    LayoutCase& made = cases.emplace_back();
    const absl::Status status = base::ReadJsonApart(
        value,
        [&](const base::JsonValue& own) { base::ReadJsonValue(own, made); });
    if (status.ok()) return;
    value.FailUnlessOk(InCase(cases.size() - 1, made.name, status));
  };
  RETURN_IF_ERROR(base::ReadJson(text, [&](const base::JsonValue& document) {
    base::ReadJsonObject(document, [&](base::JsonFields& it) {
      it.Required("cases", [&](const base::JsonValue& list) {
        list.ForEach(read_case);
      });
    });
  }));
  return cases;
}

absl::StatusOr<std::string> AnswerLayoutJson(std::string_view json,
                                             const SearchOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<LayoutCase> cases, ParseCases(json));
  LayoutPlanner planner;
  ordered_json answer;
  answer["cases"] = ordered_json::array();
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto conversion = planner.Convert(cases[i].problem, options);
    if (!conversion.ok()) return InCase(i, cases[i].name, conversion.status());
    answer["cases"].push_back(ToJson(cases[i].name, **conversion));
  }
  return answer.dump();
}

}  // namespace meshwright::layout
