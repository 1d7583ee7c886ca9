// Golden tables: what a test prints is held to a file beside it.
//
// MESHWRIGHT_UPDATE_GOLDEN=1 writes the files again; read the difference before
// you commit it.
#ifndef MESHWRIGHT_TESTS_GOLDEN_GOLDEN_H_
#define MESHWRIGHT_TESTS_GOLDEN_GOLDEN_H_

#include <string>

#include "coordinator/segmenter/blocks/strategy.h"

namespace meshwright {

// Fails the running test unless the file at `path` holds `table`.
void ExpectGolden(const std::string& path, const std::string& table);

// "; no columns: <reason>" for every strategy lost.
std::string LostStrategies(const segmenter::StrategySet& set);

}  // namespace meshwright

#endif  // MESHWRIGHT_TESTS_GOLDEN_GOLDEN_H_
