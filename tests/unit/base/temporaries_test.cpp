#include "base/temporaries.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/folder.h"
#include "unit/base/temporary_folder.h"

namespace tenon {
namespace {

// Nothing can be made in a process after remove_temporaries(), so a child tries it. Its exit code: 0 when all is well.
template <class F>
int in_a_child(F&& f) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(f());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Temporaries, GoTogether) {
  TemporaryFolder folder;
  folder.write("mine", "x");
  const int result = in_a_child([&] {
    const auto parent = open_folder(folder.path().string());
    FileHandle file, forgotten;
    const auto kept = TemporaryName::make_file(*parent, forgotten);
    if (!kept.ok() || !rename_file(folder / (*kept)->name(), folder / "published").ok()) return 1;
    const auto one = TemporaryName::make_file(*parent, file);
    const auto other = TemporaryName::make_folder(*parent, ".staging-");
    if (!one.ok() || !other.ok() || !exists(folder / (*one)->name())) return 2;
    folder.write((*other)->name() + "/inside", "x");
    remove_temporaries();
    if (exists(folder / (*one)->name()) || exists(folder / (*other)->name())) return 3;
    if (TemporaryName::make_file(*parent, file).ok() || TemporaryName::make_folder(*parent, "x").ok()) return 4;
    return 0;
  });
  EXPECT_EQ(result, 0);
  EXPECT_TRUE(exists(folder / "mine"));
  EXPECT_TRUE(exists(folder / "published"));
}

TEST(Temporaries, NeverHaveANameThatSomebodyHas) {
  TemporaryFolder folder;
  const int result = in_a_child([&] {
    const auto parent = open_folder(folder.path().string());
    for (int i = 0; i < 100; ++i) folder.write(fmt::format("staging-{}-{}/gold", ::getpid(), i), "mine");
    const auto made = TemporaryName::make_folder(*parent, "staging-");
    if (!made.ok()) return 1;
    remove_temporaries();
    for (int i = 0; i < 100; ++i)
      if (folder.read(fmt::format("staging-{}-{}/gold", ::getpid(), i)) != "mine") return 2;
    return exists(folder / (*made)->name()) ? 3 : 0;
  });
  EXPECT_EQ(result, 0);
}

}  // namespace
}  // namespace tenon
