#include "base/folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "unit/base/temporary_folder.h"

namespace tenon {
namespace {

TEST(RemoveFlatFolder, RemovesLinksAndNotWhatTheyLeadTo) {
  TemporaryFolder folder;
  folder.write("treasure/gold", "mine");
  folder.write("flat/a", "x");
  folder.link("../treasure", "flat/link");
  const auto parent = open_folder(folder.path().string());
  ASSERT_TRUE(parent.ok());
  EXPECT_TRUE(remove_flat_folder(parent->get(), "flat", "a"));
  EXPECT_FALSE(exists(folder / "flat"));
  EXPECT_EQ(folder.read("treasure/gold"), "mine");
}

TEST(RemoveFlatFolder, DoesNotFollowALinkInItsPlace) {
  TemporaryFolder folder;
  folder.write("treasure/gold", "mine");
  folder.link("treasure", "flat");
  const auto parent = open_folder(folder.path().string());
  EXPECT_FALSE(remove_flat_folder(parent->get(), "flat", ""));
  EXPECT_EQ(folder.read("treasure/gold"), "mine");
  EXPECT_TRUE(exists(folder / "flat"));
}

TEST(RemoveFlatFolder, KeepsTheLastFileWhileSomethingStays) {
  TemporaryFolder folder;
  folder.write("flat/inner/gold", "mine");
  folder.write("flat/mark", "x");
  folder.write("flat/other", "x");
  const auto parent = open_folder(folder.path().string());
  EXPECT_FALSE(remove_flat_folder(parent->get(), "flat", "mark"));
  EXPECT_TRUE(exists(folder / "flat/mark"));
  EXPECT_FALSE(exists(folder / "flat/other"));
  EXPECT_EQ(folder.read("flat/inner/gold"), "mine");
}

TEST(FileLock, IsTakenFromAFileOfTheRightContentThatNobodyHas) {
  TemporaryFolder folder;
  const auto opened = open_folder(folder.path().string());
  ASSERT_TRUE(opened.ok());
  {
    const auto lock = FileLock::make(*opened, "lock", "mark");
    ASSERT_TRUE(lock.ok());
    EXPECT_EQ(folder.read("lock"), "mark");
    EXPECT_FALSE(FileLock::take(*opened, "lock", "mark"));
    EXPECT_FALSE(FileLock::make(*opened, "lock", "mark").ok());
  }
  EXPECT_TRUE(FileLock::take(*opened, "lock", "mark"));
  EXPECT_FALSE(FileLock::take(*opened, "lock", "mar"));
  EXPECT_FALSE(FileLock::take(*opened, "lock", "park"));
  EXPECT_FALSE(FileLock::take(*opened, "missing", ""));
}

TEST(FileLock, IsNeverTakenFromALinkOrAPipe) {
  TemporaryFolder folder;
  const auto opened = open_folder(folder.path().string());
  folder.write("file", "mark");
  folder.link("file", "link");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(FileLock::take(*opened, "link", "mark"));
  EXPECT_FALSE(FileLock::take(*opened, "pipe", ""));
}

TEST(RenameFile, ReplacesRegularFilesOnly) {
  TemporaryFolder folder;
  folder.write("new", "new");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(rename_file(folder / "new", folder / "pipe").code(), Code::InvalidArgument);
  EXPECT_EQ(folder.read("new"), "new");
  folder.write("old", "old");
  EXPECT_TRUE(rename_file(folder / "new", folder / "old").ok());
  EXPECT_EQ(folder.read("old"), "new");
}

}  // namespace
}  // namespace tenon
