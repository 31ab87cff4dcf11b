#pragma once

#include <string>
#include <vector>

#include "base/file.h"

// Folders of the file system, for whoever publishes several files together.
namespace tenon {

// Without slashes or dots at the end, so that folder_of is the folder above; "." for an empty path.
std::string plain_folder(std::string path);
// "." for a name without a folder.
std::string folder_of(const std::string& path);
std::string file_name_of(const std::string& path);
bool is_folder(const std::string& path);
bool exists(const std::string& path);  // also a link that leads nowhere

// Makes the folder and those above it.
Status make_folders(const std::string& path);
// Regular files in a folder, sorted; with `folders` the folders instead.
Result<std::vector<std::string>> list_folder(const std::string& path, bool folders = false);
// Makes renames and new names in a folder durable.
Status sync_folder(const std::string& path);
Status rename_file(const std::string& from, const std::string& to);
Status remove_file(const std::string& path);
// A folder with files in it, without folders.
void remove_flat_folder(const std::string& path);

// An exclusive lock on a file or folder, which ends with the process at the latest.
class FileLock {
 public:
  // Waits for whoever has it.
  static Result<FileLock> wait(const std::string& path);
  // Makes a file and locks it.
  static Result<FileLock> make(const std::string& path);
  // Whether nobody has a lock on the file.
  static bool is_free(const std::string& path);

 private:
  explicit FileLock(FileHandle file) : file_(std::move(file)) {}
  FileHandle file_;
};

}  // namespace tenon
