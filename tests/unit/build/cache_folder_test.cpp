#include "build/cache/cache_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/build_id.h"

namespace tenon::build {
namespace {

// Sets variables of the environment for as long as it lives.
class Environment {
 public:
  Environment(const char* cache, const char* home) : cache_(cache_variable()), home_(home_variable()) {
    set("XDG_CACHE_HOME", cache);
    set("HOME", home);
  }
  ~Environment() {
    set("XDG_CACHE_HOME", cache_ ? cache_->c_str() : nullptr);
    set("HOME", home_ ? home_->c_str() : nullptr);
  }

 private:
  static std::optional<std::string> value(const char* name) {
    const char* text = std::getenv(name);
    return text ? std::optional<std::string>(text) : std::nullopt;
  }
  static std::optional<std::string> cache_variable() { return value("XDG_CACHE_HOME"); }
  static std::optional<std::string> home_variable() { return value("HOME"); }
  static void set(const char* name, const char* text) { text ? ::setenv(name, text, 1) : ::unsetenv(name); }
  std::optional<std::string> cache_, home_;
};

std::string folder_with(const char* cache, const char* home) {
  const Environment environment(cache, home);
  return user_cache_folder();
}

TEST(CacheFolder, IsTheUsers) {
  EXPECT_EQ(folder_with("/caches", "/a"), "/caches/tenon");
  EXPECT_EQ(folder_with(nullptr, "/a"), "/a/.cache/tenon");
  EXPECT_EQ(folder_with("", "/a"), "/a/.cache/tenon");
  EXPECT_EQ(folder_with("relative", "/a"), "/a/.cache/tenon");
  EXPECT_EQ(folder_with(nullptr, nullptr), "");
  EXPECT_EQ(folder_with(nullptr, "relative"), "");
}

TEST(CacheFolder, TakesAtMostATenthOfTheFreeSpace) {
  EXPECT_EQ(cache_limit(1000, 100000), 1000);
  EXPECT_EQ(cache_limit(1000, 5000), 500);
  EXPECT_EQ(cache_limit(0, 5000), 0);
  EXPECT_EQ(cache_limit(1000, 0), 0);
}

TEST(CacheFolder, KnowsTheSpaceOfAFolderToBe) {
  EXPECT_GT(free_bytes_at("/usr"), 0);
  EXPECT_GT(free_bytes_at("/usr/not/there/yet"), 0);
}

TEST(BuildId, IsOfTheProgramWithTheAddress) {
  static const char here = 0;
  EXPECT_GE(build_id_at(&here).size(), 16U);
  EXPECT_EQ(build_id_at(nullptr), "");
}

}  // namespace
}  // namespace tenon::build
