#include "coordinator/space/testing/program_entry.h"

#include <vector>

namespace meshwright::space {

ProgramEntry::ProgramEntry(const v1::Program& program) {
  module.ParseFromString(program.hlo_module());
  for (const auto& computation : module.computations()) {
    if (computation.id() != module.entry_computation_id()) continue;
    root = computation.root_id();
    for (const auto& it : computation.instructions()) {
      by_id[it.id()] = &it;
      if (it.opcode() == "parameter") {
        parameters[it.parameter_number()] = it.id();
      }
      for (int64_t operand : it.operand_ids()) users[operand].insert(it.id());
    }
  }
}

int ProgramEntry::Count(const std::string& opcode) const {
  int count = 0;
  for (const auto& [id, it] : by_id) count += it->opcode() == opcode;
  return count;
}

int64_t ProgramEntry::Output(int number) const {
  return by_id.at(root)->operand_ids(number);
}

std::multiset<std::string> ProgramEntry::UserOpcodes(int64_t id) const {
  std::multiset<std::string> opcodes;
  for (const int64_t user : users.at(id)) {
    opcodes.insert(by_id.at(user)->opcode());
  }
  return opcodes;
}

std::set<int64_t> ProgramEntry::Sources(int64_t id) const {
  std::set<int64_t> sources = {id};
  std::vector<int64_t> open = {id};
  while (!open.empty()) {
    const int64_t it = open.back();
    open.pop_back();
    for (const int64_t operand : by_id.at(it)->operand_ids()) {
      if (sources.insert(operand).second) open.push_back(operand);
    }
  }
  return sources;
}

}  // namespace meshwright::space
