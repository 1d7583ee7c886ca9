#include "worker/runner/huge_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>

namespace meshwright::worker::runner {
namespace {

constexpr size_t kPage = size_t{2} << 20;

size_t RoundUp(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

void* HugePages::Alloc(size_t size, size_t* actual_size, size_t alignment) {
  const size_t unit = std::max(alignment, kPage);
  const size_t bytes = RoundUp(size, kPage);
  if (bytes < size || bytes + unit < bytes) return nullptr;
  void* const mapped = mmap(nullptr, bytes + unit, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  // What stands out on both sides goes back.
  const auto begin = reinterpret_cast<uintptr_t>(mapped);
  const uintptr_t first = RoundUp(begin, unit);
  const uintptr_t end = begin + bytes + unit;
  if (first > begin) munmap(mapped, first - begin);
  auto* const memory = reinterpret_cast<char*>(first);
  munmap(memory + bytes, end - first - bytes);
  madvise(memory, bytes, MADV_HUGEPAGE);
  if (actual_size != nullptr) *actual_size = bytes;
  return memory;
}

}  // namespace meshwright::worker::runner
