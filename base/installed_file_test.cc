#include "base/installed_file.h"

#include <gtest/gtest.h>

#include <fstream>

namespace meshwright::base {
namespace {

namespace fs = std::filesystem;

class InstalledFileTest : public testing::Test {
 protected:
  InstalledFileTest() {
    fs::remove_all(root_);
    fs::create_directories(root_ / "bin");
    fs::create_directories(root_ / "lib/meshwright");
  }
  ~InstalledFileTest() override { fs::remove_all(root_); }

  std::string Make(const std::string& path) {
    std::ofstream(root_ / path) << "text";
    return root_ / path;
  }

  const fs::path root_ = fs::path(testing::TempDir()) / "installed_file_test";
  const fs::path program_ = root_ / "bin/program";
};

TEST_F(InstalledFileTest, BesideTheProgramComesFirst) {
  Make("lib/meshwright/part");
  const std::string beside = Make("bin/part");
  EXPECT_EQ(FindInstalledFor(program_, "part"), beside);
}

TEST_F(InstalledFileTest, APackageHasItInAFolderOfItsOwn) {
  const std::string installed = Make("lib/meshwright/part");
  EXPECT_EQ(FindInstalledFor(program_, "part"), installed);
}

TEST_F(InstalledFileTest, AFolderIsNoFile) {
  fs::create_directories(root_ / "bin/part");
  EXPECT_EQ(FindInstalledFor(program_, "part"), std::nullopt);
}

TEST_F(InstalledFileTest, ThisProgramIsBesideItself) {
  EXPECT_EQ(FindInstalled("base_test"),
            fs::read_symlink("/proc/self/exe").string());
}

}  // namespace
}  // namespace meshwright::base
