// Tells the thread sanitizer of Abseil's mutexes, for the preset tsan.
//
// Concept: the system's Abseil is not built with the sanitizer, which so sees
// no order between two holders of a mutex, and takes all that it guards for a
// race. These functions stand in front of the library's of the same names and
// say before and after what they order. A condition that someone waits for may
// be evaluated by whoever unlocks; such reads are left out.
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#include <string>

#include "absl/synchronization/mutex.h"

extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
}

namespace {

#define MESHWRIGHT_TEXT_OF(name) #name
#define MESHWRIGHT_TEXT(name) MESHWRIGHT_TEXT_OF(name)

// The library's function; `rest` is its name behind the namespace, mangled.
template <typename Function>
Function Next(const char* rest) {
  const std::string space = MESHWRIGHT_TEXT(ABSL_OPTION_INLINE_NAMESPACE_NAME);
  const std::string name =
      "_ZN4absl" + std::to_string(space.size()) + space + rest;
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name.c_str()));
}

class IgnoringReads {
 public:
  IgnoringReads() { AnnotateIgnoreReadsBegin(__FILE__, __LINE__); }
  ~IgnoringReads() { AnnotateIgnoreReadsEnd(__FILE__, __LINE__); }
  IgnoringReads(const IgnoringReads&) = delete;
  IgnoringReads& operator=(const IgnoringReads&) = delete;
};

// Gives up the mutex, calls, and holds it again.
template <typename Call>
auto Waiting(void* mutex, const Call& call) {
  __tsan_release(mutex);
  auto result = [&] {
    const IgnoringReads ignoring;
    return call();
  }();
  __tsan_acquire(mutex);
  return result;
}

using OfMutex = void (*)(absl::Mutex*);

}  // namespace

namespace absl {
ABSL_NAMESPACE_BEGIN

void Mutex::Lock() {
  static const auto next = Next<OfMutex>("5Mutex4LockEv");
  next(this);
  __tsan_acquire(this);
}

void Mutex::Unlock() {
  static const auto next = Next<OfMutex>("5Mutex6UnlockEv");
  __tsan_release(this);
  const IgnoringReads ignoring;
  next(this);
}

bool Mutex::TryLock() {
  static const auto next = Next<bool (*)(Mutex*)>("5Mutex7TryLockEv");
  if (!next(this)) return false;
  __tsan_acquire(this);
  return true;
}

// Readers are ordered after writers, and by this after one another too.
void Mutex::ReaderLock() {
  static const auto next = Next<OfMutex>("5Mutex10ReaderLockEv");
  next(this);
  __tsan_acquire(this);
}

void Mutex::ReaderUnlock() {
  static const auto next = Next<OfMutex>("5Mutex12ReaderUnlockEv");
  __tsan_release(this);
  const IgnoringReads ignoring;
  next(this);
}

void Mutex::Await(const Condition& condition) {
  using Function = void (*)(Mutex*, const Condition&);
  static const auto next = Next<Function>("5Mutex5AwaitERKNS0_9ConditionE");
  Waiting(this, [&] {
    next(this, condition);
    return true;
  });
}

bool Mutex::AwaitWithTimeout(const Condition& condition, Duration timeout) {
  using Function = bool (*)(Mutex*, const Condition&, Duration);
  static const auto next = Next<Function>(
      "5Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE");
  return Waiting(this, [&] { return next(this, condition, timeout); });
}

bool Mutex::AwaitWithDeadline(const Condition& condition, Time deadline) {
  using Function = bool (*)(Mutex*, const Condition&, Time);
  static const auto next =
      Next<Function>("5Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE");
  return Waiting(this, [&] { return next(this, condition, deadline); });
}

void CondVar::Wait(Mutex* mutex) {
  using Function = void (*)(CondVar*, Mutex*);
  static const auto next = Next<Function>("7CondVar4WaitEPNS0_5MutexE");
  Waiting(mutex, [&] {
    next(this, mutex);
    return true;
  });
}

bool CondVar::WaitWithTimeout(Mutex* mutex, Duration timeout) {
  using Function = bool (*)(CondVar*, Mutex*, Duration);
  static const auto next =
      Next<Function>("7CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE");
  return Waiting(mutex, [&] { return next(this, mutex, timeout); });
}

ABSL_NAMESPACE_END
}  // namespace absl
