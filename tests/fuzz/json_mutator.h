// JsonMutator: changes a JSON document and leaves it one.
//
// Concept: bytes changed at random rarely stay JSON, so the values of the
// document are changed. Numbers become other numbers, the odd ones among them
// (zero, negative, huge, no integer). Members and elements go, come twice or
// change places, and whole values are replaced by others of the document.
// Threads: none of its own; deterministic in the seed.
#ifndef MESHWRIGHT_TESTS_FUZZ_JSON_MUTATOR_H_
#define MESHWRIGHT_TESTS_FUZZ_JSON_MUTATOR_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace meshwright::fuzz {

// Text that is no JSON comes back as it is.
std::string MutateJson(std::string_view document, uint32_t seed);

}  // namespace meshwright::fuzz

#endif  // MESHWRIGHT_TESTS_FUZZ_JSON_MUTATOR_H_
