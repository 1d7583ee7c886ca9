// Measurements that go out of one coordinator and into another, over gRPC and
// real stores, and files that are none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/file.h"
#include "coordinator/client/planning_client.h"
#include "coordinator/daemon/coordinator.h"
#include "profiledb/open.h"
#include "profiledb/store/testing/rows.h"
#include "profiledb/upkeep/measurement_file.h"

namespace meshwright::integration {
namespace {

using client::PlanningClient;
using store::MakeFounded;
using store::MakeKey;
using testing::HasSubstr;
using testing::SizeIs;

constexpr size_t kPieceBytes = size_t{1} << 20;

// A coordinator over a file of SQLite.
class Service {
 public:
  Service(const std::string& folder, const base::Clock* clock,
          const service::ServerLimits& limits = {}) {
    std::filesystem::create_directories(folder);
    store_ = *store::OpenProfileStore(folder + "/store");
    daemon::Coordinator::Dependencies dependencies;
    dependencies.clock = clock;
    dependencies.listen_address = "unix:" + folder + "/socket";
    dependencies.profiles = store_.get();
    dependencies.limits = limits;
    coordinator_ =
        std::make_unique<daemon::Coordinator>(std::move(dependencies));
    EXPECT_TRUE(coordinator_->Start().ok());
    client_ = *PlanningClient::Connect(coordinator_->address());
  }

  store::ProfileStore& store() { return *store_; }

  // The pieces of a file.
  std::vector<std::string> Export(const std::string& team = "") {
    std::vector<std::string> pieces;
    const auto report = client_->ExportProfiles(team,
                                                [&](const std::string& bytes) {
                                                  pieces.push_back(bytes);
                                                  return absl::OkStatus();
                                                },
                                                {});
    EXPECT_TRUE(report.ok()) << report.status();
    if (report.ok()) measurements_ = report->measurements();
    return pieces;
  }
  absl::StatusOr<v1::ImportReport> Import(std::vector<std::string> pieces,
                                          const std::string& team = "") {
    size_t next = 0;
    pieces.emplace_back();
    return client_->ImportProfiles(
        team,
        [&]() -> absl::StatusOr<std::string> { return pieces.at(next++); }, {});
  }
  int64_t measurements() const { return measurements_; }
  PlanningClient& client() { return *client_; }

 private:
  std::unique_ptr<store::ProfileStore> store_;
  std::unique_ptr<daemon::Coordinator> coordinator_;
  std::unique_ptr<PlanningClient> client_;
  int64_t measurements_ = 0;
};

class ProfilesServiceTest : public testing::Test {
 protected:
  ProfilesServiceTest() { std::filesystem::remove_all(folder_); }
  ~ProfilesServiceTest() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<Service> Start(const std::string& name,
                                 const service::ServerLimits& limits = {}) {
    return std::make_unique<Service>(folder_ + "/" + name, &clock_, limits);
  }

  const std::string folder_ =
      absl::StrCat(testing::TempDir(), "/profiles_service_", getpid());
  base::SystemClock clock_;
};

TEST_F(ProfilesServiceTest, MeasurementsGoFromServiceToServiceInPieces) {
  const auto from = Start("from"), to = Start("to");
  std::vector<store::Entry> entries;
  for (int i = 0; i < 600; ++i) {
    v1::ProfileResult row = MakeFounded(absl::StrCat(i));
    row.mutable_measurement()->set_device_state(std::string(4000, 'x'));
    entries.push_back({.result = std::move(row), .program = "an executable"});
    entries.back().origin.team = i % 2 == 0 ? "red" : store::kSharedPool;
  }
  ASSERT_TRUE(from->store().Record(entries).ok());
  const std::vector<std::string> pieces = from->Export();
  EXPECT_EQ(from->measurements(), 600);
  EXPECT_GE(pieces.size(), 2u);
  for (const std::string& piece : pieces) {
    EXPECT_LE(piece.size(), kPieceBytes);
    EXPECT_EQ(piece.find("an executable"), std::string::npos);
  }
  for (int i = 0; i < 2; ++i) {  // the second changes nothing
    const auto report = to->Import(pieces);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->recorded(), 600);
    EXPECT_EQ(report->refused(), 0);
  }
  EXPECT_EQ(to->store().LookupKept(MakeKey("2"), "red")->size(), 1);
  EXPECT_EQ(to->Export(), pieces);

  const std::vector<std::string> red = from->Export("red");
  EXPECT_EQ(from->measurements(), 300);
  ASSERT_TRUE(to->Import(red, "blue").ok());
  EXPECT_EQ(to->store().LookupKept(MakeKey("2"), "blue")->size(), 1);
}

TEST_F(ProfilesServiceTest, RowsAreLookedUpInTheirOrderWithoutTheirHosts) {
  const auto service = Start("here");
  v1::ProfileResult row = MakeFounded("a");
  row.set_host("node7");
  row.set_worker("node7/0");
  store::Origin red;
  red.team = "red";
  ASSERT_TRUE(service->store().Record(row, store::MakeOrigin(row, "")).ok());
  ASSERT_TRUE(service->store().Record(MakeFounded("b", 2'000'000), red).ok());
  v1::LookUpRequest request;
  for (const char* const name : {"b", "x", "a", "a"}) {
    request.add_keys(MakeKey(name));
  }
  const auto shared = service->client().LookUpRows(request);
  ASSERT_TRUE(shared.ok()) << shared.status();
  ASSERT_EQ(shared->rows_size(), 1);
  EXPECT_EQ(shared->rows(0).key(), MakeKey("a"));
  EXPECT_EQ(shared->rows(0).host(), "");
  EXPECT_EQ(shared->rows(0).worker(), "");
  request.set_namespace_("red");
  const auto of_red = service->client().LookUpRows(request);
  ASSERT_TRUE(of_red.ok()) << of_red.status();
  ASSERT_EQ(of_red->rows_size(), 2);
  EXPECT_EQ(of_red->rows(0).key(), MakeKey("b"));

  request.set_keys(0, "b");
  EXPECT_TRUE(
      absl::IsInvalidArgument(service->client().LookUpRows(request).status()));
  request.clear_keys();
  for (int i = 0; i <= 1000; ++i) request.add_keys(MakeKey(absl::StrCat(i)));
  EXPECT_TRUE(
      absl::IsInvalidArgument(service->client().LookUpRows(request).status()));
}

TEST_F(ProfilesServiceTest, OfAFileThatIsNoneNothingIsRecorded) {
  const auto from = Start("from"), to = Start("to");
  ASSERT_TRUE(from->store().Record(MakeFounded("a"), {}).ok());
  const std::string whole = from->Export().at(0);
  std::string changed = whole;
  changed[changed.size() / 2] ^= 1;
  for (const std::string& wrong :
       {std::string("no measurements"), whole.substr(0, whole.size() / 2),
        whole.substr(0, whole.size() - 1), whole + whole, changed}) {
    const absl::Status status = to->Import({wrong}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("the file that was sent"));
  }
  EXPECT_EQ(to->Import({}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(to->store().Count()->profiles.empty());
  ASSERT_TRUE(to->Import({whole}).ok());
}

TEST_F(ProfilesServiceTest, AFileThatIsTooLargeIsRefused) {
  const auto from = Start("from");
  ASSERT_TRUE(from->store().Record(MakeFounded("a"), {}).ok());
  const std::string whole = from->Export().at(0);
  const auto to =
      Start("to", {.import_bytes = static_cast<int64_t>(whole.size()) - 1});
  const absl::Status status = to->Import({whole}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("larger than"));
  // A piece is a message like others.
  EXPECT_EQ(to->Import({std::string(17 << 20, 'x')}).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(to->store().Count()->profiles.empty());
}

TEST_F(ProfilesServiceTest, ForgedRowsAreNamedAndLeftOut) {
  const std::string path = folder_ + "/forged";
  const auto to = Start("to");
  {
    const auto file = store::MeasurementFileWriter::Create(path);
    ASSERT_TRUE(file.ok()) << file.status();
    for (const int64_t minimum_ns : {-5, 1000}) {
      v1::ExportedMeasurement it;
      it.set_team(store::kSharedPool);
      *it.mutable_result() = MakeFounded(absl::StrCat(minimum_ns));
      if (minimum_ns < 0) {
        it.mutable_result()->mutable_measurement()->set_minimum_ns(minimum_ns);
      }
      ASSERT_TRUE((*file)->Add(it).ok());
    }
    ASSERT_TRUE((*file)->Finish().ok());
  }
  const auto report = to->Import({*base::ReadFile(path)});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->recorded(), 1);
  ASSERT_THAT(report->refused_rows(), SizeIs(1));
  EXPECT_EQ(report->refused_rows(0).key(), MakeKey("-5"));
  EXPECT_THAT(report->refused_rows(0).reason(), HasSubstr("-5 ns"));
}

TEST_F(ProfilesServiceTest, EitherSideMayEndIt) {
  const auto service = Start("from");
  ASSERT_TRUE(service->store().Record(MakeFounded("a"), {}).ok());
  const auto full = service->client().ExportProfiles(
      "",
      [](const std::string&) { return absl::ResourceExhaustedError("full"); },
      {});
  EXPECT_EQ(full.status().message(), "full");
  const auto unread =
      service->client().ImportProfiles("",
                                       []() -> absl::StatusOr<std::string> {
                                         return absl::NotFoundError("gone");
                                       },
                                       {});
  EXPECT_EQ(unread.status().message(), "gone");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(service->client()
                .ExportProfiles(
                    "", [](const std::string&) { return absl::OkStatus(); },
                    stop.get_token())
                .status()
                .code(),
            absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace meshwright::integration
