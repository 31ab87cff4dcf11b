#include "base/confined_folders.h"

#include <sys/stat.h>
#include <unistd.h>

#include "unit/base/temporary_folder.h"

namespace tenon {
namespace {

std::string content(const ConfinedFolders& folders, std::string_view name) {
  auto file = folders.open(name);
  if (!file.ok()) return "error: " + file.status().to_string();
  char text[100];
  const ssize_t length = ::read(file->get(), text, sizeof text);
  return std::string(text, static_cast<size_t>(length));
}
Code code(const ConfinedFolders& folders, std::string_view name) { return folders.open(name).status().code(); }

// model/ holds what may be read, secret what may not.
class ConfinedFoldersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    model_ = folder_.write("model/model.onnx", "model");
    folder_.write("model/data", "data");
    folder_.write("model/sub/data", "sub data");
    folder_.write("secret", "secret");
    auto opened = ConfinedFolders::around(model_);
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    folders_.emplace_back(std::move(opened).value());
  }
  const ConfinedFolders& folders() const { return folders_[0]; }

  TemporaryFolder folder_;
  std::string model_;
  std::vector<ConfinedFolders> folders_;
};

TEST_F(ConfinedFoldersTest, OpensFilesBelowTheFolder) {
  EXPECT_EQ(content(folders(), "data"), "data");
  EXPECT_EQ(content(folders(), "./data"), "data");
  EXPECT_EQ(content(folders(), "sub/data"), "sub data");
  EXPECT_EQ(content(folders(), "sub//./data"), "sub data");
  EXPECT_EQ(content(folders(), "sub/../data"), "data");
}

TEST_F(ConfinedFoldersTest, RefusesNamesThatLeave) {
  EXPECT_EQ(code(folders(), folder_ / "model/data"), Code::InvalidModel);
  EXPECT_EQ(code(folders(), "/etc/passwd"), Code::InvalidModel);
  EXPECT_EQ(code(folders(), "../secret"), Code::InvalidModel);
  EXPECT_EQ(code(folders(), "../model/data"), Code::InvalidModel);
  EXPECT_EQ(code(folders(), "sub/../../secret"), Code::InvalidModel);
  EXPECT_EQ(code(folders(), ""), Code::InvalidModel);
  EXPECT_EQ(code(folders(), std::string_view("data\0x", 6)), Code::InvalidModel);
  EXPECT_EQ(code(folders(), "missing"), Code::NotFound);
  EXPECT_EQ(code(folders(), "data/x"), Code::NotFound);
}

TEST_F(ConfinedFoldersTest, FollowsLinksThatStayInside) {
  folder_.link("sub/data", "model/inside");
  folder_.link("../data", "model/sub/up");
  folder_.link("sub", "model/folder_link");
  folder_.link(folder_ / "model/data", "model/absolute");
  EXPECT_EQ(content(folders(), "inside"), "sub data");
  EXPECT_EQ(content(folders(), "sub/up"), "data");
  EXPECT_EQ(content(folders(), "folder_link/data"), "sub data");
  EXPECT_EQ(content(folders(), "absolute"), "data");
}

TEST_F(ConfinedFoldersTest, RefusesLinksThatLeave) {
  folder_.link("../secret", "model/out");
  folder_.link(folder_ / "secret", "model/absolute_out");
  folder_.link("..", "model/parent");
  folder_.link("loop", "model/loop");
  folder_.link("/proc/self/root", "model/root");
  EXPECT_EQ(code(folders(), "out"), Code::InvalidModel);
  EXPECT_EQ(code(folders(), "absolute_out"), Code::InvalidModel);
  EXPECT_EQ(code(folders(), "parent/secret"), Code::InvalidModel);
  EXPECT_EQ(code(folders(), "root/etc/passwd"), Code::InvalidModel);
  EXPECT_EQ(code(folders(), "loop"), Code::Io);
  EXPECT_EQ(content(folders(), "parent/model/data"), "data");
}

TEST_F(ConfinedFoldersTest, RefusesWhatIsNotARegularFileWithoutWaiting) {
  ASSERT_EQ(::mkfifo((folder_ / "model/pipe").c_str(), 0600), 0);
  folder_.link("pipe", "model/pipe_link");
  EXPECT_EQ(code(folders(), "pipe"), Code::Io);
  EXPECT_EQ(code(folders(), "pipe_link"), Code::Io);
  EXPECT_EQ(code(folders(), "sub"), Code::Io);
  EXPECT_EQ(code(folders(), "."), Code::Io);
  folder_.link("/dev/zero", "model/device");
  EXPECT_FALSE(folders().open("device").ok());
}

TEST_F(ConfinedFoldersTest, KeepsTheFolderItWasMadeFor) {
  std::filesystem::rename(folder_ / "model", folder_ / "moved");
  folder_.write("model/data", "another");
  EXPECT_EQ(content(folders(), "data"), "data");
}

// The layout of a Hugging Face cache.
TEST(ConfinedFolders, AModelThatIsALinkBringsTheFolderOfItsTarget) {
  TemporaryFolder folder;
  folder.write("repo/blobs/aaa", "model");
  folder.write("repo/blobs/bbb", "weights");
  folder.write("repo/secret", "secret");
  folder.write("repo/elsewhere/ccc", "secret");
  folder.link("../../../blobs/aaa", "repo/snapshots/1/onnx/model.onnx");
  folder.link("../../../blobs/bbb", "repo/snapshots/1/onnx/model.onnx_data");
  folder.link("../../../secret", "repo/snapshots/1/onnx/out");
  folder.link("../../../elsewhere/ccc", "repo/snapshots/1/onnx/other");
  const auto folders = ConfinedFolders::around(folder / "repo/snapshots/1/onnx/model.onnx");
  ASSERT_TRUE(folders.ok()) << folders.status().to_string();
  EXPECT_EQ(content(*folders, "model.onnx_data"), "weights");
  EXPECT_EQ(code(*folders, "out"), Code::InvalidModel);
  EXPECT_EQ(code(*folders, "other"), Code::InvalidModel);
  // The same link is refused for a model that is no link itself.
  folder.write("repo/snapshots/1/onnx/plain.onnx", "model");
  const auto plain = ConfinedFolders::around(folder / "repo/snapshots/1/onnx/plain.onnx");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(code(*plain, "model.onnx_data"), Code::InvalidModel);
}

TEST(ConfinedFolders, DataBesideTheTargetOfALinkedModelIsFound) {
  TemporaryFolder folder;
  folder.write("store/model.onnx", "model");
  folder.write("store/weights", "weights");
  folder.link("../store/model.onnx", "here/model.onnx");
  const auto folders = ConfinedFolders::around(folder / "here/model.onnx");
  ASSERT_TRUE(folders.ok());
  EXPECT_EQ(content(*folders, "weights"), "weights");
  EXPECT_EQ(code(*folders, "missing"), Code::NotFound);
}

TEST(ConfinedFolders, NeedsTheModelToExist) {
  TemporaryFolder folder;
  EXPECT_EQ(ConfinedFolders::around(folder / "none").status().code(), Code::NotFound);
  EXPECT_EQ(ConfinedFolders::around(folder / "no/folder").status().code(), Code::NotFound);
  EXPECT_EQ(ConfinedFolders::at(folder / "none").status().code(), Code::NotFound);
  folder.link("nowhere", "dangling");
  EXPECT_EQ(ConfinedFolders::around(folder / "dangling").status().code(), Code::NotFound);
}

}  // namespace
}  // namespace tenon
