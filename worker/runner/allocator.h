// Allocator: where temporaries, outputs and the plugin's own objects lie.
//
// Concept: a CPU plugin allocates the temporaries and outputs of every run, and
// objects of every operation. The allocator is therefore part of what is timed.
// The runner brings its own, tcmalloc, for itself and for the plugin it loads.
// Small blocks need no lock. Compiling leaves free blocks by the thousand; a
// large block costs the same however many there are.
// Source: docs/decisions/measuring.md.
#ifndef MESHWRIGHT_WORKER_RUNNER_ALLOCATOR_H_
#define MESHWRIGHT_WORKER_RUNNER_ALLOCATOR_H_

namespace meshwright::worker::runner {

// Memory that was freed is kept for the next run, whose pages are then there,
// and huge where the kernel has such (huge_pages.h).
// Call it before anything is timed.
void KeepFreedMemory();

// As rows of a store name it: "tcmalloc" where libraries loaded later allocate
// with it, else "the system's" (sanitizers bring their own).
const char* NameAllocator();

}  // namespace meshwright::worker::runner

#endif  // MESHWRIGHT_WORKER_RUNNER_ALLOCATOR_H_
