#include "cli/flags/store_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace meshwright::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(StoreAddressTest, APasswordOnTheCommandLineIsRefused) {
  for (const char* word :
       {"postgres://u:hush@h/d", "postgresql://u:hush@h:5432/d",
        "--store=postgres://u:hush@h/d", "postgres://:hush@h/d",
        "postgres://u@h/d?password=hush",
        "postgres:///d?host=/tmp&password=hush",
        "postgres://u@h/d?sslmode=require&sslpassword=hush"}) {
    const absl::Status status = CheckNoPassword({"--store", word, "--json"});
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << word;
    EXPECT_THAT(std::string(status.message()), HasSubstr("PGPASSFILE"));
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("hush")));
  }
}

TEST(StoreAddressTest, OtherWordsPass) {
  const absl::Status status = CheckNoPassword(
      {"plan", "--store", "profiles.db", "postgres://u@h:5432/d",
       "postgres://u:@h/d", "postgres://h:5432/d", "postgres:///d?host=/a@b:c",
       "postgres://u@h/d?password=&sslmode=require", "u:p@host", ""});
  EXPECT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace meshwright::cli
