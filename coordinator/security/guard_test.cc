#include "coordinator/security/guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/log/log.h"
#include "coordinator/security/testing/fake_audit_log.h"
#include "coordinator/security/token_file.h"

namespace meshwright::security {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr char kListJobs[] = "/meshwright.v1.Planning/ListJobs";
constexpr char kMakePlan[] = "/meshwright.v1.Planning/MakePlan";
constexpr char kAttach[] = "/meshwright.v1.Workers/Attach";

class GuardTest : public testing::Test {
 protected:
  void SetUp() override { TearDown(); }
  void TearDown() override {
    unlink(path_.c_str());
    unlink((path_ + ".lock").c_str());
  }

  // A token in the file; its text.
  std::string Add(std::vector<Role> roles, absl::Duration life) {
    NewToken made = *MakeToken();
    made.token.name = "a launcher";
    made.token.roles = std::move(roles);
    made.token.name_space = "vision";
    made.token.created = clock_.Now();
    made.token.expires = clock_.Now() + life;
    EXPECT_TRUE(ChangeTokenFile(path_, [&](std::vector<Token>& tokens) {
                  tokens.push_back(made.token);
                  return absl::OkStatus();
                }).ok());
    return made.text;
  }
  std::unique_ptr<Guard> Open(const std::string& path) {
    auto guard = Guard::Open({&clock_, path, &audit_});
    EXPECT_TRUE(guard.ok()) << guard.status();
    return guard.ok() ? *std::move(guard) : nullptr;
  }
  static Call With(const std::string& path, const std::string& token) {
    return {path, token.empty() ? "" : "Bearer " + token, "", "ipv4:1.2.3.4:5"};
  }

  base::FakeClock clock_;
  FakeAuditLog audit_;
  const std::string path_ = testing::TempDir() + "/guard_test.toml";
};

TEST_F(GuardTest, ATokenDoesWhatItsRolesAllow) {
  const std::string text = Add({Role::kSubmit}, absl::Hours(1));
  const auto guard = Open(path_);
  EXPECT_TRUE(guard->Admit(With(kMakePlan, text)).ok());
  EXPECT_TRUE(guard->Admit(With(kListJobs, text)).ok());
  const absl::Status refused = guard->Admit(With(kAttach, text));
  EXPECT_EQ(refused.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("Attach needs the role work"),
                    HasSubstr("has submit; ask an administrator"),
                    Not(HasSubstr(text))));
  const auto caller = guard->Identify(With(kMakePlan, text));
  ASSERT_TRUE(caller.ok());
  EXPECT_EQ(caller->id, "token:" + ParseTokenText(text)->id);
  EXPECT_EQ(caller->name_space, "vision");
}

TEST_F(GuardTest, WithoutARightTokenNothing) {
  const std::string text = Add({Role::kAdmin}, absl::Hours(1));
  const auto guard = Open(path_);
  std::string other_secret = text;
  other_secret.back() = other_secret.back() == '0' ? '1' : '0';
  for (const std::string& wrong :
       {std::string("x"), other_secret, MakeToken()->text, text + " "}) {
    const absl::Status status = guard->Admit(With(kListJobs, wrong));
    EXPECT_EQ(status.code(), absl::StatusCode::kUnauthenticated);
    EXPECT_THAT(std::string(status.message()), HasSubstr("new one"));
  }
  const absl::Status none = guard->Admit(With(kListJobs, ""));
  EXPECT_EQ(none.code(), absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(std::string(none.message()), HasSubstr("--token-file"));
  EXPECT_EQ(guard->Admit({kListJobs, "Basic " + text, "", ""}).code(),
            absl::StatusCode::kUnauthenticated);
}

TEST_F(GuardTest, ATokenExpires) {
  const std::string text = Add({Role::kRead}, absl::Hours(1));
  const auto guard = Open(path_);
  clock_.Advance(absl::Minutes(59));
  EXPECT_TRUE(guard->Admit(With(kListJobs, text)).ok());
  clock_.Advance(absl::Minutes(1));
  const absl::Status status = guard->Admit(With(kListJobs, text));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("(a launcher) expired at"), HasSubstr("ask")));
}

TEST_F(GuardTest, AReloadTakesUpChangesAndKeepsTheOldWhenTheFileIsWrong) {
  const std::string first = Add({Role::kRead}, absl::Hours(1));
  const auto guard = Open(path_);
  const std::string second = Add({Role::kRead}, absl::Hours(1));
  EXPECT_FALSE(guard->Admit(With(kListJobs, second)).ok());
  ASSERT_TRUE(guard->Reload().ok());
  EXPECT_TRUE(guard->Admit(With(kListJobs, second)).ok());
  ASSERT_TRUE(base::WriteFile(path_, "version = ").ok());
  ASSERT_EQ(chmod(path_.c_str(), 0600), 0);
  EXPECT_FALSE(guard->Reload().ok());
  EXPECT_TRUE(guard->Admit(With(kListJobs, first)).ok());
}

TEST_F(GuardTest, AFileIsReadAgainWhenItIsAnotherOne) {
  const std::string first = Add({Role::kRead}, absl::Hours(1));
  const auto guard = Open(path_);
  const auto look = [&] {
    const absl::StatusOr<bool> read = guard->ReloadIfChanged();
    return !read.ok() ? "wrong" : *read ? "read" : "the same";
  };
  EXPECT_STREQ(look(), "the same");
  const std::string second = Add({Role::kRead}, absl::Hours(1));
  EXPECT_STREQ(look(), "read");
  EXPECT_TRUE(guard->Admit(With(kListJobs, second)).ok());
  EXPECT_STREQ(look(), "the same");
  // One that is wrong is said once.
  const std::string sound = *base::ReadFile(path_);
  ASSERT_TRUE(base::WriteFile(path_, "version = ").ok());
  ASSERT_EQ(chmod(path_.c_str(), 0600), 0);
  EXPECT_STREQ(look(), "wrong");
  EXPECT_STREQ(look(), "the same");
  ASSERT_TRUE(base::WriteFile(path_, sound).ok());
  ASSERT_EQ(chmod(path_.c_str(), 0600), 0);
  EXPECT_STREQ(look(), "read");
  unlink(path_.c_str());
  EXPECT_STREQ(look(), "wrong");
  EXPECT_STREQ(look(), "the same");
  EXPECT_TRUE(guard->Admit(With(kListJobs, first)).ok());
}

// As its message asks: chmod leaves the time of the last change as it was.
TEST_F(GuardTest, AFileThatOthersMayReadIsReadWhenItIsPrivate) {
  const std::string revoked = Add({Role::kRead}, absl::Hours(1));
  const auto guard = Open(path_);
  ASSERT_TRUE(ChangeTokenFile(path_, [](std::vector<Token>& tokens) {
                tokens.clear();
                return absl::OkStatus();
              }).ok());
  ASSERT_EQ(chmod(path_.c_str(), 0644), 0);
  const absl::Status refused = guard->ReloadIfChanged().status();
  EXPECT_THAT(std::string(refused.message()), HasSubstr("run chmod 600"));
  EXPECT_TRUE(guard->Admit(With(kListJobs, revoked)).ok());
  EXPECT_FALSE(*guard->ReloadIfChanged());
  ASSERT_EQ(chmod(path_.c_str(), 0600), 0);
  EXPECT_TRUE(*guard->ReloadIfChanged());
  EXPECT_FALSE(guard->Admit(With(kListJobs, revoked)).ok());
}

TEST_F(GuardTest, AFileThatCouldNotBeOpenedIsReadLater) {
  Add({Role::kRead}, absl::Hours(1));
  const auto guard = Open(path_);
  const std::string second = Add({Role::kRead}, absl::Hours(1));
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const absl::StatusOr<bool> failed = guard->ReloadIfChanged();
  const absl::StatusOr<bool> again = guard->ReloadIfChanged();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_FALSE(failed.ok());
  EXPECT_TRUE(again.ok() && !*again) << again.status();  // said once
  EXPECT_TRUE(*guard->ReloadIfChanged());
  EXPECT_TRUE(guard->Admit(With(kListJobs, second)).ok());
}

TEST_F(GuardTest, AFileBehindALinkIsFollowed) {  // as a kubelet lends secrets
  const std::string text = Add({Role::kRead}, absl::Hours(1));
  const std::string before = path_ + ".before";
  const std::string after = path_ + ".after";
  ASSERT_EQ(rename(path_.c_str(), before.c_str()), 0);
  ASSERT_EQ(symlink(before.c_str(), path_.c_str()), 0);
  const auto guard = Open(path_);
  unlink(after.c_str());
  ASSERT_TRUE(ChangeTokenFile(after, [](std::vector<Token>&) {
                return absl::OkStatus();
              }).ok());
  EXPECT_FALSE(*guard->ReloadIfChanged());
  unlink(path_.c_str());
  ASSERT_EQ(symlink(after.c_str(), path_.c_str()), 0);
  EXPECT_TRUE(*guard->ReloadIfChanged());
  EXPECT_FALSE(guard->Admit(With(kListJobs, text)).ok());
  for (const std::string& file : {before, after, after + ".lock"}) {
    unlink(file.c_str());
  }
}

TEST_F(GuardTest, AnOpenCallGoesOnAsLongAsItsTokenCounts) {
  const std::string expiring = Add({Role::kRead}, absl::Hours(1));
  const std::string revoked = Add({Role::kRead}, absl::Hours(9));
  const std::string demoted = Add({Role::kSubmit}, absl::Hours(9));
  const auto guard = Open(path_);
  const auto check = [&](const std::string& token, const char* path) {
    return guard->MayGoOn(With(path, token)).code();
  };
  EXPECT_EQ(check(expiring, kListJobs), absl::StatusCode::kOk);
  EXPECT_EQ(check(demoted, kMakePlan), absl::StatusCode::kOk);
  EXPECT_THAT(audit_.entries(), SizeIs(0));
  clock_.Advance(absl::Hours(2));
  EXPECT_EQ(check(expiring, kListJobs), absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(audit_.entries(), SizeIs(1));
  ASSERT_TRUE(ChangeTokenFile(path_, [&](std::vector<Token>& tokens) {
                tokens.erase(tokens.begin() + 1);
                tokens.back().roles = {Role::kRead};
                return absl::OkStatus();
              }).ok());
  EXPECT_EQ(check(revoked, kListJobs), absl::StatusCode::kOk);
  ASSERT_TRUE(guard->Reload().ok());
  EXPECT_EQ(check(revoked, kListJobs), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(check(demoted, kListJobs), absl::StatusCode::kOk);
  EXPECT_EQ(check(demoted, kMakePlan), absl::StatusCode::kPermissionDenied);
}

TEST_F(GuardTest, QuotasAreReadWithTheTokens) {
  Add({Role::kSubmit}, absl::Hours(1));
  const auto guard = Open(path_);
  EXPECT_EQ(guard->FindQuota("vision").plans, std::nullopt);
  ASSERT_TRUE(ChangeAccessFile(path_, [](AccessFile& file) {
                file.quotas.push_back({.name_space = "vision", .plans = 2});
                return absl::OkStatus();
              }).ok());
  ASSERT_TRUE(guard->Reload().ok());
  EXPECT_EQ(guard->FindQuota("vision").plans, 2);
  EXPECT_EQ(guard->FindQuota("vision").programs, std::nullopt);
  EXPECT_EQ(guard->FindQuota("language").plans, std::nullopt);
}

TEST_F(GuardTest, ACoordinatorWithAWrongFileDoesNotStart) {
  EXPECT_EQ(Guard::Open({&clock_, path_, nullptr}).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(GuardTest, WithoutATokenFileTheCertificateNamesTheCaller) {
  const auto guard = Open("");
  EXPECT_TRUE(guard->Admit(With(kMakePlan, "")).ok());
  EXPECT_TRUE(guard->Admit(With(kMakePlan, MakeToken()->text)).ok());
  EXPECT_EQ(guard->Identify({kAttach, "", "gpu7", ""})->id, "certificate:gpu7");
  EXPECT_EQ(guard->Identify({kAttach, "", "", ""})->id, "");
}

TEST_F(GuardTest, ATokenOfThisProcessHasItsRoleAlone) {
  Add({Role::kAdmin}, absl::Hours(1));
  const auto guard = Open(path_);
  const std::string text = *guard->AddLocalToken(Role::kWork);
  EXPECT_TRUE(guard->Admit(With(kAttach, text)).ok());
  EXPECT_EQ(guard->Admit(With(kMakePlan, text)).code(),
            absl::StatusCode::kPermissionDenied);
  ASSERT_TRUE(guard->Reload().ok());
  EXPECT_TRUE(guard->Admit(With(kAttach, text)).ok());
}

TEST_F(GuardTest, RpcsWithoutARowAndThoseOfALoadBalancer) {
  const auto guard = Open("");
  EXPECT_EQ(guard->Admit(With("/meshwright.v1.Planning/Later", "")).code(),
            absl::StatusCode::kUnimplemented);
  Add({Role::kAdmin}, absl::Hours(1));
  const auto strict = Open(path_);
  EXPECT_TRUE(strict->Admit(With("/grpc.health.v1.Health/Check", "")).ok());
}

TEST_F(GuardTest, TheAuditLogHasRefusalsAndChangesWithoutSecrets) {
  const std::string text = Add({Role::kSubmit}, absl::Hours(1));
  const auto guard = Open(path_);
  guard->RecordAdmitted(With(kListJobs, text));  // it only reads
  guard->RecordAdmitted(With(kMakePlan, text));
  guard->Admit(With(kAttach, text)).IgnoreError();
  guard->Admit(With(kListJobs, "guess")).IgnoreError();
  const std::vector<AuditEntry> entries = audit_.entries();
  ASSERT_THAT(entries, SizeIs(3));
  const std::string who = "token:" + ParseTokenText(text)->id;
  EXPECT_EQ(entries[0].what, kMakePlan);
  EXPECT_EQ(entries[0].outcome, "admitted");
  EXPECT_EQ(entries[0].who, who);
  EXPECT_EQ(entries[0].peer, "ipv4:1.2.3.4:5");
  EXPECT_EQ(entries[0].when, clock_.Now());
  EXPECT_EQ(entries[1].outcome, "PERMISSION_DENIED");
  EXPECT_EQ(entries[1].who, who);
  EXPECT_EQ(entries[2].outcome, "UNAUTHENTICATED");
  EXPECT_EQ(entries[2].who, "");

  const std::string path = testing::TempDir() + "/guard_test_audit.jsonl";
  unlink(path.c_str());
  auto log = OpenJsonLinesAuditLog(path);
  ASSERT_TRUE(log.ok()) << log.status();
  for (AuditEntry entry : entries) {
    entry.peer += "\n\xff";  // what a peer says of itself
    entry.object = "plan-7";
    (*log)->Record(entry);
  }
  log->reset();  // all of them are written
  const std::string content = *base::ReadFile(path);
  const std::vector<std::string> lines = absl::StrSplit(content, '\n');
  ASSERT_THAT(lines, SizeIs(4));  // the last one is empty
  const auto line = nlohmann::json::parse(lines[1]);
  EXPECT_EQ(line["who"], who);
  EXPECT_EQ(line["what"], kAttach);
  EXPECT_EQ(line["object"], "plan-7");
  EXPECT_EQ(line["time"], "1970-01-12T13:46:40.000000Z");
  EXPECT_THAT(content, AllOf(Not(HasSubstr("guess")),
                             Not(HasSubstr(ParseTokenText(text)->secret))));
  struct stat info = {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  unlink(path.c_str());
  EXPECT_FALSE(OpenJsonLinesAuditLog("/nowhere/audit").ok());
}

TEST_F(GuardTest, WithoutAFileEntriesAreLinesOfTheLog) {
  const auto log = NewLoggedAuditLog();
  base::SetLogLevel(base::LogLevel::kInfo);
  testing::internal::CaptureStderr();
  log->Record({.when = clock_.Now(),
               .who = "token:1a",
               .peer = "ipv4:1.2.3.4:5",
               .what = kMakePlan,
               .outcome = kAdmitted,
               .object = "plan-7\n"});
  log->Record({.when = clock_.Now(),
               .what = kAttach,
               .outcome = "UNAUTHENTICATED",
               .reason = "no token"});
  const std::string said = testing::internal::GetCapturedStderr();
  base::SetLogLevel(base::LogLevel::kWarning);
  EXPECT_THAT(said, HasSubstr(absl::StrCat(
                        "audit: token:1a at ipv4:1.2.3.4:5: ", kMakePlan,
                        " plan-7\\n: admitted")));
  EXPECT_THAT(said, HasSubstr(absl::StrCat("audit: anyone: ", kAttach,
                                           ": UNAUTHENTICATED: no token")));
}

// Who may not call is not to fill the disk.
TEST_F(GuardTest, RefusalsHaveSoManyEntriesASecond) {
  const std::string path = testing::TempDir() + "/guard_test_refusals.jsonl";
  unlink(path.c_str());
  {
    const auto log = OpenJsonLinesAuditLog(path);
    ASSERT_TRUE(log.ok()) << log.status();
    AuditEntry refused{.when = clock_.Now(), .outcome = "UNAUTHENTICATED"};
    for (int i = 0; i < 1000; ++i) (*log)->Record(refused);
    (*log)->Record({.when = clock_.Now(), .outcome = kAdmitted});
    refused.when += absl::Seconds(1);
    (*log)->Record(refused);
  }
  const std::string content = *base::ReadFile(path);
  const std::vector<std::string> lines = absl::StrSplit(content, '\n');
  ASSERT_THAT(lines, SizeIs(53));  // the last one is empty
  EXPECT_EQ(nlohmann::json::parse(lines[50])["outcome"], "admitted");
  EXPECT_EQ(nlohmann::json::parse(lines[51])["left_out"], 950);
  unlink(path.c_str());
}

}  // namespace
}  // namespace meshwright::security
