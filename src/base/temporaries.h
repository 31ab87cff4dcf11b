#pragma once

#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "base/file.h"

// Names that are in a folder only while this process works on them: files that are not complete yet, and folders with
// such files. A process that a signal ends takes them away first.
namespace tenon {

class TemporaryName {
 public:
  // Both make something new under a name that nothing in the folder has, ".tenon-<pid>-<n>.tmp" or
  // "<prefix><pid>-<n>". `parent` must stay open as long as this lives. Cancelled once remove_temporaries() was called.
  static Result<std::unique_ptr<TemporaryName>> make_file(const FileHandle& parent, FileHandle& file);
  static Result<std::unique_ptr<TemporaryName>> make_folder(const FileHandle& parent, std::string_view prefix);
  // Forgets the name; the file or folder is the owner's business.
  ~TemporaryName();
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;

  const std::string& name() const { return name_; }

 private:
  friend void remove_temporaries();
  TemporaryName(int parent, bool is_folder) : parent_(parent), is_folder_(is_folder) {}
  void remove() const;

  int parent_;
  bool is_folder_;
  std::string name_;
};

// Folders that were made on the way to a result. They go when nothing is in them in the end.
class MadeFolders {
 public:
  MadeFolders();
  ~MadeFolders();
  MadeFolders(const MadeFolders&) = delete;
  MadeFolders& operator=(const MadeFolders&) = delete;

  // Makes the folder and those above it. Cancelled once remove_temporaries() was called.
  Status make(const std::string& path);

 private:
  friend void remove_temporaries();
  void remove_empty() const;

  std::vector<std::string> paths_;  // each before those in it
};

// While somebody holds it, remove_temporaries() waits: files are getting their names.
std::shared_lock<std::shared_mutex> hold_temporaries();

// Removes all of them. Nothing can be made afterwards, so the process should end.
void remove_temporaries();

}  // namespace tenon
