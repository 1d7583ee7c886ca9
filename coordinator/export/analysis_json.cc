#include "coordinator/export/analysis_json.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "coordinator/export/assumed_device.h"
#include "coordinator/export/notes.h"
#include "coordinator/export/symbolic_json.h"
#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/space/configurations/switches.h"
#include "coordinator/space/profile_space.h"

namespace meshwright::exporting {
namespace {

using nlohmann::ordered_json;
using segmenter::Analysis;
using segmenter::SegmentTypeId;

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

ordered_json Blocks(const Analysis& analysis) {
  ordered_json blocks = ordered_json::array();
  for (size_t b = 0; b < analysis.blocks.blocks.size(); ++b) {
    const segmenter::ParallelBlock& block = analysis.blocks.blocks[b];
    ordered_json row;
    row["root"] = analysis.module.at(block.roots[0]).name();
    row["roots"] = ordered_json::array();
    for (ir::ValueId root : block.roots) {
      row["roots"].push_back(analysis.module.at(root).name());
    }
    row["contractions"] = block.contractions.size();
    row["operators"] = block.operators;
    row["strategies"] = ordered_json::array();
    for (const auto& strategy : analysis.strategies[b].strategies) {
      row["strategies"].push_back(strategy.name);
    }
    if (!analysis.strategies[b].lost.empty()) {
      row["lost"] = ordered_json::array();
      for (const auto& lost : analysis.strategies[b].lost) {
        row["lost"].push_back({{"strategy", segmenter::NameStrategy(lost.kind)},
                               {"reason", lost.reason}});
      }
    }
    blocks.push_back(std::move(row));
  }
  return blocks;
}

}  // namespace

absl::StatusOr<std::string> AnalyzeToJson(
    std::string_view module_bytes, const space::Mesh& mesh,
    const segmenter::StrategyRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(ir::Module module, ir::LoadModule(module_bytes));
  const double load_seconds = SecondsSince(start);
  const auto loaded = std::chrono::steady_clock::now();
  const int instructions = module.size();
  int contractions = 0;
  for (const ir::ValueId id : module.ids()) {
    contractions += ir::IsContraction(module, id);
  }
  ASSIGN_OR_RETURN(const Analysis analysis,
                   segmenter::Analyze(std::move(module), mesh, request));
  const double analyze_seconds = SecondsSince(loaded);

  space::KeyContext context;
  context.mesh = mesh;
  space::ProfileSpace space;
  absl::StatusOr<ordered_json> symbolic;
  base::ParallelFor(2, [&](int part) {
    if (part == 0) {
      symbolic = FormatSymbolicJson(analysis,
                                    AssumeDevice(context.device_kind).device);
    } else {
      space = BuildProfileSpace(analysis, context);
    }
  });
  RETURN_IF_ERROR(symbolic.status());
  RETURN_IF_ERROR(CheckConfigurations(analysis, space));
  std::vector<int> instances(analysis.types.size(), 0);
  for (SegmentTypeId type : analysis.type_of_segment) ++instances[type];

  ordered_json out;
  out["instructions"] = instructions;
  out["contractions"] = contractions;
  out["parallel_blocks"] = Blocks(analysis);
  out["segment_types"] = ordered_json::array();
  for (size_t t = 0; t < analysis.types.size(); ++t) {
    const segmenter::Segment& segment =
        analysis.plan.segments[analysis.types[t]];
    const std::vector<int> plain_ones =
        space::FindPlainConfigurations(space.types[t]);
    const std::set<int> plain(plain_ones.begin(), plain_ones.end());
    out["segment_types"].push_back(
        {{"blocks", segment.last_block - segment.first_block},
         {"instances", instances[t]},
         {"configurations", plain.size()},
         {"switches", plain_ones.size() - plain.size()}});
  }
  out["segment_sequence"] = ordered_json::array();
  for (const SegmentTypeId type : analysis.type_of_segment) {
    out["segment_sequence"].push_back(type.value());
  }
  out["programs"] = {
      {"segments", space.segment_programs},
      {"resharding", space.resharding_programs},
      {"total", space.segment_programs + space.resharding_programs},
      {"distinct", space.programs.size()}};
  out["barriers"] = ordered_json::array();
  for (const auto& [opcode, count] : analysis.blocks.barriers) {
    out["barriers"].push_back(
        {{"opcode", opcode}, {"count", count}, {"why", ir::FindRule(opcode)}});
  }
  out["symbolic"] = *std::move(symbolic);
  out["notes"] = ListNotes(analysis, space);
  out["split_contractions"] = analysis.split_contractions;
  out["seconds"] = {{"load", load_seconds}, {"analyze", analyze_seconds}};
  return out.dump(2);
}

}  // namespace meshwright::exporting
