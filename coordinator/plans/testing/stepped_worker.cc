#include "coordinator/plans/testing/stepped_worker.h"

#include "absl/strings/str_cat.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::plans {

SteppedWorker::SteppedWorker(jobs::JobQueue* queue, const std::string& version,
                             const std::string& platform)
    : queue_(queue) {
  jobs::WorkerDescription description;
  description.name = absl::StrCat("worker of ", version);
  description.devices.platform = platform;
  description.devices.platform_version = version;
  description.devices.device_count = 2;
  id_ = *queue_->Attach(description, this);
}

SteppedWorker::~SteppedWorker() { queue_->Leave(id_); }

void SteppedWorker::Push(jobs::LeaseId lease,
                         const v1::RunnerRequest& request) {
  base::MutexLock lock(&mutex_);
  lease_ = lease;
  context_ = base::LogScope::Current();
  keys_.clear();
  for (const v1::Program& program : request.programs()) {
    keys_.push_back(program.key());
    seen_.push_back(program.key());
  }
}

void SteppedWorker::Cancel(jobs::LeaseId /*lease*/) {
  base::MutexLock lock(&mutex_);
  ++cancelled_;
}

void SteppedWorker::Acknowledge(jobs::LeaseId /*lease*/) {
  base::MutexLock lock(&mutex_);
  ++acknowledged_;
}

void SteppedWorker::Await() {
  base::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(this, &SteppedWorker::HasLease));
}

void SteppedWorker::Measure(int count) {
  for (int i = 0; i < count; ++i) {
    v1::RunnerEvent event;
    jobs::LeaseId lease;
    {
      base::MutexLock lock(&mutex_);
      *event.mutable_result() = store::MakeFounded("any");
      event.mutable_result()->set_key(keys_.front());
      keys_.erase(keys_.begin());
      lease = *lease_;
    }
    queue_->Update(id_, lease, event);
  }
}

void SteppedWorker::Serve() {
  Await();
  int count = 0;
  {
    base::MutexLock lock(&mutex_);
    count = static_cast<int>(keys_.size());
  }
  Measure(count);
  Finish();
}

void SteppedWorker::Finish() {
  jobs::LeaseId lease;
  {
    base::MutexLock lock(&mutex_);
    lease = lease_.value();
    lease_.reset();
    keys_.clear();
  }
  v1::RunnerEvent finished;
  finished.mutable_finished();
  queue_->Update(id_, lease, finished);
}

base::LogContext SteppedWorker::context() {
  base::MutexLock lock(&mutex_);
  return context_;
}

std::vector<std::string> SteppedWorker::seen() {
  base::MutexLock lock(&mutex_);
  return seen_;
}

int SteppedWorker::cancelled() {
  base::MutexLock lock(&mutex_);
  return cancelled_;
}

int SteppedWorker::acknowledged() {
  base::MutexLock lock(&mutex_);
  return acknowledged_;
}

}  // namespace meshwright::plans
