#include "coordinator/security/token_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "absl/strings/str_cat.h"
#include "base/file.h"

namespace meshwright::security {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class TokenFileTest : public testing::Test {
 protected:
  void SetUp() override { TearDown(); }
  void TearDown() override {
    unlink(path_.c_str());
    unlink((path_ + ".lock").c_str());
  }
  absl::Status Add(const Token& token) {
    return ChangeTokenFile(path_, [&](std::vector<Token>& tokens) {
      tokens.push_back(token);
      return absl::OkStatus();
    });
  }
  // The error of reading a file of this content.
  std::string Refusal(const std::string& content, mode_t mode = 0600) {
    EXPECT_TRUE(base::WriteFile(path_, content).ok());
    EXPECT_EQ(chmod(path_.c_str(), mode), 0);
    const auto tokens = ReadTokenFile(path_);
    EXPECT_EQ(tokens.status().code(), absl::StatusCode::kInvalidArgument)
        << content;
    EXPECT_THAT(std::string(tokens.status().message()), HasSubstr(path_));
    return std::string(tokens.status().message());
  }

  const std::string path_ = testing::TempDir() + "/token_file_test.toml";
};

// As root changes the file of a daemon's user.
TEST_F(TokenFileTest, AChangeKeepsOwnerAndMode) {
  ASSERT_TRUE(base::WriteFile(path_, "").ok());
  ASSERT_EQ(chmod(path_.c_str(), 0400), 0);
  const bool is_root = geteuid() == 0;
  if (is_root) {
    ASSERT_EQ(chown(path_.c_str(), 65534, 65534), 0);
  }
  Token token = MakeToken()->token;
  token.roles = {Role::kRead};
  const absl::Status added = Add(token);
  ASSERT_TRUE(added.ok()) << added;
  struct stat info = {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0400u);
  EXPECT_EQ(info.st_uid, is_root ? 65534u : geteuid());
  if (is_root) {
    EXPECT_EQ(info.st_gid, 65534u);
  }
}

TEST_F(TokenFileTest, WhatIsWrittenIsRead) {
  NewToken made = *MakeToken();
  made.token.name = "the \"night\" run\n= [[token]] é";
  made.token.roles = {Role::kSubmit, Role::kWork};
  made.token.name_space = "vision";
  made.token.created = absl::FromUnixSeconds(1'800'000'000);
  made.token.expires = absl::FromUnixSeconds(1'900'000'000);
  ASSERT_TRUE(Add(made.token).ok());
  Token forever = MakeToken()->token;
  forever.roles = {Role::kAdmin};
  forever.created = made.token.created;
  ASSERT_TRUE(Add(forever).ok());

  struct stat info = {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  const auto tokens = ReadTokenFile(path_);
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  ASSERT_THAT(*tokens, SizeIs(2));
  const Token& read = tokens->front();
  EXPECT_EQ(read.id, made.token.id);
  EXPECT_EQ(read.name, made.token.name);
  EXPECT_EQ(read.secret_hash, made.token.secret_hash);
  EXPECT_THAT(read.roles, ElementsAre(Role::kSubmit, Role::kWork));
  EXPECT_EQ(read.name_space, "vision");
  EXPECT_EQ(read.created, made.token.created);
  EXPECT_EQ(read.expires, made.token.expires);
  EXPECT_EQ(tokens->back().expires, std::nullopt);
  const TokenText text = *ParseTokenText(made.text);
  EXPECT_TRUE(Matches(read, text.secret));
  EXPECT_THAT(*base::ReadFile(path_), Not(HasSubstr(text.secret)));
}

TEST_F(TokenFileTest, QuotasStayWhenTokensChange) {
  ASSERT_TRUE(ChangeAccessFile(path_, [](AccessFile& file) {
                file.quotas.push_back({.name_space = "a \"b\"",
                                       .plans = 2,
                                       .module_bytes = int64_t{1} << 40});
                file.quotas.push_back(
                    {.name_space = "c", .programs = 3, .stored_bytes = 5});
                return absl::OkStatus();
              }).ok());
  Token token = MakeToken()->token;
  token.roles = {Role::kRead};
  ASSERT_TRUE(Add(token).ok());
  const auto file = ReadAccessFile(path_);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_THAT(file->tokens, SizeIs(1));
  ASSERT_THAT(file->quotas, SizeIs(2));
  const Quota& first = file->quotas[0];
  EXPECT_EQ(first.name_space, "a \"b\"");
  EXPECT_EQ(first.plans, 2);
  EXPECT_EQ(first.programs, std::nullopt);
  EXPECT_EQ(first.module_bytes, int64_t{1} << 40);
  EXPECT_EQ(first.stored_bytes, std::nullopt);
  EXPECT_EQ(file->quotas[1].programs, 3);
  EXPECT_EQ(file->quotas[1].stored_bytes, 5);
}

TEST_F(TokenFileTest, QuotasThatAreWrong) {
  const std::string begin = "version = 1\n[[quota]]\n";
  EXPECT_THAT(Refusal(begin + "plans = 3\n"), HasSubstr("needs a namespace"));
  const std::string named = begin + "namespace = \"a\"\n";
  for (const char* const wrong :
       {"plans = 0\n", "plans = \"3\"\n", "programs = -1\n", "plan = 3\n"}) {
    EXPECT_THAT(Refusal(named + wrong), HasSubstr(":2: the quota needs plans"));
  }
  EXPECT_THAT(Refusal(named + named.substr(12)), HasSubstr("two quotas"));
  EXPECT_THAT(Refusal("version = 1\nquota = [3]\n"), HasSubstr("[[quota]]"));
}

TEST_F(TokenFileTest, TwoThatChangeItLoseNothing) {
  const auto add = [&] {
    for (int i = 0; i < 20; ++i) {
      Token token = MakeToken()->token;
      token.roles = {Role::kRead};
      EXPECT_TRUE(Add(token).ok());
    }
  };
  std::thread other(add);
  add();
  other.join();
  EXPECT_THAT(*ReadTokenFile(path_), SizeIs(40));
}

TEST_F(TokenFileTest, FilesThatAreWrong) {
  const std::string hash(64, 'a');
  const auto with = [&](const std::string& rest) {
    return absl::StrCat("version = 1\n[[token]]\nid = \"0123456789ab\"\n",
                        "hash = \"sha256:", hash, "\"\n", rest);
  };
  EXPECT_THAT(Refusal(with("roles = [\"read\"]\n"), 0640),
              HasSubstr("chmod 600"));
  EXPECT_THAT(Refusal("version = ["), HasSubstr("no TOML"));
  EXPECT_THAT(Refusal(""), HasSubstr("version = 1"));
  EXPECT_THAT(Refusal("version = 2\n"), HasSubstr("version = 1"));
  EXPECT_THAT(Refusal("version = 1\ntokens = 3\n"), HasSubstr("[[token]]"));
  EXPECT_THAT(Refusal("version = 1\ntoken = [3]\n"), HasSubstr("[[token]]"));
  EXPECT_THAT(Refusal(with("roles = []\n")), HasSubstr("needs roles"));
  EXPECT_THAT(Refusal(with("roles = \"read\"\n")), HasSubstr("needs roles"));
  EXPECT_THAT(Refusal(with("roles = [\"root\"]\n")),
              HasSubstr("\"root\" is no role"));
  EXPECT_THAT(Refusal(with("roles = [\"read\"]\nexpire = 3\n")),
              HasSubstr("unknown key \"expire\""));
  EXPECT_THAT(Refusal(with("roles = [\"read\"]\nexpires = 2027-01-31\n")),
              HasSubstr("\"expires\""));
  EXPECT_THAT(Refusal(with("roles = [\"read\"]\nname = 3\n")),
              HasSubstr(":2: the token needs a string for \"name\""));
  EXPECT_THAT(Refusal("version = 1\n[[token]]\nid = \"x\"\n"),
              HasSubstr("12 hex digits"));
  EXPECT_THAT(
      Refusal("version = 1\n[[token]]\nid = \"0123456789ab\"\nhash = \"x\"\n"),
      HasSubstr("sha256:"));
  EXPECT_THAT(Refusal(with("roles = [\"read\"]\n") +
                      with("roles = [\"read\"]\n").substr(12)),
              HasSubstr("two tokens"));
}

TEST_F(TokenFileTest, NoFileIsSaidAndNotMade) {
  EXPECT_EQ(ReadTokenFile(path_).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(TokenFileTest, AChangeThatFailsChangesNothing) {
  Token token = MakeToken()->token;
  token.roles = {Role::kRead};
  ASSERT_TRUE(Add(token).ok());
  EXPECT_EQ(ChangeTokenFile(path_,
                            [](std::vector<Token>& tokens) {
                              tokens.clear();
                              return absl::NotFoundError("no such token");
                            })
                .code(),
            absl::StatusCode::kNotFound);
  EXPECT_THAT(*ReadTokenFile(path_), SizeIs(1));
}

TEST(TokenTest, TextsThatAreNone) {
  const std::string text = MakeToken()->text;
  EXPECT_TRUE(ParseTokenText(text).has_value());
  EXPECT_NE(MakeToken()->text, text);
  for (const std::string& wrong :
       {std::string(), text + "0", text.substr(1), "MWT" + text.substr(3),
        text.substr(0, text.size() - 1) + "G"}) {
    EXPECT_FALSE(ParseTokenText(wrong).has_value()) << wrong;
  }
}

}  // namespace
}  // namespace meshwright::security
