// MakeUpProgram: a program as large as that of a row, for benches of stores.
//
// Concept: the rows of a two-layer model have programs of about kProgramBytes.
// Here each is another piece of one real module, so it is packed about as well.
// In → Out: the module and a number → a program of that number.
// Errors: none; a module that is not larger than a program is returned whole.
#ifndef MESHWRIGHT_TESTS_BENCH_MADE_UP_PROGRAM_H_
#define MESHWRIGHT_TESTS_BENCH_MADE_UP_PROGRAM_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace meshwright {

// The module that programs are pieces of, from the root of the tree.
inline constexpr char kProgramModule[] = "tests/testdata/gpt2_2l.hlo.pb";
inline constexpr size_t kProgramBytes = 40'000;

inline std::string MakeUpProgram(std::string_view module, int number) {
  if (module.size() <= kProgramBytes) return std::string(module);
  const size_t places = module.size() - kProgramBytes;
  const size_t place = static_cast<size_t>(number) * 4099 % places;
  std::string program(module.substr(place, kProgramBytes));
  program += " program " + std::to_string(number);
  return program;
}

}  // namespace meshwright

#endif  // MESHWRIGHT_TESTS_BENCH_MADE_UP_PROGRAM_H_
