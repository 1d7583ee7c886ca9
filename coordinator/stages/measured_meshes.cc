#include "coordinator/stages/measured_meshes.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/jobs/suspension.h"
#include "coordinator/problem/memory_limit.h"
#include "planner/pipeline/choose_stages.h"
#include "planner/pipeline/partition.h"
#include "profiledb/store/away.h"

namespace meshwright::stages {
namespace {

constexpr int kMaxMicroBatches = 1 << 16;

absl::Status Bad(const std::string& sentence) {
  return absl::InvalidArgumentError(sentence);
}

absl::StatusOr<int> MicroBatches(const v1::StageRequest& request, int own) {
  const int asked = request.micro_batches();
  if (asked < 0 || asked > kMaxMicroBatches) {
    return Bad(absl::StrCat("micro-batches are ", asked, "; give 1 to ",
                            kMaxMicroBatches));
  }
  if (own > 1 && asked != 0 && asked != own) {
    return Bad(absl::StrCat(
        "the model accumulates over ", own, " micro-batches itself, and ",
        asked,
        " are asked for; leave --micro-batches out, or give a model of "
        "one micro-batch"));
  }
  if (own == 1 && asked == 0) {
    return Bad(
        "the model is the step of one micro-batch, and how many make a step is "
        "not said; give --micro-batches");
  }
  return own > 1 ? own : asked;
}

absl::StatusOr<Bandwidths> ParseBandwidths(const v1::StageRequest& request,
                                           const Cluster& cluster,
                                           std::vector<std::string>* notes) {
  Bandwidths read{request.host_bytes_per_second(),
                  request.device_bytes_per_second()};
  for (const double figure : {read.host, read.device}) {
    if (!std::isfinite(figure) || figure < 0) {
      return Bad(absl::StrCat("a bandwidth is ", figure,
                              "; give bytes per second, more than 0"));
    }
  }
  if (cluster.rows > 1 && read.host == 0) {
    return Bad(absl::StrCat(
        "stages on different hosts of a ", cluster.rows, "x", cluster.columns,
        " cluster send tensors to each other, and how fast is not said; give "
        "--bandwidth, like 12.5GB, in bytes per second of a host's port"));
  }
  if (cluster.columns > 1 && read.device == 0) {
    if (read.host == 0) {
      return Bad(
          "stages on devices of one host send tensors to each other, and how "
          "fast is not said; give --device-bandwidth, like 100GB, in bytes per "
          "second of a device's port");
    }
    read.device = read.host;
    notes->push_back(
        "within a host every device's port is taken to be as fast as a host's "
        "to the network; --device-bandwidth says otherwise");
  }
  return read;
}

// What the search for a partition would refuse after all measurements.
absl::Status CheckSize(const StageTerms& terms,
                       const std::vector<space::Mesh>& meshes, size_t cuts) {
  const pipeline::PartitionProblem outline =
      OutlinePartition(terms, meshes, cuts);
  for (const pipeline::Schedule kind :
       pipeline::ListMemoryKinds(outline, terms.schedule)) {
    RETURN_IF_ERROR(pipeline::CheckPartition(outline, kind));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<StageTerms> ParseStageTerms(
    const v1::PlanRequest& request, const segmenter::Analysis& analysis) {
  const v1::StageRequest& asked = request.stages();
  StageTerms terms;
  ASSIGN_OR_RETURN(terms.cluster, ParseCluster({request.mesh().shape().begin(),
                                                request.mesh().shape().end()}));
  const int64_t own = CountOwnMicroBatches(analysis);
  if (own > kMaxMicroBatches) {
    return Bad(absl::StrCat("the model loops over ", own,
                            " micro-batches; at most ", kMaxMicroBatches,
                            " are planned"));
  }
  terms.own_micro_batches = static_cast<int>(own);
  ASSIGN_OR_RETURN(terms.micro_batches,
                   MicroBatches(asked, terms.own_micro_batches));
  ASSIGN_OR_RETURN(terms.bandwidths,
                   ParseBandwidths(asked, terms.cluster, &terms.notes));
  terms.device_as_host = asked.device_bytes_per_second() == 0;
  if (!asked.schedule().empty()) {
    ASSIGN_OR_RETURN(terms.schedule, pipeline::ParseSchedule(asked.schedule()));
  }
  if (request.strategies().grouped_size() > 0) {
    return Bad(
        "segments that recompute in groups are not cut into stages; plan "
        "without groups, or without --stages");
  }
  terms.overlap = !asked.no_overlap();
  terms.memory_limit_bytes =
      formulation::FindUsableBytes(request.device_memory_bytes());
  return terms;
}

absl::StatusOr<v1::PlanRequest> UseClusterMesh(const v1::PlanRequest& request) {
  ASSIGN_OR_RETURN(const Cluster cluster,
                   ParseCluster({request.mesh().shape().begin(),
                                 request.mesh().shape().end()}));
  v1::PlanRequest made = request;
  made.mutable_mesh()->clear_shape();
  made.mutable_mesh()->add_shape(cluster.rows);
  made.mutable_mesh()->add_shape(cluster.columns);
  return made;
}

pipeline::PartitionProblem OutlinePartition(
    const StageTerms& terms, const std::vector<space::Mesh>& meshes,
    size_t cuts) {
  pipeline::PartitionProblem problem;
  for (const space::Mesh& mesh : meshes) {
    problem.meshes.push_back({NameMesh(mesh), space::CountDevices(mesh)});
  }
  problem.devices = terms.cluster.Devices();
  problem.micro_batches = terms.micro_batches;
  problem.overlap = terms.overlap;
  problem.memory_limit_bytes = terms.memory_limit_bytes;
  problem.boundaries.resize(cuts);
  problem.stage_costs = [](const pipeline::StageOnMesh&, int) {
    return std::optional<pipeline::Stage>();
  };
  return problem;
}

absl::StatusOr<std::unique_ptr<MeasuredMeshes>> MeasureMeshes(
    const v1::PlanRequest& request,
    const planning::PlanDependencies& dependencies,
    const jobs::ProgressFunction& progress) {
  ASSIGN_OR_RETURN(const segmenter::Analysis analysis,
                   planning::AnalyzeStep(request));
  auto made = std::make_unique<MeasuredMeshes>();
  ASSIGN_OR_RETURN(made->terms, ParseStageTerms(request, analysis));
  const StageTerms& terms = made->terms;
  made->notes = terms.notes;
  made->passes = FindPasses(analysis);
  made->cuts = FindCuts(analysis, made->passes, terms.own_micro_batches);
  made->shared = FindShared(analysis, made->passes);
  const std::vector<space::Mesh> meshes = ListStageMeshes(terms.cluster);
  RETURN_IF_ERROR(CheckSize(terms, meshes, made->cuts.size()));
  for (const space::Mesh& mesh : meshes) {
    const bool is_cluster = mesh == analysis.mesh;
    const auto here = is_cluster ? absl::StatusOr<segmenter::Analysis>(analysis)
                                 : segmenter::OnMesh(analysis, mesh);
    auto step = here.ok() ? planning::MeasureAnalyzed(request, *here,
                                                      dependencies, progress)
                          : here.status();
    const bool left_out =
        absl::IsInvalidArgument(step.status()) ||
        (absl::IsUnavailable(step.status()) &&
         !jobs::IsSuspended(step.status()) && !store::IsAway(step.status()));
    if (!step.ok() && left_out && !is_cluster) {
      made->notes.push_back(absl::StrCat("no stage is on a mesh ",
                                         NameMesh(mesh), ": ",
                                         std::string(step.status().message())));
      continue;
    }
    RETURN_IF_ERROR(step.status());
    auto measured = std::make_unique<MeasuredMesh>();
    measured->step = *std::move(step);
    made->meshes.push_back(std::move(measured));
  }
  RETURN_IF_ERROR(OpenSearches(*made));
  return made;
}

absl::Status OpenSearches(MeasuredMeshes& step) {
  const StageTerms& terms = step.terms;
  const bool sums = terms.own_micro_batches == 1 && terms.micro_batches > 1;
  for (const auto& mesh : step.meshes) {
    mesh->splits = std::make_unique<PassTimeSplit>(
        mesh->step, step.passes, terms.own_micro_batches, sums);
  }
  return SetLimit(step, terms.memory_limit_bytes);
}

absl::Status SetLimit(MeasuredMeshes& step, std::optional<int64_t> limit) {
  step.terms.memory_limit_bytes = limit;
  for (const auto& mesh : step.meshes) {
    ASSIGN_OR_RETURN(StageSearch search,
                     StageSearch::Create(mesh->step, step.shared,
                                         step.terms.own_micro_batches,
                                         step.terms.micro_batches, limit));
    mesh->search = std::make_unique<StageSearch>(std::move(search));
  }
  return absl::OkStatus();
}

void ApplyPassTimes(MeasuredMeshes& step) {
  for (const auto& mesh : step.meshes) {
    mesh->search->ApplyPassTimes(
        [&](segmenter::SegmentTypeId type, int configuration) {
          return mesh->splits->Estimate({type, configuration});
        });
  }
}

}  // namespace meshwright::stages
