#include "coordinator/space/programs/program_key.h"

#include "base/fingerprint.h"

namespace meshwright::space {

std::string ComputeProgramKey(const v1::Program& program,
                              const KeyContext& context) {
  base::Fingerprinter print;
  print.Add(program.hlo_module());
  print.Add(program.num_partitions());
  for (const v1::InputSpec& input : program.inputs()) {
    print.Add(input.kind()).Add(input.bound());
  }
  print.Add(static_cast<int64_t>(context.mesh.size()));
  for (int64_t size : context.mesh) print.Add(size);
  if (context.device_digest.empty()) {
    print.Add(context.device_kind);
    print.Add(context.platform_version);
  } else {
    print.Add("device").Add(context.device_digest);
  }
  print.Add(context.options.version());
  if (!context.options.xla_flags().empty()) {
    print.Add("flags").Add(context.options.xla_flags());
  }
  return print.Hex();
}

}  // namespace meshwright::space
