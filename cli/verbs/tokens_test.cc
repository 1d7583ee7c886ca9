#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "cli/testing/outcome.h"

namespace meshwright::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(TokensVerbTest, AQuotaIsSetListedAndRemoved) {
  const std::string file =
      absl::StrCat(testing::TempDir(), "/tokens_", getpid(), ".toml");
  std::filesystem::remove(file);
  const auto quota = [&](std::vector<std::string> rest) {
    std::vector<std::string> words = {"tokens", "quota", "vision", "--tokens",
                                      file};
    words.insert(words.end(), rest.begin(), rest.end());
    return Command(words);
  };
  EXPECT_THAT(quota({"--plans", "2", "--module-bytes", "4GiB", "--stored-bytes",
                     "9GiB"})
                  .err,
              HasSubstr("set the quota of vision"));
  const Outcome listed =
      Command({"tokens", "list", "--tokens", file, "--json"});
  const auto json = nlohmann::json::parse(listed.out);
  ASSERT_EQ(json["quotas"].size(), 1);
  EXPECT_EQ(json["quotas"][0]["plans"], 2);
  EXPECT_TRUE(json["quotas"][0]["programs"].is_null());
  EXPECT_EQ(json["quotas"][0]["module_bytes"], int64_t{4} << 30);
  EXPECT_EQ(json["quotas"][0]["stored_bytes"], int64_t{9} << 30);
  EXPECT_EQ(json["tokens"].size(), 0);
  EXPECT_THAT(Command({"tokens", "list", "--tokens", file}).out,
              HasSubstr("vision"));
  ExpectRefused({"tokens", "quota", "vision", "--tokens", file, "--plans", "0"},
                "--plans");
  EXPECT_THAT(quota({}).err, HasSubstr("removed the quota of vision"));
  EXPECT_THAT(Command({"tokens", "list", "--tokens", file}).out,
              Not(HasSubstr("vision")));
  std::filesystem::remove(file);
  std::filesystem::remove(file + ".lock");
}

}  // namespace
}  // namespace meshwright::cli
