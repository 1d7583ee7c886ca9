#include "coordinator/launch/manifest.h"

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/export/whole_model.h"

namespace meshwright::launch {
namespace {

using ir::ValueId;
using nlohmann::ordered_json;

class ManifestWriter {
 public:
  ManifestWriter(const Launch& launch, const v1::Plan& plan)
      : launch_(launch), plan_(plan), module_(launch.analysis.module) {
    for (size_t m = 0; m < launch.modules.size(); ++m) {
      const exporting::StepPart& part = launch.modules[m].part;
      for (const ValueId id : part.leaving) made_by_[id] = m;
      for (const ValueId id : part.summed) summed_by_[id] = m;
    }
    for (size_t k = 0; k < module_.outputs.size(); ++k) {
      outputs_[module_.outputs[k]].push_back(static_cast<int>(k));
    }
  }

  ordered_json Write() const {
    ordered_json json;
    json["schema_version"] = 1;
    json["model"] = {{"fingerprint", plan_.model().fingerprint()},
                     {"name", plan_.model().name()}};
    json["schedule"] = plan_.pipeline().schedule();
    json["micro_batches"] = launch_.micro_batches;
    json["stages"] = ordered_json::array();
    for (const v1::PlanStage& stage : plan_.stages()) {
      json["stages"].push_back({{"mesh", stage.mesh()},
                                {"devices", stage.devices()},
                                {"first_segment", stage.first_segment()},
                                {"segments", stage.segments_size()}});
    }
    json["modules"] = ordered_json::array();
    for (const LaunchModule& it : launch_.modules) {
      json["modules"].push_back(Module(it));
    }
    json["order"] = ordered_json::array();
    for (const LaunchCall& call : launch_.calls) {
      json["order"].push_back(
          {{"module", call.module}, {"micro_batch", call.micro_batch}});
    }
    return json;
  }

 private:
  ordered_json Module(const LaunchModule& it) const {
    ordered_json json;
    json["file"] = NameFile(it.place);
    json["stage"] = it.place.stage;
    json["pass"] = NamePlace(it.place);
    json["parameters"] = ordered_json::array();
    for (const ValueId id : it.part.entering) {
      json["parameters"].push_back(Parameter(it.place, id));
    }
    json["outputs"] = ordered_json::array();
    for (const ValueId id : it.part.leaving) {
      ordered_json output = Tensor("value", id);
      const auto found = outputs_.find(id);
      if (found != outputs_.end()) output["step_outputs"] = found->second;
      json["outputs"].push_back(std::move(output));
    }
    for (const ValueId id : it.part.summed) {
      json["parameters"].push_back(Tensor("sum", id));
      json["outputs"].push_back(Tensor("sum", id));
    }
    json["aliases"] = ordered_json::array();
    const auto alias = [&](size_t output, size_t parameter) {
      json["aliases"].push_back({{"output", output}, {"parameter", parameter}});
    };
    for (const ir::Alias& pair : it.part.aliases) {
      alias(pair.output, pair.parameter);
    }
    for (size_t i = 0; i < it.part.summed.size(); ++i) {
      alias(it.part.leaving.size() + i, it.part.entering.size() + i);
    }
    return json;
  }

  ordered_json Parameter(const Place& reader, ValueId id) const {
    if (const std::optional<int> argument = FindArgument(module_, id)) {
      ordered_json json = Tensor("argument", id);
      json["index"] = *argument;
      json["name"] = exporting::NameArgument(module_.at(id));
      json["role"] =
          segmenter::NameRole(launch_.analysis.passes.roles[*argument]);
      json["per_micro_batch"] = launch_.IsOfMicroBatch(*argument);
      return json;
    }
    const auto sum = summed_by_.find(id);
    const bool sums = reader.pass == Pass::kUpdate && sum != summed_by_.end();
    ordered_json json = Tensor(sums ? "sum" : NameKind(reader, id), id);
    json["module"] = sums ? sum->second : made_by_.at(id);
    return json;
  }

  std::string NameKind(const Place& reader, ValueId id) const {
    const Place& made = launch_.modules[made_by_.at(id)].place;
    if (made.pass == Pass::kUpdate) return "updated";
    const bool forward = made.pass == Pass::kForward;
    if (made.stage == reader.stage && forward) return "kept";
    return forward ? "activation" : "gradient";
  }

  ordered_json Tensor(const std::string& kind, ValueId id) const {
    const ir::Shape& shape = module_.at(id).shape;
    return {{"kind", kind}, {"value", id.value()}, {"shape", shape.dims}};
  }

  const Launch& launch_;
  const v1::Plan& plan_;
  const ir::Module& module_;
  std::map<ValueId, size_t> made_by_;
  std::map<ValueId, size_t> summed_by_;
  std::map<ValueId, std::vector<int>> outputs_;
};

}  // namespace

std::string NameFile(const Place& place) {
  return absl::StrCat("stage-", place.stage, "/", NamePlace(place), ".hlo.pb");
}

std::string WriteManifest(const Launch& launch, const v1::Plan& plan) {
  return ManifestWriter(launch, plan).Write().dump(2) + "\n";
}

}  // namespace meshwright::launch
