// Ids that cannot be mixed up: StrongId<struct JobTag> and
// StrongId<struct WorkerTag> are different types. Zero names nothing.
//
// StrongIndex<struct ProgramTag> is the same for the place of an element in a
// vector. It converts to a number, for subscripts; no number and no other index
// converts to it. Where there may be none, it stands in a std::optional. A loop
// over a vector counts one up:
//
//   for (ProgramId id; id < programs.size(); ++id)
#ifndef MESHWRIGHT_BASE_STRONG_ID_H_
#define MESHWRIGHT_BASE_STRONG_ID_H_

#include <compare>
#include <cstddef>
#include <cstdint>

namespace meshwright::base {

template <typename Tag>
struct StrongId {
  int64_t value = 0;

  friend auto operator<=>(const StrongId&,
                          const StrongId&) = default;  // NOLINT
};

template <typename Tag>
class StrongIndex {
 public:
  constexpr StrongIndex() = default;
  constexpr explicit StrongIndex(size_t index) : index_(index) {}
  template <typename Other>
  explicit StrongIndex(StrongIndex<Other>) = delete;

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
  template <typename Other>
  std::strong_ordering operator<=>(const StrongIndex<Other>&) const = delete;
  template <typename Other>
  bool operator==(const StrongIndex<Other>&) const = delete;

 private:
  size_t index_ = 0;
};

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_STRONG_ID_H_
