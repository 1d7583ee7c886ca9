#include "coordinator/jobs/testing/fake_measurer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "profiledb/store/row_time.h"
#include "proto/hlo/hlo.pb.h"

namespace meshwright::jobs {
namespace {

// More than any segment of the test steps saves.
constexpr int64_t kTemporaryBytes = 16 << 20;
constexpr double kLaunchSeconds = 5e-6;
constexpr int kSamples = 12;

using Instruction = hlo::HloInstructionProto;

// How the tensor is cut: parts along each dimension.
std::vector<int64_t> Parts(const Instruction& it) {
  std::vector<int64_t> parts(it.shape().dimensions_size(), 1);
  const hlo::OpSharding& sharding = it.sharding();
  if (sharding.type() != hlo::OpSharding::OTHER) return parts;
  for (size_t i = 0; i < parts.size(); ++i) {
    parts[i] = sharding.tile_assignment_dimensions(static_cast<int>(i));
  }
  return parts;
}

double ShardElements(const Instruction& it) {
  double elements = 1;
  const std::vector<int64_t> parts = Parts(it);
  for (size_t i = 0; i < parts.size(); ++i) {
    elements *= static_cast<double>(it.shape().dimensions(static_cast<int>(i)));
    elements /= static_cast<double>(parts[i]);
  }
  return elements;
}

class ProgramCost {
 public:
  ProgramCost(uint64_t machine, double interaction,
              const hlo::HloModuleProto& module)
      : machine_(machine), interaction_(interaction) {
    for (const auto& it : module.computations()) computations_[it.id()] = &it;
    seconds_ += SumCosts(module.entry_computation_id());
  }

  double seconds() const { return seconds_; }
  // The part that moves between devices, and what moves.
  double moving_seconds() const { return moving_seconds_; }
  const std::map<std::pair<std::string, int64_t>, int64_t>& moves() const {
    return moves_;
  }

 private:
  double SumCosts(int64_t computation, double times = 1) {
    double seconds = 0;
    for (const Instruction& it :
         computations_.at(computation)->instructions()) {
      by_id_[it.id()] = &it;
      if (it.opcode() == "while") {
        const double trips = Trips(it.called_computation_ids(1));
        seconds +=
            trips * SumCosts(it.called_computation_ids(0), times * trips);
      } else {
        times_ = times;
        seconds += ComputeCost(it);
      }
    }
    return seconds;
  }

  // The limit of the counter.
  double Trips(int64_t condition) const {
    for (const Instruction& it : computations_.at(condition)->instructions()) {
      if (it.literal().s32s_size() == 1) return it.literal().s32s(0);
    }
    return 1;
  }

  // Between 0.5 and 1.5, the same for every program of the machine.
  double Whim(const std::string& what, uint64_t split) const {
    const uint64_t hash =
        base::Mix(base::Mix(machine_, base::Mix(0, what)), split);
    return 0.5 + static_cast<double>(hash % 1000) / 1000;
  }

  double ComputeCost(const Instruction& it) {
    if (it.opcode() == "parameter" || it.opcode() == "tuple" ||
        it.opcode() == "opt-barrier") {
      return 0;
    }
    if (it.opcode() == "get-tuple-element" &&
        by_id_.at(it.operand_ids(0))->opcode() == "opt-barrier") {
      return 0;
    }
    uint64_t split = 0;
    for (int64_t part : Parts(it)) split = split * 8 + part;
    double seconds = 1e-9 * ShardElements(it) * Whim(it.opcode(), split);
    if (it.opcode() == "dot") seconds += Contract(it, split);
    if (it.opcode() == "copy" && it.operand_ids_size() == 1) {
      const Instruction& from = *by_id_.at(it.operand_ids(0));
      if (Parts(from) != Parts(it)) seconds += Move(it, "all-to-all");
    }
    return seconds;
  }

  double Interact(uint64_t split) {
    const uint64_t before = std::exchange(last_split_, split);
    return 1 + 2 * interaction_ * (Whim("pair", before * 4096 + split) - 1);
  }

  double Move(const Instruction& it, const char* kind) {
    const double seconds = 2e-6 + 8e-9 * ShardElements(it) * Whim("move", 0);
    moving_seconds_ += times_ * seconds;
    const auto bytes = static_cast<int64_t>(4 * ShardElements(it));
    moves_[{kind, bytes}] += static_cast<int64_t>(times_);
    return seconds;
  }

  double Contract(const Instruction& it, uint64_t split) {
    const Instruction& lhs = *by_id_.at(it.operand_ids(0));
    const std::vector<int64_t> parts = Parts(lhs);
    double depth = 1;
    bool partial = false;
    for (int64_t dim :
         it.dot_dimension_numbers().lhs_contracting_dimensions()) {
      depth *=
          static_cast<double>(lhs.shape().dimensions(static_cast<int>(dim)));
      depth /= static_cast<double>(parts[dim]);
      partial |= parts[dim] > 1;
    }
    const double work =
        1e-9 * ShardElements(it) * depth * Whim("dot", split) * Interact(split);
    return partial ? work + Move(it, "all-reduce") : work;
  }

  const uint64_t machine_;
  const double interaction_;
  std::map<int64_t, const hlo::HloComputationProto*> computations_;
  std::map<int64_t, const Instruction*> by_id_;
  std::map<std::pair<std::string, int64_t>, int64_t> moves_;
  uint64_t last_split_ = 0;  // of a dot
  double times_ = 1;         // that the computation at hand runs
  double moving_seconds_ = 0;
  double seconds_ = kLaunchSeconds;
};

}  // namespace

absl::StatusOr<jobs::DeviceDescription> FakeMeasurer::Describe(
    const v1::DeviceSpec& device) {
  jobs::DeviceDescription description{"cpu", "1", "cpu", device.device_count()};
  description.fingerprint.set_solo(device.solo());
  return description;
}

absl::Status FakeMeasurer::Measure(const v1::RunnerRequest& request,
                                   const OnResult& on_result,
                                   const OnStarted& on_started) {
  batches.push_back(request.programs_size());
  for (const v1::Program& program : request.programs()) {
    if (programs == stops_after) {
      return absl::UnavailableError("made to stop");
    }
    ++programs;
    v1::ProfileResult result;
    result.set_key(program.key());
    if (fails.contains(programs)) {
      result.set_outcome(fail_as);
      result.set_reason("made to fail");
    } else {
      result.set_outcome(v1::MEASURED);
      v1::Measurement& it = *result.mutable_measurement();
      FillMeasurement(program, &it);
      it.set_median_ns(it.minimum_ns());
      // Such a row's standard error (profiledb/store/row_time.h) is that of a
      // time shaken evenly by `noise` to either side.
      if (noise > 0) it.mutable_samples_ns()->Resize(kSamples, it.median_ns());
      it.set_mad_ns(std::llround(std::sqrt(kSamples / 3.0) /
                                 store::kMedianErrorOfMad * noise *
                                 static_cast<double>(it.minimum_ns())));
      it.mutable_memory()->set_temporary_bytes(kTemporaryBytes);
      it.mutable_memory()->set_peak_bytes(kTemporaryBytes);
    }
    if (alter) alter(request, result);
    RETURN_IF_ERROR(on_result(result));
  }
  return absl::OkStatus();
}

absl::StatusOr<store::Results> FakeMeasurer::MeasureAll(
    const std::vector<v1::Program>& programs) {
  v1::RunnerRequest request;
  request.mutable_programs()->Assign(programs.begin(), programs.end());
  store::Results results;
  RETURN_IF_ERROR(Measure(
      request,
      [&](const v1::ProfileResult& row) {
        results[row.key()] = row;
        return absl::OkStatus();
      },
      [](const v1::RunnerEvent::Started&) {}));
  return results;
}

void FakeMeasurer::FillMeasurement(const v1::Program& program,
                                   v1::Measurement* row) const {
  const uint64_t hash = base::Mix(machine.value_or(0), program.key());
  if (!machine.has_value()) {
    row->set_minimum_ns(1'000'000 + static_cast<int64_t>(hash % 1'000'000));
    return;
  }
  hlo::HloModuleProto module;
  module.ParseFromString(program.hlo_module());
  const uint64_t luck = noise_seed == 0 ? hash : base::Mix(noise_seed, hash);
  const double shake =
      slowness * (1 + noise * (static_cast<double>(luck % 2001) / 1000 - 1));
  const ProgramCost cost(*machine, interaction, module);
  row->set_minimum_ns(std::llround(cost.seconds() * 1e9 * shake));
  row->set_communication_ns(std::llround(cost.moving_seconds() * 1e9 * shake));
  for (const auto& [move, count] : cost.moves()) {
    v1::Collective& it = *row->add_collectives();
    it.set_kind(move.first);
    it.set_bytes(move.second);
    it.set_group_size(program.num_partitions());
    it.set_count(count);
  }
}

absl::Status BusyMeasurer::Measure(const v1::RunnerRequest& request,
                                   const OnResult& on_result,
                                   const OnStarted& on_started) {
  const auto slow_down = [&](const v1::ProfileResult& result) {
    const bool is_slow = !slow.has_value() || slow->contains(result.key());
    if (result.outcome() != v1::MEASURED || !is_slow ||
        !slowed.insert(result.key()).second) {
      return on_result(result);
    }
    v1::ProfileResult noisy = result;
    v1::Measurement& it = *noisy.mutable_measurement();
    it.set_minimum_ns(it.minimum_ns() * 17 / 10);
    it.set_median_ns(it.minimum_ns());
    it.set_compute_ns(it.minimum_ns());
    it.clear_communication_ns();
    it.clear_samples_ns();
    it.set_quality(v1::NOISY);
    it.set_other_load(0.5);
    it.add_noise(v1::BUSY_MACHINE);
    return on_result(noisy);
  };
  return FakeMeasurer::Measure(request, slow_down, on_started);
}

}  // namespace meshwright::jobs
