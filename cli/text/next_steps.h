// What a person can do with a plan next, as commands to copy.
//
// Concept: the commands name the files that the plan was made from and written
// to, and the flags without which they would use another store or device. A
// word that a shell would take apart is quoted.
// Threads: pure functions. Errors: none.
#ifndef MESHWRIGHT_CLI_TEXT_NEXT_STEPS_H_
#define MESHWRIGHT_CLI_TEXT_NEXT_STEPS_H_

#include <string>
#include <vector>

#include "proto/v1/plan.pb.h"

namespace meshwright::cli {

struct NextStep {
  std::string purpose;  // "run it"
  std::string command;  // "meshwright validate MODEL PLAN"
};

// Where a plan came from; empty: the default, of `plan`: not written, and of
// `id`: no coordinator keeps it.
struct PlanSource {
  std::string model;
  std::string plan;
  std::string store;
  std::string device_flags;     // " --platform cuda --plugin FILE"
  bool has_own_devices = true;  // not a coordinator's, and not one for all
  std::string id;               // "plan-17"
  std::string address_flags;    // " --coordinator HOST:PORT --ca FILE"
};

std::string QuoteWord(const std::string& word);

std::vector<NextStep> ListNextSteps(const v1::Plan& plan,
                                    const PlanSource& source);
// Of a plan that a coordinator keeps; `flags` begins with a space or is empty.
std::vector<NextStep> ListNextSteps(const std::string& id,
                                    const std::string& flags);

// Measures the programs of the plan again; empty: no command does.
std::string RemeasureCommand(const PlanSource& source);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_TEXT_NEXT_STEPS_H_
