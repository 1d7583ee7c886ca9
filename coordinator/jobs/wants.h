// Wants: programs that plans wait for while another plan's job measures them.
//
// Concept: a job is its submitter's. Plans that ask for some of its programs
// wait for the rows, and *want* them. A want is for keys, whether a job has
// them yet or not. When the submitter lets go of its job, what is wanted goes
// on, for the first of those that want it.
// Threads: one at a time; the queue's lock guards it. Errors: none.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_WANTS_H_
#define MESHWRIGHT_COORDINATOR_JOBS_WANTS_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/strong_id.h"

namespace meshwright::jobs {

// Whose a job or a want is.
struct JobOrigin {
  std::string owner;
  std::string model;
  std::string plan;        // "plan-7"
  std::string name_space;  // what workers measure for it is charged to
  int priority = 0;        // higher ones go first
  // Of a plan from before the restart: workers may have programs of it.
  bool was_taken_over = false;
  // While it measured: they may be on their way.
  bool was_interrupted = false;
};

using WantId = base::StrongId<struct WantTag>;

class Wants {
 public:
  WantId Add(const std::vector<std::string>& keys, const JobOrigin& origin);
  // The keys that it was for; none where the want is unknown.
  std::vector<std::string> Remove(WantId id);

  bool Contains(const std::string& key) const { return by_key_.contains(key); }
  // The oldest want of the program.
  std::optional<WantId> FindFirst(const std::string& key) const;
  // The highest priority of its wants; nothing where there is none.
  std::optional<int> FindPriority(const std::string& key) const;
  // The want is known.
  const JobOrigin& origin(WantId id) const { return wants_.at(id).origin; }

 private:
  struct Want {
    std::vector<std::string> keys;
    JobOrigin origin;
  };

  int64_t last_ = 0;
  std::map<WantId, Want> wants_;
  absl::flat_hash_map<std::string, std::set<WantId>> by_key_;
};

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_WANTS_H_
