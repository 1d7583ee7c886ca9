// LabelKeys: which labels may be compared.
//
// Concept: while variables are taken one by one, later ones hang on some of
// those already taken. Labels that agree on these, and on the variable taken
// last, differ in what they cost only: they form a group. A key packs the
// values of those variables into words.
#ifndef MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_LABEL_KEYS_H_
#define MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_LABEL_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace meshwright::search {

class LabelKeys {
 public:
  // `variables`: the one taken last first; sizes by variable.
  LabelKeys(const std::vector<int>& variables, const std::vector<int>& sizes);

  int variable() const { return fields_.front().variable; }
  const std::vector<int>& variables() const { return variables_; }
  int size() const { return static_cast<int>(keys_.size() / words_); }

  // The group of these values, numbered from 0 as they are met.
  int Find(const std::vector<int>& values);

  // Keeps these groups alone, rising, with new numbers. Nothing can be
  // found afterwards.
  void Retain(const std::vector<int>& groups);

  // The value of the i-th variable in a group.
  int At(int group, size_t i) const {
    const Field& field = fields_[i];
    return static_cast<int>(keys_[group * words_ + field.word] >> field.shift &
                            field.mask);
  }

 private:
  size_t FindSlot(const uint64_t* key) const;
  void Grow();

  struct Field {
    int variable = 0;
    int word = 0;
    int shift = 0;
    uint64_t mask = 0;
  };

  std::vector<int> variables_;
  std::vector<Field> fields_;
  size_t words_ = 1;
  std::vector<uint64_t> keys_;  // by group
  std::vector<uint64_t> key_;
  // group + 1 by key for short keys; else by hash, with open addressing.
  bool is_short_ = false;
  std::vector<int> slots_;
};

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_ELIMINATION_LABEL_KEYS_H_
