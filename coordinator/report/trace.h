// FormatTrace: timelines as a trace that Perfetto opens (ui.perfetto.dev).
//
// Concept: each device of a timeline is a process, "predicted: device 3 of
// stage 2", with a thread per lane, so that communication stands apart from
// computing, and a counter of its memory. Slices carry their segment's
// configuration. Devices of a group have equal tracks, so a group of more than
// 16 is one process: "predicted: devices 0-1023".
// In → Out: timelines → a serialized perfetto.protos.Trace.
// Units: nanoseconds; slices that touch share their rounded border, and slices
// shorter than a nanosecond are left out.
// Source: Perfetto's protos/perfetto/trace/perfetto_trace.proto.
#ifndef MESHWRIGHT_COORDINATOR_REPORT_TRACE_H_
#define MESHWRIGHT_COORDINATOR_REPORT_TRACE_H_

#include <string>
#include <vector>

#include "coordinator/report/timeline.h"

namespace meshwright::report {

std::string FormatTrace(const std::vector<Timeline>& timelines);

}  // namespace meshwright::report

#endif  // MESHWRIGHT_COORDINATOR_REPORT_TRACE_H_
