// FormatTraceJson: a timeline as a trace file that Perfetto and
// chrome://tracing open.
//
// Concept: trace event JSON. Process "stages" has one thread per stage with
// complete events (ph X) of its operations. Process "links" has one thread per
// link and direction with those of the transfers, process "memory" one counter
// per stage, in bytes. Flows (ph s, t, f) go from what makes an activation or a
// gradient over its transfer to what reads it. Events are in the order of their
// time stamps, metadata first. Units: ts and dur in microseconds. Readers hold
// them in whole nanoseconds and cut off what is beyond, some after an inexact
// product. So starts and ends are rounded to nanoseconds, and a digit below is
// added where the product would fall short. Spans that do not overlap do not
// overlap in the trace. Exact times stand in args.start_ps and args.end_ps.
// Source: the Trace Event Format of the Chromium project.
#ifndef MESHWRIGHT_PLANNER_PIPELINE_TRACE_H_
#define MESHWRIGHT_PLANNER_PIPELINE_TRACE_H_

#include <string>

#include "planner/pipeline/pipeline_problem.h"
#include "planner/pipeline/timeline.h"

namespace meshwright::pipeline {

std::string FormatTraceJson(const PipelineProblem& problem,
                            const Timeline& timeline);

}  // namespace meshwright::pipeline

#endif  // MESHWRIGHT_PLANNER_PIPELINE_TRACE_H_
