// The entry of a program, by instruction id, for tests of what is written.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_TESTING_PROGRAM_ENTRY_H_
#define MESHWRIGHT_COORDINATOR_SPACE_TESTING_PROGRAM_ENTRY_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "proto/hlo/hlo.pb.h"
#include "proto/v1/job.pb.h"

namespace meshwright::space {

struct ProgramEntry {
  explicit ProgramEntry(const v1::Program& program);
  ProgramEntry(const ProgramEntry&) = delete;
  ProgramEntry& operator=(const ProgramEntry&) = delete;

  int Count(const std::string& opcode) const;
  int64_t Output(int number) const;
  std::multiset<std::string> UserOpcodes(int64_t id) const;
  // All that `id` is computed from, itself too.
  std::set<int64_t> Sources(int64_t id) const;

  hlo::HloModuleProto module;
  int64_t root = 0;
  std::map<int64_t, const hlo::HloInstructionProto*> by_id;
  std::map<int64_t, int64_t> parameters;  // ids by number
  std::map<int64_t, std::multiset<int64_t>> users;
};

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_TESTING_PROGRAM_ENTRY_H_
