#include "coordinator/security/rpc_roles.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "proto/v1/admin.pb.h"
#include "proto/v1/plans.pb.h"
#include "proto/v1/profiles.pb.h"
#include "proto/v1/services.pb.h"

namespace meshwright::security {
namespace {

// Every RPC of proto/v1, in whichever file its service stands.
std::set<std::string> AllRpcs() {
  v1::WorkerHello::descriptor();      // links services.proto
  v1::ModuleChunk::descriptor();      // links plans.proto
  v1::CoverageRequest::descriptor();  // links profiles.proto
  v1::WorkerRequest::descriptor();    // links admin.proto
  std::set<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator("proto/v1")) {
    if (entry.path().extension() != ".proto") continue;
    const std::string text = *base::ReadFile(entry.path().string());
    if (text.find("\nservice ") == std::string::npos) continue;
    const auto* const file =
        google::protobuf::DescriptorPool::generated_pool()->FindFileByName(
            entry.path().string());
    EXPECT_NE(file, nullptr)
        << "link and name a message of " << entry.path() << " in this test";
    if (file == nullptr) continue;
    for (int i = 0; i < file->service_count(); ++i) {
      const auto* const service = file->service(i);
      for (int j = 0; j < service->method_count(); ++j) {
        paths.insert(absl::StrCat("/", service->full_name(), "/",
                                  service->method(j)->name()));
      }
    }
  }
  return paths;
}

TEST(RpcRolesTest, EveryRpcHasOneRowAndNeedsAToken) {
  const std::set<std::string> rpcs = AllRpcs();
  EXPECT_GE(rpcs.size(), 6u);
  std::set<std::string> rows;
  for (const RpcRole& row : RpcRoles()) {
    EXPECT_TRUE(rows.insert(std::string(row.path)).second) << row.path;
    if (!row.path.starts_with("/meshwright.")) continue;
    EXPECT_TRUE(rpcs.contains(std::string(row.path)))
        << row.path << " is no RPC of proto/v1";
    EXPECT_FALSE(row.open) << row.path;
  }
  for (const std::string& rpc : rpcs) {
    EXPECT_NE(FindRpcRole(rpc), nullptr)
        << rpc << " needs a row in coordinator/security/rpc_roles.cc";
  }
}

TEST(RpcRolesTest, WhatRolesGrant) {
  EXPECT_TRUE(Grants({Role::kSubmit}, Role::kRead));
  EXPECT_FALSE(Grants({Role::kSubmit}, Role::kWork));
  EXPECT_FALSE(Grants({Role::kRead}, Role::kSubmit));
  EXPECT_FALSE(Grants({Role::kWork}, Role::kRead));
  EXPECT_TRUE(Grants({Role::kWork, Role::kRead}, Role::kRead));
  for (const Role needed : {Role::kRead, Role::kSubmit, Role::kWork}) {
    EXPECT_TRUE(Grants({Role::kAdmin}, needed));
    EXPECT_FALSE(Grants({needed}, Role::kAdmin));
    EXPECT_FALSE(Grants({}, needed));
  }
}

}  // namespace
}  // namespace meshwright::security
