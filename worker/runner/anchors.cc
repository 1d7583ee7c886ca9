#include "worker/runner/anchors.h"

#include <utility>

#include "base/status_macros.h"
#include "worker/runner/small_modules.h"
#include "worker/runner/tensor_values.h"

namespace meshwright::worker::runner {

absl::StatusOr<std::unique_ptr<Anchors>> Anchors::Load(
    const pjrt::Client& client, int devices) {
  std::vector<std::pair<std::string, hlo::HloModuleProto>> modules;
  modules.emplace_back("products", MakeProductsModule(512, 6));
  modules.emplace_back("launch", LaunchModule());
  auto anchors = std::make_unique<Anchors>();
  for (const auto& [name, module] : modules) {
    Anchor& anchor = anchors->anchors_.emplace_back();
    anchor.name = name;
    ASSIGN_OR_RETURN(anchor.executable,
                     client.Compile(module.SerializeAsString(), 1, devices));
    for (int device = 0; device < devices; ++device) {
      auto& inputs = anchor.inputs.emplace_back();
      for (const auto& shape : module.host_program_shape().parameters()) {
        v1::InputSpec spec;
        spec.set_seed(inputs.size() + 1);
        ASSIGN_OR_RETURN(
            const pjrt::HostArray array,
            MakeInput(spec, shape.element_type(),
                      {shape.dimensions().begin(), shape.dimensions().end()}));
        ASSIGN_OR_RETURN(pjrt::Buffer buffer, client.Upload(array, device));
        inputs.push_back(std::move(buffer));
      }
    }
  }
  return anchors;
}

absl::StatusOr<pjrt::Execution> Anchors::Run(int anchor) const {
  const Anchor& it = anchors_[anchor];
  std::vector<std::vector<const pjrt::Buffer*>> arguments;
  std::vector<int64_t> kept;
  for (size_t i = 0; i < it.inputs.front().size(); ++i) {
    kept.push_back(static_cast<int64_t>(i));
  }
  for (const auto& inputs : it.inputs) {
    auto& device = arguments.emplace_back();
    for (const pjrt::Buffer& input : inputs) device.push_back(&input);
  }
  return it.executable->Execute(arguments, kept);
}

}  // namespace meshwright::worker::runner
