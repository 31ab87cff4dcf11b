#include "base/temporaries.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <set>

#include "base/folder.h"

namespace tenon {

namespace {

struct Registry {
  std::shared_mutex naming;
  std::mutex mutex;  // of the rest
  std::set<const TemporaryName*> names;
  std::set<const MadeFolders*> folders;
  bool closed = false;
};

// Never destroyed: the thread that ends the process may outlive other statics.
Registry& registry() {
  static auto* all = new Registry;
  return *all;
}

// "<process>-<n>". A process that was killed, or one of another container, may have left files with the same.
std::string next_number() {
  static std::atomic<uint64_t> counter{0};
  return fmt::format("{}-{}", ::getpid(), counter.fetch_add(1));
}

Status about_to_end() { return error(Code::Cancelled, "the process is about to end"); }

}  // namespace

// Made and noted in one step, so that nobody else's file of that name is ever taken for ours.
Result<std::unique_ptr<TemporaryName>> TemporaryName::make_file(const FileHandle& parent, FileHandle& file) {
  std::unique_ptr<TemporaryName> made(new TemporaryName(parent.get(), false));
  const std::lock_guard lock(registry().mutex);
  if (registry().closed) return about_to_end();
  do {
    // Short whatever the final name is, so that a name of the longest allowed length works.
    made->name_ = fmt::format(".tenon-{}.tmp", next_number());
    file = FileHandle(::openat(parent.get(), made->name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  } while (!file.is_open() && errno == EEXIST);
  if (!file.is_open()) return io_error("cannot create", made->name_, errno);
  registry().names.insert(made.get());
  return made;
}

Result<std::unique_ptr<TemporaryName>> TemporaryName::make_folder(const FileHandle& parent, std::string_view prefix) {
  std::unique_ptr<TemporaryName> made(new TemporaryName(parent.get(), true));
  const std::lock_guard lock(registry().mutex);
  if (registry().closed) return about_to_end();
  do {
    made->name_ = fmt::format("{}{}", prefix, next_number());
    if (::mkdirat(parent.get(), made->name_.c_str(), 0777) == 0) {
      registry().names.insert(made.get());
      return made;
    }
  } while (errno == EEXIST);
  return io_error("cannot create the folder", made->name_, errno);
}

TemporaryName::~TemporaryName() {
  const std::lock_guard lock(registry().mutex);
  registry().names.erase(this);
}

void TemporaryName::remove() const {
  if (!is_folder_) {
    ::unlinkat(parent_, name_.c_str(), 0);
    return;
  }
  // Another thread may be making files there.
  for (int tries = 0; tries < 1000; ++tries)
    if (remove_flat_folder(parent_, name_, "")) return;
}

MadeFolders::MadeFolders() {
  const std::lock_guard lock(registry().mutex);
  registry().folders.insert(this);
}

MadeFolders::~MadeFolders() {
  const std::lock_guard lock(registry().mutex);
  registry().folders.erase(this);
  remove_empty();
}

Status MadeFolders::make(const std::string& path) {
  const std::lock_guard lock(registry().mutex);
  if (registry().closed) return about_to_end();
  return make_folders(path, paths_);
}

void MadeFolders::remove_empty() const {
  for (auto path = paths_.rbegin(); path != paths_.rend(); ++path)
    if (::rmdir(path->c_str()) != 0) return;
}

std::shared_lock<std::shared_mutex> hold_temporaries() { return std::shared_lock(registry().naming); }

void remove_temporaries() {
  const std::unique_lock naming(registry().naming);
  const std::lock_guard lock(registry().mutex);
  registry().closed = true;
  for (const TemporaryName* name : registry().names) name->remove();
  for (const MadeFolders* folders : registry().folders) folders->remove_empty();
}

}  // namespace tenon
