// ReadXSpace: the kernels of XLA's own profile.
//
// Concept: every plane "/device:..." holds one line per stream, and every event
// of such a line is a kernel or a copy. The event's name is the kernel's; its
// stats name the HLO instruction. Lines that XLA derives for its viewers
// ("XLA Ops", "Steps") are left out, because they repeat the streams. Whatever
// a plugin writes is read: an event whose times no clock shows has none, and
// long names are cut.
#ifndef MESHWRIGHT_WORKER_COLLECT_XSPACE_RECORDS_H_
#define MESHWRIGHT_WORKER_COLLECT_XSPACE_RECORDS_H_

#include "proto/hlo/xplane.pb.h"
#include "worker/collect/records.h"

namespace meshwright::worker::collect {

Collection ReadXSpace(const hlo::XSpace& space);

}  // namespace meshwright::worker::collect

#endif  // MESHWRIGHT_WORKER_COLLECT_XSPACE_RECORDS_H_
