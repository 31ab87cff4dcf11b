#include "base/file_identity.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

namespace tenon {
namespace {

namespace fs = std::filesystem;

class Identity : public testing::Test {
 protected:
  Identity() { std::ofstream(path) << "content"; }
  ~Identity() override { fs::remove(path); }
  void set_age(std::chrono::seconds age) const { fs::last_write_time(path, fs::file_time_type::clock::now() - age); }

  const std::string path = (fs::temp_directory_path() / ("tenon-identity-" + std::to_string(::getpid()))).string();
};

TEST_F(Identity, OfAFileThatIsBeingWrittenIsNothing) {
  set_age(std::chrono::seconds(-1));
  EXPECT_FALSE(identity_of(path).has_value());
}

TEST_F(Identity, OfAnOldFileIsKnown) {
  set_age(std::chrono::hours(1));
  const auto identity = identity_of(path);
  ASSERT_TRUE(identity.has_value());
  EXPECT_EQ(identity->bytes, 7);
  EXPECT_EQ(identity_of(path), identity);
}

// A folder and a missing file have none.
TEST_F(Identity, IsOfRegularFilesOnly) {
  EXPECT_FALSE(identity_of(fs::temp_directory_path().string()).has_value());
  EXPECT_FALSE(identity_of(path + ".missing").has_value());
}

}  // namespace
}  // namespace tenon
