// Properties that hold for the analysis of every module. For tests and fuzzers:
// a break is a bug of the segmenter, never of its input.
// Errors: kInternal, as stated below.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_TESTING_CHECK_ANALYSIS_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_TESTING_CHECK_ANALYSIS_H_

#include "absl/status/status.h"
#include "coordinator/segmenter/analysis.h"

namespace meshwright::segmenter {

// kInternal, with the first thing that does not hold:
//  (a) the segments cover the blocks in order, each once
//  (b) a strategy splits every root of its block along dimensions it has, of
//      sizes that the axis divides
//  (c) a segment's graph holds operations it owns or everyone computes, in
//      dependency order, with the operands they have in the module
//  (d) an input of a graph is an argument of the step, or an output of the one
//      segment that owns it
//  (e) the step's outputs are given by one segment each, or are arguments
//  (f) segments of one type have equally many values, inputs and outputs, of
//      equal shapes
absl::Status CheckAnalysis(const Analysis& analysis);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_TESTING_CHECK_ANALYSIS_H_
