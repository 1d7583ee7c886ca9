#include "planner/search/blocks.h"

#include <algorithm>
#include <utility>

namespace meshwright::search {
namespace {

class Builder {
 public:
  explicit Builder(const Graph& graph) : graph_(graph) {}

  Line Build(const std::vector<Component>& components) {
    for (const Component& component : components) {
      for (const Item& item : component.path->items) AddItem(item);
    }
    return std::move(line_);
  }

 private:
  void AddItem(const Item& item) {
    const int64_t together = item.copies >= kLong ? item.copies : 1;
    for (int64_t copy = 0; copy < item.copies; copy += together) {
      Block block = BlockOf(item, copy, together);
      if (together > 1) {
        block.inner = MatrixOf(*item.inner, block.configs, block.configs);
      }
      if (!line_.empty()) {
        Block& last = line_.back();
        const std::optional<MatrixUse>& use = copy == 0 ? next_ : item.inner;
        last.next =
            use.has_value()
                ? MatrixOf(*use, last.configs, block.configs)
                : Matrix{last.size(), block.size(),
                         std::vector<Cost>(static_cast<size_t>(last.size()) *
                                           block.size())};
      }
      line_.push_back(std::move(block));
    }
    next_ = item.next;
  }

  Block BlockOf(const Item& item, int64_t first, int64_t copies) const {
    const UnaryKind& kind = graph_.unaries[item.unary];
    Block block{.copies = copies,
                .first_slot = item.first_slot + item.step * first,
                .step = item.step};
    for (size_t c = 0; c < kind.time.size(); ++c) {
      if (kind.time[c] >= kNever) continue;
      block.configs.push_back(static_cast<int>(c));
      block.time.push_back(kind.time[c]);
      block.bytes.push_back(kind.bytes[c]);
      block.transient.push_back(kind.transient[c]);
    }
    return block;
  }

  Matrix MatrixOf(const MatrixUse& use, const std::vector<int>& rows,
                  const std::vector<int>& columns) const {
    const Link link{&graph_.matrix(use.matrix), use.transposed};
    Matrix matrix{
        static_cast<int>(rows.size()), static_cast<int>(columns.size()), {}};
    for (const int row : rows) {
      for (const int column : columns) {
        matrix.entries.push_back(link.at(row, column));
      }
    }
    return matrix;
  }

  const Graph& graph_;
  std::optional<MatrixUse> next_;  // from the last block to the one to come
  Line line_;
};

}  // namespace

std::optional<Line> ToLine(const Graph& graph,
                           const std::vector<Component>& components) {
  bool is_long = false;
  for (const Component& component : components) {
    if (!component.path.has_value()) return std::nullopt;
    for (const Item& item : component.path->items) {
      is_long = is_long || item.copies >= kLong;
    }
  }
  if (!is_long) return std::nullopt;
  return Builder(graph).Build(components);
}

Line Capped(const Line& line, int64_t most) {
  std::vector<std::vector<int>> kept(line.size());
  for (size_t b = 0; b < line.size(); ++b) {
    for (int v = 0; v < line[b].size(); ++v) {
      if (line[b].transient[v] <= most) kept[b].push_back(v);
    }
  }
  return Kept(line, kept);
}

Line Kept(const Line& line, const std::vector<std::vector<int>>& kept) {
  Line part;
  for (size_t b = 0; b < line.size(); ++b) {
    const Block& old = line[b];
    Block block{
        .copies = old.copies, .first_slot = old.first_slot, .step = old.step};
    for (const int v : kept[b]) {
      block.configs.push_back(old.configs[v]);
      block.time.push_back(old.time[v]);
      block.bytes.push_back(old.bytes[v]);
      block.transient.push_back(old.transient[v]);
    }
    if (old.copies > 1) block.inner = Part(old.inner, kept[b], kept[b]);
    if (b + 1 < line.size()) block.next = Part(old.next, kept[b], kept[b + 1]);
    part.push_back(std::move(block));
  }
  return part;
}

}  // namespace meshwright::search
