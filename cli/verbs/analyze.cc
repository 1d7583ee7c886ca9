#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "cli/flags/arguments.h"
#include "cli/flags/plan_file.h"
#include "cli/flags/strategy_flags.h"
#include "cli/text/table.h"
#include "cli/verbs/verbs.h"
#include "coordinator/export/analysis_json.h"
#include "coordinator/space/read_request.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;

struct AnalyzeFlags {
  std::string model;
  std::string mesh = "1x2";
  StrategyFlags strategies;
};

// Absent or of another kind: 0.
int64_t Count(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<int64_t>()
                                                     : 0;
}

std::string Describe(const json& analysis) {
  const json none = json::array();
  const auto list = [&](const char* name) -> const json& {
    const auto found = analysis.find(name);
    return found != analysis.end() && found->is_array() ? *found : none;
  };
  std::string text = absl::StrFormat(
      "%d instructions, %d contractions, %d ParallelBlocks\n",
      Count(analysis, "instructions"), Count(analysis, "contractions"),
      list("parallel_blocks").size());
  std::vector<TableRow> rows;
  for (const json& type : list("segment_types")) {
    rows.push_back({absl::StrCat("type ", rows.size()),
                    absl::StrCat(Count(type, "instances")),
                    absl::StrCat(Count(type, "blocks")),
                    absl::StrCat(Count(type, "configurations")),
                    absl::StrCat(Count(type, "switches"))});
  }
  absl::StrAppend(&text, FormatTable({{"segments", Align::kLeft},
                                      {"copies"},
                                      {"blocks in each"},
                                      {"configurations"},
                                      {"switches"}},
                                     rows));
  const auto programs = analysis.find("programs");
  if (programs != analysis.end() && programs->is_object()) {
    absl::StrAppend(
        &text,
        absl::StrFormat("%d programs to measure (%d segments, %d resharding), "
                        "%d distinct\n",
                        Count(*programs, "total"), Count(*programs, "segments"),
                        Count(*programs, "resharding"),
                        Count(*programs, "distinct")));
  }
  for (const json& barrier : list("barriers")) {
    absl::StrAppend(&text,
                    absl::StrFormat("barrier %s: %d\n",
                                    barrier.value("opcode", std::string("?")),
                                    Count(barrier, "count")));
  }
  for (const json& note : list("notes")) {
    if (!note.is_string()) continue;
    absl::StrAppend(&text, "note: ", note.get_ref<const std::string&>(), "\n");
  }
  return text;
}

absl::Status Analyze(const Context& context, const AnalyzeFlags& flags) {
  ASSIGN_OR_RETURN(const v1::MeshSpec mesh, ParseMesh(flags.mesh));
  ASSIGN_OR_RETURN(const std::string model, LoadModel(flags.model));
  ASSIGN_OR_RETURN(const v1::StrategyRequest strategies,
                   ToStrategyRequest(flags.strategies));
  ASSIGN_OR_RETURN(const auto request, space::ReadRequest(strategies));
  const auto analyzed = exporting::AnalyzeToJson(
      model, space::Mesh(mesh.shape().begin(), mesh.shape().end()), request);
  if (!analyzed.ok()) return NameModel(analyzed.status(), flags.model);
  const std::string& analysis = *analyzed;
  if (context.json) {
    *context.out << analysis;
    if (analysis.empty() || analysis.back() != '\n') *context.out << "\n";
    return absl::OkStatus();
  }
  *context.out << Describe(json::parse(analysis, nullptr, false));
  return absl::OkStatus();
}

}  // namespace

void AddAnalyzeVerb(CLI::App& app, Context& context) {
  const auto [verb, flags] =
      AddVerb(app, context, "analyze",
              "show the blocks, segments and programs of a model", Analyze);
  verb->add_option("model", flags->model, "MODEL.hlo.pb, HLO text or StableHLO")
      ->required();
  verb->add_option("--mesh", flags->mesh, "devices per axis")
      ->capture_default_str();
  AddStrategyFlags(*verb, &flags->strategies);
}

}  // namespace meshwright::cli
