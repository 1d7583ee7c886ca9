#include "coordinator/jobs/match_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace meshwright::jobs {
namespace {

WorkerDescription MakeWorker(int devices, const std::string& version) {
  WorkerDescription worker;
  worker.devices.platform = "cpu";
  worker.devices.platform_version = version;
  worker.devices.device_count = devices;
  return worker;
}

v1::DeviceSpec Wanted(int devices) {
  v1::DeviceSpec device;
  device.set_device_count(devices);
  return device;
}

TEST(MatchIndexTest, PriorityThenShareThenAge) {
  FairShare shares;
  shares.Enter("a");
  shares.Enter("b");
  shares.Charge("a", absl::Seconds(10));
  MatchIndex index(&shares);
  const WorkerId worker{1};
  index.AddWorker(worker, MakeWorker(2, ""));
  index.SetWorker(worker, true, true);
  const JobId old{1}, charged{2}, other{3}, urgent{4}, large{5};
  index.AddJob(old, Wanted(2), nullptr, 0, "b");
  index.AddJob(charged, Wanted(2), nullptr, 0, "a");
  index.AddJob(other, Wanted(1), nullptr, 0, "b");
  index.AddJob(urgent, Wanted(2), nullptr, 5, "a");
  index.AddJob(large, Wanted(4), nullptr, 9, "b");
  EXPECT_EQ(index.FindJob(worker), std::nullopt);
  for (const JobId job : {old, charged, other, urgent, large}) {
    index.SetWaiting(job, true);
  }
  std::vector<JobId> order;
  while (const auto job = index.FindJob(worker)) {
    order.push_back(*job);
    index.SetWaiting(*job, false);
  }
  EXPECT_EQ(order, (std::vector<JobId>{urgent, old, other, charged}));
  EXPECT_FALSE(index.HasUsableWorker(large));
  index.SetWaiting(charged, true);
  index.SetWaiting(old, true);
  index.SetPriority(charged, 1);
  EXPECT_EQ(index.FindJob(worker), charged);
}

TEST(MatchIndexTest, AHostIsHeldForAGangThatLacksAWorker) {
  FairShare shares;
  MatchIndex index(&shares);
  WorkerDescription member = MakeWorker(1, "");
  member.joins_gangs = true;
  const WorkerId a{1}, b{2}, c{3};
  for (const WorkerId worker : {a, b, c}) index.AddWorker(worker, member);
  index.SetWorker(a, true, true);
  index.SetWorker(b, true, false);
  const JobId gang{1}, small{2};
  index.AddJob(gang, Wanted(2), nullptr, 0, "", /*may_share=*/true);
  index.AddJob(small, Wanted(1), nullptr, 0, "");
  index.SetWaiting(small, true);
  EXPECT_EQ(index.FindWorker(small), a);
  index.SetWaiting(gang, true);
  EXPECT_EQ(index.FindJob(a), std::nullopt);
  EXPECT_EQ(index.FindWorker(small), std::nullopt);
  EXPECT_EQ(index.FindReleased(), std::nullopt);
  index.SetWorker(b, true, true);
  EXPECT_EQ(index.FindReleased(), a);
  EXPECT_EQ(index.FindJob(a), gang);
  EXPECT_EQ(index.CountMembers(a, gang), 2);
  EXPECT_EQ(index.FindIdle(a), (std::set<WorkerId>{a, b}));
  // Too few are left for a gang at all.
  index.RemoveWorker(b);
  EXPECT_FALSE(index.HasUsableWorker(gang));
  EXPECT_EQ(index.FindJob(a), small);
}

// What it costs to give jobs of four needs to workers of GPUs, one after
// another, and to take the workers back.
int64_t CountLooksWithHosts(int hosts) {
  constexpr int kOfHost = 8;
  FairShare shares;
  MatchIndex index(&shares);
  for (int i = 0; i < hosts * kOfHost; ++i) {
    WorkerDescription worker = MakeWorker(1, "");
    worker.joins_gangs = true;
    worker.host = absl::StrCat("host ", i / kOfHost);
    const WorkerId id{1 + i};
    index.AddWorker(id, worker);
    index.SetWorker(id, true, true);
  }
  const int64_t before = index.looked_at();
  for (int i = 0; i < 100; ++i) {
    const JobId job{1 + i};
    index.AddJob(job, Wanted(1 << (i % 4)), nullptr, 0, "",
                 /*may_share=*/true);
    index.SetWaiting(job, true);
    EXPECT_TRUE(index.HasUsableWorker(job));
    EXPECT_TRUE(index.FindUsable(Wanted(kOfHost), nullptr).has_value());
    const auto worker = index.FindWorker(job);
    EXPECT_TRUE(worker.has_value());
    if (!worker.has_value()) break;
    EXPECT_EQ(index.FindJob(*worker), job);
    index.SetWorker(*worker, true, false);
    index.FindReleased();
    index.SetWorker(*worker, true, true);
    index.RemoveJob(job);
  }
  return index.looked_at() - before;
}

TEST(MatchIndexTest, ADecisionCostsTheSameWithTenAndAThousandHosts) {
  EXPECT_EQ(CountLooksWithHosts(10), CountLooksWithHosts(1000));
}

// The rule of gangs, by looking at every worker of a host.
TEST(MatchIndexTest, FindsTheGangsThatAScanFinds) {
  struct Worker {
    std::string host;
    bool is_usable = false;
    bool is_idle = false;
  };
  struct Job {
    int members = 1;
    int priority = 0;
    bool is_waiting = false;
  };
  std::mt19937 random(5);
  const auto pick = [&](int count) {
    return static_cast<int>(random() % static_cast<unsigned>(count));
  };
  FairShare shares;
  MatchIndex index(&shares);
  std::map<WorkerId, Worker> workers;
  std::map<JobId, Job> jobs;
  const auto count = [&](const std::string& host, bool Worker::*is) {
    return std::count_if(workers.begin(), workers.end(), [&](const auto& it) {
      return it.second.host == host && it.second.*is;
    });
  };
  // Null: nobody's.
  const auto find_turn = [&](const std::string& host) {
    const std::pair<const JobId, Job>* turn = nullptr;
    for (const auto& it : jobs) {
      const Job& job = it.second;
      const bool has_enough =
          job.members == 1 || count(host, &Worker::is_usable) >= job.members;
      if (!job.is_waiting || !has_enough) continue;
      if (turn == nullptr || job.priority > turn->second.priority) turn = &it;
    }
    return turn;
  };
  const auto is_held = [&](const std::string& host) {
    const auto* const turn = find_turn(host);
    return turn != nullptr && turn->second.members > 1 &&
           count(host, &Worker::is_idle) < turn->second.members;
  };
  int held = 0;
  for (int step = 0; step < 4000; ++step) {
    const WorkerId worker_id{1 + pick(12)};
    const JobId job_id{1 + pick(8)};
    const auto worker = workers.find(worker_id);
    const auto job = jobs.find(job_id);
    switch (pick(4)) {
      case 0:
        if (worker == workers.end()) {
          WorkerDescription description = MakeWorker(1, "");
          description.joins_gangs = true;
          description.host = absl::StrCat("host ", worker_id.value % 3);
          index.AddWorker(worker_id, description);
          workers[worker_id].host = description.host;
        } else {
          index.RemoveWorker(worker_id);
          workers.erase(worker);
        }
        break;
      case 1:
        if (worker == workers.end()) break;
        worker->second.is_usable = pick(4) > 0;
        worker->second.is_idle = worker->second.is_usable && pick(2) == 0;
        index.SetWorker(worker_id, worker->second.is_usable,
                        worker->second.is_idle);
        break;
      case 2:
        if (job == jobs.end()) {
          Job& added = jobs[job_id];
          added.members = 1 << pick(3);
          added.priority = pick(2);
          index.AddJob(job_id, Wanted(added.members), nullptr, added.priority,
                       "", /*may_share=*/true);
        } else {
          index.RemoveJob(job_id);
          jobs.erase(job);
        }
        break;
      default:
        if (job == jobs.end()) break;
        job->second.is_waiting = !job->second.is_waiting;
        index.SetWaiting(job_id, job->second.is_waiting);
        break;
    }
    bool is_any_released = false;
    for (const auto& [id, it] : workers) {
      const auto* const turn = find_turn(it.host);
      std::optional<JobId> expected;
      if (is_held(it.host)) {
        ++held;
      } else if (turn != nullptr) {
        expected = turn->first;
        is_any_released = is_any_released || it.is_idle;
      }
      ASSERT_EQ(index.FindJob(id), expected) << step;
    }
    const auto released = index.FindReleased();
    if (released.has_value()) {
      ASSERT_TRUE(workers.at(*released).is_idle) << step;
      ASSERT_TRUE(index.FindJob(*released).has_value()) << step;
    } else {
      ASSERT_FALSE(is_any_released) << step;
    }
    for (const auto& [id, it] : jobs) {
      std::optional<WorkerId> first;
      bool is_usable = false;
      for (const auto& [other_id, other] : workers) {
        if (count(other.host, &Worker::is_usable) < it.members) continue;
        is_usable = true;
        if (!first.has_value() && other.is_idle && !is_held(other.host)) {
          first = other_id;
        }
      }
      ASSERT_EQ(index.FindWorker(id), first) << step;
      ASSERT_EQ(index.HasUsableWorker(id), is_usable) << step;
    }
  }
  EXPECT_GT(held, 100);
}

TEST(MatchIndexTest, IdleAndUsableAreDistinguished) {
  const FairShare shares;
  MatchIndex index(&shares);
  const JobId job{1};
  index.AddJob(job, Wanted(2), nullptr, 0, "");
  const WorkerId busy{1}, idle{2};
  index.AddWorker(busy, MakeWorker(2, ""));
  index.AddWorker(idle, MakeWorker(8, ""));
  EXPECT_FALSE(index.HasUsableWorker(job));
  index.SetWorker(busy, true, false);
  EXPECT_TRUE(index.HasUsableWorker(job));
  EXPECT_EQ(index.FindUsable(Wanted(2), nullptr), busy);
  EXPECT_EQ(index.FindUsable(Wanted(8), nullptr), std::nullopt);
  EXPECT_EQ(index.FindWorker(job), std::nullopt);
  index.SetWorker(idle, true, true);
  EXPECT_EQ(index.FindWorker(job), idle);
  index.RemoveWorker(idle);
  index.RemoveWorker(busy);
  EXPECT_FALSE(index.HasUsableWorker(job));
}

// The rule of the header, by looking at every job.
TEST(MatchIndexTest, FindsWhatAScanFinds) {
  struct Job {
    v1::DeviceSpec device;
    std::optional<DeviceDescription> exactly;
    int priority = 0;
    std::string name_space;
    bool is_waiting = false;
  };
  std::mt19937 random(17);
  const auto pick = [&](int count) {
    return static_cast<int>(random() % static_cast<unsigned>(count));
  };
  FairShare shares;
  for (int i = 0; i < 4; ++i) shares.Enter(absl::StrCat("n", i));
  MatchIndex index(&shares);
  std::map<JobId, Job> jobs;
  std::map<WorkerId, WorkerDescription> workers;
  int found = 0;
  for (int step = 0; step < 4000; ++step) {
    const JobId id{1 + pick(40)};
    const WorkerId worker_id{1 + pick(12)};
    switch (pick(6)) {
      case 0:
        if (jobs.contains(id)) {
          index.RemoveJob(id);
          jobs.erase(id);
        } else {
          Job& job = jobs[id];
          job.device = Wanted(1 << pick(4));
          if (pick(2) == 0) {
            job.exactly =
                MakeWorker(8, absl::StrCat("version ", pick(2))).devices;
          }
          job.priority = pick(3);
          job.name_space = absl::StrCat("n", pick(4));
          index.AddJob(id, job.device,
                       job.exactly.has_value() ? &*job.exactly : nullptr,
                       job.priority, job.name_space);
        }
        break;
      case 1:
        if (workers.contains(worker_id)) {
          index.RemoveWorker(worker_id);
          workers.erase(worker_id);
        } else {
          workers[worker_id] =
              MakeWorker(1 << pick(4), absl::StrCat("version ", pick(2)));
          index.AddWorker(worker_id, workers[worker_id]);
        }
        break;
      case 2:
        if (jobs.contains(id)) {
          jobs[id].priority = pick(3);
          index.SetPriority(id, jobs[id].priority);
        }
        break;
      case 3:
        shares.Charge(absl::StrCat("n", pick(4)), absl::Seconds(pick(100)));
        break;
      default:
        if (jobs.contains(id)) {
          jobs[id].is_waiting = pick(2) == 0;
          index.SetWaiting(id, jobs[id].is_waiting);
        }
        break;
    }
    for (const auto& [worker, description] : workers) {
      using Rank = std::tuple<int, absl::Duration, JobId>;
      std::optional<Rank> best;
      for (const auto& [job_id, job] : jobs) {
        if (!job.is_waiting ||
            !CanRun(description, job.device,
                    job.exactly.has_value() ? &*job.exactly : nullptr)
                 .ok()) {
          continue;
        }
        const Rank rank(-job.priority, shares.charged(job.name_space), job_id);
        if (!best.has_value() || rank < *best) best = rank;
      }
      const auto job = index.FindJob(worker);
      ASSERT_EQ(job.has_value(), best.has_value()) << step;
      if (!job.has_value()) continue;
      ++found;
      ASSERT_EQ(*job, std::get<JobId>(*best)) << step;
    }
  }
  EXPECT_GT(found, 1000);
}

}  // namespace
}  // namespace meshwright::jobs
