#include "wire/external_data.h"

namespace tenon::wire {

Result<std::shared_ptr<FolderExternalData>> FolderExternalData::of_model(const std::string& model_path,
                                                                         Loading loading) {
  TN_ASSIGN_OR_RETURN(auto folders, ConfinedFolders::around(model_path));
  return std::shared_ptr<FolderExternalData>(new FolderExternalData(std::move(folders), loading));
}

Result<std::shared_ptr<FolderExternalData>> FolderExternalData::in_folder(const std::string& folder, Loading loading) {
  TN_ASSIGN_OR_RETURN(auto folders, ConfinedFolders::at(folder));
  return std::shared_ptr<FolderExternalData>(new FolderExternalData(std::move(folders), loading));
}

Result<std::shared_ptr<const FolderExternalData::OpenFile>> FolderExternalData::open(Bytes location) {
  std::lock_guard lock(mutex_);
  if (const auto known = files_.find(location); known != files_.end()) return known->second;
  const std::string name(location);
  auto file = std::make_shared<OpenFile>();
  TN_ASSIGN_OR_RETURN(file->handle, folders_.open(location));
  file->identity = identity_of(file->handle);
  TN_ASSIGN_OR_RETURN(file->size, regular_file_size(file->handle, name));
  if (loading_ == Loading::Map) {
    TN_ASSIGN_OR_RETURN(file->mapping, MappedFile::map(file->handle, name));
    file->size = file->mapping->size();
    file->handle = FileHandle();  // the mapping outlives the handle
  }
  files_.emplace(name, file);
  return std::shared_ptr<const OpenFile>(file);
}

std::optional<FileIdentity> FolderExternalData::identity(Bytes location) {
  const auto file = open(location);
  return file.ok() ? (*file)->identity : std::nullopt;
}

bool FolderExternalData::are_unchanged() {
  std::lock_guard lock(mutex_);
  for (const auto& [name, file] : files_) {
    const auto now = folders_.open(name);
    if (!now.ok() || !file->identity || identity_of(*now) != file->identity) return false;
  }
  return true;
}

Result<ExternalData::Region> FolderExternalData::read(Bytes location, int64_t offset, int64_t length) {
  TN_ASSIGN_OR_RETURN(const auto file, open(location));
  if (offset < 0 || offset > file->size)
    return invalid_model("the external data starts at byte {} of '{}', which has only {} bytes", offset, location,
                         file->size);
  if (length < 0) length = file->size - offset;
  if (length > file->size - offset)
    return invalid_model("the external data needs {} bytes at offset {} of '{}', which has only {} bytes", length,
                         offset, location, file->size);
  const auto size = static_cast<size_t>(length);
  if (file->mapping) return Region{file->mapping->view().substr(static_cast<size_t>(offset), size), file->mapping};
  TN_ASSIGN_OR_RETURN(auto buffer, read_region(file->handle, offset, length, std::string(location)));
  const auto* data = reinterpret_cast<const char*>(buffer->data());
  return Region{Bytes(data, size), std::move(buffer)};
}

}  // namespace tenon::wire
