#include "coordinator/segmenter/strategy_request.h"

#include <algorithm>
#include <optional>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/sharding.h"
#include "base/status_macros.h"
#include "coordinator/segmenter/blocks/block_strategies.h"

namespace meshwright::segmenter {
namespace {

constexpr char kAll[] = "all";

bool IsStrategyName(absl::string_view name) {
  for (const StrategyKind kind :
       {StrategyKind::kRows, StrategyKind::kColumns, StrategyKind::kContraction,
        StrategyKind::kExperts, StrategyKind::kReplicated}) {
    if (name == NameStrategy(kind)) return true;
  }
  return false;
}

// One name is that of the searched axis; "rows/columns" names every axis.
bool Matches(const Strategy& strategy, const std::string& name) {
  return strategy.name == name || NameStrategy(strategy.kind) == name;
}

class Rules {
 public:
  Rules(const StrategyRequest& request, const ir::Module& module,
        const BlockGraph& blocks, const std::vector<int64_t>& mesh,
        std::vector<StrategySet>& strategies)
      : request_(request),
        module_(module),
        blocks_(blocks),
        mesh_(mesh),
        strategies_(strategies) {}

  absl::StatusOr<Allowed> Run() {
    std::vector<SegmentSwitch> open = {SegmentSwitch::kNone};
    open.insert(open.end(), request_.switches.begin(), request_.switches.end());
    allowed_.switches.assign(blocks_.blocks.size(), open);
    allowed_.end_switches = open;
    pinned_.resize(blocks_.blocks.size());
    for (const bool forbid : {false, true}) {
      for (const BlockRule& rule : request_.blocks) {
        if (rule.forbid == forbid) RETURN_IF_ERROR(Read(rule));
      }
      if (!forbid) Pin();
    }
    for (size_t b = 0; b < allowed_.switches.size(); ++b) {
      if (allowed_.switches[b].empty()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "the rules leave block ", b, " no switch; allow it \"plain\""));
      }
    }
    if (allowed_.end_switches.empty()) {
      return absl::InvalidArgumentError(
          "the rules leave the prologue no switch; allow it \"plain\"");
    }
    for (const ArgumentRule& rule : request_.arguments) {
      RETURN_IF_ERROR(Read(rule));
    }
    return std::move(allowed_);
  }

 private:
  // ---- blocks ----

  struct Selection {
    std::vector<int> blocks;
    bool one = false;  // a single block, by number or name
    bool ends = false;
  };

  absl::StatusOr<Selection> Select(const std::string& text) const {
    const int count = static_cast<int>(blocks_.blocks.size());
    Selection selection;
    if (text == kAll) {
      for (int b = 0; b < count; ++b) selection.blocks.push_back(b);
      selection.ends = true;
      return selection;
    }
    for (int b = 0; b < count; ++b) {
      for (ir::ValueId root : blocks_.blocks[b].roots) {
        if (module_.at(root).name() != text) continue;
        selection.blocks = {b};
        selection.one = true;
        return selection;
      }
    }
    for (absl::string_view part : absl::StrSplit(text, ',')) {
      const std::pair<absl::string_view, absl::string_view> range =
          absl::StrSplit(part, absl::MaxSplits('-', 1));
      int first = 0;
      if (!absl::SimpleAtoi(range.first, &first)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "\"", text, "\" names no block; write all, the name of a root, or ",
            "numbers like 0,4-7 from `meshwright analyze`"));
      }
      int last = first;
      const bool is_range =
          range.second.empty() || absl::SimpleAtoi(range.second, &last);
      if (!is_range || first < 0 || last < first || last >= count) {
        return absl::InvalidArgumentError(
            absl::StrCat("\"", text, "\" goes beyond the blocks 0 to ",
                         count - 1, " of this step"));
      }
      for (int b = first; b <= last; ++b) selection.blocks.push_back(b);
    }
    selection.one = selection.blocks.size() == 1;
    return selection;
  }

  absl::Status Read(const BlockRule& rule) {
    ASSIGN_OR_RETURN(const Selection selection, Select(rule.blocks));
    for (const std::string& name : rule.strategies) {
      const std::optional<SegmentSwitch> it = ParseSwitch(name);
      if (it.has_value()) {
        for (int block : selection.blocks) ReadSwitch(rule, *it, block);
        if (selection.ends) ReadSwitch(rule, *it, std::nullopt);
        continue;
      }
      for (absl::string_view axis : absl::StrSplit(name, '/')) {
        if (IsStrategyName(axis)) continue;
        return absl::InvalidArgumentError(absl::StrCat(
            "\"", name, "\" is no strategy; there are rows, columns, ",
            "contraction, experts, replicated, and for segments plain, ",
            "fully-sharded, optimizer-sharded, sequence, recompute"));
      }
      for (int block : selection.blocks) {
        RETURN_IF_ERROR(rule.forbid ? Forbid(block, name)
                                    : Want(block, name, selection.one));
      }
    }
    return absl::OkStatus();
  }

  // No block stands for the ends.
  void ReadSwitch(const BlockRule& rule, SegmentSwitch it,
                  std::optional<int> block) {
    std::vector<SegmentSwitch>& switches =
        block.has_value() ? allowed_.switches[*block] : allowed_.end_switches;
    if (rule.forbid) {
      std::erase(switches, it);
      return;
    }
    if (pinned_switches_.insert(block).second) switches.clear();
    if (std::find(switches.begin(), switches.end(), it) == switches.end()) {
      switches.push_back(it);
    }
  }

  static bool Has(const StrategySet& set, const std::string& name) {
    return std::any_of(set.strategies.begin(), set.strategies.end(),
                       [&](const Strategy& it) { return Matches(it, name); });
  }

  absl::Status Want(int block, const std::string& name, bool strict) {
    StrategySet& set = strategies_[block];
    if (name == NameStrategy(StrategyKind::kReplicated) && !Has(set, name)) {
      set.strategies.push_back(Replicated(blocks_.blocks[block], mesh_));
    }
    if (Has(set, name)) {
      pinned_[block].insert(name);
      return absl::OkStatus();
    }
    if (!strict) return absl::OkStatus();
    std::string reason = "it has none";
    for (const LostStrategy& lost : set.lost) {
      if (name == NameStrategy(lost.kind)) reason = lost.reason;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("block ", block, " cannot take ", name, ": ", reason));
  }

  void Pin() {
    for (size_t b = 0; b < pinned_.size(); ++b) {
      if (pinned_[b].empty()) continue;
      const std::string reason =
          absl::StrCat("the request pins ", absl::StrJoin(pinned_[b], " or "));
      Drop(strategies_[b], reason, [&](const Strategy& it) {
        return std::none_of(
            pinned_[b].begin(), pinned_[b].end(),
            [&](const std::string& name) { return Matches(it, name); });
      });
    }
  }

  absl::Status Forbid(int block, const std::string& name) {
    StrategySet& set = strategies_[block];
    Drop(set, "the request forbids it",
         [&](const Strategy& it) { return Matches(it, name); });
    if (!set.strategies.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("the rules leave block ", block,
                     " no strategy; allow it \"replicated\" with a pin"));
  }

  template <typename Predicate>
  void Drop(StrategySet& set, const std::string& reason, Predicate drop) {
    std::set<StrategyKind> before, after;
    for (const Strategy& it : set.strategies) before.insert(it.kind);
    std::erase_if(set.strategies, drop);
    for (const Strategy& it : set.strategies) after.insert(it.kind);
    for (const StrategyKind kind : before) {
      if (!after.contains(kind)) set.lost.push_back({kind, reason});
    }
  }

  // ---- arguments ----

  absl::Status Read(const ArgumentRule& rule) {
    const int count = static_cast<int>(module_.parameters.size());
    if (rule.argument < 0 || rule.argument >= count) {
      return absl::InvalidArgumentError(
          absl::StrCat("there is no argument ", rule.argument,
                       "; the step has 0 to ", count - 1));
    }
    ASSIGN_OR_RETURN(std::vector<int> sharding, ReadSharding(rule));
    if (rule.forbid) {
      allowed_.forbidden_arguments.emplace_back(rule.argument,
                                                std::move(sharding));
      return absl::OkStatus();
    }
    if (!allowed_.pinned_arguments.emplace(rule.argument, std::move(sharding))
             .second) {
      return absl::InvalidArgumentError(
          absl::StrCat("argument ", rule.argument, " is pinned twice"));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<int>> ReadSharding(
      const ArgumentRule& rule) const {
    const auto error = [&](const std::string& why) {
      return absl::InvalidArgumentError(absl::StrCat("argument ", rule.argument,
                                                     " cannot be sharded ",
                                                     rule.sharding, ": ", why));
    };
    const ir::Shape& shape =
        module_.at(module_.parameters[rule.argument]).shape;
    absl::string_view text = rule.sharding;
    if (!absl::ConsumePrefix(&text, "[") || !absl::ConsumeSuffix(&text, "]")) {
      return error("write one entry per dimension, like [1,-]");
    }
    const std::vector<absl::string_view> dims =
        text.empty() ? std::vector<absl::string_view>()
                     : absl::StrSplit(text, ',');
    if (shape.is_tuple() || dims.size() != shape.dims.size()) {
      return error(absl::StrCat("it has ", shape.dims.size(), " dimensions"));
    }
    std::vector<int> sharding(mesh_.size(), base::kCopies);
    for (size_t dim = 0; dim < dims.size(); ++dim) {
      if (dims[dim] == "-") continue;
      int64_t parts = 1;
      for (const char digit : dims[dim]) {
        const size_t axis = static_cast<size_t>(digit - '0');
        if (digit < '0' || axis >= mesh_.size() || mesh_[axis] < 2) {
          return error(absl::StrCat("\"", dims[dim],
                                    "\" is no axis of the mesh with ",
                                    "more than one device"));
        }
        if (sharding[axis] != base::kCopies) {
          return error(absl::StrCat("axis ", axis, " stands there twice"));
        }
        sharding[axis] = static_cast<int>(dim);
        parts *= mesh_[axis];
      }
      if (shape.dims[dim] % parts != 0 || shape.dims[dim] == 0) {
        return error(absl::StrCat("dimension ", dim, " of size ",
                                  shape.dims[dim], " does not divide by ",
                                  parts));
      }
    }
    return sharding;
  }

  const StrategyRequest& request_;
  const ir::Module& module_;
  const BlockGraph& blocks_;
  const std::vector<int64_t>& mesh_;
  std::vector<StrategySet>& strategies_;
  std::vector<std::set<std::string>> pinned_;     // by block
  std::set<std::optional<int>> pinned_switches_;  // blocks; none: the ends
  Allowed allowed_;
};

}  // namespace

absl::StatusOr<Allowed> ApplyRequest(const StrategyRequest& request,
                                     const ir::Module& module,
                                     const BlockGraph& blocks,
                                     const std::vector<int64_t>& mesh,
                                     std::vector<StrategySet>& strategies) {
  return Rules(request, module, blocks, mesh, strategies).Run();
}

}  // namespace meshwright::segmenter
