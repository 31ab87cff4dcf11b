#pragma once

#include <optional>
#include <string>
#include <string_view>
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
bool exists(const std::string& path);    // also a link that leads nowhere
bool is_there(const std::string& path);  // follows links

// Makes the folder and those above it, and adds to `made` the ones that were not there, from the top down.
Status make_folders(const std::string& path, std::vector<std::string>& made);
// Regular files in a folder, sorted; with `folders` the folders instead.
Result<std::vector<std::string>> list_folder(const std::string& path, bool folders = false);
// Every name in an opened folder but "." and "..", sorted.
Result<std::vector<std::string>> list_folder(const FileHandle& folder, const std::string& name_for_messages);
// Makes renames and new names in a folder durable.
Status sync_folder(const std::string& path);
// Replaces regular files only.
Status rename_file(const std::string& from, const std::string& to);
Status remove_file(const std::string& path);

Result<FileHandle> open_folder(const std::string& path);
// A folder inside an opened one; links are not followed.
Result<FileHandle> open_folder_in(int parent, const std::string& name);
// Removes a folder inside an opened one with the files in it, `last` after all others. Follows no link. False when
// something stays: a folder in it, or what may not be removed.
bool remove_flat_folder(int parent, const std::string& name, std::string_view last);

// An exclusive lock on a file or folder, which ends with the process at the latest.
class FileLock {
 public:
  // Waits for whoever has a folder, and tells people after a while that it does (base/messages.h). Cancelled when it is
  // told to stop waiting (base/waiting.h).
  static Result<FileLock> wait(const std::string& folder);
  // Makes a durable file with this content in an opened folder and locks it.
  static Result<FileLock> make(const FileHandle& folder, const std::string& name, std::string_view content);
  // Locks a regular file of exactly this content in an opened folder; none when it is something else, or when somebody
  // has the lock. Never waits and follows no link.
  static std::optional<FileLock> take(const FileHandle& folder, const std::string& name, std::string_view content);

 private:
  explicit FileLock(FileHandle file) : file_(std::move(file)) {}
  FileHandle file_;
};

}  // namespace tenon
