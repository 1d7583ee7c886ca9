#include "coordinator/space/programs/program_key.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>

namespace meshwright::space {
namespace {

struct Keyed {
  v1::Program program;
  KeyContext context;

  std::string Key() const { return ComputeProgramKey(program, context); }
};

Keyed Example() {
  Keyed it;
  it.program.set_hlo_module("module");
  it.program.set_num_partitions(2);
  it.program.add_inputs()->set_kind(v1::InputSpec::NORMAL);
  it.program.add_inputs()->set_kind(v1::InputSpec::INDEX);
  it.program.mutable_inputs(1)->set_bound(7);
  it.context.mesh = {1, 2};
  it.context.device_kind = "cpu";
  it.context.platform_version = "version 1";
  it.context.device_digest = "a machine";
  it.context.options.set_version(7);
  it.context.options.set_xla_flags("--xla_a=1");
  return it;
}

using Change = std::function<void(Keyed&)>;

std::string KeyAfter(const Change& change) {
  Keyed it = Example();
  change(it);
  return it.Key();
}

// A wrong hit is silent: a plan is made from another program's time.
TEST(ProgramKeyTest, EachIngredientAloneChangesIt) {
  const std::map<std::string, Change> changes = {
      {"module", [](Keyed& it) { it.program.set_hlo_module("other"); }},
      {"partitions", [](Keyed& it) { it.program.set_num_partitions(4); }},
      {"kind of an input",
       [](Keyed& it) {
         it.program.mutable_inputs(0)->set_kind(v1::InputSpec::POSITIVE);
       }},
      {"bound of an input",
       [](Keyed& it) { it.program.mutable_inputs(1)->set_bound(8); }},
      {"order of inputs",
       [](Keyed& it) { it.program.mutable_inputs()->SwapElements(0, 1); }},
      {"one more input", [](Keyed& it) { it.program.add_inputs(); }},
      {"mesh",
       [](Keyed& it) {
         it.context.mesh = {2, 1};
       }},
      {"axes of the mesh",
       [](Keyed& it) {
         it.context.mesh = {1, 1, 2};
       }},
      {"device", [](Keyed& it) { it.context.device_digest = "another"; }},
      {"unknown device", [](Keyed& it) { it.context.device_digest.clear(); }},
      {"protocol", [](Keyed& it) { it.context.options.set_version(8); }},
      {"flags",
       [](Keyed& it) { it.context.options.set_xla_flags("--xla_a=2"); }},
      {"no flags", [](Keyed& it) { it.context.options.set_xla_flags(""); }},
  };
  std::set<std::string> keys = {Example().Key()};
  for (const auto& [name, change] : changes) {
    EXPECT_TRUE(keys.insert(KeyAfter(change)).second) << name;
  }
}

TEST(ProgramKeyTest, OfAnUnknownMachineItNamesKindAndVersion) {
  const auto unknown = [](const Change& change) {
    return KeyAfter([&](Keyed& it) {
      it.context.device_digest.clear();
      change(it);
    });
  };
  const std::set<std::string> keys = {
      unknown([](Keyed&) {}),
      unknown([](Keyed& it) { it.context.device_kind = "gpu"; }),
      unknown([](Keyed& it) { it.context.platform_version = "version 2"; })};
  EXPECT_EQ(keys.size(), 3u);
}

// Equal programs of other layers, models and teams share their row.
TEST(ProgramKeyTest, NamesLabelsAndSeedsAreNoPartOfIt) {
  const std::map<std::string, Change> changes = {
      {"key", [](Keyed& it) { it.program.set_key("key"); }},
      {"label", [](Keyed& it) { it.program.set_label("segment 1"); }},
      {"seed", [](Keyed& it) { it.program.mutable_inputs(0)->set_seed(5); }},
      {"compile only", [](Keyed& it) { it.program.set_compile_only(true); }},
      {"timed only", [](Keyed& it) { it.program.set_timed_only(true); }},
      {"the plugin's words of a known machine",
       [](Keyed& it) {
         it.context.device_kind = "CPU";
         it.context.platform_version = "one";
       }},
      {"barriers of the context",
       [](Keyed& it) { it.context.keeps_barriers = false; }},
  };
  for (const auto& [name, change] : changes) {
    EXPECT_EQ(KeyAfter(change), Example().Key()) << name;
  }
}

}  // namespace
}  // namespace meshwright::space
