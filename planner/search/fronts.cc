#include "planner/search/fronts.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

namespace meshwright::search {
namespace {

using problem::SaturatingAdd;

std::vector<Cost> Sum(const std::vector<Cost>& a, const std::vector<Cost>& b) {
  std::vector<Cost> sum(a.size());
  for (size_t c = 0; c < a.size(); ++c) sum[c] = Clamp(a[c] + b[c]);
  return sum;
}

// The least of `values` along `link` into each configuration of the next copy.
std::vector<Cost> Forward(const std::optional<Link>& link,
                          const std::vector<Cost>& values, size_t size) {
  if (!link.has_value()) {
    return std::vector<Cost>(size,
                             *std::min_element(values.begin(), values.end()));
  }
  return MinPlus({link->matrix, !link->transposed}, values);
}

}  // namespace

Fronts::Fronts(const std::vector<Stop>& stops, const FrontLimits& limits)
    : stops_(stops), limits_(limits), fronts_(stops.size()) {
  MakeBefore();
}

void Fronts::MakeBefore() {
  for (size_t s = 0; s < stops_.size(); ++s) {
    const Stop& stop = stops_[s];
    const size_t size = stop.time.size();
    Before before;
    if (s == 0) {
      before.time = before.bytes = before.priced = std::vector<Cost>(size, 0);
    } else {
      const Stop& last = stops_[s - 1];
      const Before& earlier = before_.back();
      std::vector<Cost> bytes(last.time.size());
      std::vector<Cost> priced(last.time.size());
      for (size_t c = 0; c < bytes.size(); ++c) {
        const bool allowed = last.time[c] < kNever;
        bytes[c] = allowed ? Clamp(last.kind->bytes[c]) : kNever;
        priced[c] =
            Clamp(last.time[c] + PriceOf(limits_.price, last.kind->bytes[c]));
      }
      // Links cost time only, so bytes take the least over any pair.
      const std::vector<Cost> sum = Sum(earlier.bytes, bytes);
      before.bytes = Forward(std::nullopt, sum, size);
      before.time = Forward(last.next, Sum(earlier.time, last.time), size);
      before.priced = Forward(last.next, Sum(earlier.priced, priced), size);
    }
    before_.push_back(std::move(before));
  }
}

bool Fronts::Fits(int64_t bytes, int64_t transient) const {
  return SaturatingAdd(bytes, std::max(transient, limits_.least_transient)) <=
         limits_.limit_bytes;
}

// The least time of any plan that fits and ends in `label`; empty if none can
// fit or all take longer than most_time.
std::optional<Cost> Fronts::Bound(size_t stop, int config,
                                  const Label& label) const {
  const Before& before = before_[stop];
  if (!Fits(SaturatingAdd(label.bytes, before.bytes[config]),
            label.transient)) {
    return std::nullopt;
  }
  Cost bound = label.time + before.time[config];
  if (bound > limits_.most_time) return std::nullopt;
  const int64_t room = limits_.limit_bytes - label.bytes -
                       std::max(label.transient, limits_.least_transient);
  const Cost priced =
      label.time + before.priced[config] - PriceOf(limits_.price, room) - 1;
  bound = std::max(bound, priced);
  if (bound > limits_.most_time) return std::nullopt;
  return bound;
}

void Fronts::Fill(size_t s) {
  const Stop& stop = stops_[s];
  fronts_[s].resize(stop.time.size());
  std::vector<Bounded> found;
  const auto add = [&](int config, Label label) {
    label.time += stop.time[config];
    label.bytes = SaturatingAdd(label.bytes, stop.kind->bytes[config]);
    label.transient = std::max(label.transient, stop.kind->transient[config]);
    ++candidates_;
    const auto bound = Bound(s, config, label);
    if (bound.has_value()) found.push_back({label, *bound});
  };
  for (size_t c = 0; c < stop.time.size(); ++c) {
    if (stop.time[c] >= kNever || before_[s].time[c] >= kNever) continue;
    found.clear();
    if (s + 1 == stops_.size()) {
      add(c, {});
    } else {
      for (size_t d = 0; d < fronts_[s + 1].size(); ++d) {
        const Cost link = stop.next.has_value() ? stop.next->at(c, d) : 0;
        if (link >= kNever) continue;
        for (Label label : fronts_[s + 1][d]) {
          label.time += link;
          add(c, label);
        }
      }
    }
    Keep(found, fronts_[s][c]);
  }
}

void Fronts::Keep(std::vector<Bounded>& found, std::vector<Label>& front) {
  std::sort(found.begin(), found.end(), [](const Bounded& a, const Bounded& b) {
    return std::tie(a.label.time, a.label.bytes, a.label.transient) <
           std::tie(b.label.time, b.label.bytes, b.label.transient);
  });
  // Bytes → transient of the labels kept, both strictly monotone.
  std::map<int64_t, int64_t> stairs;
  size_t kept = 0;
  for (const Bounded& candidate : found) {
    const Label& label = candidate.label;
    auto above = stairs.upper_bound(label.bytes);
    if (above != stairs.begin() &&
        std::prev(above)->second <= label.transient) {
      continue;  // dominated: not slower, not larger
    }
    while (above != stairs.end() && above->second >= label.transient) {
      above = stairs.erase(above);
    }
    stairs[label.bytes] = label.transient;
    found[kept++] = candidate;
  }
  found.resize(kept);
  if (found.size() > limits_.width) {
    std::stable_sort(
        found.begin(), found.end(),
        [](const Bounded& a, const Bounded& b) { return a.bound < b.bound; });
    let_go_ = std::min(let_go_, found[limits_.width].bound);
    found.resize(limits_.width);
  }
  for (const Bounded& candidate : found) front.push_back(candidate.label);
}

Cost Fronts::Solve(const Until& until) {
  for (size_t s = stops_.size(); s > 0; --s) {
    if (until()) {
      let_go_ = 0;
      return kNever;
    }
    Fill(s - 1);
  }
  for (const std::vector<Label>& front : fronts_[0]) {
    for (const Label& label : front) best_ = std::min(best_, label.time);
  }
  return best_;
}

void Fronts::Choose(std::vector<int>& slots) const {
  Label so_far;
  for (size_t s = 0; s < stops_.size(); ++s) {
    const Stop& stop = stops_[s];
    const auto reaches = [&](Cost link, const Label& label) {
      return so_far.time + link + label.time == best_ &&
             Fits(SaturatingAdd(so_far.bytes, label.bytes),
                  std::max(so_far.transient, label.transient));
    };
    for (size_t c = 0; c < stop.time.size(); ++c) {
      Cost link = 0;
      if (s > 0 && stops_[s - 1].next.has_value()) {
        link = stops_[s - 1].next->at(slots[stops_[s - 1].slot], c);
      }
      const std::vector<Label>& front = fronts_[s][c];
      if (std::none_of(front.begin(), front.end(), [&](const Label& label) {
            return reaches(link, label);
          })) {
        continue;
      }
      slots[stop.slot] = c;
      so_far.time += link + stop.time[c];
      so_far.bytes = SaturatingAdd(so_far.bytes, stop.kind->bytes[c]);
      so_far.transient = std::max(so_far.transient, stop.kind->transient[c]);
      break;
    }
  }
}

}  // namespace meshwright::search
