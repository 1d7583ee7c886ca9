#include "worker/pjrt/collectives.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace meshwright::worker::pjrt {
namespace {

hlo::HloModuleProto Parse(const std::string& text) {
  hlo::HloModuleProto module;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &module));
  return module;
}

std::string Table(const std::vector<v1::Collective>& collectives) {
  std::string table;
  for (const v1::Collective& row : collectives) {
    absl::StrAppend(&table, row.count(), " x ", row.kind(), " ", row.bytes(),
                    " B in groups of ", row.group_size(), "\n");
  }
  return table;
}

TEST(CollectivesTest, LoopsMultiplyAndEqualOnesMerge) {
  const auto module = Parse(R"pb(
    entry_computation_id: 1
    computations {
      id: 1
      instructions {
        opcode: "all-reduce"
        shape { element_type: F32 dimensions: 8 }
        replica_groups { replica_ids: 0 replica_ids: 1 }
      }
      instructions {
        opcode: "while"
        called_computation_ids: 2
        backend_config: '{"known_trip_count":{"n":"3"},"other":{"n":"7"}}'
      }
      instructions { opcode: "fusion" called_computation_ids: 2 }
    }
    computations {
      id: 2
      instructions {
        opcode: "all-reduce"
        shape { element_type: F32 dimensions: 8 }
        replica_groups { replica_ids: 0 replica_ids: 1 }
      }
    }
    computations {
      id: 3
      instructions { opcode: "all-gather" }
    })pb");
  EXPECT_EQ(Table(FindCollectives(module, 4)),
            "4 x all-reduce 32 B in groups of 2\n");
}

TEST(CollectivesTest, AsynchronousPairsCountOnce) {
  const auto module = Parse(R"pb(
    entry_computation_id: 1
    computations {
      id: 1
      instructions {
        opcode: "all-gather-start"
        shape {
          element_type: TUPLE
          tuple_shapes { element_type: BF16 dimensions: 4 }
          tuple_shapes { element_type: BF16 dimensions: 16 }
        }
        collective_device_list {
          iota_replica_group_list {
            num_replica_groups: 1
            num_devices_per_group: 4
          }
        }
      }
      instructions {
        opcode: "all-gather-done"
        shape { element_type: BF16 dimensions: 16 }
      }
      instructions {
        opcode: "all-reduce-start"
        shape {
          element_type: TUPLE
          tuple_shapes { element_type: F32 dimensions: 2 }
          tuple_shapes { element_type: F32 }
        }
      }
    })pb");
  EXPECT_EQ(Table(FindCollectives(module, 4)),
            "1 x all-gather 32 B in groups of 4\n"
            "1 x all-reduce 12 B in groups of 4\n");
}

TEST(CollectivesTest, CyclesEnd) {
  const auto module = Parse(R"pb(
    entry_computation_id: 1
    computations {
      id: 1
      instructions { opcode: "call" called_computation_ids: 1 }
    })pb");
  EXPECT_EQ(Table(FindCollectives(module, 2)), "");
}

}  // namespace
}  // namespace meshwright::worker::pjrt
