#include "cli/text/pipeline_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_split.h"

namespace meshwright::cli {
namespace {

using testing::HasSubstr;

std::string Text(const std::string& more, int micro_batches = 4) {
  const std::string stage =
      R"({"forward_seconds":0.01,"backward_input_seconds":0.01,
      "backward_weight_seconds":0.01,"activation_bytes":1048576,
      "persistent_bytes":4194304})";
  const auto file = pipeline::ParseFile(
      R"({"stages":[)" + stage + "," + stage +
      R"(],"transfers":[{"forward_seconds":0.01,"backward_seconds":0.01}],
      "micro_batches":)" +
      std::to_string(micro_batches) + "," + more + "}");
  EXPECT_TRUE(file.ok()) << file.status();
  return DescribePipelineAnswer(*pipeline::Answer(*file));
}

TEST(PipelineTextTest, ShowsWhatRunsWhen) {
  const std::string text = Text(R"("overlap":true,"schedule":"1f1b")");
  EXPECT_THAT(text, testing::StartsWith("1f1b: 190.0 ms per step"));
  // 19 parts of 10 ms in 90 columns.
  EXPECT_THAT(text, HasSubstr("1 |000001111."));
  EXPECT_THAT(text, HasSubstr("2 |.........00000aaaaaaaaa"));
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    EXPECT_LE(line.size(), 100u) << line;
  }
}

TEST(PipelineTextTest, TransfersThatHoldTheirStagesAreShown) {
  EXPECT_THAT(Text(R"("overlap":false,"schedule":"gpipe")"), HasSubstr("~~~"));
}

TEST(PipelineTextTest, ManyMicroBatchesAreShownByKind) {
  const std::string text =
      Text(R"("overlap":true,"schedule":"eager-1f1b-delay")", 30);
  EXPECT_THAT(text, HasSubstr("1 |fff"));
  EXPECT_THAT(text, HasSubstr("W"));
  EXPECT_THAT(text, testing::Not(HasSubstr("|0")));
}

TEST(PipelineTextTest, InfeasibleSaysWhatIsNeeded) {
  const std::string text =
      Text(R"("overlap":true,"memory_limit_bytes":5242880)");
  EXPECT_THAT(text, HasSubstr("need 6.0 MiB, but the limit is 5.0 MiB"));
  EXPECT_THAT(text, HasSubstr("does not fit"));
}

}  // namespace
}  // namespace meshwright::cli
