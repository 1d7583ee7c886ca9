#include "planner/search/elimination/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "planner/search/elimination/label_keys.h"
#include "planner/search/graph/min_plus.h"

namespace meshwright::search {
namespace {

TEST(MinPlusTest, AgreesWithPlainLoopsAtEverySize) {
  std::mt19937_64 random(3);
  for (int rows = 1; rows < 12; ++rows) {
    for (int columns = 1; columns < 70; ++columns) {
      const int stride = columns + static_cast<int>(random() % 3);
      std::vector<Cost> entries(static_cast<size_t>(rows) * stride);
      for (Cost& entry : entries) {
        entry = random() % 7 == 0 ? kNever : static_cast<Cost>(random() % 1000);
      }
      std::vector<Cost> base(rows);
      for (Cost& cost : base) {
        cost = random() % 5 == 0 ? kNever : static_cast<Cost>(random() % 1000);
      }
      std::vector<Cost> next(columns);
      for (Cost& cost : next) cost = static_cast<Cost>(random() % 1000);
      std::vector<Cost> out(columns, kNever);
      MinOverRows({entries.data(), stride, rows, columns}, base.data(),
                  out.data());
      for (int i = 0; i < columns; ++i) {
        Cost min_cost = kNever;
        for (int j = 0; j < rows; ++j) {
          min_cost = std::min(min_cost, base[j] + entries[j * stride + i]);
        }
        ASSERT_EQ(out[i], min_cost);
      }
      std::vector<Cost> down(rows);
      MinOverColumns({entries.data(), stride, rows, columns}, next.data(),
                     down.data());
      for (int j = 0; j < rows; ++j) {
        Cost min_cost = kNever;
        for (int i = 0; i < columns; ++i) {
          min_cost = std::min(min_cost, entries[j * stride + i] + next[i]);
        }
        ASSERT_EQ(down[j], min_cost);
      }
    }
  }
}

// Random views over parts of four variables, of which 0 goes.
TEST(EliminateTest, AgreesWithEnumeration) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 500; ++round) {
    const Shape shape{
        {1 + static_cast<int>(random() % 4), 1 + static_cast<int>(random() % 5),
         1 + static_cast<int>(random() % 9),
         1 + static_cast<int>(random() % 6)},
        {0, 2, 1, 3}};
    std::vector<Table> tables;
    for (int t = 1 + static_cast<int>(random() % 5); t > 0; --t) {
      Table table{{0}, {}};
      for (const int v : {1, 2, 3}) {
        if (random() % 2 == 0) table.scope.push_back(v);
      }
      std::shuffle(table.scope.begin(), table.scope.end(), random);
      size_t entries = 1;
      for (const int v : table.scope) entries *= shape.sizes[v];
      for (size_t i = 0; i < entries; ++i) {
        table.costs.push_back(
            random() % 9 == 0 ? kNever : static_cast<Cost>(random() % 50));
      }
      tables.push_back(std::move(table));
    }
    std::vector<View> views;
    for (const Table& table : tables) views.push_back(MakeView(table, shape));
    std::vector<Cost> own(shape.sizes[0]);
    for (Cost& cost : own) cost = static_cast<Cost>(random() % 50);
    const Table out = Eliminate(0, own, views, shape, base::Deadline{});
    const View result = MakeView(out, shape);
    std::vector<int> values(4);
    for (values[1] = 0; values[1] < shape.sizes[1]; ++values[1]) {
      for (values[2] = 0; values[2] < shape.sizes[2]; ++values[2]) {
        for (values[3] = 0; values[3] < shape.sizes[3]; ++values[3]) {
          Cost min_cost = kNever;
          for (values[0] = 0; values[0] < shape.sizes[0]; ++values[0]) {
            Cost sum = own[values[0]];
            for (const View& view : views) {
              sum = Clamp(sum + view.costs[view.Offset(values)]);
            }
            min_cost = std::min(min_cost, sum);
          }
          ASSERT_EQ(out.costs[result.Offset(values)], min_cost) << round;
        }
      }
    }
  }
}

TEST(LabelKeysTest, NumbersEveryKeyOnceHoweverLong) {
  std::mt19937_64 random(2);
  for (const int variables : {1, 2, 9, 40}) {
    std::vector<int> names(variables);
    std::vector<int> sizes(variables);
    for (int v = 0; v < variables; ++v) {
      names[v] = v;
      sizes[v] = 1 + static_cast<int>(random() % 100);
    }
    LabelKeys keys(names, sizes);
    std::vector<std::vector<int>> met;
    for (int round = 0; round < 2000; ++round) {
      std::vector<int> values(variables);
      for (int v = 0; v < variables; ++v) {
        values[v] = static_cast<int>(random() % std::min(sizes[v], 3));
      }
      const auto known = std::find(met.begin(), met.end(), values);
      ASSERT_EQ(keys.Find(values), known - met.begin());
      if (known == met.end()) met.push_back(values);
    }
    ASSERT_EQ(keys.size(), static_cast<int>(met.size()));
    const int last = keys.size() - 1;
    keys.Retain({0, last});
    for (int v = 0; v < variables; ++v) {
      ASSERT_EQ(keys.At(0, v), met.front()[v]);
      ASSERT_EQ(keys.At(1, v), met.back()[v]);
    }
  }
}

}  // namespace
}  // namespace meshwright::search
