#include "base/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <thread>

#include "base/file_kind.h"
#include "unit/base/temporary_folder.h"

namespace tenon {
namespace {

using Pieces = std::vector<std::string_view>;

size_t entries_of(const TemporaryFolder& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder.path()), {}));
}

TEST(MappedFile, ShowsTheBytesAndZerosBehindThem) {
  TemporaryFolder folder;
  const auto path = folder.write("a", "hello");
  const auto file = MappedFile::open(path);
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  EXPECT_EQ((*file)->view(), "hello");
  EXPECT_EQ((*file)->size(), 5);
  EXPECT_EQ((*file)->name(), path);
  for (int i = 5; i < 5 + 64; ++i) EXPECT_EQ((*file)->data()[i], std::byte{0});
}

TEST(MappedFile, MayBeReadPastTheEndOfAFullPage) {
  TemporaryFolder folder;
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const auto file = MappedFile::open(folder.write("a", std::string(page, 'x')));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->data()[page - 1], std::byte{'x'});
  for (size_t i = page; i < page + 64; ++i) EXPECT_EQ((*file)->data()[i], std::byte{0});
}

TEST(MappedFile, AnEmptyFileIsEmpty) {
  TemporaryFolder folder;
  const auto file = MappedFile::open(folder.write("a", ""));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->size(), 0);
  EXPECT_EQ((*file)->view(), "");
}

TEST(MappedFile, OutlivesTheName) {
  TemporaryFolder folder;
  const auto path = folder.write("a", "kept");
  const auto file = MappedFile::open(path);
  ASSERT_TRUE(file.ok());
  std::filesystem::remove(path);
  EXPECT_EQ((*file)->view(), "kept");
}

TEST(MappedFile, TakesAdviceForAnyRange) {
  TemporaryFolder folder;
  const auto file = MappedFile::open(folder.write("a", std::string(10000, 'x')));
  ASSERT_TRUE(file.ok());
  for (auto access : {Access::Normal, Access::Sequential, Access::Random, Access::WillNeed, Access::DontNeed}) {
    (*file)->advise(access, 5000, 100);
    (*file)->advise(access, -5, int64_t{1} << 60);
    (*file)->advise(access, int64_t{1} << 60, 5);
  }
  EXPECT_EQ((*file)->view(), std::string(10000, 'x'));
}

TEST(MappedFile, RefusesWhatIsNotARegularFile) {
  TemporaryFolder folder;
  const auto missing = MappedFile::open(folder / "missing");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), Code::NotFound);
  EXPECT_NE(missing.status().message().find(folder / "missing"), std::string::npos);
  EXPECT_NE(missing.status().message().find("No such file"), std::string::npos);

  const auto directory = MappedFile::open(folder.path().string());
  ASSERT_FALSE(directory.ok());
  EXPECT_EQ(directory.status().code(), Code::Io);
  EXPECT_NE(directory.status().message().find("is a folder"), std::string::npos);

  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const auto pipe = MappedFile::open(folder / "pipe");
  ASSERT_FALSE(pipe.ok());
  EXPECT_EQ(pipe.status().code(), Code::Io);
  EXPECT_NE(pipe.status().message().find("is a named pipe"), std::string::npos);

  EXPECT_FALSE(MappedFile::open("/dev/zero").ok());
}

TEST(ReadWholeFile, CopiesTheBytes) {
  TemporaryFolder folder;
  const auto path = folder.write("a", "hello");
  const auto copy = read_whole_file(path);
  ASSERT_TRUE(copy.ok());
  folder.write("a", "HELLO");
  EXPECT_EQ(std::string(reinterpret_cast<const char*>((*copy)->data()), 5), "hello");
  EXPECT_EQ((*copy)->size(), 5);
  EXPECT_EQ(read_whole_file(folder / "missing").status().code(), Code::NotFound);
}

TEST(ReadRegion, StaysInsideTheFile) {
  TemporaryFolder folder;
  const auto file = open_for_reading(folder.write("a", "0123456789"));
  ASSERT_TRUE(file.ok());
  const auto part = read_region(*file, 3, 4, "a");
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(std::string(reinterpret_cast<const char*>((*part)->data()), 4), "3456");
  EXPECT_EQ((*read_region(*file, 10, 0, "a"))->size(), 0);
  EXPECT_FALSE(read_region(*file, 8, 3, "a").ok());
  EXPECT_FALSE(read_region(*file, 11, 0, "a").ok());
  EXPECT_FALSE(read_region(*file, -1, 1, "a").ok());
  EXPECT_FALSE(read_region(*file, 1, INT64_MAX, "a").ok());
}

TEST(WriteFileAtomically, WritesPiecesInOrderAndReplaces) {
  TemporaryFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "a", Pieces{"one", "", "two"}).ok());
  EXPECT_EQ(folder.read("a"), "onetwo");
  ASSERT_TRUE(write_file_atomically(folder / "a", Pieces{"3"}).ok());
  EXPECT_EQ(folder.read("a"), "3");
  EXPECT_EQ(entries_of(folder), 1u);
}

TEST(WriteFileAtomically, ReplacesRegularFilesOnly) {
  TemporaryFolder folder;
  folder.write("target", "old");
  folder.link("target", "link");
  folder.link("nowhere", "dangling");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const auto& [name, kind] : std::map<std::string, std::string>{
           {"link", "is a symbolic link"}, {"dangling", "is a symbolic link"}, {"pipe", "is a named pipe"}}) {
    const Status status = write_file_atomically(folder / name, Pieces{"new"});
    EXPECT_EQ(status.code(), Code::InvalidArgument);
    EXPECT_NE(status.message().find("'" + (folder / name) + "' " + kind), std::string::npos) << status.message();
  }
  EXPECT_EQ(folder.read("target"), "old");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_TRUE(std::filesystem::is_fifo(folder / "pipe"));
  EXPECT_EQ(entries_of(folder), 4u);
  EXPECT_NE(check_replaceable("/dev/null").message().find("'/dev/null' is a device"), std::string::npos);
  EXPECT_TRUE(check_replaceable(folder / "target").ok());
  EXPECT_TRUE(check_replaceable(folder / "new").ok());
}

TEST(WriteFileAtomically, PassesOverTemporaryNamesThatSomebodyHas) {
  TemporaryFolder folder;
  folder.write("treasure", "mine");
  // A counter of the process goes into the names, so some of these are next.
  for (int i = 0; i < 1000; ++i) folder.link("treasure", fmt::format(".tenon-{}-{}.tmp", ::getpid(), i));
  ASSERT_TRUE(write_file_atomically(folder / "a", Pieces{"new"}).ok());
  EXPECT_EQ(folder.read("a"), "new");
  EXPECT_EQ(folder.read("treasure"), "mine");
}

TEST(WriteFileAtomically, LeavesNothingBehindWhenItFails) {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder / "taken/inside");
  const Status status = write_file_atomically(folder / "taken", Pieces{"x"});
  EXPECT_EQ(status.code(), Code::InvalidArgument);
  EXPECT_NE(status.message().find("'" + (folder / "taken") + "' is a folder"), std::string::npos);
  EXPECT_EQ(entries_of(folder), 1u);
  EXPECT_EQ(write_file_atomically(folder / "no/such/folder", Pieces{"x"}).code(), Code::NotFound);
  EXPECT_EQ(write_file_atomically(folder.path().string() + "/", Pieces{"x"}).code(), Code::InvalidArgument);
}

TEST(WriteFileAtomically, ReadersSeeOneOfTheVersions) {
  TemporaryFolder folder;
  const std::string a(100'000, 'a'), b(100'000, 'b');
  folder.write("file", a);
  std::thread writer([&] {
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(write_file_atomically(folder / "file", Pieces{i % 2 ? a : b}).ok());
  });
  for (int i = 0; i < 200; ++i) {
    const std::string seen = folder.read("file");
    EXPECT_TRUE(seen == a || seen == b) << seen.size();
  }
  writer.join();
}

}  // namespace
}  // namespace tenon
