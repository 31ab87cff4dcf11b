#include "cli/interrupted.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "cli/artifacts.h"

namespace cli {

namespace fs = std::filesystem;

namespace {

// Whoever publishes holds a lock on this file until the folder goes.
bool is_at_work(const fs::path& staging) {
  const int file = ::open((staging / ".tenon-lock").c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return false;
  const bool is_held = ::flock(file, LOCK_SH | LOCK_NB) != 0;
  ::close(file);
  return is_held;
}

std::vector<fs::path> stale_staging_folders(const std::string& folder) {
  std::vector<fs::path> found;
  std::error_code problem, ignored;
  for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end; entry.increment(problem))
    if (entry->path().filename().string().starts_with(".tenon-staging-") &&
        fs::is_directory(entry->symlink_status(ignored)) && !is_at_work(entry->path()))
      found.push_back(entry->path());
  std::sort(found.begin(), found.end());
  return found;
}

// Whoever publishes a file later has written it later.
bool was_replaced_since(const fs::path& file, const fs::path& staged) {
  std::error_code problem;
  const auto time = fs::last_write_time(file, problem);
  if (problem) return false;
  const auto other = fs::last_write_time(staged, problem);
  return !problem && time > other;
}

}  // namespace

std::string InterruptedGroup::missing_text() const {
  std::string text;
  for (const std::string& name : missing) text += fmt::format("{}'{}'", text.empty() ? "" : ", ", name);
  return text;
}

std::vector<InterruptedGroup> interrupted_groups(const std::string& folder) {
  const std::vector<ArtifactGroup> published = groups_in_folder(folder);
  std::vector<InterruptedGroup> result;
  for (const fs::path& staging : stale_staging_folders(folder))
    for (const ArtifactGroup& group : groups_in_folder(staging.string())) {
      const bool has_begun = std::any_of(published.begin(), published.end(), [&](const ArtifactGroup& other) {
        return !group.embedded() && other.weights_file == group.weights_file && other.content_id == group.content_id;
      });
      if (!has_begun) continue;
      InterruptedGroup one{group.weights_file, group.content_id, {}};
      for (const std::string& path : group.paths)
        if (!was_replaced_since(fs::path(folder) / fs::path(path).filename(), path))
          one.missing.push_back(fs::path(path).filename().string());
      if (!one.missing.empty()) result.push_back(std::move(one));
    }
  return result;
}

}  // namespace cli
