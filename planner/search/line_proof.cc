#include "planner/search/line_proof.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "planner/search/guides.h"

namespace meshwright::search {
namespace {

constexpr int64_t kCells[] = {512, 4096};  // of sharper bounds, in turn

// Bounds are made for searches that go this part farther above the least.
constexpr Cost kFartherPart = 8;

// Empty where the plan takes what the block no longer has.
Walk WalkOf(const Block& block, const std::vector<int>& slots) {
  Walk walk;
  for (int64_t copy = 0; copy < block.copies; ++copy) {
    const int config = slots[block.slot(copy)];
    const auto at =
        std::lower_bound(block.configs.begin(), block.configs.end(), config);
    if (at == block.configs.end() || *at != config) return {};
    walk.push_back(static_cast<int>(at - block.configs.begin()));
  }
  return walk;
}

}  // namespace

std::unique_ptr<LineProof> LineProof::Make(Line line,
                                           const std::vector<int>& fast,
                                           const std::vector<int>& small,
                                           int64_t price, int64_t room,
                                           const Until& until) {
  std::unique_ptr<LineProof> made(new LineProof(std::move(line)));
  made->SetLoops(fast, small);
  std::vector<Guide> guides =
      MakeGuides(made->line_, made->loops_, price, until);
  if (until()) return nullptr;
  made->detours_ = std::make_unique<Detours>(made->line_, made->loops_,
                                             std::move(guides), price, room);
  made->most_level_ = std::ssize(kCells);
  return made;
}

// One block keeps two loops: the longest of those that have them.
void LineProof::SetLoops(const std::vector<int>& fast,
                         const std::vector<int>& small) {
  int two = -1;
  for (size_t b = 0; b < line_.size(); ++b) {
    const Block& block = line_[b];
    loops_.push_back(block.copies == 1 ? std::vector<Loop>()
                                       : LoopsOf(block, WalkOf(block, fast),
                                                 WalkOf(block, small)));
    if (loops_[b].size() < 2) continue;
    if (two < 0 || block.copies > line_[two].copies) two = static_cast<int>(b);
  }
  for (size_t b = 0; b < loops_.size(); ++b) {
    if (static_cast<int>(b) != two && loops_[b].size() > 1) {
      loops_[b].pop_back();
    }
  }
}

bool LineProof::Look(Cost most, int64_t most_candidates, const Effort& effort,
                     const Until& until) {
  Sharpen(most, until);
  while (level_ < most_level_) {
    const int64_t few = effort.plain_candidates * (1 + level_);
    if (detours_->Search(most, few, until)) return true;
    if (until()) return false;
    ++level_;
    Sharpen(most, until);
  }
  return detours_->Search(most, most_candidates, until);
}

// Makes the bounds of the level, for some searches to come too; where they
// cannot be made, those below.
void LineProof::Sharpen(Cost most, const Until& until) {
  if (level_ == sharp_level_ && most <= sharp_most_) return;
  sharp_most_ = most + (most - detours_->bound()) / kFartherPart;
  while (level_ > 0 &&
         !detours_->Sharpen(sharp_most_, kCells[level_ - 1], until)) {
    most_level_ = --level_;
  }
  sharp_level_ = level_;
}

}  // namespace meshwright::search
