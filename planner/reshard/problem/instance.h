// Instance: a problem as the solvers see it; hosts are ports, sizes are ticks.
//
// Concept: a job is a task (or a part of one) that has to be sent. Each of its
// choices is a sender's outgoing port with the ticks it takes from there. Out
// ports and in ports are numbered apart, from 0, and only those in use. Tasks
// without receivers are no jobs.
// Threads: plain data.
#ifndef MESHWRIGHT_PLANNER_RESHARD_PROBLEM_INSTANCE_H_
#define MESHWRIGHT_PLANNER_RESHARD_PROBLEM_INSTANCE_H_

#include <vector>

#include "planner/reshard/problem/durations.h"
#include "planner/reshard/problem/reshard_problem.h"
#include "planner/reshard/problem/schedule.h"

namespace meshwright::reshard {

struct Choice {
  int out = 0;  // out port
  Ticks ticks = 0;

  bool operator==(const Choice&) const = default;
};

struct Job {
  int task = 0;
  int64_t bytes = 0;
  std::vector<Choice> choices;  // in the order of the task's senders
  std::vector<int> receivers;   // in ports, ascending
  Ticks min_ticks = 0;          // over the choices
};

struct Instance {
  std::vector<Job> jobs;
  std::vector<int> out_hosts;  // per out port
  std::vector<int> out_links;
  std::vector<int> in_hosts;  // per in port
  std::vector<int> in_links;
  std::vector<int> local;  // tasks without receivers

  int size() const { return static_cast<int>(jobs.size()); }
  int outs() const { return static_cast<int>(out_links.size()); }
  int ins() const { return static_cast<int>(in_links.size()); }
};

// A part of a task, bound to one of its senders.
struct Part {
  int task = 0;
  int sender = 0;
  int64_t bytes = 0;
};

Instance MakeInstance(const ReshardProblem& problem);
// The parts as jobs with one choice each.
Instance MakeInstance(const ReshardProblem& problem,
                      const std::vector<Part>& parts);

// A job in its place of the order, and which of its choices sends it.
struct Placed {
  int job = 0;
  int choice = 0;
};

using Order = std::vector<Placed>;

// Times an order by the rules of Replay, without checking it.
Ticks ComputeMakespan(const Instance& instance, const Order& order);
// The same, also where every job starts.
Ticks ComputeMakespan(const Instance& instance, const Order& order,
                      std::vector<Ticks>& starts);

Schedule ToSchedule(const ReshardProblem& problem, const Instance& instance,
                    const Order& order);

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_PROBLEM_INSTANCE_H_
