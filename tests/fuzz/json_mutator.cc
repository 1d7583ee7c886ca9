#include "tests/fuzz/json_mutator.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

namespace meshwright::fuzz {
namespace {

using nlohmann::ordered_json;
using Random = std::minstd_rand;

size_t Below(Random& random, size_t limit) { return random() % limit; }

// Every value of the document, the root first.
void Collect(ordered_json& value, std::vector<ordered_json*>& values) {
  values.push_back(&value);
  if (!value.is_structured()) return;
  for (ordered_json& child : value) Collect(child, values);
}

ordered_json OddValue(Random& random) {
  static const ordered_json kValues[] = {0,
                                         1,
                                         -1,
                                         2,
                                         63,
                                         4097,
                                         1'000'000,
                                         0.5,
                                         -0.0,
                                         1e-12,
                                         1e-320,
                                         1e19,
                                         1e308,
                                         -1e308,
                                         std::numeric_limits<int64_t>::max(),
                                         std::numeric_limits<int64_t>::min(),
                                         std::numeric_limits<uint64_t>::max(),
                                         int64_t{1} << 53,
                                         nullptr,
                                         true,
                                         false,
                                         "",
                                         "a",
                                         "R",
                                         "S01",
                                         ordered_json::array(),
                                         ordered_json::object(),
                                         ordered_json::array({0})};
  return kValues[Below(random, std::size(kValues))];
}

void ChangeNumber(ordered_json& value, Random& random) {
  switch (Below(random, 4)) {
    case 0:
      value = OddValue(random);
      break;
    case 1:
      value = static_cast<int64_t>(Below(random, 8));
      break;
    case 2:
      value = value.get<double>() * 1e3;
      break;
    default:
      value = value.get<double>() / 2;
  }
}

// The member or element at `place` goes, or comes again.
void ChangeChildren(ordered_json& value, Random& random) {
  const size_t place = Below(random, value.size());
  auto at = value.begin();
  std::advance(at, place);
  switch (Below(random, 3)) {
    case 0:
      value.erase(at);
      break;
    case 1:
      if (value.is_array()) value.push_back(ordered_json(*at));
      break;
    default:
      std::swap(*at, *value.begin());
  }
}

void Change(ordered_json& document, Random& random) {
  std::vector<ordered_json*> values;
  Collect(document, values);
  ordered_json& value = *values[Below(random, values.size())];
  if (Below(random, 4) == 0) {
    value = Below(random, 2) == 0
                ? OddValue(random)
                : ordered_json(*values[Below(random, values.size())]);
  } else if (value.is_number()) {
    ChangeNumber(value, random);
  } else if (value.is_structured() && !value.empty()) {
    ChangeChildren(value, random);
  } else {
    value = OddValue(random);
  }
}

}  // namespace

std::string MutateJson(std::string_view document, uint32_t seed) {
  ordered_json json =
      ordered_json::parse(document.begin(), document.end(), nullptr, false);
  if (json.is_discarded()) return std::string(document);
  Random random(seed);
  const size_t changes = 1 + Below(random, 3);
  for (size_t i = 0; i < changes; ++i) Change(json, random);
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace meshwright::fuzz
