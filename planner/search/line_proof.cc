#include "planner/search/line_proof.h"

#include <algorithm>
#include <utility>

#include "planner/search/guides.h"

namespace meshwright::search {
namespace {

// Of sharper bounds, and where there are no tails.
constexpr int64_t kCells = 512;
constexpr int64_t kFineCells = 4096;

// Levels of help; at each the tails, and the labels looked at before the next,
// are so many times more.
constexpr int kLevels = 4;
constexpr int kLevelShift = 2;

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

LineProof::LineProof(Line line)
    : line_(std::move(line)), most_level_(kLevels) {}

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
  if (effort.plain_candidates == 0) level_ = std::max(level_, 1);
  Help(most, effort, until);
  while (level_ < most_level_) {
    const int shift = kLevelShift * std::max(0, level_ - 1);
    if (detours_->Search(most, effort.plain_candidates << shift, until)) {
      return true;
    }
    if (until()) return false;
    ++level_;
    Help(most, effort, until);
  }
  return detours_->Search(most, most_candidates, until);
}

// Makes tails and bounds of the level, for some searches to come too. What once
// could not be made is given up.
void LineProof::Help(Cost most, const Effort& effort, const Until& until) {
  const bool is_farther = most > helped_most_;
  if (level_ == 0 || (level_ == helped_level_ && !is_farther)) return;
  if (is_farther) {
    helped_most_ = most + (most - detours_->bound()) / kFartherPart;
  }
  while (has_tails_) {
    const int64_t wanted = effort.tails << (kLevelShift * (level_ - 1));
    if (detours_->MeetTails(helped_most_, wanted, until)) break;
    has_tails_ = level_ < most_level_;
    if (has_tails_) ++level_;
  }
  if (!has_tails_) most_level_ = level_;
  helped_level_ = level_;
  const int64_t cells = has_tails_ ? kCells : kFineCells;
  if (!has_cells_ || (cells == cells_ && !is_farther)) return;
  cells_ = cells;
  has_cells_ = detours_->Sharpen(helped_most_, cells, until);
}

}  // namespace meshwright::search
