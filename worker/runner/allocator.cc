#include "worker/runner/allocator.h"

#if MESHWRIGHT_TCMALLOC
#include <dlfcn.h>
#include <gperftools/malloc_extension.h>

#include <cstdlib>

#include "worker/runner/huge_pages.h"
#endif

namespace meshwright::worker::runner {

void KeepFreedMemory() {
#if MESHWRIGHT_TCMALLOC
  MallocExtension::instance()->SetMemoryReleaseRate(0);
  // It outlives all that is allocated in it.
  static auto* const pages = new HugePages();
  MallocExtension::instance()->SetSystemAllocator(pages);
#endif
}

const char* NameAllocator() {
#if MESHWRIGHT_TCMALLOC
  if (dlsym(RTLD_DEFAULT, "malloc") == reinterpret_cast<void*>(&std::malloc)) {
    return "tcmalloc";
  }
#endif
  return "the system's";
}

}  // namespace meshwright::worker::runner
