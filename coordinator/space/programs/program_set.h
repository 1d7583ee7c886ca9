// ProgramSet: the programs of a profile space, equal ones kept once.
//
// Threads: one.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_PROGRAMS_PROGRAM_SET_H_
#define MESHWRIGHT_COORDINATOR_SPACE_PROGRAMS_PROGRAM_SET_H_

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "coordinator/space/configurations/configuration.h"
#include "proto/v1/job.pb.h"

namespace meshwright::space {

class ProgramSet {
 public:
  // The index of the program; its label is that of the first equal one.
  ProgramId Keep(v1::Program program, const std::string& label) {
    const auto [found, added] =
        by_key_.emplace(program.key(), programs_.size());
    if (added) {
      program.set_label(label);
      programs_.push_back(std::move(program));
    }
    return found->second;
  }

  // Keeps those of another set; returns by index in that one the index here.
  std::vector<ProgramId> Keep(ProgramSet&& other) {
    std::vector<ProgramId> kept;
    for (v1::Program& program : other.programs_) {
      const std::string label = program.label();
      kept.push_back(Keep(std::move(program), label));
    }
    return kept;
  }

  std::vector<v1::Program> Take() && { return std::move(programs_); }

 private:
  std::unordered_map<std::string, ProgramId> by_key_;
  std::vector<v1::Program> programs_;
};

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_PROGRAMS_PROGRAM_SET_H_
