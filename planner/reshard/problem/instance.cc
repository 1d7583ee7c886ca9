#include "planner/reshard/problem/instance.h"

#include <algorithm>

#include "planner/reshard/problem/link_times.h"

namespace meshwright::reshard {
namespace {

// Numbers the ports that jobs use, in the order of hosts; others get no number.
std::vector<int> NumberPorts(const std::vector<bool>& used,
                             std::vector<int>& hosts) {
  std::vector<int> port(used.size());
  for (size_t host = 0; host < used.size(); ++host) {
    if (!used[host]) continue;
    port[host] = static_cast<int>(hosts.size());
    hosts.push_back(static_cast<int>(host));
  }
  return port;
}

// Jobs come with hosts for ports.
void UsePorts(const ReshardProblem& problem, Instance& instance) {
  std::vector<bool> sends(problem.hosts.size(), false);
  std::vector<bool> receives(problem.hosts.size(), false);
  for (const Job& job : instance.jobs) {
    for (const Choice& choice : job.choices) sends[choice.out] = true;
    for (const int receiver : job.receivers) receives[receiver] = true;
  }
  const std::vector<int> out = NumberPorts(sends, instance.out_hosts);
  const std::vector<int> in = NumberPorts(receives, instance.in_hosts);
  for (const int host : instance.out_hosts) {
    instance.out_links.push_back(problem.hosts[host].out_links);
  }
  for (const int host : instance.in_hosts) {
    instance.in_links.push_back(problem.hosts[host].in_links);
  }
  for (Job& job : instance.jobs) {
    for (Choice& choice : job.choices) choice.out = out[choice.out];
    for (int& receiver : job.receivers) receiver = in[receiver];
    std::sort(job.receivers.begin(), job.receivers.end());
    job.min_ticks = job.choices[0].ticks;
    for (const Choice& choice : job.choices) {
      job.min_ticks = std::min(job.min_ticks, choice.ticks);
    }
  }
}

}  // namespace

Instance MakeInstance(const ReshardProblem& problem) {
  const Durations durations(problem);
  Instance instance;
  for (size_t i = 0; i < problem.tasks.size(); ++i) {
    const UnitTask& task = problem.tasks[i];
    if (task.receivers.empty()) {
      instance.local.push_back(static_cast<int>(i));
      continue;
    }
    Job job{.task = static_cast<int>(i), .bytes = task.size_bytes};
    for (const int sender : task.senders) {
      if (durations.Speed(task, sender) <= 0) continue;
      job.choices.push_back(
          {sender, durations.ComputeTicks(task, sender, task.size_bytes)});
    }
    job.receivers = task.receivers;
    instance.jobs.push_back(std::move(job));
  }
  UsePorts(problem, instance);
  return instance;
}

Instance MakeInstance(const ReshardProblem& problem,
                      const std::vector<Part>& parts) {
  const Durations durations(problem);
  Instance instance;
  for (size_t i = 0; i < problem.tasks.size(); ++i) {
    if (problem.tasks[i].receivers.empty()) {
      instance.local.push_back(static_cast<int>(i));
    }
  }
  for (const Part& part : parts) {
    const UnitTask& task = problem.tasks[part.task];
    instance.jobs.push_back(
        {.task = part.task,
         .bytes = part.bytes,
         .choices = {{part.sender,
                      durations.ComputeTicks(task, part.sender, part.bytes)}},
         .receivers = task.receivers});
  }
  UsePorts(problem, instance);
  return instance;
}

Ticks ComputeMakespan(const Instance& instance, const Order& order,
                      std::vector<Ticks>& starts) {
  LinkTimes out(instance.out_links), in(instance.in_links);
  starts.assign(instance.jobs.size(), 0);
  Ticks makespan = 0;
  for (const auto& [index, choice] : order) {
    const Job& job = instance.jobs[index];
    const Choice& sender = job.choices[choice];
    Ticks start = out.FreeAt(sender.out);
    for (const int receiver : job.receivers) {
      start = std::max(start, in.FreeAt(receiver));
    }
    const Ticks end = start + sender.ticks;
    out.Occupy(sender.out, start, end);
    for (const int receiver : job.receivers) in.Occupy(receiver, start, end);
    starts[index] = start;
    makespan = std::max(makespan, end);
  }
  return makespan;
}

Ticks ComputeMakespan(const Instance& instance, const Order& order) {
  std::vector<Ticks> starts;
  return ComputeMakespan(instance, order, starts);
}

Schedule ToSchedule(const ReshardProblem& problem, const Instance& instance,
                    const Order& order) {
  Schedule schedule;
  for (const int task : instance.local) {
    schedule.push_back(
        {task, problem.tasks[task].senders[0], problem.tasks[task].size_bytes});
  }
  for (const auto& [index, choice] : order) {
    const Job& job = instance.jobs[index];
    schedule.push_back(
        {job.task, instance.out_hosts[job.choices[choice].out], job.bytes});
  }
  return schedule;
}

}  // namespace meshwright::reshard
