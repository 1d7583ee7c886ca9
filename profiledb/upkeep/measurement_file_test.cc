#include "profiledb/upkeep/measurement_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/fingerprint.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::store {
namespace {

using testing::HasSubstr;

class MeasurementFileTest : public testing::Test {
 protected:
  MeasurementFileTest()
      : path_(absl::StrCat(testing::TempDir(), "/measurements_", getpid())) {}
  ~MeasurementFileTest() override { std::filesystem::remove(path_); }

  // Returns the bytes of a file of two.
  std::string Write() const {
    const auto writer = MeasurementFileWriter::Create(path_);
    EXPECT_TRUE(writer.ok()) << writer.status();
    for (const char* const name : {"a", "b"}) {
      v1::ExportedMeasurement measurement;
      measurement.set_team("red");
      *measurement.mutable_result() = MakeMeasured(name);
      EXPECT_TRUE((*writer)->Add(std::move(measurement)).ok());
    }
    EXPECT_TRUE((*writer)->Finish().ok());
    return *base::ReadFile(path_);
  }

  // The keys of a whole file.
  absl::StatusOr<std::vector<std::string>> Read() const {
    auto reader = MeasurementFileReader::Open(path_);
    if (!reader.ok()) return reader.status();
    std::vector<std::string> keys;
    while (true) {
      v1::ExportedMeasurement measurement;
      const auto has_next = (*reader)->Next(measurement);
      if (!has_next.ok()) return has_next.status();
      if (!*has_next) return keys;
      keys.push_back(measurement.result().key());
    }
  }

  const std::string path_;
};

TEST_F(MeasurementFileTest, GivesBackWhatWasWritten) {
  Write();
  const auto keys = Read();
  ASSERT_TRUE(keys.ok()) << keys.status();
  EXPECT_EQ(*keys, (std::vector<std::string>{MakeKey("a"), MakeKey("b")}));
}

TEST_F(MeasurementFileTest, HasItsNameOnlyWhenItIsWhole) {
  {
    const auto writer = MeasurementFileWriter::Create(path_);
    ASSERT_TRUE(writer.ok()) << writer.status();
    EXPECT_TRUE((*writer)->Add({}).ok());
    EXPECT_FALSE(std::filesystem::exists(path_));
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_FALSE(
      std::filesystem::exists(absl::StrCat(path_, ".partial.", getpid())));
}

// Kept by people: what today's program writes, tomorrow's reads.
TEST_F(MeasurementFileTest, TheFormatIsFrozen) {
  const std::string bytes = Write();
  EXPECT_EQ(bytes.substr(0, 30),
            "\x1d\x0a\x1b\x0a\x17"
            "meshwright measurements"
            "\x10\x01");
  EXPECT_EQ(v1::MeasurementsRecord::kHeaderFieldNumber, 1);
  EXPECT_EQ(v1::MeasurementsRecord::kMeasurementFieldNumber, 2);
  EXPECT_EQ(v1::MeasurementsRecord::kFooterFieldNumber, 3);
  EXPECT_EQ(v1::ExportedMeasurement::kTeamFieldNumber, 1);
  EXPECT_EQ(v1::ExportedMeasurement::kRecordedUnixNsFieldNumber, 6);
  EXPECT_EQ(v1::ExportedMeasurement::kResultFieldNumber, 7);
}

TEST_F(MeasurementFileTest, WhatWasCutShortIsRefusedWhereverItWasCut) {
  const std::string whole = Write();
  for (size_t size = 0; size < whole.size(); ++size) {
    ASSERT_TRUE(base::WriteFile(path_, whole.substr(0, size)).ok());
    EXPECT_EQ(Read().status().code(), absl::StatusCode::kInvalidArgument)
        << size;
  }
  ASSERT_TRUE(base::WriteFile(path_, whole + "more").ok());
  EXPECT_EQ(Read().status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(MeasurementFileTest, AFlippedBitIsFoundWhereverItIs) {
  const std::string whole = Write();
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << (at % 8)));
    ASSERT_TRUE(base::WriteFile(path_, bytes).ok());
    const absl::Status status = Read().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << at;
    EXPECT_THAT(std::string(status.message()), HasSubstr(path_));
  }
}

// The digest is right, and the rows behind the first end would be lost without
// a word.
TEST_F(MeasurementFileTest, NothingComesAfterTheEnd) {
  std::string bytes;
  std::string digest;
  int64_t records = 0;
  const auto add = [&](const v1::MeasurementsRecord& record) {
    const std::string text = record.SerializeAsString();
    ASSERT_LT(text.size(), 1u << 14);
    bytes.push_back(static_cast<char>((text.size() & 0x7f) | 0x80));
    bytes.push_back(static_cast<char>(text.size() >> 7));
    bytes += text;
    digest = base::Sha256Hex(digest + text);
    ++records;
  };
  const auto add_end = [&] {
    v1::MeasurementsRecord end;
    end.mutable_footer()->set_measurements(records - 1);
    end.mutable_footer()->set_digest(digest);
    add(end);
  };
  v1::MeasurementsRecord header;
  header.mutable_header()->set_format(kMeasurementsFormat);
  header.mutable_header()->set_version(kMeasurementsVersion);
  add(header);
  v1::MeasurementsRecord measurement;
  *measurement.mutable_measurement()->mutable_result() = MakeMeasured("a");
  add(measurement);
  add_end();
  ASSERT_TRUE(base::WriteFile(path_, bytes).ok());
  ASSERT_TRUE(Read().ok()) << Read().status();
  add(measurement);
  add(measurement);
  add_end();
  ASSERT_TRUE(base::WriteFile(path_, bytes).ok());
  const absl::Status status = Read().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr(path_ + " is damaged: measurements come after its end"));
}

TEST_F(MeasurementFileTest, FilesThatAreNone) {
  EXPECT_EQ(MeasurementFileReader::Open("/nonexistent/file").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_THAT(
      std::string(MeasurementFileReader::Open("/tmp").status().message()),
      HasSubstr("/tmp is a folder"));
  ASSERT_TRUE(base::WriteFile(path_, "{\"a\": 1}").ok());
  EXPECT_THAT(std::string(Read().status().message()),
              HasSubstr("is no file of measurements"));
  EXPECT_EQ(MeasurementFileWriter::Create("/nonexistent/file").status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(MeasurementFileTest, AFullDiskIsSaid) {
  const auto writer = MeasurementFileWriter::Create("/dev/full");
  ASSERT_TRUE(writer.ok()) << writer.status();
  const absl::Status status = (*writer)->Finish();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("/dev/full"));
}

}  // namespace
}  // namespace meshwright::store
