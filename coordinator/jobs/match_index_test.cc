#include "coordinator/jobs/match_index.h"

#include <gtest/gtest.h>

#include <random>
#include <tuple>
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

TEST(MatchIndexTest, AKindIsHeldForAGangThatLacksAWorker) {
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
  EXPECT_TRUE(index.IsHeld(a));
  index.SetWorker(b, true, true);
  EXPECT_EQ(index.FindJob(a), gang);
  EXPECT_EQ(index.CountMembers(a, gang), 2);
  EXPECT_EQ(index.FindIdle(a), (std::set<WorkerId>{a, b}));
  // Too few are left for a gang at all.
  index.RemoveWorker(b);
  EXPECT_FALSE(index.HasUsableWorker(gang));
  EXPECT_EQ(index.FindJob(a), small);
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
