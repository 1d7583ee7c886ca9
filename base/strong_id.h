// Ids that cannot be mixed up: StrongId<struct JobTag> and
// StrongId<struct WorkerTag> are different types. Zero names nothing.
//
// StrongIndex<struct ProgramTag> is the same for the place of an element in a
// vector. It converts to a number, for subscripts; no number and no other index
// converts to it. Where there may be none, it stands in a std::optional. A loop
// over a vector counts one up, or goes over an IndexRange (index_range.h):
//
//   for (ProgramId id; id < programs.size(); ++id)
//
// Indices that several rooms hand to each other are strong: values, loops,
// segments and their types, programs. The planner's nodes, values of domains,
// stages and blocks are ints: its solvers work on dense arrays in inner loops.
// The two are converted in coordinator/problem.
#ifndef MESHWRIGHT_BASE_STRONG_ID_H_
#define MESHWRIGHT_BASE_STRONG_ID_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace meshwright::base {

template <typename Tag>
struct StrongId {
  int64_t value = 0;

  friend auto operator<=>(const StrongId&,
                          const StrongId&) = default;  // NOLINT
};

// `Storage`: what it takes in memory.
template <typename Tag, typename Storage = size_t>
class StrongIndex {
 public:
  constexpr StrongIndex() = default;
  constexpr explicit StrongIndex(size_t index)
      : index_(static_cast<Storage>(index)) {}
  template <typename Other, typename Width>
  explicit StrongIndex(StrongIndex<Other, Width>) = delete;

  constexpr operator size_t() const { return index_; }  // NOLINT: a subscript
  constexpr size_t value() const { return index_; }

  constexpr StrongIndex& operator++() {
    ++index_;
    return *this;
  }

  friend auto operator<=>(const StrongIndex&,
                          const StrongIndex&) = default;  // NOLINT
  friend bool operator==(const StrongIndex&, const StrongIndex&) = default;
  // Numbers of two kinds are not compared.
  template <typename Other, typename Width>
  std::strong_ordering operator<=>(const StrongIndex<Other, Width>&) const =
      delete;
  template <typename Other, typename Width>
  bool operator==(const StrongIndex<Other, Width>&) const = delete;

 private:
  Storage index_ = 0;
};

}  // namespace meshwright::base

template <typename Tag, typename Storage>
struct std::hash<meshwright::base::StrongIndex<Tag, Storage>> {
  size_t operator()(meshwright::base::StrongIndex<Tag, Storage> index) const {
    return index.value();
  }
};

#endif  // MESHWRIGHT_BASE_STRONG_ID_H_
