// HugePages: memory for tcmalloc that lies in huge pages.
//
// Concept: of a program that runs for a millisecond, every page that it touches
// costs a walk through the page tables, of the guest and of the host. What that
// takes depends on all else that the process holds: beside whole steps the same
// program was a quarter slower at best than alone. A huge page is 512 pages.
// Where the kernel has none the pages are small ones.
// Units: bytes. Threads: any; tcmalloc holds its own lock.
// Errors: null where there is no memory.
#ifndef MESHWRIGHT_WORKER_RUNNER_HUGE_PAGES_H_
#define MESHWRIGHT_WORKER_RUNNER_HUGE_PAGES_H_

#include <gperftools/malloc_extension.h>

#include <cstddef>

namespace meshwright::worker::runner {

class HugePages : public SysAllocator {
 public:
  void* Alloc(size_t size, size_t* actual_size, size_t alignment) override;
};

}  // namespace meshwright::worker::runner

#endif  // MESHWRIGHT_WORKER_RUNNER_HUGE_PAGES_H_
