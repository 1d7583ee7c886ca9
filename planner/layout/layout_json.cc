#include "planner/layout/layout_json.h"

#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "planner/layout/measured_links.h"
#include "planner/layout/planner.h"
#include "planner/layout/validate.h"
#include "planner/problem/json_fields.h"
#include "planner/problem/known_names.h"
#include "planner/problem/parse_json.h"

namespace meshwright::layout {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using problem::CheckArray;
using problem::Member;
using problem::ReadInteger;

template <typename Element, typename Read>
absl::StatusOr<std::vector<Element>> ReadList(const json& list,
                                              const std::string& field,
                                              const Read& read) {
  RETURN_IF_ERROR(CheckArray(list, field));
  std::vector<Element> elements;
  for (size_t i = 0; i < list.size(); ++i) {
    ASSIGN_OR_RETURN(Element element,
                     read(list[i], absl::StrCat(field, "[", i, "]")));
    elements.push_back(std::move(element));
  }
  return elements;
}

// The list object[field].
template <typename Element, typename Read>
absl::StatusOr<std::vector<Element>> ReadField(const json& object,
                                               const char* field,
                                               const Read& read) {
  ASSIGN_OR_RETURN(const json* list, Member(object, "", field));
  return ReadList<Element>(*list, field, read);
}

// Range and sign are checked where the meaning is known.
absl::StatusOr<double> ReadNumber(const json& value, const std::string& field) {
  if (value.is_number()) return value.get<double>();
  if (value.is_null()) {  // what some writers make of a NaN
    return absl::InvalidArgumentError(
        absl::StrCat(field, " is null, not a number"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(field, " is ", value.type_name(), ", not a number"));
}

absl::StatusOr<int> ReadAxis(const json& value, const std::string& field) {
  ASSIGN_OR_RETURN(const int64_t axis, ReadInteger(value, field));
  if (axis < 0 || axis > std::numeric_limits<int>::max()) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, " is ", axis, ", which is no axis of a mesh"));
  }
  return static_cast<int>(axis);
}

absl::StatusOr<std::vector<int>> ReadAxes(const json& value,
                                          const std::string& field) {
  return ReadList<int>(value, field, ReadAxis);
}

absl::StatusOr<Op> ReadOp(const json& value, const std::string& field) {
  for (const Op op : {Op::kAllGather, Op::kAllToAll, Op::kCollectivePermute}) {
    if (value == OpName(op)) return op;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      field, " is ", value.dump(-1, ' ', true, json::error_handler_t::replace),
      "; it is all-gather, all-to-all or collective-permute"));
}

absl::StatusOr<LinkTiming> ReadTiming(const json& object,
                                      const std::string& field) {
  RETURN_IF_ERROR(
      problem::CheckNames(object, field, {"op", "axis", "bytes", "seconds"}));
  LinkTiming row;
  ASSIGN_OR_RETURN(const json* op, Member(object, field, "op"));
  ASSIGN_OR_RETURN(row.op, ReadOp(*op, field + ".op"));
  ASSIGN_OR_RETURN(const json* axis, Member(object, field, "axis"));
  ASSIGN_OR_RETURN(row.axis, ReadAxis(*axis, field + ".axis"));
  ASSIGN_OR_RETURN(const json* bytes, Member(object, field, "bytes"));
  ASSIGN_OR_RETURN(row.bytes, ReadInteger(*bytes, field + ".bytes"));
  ASSIGN_OR_RETURN(const json* seconds, Member(object, field, "seconds"));
  ASSIGN_OR_RETURN(row.seconds, ReadNumber(*seconds, field + ".seconds"));
  return row;
}

absl::Status ReadLinks(const json& object, LayoutProblem& problem) {
  if (object.contains("links")) {
    ASSIGN_OR_RETURN(auto rows,
                     ReadField<LinkTiming>(object, "links", ReadTiming));
    ASSIGN_OR_RETURN(problem.links,
                     MeasuredLinks::Create(problem.mesh, std::move(rows)));
    return {};
  }
  ASSIGN_OR_RETURN(auto alpha, ReadField<double>(object, "alpha", ReadNumber));
  ASSIGN_OR_RETURN(auto beta, ReadField<double>(object, "beta", ReadNumber));
  for (const auto& [field, figures] :
       {std::pair("alpha", &alpha), std::pair("beta", &beta)}) {
    if (figures->size() != problem.mesh.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(field, " has ", figures->size(), " figures and mesh ",
                       problem.mesh.size(), " axes; give one per axis"));
    }
  }
  ASSIGN_OR_RETURN(problem.links,
                   AlphaBetaLinks::Create(std::move(alpha), std::move(beta)));
  return {};
}

absl::StatusOr<LayoutProblem> ReadProblem(const json& object) {
  RETURN_IF_ERROR(
      problem::CheckNames(object, "",
                          {"name", "shape", "elem_bytes", "mesh", "alpha",
                           "beta", "links", "source", "target"}));
  LayoutProblem problem;
  ASSIGN_OR_RETURN(problem.shape,
                   ReadField<int64_t>(object, "shape", ReadInteger));
  ASSIGN_OR_RETURN(const json* bytes, Member(object, "", "elem_bytes"));
  ASSIGN_OR_RETURN(problem.elem_bytes, ReadInteger(*bytes, "elem_bytes"));
  ASSIGN_OR_RETURN(problem.mesh,
                   ReadField<int64_t>(object, "mesh", ReadInteger));
  ASSIGN_OR_RETURN(problem.source,
                   ReadField<std::vector<int>>(object, "source", ReadAxes));
  ASSIGN_OR_RETURN(problem.target,
                   ReadField<std::vector<int>>(object, "target", ReadAxes));
  RETURN_IF_ERROR(ValidateShardings(problem));
  RETURN_IF_ERROR(ReadLinks(object, problem));
  RETURN_IF_ERROR(Validate(problem));
  return problem;
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
  json["op"] = OpName(step.op);
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

absl::StatusOr<std::vector<LayoutCase>> CasesFromJson(std::string_view text) {
  ASSIGN_OR_RETURN(const json document, problem::ParseJson(text));
  ASSIGN_OR_RETURN(const json* list, Member(document, "", "cases"));
  RETURN_IF_ERROR(CheckArray(*list, "cases"));
  std::vector<LayoutCase> cases;
  for (size_t i = 0; i < list->size(); ++i) {
    const json& object = (*list)[i];
    LayoutCase made;
    if (!object.is_object()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "cases[", i, "] is ", object.type_name(), ", not an object"));
    }
    if (object.contains("name")) {
      if (!object["name"].is_string()) {
        return absl::InvalidArgumentError(
            absl::StrCat("cases[", i, "].name is not a string"));
      }
      made.name = object["name"].get<std::string>();
    }
    absl::StatusOr<LayoutProblem> problem = ReadProblem(object);
    if (!problem.ok()) return InCase(i, made.name, problem.status());
    made.problem = *std::move(problem);
    cases.push_back(std::move(made));
  }
  return cases;
}

absl::StatusOr<std::string> LayoutJson(std::string_view json,
                                       const SearchOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<LayoutCase> cases, CasesFromJson(json));
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
