#include "build/staging_folder.h"

#include <algorithm>

#include "artifact/leftovers.h"

namespace tenon::build {

Result<std::unique_ptr<StagingFolder>> StagingFolder::make(const std::string& folder) {
  std::unique_ptr<StagingFolder> staging(new StagingFolder(plain_folder(folder)));
  TN_RETURN_IF_ERROR(staging->make());
  return staging;
}

Status StagingFolder::make() {
  TN_RETURN_IF_ERROR(above_.make(folder_));
  // Nobody may take the folder for stale before it has its lock.
  TN_ASSIGN_OR_RETURN(const FileLock making, FileLock::wait(folder_));
  remove_stale_staging(folder_);
  TN_ASSIGN_OR_RETURN(parent_, open_folder(folder_));
  TN_ASSIGN_OR_RETURN(name_, TemporaryName::make_folder(parent_, kStagingPrefix));
  path_ = folder_ + "/" + name_->name();
  TN_ASSIGN_OR_RETURN(opened_, open_folder_in(parent_.get(), name_->name()));
  TN_ASSIGN_OR_RETURN(lock_, FileLock::make(opened_, std::string(kLockName), kMark));
  return {};
}

StagingFolder::~StagingFolder() {
  if (name_) remove_flat_folder(parent_.get(), name_->name(), kLockName);
}

Result<std::vector<std::string>> StagingFolder::other_files(const std::vector<std::string>& contexts) const {
  TN_ASSIGN_OR_RETURN(std::vector<std::string> files, list_folder(path_));
  std::erase_if(files, [&](const std::string& file) {
    return file == kLockName || std::find(contexts.begin(), contexts.end(), file) != contexts.end();
  });
  return files;
}

Status StagingFolder::publish(const std::vector<std::string>& contexts, bool overwrite) {
  TN_ASSIGN_OR_RETURN(const auto others, other_files(contexts));
  TN_RETURN_IF_ERROR(sync_folder(path_));
  TN_ASSIGN_OR_RETURN(const FileLock naming, FileLock::wait(folder_));
  for (const std::string& file : others)
    if (const std::string path = folder_ + "/" + file; !overwrite && exists(path))
      return invalid_argument("'{}' already exists; set the option 'overwrite' to replace it", path);
  const auto hold = hold_temporaries();
  // Before any context file names them.
  for (const std::string& file : others) TN_RETURN_IF_ERROR(rename_file(path_ + "/" + file, folder_ + "/" + file));
  TN_RETURN_IF_ERROR(sync_folder(folder_));
  for (const std::string& file : contexts) TN_RETURN_IF_ERROR(rename_file(path_ + "/" + file, folder_ + "/" + file));
  return sync_folder(folder_);
}

}  // namespace tenon::build
